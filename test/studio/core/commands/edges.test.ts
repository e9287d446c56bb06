/** Commands on edges and joins. What may be connected at all is tested in `may-connect.test.ts`. */
import { describe, expect, test } from '@jest/globals';
import { connect } from '../../../../studio/core/commands/edges/connect.ts';
import { reconnect, reverse, setPredicates } from '../../../../studio/core/commands/edges/edges.ts';
import { addJoinCondition, removeJoinCondition } from '../../../../studio/core/commands/edges/joins.ts';
import type { ConnectOptions, End } from '../../../../studio/core/rules/verdict.ts';
import { CANVAS, constant, edge, element, entity, field, input, join, model, reads, template } from '../support/model.ts';
import { perform } from '../support/perform.ts';
import { SHOP_RECORDS, SHOP_SCHEMA, shop } from '../support/shop.ts';

const drawn = (from: End, to: End, options?: ConnectOptions, document = shop()) =>
  perform(document, connect, { schema: SHOP_SCHEMA, from, to, ...(options && { options }) });

describe('connect', () => {
  test('an entity to an entity', () => {
    const { added, said } = drawn(element('Order'), element('Line'), { predicates: ['urn:contains', 'urn:contains'] });
    expect(added).toMatchObject([{ kind: 'edge', from: 'Order', to: 'Line', predicates: ['urn:contains'], part: 'Order', form: 'down' }]);
    expect(said).toBe('Connected Order to Line by contains');
  });
  test('an entity to a field: a new attribute', () =>
    expect(drawn(element('Order'), field('orders:[*].customer.city')).added).toMatchObject([
      { kind: 'attribute', value: reads('orders:[*].customer.city') },
      { kind: 'edge', from: 'Order', form: 'same', predicates: [] },
    ]));
  test('an entity to a list: a blank node for each item', () =>
    expect(drawn(element('Order'), field('orders:[*].tags')).added).toMatchObject([
      { kind: 'entity', name: 'Tag', identifier: { kind: 'fresh' } },
      { kind: 'edge', from: 'Order', form: 'down' },
    ]));
  test('a field to an entity: its attribute', () =>
    expect(drawn(field('people:name'), element('Person')).added).toMatchObject([{ kind: 'attribute' }, { kind: 'edge', from: 'Person' }]));
  test('a field to a field: an entity and its attribute', () => {
    const { added } = drawn(field('orders:[*].customerId'), field('orders:[*].total'));
    expect(added).toMatchObject([
      { kind: 'entity', identifier: template('https://example.org/customer/', 'orders:[*].customerId') },
      { kind: 'attribute', value: reads('orders:[*].total') },
      { kind: 'edge', from: added[0]?.id, to: added[1]?.id },
    ]);
  });
  test('a field to a field of another input: a join with its keys', () => {
    const { added, said } = drawn(field('orders:[*].customerId'), field('people:id'));
    expect(added).toMatchObject([
      { kind: 'edge', from: 'Order', to: 'Person', form: 'join' },
      { kind: 'join', edge: added[0]?.id, conditions: [{ child: reads('orders:[*].customerId'), parent: reads('people:id') }] },
    ]);
    expect(said).toBe('Connected Order to Person');
  });
  test('keys complete a join that has none', () => {
    const open = drawn(element('Order'), element('Person'));
    expect(open.added).toMatchObject([{ form: 'join' }, { kind: 'join', conditions: [] }]);
    const keyed = drawn(field('orders:[*].customerId'), field('people:id'), {}, open.document);
    expect(keyed.added).toEqual([]);
    expect(keyed.changed).toMatchObject([{ kind: 'join', conditions: [{ parent: reads('people:id') }] }]);
    expect(drawn(field('orders:[*].id'), field('people:id'), {}, keyed.document).refused).toBe('Order has this edge already.');
  });
  test('keys of objects without entities make them', () => {
    const document = model(SHOP_RECORDS.filter(({ kind }) => kind === 'input'));
    expect(drawn(field('orders:[*].customerId'), field('people:id'), {}, document).added).toMatchObject([
      { kind: 'entity', name: 'Order', identifier: { kind: 'fresh' } },
      { kind: 'entity', name: 'Person', identifier: template('https://example.org/person/', 'people:id') },
      { kind: 'edge', form: 'join' },
      { kind: 'join' },
    ]);
  });
  test('a field to an attribute: its value, or behind it', () => {
    expect(drawn(field('orders:[*].id'), element('total')).changed).toMatchObject([{ id: 'total', value: reads('orders:[*].id') }]);
    expect(drawn(field('orders:[*].id'), element('total'), { append: true }).changed).toMatchObject([
      { id: 'total', value: template('orders:[*].total', ' ', 'orders:[*].id') },
    ]);
  });
  test('what X2 offers: an entity of the other input, with the field', () => {
    const document = model(SHOP_RECORDS.filter(({ id }) => !['Person', 'city', 'has-city'].includes(id)));
    const { added } = drawn(element('Order'), field('people:name'), { as: 'entity' }, document);
    expect(added.map(({ kind }) => kind)).toEqual(['entity', 'edge', 'join', 'attribute', 'edge']);
    expect(drawn(element('Order'), field('people:name'), { as: 'entity' }).added).toMatchObject([
      { kind: 'edge', to: 'Person', form: 'join' },
      { kind: 'join' },
      { kind: 'attribute' },
      { kind: 'edge', from: 'Person' },
    ]);
  });
  test('to the canvas', () => {
    expect(drawn(element('Line'), CANVAS).added).toMatchObject([
      { kind: 'entity', name: 'Line_2' },
      { kind: 'edge', from: 'Line' },
    ]);
    expect(drawn(field('people:name'), CANVAS).added).toMatchObject([{ kind: 'entity' }]);
    expect(drawn(field('people:name'), CANVAS, { as: 'attribute' }).added).toMatchObject([{ kind: 'attribute' }, { from: 'Person' }]);
  });
  test('an attribute that an expert starts at', () =>
    expect(drawn(element('link'), element('Order'), {}, shop({ expert: true })).added).toMatchObject([
      { kind: 'edge', from: 'link', to: 'Order' },
    ]));
  test('refuses what may not be connected, and relative predicates', () => {
    expect(drawn(element('Line'), element('Order')).refused).toMatch(/^Line is nested in lines, below Order\./);
    expect(drawn(element('Order'), element('Line'), { predicates: ['contains'] }).refused).toBe('contains is not an absolute IRI.');
  });
});

describe('reconnect', () => {
  const document = model([
    ...SHOP_RECORDS,
    edge('of', 'Order', 'Person', 'join'),
    join('keys', 'of', ['orders:[*].customerId', 'people:id']),
    edge('twin', 'Order', 'Line', 'down', ['urn:of']),
  ]);
  test('moves an end, and the form follows', () => {
    expect(perform(document, reconnect, { edge: 'has-total', to: 'link' }).changed).toMatchObject([{ to: 'link', form: 'same' }]);
    expect(perform(document, reconnect, { edge: 'twin', from: 'Invoice', to: 'Customer' }).changed).toMatchObject([
      { from: 'Invoice', to: 'Customer', part: 'Invoice', form: 'same' },
    ]);
  });
  test('a join keeps the conditions that fit', () => {
    expect(perform(document, reconnect, { edge: 'of', from: 'Invoice' }).document.records.get('keys')).toBeUndefined();
    const moved = perform(document, reconnect, { edge: 'of', from: 'Invoice' });
    expect(moved.added).toMatchObject([{ kind: 'join', conditions: [{ parent: reads('people:id') }] }]);
    expect(perform(document, reconnect, { edge: 'of', from: 'Part' }).added).toMatchObject([{ conditions: [] }]);
    expect(perform(document, reconnect, { edge: 'of', to: 'Invoice' })).toMatchObject({ removed: ['keys'], changed: [{ form: 'same' }] });
  });
  test.each([
    ['has-total', { from: 'Line' }, /^Line is nested in lines, below total\./],
    ['has-total', { to: 'city' }, /^city is in people\.csv/],
    ['has-total', { to: 'gone' }, 'This element is not in the model any more.'],
    ['has-total', { from: 'link' }, /^Only entities have outgoing edges\./],
    ['gone', { to: 'link' }, 'This element is not in the model any more.'],
  ])('refuses %s with %j', (id, ends, refused) => expect(perform(document, reconnect, { edge: id, ...ends }).refused).toMatch(refused));
});

describe('reverse', () => {
  test('swaps the ends, and the sides of the join', () => {
    const document = model([...SHOP_RECORDS, edge('of', 'Order', 'Person', 'join'), join('keys', 'of', ['orders:[*].id', 'people:id'])]);
    const { document: after, changed } = perform(document, reverse, { edge: 'of' });
    expect(changed).toMatchObject([{ from: 'Person', to: 'Order', part: 'Person', form: 'join' }]);
    expect([...after.records.values()].find(({ kind }) => kind === 'join')).toMatchObject({
      conditions: [{ child: reads('people:id'), parent: reads('orders:[*].id') }],
    });
    const twins = model([...SHOP_RECORDS, edge('is', 'Order', 'Invoice')]);
    expect(perform(twins, reverse, { edge: 'is' })).toMatchObject({
      changed: [{ from: 'Invoice', to: 'Order' }],
      said: 'Connected Invoice to Order by is',
    });
  });
  test('refuses to run upwards, and from an attribute', () => {
    const document = model([...SHOP_RECORDS, edge('contains', 'Order', 'Line', 'down')]);
    expect(perform(document, reverse, { edge: 'contains' }).refused).toMatch(/^Line is nested in lines/);
    expect(perform(document, reverse, { edge: 'has-total' }).refused).toBe(
      'Only entities have outgoing edges. Make total an entity first.',
    );
  });
});

describe('set-predicates', () => {
  test('sets them once', () =>
    expect(perform(shop(), setPredicates, { edge: 'has-total', predicates: ['urn:a', 'urn:b', 'urn:a'] }).changed).toMatchObject([
      { predicates: ['urn:a', 'urn:b'] },
    ]));
  test('refuses relative IRIs, and those of a second edge', () => {
    const document = model([...SHOP_RECORDS, edge('sum', 'Order', 'total')]);
    expect(perform(document, setPredicates, { edge: 'has-total', predicates: ['total'] }).refused).toBe('total is not an absolute IRI.');
    expect(perform(document, setPredicates, { edge: 'has-total', predicates: ['urn:sum'] }).refused).toBe('Order has this edge already.');
  });
});

describe('conditions of joins', () => {
  const staff = [
    input('staff', 'json'),
    entity('Boss', 'staff', template('urn:', 'staff:[*].id')),
    edge('boss', 'Boss', 'Boss', 'join'),
    join('self', 'boss'),
  ];
  const document = model([...SHOP_RECORDS, ...staff, edge('of', 'Order', 'Person', 'join'), join('keys', 'of')]);
  const add = (child: string, parent: string, of = 'of') =>
    perform(document, addJoinCondition, { edge: of, child: reads(child), parent: reads(parent) });

  test('are added once, and removed', () => {
    const { document: after, changed, said } = add('orders:[*].customerId', 'people:id');
    expect(changed).toMatchObject([{ conditions: [{ child: reads('orders:[*].customerId'), parent: reads('people:id') }] }]);
    expect(said).toBe('of matches customerId with id');
    const again = { edge: 'of', child: reads('orders:[*].customerId'), parent: reads('people:id') };
    expect(perform(after, addJoinCondition, again).changed).toEqual([]);
    expect(perform(after, removeJoinCondition, { edge: 'of', index: 0 })).toMatchObject({
      changed: [{ conditions: [] }],
      said: 'of needs a condition',
    });
    expect(perform(after, removeJoinCondition, { edge: 'of', index: 1 }).refused).toBe('of has no condition 2.');
  });
  test('match a key with a constant', () =>
    expect(perform(document, addJoinCondition, { edge: 'of', child: constant('1'), parent: reads('people:id') }).refused).toBeUndefined());
  test('within one input match fields of one level', () => {
    expect(add('staff:[*].bossId', 'staff:[*].id', 'boss').refused).toBeUndefined();
    expect(add('staff:[*].reports[*].id', 'staff:[*].id', 'boss').refused).toMatch(/^id is nested in reports, below id\./);
  });
  test.each([
    ['people:id', 'people:id', 'of', 'id is not in orders.json, where Order comes from.'],
    ['orders:[*].id', 'orders:[*].id', 'of', 'id is not in people.csv, where Person comes from.'],
    [
      'orders:[0].id',
      'people:id',
      'of',
      'id is a single object; a join matches all objects of an input. Choose it again with grouping on.',
    ],
    ['orders:[*].id', 'orders:[*].id', 'has-total', 'has-total needs no join: its ends are in one input.'],
    ['orders:[*].id', 'orders:[*].id', 'gone', 'This element is not in the model any more.'],
  ])('refuse %s with %s at %s', (child, parent, of, refused) => expect(add(child, parent, of).refused).toBe(refused));
});
