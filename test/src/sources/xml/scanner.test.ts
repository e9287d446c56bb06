import { describe, expect, test } from '@jest/globals';
import { SaxesParser } from 'saxes';
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { type Name, NameTable } from '../../../../src/sources/xml/names.ts';
import { MAX_DEPTH, XmlScanner } from '../../../../src/sources/xml/parse/scanner.ts';
import type { Attributes } from '../../../../src/sources/xml/tree.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

/** What a parser says of a document, as lines; neighbouring pieces of text are one. */
class Events {
  readonly wantsText = true;
  readonly lines: string[] = [];

  open(name: Name, attributes: Attributes): void {
    const pairs: string[] = [];
    for (let i = 0; i < attributes.length; i += 2) pairs.push(pair(attributes[i] as Name, attributes[i + 1] as string));
    this.lines.push(`<${expanded(name)} ${pairs.join(' ')}`);
  }
  text(text: string): void {
    const last = this.lines.length - 1;
    if (this.lines[last]?.startsWith('"')) this.lines[last] += text;
    else this.lines.push(`"${text}`);
  }
  commentOrInstruction(target: string | undefined, text: string): void {
    this.lines.push(`?${target ?? '--'} ${text}`);
  }
  close(): void {
    this.lines.push('>');
  }
  recordAt(): undefined {}
}

/** As `Events`, of a sink that takes whole elements. */
class LeafEvents extends Events {
  leaves = 0;

  leaf(name: Name, text: string, from: number, to: number): boolean {
    // A sink may refuse some of them.
    if ((to + this.leaves) % 5 === 0) return false;
    this.leaves++;
    this.open(name, []);
    if (to > from) this.text(text.slice(from, to));
    this.close();
    return true;
  }
}

const expanded = (name: { uri: string; local: string }) => `{${name.uri}}${name.local}`;
const pair = (name: { uri: string; local: string }, value: string) => `${expanded(name)}=${JSON.stringify(value)}`;

/** Scans the chunks; gives the lines, or the fault. */
function scan(...chunks: Uint8Array[]): string[] | Fault {
  return scanTo(new Events(), chunks);
}

function scanTo(events: Events, chunks: readonly Uint8Array[]): string[] | Fault {
  const scanner = new XmlScanner(events, new NameTable(), 'in.xml', 2 ** 20);
  try {
    for (const chunk of chunks) {
      scanner.push(chunk);
      scanner.scan();
    }
    scanner.end();
    scanner.scan();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  return events.lines.map(fromBytes);
}

/** The same from saxes: the lines, or undefined where it finds the document malformed. */
function saxes(document: string): string[] | undefined {
  const lines: string[] = [];
  let depth = 0;
  const parser = new SaxesParser({ xmlns: true, position: false });
  const text = (piece: string) => {
    if (depth === 0 || piece === '') return;
    const last = lines.length - 1;
    if (lines[last]?.startsWith('"')) lines[last] += piece;
    else lines.push(`"${piece}`);
  };
  parser.on('opentag', (tag) => {
    depth++;
    const pairs = Object.values(tag.attributes).filter((a) => a.prefix !== 'xmlns' && a.name !== 'xmlns');
    lines.push(`<${expanded(tag)} ${pairs.map((a) => pair(a, a.value)).join(' ')}`);
  });
  parser.on('closetag', () => {
    depth--;
    lines.push('>');
  });
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('comment', (body) => {
    if (depth > 0) lines.push(`?-- ${body}`);
  });
  parser.on('processinginstruction', ({ target, body }) => {
    if (depth > 0) lines.push(`?${target} ${body}`);
  });
  try {
    parser.write(document).close();
  } catch {
    return undefined;
  }
  return lines;
}

const WELL_FORMED = [
  '<r/>',
  '<?xml version="1.0"?><r/>',
  "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<!-- c --><?p i?>\n<r></r>\n<!-- d -->",
  '<r a="1" b=\'2"\' c = "x &lt;&amp;&#65;&#x1F600;"/>',
  '<r  a="1"\n\tb="l1\nl2\r\nl3\tl4&#10;l5"  ></r  >',
  '<r>text &amp; more &#233; é 😀 ]] > ]></r>',
  '<r>a\r\nb\rc\n\r\nd</r>',
  '<r><![CDATA[<a>&amp;]] ]>]]]]><![CDATA[>]]></r>',
  '<r><![CDATA[]]></r>',
  '<r><!-- - -><&amp; --><!----></r>',
  '<r><?p?><?q  body ? > ?><?x y??></r>',
  '<!DOCTYPE r><r/>',
  '<!DOCTYPE r SYSTEM "a>b.dtd" [ <!ENTITY e "x]>y"> <!-- ]> \' --> <?p ]> ?> <!ELEMENT r ANY> ]><r/>',
  '<p:r xmlns:p="u1" xmlns="u2" p:a="1" a="2"><c/><p:c xmlns:p="u3" p:a="1"/><d xmlns="" a=""/></p:r>',
  '<r xml:lang="en" xml:space="preserve"> <é ü="ß">ñ</é><日本 語="本"/></r>',
  '<a.b-c_d·><_x/></a.b-c_d·>',
  '<r><a>x</a><b></b><a>é</a ><a>]</a>\n<a>&lt;</a><a>y</a><a>z<b/></a><a><a>1</a></a><a>2</a></r>',
  '<p:r xmlns:p="u"><p:a>x</p:a> <p:a>y</p:a><a>z</a><p:a xmlns:p="v"><p:a>1</p:a></p:a><p:a>2</p:a></p:r>',
];

const MALFORMED: readonly (readonly [document: string, message: RegExp, line: number])[] = [
  ['', /in\.xml is empty/, 1],
  ['\n\n', /no root element/, 3],
  ['<!-- only -->', /no root element/, 1],
  ['<r>\n<a>', /ends before <\/a>/, 2],
  ['<r>\n</r', /ends within an end tag/, 2],
  ['<r a="', /ends within a tag/, 1],
  ['<r', /ends within a tag/, 1],
  ['<', /ends within a tag/, 1],
  ['<r><!-- x', /ends within a comment/, 1],
  ['<r><![CDATA[ x ]]', /ends within a CDATA section/, 1],
  ['<r><?p x', /ends within a processing instruction/, 1],
  ['<r><![CDA', /ends within a declaration/, 1],
  ['<!DOCTYPE r [', /ends within the document type/, 1],
  ['<r/><r/>', /second root element, <r>/, 1],
  ['<r/>x', /text after the root/, 1],
  ['x<r/>', /text before the root/, 1],
  ['<r/>&amp;', /text after the root/, 1],
  ['<r/><![CDATA[x]]>', /CDATA section outside/, 1],
  ['<r>\n<a></b></r>', /"<\/b>" where <\/a> was expected/, 2],
  ['</r>', /"<\/r>" without its start tag/, 1],
  ['<r></r2>', /"<\/r2>" where <\/r>/, 1],
  ['<r><a>x</a>\n<a>x</b></r>', /"<\/b>" where <\/a> was expected/, 2],
  ['<r><a>x</a>\n<a>x</ab></r>', /"<\/ab>" where <\/a> was expected/, 2],
  ['<r><a>x</a><a>x</a', /ends within an end tag/, 1],
  ['<r><a>x</a><a>x', /ends before <\/a>/, 1],
  ['<r><a>x</a><a>x]]></a></r>', /"\]\]>" may not stand in text/, 1],
  ['<r><a>x</a><a>\u0001</a></r>', /U\+0001 is not allowed/, 1],
  ['<r><a></r>', /where <\/a> was expected/, 1],
  ['<r a=1/>', /not quoted/, 1],
  ['<r a/>', /without value/, 1],
  ['<r a>', /without value/, 1],
  ['<r a="1"b="2"/>', /no space before the attribute b/, 1],
  ['<r a="<"/>', /contains a </, 1],
  ['<r a="1" a="2"/>', /attribute a occurs twice/, 1],
  ['<r xmlns:p="u" xmlns:q="u" p:a="1" q:a="2"/>', /occurs twice/, 1],
  ['<r xmlns="u" xmlns="u"/>', /xmlns twice/, 1],
  ['<r / >', /unexpected \//, 1],
  ['<r/a>', /unexpected \//, 1],
  ['<r "a"/>', /unexpected/, 1],
  ['<r>< a/></r>', /< that begins no tag/, 1],
  ['<1r/>', /"1r" is not a valid name/, 1],
  ['<r ×="1"/>', /not a valid name/, 1],
  ['<a:b:c xmlns:a="u"/>', /not a valid name/, 1],
  ['<p:r/>', /prefix of "p:r" is not declared/, 1],
  ['<r p:a=""/>', /prefix of "p:a" is not declared/, 1],
  ['<r xmlns:p=""/>', /"p" is declared as empty/, 1],
  ['<r xmlns:xmlns="u"/>', /xmlns cannot be declared/, 1],
  ['<r xmlns:xml="u"/>', /belong together/, 1],
  ['<r>a & b</r>', /& that begins no reference/, 1],
  ['<r>&;</r>', /& that begins no reference/, 1],
  ['<r>&amp</r>', /& that begins no reference/, 1],
  [`<r>&${'a'.repeat(5000)};</r>`, /& that begins no reference/, 1],
  ['<r>&#0;</r>', /no character of XML/, 1],
  ['<r>&#xD800;</r>', /no character of XML/, 1],
  ['<r>&#x110000;</r>', /no character of XML/, 1],
  ['<r>&#1x;</r>', /no character of XML/, 1],
  ['<r a="&eacute;"/>', /entity "&eacute;" is not one of XML's own/, 1],
  ['<!DOCTYPE r [<!ENTITY e SYSTEM "x">]>\n<r>&e;</r>', /entity "&e;" is external/, 2],
  ['<!DOCTYPE r [<!ENTITY e "<b>">]>\n<r>&e;</r>', /entity "&e;" is not well-formed: It does not hold whole elements/, 2],
  ['<r>]]></r>', /"\]\]>" may not stand in text/, 1],
  ['<r><!-- a -- b --></r>', /"--" within a comment/, 1],
  ['<r><!-- a ---></r>', /"--" within a comment/, 1],
  ['<r>\u0001</r>', /U\+0001 is not allowed/, 1],
  ['<r a="\u0001"/>', /U\+0001 is not allowed/, 1],
  ['<r>\uffff</r>', /U\+FFFE or U\+FFFF is not allowed/, 1],
  ['<r><![CDATA[\u0000]]></r>', /U\+0000 is not allowed/, 1],
  [' <?xml version="1.0"?><r/>', /very beginning/, 1],
  ['<r/>\n<?xml version="1.0"?>', /very beginning/, 2],
  ['<?XML version="1.0"?><r/>', /very beginning/, 1],
  ['<?xml version="2.0"?><r/>', /XML declaration .* is not valid/, 1],
  ['<?xml encoding="UTF-8"?><r/>', /XML declaration .* is not valid/, 1],
  ['<? p?><r/>', /<\? that begins no/, 1],
  ['<r><!DOCTYPE r></r>', /wrong place/, 1],
  ['<!DOCTYPE r><!DOCTYPE r><r/>', /wrong place/, 1],
  ['<r><!ELEMENT a></r>', /<! that begins nothing/, 1],
];

/** XML 1.1 and DOCTYPE, which saxes reads by other rules; half of a surrogate pair; what saxes lets pass: a `?` after an instruction's target, a local name that begins with a digit; it trims namespace IRIs. */
const BEYOND_SAXES =
  /<!DOCTYPE|version|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|<\?[^\s?]+\?(?!>)|:[-.\d]|xmlns[^=]*=\s*["'][^"']*\s/;

describe('well-formed text', () => {
  test.each(WELL_FORMED)('%j means what saxes says', (document) => {
    const expected = saxes(document);
    expect(expected).toBeDefined();
    expect(scan(Buffer.from(document))).toEqual(expected);
  });

  test.each([...WELL_FORMED, ...MALFORMED.map(([document]) => document).filter((d) => d.length < 500)])(
    '%j reads the same however it is cut',
    (document) => {
      const bytes = Buffer.from(document);
      const whole = outcome(scan(bytes));
      for (let at = 0; at <= bytes.length; at++) {
        expect([at, outcome(scan(bytes.subarray(0, at), bytes.subarray(at)))]).toEqual([at, whole]);
      }
      const each = Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
      expect(outcome(scan(...each))).toEqual(whole);
    },
  );

  test('is the same for a sink that takes whole elements, however it is cut', () => {
    let leaves = 0;
    for (const document of [...WELL_FORMED, ...MALFORMED.map(([one]) => one)]) {
      const bytes = Buffer.from(document);
      for (let at = 0; at <= Math.min(500, bytes.length); at++) {
        const events = new LeafEvents();
        const cut = [bytes.subarray(0, at), bytes.subarray(at)];
        expect([document, at, outcome(scanTo(events, cut))]).toEqual([document, at, outcome(scan(...cut))]);
        leaves += events.leaves;
      }
    }
    expect(leaves).toBeGreaterThan(300);
  });

  test('is distinguished from malformed text as saxes does, whatever is changed in it', () => {
    const random = randomNumbers(7);
    const pieces = [
      '<',
      '>',
      '/',
      '&',
      ';',
      '"',
      "'",
      '=',
      ' ',
      '\n',
      '\r',
      '-',
      '--',
      ']]>',
      '<!--',
      '-->',
      '<![CDATA[',
      '<?',
      '?>',
      'a',
      'é',
      '#',
      'xmlns',
      ':',
      '&amp;',
      '<a>',
      '</a>',
    ];
    let wrong = 0;
    for (let round = 0; round < 20_000; round++) {
      let document = WELL_FORMED[random(WELL_FORMED.length)] as string;
      for (let changes = 1 + random(2); changes > 0; changes--) {
        const at = random(document.length + 1);
        document = document.slice(0, at) + (random(3) === 0 ? '' : pieces[random(pieces.length)]) + document.slice(at + random(3));
      }
      if (BEYOND_SAXES.test(document)) continue;
      const expected = saxes(document);
      const bytes = Buffer.from(document);
      const found = scan(bytes);
      const at = random(bytes.length + 1);
      const cut = [bytes.subarray(0, at), bytes.subarray(at)];
      expect([document, at, outcome(scanTo(new LeafEvents(), cut))]).toEqual([document, at, outcome(scan(...cut))]);
      if (expected === undefined) wrong++;
      expect([document, found instanceof Fault ? undefined : found]).toEqual([document, expected]);
    }
    expect(wrong).toBeGreaterThan(1000);
  });
});

const outcome = (found: string[] | Fault) => (found instanceof Fault ? { ...found.toJSON(), hint: undefined } : found);

/** Numbers below a bound, the same ones every time. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >>> 8) % below;
  };
}

describe('malformed text', () => {
  test.each(MALFORMED)('%j is refused', (document, message, line) => {
    const fault = scan(Buffer.from(document)) as Fault;
    expect(fault).toBeInstanceOf(Fault);
    expect([fault.code, fault.place.input, fault.place.line]).toEqual(['source/malformed', 'in.xml', line]);
    expect(fault.message).toMatch(message);
  });

  test('is placed by line, column, element and record, in a separate window too', async () => {
    const record = '<o>\n<n>é</n>\n</o>\n';
    const document = `<r>\n${record.repeat(20_000)}<o><n>é &amp</n></o></r>`;
    const scanned = await openXml(stream(Buffer.from(document), 50_000), [{ iterator: '/r/o', references: ['n'], origin: '' }], READING);
    const fault = (await drain(scanned).catch((error) => error)) as Fault;
    expect(fault.place).toEqual({ input: 'in.xml', line: 60_002, column: 9, record: 20_000 });
    expect(fault.message).toContain(', in <n>');
  });

  test('as deep as a stack is refused, and so are too many names and a tag without end', () => {
    const deep = (levels: number) => Buffer.from(`${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}`);
    expect(scan(deep(MAX_DEPTH))).toHaveLength(2 * MAX_DEPTH);
    expect((scan(deep(MAX_DEPTH + 1)) as Fault).code).toBe('limit/exceeded');
    const names = Array.from({ length: 200_001 }, (_, i) => `<a${i}/>`).join('');
    expect((scan(Buffer.from(`<r>${names}</r>`)) as Fault).code).toBe('limit/exceeded');
    const endless = Buffer.from(`<r a="${'x'.repeat(2 ** 20)}`);
    expect((scan(endless, endless) as Fault).code).toBe('limit/exceeded');
  });
});

const READING = {
  format: 'xml',
  name: 'in.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 2 ** 20,
} as const;

async function* stream(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function drain(scan: Awaited<ReturnType<typeof openXml>>): Promise<number> {
  let records = 0;
  for await (const batch of scan.batches(new AbortController().signal)) records += batch.records.length;
  return records;
}
