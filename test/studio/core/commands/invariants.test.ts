/** Each invariant, broken. */
import { describe, expect, test } from '@jest/globals';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import type { Element, MappingText } from '../../../../studio/core/document.ts';
import { attribute, constant, edge, entity, input, join, model, reads, template } from '../support/model.ts';
import { SHOP_RECORDS, shop } from '../support/shop.ts';

const broken = (...more: readonly Element[]): readonly string[] =>
  findingsIn(model([...SHOP_RECORDS, ...more])).map(({ invariant, element, severity }) => `${invariant} ${element} ${severity}`);

const order = entity('New', 'orders', template('urn:x/', 'orders:[*].id'));
const open = { x: 0, y: 0, open: [], pinned: false };

test('the shop breaks none', () => expect(findingsIn(shop())).toEqual([]));

describe('findings', () => {
  test.each<[string, readonly Element[], readonly string[]]>([
    ['I1, an input that is not there', [{ ...order, input: 'gone', identifier: constant('urn:a') }], ['I1 New error']],
    ['I1, a field of an input that is not there', [attribute('New', reads('gone:id'))], ['I1 New error']],
    ['I1, a graph that is an entity', [{ ...order, graphs: ['Order'] }], ['I1 New error']],
    ['I1, an edge to an edge', [edge('New', 'Order', 'has-total')], ['I1 New error', 'I3 New error']],
    ['I1, an edge of another part', [{ ...edge('New', 'Order', 'link'), part: 'Line' }], ['I1 New error']],
    ['I1, a place of nothing', [{ kind: 'place', id: 'New', of: 'gone', ...open }], ['I1 New error']],
    ['I1, a text of nothing', [{ kind: 'text', id: 'New', of: 'gone', anchor: { from: 0, to: 0 }, reason: 'r' }], ['I1 New error']],
    ['I2, a field of another input', [{ ...order, identifier: reads('people:id'), level: [] }], ['I2 New error']],
    [
      'I2, lists beside each other',
      [entity('New', 'orders', template('orders:[*].lines[*].sku', 'orders:[*].payments[*].amount'))],
      ['I2 New error'],
    ],
    ['I2, another level', [{ ...order, level: [] }], ['I2 New error']],
    ['I3, upwards: a warning', [edge('New', 'Line', 'Order')], ['I3 New warning']],
    ['I3, from an attribute: a warning', [edge('New', 'link', 'Order')], ['I3 New warning']],
    ['I3, an attribute of another input', [edge('New', 'Order', 'city')], ['I3 New error']],
    ['I3, twice', [edge('New', 'Order', 'total', 'same', ['urn:has-total'])], ['I3 has-total error', 'I3 New error']],
    ['I3, another form', [edge('New', 'Order', 'Line', 'same')], ['I3 New error']],
    ['I4, a join of another form', [join('New', 'has-total')], ['I4 New error']],
    ['I4, two joins', [edge('of', 'Order', 'Person', 'join'), join('New', 'of'), join('Other', 'of')], ['I4 Other error']],
    ['I4, a key of neither end', [edge('of', 'Order', 'Person', 'join'), join('New', 'of', ['people:id', 'people:id'])], ['I4 New error']],
    ['I5, two inputs', [attribute('New', template('people:id', 'orders:[*].id'))], ['I5 New error']],
    ['I6, a datatype and a language', [attribute('New', constant('a'), { datatype: 'urn:d', language: 'en' })], ['I6 New error']],
    ['I6, a language of an IRI', [attribute('New', constant('urn:a'), { termType: 'iri', language: 'en' })], ['I6 New error']],
    ['I6, no language', [attribute('New', constant('a'), { language: 'no language' })], ['I6 New error']],
    ['I6, an entity that is a literal', [{ ...order, termType: 'literal' }], ['I6 New error']],
    ['I7, both views in one value', [attribute('New', template('orders:[*].id', 'orders:[0].id'))], ['I7 New error']],
    ['I7, an edge between the views', [edge('New', 'Order', 'firstTotal')], ['I3 New error', 'I7 New error']],
    ['I8, two prefixes', ['New', 'Other'].map((id): Element => ({ kind: 'prefix', id, name: 'ex', iri: 'urn:x' })), ['I8 Other error']],
    ['I8, two inputs of a name', [input('New', 'csv', 'people.csv')], ['I8 New error']],
    ['I8, a relative class', [{ ...order, classes: ['Order'] }], ['I8 New error']],
    ['I8, a relative predicate', [edge('New', 'Order', 'link', 'same', ['is'])], ['I8 New error']],
    ['I8, a relative datatype', [attribute('New', constant('a'), { datatype: 'date' })], ['I8 New error']],
  ])('%s', (_, more, expected) => expect(broken(...more)).toEqual(expected));

  test('I1, a record under another id', () => {
    const document = { ...shop(), records: new Map([['x', input('y', 'csv')]]) };
    expect(findingsIn(document)).toMatchObject([{ invariant: 'I1', element: 'x' }]);
  });
});

describe('I9', () => {
  const anchored = (...ranges: readonly (readonly [string, number, number])[]): readonly (string | undefined)[] => {
    const anchors = new Map(ranges.map(([id, from, to]) => [id, [{ from, to }]]));
    const text: MappingText = { text: '0123456789', anchors };
    return findingsIn(shop({ text })).map(({ invariant, element }) => `${invariant} ${element}`);
  };
  test('ranges nest or are apart', () => {
    expect(anchored(['Order', 0, 8], ['total', 2, 4], ['sku', 4, 8], ['Line', 8, 10], ['Person', 9, 9])).toEqual([]);
    expect(anchored(['Order', 0, 5], ['total', 3, 7])).toEqual(['I9 total']);
    expect(anchored(['Order', 0, 8], ['total', 2, 4], ['sku', 3, 5])).toEqual(['I9 sku']);
  });
  test('ranges lie in the text', () => expect(anchored(['Order', 8, 11])).toEqual(['I9 Order']));
});
