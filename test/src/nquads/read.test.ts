import { describe, expect } from '@jest/globals';
import { Parser } from 'n3';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes } from '../../../src/core/text.ts';
import { type InputPosition, type ReadOptions, readStatements } from '../../../src/nquads/read.ts';
import { skolemiser } from '../../../src/nquads/skolem.ts';
import { soakTest, test } from '../../support/jest/extent.ts';

const XSD = 'http://www.w3.org/2001/XMLSchema#';
const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';

async function* chunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

interface Read {
  readonly statements: readonly string[];
  readonly lines: readonly number[];
  readonly rejected: readonly { readonly line: number; readonly statement: string; readonly fault: { readonly message: string } }[];
  readonly ends: readonly InputPosition[];
}

/** All statements, decoded, terms separated by spaces. */
async function read(input: string | Uint8Array, options: Partial<ReadOptions> = {}, size = 2 ** 16): Promise<Read> {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const found = {
    statements: [] as string[],
    lines: [] as number[],
    rejected: [] as Read['rejected'][number][],
    ends: [] as InputPosition[],
  };
  for await (const block of readStatements(chunks(bytes, size), { input: 'a.nq', skolem: undefined, ...options })) {
    for (const { subject, predicate, object, graph, line } of block.statements) {
      found.statements.push(fromBytes(`${subject} ${predicate} ${object}${graph === '' ? '' : ` ${graph}`}`));
      found.lines.push(line);
    }
    found.rejected.push(...block.rejected);
    found.ends.push(block.end);
  }
  return found;
}

const faultOf = async (reading: Promise<unknown>): Promise<Fault> => {
  const error: unknown = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw error ?? new Error('expected a fault');
};

const S = '<http://e/s>';
const P = '<http://e/p>';
const O = '<http://e/o>';

describe('statements', () => {
  test.each<[name: string, input: string, statements: string[]]>([
    ['a triple', `${S} ${P} ${O} .\n`, [`${S} ${P} ${O}`]],
    ['a quad', `${S} ${P} ${O} <http://e/g> .\n`, [`${S} ${P} ${O} <http://e/g>`]],
    ['nothing', '', []],
    ['blank lines and comments', `\n  \n# hello <\n${S} ${P} ${O} . # bye .\n\t# more\n`, [`${S} ${P} ${O}`]],
    [
      'tabs, and no white space where none is needed',
      `\t${S}\t${P} "x"<http://e/g>.\n${S}${P}_:b<http://e/g>.#c\n`,
      [`${S} ${P} "x" <http://e/g>`, `${S} ${P} _:b <http://e/g>`],
    ],
    ['CR LF', `${S} ${P} ${O} .\r\n\r\n${S} ${P} "x" .\r\n`, [`${S} ${P} ${O}`, `${S} ${P} "x"`]],
    ['CR alone', `${S} ${P} ${O} .\r${S} ${P} "x" .\r`, [`${S} ${P} ${O}`, `${S} ${P} "x"`]],
    ['no line feed at the end', `${S} ${P} ${O} .`, [`${S} ${P} ${O}`]],
    ['a comment without a line feed', `${S} ${P} ${O} .\n# end`, [`${S} ${P} ${O}`]],
    ['no line feed, but white space or a comment behind a label and its full stop', `${S} ${P} _:b. `, [`${S} ${P} _:b`]],
    ['a byte order mark', `\ufeff${S} ${P} ${O} .\n`, [`${S} ${P} ${O}`]],
    ['xsd:string is left out', `${S} ${P} "x"^^<${XSD}string> .\n`, [`${S} ${P} "x"`]],
    ['another datatype stays', `${S} ${P} "x"^^<${XSD}token> .\n`, [`${S} ${P} "x"^^<${XSD}token>`]],
    [
      'white space around the parts of a literal',
      `${S} ${P} "x" ^^ <${XSD}int> .\n${S} ${P} "x" @en .\n`,
      [`${S} ${P} "x"^^<${XSD}int>`, `${S} ${P} "x"@en`],
    ],
    ['an ill-typed literal is legal RDF', `${S} ${P} "abc"^^<${XSD}integer> .\n`, [`${S} ${P} "abc"^^<${XSD}integer>`]],
    ['a language tag stays as it is written', `${S} ${P} "x"@en-GB .\n${S} ${P} "x"@EN.\n`, [`${S} ${P} "x"@en-GB`, `${S} ${P} "x"@EN`]],
    ['letters beyond ASCII', `<http://e/東京> ${P} "Zoë 😀" .\n`, [`<http://e/東京> ${P} "Zoë 😀"`]],
    ['escapes in an IRI', `<http://e/\\u6771\\U00004EAC> <\\u0068ttp://e/p> ${O} .\n`, [`<http://e/東京> ${P} ${O}`]],
    ['escapes in a datatype', `${S} ${P} "x"^^<http://www.w3.org/2001/XMLSchema\\u0023string> .\n`, [`${S} ${P} "x"`]],
    ['escapes in a literal', `${S} ${P} "a\\u00e9\\U0001F600\\t\\b\\n\\r\\f\\"\\'\\\\" .\n`, [`${S} ${P} "aé😀\\t\\b\\n\\r\\f\\"'\\\\"`]],
    [
      'escapes that stand for what must be escaped',
      `${S} ${P} "\\u0022\\u005C\\u000A\\u0000\\u007f\\u0009" .\n`,
      [`${S} ${P} "\\"\\\\\\n\\u0000\\u007F\\t"`],
    ],
    ['control characters as they are', `${S} ${P} "a\tb\u0001\u007f\u0000" .\n`, [`${S} ${P} "a\\tb\\u0001\\u007F\\u0000"`]],
    ['a backslash before a quote', `${S} ${P} "\\\\" .\n${S} ${P} "\\\\\\"" .\n`, [`${S} ${P} "\\\\"`, `${S} ${P} "\\\\\\""`]],
    ['an empty literal', `${S} ${P} "" .\n`, [`${S} ${P} ""`]],
    ['what looks like syntax within a literal', `${S} ${P} "<a> <b> . # \\" _:x @en ^^" .\n`, [`${S} ${P} "<a> <b> . # \\" _:x @en ^^"`]],
    ['blank nodes', `_:a ${P} _:b-1.x _:0 .\n_:é ${P} _:b.\n`, [`_:a ${P} _:b-1.x _:0`, `_:é ${P} _:b`]],
    ['a colon in a label', `_:a:b ${P} _:colon_a .\n`, [`_:colon_a_3ab ${P} _:colon_colon_5fa`]],
    [
      'IRIs of many kinds',
      '<urn:a:b> <tag:x,2000:y> <mailto:a@b.c> <file:///a%20b> .\n<http://u:p@h:80/?q=/?#f?> <ftp://[::1]:21/> <http:> <a+b-c.d:> .\n',
      ['<urn:a:b> <tag:x,2000:y> <mailto:a@b.c> <file:///a%20b>', '<http://u:p@h:80/?q=/?#f?> <ftp://[::1]:21/> <http:> <a+b-c.d:>'],
    ],
    [
      'the same subject, then one that begins like it',
      `${S} ${P} "1" .\n${S} ${P} "2" .\n<http://e/s2> ${P} "3" .\n`,
      [`${S} ${P} "1"`, `${S} ${P} "2"`, `<http://e/s2> ${P} "3"`],
    ],
    [
      'a private character in a query',
      '<http://e/?\ue000> <http://e/p> <http://e/o> .\n',
      ['<http://e/?\ue000> <http://e/p> <http://e/o>'],
    ],
  ])('%s', async (_, input, statements) => {
    const whole = await read(input);
    expect(whole).toMatchObject({ statements, rejected: [] });
    // Wherever the bytes are cut, the statements are the same.
    for (let size = 1; size < 9; size++) expect(await read(input, {}, size)).toEqual(whole);
  });

  test('lines are counted, whatever ends them', async () => {
    const found = await read(`# one\r\n${S} ${P} "2" .\r\n\r\n${S} ${P} "4" .\r${S} ${P} "5" .\n\n${S} ${P} "7" .`);
    expect(found.lines).toEqual([2, 4, 5, 7]);
    expect(found.ends.at(-1)?.line).toBe(7);
  });

  test('blank nodes become IRIs', async () => {
    const skolem = skolemiser('http://e/.well-known/genid/', 'run/1');
    const { statements } = await read(`_:a ${P} _:b:é _:a .\n`, { skolem });
    expect(statements).toEqual([
      `<http://e/.well-known/genid/run%2F1/a> ${P} <http://e/.well-known/genid/run%2F1/b%3A%C3%A9> <http://e/.well-known/genid/run%2F1/a>`,
    ]);
  });

  test('a base for blank nodes must begin an IRI', async () => {
    expect(() => skolemiser('genid/', 'x')).toThrow(expect.objectContaining({ code: 'config/invalid' }));
    expect(() => skolemiser('http://e/ ', 'x')).toThrow(expect.objectContaining({ code: 'config/invalid' }));
  });
});

describe('rejected', () => {
  const bytes = (...parts: (string | number[])[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

  test.each<[name: string, line: string | Buffer, message: string, byte: number]>([
    ['a relative IRI', `<s> ${P} ${O} .`, 'relative', 1],
    ['an empty IRI', `${S} ${P} <> .`, 'relative', 27],
    ['an IRI that begins with slashes', `${S} <//e/p> ${O} .`, 'relative', 14],
    ['a scheme that is none', `${S} ${P} <ht!tp://e/o> .`, '"ht!tp" is no scheme', 29],
    ['a scheme that begins with a digit', `${S} ${P} <1a:b> .`, '"1a" is no scheme', 27],
    ['a percent sign that encodes nothing', `${S} ${P} <http://e/%zz> .`, '"%zz" in an IRI encodes no byte', 36],
    ['a percent sign at the end', `${S} ${P} <http://e/%4> .`, '"%4" in an IRI', 36],
    ['a space in an IRI', `${S} ${P} <http://e/a b> .`, 'the character " "', 37],
    ['a quote in an IRI', `${S} ${P} <http://e/"> .`, 'the character "\\""', 36],
    ['braces in an IRI', `${S} ${P} <http://e/{id}> .`, 'the character "{"', 36],
    ['a backslash in an IRI', `${S} ${P} <http://e\\x> .`, 'no escape', 35],
    ['a backslash that ends an IRI', `${S} ${P} <http://e/\\> .`, 'no escape', 36],
    ['a bracket that is no address', `${S} ${P} <http://e/[1]> .`, 'the character "[" in this place', 36],
    ['an address that is none', `${S} ${P} <http://[::g]/> .`, 'the character "["', 34],
    ['a second fragment', `${S} ${P} <http://e/#a#b> .`, 'the character "#" in this place', 38],
    ['a port that is none', `${S} ${P} <http://e:80a/> .`, 'the character "a"', 38],
    ['a character that RFC 3987 forbids', `${S} ${P} <http://e/\ufffd> .`, 'the character "\ufffd"', 36],
    ['a private character in a path', `${S} ${P} <http://e/\ue000> .`, 'the character', 36],
    ['an escape that would end the IRI', `${S} ${P} <http://e/\\u003E> .`, 'the character ">"', 27],
    ['an escape that is a space', `${S} ${P} <http://e/\\u0020x> .`, 'the character " "', 27],
    ['a bad IRI as predicate', `${S} <p> ${O} .`, 'relative', 14],
    ['a bad IRI as graph', `${S} ${P} ${O} <g> .`, 'relative', 40],
    ['a bad IRI as datatype', `${S} ${P} "x"^^<integer> .`, 'relative', 32],
    ['a surrogate in an IRI', `${S} ${P} <http://e/\\uD83D\\uDE00> .`, 'stands for no character', 36],
    ['a surrogate in a literal', `${S} ${P} "\\uD83D\\uDE00" .`, '"\\uD83D" stands for no character', 27],
    ['an escape beyond Unicode', `${S} ${P} "a\\U00110000" .`, 'stands for no character', 28],
    ['an escape that N-Quads has not', `${S} ${P} "C:\\dir" .`, '"\\dir" begins with no escape', 29],
    ['an escape with too few digits', `${S} ${P} "\\u12" .`, 'no escape', 27],
    ['a language tag that is too long', `${S} ${P} "x"@abcdefghi .`, 'not a language tag', 30],
    ['a language tag that ends in a hyphen', `${S} ${P} "x"@en- .`, 'not a language tag', 30],
    ['an empty language tag', `${S} ${P} "x"@ .`, '"" is not a language tag', 30],
    ['a language tag that is a number', `${S} ${P} "x"@1 .`, '"1" is not a language tag', 30],
    ['a language tag that ends in two hyphens', `${S} ${P} "x"@en-- .`, '"en--" is not a language tag', 30],
    ['rdf:langString without a language', `${S} ${P} "x"^^<${RDF}langString> .`, 'has no language', 31],
    ['a label that is none', `_:-a ${P} ${O} .`, 'no label', 2],
    ['a base direction', `${S} ${P} "x"@en--ltr .`, 'RDF 1.2', 30],
    ['a triple term', `${S} ${P} <<( ${S} ${P} "x"@en )>> .`, 'RDF 1.2', 26],
    ['a quoted triple', `<< ${S} ${P} << _:b ${P} ${O} >> >> ${P} ${O} .`, 'RDF-star', 0],
    ['bytes that are no UTF-8 in a literal', bytes(`${S} ${P} "a`, [0xff], '" .'), 'byte 0xff is out of place', 28],
    ['bytes that are no UTF-8 in an IRI', bytes(`${S} ${P} <http://e/`, [0xe9], '> .'), 'byte 0xe9 is out of place', 36],
    ['half a character', bytes(`${S} ${P} "\ufffd`, [0xe2, 0x82], '" .'), 'byte 0xe2 is out of place', 30],
    ['a surrogate in UTF-8', bytes(`${S} ${P} "`, [0xed, 0xa0, 0x80], '" .'), 'byte 0xed is out of place', 27],
    ['more bytes than a character needs', bytes(`${S} ${P} "`, [0xc0, 0xaf], '" .'), 'byte 0xc0 is out of place', 27],
  ])('%s', async (_, line, message, byte) => {
    const good = `${S} ${P} "good" .\n`;
    const input = Buffer.concat([Buffer.from(good), Buffer.from(line as string), Buffer.from(`\n${good}`)]);
    const { statements, lines, rejected } = await read(input);
    expect({ statements, lines }).toEqual({ statements: Array(2).fill(`${S} ${P} "good"`), lines: [1, 3] });
    expect(rejected).toEqual([
      {
        input: 'a.nq',
        line: 2,
        statement: Buffer.from(line as string).toString('utf8'),
        fault: expect.objectContaining({
          code: 'record/term',
          message: expect.stringContaining(message),
          place: expect.objectContaining({ input: 'a.nq', line: 2, byte: Buffer.byteLength(good) + byte }),
        }),
      },
    ]);
  });

  test.each([
    ['a triple term as a subject', `<<( ${S} ${P} ${O} )>> ${P} ${O} .`, 'the object of a statement'],
    ['a triple term as a subject within one', `${S} ${P} <<( <<( ${S} ${P} ${O} )>> ${P} ${O} )>> .`, 'the object of a statement'],
    ['a quoted triple as a graph', `${S} ${P} ${O} << ${S} ${P} ${O} >> .`, 'no name of a graph'],
    ['a bad IRI in a quoted triple', `<< ${S} ${P} <o> >> ${P} ${O} .`, 'relative'],
  ])('%s, where triples are terms', async (_, line, message) => {
    const { statements, rejected } = await read(`${line}\n`, { takesTriples: true });
    expect([statements, rejected.map(({ fault }) => fault.message)]).toEqual([[], [expect.stringContaining(message)]]);
  });

  test('no triple, where triples are terms', async () => {
    const lines = [`<< ${S}  ${P} <<_:b ${P} "\\u0041">> >> ${P}<<(${S} ${P} ${O})>> .`, `<<${S}${P}${O}>>${P} "x" .`];
    const { statements, rejected } = await read(`${lines.join('\n')}\n`, { takesTriples: true });
    expect([statements, rejected]).toEqual([
      [`<< ${S} ${P} << _:b ${P} "A" >> >> ${P} <<( ${S} ${P} ${O} )>>`, `<< ${S} ${P} ${O} >> ${P} "x"`],
      [],
    ]);
  });

  test('a statement is cut to 16 KiB', async () => {
    const { rejected } = await read(`${S} ${P} "${'é'.repeat(100_000)}"@en- .\n`);
    expect(rejected[0]?.statement).toHaveLength(16_384);
  });

  test('a subject after a rejected one is read for itself', async () => {
    const { statements, rejected } = await read(`<s> ${P} "1" .\n<s> ${P} "2" .\n${S} ${P} "3" .\n`);
    expect([statements, rejected.map(({ line }) => line)]).toEqual([[`${S} ${P} "3"`], [1, 2]]);
  });
});

describe('malformed', () => {
  test.each<[name: string, line: string, message: string]>([
    ['a literal as subject', `"s" ${P} ${O} .\n`, 'a subject'],
    ['a blank node as predicate', `${S} _:p ${O} .\n`, 'a predicate'],
    ['a literal as graph', `${S} ${P} ${O} "g" .\n`, 'a graph or a full stop'],
    ['no object', `${S} ${P} .\n`, 'an object'],
    ['no full stop', `${S} ${P} ${O}\n${S} ${P} ${O} .\n`, 'a graph or a full stop'],
    ['five terms', `${S} ${P} ${O} <http://e/g> <http://e/h> .\n`, 'a full stop'],
    ['two statements on a line', `${S} ${P} ${O} . ${S} ${P} ${O} .\n`, 'the end of the line'],
    ['an IRI that is not closed', `${S} <http://e/p ${O} .\n`, 'the ">" that closes'],
    ['an IRI that the line end interrupts', `${S} ${P} <http://e/\no> .\n`, 'the ">" that closes'],
    ['a literal that is not closed', `${S} ${P} "x .\n`, 'the quote that closes'],
    ['a literal that the line end interrupts', `${S} ${P} "x\ny" .\n`, 'the quote that closes'],
    ['a backslash at the end of the line', `${S} ${P} "x\\\n" .\n`, 'the quote that closes'],
    ['a datatype that is missing', `${S} ${P} "x"^^xsd:int .\n`, 'a datatype'],
    ['an empty label', `_: ${P} ${O} .\n`, 'the label'],
    ['Turtle', `@prefix e: <http://e/> .\n`, 'a subject'],
    ['a directive of RDF 1.2', 'VERSION "1.2"\n', 'a subject'],
    ['a number', `${S} ${P} 1 .\n`, 'an object'],
    ['a triple term without an end', `${S} ${P} <<( ${S} ${P} ${O} .\n`, 'triple term'],
    ['triple terms without end', `${S} ${P} ${`<<( ${S} ${P} `.repeat(500)}\n`, 'levels'],
    ['UTF-16', Buffer.from(`${S} ${P} ${O} .\n`, 'utf16le').toString('latin1'), 'expected'],
  ])('%s', async (_, line, message) => {
    const good = `# comment\n${S} ${P} "good" .\n`;
    const fault = await faultOf(read(good + line));
    expect([fault.code, fault.message]).toEqual(['source/malformed', expect.stringContaining(message)]);
    expect(fault.place).toMatchObject({ input: 'a.nq', line: 3 });
    expect(fault.place.byte).toBeGreaterThanOrEqual(good.length);
    expect(fault.place.value).toContain(JSON.stringify(line.split('\n')[0]?.slice(0, 10)).slice(1, -1));
    for (let size = 1; size < 9; size++) expect((await faultOf(read(good + line, {}, size))).toJSON()).toEqual(fault.toJSON());
  });

  test.each<[name: string, line: string, told: string]>([
    ['a literal as graph', `${S} ${P} ${O} "g" .`, 'not by a literal'],
    ['a datatype with a prefix', `${S} ${P} "x"^^xsd:int .`, 'in full'],
    ['another line', `${S} ${P} ${O}`, 'Each line has one statement'],
  ])('what to do: %s', async (_, line, told) => {
    expect((await faultOf(read(`${line}\n`))).hint).toContain(told);
  });

  test('the byte is that of the place', async () => {
    expect((await faultOf(read(`${S} ${P} ${O} .\n${S} ${P} 1 .\n`))).place.byte).toBe(`${S} ${P} ${O} .\n${S} ${P} `.length);
  });

  test('a line beyond the limit', async () => {
    const long = `${S} ${P} "good" .\n${S} ${P} "${'x'.repeat(2 ** 20)}" .\n`;
    expect((await read(long, {}, 1000)).statements).toHaveLength(2);
    const fault = await faultOf(read(long, { maxLineBytes: 2 ** 19 }, 1000));
    expect(fault).toMatchObject({ code: 'limit/exceeded', place: { line: 2, byte: `${S} ${P} "good" .\n`.length } });
    expect((await faultOf(read(long, { maxLineBytes: 100 }, 2 ** 22))).code).toBe('limit/exceeded');
  });

  soakTest('a line of 40 MB', async () => {
    const { statements } = await read(`${S} ${P} "${'é'.repeat(20 * 2 ** 20)}" .\n`);
    expect(statements[0]?.length).toBe(20 * 2 ** 20 + `${S} ${P} ""`.length);
  });
});

describe('bad lines that are rejected', () => {
  const bad = [
    `"s" ${P} ${O} .`,
    `${S} ${P} ${O}`,
    `${S} ${P} ${O} "g" .`,
    `${S} ${P} "x"^^xsd:int .`,
    `${S} ${P} "x"@en_US .`,
    `${S} ${P} "x .`,
    `<rel> ${P} ${O} .`,
    '{"not": "a statement"}',
  ];
  const lines = bad.flatMap((line, i) => [`${S} ${P} "${i}" .`, line]);

  test('each with its line, wherever the bytes are cut; the others are read', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = lines.join(end) + end;
      const found = await read(text, { rejectsLines: true });
      expect(found.statements).toEqual(bad.map((_, i) => `${S} ${P} "${i}"`));
      expect(found.rejected.map(({ line, statement }) => [line, statement])).toEqual(bad.map((line, i) => [2 * i + 2, line]));
      expect(found.ends.at(-1)).toEqual({ byte: text.length, line: lines.length });
      for (const size of [1, 2, 3, 7]) {
        const { ends: _, ...rest } = await read(text, { rejectsLines: true }, size);
        expect(rest).toEqual({ statements: found.statements, lines: found.lines, rejected: found.rejected });
      }
    }
  });

  test('a language tag with an underscore is named', async () => {
    const { rejected } = await read(`${S} ${P} "x"@en_US .\n`);
    expect(rejected[0]?.fault).toMatchObject({ message: '"en_US" is not a language tag', hint: expect.stringContaining('"pt-BR"') });
  });

  test.each(['', '1', 'en-', 'en--'])('a first and only line with the language tag "%s"', async (tag) => {
    const { statements, rejected } = await read(`${S} ${P} "x"@${tag} .\n`, { rejectsLines: true });
    expect([statements, rejected.map(({ fault }) => fault.message)]).toEqual([[], [`"${tag}" is not a language tag`]]);
  });

  test('a last line that is bad before its end is rejected, one that is cut off is a fault', async () => {
    const good = `${S} ${P} ${O} .\n`;
    expect((await read(`${good}${S} ${P} 1 .`, { rejectsLines: true })).rejected).toHaveLength(1);
    expect((await faultOf(read(`${good}${S} ${P} "x`, { rejectsLines: true }))).message).toContain('cut off');
  });

  test('a file without a single statement is of another type', async () => {
    const fault = await faultOf(read('{"a": 1,\n"b": 2}\n', { rejectsLines: true }));
    expect(fault).toMatchObject({ code: 'source/malformed', place: { line: 1 } });
    expect((await read('# nothing\n\n', { rejectsLines: true })).statements).toEqual([]);
  });
});

describe('a file that is cut off', () => {
  const lines = [
    `${S} ${P} "Zoë \\"x\\" \\u00e9" <http://e/g> .`,
    '# comment',
    `_:a ${P} _:b1.5 .`,
    `_:a ${P} ${S} _:g1.5.\r`,
    '',
    `${S} ${P} "x"@en-GB .`,
    `${S}\t${P}"1"^^<${XSD}int>.`,
    `<rel> ${P} "\\q" . # more`,
    `${S} ${P} <<( ${S} ${P} ${O} )>> .`,
    `<http://e/東> ${P} ${O} .`,
  ];
  const text = Buffer.from(`${lines.join('\n')}\n`);

  test('at any byte: whole statements, or a fault', async () => {
    const whole = await read(text);
    expect([whole.statements.length, whole.rejected.map(({ line }) => line)]).toEqual([6, [8, 9]]);
    let faults = 0;
    for (let cut = 0; cut <= text.length; cut++) {
      const part = text.subarray(0, cut);
      const outcomes = await Promise.all(
        [2 ** 16, 1, 7].map((size) =>
          read(part, {}, size).then(
            (found) => found,
            (error: unknown) => Fault.of(error).toJSON(),
          ),
        ),
      );
      const [first] = outcomes as [Read];
      for (const outcome of outcomes) expect(outcome).toEqual(first);
      if ('code' in first) {
        faults++;
        expect(first).toMatchObject({ code: 'source/malformed', message: expect.stringContaining('cut off') });
      } else {
        expect(first.statements).toEqual(whole.statements.slice(0, first.statements.length));
        // Of a rejected line, a comment is shown as far as it goes.
        const reasons = (found: Read) => found.rejected.map(({ line, fault }) => [line, fault.message]);
        expect(reasons(first)).toEqual(reasons(whole).slice(0, first.rejected.length));
        expect(first.ends.at(-1)?.byte ?? 0).toBe(cut);
      }
    }
    expect(faults).toBeGreaterThan(text.length / 2);
  });
});

describe('resuming', () => {
  test('from the end of any block gives the rest', async () => {
    let text = '\ufeff';
    for (let i = 0; i < 12_000; i++)
      text += i % 7 === 0 ? `# ${i}\r\n<rel> ${P} "${i}" .\n` : `<http://e/${i >> 2}> ${P} "Zoë ${i} ${'x'.repeat(i % 120)}" .\r\n`;
    const bytes = Buffer.from(text);
    const whole = await read(bytes, {}, 10_000);
    expect(whole.ends.length).toBeGreaterThan(4);
    for (const from of whole.ends) {
      const before = whole.lines.filter((line) => line <= from.line).length;
      const rest = await read(bytes.subarray(from.byte), { from }, 3333);
      expect(rest.statements).toEqual(whole.statements.slice(before));
      expect(rest.lines).toEqual(whole.lines.slice(before));
      expect(rest.rejected).toEqual(whole.rejected.filter(({ line }) => line > from.line));
    }
    expect(whole.ends.at(-1)).toEqual({ byte: bytes.length, line: text.split('\n').length - 1 });
  });

  test('closes what it reads when no more is wanted', async () => {
    let closed = false;
    async function* endless() {
      try {
        while (true) yield Buffer.from(`${S} ${P} ${O} .\n`.repeat(1000));
      } finally {
        closed = true;
      }
    }
    for await (const _ of readStatements(endless(), { input: 'a.nq', skolem: undefined })) break;
    expect(closed).toBe(true);
  });
});

describe('random quads', () => {
  /** mulberry32. */
  const random = (seed: number) => {
    let state = seed;
    return (below: number): number => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) % below;
    };
  };
  const CHARACTERS = [
    'a',
    'Z',
    '0',
    ' ',
    '"',
    '\\',
    '\n',
    '\r',
    '\t',
    '\b',
    '\f',
    '\u0000',
    '\u007f',
    '\u001f',
    "'",
    '<',
    '>',
    '#',
    '.',
    '@',
    '^',
    'é',
    '\u00a0',
    '\u2028',
    '東',
    '\ufffd',
    '\uffff',
    '😀',
    '\u{10ffff}',
  ];
  const IRI_CHARACTERS = ['a', 'Z', '0', '-', '.', '~', '%20', '/', ':', '@', "'", '(', ',', 'é', '東', '😀', '\u{e1000}'];

  function quads(seed: number) {
    const below = random(seed);
    const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T;
    const hex = (character: string) => {
      const code = (character.codePointAt(0) as number).toString(16);
      const digits = below(2) === 0 ? code : code.toUpperCase();
      return digits.length > 4 || below(3) === 0 ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
    };
    const NAMES: Record<string, string> = {
      '"': '\\"',
      '\\': '\\\\',
      '\n': '\\n',
      '\r': '\\r',
      '\t': '\\t',
      '\b': '\\b',
      '\f': '\\f',
      "'": "\\'",
    };
    const text = () =>
      Array.from({ length: below(8) }, () => pick(CHARACTERS))
        .map((c) => (below(3) === 0 ? hex(c) : '"\\\n\r'.includes(c) || below(2) === 0 ? (NAMES[c] ?? c) : c))
        .join('');
    const iri = () =>
      `<http://e/${Array.from({ length: below(6) }, () => pick(IRI_CHARACTERS))
        .map((c) => (below(4) === 0 && c.length < 3 ? hex(c) : c))
        .join('')}>`;
    const blank = () => `_:b${below(9)}${pick(['', '.x', '-', 'é'])}`;
    const literal = () => `"${text()}"${pick(['', '@en', '@de-CH-1996', `^^${iri()}`, `^^<${XSD}string>`])}`;
    const blanks = () => pick([' ', '\t', '  ']);
    return Array.from({ length: 2000 }, () =>
      [
        pick([iri, blank])(),
        iri(),
        pick([iri, blank, literal, literal])(),
        pick([iri, blank, () => ''])(),
        `.${pick(['', ' ', ' # c'])}\n`,
      ].join(blanks()),
    ).join('');
  }

  /** As the contract writes terms. */
  const canonical = (term: { termType: string; value: string; language?: string; datatype?: { value: string } }): string => {
    if (term.termType === 'NamedNode') return `<${term.value}>`;
    if (term.termType === 'BlankNode') return `_:${term.value}`;
    if (term.termType === 'DefaultGraph') return '';
    const names: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };
    const body = term.value.replace(
      /["\\\x00-\x1f\x7f]/g,
      (c) => names[c] ?? `\\u${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    );
    const end = term.language ? `@${term.language}` : term.datatype?.value === `${XSD}string` ? '' : `^^<${term.datatype?.value}>`;
    return `"${body}"${end}`;
  };

  test.each([1, 2, 3, 4, 5])('are what another parser makes of them (seed %i)', async (seed) => {
    const input = quads(seed);
    const expected = new Parser({ format: 'N-Quads', blankNodePrefix: '' }).parse(input).map((quad) =>
      [quad.subject, quad.predicate, quad.object, quad.graph]
        .map(canonical)
        .filter((term) => term !== '')
        .join(' '),
    );
    const { statements, rejected } = await read(input, {}, 1 + seed * 997);
    expect(rejected).toEqual([]);
    expect(statements.map((line) => line.replace('@de-CH', '@de-ch'))).toEqual(expected.map((line) => line.replace('@de-CH', '@de-ch')));
    // What is canonical stays as it is.
    expect((await read(statements.map((line) => `${line} .\n`).join(''))).statements).toEqual(statements);
  });
});

describe('skolem IRIs', () => {
  test('differ where labels or seeds do, and are always the same', () => {
    const labels = ['a', 'a/b', 'a%2Fb', 'a.b', 'é', 'A', 'a:b', 'a_3ab'].map((label) => Buffer.from(label).toString('latin1'));
    const all = ['s', 's/a', 's%2Fa', ''].flatMap((seed) => labels.map(skolemiser('http://e/', seed)));
    expect(new Set(all).size).toBe(all.length);
    expect(all).toEqual(['s', 's/a', 's%2Fa', ''].flatMap((seed) => labels.map(skolemiser('http://e/', seed))));
  });
});
