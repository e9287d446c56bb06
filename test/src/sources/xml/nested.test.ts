import { describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import type { NestedRecords, NestedRequest, Scan, XmlOptions } from '../../../../src/sources/source.ts';
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

const nested = (iterator: string, references: readonly string[], ...inner: NestedRequest[]): NestedRequest => ({
  iterator,
  references,
  origin: 'm.ttl:2:2',
  nested: inner,
});

async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
}

const open = (document: string, iterator: string | undefined, requests: readonly NestedRequest[], reading: Partial<XmlOptions> = {}) =>
  openXml(chunked(Buffer.from(document)), [{ iterator, references: [], origin: 'm.ttl:1:1', nested: requests }], {
    ...READING,
    ...reading,
  });

const characters = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(characters) : value === null ? null : fromBytes(String(value));

/** The values of all references of an item, then, for each iterator within it, the same of its items. */
type Reader = (node: unknown) => unknown[][];

function reader(records: NestedRecords, request: NestedRequest): Reader {
  const values = request.references.map((reference) => records.accessor(reference));
  const inner = (request.nested ?? []).map((each) => reader(records.nested?.(each.iterator) as NestedRecords, each));
  return (node) =>
    records.items(node).map((item) => [...values.map((value) => characters(value(item))), ...inner.map((read) => read(item))]);
}

const within = (scan: Scan, iterator: string): NestedRecords => scan.nested?.(0, iterator) as NestedRecords;

async function recordsOf(scan: Scan): Promise<unknown[]> {
  const records: unknown[] = [];
  for await (const batch of scan.batches(new AbortController().signal)) records.push(...batch.records);
  return records;
}

/** By record. */
async function read(document: string, iterator: string | undefined, request: NestedRequest, reading: Partial<XmlOptions> = {}) {
  const scan = await open(document, iterator, [request], reading);
  const items = reader(within(scan, request.iterator), request);
  return (await recordsOf(scan)).map(items);
}

const PEOPLE = `<people version="1">
  <person id="p1"><name>alice</name><items k="x"><item t="sword"><weight unit="g">1500</weight></item><item t="shield"/></items></person>
  <person id="p2"><name>bob</name><items/></person>
  <person id="p3"><name>Żółć 🌸</name><items k="y"><item t="flower">a<b>b</b><![CDATA[<c>]]></item></items></person>
</people>`;

describe('nested iterators in XML', () => {
  test.each<[name: string, iterator: string, references: readonly string[], expected: unknown]>([
    [
      'child elements',
      'items/item',
      ['@t', 'weight'],
      [
        [
          ['sword', '1500'],
          ['shield', null],
        ],
        [],
        [['flower', null]],
      ],
    ],
    [
      'the text of an item',
      'items/item',
      ['.', 'text()'],
      [
        [
          ['1500', null],
          ['', null],
        ],
        [],
        [['ab<c>', ['a', '<c>']]],
      ],
    ],
    ['descendants', './/item', ['@t'], [[['sword'], ['shield']], [], [['flower']]]],
    ['descendants without a dot', 'items//weight', ['@unit'], [[['g']], [], []]],
    ['a position', 'items/item[2]', ['@t'], [[['shield']], [], []]],
    [
      'an attribute of the parent',
      'items/item',
      ['../@k', '../../@id', '../../../@version'],
      [
        [
          ['x', 'p1', '1'],
          ['x', 'p1', '1'],
        ],
        [],
        [['y', 'p3', '1']],
      ],
    ],
    [
      'text of the record, from an item',
      'items/item',
      ['../../name', '../item/@t'],
      [
        [
          ['alice', ['sword', 'shield']],
          ['alice', ['sword', 'shield']],
        ],
        [],
        [['Żółć 🌸', 'flower']],
      ],
    ],
    ['the record itself', '.', ['name'], [[['alice']], [['bob']], [['Żółć 🌸']]]],
    ['nothing', 'things/thing', ['@t'], [[], [], []]],
    ['without references', 'items/item', [], [[[], []], [], [[]]]],
    [
      'XPath in a reference',
      'items/item',
      ["concat(@t, '-', ../@k)", '@t'],
      [
        [
          ['sword-x', 'sword'],
          ['shield-x', 'shield'],
        ],
        [],
        [['flower-y', 'flower']],
      ],
    ],
    ['XPath in the iterator', 'items/item[last()]', ['@t', '.', 'count(weight)'], [[['shield', '', '0']], [], [['flower', 'ab<c>', '0']]]],
    [
      'attributes as items',
      'items/item/@t',
      ['.', '../@t'],
      [
        [
          ['sword', 'sword'],
          ['shield', 'shield'],
        ],
        [],
        [['flower', 'flower']],
      ],
    ],
    ['texts as items', './/text()[. = "a"]', ['.'], [[], [], [['a']]]],
    ['a sibling of an item', 'items/item', ['following-sibling::item/@t'], [[['shield'], [null]], [], [[null]]]],
    ['another record', 'items/item', ['../../preceding-sibling::person[1]/name'], [[[null], [null]], [], [['bob']]]],
    ['an absolute reference', 'items/item', ['/people/@version'], [[['1'], ['1']], [], [['1']]]],
    [
      'an absolute iterator',
      '/people/person',
      ['@id'],
      [
        [['p1'], ['p2'], ['p3']],
        [['p1'], ['p2'], ['p3']],
        [['p1'], ['p2'], ['p3']],
      ],
    ],
  ])('%s', async (_, iterator, references, expected) => {
    expect(await read(PEOPLE, '/people/person', nested(iterator, references))).toEqual(expected);
    // The same when the whole document is read.
    expect(await read(PEOPLE, '/people/person[true()]', nested(iterator, references))).toEqual(expected);
  });

  test.each<[name: string, iterator: string | undefined, within: string]>([
    ['without iterator, from the root', undefined, 'person'],
    ['without iterator, with the name of the root', undefined, 'people/person'],
    ['the document', '/', 'people/person'],
    ['the document, absolutely', '/', '/people/person'],
    ['without iterator, by XPath', undefined, 'person[position() > 0]'],
    ['the document, by XPath', '/', '//person[position() > 0]'],
  ])('%s', async (_, iterator, path) => {
    expect(await read(PEOPLE, iterator, nested(path, ['@id']))).toEqual([[['p1'], ['p2'], ['p3']]]);
  });

  test.each([
    ['b', '@n', 'c', '../@n'],
    ['b', '@n', 'c[true()]', '../@n'],
    ['b[true()]', 'string(@n)', 'c', '../../b[1]/@n'],
  ])('three levels: %s %s %s %s', async (b, n, c, up) => {
    const document = '<r><a><b n="1"><c>x</c><c>y</c></b><b n="2"/></a><a><b n="3"><c>z</c></b></a></r>';
    const request = nested(b, [n], nested(c, ['.', up]), nested('.', ['count(c)']));
    expect(await read(document, '/r/a', request)).toEqual([
      [
        [
          '1',
          [
            ['x', '1'],
            ['y', '1'],
          ],
          [['2']],
        ],
        ['2', [], [['0']]],
      ],
      [['3', [['z', '3']], [['1']]]],
    ]);
  });

  test('namespaces: declared in the mapping, by the document, or any', async () => {
    const document = '<r xmlns:d="urn:d"><p><d:i d:t="1"/><i xmlns="urn:d" xmlns:e="urn:d" e:t="2"/><i/></p></r>';
    const reading = { namespaces: { m: 'urn:d' } };
    expect(await read(document, '/r/p', nested('m:i', ['@m:t']), reading)).toEqual([[['1'], ['2']]]);
    expect(await read(document, '/r/p', nested('d:i', ['@d:t', 'string(@d:t)']))).toEqual([
      [
        ['1', '1'],
        ['2', '2'],
      ],
    ]);
    expect(await read(document, '/r/p', nested('*:i', ['@*']))).toEqual([[['1'], ['2'], [null]]]);
    expect(await read(document, '/r/p', nested('i', ['count(@*)']))).toEqual([[['0']]]);
  });

  test('nulls are no values', async () => {
    expect(await read('<r><a><b>-</b><b>x<c>-</c></b></a></r>', '/r/a', nested('b', ['.', 'c']), { nulls: ['-'] })).toEqual([
      [
        [null, null],
        ['x-', null],
      ],
    ]);
  });

  test('null has no items', async () => {
    const scan = await open(PEOPLE, '/people/person', [nested('items', [])]);
    expect([null, undefined].map((node) => within(scan, 'items').items(node))).toEqual([[], []]);
  });

  test('unmatched: references that no item had', async () => {
    const scan = await open(PEOPLE, '/people/person', [nested('items/item', ['@t', '@colour', 'string(@size)']), nested('thing', ['@t'])]);
    const [items, things] = [within(scan, 'items/item'), within(scan, 'thing')];
    const values = [items.accessor('@t'), items.accessor('@colour'), items.accessor('string(@size)'), things.accessor('@t')];
    for (const record of await recordsOf(scan)) for (const item of items.items(record)) for (const value of values.slice(0, 3)) value(item);
    expect([items.unmatched(), things.unmatched()]).toEqual([['@colour', '@size'], []]);
  });

  test.each<[name: string, iterator: string, reference: string]>([
    ['the iterator is no XPath', 'item[', '@t'],
    ['the reference is no XPath', 'item', '@t['],
    ['a prefix of the iterator is not declared', 'x:item', '@t'],
    ['a prefix of the reference is not declared', 'item', 'x:t'],
    ['there is no such function', 'item', 'frobnicate(@t)'],
  ])('a fault of the mapping: %s', async (_, iterator, reference) => {
    const reading = read(PEOPLE, '/people/person', nested(iterator, [reference]));
    await expect(reading).rejects.toThrow(Fault);
    await expect(reading).rejects.toMatchObject({ code: 'mapping/reference', place: { mapping: 'm.ttl:2:2' } });
  });

  test('an iterator that gives texts is a fault of the mapping', async () => {
    await expect(read(PEOPLE, '/people/person', nested('string(name)', ['.']))).rejects.toMatchObject({ code: 'mapping/reference' });
  });

  test('an XPath that fails rejects the record', async () => {
    const request = nested("items/item[xs:integer(weight) > 1 or @t = ('flower', 'shield')]", ['xs:integer(@t)']);
    await expect(read(PEOPLE, '/people/person', request)).rejects.toMatchObject({
      code: 'record/term',
      place: { expression: 'xs:integer(@t)' },
    });
    await expect(read(PEOPLE, '/people/person', nested('items/item[xs:integer(@t) > 1]', []))).rejects.toMatchObject({
      code: 'record/term',
    });
  });

  test('a record keeps only what its items need', async () => {
    const filler = `<filler>${'x'.repeat(5000)}</filler>`;
    const document = `<r><a><i><t>1</t>${filler}</i>${filler}<i><t>2</t></i></a></r>`;
    const limited = { maxRecordBytes: 1000 };
    expect(await read(document, '/r/a', nested('i', ['t']), limited)).toEqual([[['1'], ['2']]]);
    await expect(read(document, '/r/a', nested('i', ['string(t)']), limited)).rejects.toMatchObject({ code: 'limit/exceeded' });
  });

  test('an iterator that was not announced is a fault of the program', async () => {
    const scan = await open(PEOPLE, '/people/person', [nested('items', ['@k'])]);
    expect(() => within(scan, 'name')).toThrow('was not announced');
    expect(() => within(scan, 'items').accessor('@z')).toThrow('was not announced');
  });
});

test('nested items are those of the joined iterator, for random documents', async () => {
  let seed = 11;
  const random = (below: number): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % below;
  };
  const element = (depth: number): string => {
    const name = ['a', 'b', 'ä'][random(3)];
    const attributes = random(2) === 0 ? '' : ` k="${random(3)}"`;
    const content = Array.from({ length: depth > 2 ? 0 : 1 + random(4) }, () =>
      random(3) === 0 ? ['t', 'é', '&lt;'][random(3)] : element(depth + 1),
    );
    return `<${name}${attributes}>${content.join('')}</${name}>`;
  };
  const first = ['/r/*', '/r/a', '/r/*/a', '/r/b[2]', '/r/*[@k]', '/r/*[last()]'];
  const second = ['*', 'a', 'a/b', './/b', 'a//*', '*[2]', "b[@k='1']", 'a[last()]', 'ä|b', '*/..'];
  const references = ['.', '@k', 'a', './/b', '../@k', '../a', '../../@k', 'count(*)', 'text()', 'name(..)', '/r/a[1]'];
  let items = 0;
  for (let run = 0; run < 150; run++) {
    const document = `<r>${Array.from({ length: 3 + random(3) }, () => element(0)).join('')}</r>`;
    const outer = first[random(first.length)] as string;
    const inner = second[random(second.length)] as string;
    const chosen = references.filter(() => random(6) === 0);
    const direct = await openXml(
      chunked(Buffer.from(document)),
      [{ iterator: `${outer}/${inner.includes('|') ? `(${inner})` : inner}`, references: chosen, origin: '' }],
      READING,
    );
    const values = chosen.map((reference) => direct.accessor(0, reference));
    const expected = (await recordsOf(direct)).map((record) => values.map((value) => characters(value(record))));
    const found = (await read(document, outer, nested(inner, chosen))).flat();
    expect([document, outer, inner, chosen, found]).toEqual([document, outer, inner, chosen, expected]);
    items += found.length;
  }
  expect(items).toBeGreaterThan(200);
});
