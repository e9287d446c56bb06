/** Levels and paths. */
import { describe, expect, test } from '@jest/globals';
import { ownerOf } from '../../../studio/core/elements/owner.ts';
import { jsonPathText, xPathText } from '../../../studio/core/elements/path-text.ts';
import {
  areChain,
  differentObjects,
  inObjectOf,
  iterationOf,
  levelOf,
  listsBelow,
  onOneBranch,
  pathKey,
  sameObject,
  sameOrBelow,
  viewOf,
} from '../../../studio/core/levels.ts';
import { path, ref } from './support/model.ts';
import { shop } from './support/shop.ts';

describe('a level', () => {
  test.each([
    ['[*].id', '[*]'],
    ['[*].lines[*].sku', '[*].lines[*]'],
    ['[*].customer.name', '[*].customer'],
    ['[*].tags[*]', '[*].tags[*]'],
    ['[0].lines[2].sku', '[0].lines[2]'],
    ['name', ''],
    ['parts.part[*].@id', 'parts.part[*]'],
    ['parts.part[*].price.text()', 'parts.part[*].price'],
  ])('of %s is %s', (text, level) => expect(levelOf(path(text))).toEqual(path(level)));
});

describe('an iteration', () => {
  test.each([
    ['[*].customer.address', '[*]'],
    ['[*].lines[*].tax', '[*].lines[*]'],
    ['', ''],
    ['customer', ''],
    ['[0].lines[2]', '[0]'],
    ['[0].lines[*]', '[0].lines[*]'],
    ['orders.order[1].line[3]', 'orders.order[1]'],
  ])('of %s is %s', (level, iteration) => expect(iterationOf(path(level))).toEqual(path(iteration)));
});

test.each([
  ['[*]', '[*]', true],
  ['[*]', '[*].lines[*]', true],
  ['[*].lines[*]', '[*]', false],
  ['[*].lines[*]', '[*].payments[*]', false],
  ['[0].lines[1]', '[0].lines[2]', true],
  ['', '[*]', true],
  ['a', 'ab', false],
])('from %s, %s is the same level or below: %p', (a, b, expected) => expect(sameOrBelow(path(a), path(b))).toBe(expected));

test.each([
  ['[*]', '[*].id', '[*].id'],
  ['[3]', '[*].id', '[3].id'],
  ['[3].lines[2]', '[*].lines[*].sku', '[3].lines[2].sku'],
  ['[3]', '[*].lines[*].sku', '[3].lines[*].sku'],
  ['[3].lines[2]', '[*].payments[*].way', '[3].payments[*].way'],
  ['orders.order[1]', 'customers.customer[*].id', 'customers.customer[*].id'],
])('in the object of %s, %s is %s', (from, all, single) => expect(inObjectOf(path(from), path(all))).toEqual(path(single)));

test('levels beside each other are on no branch', () => {
  expect(onOneBranch(path('[*].lines[*]'), path('[*].payments[*]'))).toBe(false);
  expect(onOneBranch(path('[*].lines[*]'), path('[*]'))).toBe(true);
  expect(areChain([path('[*].lines[*]'), path('[*]'), path('[*].lines[*].tax')])).toBe(true);
  expect(areChain([path('[*].lines[*]'), path('[*]'), path('[*].customer')])).toBe(false);
});

test.each([
  ['[0].id', '[2].id', [0, 2]],
  ['[0].id', '[0].lines[1].sku', undefined],
  ['[0].lines[0].sku', '[0].lines[1].sku', undefined],
  ['name', 'items[2].id', undefined],
  ['items[1].id', 'items[2].id', [1, 2]],
  ['items[1].id', 'others[2].id', undefined],
  ['[*].id', '[*].id', undefined],
])('the objects of %s and %s', (a, b, expected) => {
  expect(differentObjects(path(a), path(b))).toEqual(expected);
  expect(sameObject(path(a), path(b))).toBe(expected === undefined);
});

test.each([
  ['[*].id', 'grouped'],
  ['[0].id', 'ungrouped'],
  ['[0].lines[*].sku', 'ungrouped'],
  ['name', 'single'],
])('%s is %s', (text, view) => expect(viewOf(path(text))).toBe(view));

test.each([
  ['[*]', '[*].lines[*].sku', 1],
  ['[*]', '[*].lines[*].taxes[*].rate', 2],
  ['[*].lines[*]', '[*].lines[*].sku', 0],
  ['[*].lines[*]', '[*].id', 0],
])('from %s, %s goes through %i lists', (iteration, to, count) => expect(listsBelow(path(iteration), path(to))).toBe(count));

test('the owner of a field is the entity of its parent object', () => {
  expect(ownerOf(shop(), ref('orders:[*].total'))?.id).toBe('Order');
  expect(ownerOf(shop(), ref('orders:[*].lines[*].qty'))?.id).toBe('Line');
  expect(ownerOf(shop(), ref('orders:[*].customer.city'))?.id).toBe('Customer');
  expect(ownerOf(shop(), ref('orders:[*].lines[*].taxes[*].rate'))).toBeUndefined();
  expect(ownerOf(shop(), ref('orders:[2].total'))?.id).toBe('Third');
});

test.each([
  ['[*].lines[2].sku', '$[*].lines[2].sku'],
  ['', '$'],
  ['[*].unit price', "$[*]['unit price']"],
  ["[*].it's", "$[*]['it\\'s']"],
])('%s is %s in JSONPath', (text, expected) => expect(jsonPathText(path(text))).toBe(expected));

test.each([
  ['orders.order[*].line[*].@sku', '/orders/order/line/@sku'],
  ['orders.order[0].line[2].@sku', '/orders/order[1]/line[3]/@sku'],
  ['orders.order[*].price.text()', '/orders/order/price/text()'],
  ['', '/'],
])('%s is %s in XPath', (text, expected) => expect(xPathText(path(text))).toBe(expected));

test('names with slashes give other keys than steps', () => {
  expect(pathKey([{ name: 'a/.b' }])).not.toBe(pathKey([{ name: 'a' }, { name: 'b' }]));
  expect(pathKey([{ name: 'a~1' }])).not.toBe(pathKey([{ name: 'a/' }]));
});
