import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import type { IterationRequest, XmlOptions } from '../../../../src/sources/source.ts';
import { openXml } from '../../../../src/sources/xml/xml.ts';

const READING: XmlOptions = {
  format: 'xml',
  name: 'in.xml',
  dialect: 'rml',
  nulls: [],
  encoding: undefined,
  namespaces: {},
  maxRecordBytes: 2 ** 20,
};

const request = (iterator: string | undefined, ...references: string[]): IterationRequest => ({
  iterator,
  references,
  origin: 'm.ttl:1:1',
});

type Row = (null | string | string[])[];

interface Outcome {
  /** By iteration: the values of all references for each record. */
  readonly rows: Row[][];
  readonly unmatched: (readonly string[])[];
  readonly hints: (string | undefined)[];
  readonly bytes: number;
}

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const characters = (value: unknown): null | string | string[] =>
  value === null ? null : Array.isArray(value) ? value.map((v) => fromBytes(v)) : fromBytes(value as string);

async function read(
  document: string | Uint8Array,
  iterations: readonly IterationRequest[],
  reading: Partial<XmlOptions> = {},
  chunkBytes = 2 ** 16,
): Promise<Outcome> {
  const bytes = typeof document === 'string' ? Buffer.from(document) : document;
  const scan = await openXml(chunked(bytes, chunkBytes), iterations, { ...READING, ...reading });
  const readers = iterations.map((iteration, i) => iteration.references.map((reference) => scan.accessor(i, reference)));
  const rows: Row[][] = iterations.map(() => []);
  let last = 0;
  for await (const batch of scan.batches(new AbortController().signal)) {
    expect(batch.first).toBe((rows[batch.iteration] as Row[]).length);
    for (const record of batch.records)
      (rows[batch.iteration] as Row[]).push((readers[batch.iteration] ?? []).map((reader) => characters(reader(record))));
    last = batch.bytes;
  }
  return {
    rows,
    unmatched: iterations.map((_, i) => scan.unmatched(i)),
    hints: iterations.map((_, i) => scan.hint?.(i)),
    bytes: last,
  };
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
}

/** The values of one reference for each record. */
async function values(document: string | Uint8Array, iterator: string | undefined, reference: string, reading: Partial<XmlOptions> = {}) {
  const { rows } = await read(document, [request(iterator, reference)], reading);
  return (rows[0] as Row[]).map((row) => row[0]);
}

const ORDERS = `<?xml version="1.0" encoding="UTF-8"?>
<orders version="7">
  <!-- two of them -->
  <order id="1" status="new"><customer kind="a"><name>Zoë</name><address city="São Paulo"/></customer>
    <lines><line no="1"><sku>A</sku></line><line no="2"><sku>B</sku></line></lines><tag>x</tag><tag/><tag>z</tag>
  </order>
  <order id="2"><customer kind="b"><name>Bob &amp; <b>Co</b>&#33;</name></customer><lines><line no="1"><sku><![CDATA[<C>]]></sku></line></lines></order>
</orders>`;

describe('a reference', () => {
  test.each<[reference: string, first: unknown, second: unknown]>([
    ['@id', '1', '2'],
    ['@status', 'new', null],
    ['customer/name', 'Zoë', 'Bob & Co!'],
    ['customer/address/@city', 'São Paulo', null],
    ['tag', ['x', '', 'z'], null],
    ['tag/text()', ['x', 'z'], null],
    ['customer/name/text()', 'Zoë', ['Bob & ', '!']],
    ['customer/*/b', null, 'Co'],
    ['*/@kind', 'a', 'b'],
    ['@*', ['1', 'new'], '2'],
    ['lines/line/@no', ['1', '2'], '1'],
    ['lines/line/sku', ['A', 'B'], '<C>'],
    ['.//sku', ['A', 'B'], '<C>'],
    ['./customer/./name', 'Zoë', 'Bob & Co!'],
    ['child::customer/attribute::kind', 'a', 'b'],
    [' customer / name ', 'Zoë', 'Bob & Co!'],
    ['lines/line[2]/sku', 'B', null],
    ["lines/line[@no='2']/sku", 'B', null],
    ['tag[1]', 'x', null],
    ["customer[@kind = 'b']/name", null, 'Bob & Co!'],
    ['customer[@missing]/name', null, null],
    ['../@version', '7', '7'],
    ['../../@version', null, null],
    ['missing', null, null],
    // beyond plain paths
    ['concat(@id, "-", customer/name)', '1-Zoë', '2-Bob & Co!'],
    ['count(lines/line)', '2', '1'],
    ['string-length(customer/name)', '3', '9'],
    ['lines/line[last()]/sku', 'B', '<C>'],
    ['lines/line[sku = "B"]/@no', '2', null],
    ['customer/name | tag', ['Zoë', 'x', '', 'z'], 'Bob & Co!'],
    ['customer/@kind = "a"', 'true', 'false'],
    ['ancestor::orders/@version', '7', '7'],
    ['customer/../@id', '1', '2'],
    ['name()', 'order', 'order'],
    ['lines//line/@no', ['1', '2'], '1'],
    ['descendant::name', 'Zoë', 'Bob & Co!'],
    ['if (tag) then "yes" else "no"', 'yes', 'no'],
    ['normalize-space(customer/name)', 'Zoë', 'Bob & Co!'],
    // beyond the record
    ['/orders/@version', '7', '7'],
    ['following-sibling::order/@id', '2', null],
    ['../order[1]/@id', '1', '1'],
    ['count(//line)', '3', '3'],
    ['count(../order)', '2', '2'],
  ])('%s reads the values of its nodes', async (reference, first, second) => {
    expect(await values(ORDERS, '/orders/order', reference)).toEqual([first, second]);
  });

  test('is read in its own way beside one that needs the whole document', async () => {
    const { rows } = await read(ORDERS, [request('/orders/order', '@id', 'customer/name', 'count(//line)'), request('//line', 'sku')]);
    expect(rows).toEqual([
      [
        ['1', 'Zoë', '3'],
        ['2', 'Bob & Co!', '3'],
      ],
      [['A'], ['B'], ['<C>']],
    ]);
  });

  test('leaves out the values that mean null, and knows them for nodes', async () => {
    const { rows, unmatched } = await read('<r><a>NA</a><b>1</b><b>NA</b></r>', [request('/r', 'a', 'b', 'c')], { nulls: ['NA'] });
    expect(rows).toEqual([[[null, ['1'], null]]]);
    expect(unmatched).toEqual([['c']]);
  });

  test('that no record has a node for is named after the pass', async () => {
    const { unmatched } = await read('<r><x/><x a=""/></r>', [request('/r/x', '@a', '.', 'IDs', 'string(b)')]);
    expect(unmatched).toEqual([['IDs', 'b']]);
  });

  test.each<[reference: string, unmatched: readonly string[]]>([
    ["concat(b, ' ', a)", ['b']],
    ["concat('b, (', a, \"it's\")", []],
    ['normalize-space( b/c )', ['b/c']],
    ['upper-case(fn:string(@b))', ['@b']],
    ['string((: a, :) @b)', []],
    ["string-join((b, a), ' ')", []],
    ['string(text())', []],
    ['string(/r/b)', ['/r/b']],
    ['string(../@n)', []],
    ['string(../@m)', ['../@m']],
    ['if (b) then string(b) else string(a)', []],
    ["concat(string(b) = string(c), '')", []],
    ['string(attribute(b))', []],
    ['count(b)', []],
    ['exists(b)', []],
    ['string(not(b))', []],
    ['concat(count(b), c)', ['c']],
  ])('%s: a path that a function is given, of which no record has a node', async (reference, expected) => {
    const document = '<r n="1"><x><a>1</a>t</x><x/></r>';
    // Read as a stream, and with the whole document.
    for (const iterator of ['/r/x', '/r/x[position() > 0]']) {
      const { unmatched } = await read(document, [request(iterator, reference)]);
      expect(unmatched).toEqual([expected]);
    }
  });

  test('whose record is read in parts keeps its text as one', async () => {
    expect(await values('<r>a<!--1-->b<?p i?>c<![CDATA[d]]>e&lt;f</r>', '/r', '.')).toEqual(['abcde<f']);
    expect(await values('<r>a<!--1-->b<?p i?>c<![CDATA[d]]>e&lt;f</r>', '/r', 'text()')).toEqual([['a', 'b', 'cde<f']]);
    expect(await values('<r>a<!--1-->b<?p i?>c</r>', '/r', 'comment()')).toEqual(['1']);
    expect(await values('<r>a<!--1-->b<?p i?>c</r>', '/r', 'processing-instruction("p")')).toEqual(['i']);
  });
});

describe('a name without prefix', () => {
  const DOCUMENT =
    '<o xmlns="urn:shop" id="1"><i n="1">a<t xmlns="">x</t></i><p:i xmlns:p="urn:shop" n="2">b</p:i><i xmlns="urn:other" n="3">c</i></o>';

  test.each<[iterator: string, reference: string, reading: Partial<XmlOptions>, expected: unknown[]]>([
    ['/o/i', '@n', {}, []],
    ['/o/i', '@n', { xmlDefaultNamespace: 'document' }, ['1', '2']],
    ['/o/i[@n="2"]', '../@id', { xmlDefaultNamespace: 'document' }, ['1']],
    ['//i', 'string-join((@n, t), "-")', { xmlDefaultNamespace: 'document' }, ['1', '2']],
    ['//i[t]', '@n', { xmlDefaultNamespace: 'document' }, []],
    ['/o', 'i', { xmlDefaultNamespace: 'document' }, [['ax', 'b']]],
    ['/o', 'i[count(.) > 0]', { xmlDefaultNamespace: 'document' }, [['ax', 'b']]],
    ['/o/i', '*:t', { xmlDefaultNamespace: 'document' }, ['x', null]],
    ['/*:o/*:i', '@n', {}, ['1', '2', '3']],
    ['/*:o/*:i[@n="1"]', 't', {}, ['x']],
    ['//*:i', '@*:n', {}, ['1', '2', '3']],
    ['/o/i', '@n', { namespaces: { '': 'urn:shop' } }, ['1', '2']],
    ['/p:o/p:*', '@n', { namespaces: { p: 'urn:shop' } }, ['1', '2']],
  ])('in %s, %s (%j)', async (iterator, reference, reading, expected) => {
    expect(await values(DOCUMENT, iterator, reference, reading)).toEqual(expected);
  });

  test('that finds nothing is reported with what to write', async () => {
    const { hints } = await read(DOCUMENT, [request('/o/i[@n="1"]', '@n')], { dialect: 'legacy' });
    expect(hints[0]).toContain("write /*:o/*:i[@n='1'], or");
    expect(hints[0]).toContain('--xml-default-namespace document');
  });
});

describe('an iterator', () => {
  const NESTED = '<r><a n="1" t="x"><b n="2"/><a n="3" t="y"><b n="4"/><b n="5"/></a></a><c><a n="6" t="x"/></c><a n="7"/></r>';

  test.each<[iterator: string, expected: string[]]>([
    ['/r', []],
    ['/r/a', ['1', '7']],
    ['r/a', ['1', '7']],
    ['//a', ['1', '3', '6', '7']],
    ['//b', ['2', '4', '5']],
    ['/r//a', ['1', '3', '6', '7']],
    ['/r/*', ['1', '7']],
    ['/r/*/*', ['2', '3', '6']],
    ['//a/b', ['2', '4', '5']],
    ['//a//b', ['2', '4', '5']],
    ['//a/a/b', ['4', '5']],
    ['/r/a[2]', ['7']],
    ['//a[1]', ['1', '3', '6']],
    ["//a[@t='x']", ['1', '6']],
    ["//a[@t='x'][1]", ['1', '6']],
    ["/r/a[1][@t='y']", []],
    ['//a[@t]/b[2]', ['5']],
    ['/r/nothing', []],
    ['/r/a/.', ['1', '7']],
    // beyond the stream
    ['//a[b]', ['1', '3']],
    ['//b/..', ['1', '3']],
    ['//a[last()]', ['3', '6', '7']],
    ['/r/c/a | /r/a', ['1', '6', '7']],
    ['//a[not(@t)]', ['7']],
    ['(//b)[2]', ['4']],
    ['//b/following-sibling::a', ['3']],
  ])('%s selects its elements in document order', async (iterator, expected) => {
    expect((await values(NESTED, iterator, '@n')).filter((n) => n !== null)).toEqual(expected);
  });

  test('may select attributes and text', async () => {
    expect(await values(NESTED, '//b/@n', '.')).toEqual(['2', '4', '5']);
    expect(await values('<r><a>1</a><a>2</a></r>', '/r/a/text()', '.')).toEqual(['1', '2']);
    expect(await values('<r><a k="v">1</a></r>', '/r/a/text()', '../@k')).toEqual(['v']);
  });

  test.each<[iterator: string | undefined, reference: string, expected: unknown]>([
    [undefined, '@v', '1'],
    [undefined, 'a', 'x'],
    [undefined, '.', 'x'],
    ['/', 'r/a', 'x'],
    ['/', '/r/a', 'x'],
    ['/', '@v', '1'],
    ['/', 'a', 'x'],
    ['/', '//a', 'x'],
    ['/', '//r/@v', '1'],
    ['/', 'count(r/a)', '1'],
    [undefined, 'count(a)', '1'],
    [undefined, '/r/@v', '1'],
  ])('%s makes one record of the document, where %s is read', async (iterator, reference, expected) => {
    expect(await values('<r v="1"><a>x</a></r>', iterator, reference)).toEqual([expected]);
  });

  test('shares its pass with the others, inner records being part of outer ones', async () => {
    const { rows } = await read(ORDERS, [
      request('/orders/order', '@id', 'lines/line/@no'),
      request('/orders/order/lines/line', '@no', 'sku', '../../@id'),
    ]);
    expect(rows).toEqual([
      [
        ['1', ['1', '2']],
        ['2', '1'],
      ],
      [
        ['1', 'A', '1'],
        ['2', 'B', '1'],
        ['1', '<C>', '2'],
      ],
    ]);
  });

  test('keeps document order where its records lie within each other', async () => {
    const deep = `<r>${'<a>'.repeat(700)}${'</a>'.repeat(700)}<a/></r>`;
    const { rows } = await read(deep, [request('//a', 'count(ancestor::a/@x)', 'a')], {}, 64);
    expect(rows[0]).toHaveLength(701);
  });
});

describe('namespaces', () => {
  const DEFAULT = '<s xmlns="http://e.org/"><t x="1">a</t></s>';
  const PREFIXED = '<s xmlns:p="http://e.org/" xmlns:q="http://q/"><p:t q:x="1" p:x="2" x="3">a</p:t><q:t>b</q:t></s>';

  test.each<[name: string, document: string, iterator: string, reference: string, namespaces: Record<string, string>, expected: unknown[]]>(
    [
      ['the mapping declares the prefix', DEFAULT, '/e:s/e:t', '@x', { e: 'http://e.org/' }, ['1']],
      ['the root declares the prefix', PREFIXED, '/s/p:t', '@x', {}, ['3']],
      ['the mapping declares the prefix otherwise', PREFIXED, '/s/p:t', '.', { p: 'http://q/' }, ['b']],
      ['any name of a namespace', PREFIXED, '/s/e:*', '.', { e: 'http://e.org/' }, ['a']],
      ['any name', PREFIXED, '/s/*', '.', {}, ['a', 'b']],
      ['an attribute with prefix', PREFIXED, '/s/p:t', '@q:x', {}, ['1']],
      ['a name without prefix', DEFAULT, '/s/t', '.', {}, []],
      ['the prefix xml', '<s xml:lang="en"/>', '/s', '@xml:lang', {}, ['en']],
      ['an engine expression', PREFIXED, '/s', 'concat(e:t, q:t, e:t/@q:x)', { e: 'http://e.org/' }, ['ab1']],
      ['a declaration below the root', '<s><p:t xmlns:p="http://e.org/">a</p:t></s>', '/s/e:t', '.', { e: 'http://e.org/' }, ['a']],
      ['a default that ends', '<s xmlns="http://e.org/"><t xmlns="">a</t></s>', '/e:s/t', '.', { e: 'http://e.org/' }, ['a']],
      ['declarations are no attributes', '<s xmlns:p="http://p/" a="1"/>', '/s', '@*', {}, ['1']],
    ],
  )('%s', async (_, document, iterator, reference, namespaces, expected) => {
    expect(await values(document, iterator, reference, { namespaces })).toEqual(expected);
  });

  test('an undeclared prefix is a fault that names it', async () => {
    const fault = await faultOf(read('<s/>', [request('/x:s', '.')]));
    expect([fault.code, fault.message, fault.place.mapping]).toEqual(['mapping/reference', 'The prefix "x" is not declared', 'm.ttl:1:1']);
    expect((await faultOf(read('<s/>', [request('/s', 'x:a')]))).message).toContain('"x"');
    expect((await faultOf(read('<s/>', [request('/s', 'count(x:a)')]))).code).toBe('mapping/reference');
  });

  test('the legacy dialect takes an undeclared prefix as the document writes it', async () => {
    const document = '<s><p:t xmlns:p="http://e.org/">a</p:t><q:t xmlns:q="http://e.org/">b</q:t></s>';
    expect(await values(document, '/s/p:t', '.', { dialect: 'legacy' })).toEqual(['a']);
  });

  test('a name that lacks its prefix is hinted at', async () => {
    const { hints } = await read(DEFAULT, [request('/s/t', '.')]);
    expect(hints[0]).toContain('http://e.org/');
    expect((await read(ORDERS, [request('/orders/nothing', '.')])).hints).toEqual([
      'The path ends at /orders, which has the child <order>',
    ]);
  });
});
