/** The fields of an input one by one: with grouping off, only what stands in the data is offered. */
import { describe, expect, test } from '@jest/globals';
import { fieldsOf } from '../../../src/infer/fields.ts';
import type { Tree } from '../../../src/infer/sample.ts';
import { sampleOf } from '../../../studio/client/samples.ts';
import type { Input } from '../../../studio/core/document.ts';
import { fieldsByPath } from '../../../studio/core/elements/schema.ts';
import { rowsOf } from '../../../studio/ui/parts/fields/rows.ts';
import { input } from '../core/support/model.ts';

const treeOf = (value: unknown): Tree => {
  if (value === null || typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(treeOf);
  return { members: new Map(Object.entries(value as object).map(([name, inner]) => [name, treeOf(inner)])) };
};

/** All rows below the input, each with its level in front. */
function rows(value: unknown, of: Partial<Input> & Pick<Input, 'format'>): readonly string[] {
  const isXml = of.format === 'xml';
  const hasRecords = of.format === 'jsonl';
  const { fields, records } = fieldsOf(treeOf(value), { hasRecords, isXml, items: true });
  const answer = { format: of.format, namespaces: {}, fields, records, bytesRead: 0, complete: true, warnings: [] };
  const sample = sampleOf(answer, { namespaces: {}, grouped: false });
  const shown = { ...input('i', of.format), grouped: false };
  const schema = new Map([['i', fieldsByPath(sample.fields)]]);
  const all = { has: () => true } as unknown as ReadonlySet<string>;
  return rowsOf([shown], schema, new Map([['i', sample]]), all, '')
    .slice(1)
    .map((row) => `${'  '.repeat(row.level - 2)}${row.kind === 'field' ? row.text : row.name}`);
}

const ORDERS = [
  { id: 'a', lines: [{ sku: 'A1' }, { sku: 'A2' }], customer: { name: 'Ada' } },
  { id: 'b', lines: [{ sku: 'B1' }] },
  { id: 'c', lines: [] },
  { id: 'd' },
];

const SHOWN = [
  'item 1',
  '  id',
  '  lines',
  '    item 1',
  '      sku',
  '    item 2',
  '      sku',
  '  customer',
  '    name',
  'item 2',
  '  id',
  '  lines',
  '    item 1',
  '      sku',
  'item 3',
  '  id',
  '  lines',
  'item 4',
  '  id',
];

describe('items and objects that an object does not have are not offered', () => {
  test('JSON', () => expect(rows(ORDERS, { format: 'json' })).toEqual(SHOWN));
  test('JSON Lines', () => expect(rows(ORDERS, { format: 'jsonl' })).toEqual(SHOWN));
  test('a list within an object', () =>
    expect(rows({ all: ORDERS.slice(1, 3), none: null }, { format: 'json' }).slice(0, 9)).toEqual([
      'all',
      '  item 1',
      '    id',
      '    lines',
      '      item 1',
      '        sku',
      '  item 2',
      '    id',
      '    lines',
    ]));
  test('lists of lists', () =>
    expect(rows([[['x', 'y']], [], [['z'], []]], { format: 'json' })).toEqual([
      'item 1',
      '  item 1',
      '    item 1',
      '    item 2',
      'item 2',
      'item 3',
      '  item 1',
      '    item 1',
      '  item 2',
    ]));
  test('XML: an element that stands alone is a list of one, where others are repeated', () =>
    expect(
      rows(
        {
          orders: {
            order: [{ '@id': 'a', line: [{ '@sku': 'A1' }, { '@sku': 'A2' }] }, { '@id': 'b', line: { '@sku': 'B1' } }, { '@id': 'c' }],
          },
        },
        { format: 'xml' },
      ),
    ).toEqual([
      'orders',
      '  order',
      '    item 1',
      '      @id',
      '      line',
      '        item 1',
      '          @sku',
      '        item 2',
      '          @sku',
      '    item 2',
      '      @id',
      '      line',
      '        item 1',
      '          @sku',
      '    item 3',
      '      @id',
    ]));
});

test('what is not known is looked up: lists in items behind the first ones', () => {
  const many = Array.from({ length: 25 }, (_, i) => ({ id: `${i}`, lines: [{ sku: `${i}` }] }));
  const found = rows(many, { format: 'json' });
  expect(found.filter((text) => /^item/.test(text))).toHaveLength(20);
  expect(found.at(-1)).toBe('other items …');
});
