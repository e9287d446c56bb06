/** What elements are called, what they read, and what samples show. */
import { describe, expect, test } from '@jest/globals';
import { appended, expressionText, isConstant } from '../../../../studio/core/elements/expressions.ts';
import { iriBase, isAbsoluteIri } from '../../../../studio/core/elements/iris.ts';
import { freshId, levelWords, localName, nameOf } from '../../../../studio/core/elements/names.ts';
import { edgesAt, edgesFrom, edgesTo } from '../../../../studio/core/elements/records.ts';
import { holds, levelsOf } from '../../../../studio/core/elements/schema.ts';
import { pathKey } from '../../../../studio/core/levels.ts';
import { constant, edge, input, model, path, reads, ref, template } from '../support/model.ts';
import { SHOP_RECORDS, SHOP_SCHEMA, shop } from '../support/shop.ts';

describe('an expression', () => {
  const call = (value: ReturnType<typeof reads>) =>
    ({ kind: 'call', function: 'urn:f#upper', arguments: [{ parameter: 'urn:p', value }] }) as const;
  test.each([
    [reads('orders:[*].total'), 'total', false],
    [reads('orders:[*].tags[*]'), 'tags', false],
    [template('https://example.org/', 'orders:[*].id'), 'https://example.org/{id}', false],
    [template('https://example.org/'), 'https://example.org/', true],
    [constant('EUR'), 'EUR', true],
    [call(constant('EUR')), 'upper(EUR)', true],
    [call(reads('people:name')), 'upper(name)', false],
    [{ kind: 'written', text: '$..id' } as const, '$..id', false],
    [{ kind: 'fresh' } as const, 'blank node', false],
  ])('%j is read as %s', (expression, text, isFixed) => {
    expect(expressionText(expression)).toBe(text);
    expect(isConstant(expression)).toBe(isFixed);
  });
  test('takes a field behind it', () => {
    expect(appended(constant('No. '), ref('people:id'))).toEqual(template('No. ', 'people:id'));
    expect(appended(template('a/', 'people:id'), ref('people:name'))).toEqual(template('a/', 'people:id', 'people:name'));
    expect(appended({ kind: 'fresh' }, ref('people:id'))).toBeUndefined();
  });
});

describe('names', () => {
  test.each([
    ['https://schema.org/Order', 'Order'],
    ['http://www.w3.org/2001/XMLSchema#date', 'date'],
    ['urn:isbn', 'isbn'],
    ['https://example.org/', 'example.org'],
  ])('of %s', (iri, name) => expect(localName(iri)).toBe(name));
  test('of elements', () => {
    const document = model([...SHOP_RECORDS, edge('open', 'Order', 'Line', 'down', [])]);
    expect(['orders', 'Order', 'total', 'has-total', 'open', 'gone'].map((id) => nameOf(document, id))).toEqual([
      'orders.json',
      'Order',
      'total',
      'has-total',
      'Order → Line',
      'gone',
    ]);
  });
  test('of what a level holds one of', () => {
    expect(levelWords(input('x', 'json', 'orders.json'), path('[*]'))).toEqual(['order']);
    expect(levelWords(input('x', 'json', 'orders.json'), path('[*].orderLines[*]'))).toEqual(['order', 'line']);
    expect(levelWords(input('x', 'xml', 'all.xml'), path('parts.part[*]'))).toEqual(['part']);
  });
  test('ids are those of no other element', () => {
    const records = new Map(SHOP_RECORDS.map((record) => [record.id, record]));
    const first = freshId(records, 'edge');
    expect(freshId(new Map([...records, [first, edge(first, 'Order', 'total')]]), 'edge')).not.toBe(first);
  });
});

test('what stands at a path is known for items that were chosen alone too', () => {
  expect(holds(SHOP_SCHEMA, ref('orders:[*].lines'))).toBe('list');
  expect(holds(SHOP_SCHEMA, ref('orders:[3].customer'))).toBe('object');
  expect(holds(SHOP_SCHEMA, ref('orders:[3].lines[1].sku'))).toBe('value');
  expect(holds(SHOP_SCHEMA, ref('orders:[*].unknown'))).toBe('value');
  expect(holds(SHOP_SCHEMA, ref('gone:id'))).toBe('value');
});

test('levels are what carries a sign in the tree of fields (R1)', () => {
  const keys = levelsOf(SHOP_SCHEMA, 'orders').map((field) => `${pathKey(field.path)} ${field.holds}`);
  expect(keys).toContain(`${pathKey(path('[*].lines'))} list`);
  expect(keys).toContain(`${pathKey(path('[*].customer'))} object`);
  expect(keys.some((key) => key.endsWith('value'))).toBe(false);
  expect(levelsOf(SHOP_SCHEMA, 'people')).toEqual([]);
});

test('edges are found at both ends, once', () => {
  const document = model([...SHOP_RECORDS, edge('self', 'Order', 'Order')]);
  const ids = (edges: readonly { readonly id: string }[]): readonly string[] => edges.map(({ id }) => id);
  expect(ids(edgesAt(document, 'Order'))).toEqual(['has-total', 'self']);
  expect(ids(edgesFrom(document, 'Order'))).toEqual(['has-total', 'self']);
  expect(ids(edgesTo(document, 'Order'))).toEqual(['self']);
  expect(ids(edgesTo(shop(), 'total'))).toEqual(['has-total']);
});

test.each([
  ['urn:a', true],
  ['https://example.org/größe', true],
  ['a', false],
  ['https://example.org/a b', false],
  ['', false],
  ['1a:b', false],
])('"%s" is an absolute IRI: %p', (text, expected) => expect(isAbsoluteIri(text)).toBe(expected));

test('new IRIs begin with the base of the document', () => {
  expect(iriBase()).toBe('https://example.org/');
  expect(iriBase('https://shop.test/ns#')).toBe('https://shop.test/ns#');
  expect(iriBase('https://shop.test')).toBe('https://shop.test/');
});
