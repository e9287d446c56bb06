import { describe, expect, test } from '@jest/globals';
import { openJson } from '../../../../src/sources/json/json.ts';
import type { JsonOptions, NestedRecords, Scan } from '../../../../src/sources/source.ts';
import { chunks, faultOf, READING, show } from './reading.ts';

async function open(document: unknown, iterator: string, reading: Partial<JsonOptions> = {}): Promise<Scan> {
  const bytes = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));
  return openJson(
    chunks(bytes, () => 1000),
    [{ iterator, references: [], origin: 'm.ttl:1:1' }],
    { ...READING, ...reading },
  );
}

async function recordsOf(scan: Scan): Promise<unknown[]> {
  const records: unknown[] = [];
  for await (const batch of scan.batches(new AbortController().signal)) records.push(...batch.records);
  return records;
}

const nestedIn = (scan: Scan, iterator: string): NestedRecords => {
  if (scan.nested === undefined) throw new Error('JSON has nested records');
  return scan.nested(0, iterator);
};

/** By record, by item: what the reference reads. */
async function readNested(document: unknown, iterator: string, nested: string, reference: string, reading: Partial<JsonOptions> = {}) {
  const scan = await open(document, iterator, reading);
  const items = nestedIn(scan, nested);
  const value = items.accessor(reference);
  return (await recordsOf(scan)).map((record) => items.items(record).map((item) => show(value(item))));
}

const PEOPLE = {
  people: [
    { name: 'alice', items: [{ type: 'sword', weight: 1500 }, { type: 'shield' }] },
    { name: 'bob', items: [] },
    { name: 'carol' },
    { name: 'dän', items: [{ type: 'Blüte 🌸', weight: 15.5 }] },
    { name: 'eve', items: null },
    { name: 'fay', items: 'none' },
  ],
};

describe('nested iterators in JSON', () => {
  test.each<[name: string, nested: string, reference: string, expected: unknown]>([
    ['elements of an array', '$.items[*]', '$.type', [['sword', 'shield'], [], [], ['Blüte 🌸'], [], []]],
    ['natural datatypes', '$.items[*]', '$.weight', [['1500^^integer', null], [], [], ['1.55E1^^double'], [], []]],
    ['without $', 'items[*]', 'type', [['sword', 'shield'], [], [], ['Blüte 🌸'], [], []]],
    ['a position from the end', '$.items[-1]', '$.type', [['shield'], [], [], ['Blüte 🌸'], [], []]],
    ['a filter', '$.items[?@.weight > 100]', '$.type', [['sword'], [], [], [], [], []]],
    ['a filter on the record', '$.items[?$.name == "alice"]', '$.type', [['sword', 'shield'], [], [], [], [], []]],
    ['descendants', '$..type', '$', [['sword', 'shield'], [], [], ['Blüte 🌸'], [], []]],
    ['the record itself', '$', '$.name', [['alice'], ['bob'], ['carol'], ['dän'], ['eve'], ['fay']]],
  ])('%s', async (_, nested, reference, expected) => {
    expect(await readNested(PEOPLE, '$.people[*]', nested, reference)).toEqual(expected);
  });

  test('a null is an item, and has no values and no items', async () => {
    const scan = await open([{ a: null }, { a: { b: [1] } }], '$[*]');
    const items = nestedIn(scan, '$.a');
    const value = items.accessor('$.b[0]');
    const inner = items.nested?.('$.b[*]') as NestedRecords;
    const records = await recordsOf(scan);
    expect(records.map((record) => items.items(record).map((item) => show(value(item))))).toEqual([[null], ['1^^integer']]);
    expect(records.map((record) => items.items(record).flatMap((item) => inner.items(item).length))).toEqual([[0], [1]]);
    expect(items.items(null)).toEqual([]);
    expect(items.items(undefined)).toEqual([]);
  });

  test('three levels', async () => {
    const scan = await open({ a: [{ b: [{ c: [1, 2] }, { c: [3] }] }, { b: [{ c: [] }, { c: [4] }] }] }, '$.a[*]');
    const b = nestedIn(scan, '$.b[*]');
    const c = b.nested?.('$.c[*]') as NestedRecords;
    const value = c.accessor('$');
    const found = (await recordsOf(scan)).map((record) => b.items(record).map((item) => c.items(item).map((leaf) => show(value(leaf)))));
    expect(found).toEqual([
      [['1^^integer', '2^^integer'], ['3^^integer']],
      [[], ['4^^integer']],
    ]);
  });

  test('legacy: plain strings, and an array stands for its members', async () => {
    const reading = { dialect: 'legacy', nulls: ['-'] } as const;
    expect(await readNested({ a: [{ b: [{ c: [1, '-', 2.5] }, { c: '-' }] }] }, '$.a[*]', 'b[*]', 'c', reading)).toEqual([
      [['1', '2.5'], null],
    ]);
  });

  test('unmatched: references that were read and that no item had, once there were items', async () => {
    const scan = await open(PEOPLE, '$.people[*]');
    const items = nestedIn(scan, '$.items[*]');
    const never = nestedIn(scan, '$.things[*]');
    const values = [items.accessor('$.type'), items.accessor('$.colour'), never.accessor('$.type')];
    for (const record of await recordsOf(scan)) {
      for (const item of items.items(record)) for (const read of values.slice(0, 2)) read(item);
      expect(never.items(record)).toEqual([]);
    }
    expect(nestedIn(scan, '$.items[*]').unmatched()).toEqual(['$.colour']);
    expect(never.unmatched()).toEqual([]);
  });

  test('an expression that is no JSONPath is a fault of the mapping', async () => {
    const scan = await open([], '$[*]');
    const items = nestedIn(scan, '$.a');
    const faults = [
      await faultOf(Promise.resolve().then(() => nestedIn(scan, '$.items['))),
      await faultOf(Promise.resolve().then(() => items.nested?.('$[x'))),
      await faultOf(Promise.resolve().then(() => items.accessor('$[?'))),
    ];
    expect(faults.map(({ code, place }) => [code, place.expression])).toEqual([
      ['mapping/reference', '$.items['],
      ['mapping/reference', '$[x'],
      ['mapping/reference', '$[?'],
    ]);
  });

  test('an object has no text: the record is rejected', async () => {
    const scan = await open([{ a: [{ b: {} }] }], '$[*]');
    const items = nestedIn(scan, '$.a[*]');
    const value = items.accessor('$.b');
    const [record] = await recordsOf(scan);
    const fault = await faultOf(Promise.resolve().then(() => value(items.items(record)[0])));
    expect([fault.code, fault.place.expression]).toEqual(['record/term', '$.b']);
  });
});

test('nested items are those of the joined iterator, for random documents', async () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed % below;
  };
  const value = (depth: number): unknown => {
    const kind = depth > 4 ? random(4) : depth < 3 ? 4 + random(3) : random(7);
    if (kind < 4) return [null, random(1000), random(1000) / 8, ['a', 'é', '𝄞', '"\\u'][random(4)]][kind];
    if (kind === 4) return Array.from({ length: 1 + random(3) }, () => value(depth + 1));
    return Object.fromEntries(['people', 'items', 'x', 'ä'].filter(() => random(4) > 0).map((name) => [name, value(depth + 1)]));
  };
  const steps = ['[*]', '[*]', '[*]', '..items', '.items', '.x', "['ä']", '[0]', '[-1]', '..x', '[?@.x]', '[1:]', '.people'];
  let items = 0;
  for (let run = 0; run < 300; run++) {
    const document = JSON.stringify({ people: Array.from({ length: 1 + random(4) }, () => value(0)) });
    const path = (least: number): string => Array.from({ length: least + random(2) }, () => steps[random(steps.length)]).join('');
    const [first, second] = [`.people[*]${path(0)}`, path(1)];
    const scan = await open(document, `$${first}`);
    const nested = nestedIn(scan, `$${second}`);
    const found = (await recordsOf(scan)).flatMap((record) => nested.items(record));
    expect([document, first, second, found]).toEqual([
      document,
      first,
      second,
      await recordsOf(await open(document, `$${first}${second}`)),
    ]);
    items += found.length;
  }
  expect(items).toBeGreaterThan(300);
});
