/** Commands on entities, attributes, functions, graphs and prefixes. */
import { describe, expect, test } from '@jest/globals';
import {
  addAttribute,
  setDatatype,
  setExpression,
  setLanguage,
  setTermType,
} from '../../../../studio/core/commands/elements/attributes.ts';
import { addClass, addEntity, removeClass, rename, setIdentifier } from '../../../../studio/core/commands/elements/entities.ts';
import { applyFunction, removeFunction } from '../../../../studio/core/commands/elements/functions.ts';
import { addGraph, addPrefix, removePrefix, renamePrefix, setExpert, setGraph } from '../../../../studio/core/commands/elements/graphs.ts';
import { mergeParts, splitPart } from '../../../../studio/core/commands/elements/parts.ts';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { attribute, constant, edge, entity, input, join, model, path, reads, ref, template } from '../support/model.ts';
import { perform } from '../support/perform.ts';
import { SHOP_RECORDS, SHOP_SCHEMA, shop } from '../support/shop.ts';

const at = (text: string) => ({ schema: SHOP_SCHEMA, at: ref(text) });

describe('add-entity', () => {
  test('of a value: it is its identifier, and the level is that of its object (R4)', () =>
    expect(perform(shop(), addEntity, at('orders:[*].lines[*].taxes[*].rate')).added).toMatchObject([
      {
        kind: 'entity',
        name: 'Tax',
        input: 'orders',
        level: path('[*].lines[*].taxes[*]'),
        identifier: template('https://example.org/tax/', 'orders:[*].lines[*].taxes[*].rate'),
        termType: 'iri',
      },
    ]));
  test('of a row: it is named after the file, once', () => {
    const first = perform(model([...SHOP_RECORDS], { base: 'https://shop.test/id#' }), addEntity, at('people:name'));
    expect(first.added).toMatchObject([{ name: 'Person_2', identifier: template('https://shop.test/id#person/', 'people:name') }]);
    expect(perform(first.document, addEntity, at('people:name')).added).toMatchObject([{ name: 'Person_3' }]);
  });
  test('a second one of a level is named after its field, where that says more than the level', () => {
    const first = perform(model([...SHOP_RECORDS]), addEntity, at('people:town'));
    expect(first.added).toMatchObject([{ name: 'Town', identifier: template('https://example.org/town/', 'people:town') }]);
  });
  test('of a list or object: a blank node for each', () => {
    expect(perform(shop(), addEntity, at('orders:[*].lines')).added).toMatchObject([
      { name: 'Line_2', level: path('[*].lines[*]'), identifier: { kind: 'fresh' }, termType: 'blank' },
    ]);
    expect(perform(shop(), addEntity, at('orders:[*].customer')).added).toMatchObject([{ level: path('[*].customer') }]);
  });
  test('of an attribute: it takes its place, with its edges', () => {
    const place = { kind: 'place', id: 'place-of-link', of: 'link', x: 7, y: 8, open: [], pinned: true } as const;
    const document = model([...SHOP_RECORDS, edge('has-link', 'Order', 'link'), place]);
    const { added, removed, changed } = perform(document, addEntity, { attribute: 'link' });
    expect(removed).toEqual(['link', 'place-of-link']);
    expect(added).toMatchObject([
      { kind: 'entity', termType: 'iri', identifier: template('https://example.org/', 'orders:[*].id') },
      { kind: 'place', x: 7, y: 8 },
    ]);
    expect(changed).toMatchObject([{ id: 'has-link', to: added[0]?.id, form: 'same' }]);
  });
  test('refuses an attribute without an input, or with fields of two objects', () => {
    expect(perform(shop(), addEntity, { attribute: 'currency' }).refused).toBe('EUR comes from no input: an entity needs one.');
    const two = attribute('two', template('orders:[*].customer.name', ' ', 'orders:[*].address.city'));
    expect(perform(model([...SHOP_RECORDS, two]), addEntity, { attribute: 'two' }).refused).toMatch(
      /^customer and address are side by side/,
    );
  });
});

describe('rename', () => {
  test('renames entities and inputs', () => {
    expect(perform(shop(), rename, { id: 'Line', name: ' Product ' }).changed).toMatchObject([{ name: 'Product' }]);
    expect(perform(shop(), rename, { id: 'people', name: 'staff.csv' }).said).toBe('The name is now staff.csv');
  });
  test.each([
    ['Line', 'Order', 'There is an entity named Order already.'],
    ['people', 'orders.json', 'There is an input named orders.json already.'],
    ['Line', '', 'Line needs a name.'],
    ['total', 'Sum', 'Only entities and inputs have names.'],
  ])('refuses %s as "%s"', (id, name, refused) => expect(perform(shop(), rename, { id, name }).refused).toBe(refused));
});

describe('set-identifier', () => {
  test('moves the entity to the deepest level of the fields, and its edges to other forms', () => {
    const document = model([...SHOP_RECORDS, edge('to-line', 'Order', 'Line', 'down')]);
    const next = template('urn:', 'orders:[*].lines[*].sku', ':', 'orders:[*].lines[*].qty');
    expect(perform(document, setIdentifier, { id: 'Line', identifier: next }).changed).toMatchObject([
      { id: 'Line', level: path('[*].lines[*]') },
      { id: 'has-sku', form: 'same' },
      { id: 'to-line', form: 'view' },
    ]);
  });
  test('an entity without fields needs no join', () => {
    const document = model([...SHOP_RECORDS, edge('of', 'Order', 'Person', 'join'), join('keys', 'of', ['orders:[*].id', 'people:id'])]);
    const { removed, changed } = perform(document, setIdentifier, { id: 'Person', identifier: constant('urn:all') });
    expect(removed).toEqual(['keys']);
    expect(changed).toContainEqual(expect.objectContaining({ id: 'of', form: 'same' }));
  });
  test('a blank node becomes an IRI, and an IRI a blank node', () => {
    const fresh = perform(shop(), setIdentifier, { id: 'Person', identifier: { kind: 'fresh' } });
    expect(fresh.changed).toMatchObject([{ id: 'Person', termType: 'blank' }]);
    expect(perform(fresh.document, setIdentifier, { id: 'Person', identifier: reads('people:id') }).changed).toMatchObject([
      { termType: 'iri' },
    ]);
  });
  test.each([
    ['Order', reads('people:id'), 'id is not in orders.json, where Order comes from.'],
    ['Order', template('orders:[*].lines[*].sku', 'orders:[*].payments[*].amount'), /^lines and payments are side by side/],
    ['Order', template('orders:[*].id', 'orders:[0].id'), /^Order cannot be identified by fields of two items/],
    ['Line', reads('orders:[*].payments[*].amount'), /^payments and lines are side by side/],
    ['Order', reads('orders:[*].lines[*].sku'), /^Order is nested in lines, below total\./],
  ])('refuses for %s %j', (id, identifier, refused) => expect(perform(shop(), setIdentifier, { id, identifier }).refused).toMatch(refused));
});

describe('set-term-type', () => {
  test('an attribute that is no literal any more loses its datatype', () => {
    const document = model([...SHOP_RECORDS, attribute('typed', reads('orders:[*].id'), { datatype: 'urn:d' })]);
    const [changed] = perform(document, setTermType, { id: 'typed', termType: 'iri' }).changed;
    expect(changed).toMatchObject({ id: 'typed', termType: 'iri' });
    expect(changed).not.toHaveProperty('datatype');
  });
  test('refuses literals as subjects, and IRIs without an identifier', () => {
    expect(perform(shop(), setTermType, { id: 'Order', termType: 'literal' }).refused).toBe(
      'A literal cannot be the subject of a statement.',
    );
    const document = model([...SHOP_RECORDS, entity('Blank', 'orders', { kind: 'fresh' }, '[*]'), edge('by-expert', 'link', 'total')]);
    expect(perform(document, setTermType, { id: 'Blank', termType: 'iri' }).refused).toBe(
      'Blank is a blank node until it has an identifier.',
    );
    expect(perform(document, setTermType, { id: 'link', termType: 'literal' }).refused).toBe(
      'A literal cannot be the subject of a statement.',
    );
  });
});

describe('classes', () => {
  test('are added once, and removed', () => {
    const once = perform(shop(), addClass, { id: 'Order', classes: ['urn:A', 'urn:A'] });
    expect(once.changed).toMatchObject([{ classes: ['urn:A'] }]);
    expect(perform(once.document, addClass, { id: 'Order', classes: ['urn:A'] }).changed).toEqual([]);
    expect(perform(once.document, removeClass, { id: 'Order', class: 'urn:A' }).changed).toMatchObject([{ classes: [] }]);
  });
  test('are absolute IRIs that it has', () => {
    expect(perform(shop(), addClass, { id: 'Order', classes: ['Order'] }).refused).toBe('Order is not an absolute IRI.');
    expect(perform(shop(), addClass, { id: 'Order', classes: ['urn:a b'] }).refused).toBe('urn:a b is not an absolute IRI.');
    expect(perform(shop(), removeClass, { id: 'Order', class: 'urn:A' }).refused).toBe('Order has no class urn:A.');
  });
});

describe('add-attribute (R4)', () => {
  test('belongs to the entity of its parent object', () => {
    const { added, said } = perform(shop(), addAttribute, { ...at('orders:[*].lines[*].qty'), predicates: ['urn:qty'] });
    expect(added).toMatchObject([
      { kind: 'attribute', value: reads('orders:[*].lines[*].qty'), termType: 'literal' },
      { kind: 'edge', from: 'Line', predicates: ['urn:qty'] },
    ]);
    expect(said).toBe('Made qty an attribute of Line');
  });
  test('stays loose where its object has no entity', () =>
    expect(perform(shop(), addAttribute, at('orders:[*].lines[*].taxes[*].rate'))).toMatchObject({
      added: [{ kind: 'attribute' }],
      said: 'Made the attribute rate. No entity has it yet: connect one to it',
    }));
  test('of any value', () => {
    expect(perform(shop(), addAttribute, { value: constant('EUR') }).added).toMatchObject([{ value: constant('EUR') }]);
    expect(perform(shop(), addAttribute, { value: template('people:id', 'orders:[*].id') }).refused).toBe(
      'id is in orders.json, id in people.csv. Make an entity of the order and join it.',
    );
  });
  test('refuses a list', () =>
    expect(perform(shop(), addAttribute, { ...at('orders:[*].total'), predicates: ['urn:has-total'] }).refused).toBe(
      'Order has this edge already.',
    ));
});

describe('set-expression', () => {
  test('gives another value, and the edge another form', () =>
    expect(perform(shop(), setExpression, { id: 'total', value: reads('orders:[*].lines[*].sku') }).changed).toMatchObject([
      { id: 'total', value: reads('orders:[*].lines[*].sku') },
      { id: 'has-total', form: 'down' },
    ]));
  test('a blank node for each record is no literal', () =>
    expect(perform(shop(), setExpression, { id: 'total', value: { kind: 'fresh' } }).changed).toMatchObject([{ termType: 'blank' }]));
  test.each([
    ['sku', reads('orders:[*].id'), /^Line is nested in lines, below id\./],
    ['total', reads('people:name'), 'name is in people.csv, Order in orders.json. Make an entity of the person and join it.'],
    ['total', reads('orders:[0].total'), /^Order was chosen with grouping on and total with grouping off\./],
    ['firstTotal', template('orders:[0].id', 'orders:[1].id'), /^id and id are in different objects \(1 and 2 of orders\.json\)\./],
  ])('refuses %s as %j', (id, value, refused) => expect(perform(shop(), setExpression, { id, value }).refused).toMatch(refused));
});

describe('set-datatype and set-language', () => {
  test('exclude each other', () => {
    const typed = perform(shop(), setDatatype, { id: 'total', datatype: 'urn:d' });
    expect(typed.changed).toMatchObject([{ datatype: 'urn:d' }]);
    const spoken = perform(typed.document, setLanguage, { id: 'total', language: 'de-CH' });
    expect(spoken.changed[0]).toMatchObject({ language: 'de-CH' });
    expect(spoken.changed[0]).not.toHaveProperty('datatype');
    expect(perform(spoken.document, setDatatype, { id: 'total', datatype: 'urn:d' }).changed[0]).not.toHaveProperty('language');
    expect(perform(spoken.document, setLanguage, { id: 'total', language: undefined }).changed[0]).not.toHaveProperty('language');
    expect(perform(typed.document, setDatatype, { id: 'total', datatype: undefined }).changed[0]).not.toHaveProperty('datatype');
  });
  test('refuse what is no literal, no IRI and no language', () => {
    expect(perform(shop(), setDatatype, { id: 'link', datatype: 'urn:d' }).refused).toBe(
      'https://example.org/{id} is no literal: only literals have a datatype.',
    );
    expect(perform(shop(), setLanguage, { id: 'link', language: 'en' }).refused).toMatch(/only literals have a language/);
    expect(perform(shop(), setDatatype, { id: 'total', datatype: 'date' }).refused).toBe('date is not an absolute IRI.');
    expect(perform(shop(), setLanguage, { id: 'total', language: 'no language' }).refused).toBe('no language is no language tag.');
  });
});

describe('functions', () => {
  const upper = { function: 'urn:f#upper', parameter: 'urn:p', others: [] };

  test('are put around values of attributes, identifiers and keys, and taken away', () => {
    const joined = model([...SHOP_RECORDS, edge('of', 'Order', 'Person', 'join'), join('keys', 'of', ['orders:[*].id', 'people:id'])]);
    for (const target of [
      { of: 'total' },
      { of: 'Person' },
      { of: 'keys', condition: { index: 0, side: 'child' } },
      { of: 'keys', condition: { index: 0, side: 'parent' } },
    ] as const) {
      const applied = perform(joined, applyFunction, { ...target, ...upper });
      expect(JSON.stringify(applied.changed)).toContain('urn:f#upper');
      expect(applied.said).not.toBe('Nothing changed');
      const taken = perform(applied.document, removeFunction, target);
      expect(taken.document.records).toEqual(joined.records);
    }
  });
  test('keep the argument that is asked for', () => {
    const others = [{ parameter: 'urn:q', value: constant('x') }];
    const applied = perform(shop(), applyFunction, { of: 'total', ...upper, others });
    expect(perform(applied.document, removeFunction, { of: 'total', parameter: 'urn:q' }).changed).toMatchObject([
      { value: constant('x') },
    ]);
    expect(perform(applied.document, removeFunction, { of: 'total', parameter: 'urn:z' }).refused).toMatch(
      /has no argument that could stay/,
    );
  });
  test('are refused where there is no value, no IRI and no function', () => {
    const document = model([...SHOP_RECORDS, entity('Blank', 'orders', { kind: 'fresh' }, '[*]')]);
    expect(perform(document, applyFunction, { of: 'Blank', ...upper }).refused).toBe('Blank is a blank node: a function needs a value.');
    expect(perform(document, applyFunction, { of: 'total', ...upper, function: 'upper' }).refused).toBe('upper is not an absolute IRI.');
    expect(perform(document, removeFunction, { of: 'total' }).refused).toBe('total has no function.');
    expect(perform(document, removeFunction, { of: 'has-total' }).refused).toBe('This value is not in the model any more.');
    const others = [{ parameter: 'urn:q', value: reads('people:id') }];
    expect(perform(document, applyFunction, { of: 'total', ...upper, others }).refused).toMatch(/^id is in people\.csv/);
  });
});

describe('graphs', () => {
  test('are added once, and given to entities and edges', () => {
    const { document, added } = perform(shop(), addGraph, { name: constant('urn:g') });
    const graphs = added.map(({ id }) => id);
    expect(perform(document, setGraph, { ids: ['Order', 'has-sku'], graphs }).changed).toMatchObject([
      { id: 'Order', graphs },
      { id: 'has-sku', graphs },
    ]);
    expect(perform(document, addGraph, { name: constant('urn:g') }).refused).toBe('There is a graph urn:g already.');
  });
  test('are named by absolute IRIs, and by fields that their entities can read', () => {
    expect(perform(shop(), addGraph, { name: constant('g') }).refused).toBe('g is not an absolute IRI.');
    const { document, added } = perform(shop(), addGraph, { name: template('urn:', 'people:id') });
    const graphs = added.map(({ id }) => id);
    expect(perform(document, setGraph, { ids: ['Person'], graphs }).refused).toBeUndefined();
    expect(perform(document, setGraph, { ids: ['Order'], graphs }).refused).toMatch(/is in people\.csv, Order in orders\.json\./);
    expect(perform(document, setGraph, { ids: ['total'], graphs }).refused).toBe('Only entities and edges are in graphs.');
  });
});

describe('prefixes', () => {
  test('are added, renamed and removed', () => {
    const { document, added } = perform(shop(), addPrefix, { name: 'ex', iri: 'https://example.org/' });
    const id = added[0]?.id ?? '';
    expect(perform(document, renamePrefix, { id, name: '' }).changed).toMatchObject([{ name: '', iri: 'https://example.org/' }]);
    expect(perform(document, removePrefix, { id }).removed).toEqual([id]);
    expect(perform(document, addPrefix, { name: 'ex', iri: 'urn:x' }).refused).toBe('There is a prefix ex: already.');
  });
  test('have names of letters and digits, and absolute IRIs', () => {
    expect(perform(shop(), addPrefix, { name: '1x', iri: 'urn:x' }).refused).toMatch(/^1x is no name for a prefix/);
    expect(perform(shop(), addPrefix, { name: 'x', iri: 'x' }).refused).toBe('x is not an absolute IRI.');
    expect(perform(shop(), renamePrefix, { id: 'Order', name: 'x' }).refused).toBe('This element is not in the model any more.');
    expect(perform(shop(), removePrefix, { id: 'gone' }).refused).toBe('This element is not in the model any more.');
  });
});

test('set-expert switches the mode', () => {
  const { document, said } = perform(shop(), setExpert, { expert: true });
  expect(document.expert).toBe(true);
  expect(said).toBe('Expert mode is on');
  expect(perform(document, setExpert, { expert: true }).document).toBe(document);
});

describe('entities of several triples maps', () => {
  const order = entity('Order', 'orders', template('https://example.org/order/', 'orders:[*].id'));
  const two = model([
    input('orders', 'json'),
    { ...order, classes: ['urn:a'], parts: ['Order', 'More'] },
    attribute('id', reads('orders:[*].id')),
    attribute('total', reads('orders:[*].total')),
    { ...edge('has-id', 'Order', 'id'), part: 'Order' },
    { ...edge('has-total', 'Order', 'total'), part: 'More' },
  ]);
  const { document: split } = perform(two, splitPart, { id: 'Order', part: 'More' });
  const apart = recordsOf(split, 'entity').find(({ id }) => id !== 'Order');

  test('are shown apart, each with its edges', () => {
    expect(recordsOf(split, 'entity').map(({ parts, classes }) => [parts, classes])).toEqual([
      [['Order'], ['urn:a']],
      [['More'], []],
    ]);
    expect(recordsOf(split, 'edge').map(({ id, from }) => [id, from])).toEqual([
      ['has-id', 'Order'],
      ['has-total', apart?.id],
    ]);
    expect(findingsIn(split)).toEqual([]);
  });

  test('become one again', () => {
    const { document: one } = perform(split, mergeParts, { ids: ['Order', apart?.id as string] });
    expect(new Map(one.records)).toEqual(new Map(two.records));
  });

  test('are refused with a reason', () => {
    expect(splitPart.perform(split, { id: 'Order', part: 'Order' })).toMatchObject({
      sentence: 'Order has one triples map: there is nothing to show apart.',
    });
    expect(splitPart.perform(two, { id: 'Order', part: 'Other' })).toMatchObject({ sentence: 'Other is no triples map of Order.' });
    const other = model([...two.records.values(), entity('Line', 'orders', template('https://example.org/', 'orders:[*].lines[*].sku'))]);
    expect(mergeParts.perform(other, { ids: ['Order', 'Line'] })).toMatchObject({
      sentence: 'Order and Line do not have the same identifier, level and graphs. Only what stands for the same objects becomes one.',
    });
    expect(mergeParts.perform(two, { ids: ['Order'] })).toMatchObject({ sentence: 'Select two entities or more: they become one.' });
  });
});

describe('an attribute of a list', () => {
  const at = (text: string) => ({ schema: SHOP_SCHEMA, at: ref(text) });

  test('of values is one of the entity that has the list, with each of them', () => {
    const { added, said } = perform(shop(), addAttribute, at('orders:[*].tags'));
    expect(added).toMatchObject([
      { kind: 'attribute', value: reads('orders:[*].tags[*]') },
      { kind: 'edge', from: 'Order' },
    ]);
    expect(said).toBe('Made tags an attribute of Order');
  });

  test('of objects is refused, and so is one of an object: they are no values', () => {
    expect(perform(shop(), addAttribute, at('orders:[*].lines')).refused).toBe(
      'lines holds a list. Open it and choose one of its fields, or make an entity of each item.',
    );
    expect(perform(shop(), addAttribute, at('orders:[*].customer')).refused).toBe(
      'customer holds an object. Open it and choose one of its fields, or make an entity of it.',
    );
  });
});
