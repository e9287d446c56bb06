/** The fields of a sample: paths, kinds, counts and limits. */
import { describe, expect, test } from '@jest/globals';
import { type Field, fieldsOf } from '../../../src/infer/fields.ts';
import type { Tree } from '../../../src/infer/sample.ts';
import { Random } from '../../support/random.ts';

/** JSON as a tree. */
const treeOf = (value: unknown): Tree => {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number')
    return { text: String(value), datatype: `http://www.w3.org/2001/XMLSchema#${Number.isInteger(value) ? 'integer' : 'double'}` };
  if (typeof value === 'boolean') return { text: String(value), datatype: 'http://www.w3.org/2001/XMLSchema#boolean' };
  if (Array.isArray(value)) return value.map(treeOf);
  return { members: new Map(Object.entries(value as object).map(([name, inner]) => [name, treeOf(inner)])) };
};
const textOf = ({ path }: Pick<Field, 'path'>): string =>
  path
    .map((step) => ('name' in step ? `.${step.name}` : 'attribute' in step ? `@${step.attribute}` : 'each' in step ? '[*]' : 'text()'))
    .join('');
const json = (value: unknown, hasRecords = false) => {
  const { fields, notes } = fieldsOf(treeOf(value), { hasRecords, isXml: false });
  return { fields: Object.fromEntries(fields.map((field) => [textOf(field), field])), order: fields.map(textOf), notes };
};
const xml = (value: unknown) => {
  const { fields } = fieldsOf(treeOf(value), { hasRecords: false, isXml: true });
  return Object.fromEntries(fields.map((field) => [textOf(field), field]));
};

test('nested lists and objects, in the order of the document, with what is missing where', () => {
  const { fields, order } = json([
    { id: 1, customer: { name: 'Ann' }, lines: [{ sku: 'A7' }, { sku: null }], total: 12.5 },
    { id: 2, lines: [], total: 3 },
    { id: 2, lines: [{}], total: null },
  ]);
  expect(order).toEqual([
    '[*]',
    '[*].id',
    '[*].customer',
    '[*].customer.name',
    '[*].lines',
    '[*].lines[*]',
    '[*].lines[*].sku',
    '[*].total',
  ]);
  expect(order.map((path) => fields[path]?.holds)).toEqual(['object', 'value', 'object', 'value', 'list', 'object', 'value', 'value']);
  expect(fields['[*].id']?.values).toEqual({
    kind: 'integer',
    kinds: { integer: 3 },
    objects: 3,
    values: 3,
    absent: 0,
    nulls: 0,
    distinct: 2,
    isDistinctCut: false,
    examples: ['1', '2'],
  });
  expect(fields['[*].lines']).toMatchObject({ items: 3, longest: 2 });
  expect(fields['[*].lines[*].sku']?.values).toMatchObject({ objects: 3, values: 1, nulls: 1, absent: 1 });
  expect(fields['[*].customer.name']?.values).toMatchObject({ objects: 1, values: 1, absent: 0 });
  expect(fields['[*].total']?.values).toMatchObject({ kind: 'double', kinds: { double: 1, integer: 1 }, nulls: 1 });
});

test.each<[unknown, boolean, number]>([
  [[{ lines: [1, 2] }, { lines: [] }], false, 2],
  [{ orders: [{ lines: [1, 2] }], more: { a: [1, 2, 3] } }, false, 1],
  [{ a: 1 }, false, 1],
  [[{ a: 1 }, { a: 2 }, { a: 3 }], true, 3],
])('records of %j', (value, hasRecords, records) => {
  expect(fieldsOf(treeOf(value), { hasRecords, isXml: false }).records).toBe(records);
});

test('rows begin with their record', () => {
  const { order, fields } = json([{ id: '1', name: '' }, { id: '007' }], true);
  expect(order).toEqual(['.id', '.name']);
  expect(fields['.id']?.values).toMatchObject({ kind: 'text', kinds: { integer: 1, text: 1 }, objects: 2 });
  expect(fields['.name']?.values).toMatchObject({ absent: 1 });
});

test('lists of values and lists of lists', () => {
  const { fields } = json({ tags: ['a', 'b', 'a'], grid: [[1, 2], [3]] });
  expect(fields['.tags[*]']?.values).toMatchObject({ objects: 3, values: 3, distinct: 2 });
  expect(fields['.grid']).toMatchObject({ holds: 'list', items: 2, longest: 2 });
  expect(fields['.grid[*]']).toMatchObject({ holds: 'list', items: 3 });
  expect(fields['.grid[*][*]']?.values).toMatchObject({ values: 3, kind: 'integer' });
});

test('an element of XML that stands alone once is an item of a list where others are repeated', () => {
  const fields = xml({
    orders: {
      order: [
        { '@id': '1', line: { '.': 'A7' } },
        { '@id': '2', line: ['B2', 'C3'] },
      ],
    },
  });
  expect(fields['.orders.order']).toMatchObject({ holds: 'list', items: 2 });
  expect(fields['.orders.order[*]@id']?.values).toMatchObject({ objects: 2, values: 2 });
  expect(fields['.orders.order[*].line']).toMatchObject({ holds: 'list', items: 3, longest: 2 });
  expect(fields['.orders.order[*].line[*]text()']?.values).toMatchObject({ examples: ['A7'] });
});

describe('limits', () => {
  test('keys that are data make one list', () => {
    const prices = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`p${i}`, { price: i }]));
    const { order, fields, notes } = json({ prices });
    expect(order).toEqual(['.prices', '.prices[*]', '.prices[*].price']);
    expect(fields['.prices']).toMatchObject({ holds: 'list', keysAreData: true, items: 201 });
    expect(notes).toEqual([]);
    // Of several shapes they are members.
    expect(json({ prices: { ...prices, p0: 'none' } }).fields['.prices']).toMatchObject({ holds: 'object' });
  });

  test('fields, levels and the size of the answer', () => {
    const row = Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`c${i}`, '']));
    const many = json([row], true);
    expect(many.order.length).toBeLessThanOrEqual(20_000);
    expect(many.notes).toContain('More than 20000 fields: the others are left out');
    let deep: unknown = 'x';
    for (let i = 0; i < 70; i++) deep = { a: deep };
    expect(json(deep).notes).toEqual(['What is nested more than 64 levels deep is left out']);
    const wide = json(
      [Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`${'long name '.repeat(20)}${i}`, 'value '.repeat(20)]))],
      true,
    );
    expect(JSON.stringify(Object.values(wide.fields)).length).toBeLessThanOrEqual(2 * 2 ** 20);
    expect(wide.notes).toEqual([expect.stringMatching(/^The answer would be larger than 2 MiB: \d+ fields are left out$/)]);
  });

  test('examples and different values', () => {
    const values = Array.from({ length: 1_500 }, (_, i) => ({ v: `${'😀'.repeat(40)}${i}` }));
    const { fields } = json(values);
    const { distinct, isDistinctCut, examples } = fields['[*].v']?.values ?? {};
    expect([distinct, isDistinctCut, examples?.length]).toEqual([1_000, true, 3]);
    for (const example of examples ?? []) {
      expect(example.length).toBeLessThanOrEqual(61);
      expect(example).not.toMatch(/\p{Cs}/u);
    }
  });
});

test('the order of records changes no count', () => {
  const random = new Random(20261123);
  const value = (depth: number): unknown => {
    const kind = random.between(0, depth > 3 ? 4 : 6);
    if (kind === 0) return null;
    if (kind === 1) return random.between(0, 5);
    if (kind === 2) return random.between(0, 2) === 0;
    if (kind <= 4) return `t${random.between(0, 9)}`;
    if (kind === 5) return Array.from({ length: random.between(0, 4) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: random.between(0, 4) }, () => [`k${random.between(0, 4)}`, value(depth + 1)]));
  };
  for (let round = 0; round < 200; round++) {
    const records = Array.from({ length: random.between(1, 8) }, () => value(0));
    const told = (all: readonly unknown[]) =>
      Object.entries(json(all).fields)
        .map(([path, { path: _, values, ...rest }]) => [path, rest, values && { ...values, examples: undefined }])
        .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    expect(told(random.shuffle(records))).toEqual(told(records));
  }
});

test('values of single items, by their positions, where they are asked for: of the first ones of each list', () => {
  const lists = treeOf(
    Array.from({ length: 30 }, (_, i) => ({ id: i, lines: [{ sku: `A${i}` }, ...(i === 1 ? [] : [{ sku: `B${i}` }])] })),
  );
  const itemsOf = (items: boolean, at: string) =>
    fieldsOf(lists, { hasRecords: false, isXml: false, items }).fields.find((field) => textOf(field) === at)?.values?.items;
  expect(itemsOf(false, '[*].id')).toBeUndefined();
  expect(itemsOf(true, '[*].id')).toHaveLength(20);
  expect(itemsOf(true, '[*].id')?.[19]).toEqual({ at: [19], value: '19' });
  expect(itemsOf(true, '[*].lines[*].sku')?.slice(0, 4)).toEqual([
    { at: [0, 0], value: 'A0' },
    { at: [0, 1], value: 'B0' },
    { at: [1, 0], value: 'A1' },
    { at: [2, 0], value: 'A2' },
  ]);
});
