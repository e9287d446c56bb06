/** Suggestions from names and samples, with their reasons. */
import { describe, expect, test } from '@jest/globals';
import { addAttribute } from '../../../studio/core/commands/elements/attributes.ts';
import { addEntity } from '../../../studio/core/commands/elements/entities.ts';
import type { Element, StudioDocument } from '../../../studio/core/document.ts';
import { recordsOf } from '../../../studio/core/elements/records.ts';
import { type FieldSample, fieldsByPath, type Schema } from '../../../studio/core/elements/schema.ts';
import { isRefusal } from '../../../studio/core/rules/verdict.ts';
import { findTerms } from '../../../studio/core/suggest/find.ts';
import { suggest } from '../../../studio/core/suggest/suggest.ts';
import type { Term } from '../../../studio/core/suggest/terms.ts';
import { attribute, constant, edge, entity, input, join, model, path, reads, ref, schema, template } from './support/model.ts';

const EACH = 200;
const sample = (more: Partial<FieldSample> = {}): FieldSample => ({
  kind: 'text',
  objects: EACH,
  values: EACH,
  missing: 0,
  distinct: 12,
  isDistinctCut: false,
  examples: [],
  ...more,
});

const SAMPLES: Readonly<Record<string, Readonly<Record<string, FieldSample>>>> = {
  orders: {
    '[*].id': sample({ kind: 'integer', distinct: EACH }),
    '[*].total': sample({ kind: 'decimal', examples: ['12.50'] }),
    '[*].customerId': sample({ examples: ['C-1', 'C-2'] }),
    '[*].title_de': sample(),
    '[*].cust_id': sample({ distinct: EACH, missing: 1 }),
    '[*].note': sample(),
  },
  people: { id: sample({ distinct: EACH, examples: ['C-2', 'C-9'] }), name: sample({ distinct: EACH }), is_no: sample() },
};

const SCHEMA: Schema = new Map(
  Object.entries(SAMPLES).map(([id, fields]) => [
    id,
    fieldsByPath(Object.entries(fields).map(([text, one]) => ({ path: path(text), holds: 'value' as const, sample: one }))),
  ]),
);

const INPUTS = [input('orders', 'json'), input('people', 'csv')];
const ORDER = { ...entity('Order', 'orders', template('urn:x/', 'orders:[*].id')), classes: ['urn:C'] };
const CUSTOMER = { ...entity('Customer', 'people', template('urn:x/', 'people:id')), classes: ['urn:C'] };

const told = (records: readonly Element[], more: Partial<StudioDocument> = {}, terms: Parameters<typeof suggest>[1]['terms'] = []) =>
  suggest(model([...INPUTS, ...records], more), { schema: SCHEMA, terms }).map(({ change, reason }) => ({ change, reason }));

describe('identifiers', () => {
  test('are fields that are different in each object', () =>
    expect(told([{ ...entity('Order', 'orders', { kind: 'fresh' }, '[*]'), classes: ['urn:C'] }])).toEqual([
      {
        change: { kind: 'identifier', entity: 'Order', identifier: template('https://example.org/order/', 'orders:[*].id') },
        reason: 'id is different in 200 of 200 that were read.',
      },
    ]));
  test('are not suggested for entities that have one', () => expect(told([ORDER])).toEqual([]));
  test('of objects chosen alone are fields of that object', () =>
    expect(told([{ ...entity('One', 'orders', { kind: 'fresh' }, '[3]'), classes: ['urn:C'] }])).toMatchObject([
      { change: { identifier: template('https://example.org/order/', 'orders:[3].id') } },
    ]));
});

describe('joins', () => {
  const open = edge('of', 'Order', 'Customer', 'join');
  const condition = { kind: 'condition', edge: 'of', child: reads('orders:[*].customerId'), parent: reads('people:id') };
  test('match the field that speaks of the key, by the name of the entity', () =>
    expect(told([ORDER, CUSTOMER, open, join('keys', 'of')])).toEqual([
      { change: condition, reason: 'The name customerId speaks of id of Customer, and a value of it was found there.' },
    ]));
  test('or by the name of its level', () => {
    const customers = { ...input('people', 'csv', 'customers.csv') };
    const person = { ...CUSTOMER, name: 'Person' };
    expect(told([customers, ORDER, person, open, join('keys', 'of')])).toMatchObject([{ change: condition }]);
    expect(told([ORDER, person, open, join('keys', 'of')])).toEqual([]);
  });
  test('that have a condition get none', () =>
    expect(
      told([{ ...input('people', 'csv', 'customers.csv') }, ORDER, CUSTOMER, open, join('keys', 'of', ['orders:[*].id', 'people:id'])]),
    ).toEqual([]));
});

describe('predicates', () => {
  const total = attribute('total', reads('orders:[*].note'));
  test('are named after fields, in the namespace of the document', () =>
    expect(told([ORDER, total, edge('e', 'Order', 'total', 'same', [])], { base: 'https://shop.test/' })).toEqual([
      { change: { kind: 'predicates', edge: 'e', predicates: ['https://shop.test/note'] }, reason: 'It is named after note.' },
    ]));
  test('are terms of loaded vocabularies', () =>
    expect(
      told([ORDER, total, edge('e', 'Order', 'total', 'same', [])], {}, [
        { iri: 'https://schema.org/Note', kind: 'class' },
        { iri: 'https://schema.org/comment', labels: ['Bemerkung', 'Note'], kind: 'property' },
      ]),
    ).toMatchObject([{ change: { predicates: ['https://schema.org/comment'] }, reason: 'comment has the name of note.' }]));
  test('of edges are named after keys, or after what they lead to', () => {
    const keyed = [ORDER, CUSTOMER, edge('e', 'Order', 'Customer', 'join', []), join('j', 'e', ['orders:[*].cust_id', 'people:id'])];
    expect(told(keyed)).toMatchObject([{ change: { predicates: ['https://example.org/cust'] } }]);
    const shop = { ...entity('Shop', 'orders', constant('urn:shop')), classes: ['urn:C'] };
    expect(told([ORDER, shop, edge('e', 'Order', 'Shop', 'same', [])])).toMatchObject([
      { change: { predicates: ['https://example.org/shop'] } },
    ]);
  });
});

test('classes are named after entities, or are terms', () => {
  const plain = { ...ORDER, classes: [] };
  expect(told([plain])).toEqual([
    { change: { kind: 'class', entity: 'Order', class: 'https://example.org/Order' }, reason: 'It is named after Order.' },
  ]);
  expect(told([plain], {}, [{ iri: 'https://schema.org/Order', kind: 'class' }])).toMatchObject([
    { change: { class: 'https://schema.org/Order' }, reason: 'Order has the name of Order.' },
  ]);
});

describe('values', () => {
  const of = (text: string, more = {}) => told([attribute('a', reads(text), more)]);
  test('have the datatype of all that was read', () =>
    expect(of('orders:[*].total')).toEqual([
      {
        change: { kind: 'datatype', attribute: 'a', datatype: 'http://www.w3.org/2001/XMLSchema#decimal' },
        reason: 'All 200 values that were read are of the kind decimal, such as 12.50.',
      },
    ]));
  test('have the language that their name ends with', () =>
    expect(of('orders:[*].title_de')).toEqual([
      { change: { kind: 'language', attribute: 'a', language: 'de' }, reason: 'The name title_de ends with the language de.' },
    ]));
  test.each(['orders:[*].note', 'orders:[*].cust_id', 'people:is_no', 'people:gone'])('%s has neither', (text) =>
    expect(of(text)).toEqual([]),
  );
  test('that have a datatype, or are IRIs, get none', () => {
    expect(of('orders:[*].total', { datatype: 'urn:d' })).toEqual([]);
    expect(of('orders:[*].total', { termType: 'iri' })).toEqual([]);
  });
});

test('a rejected suggestion is not made again, though ids are others', () => {
  const records = (id: string): readonly Element[] => [...INPUTS, attribute(id, reads('orders:[*].total'))];
  const known = { schema: SCHEMA, terms: [] };
  const [first] = suggest(model(records('a')), known);
  expect(first?.of).toBe('a');
  expect(suggest(model(records('b'), { rejected: [first?.key ?? ''] }), known)).toEqual([]);
});

describe('terms are found', () => {
  const terms: readonly Term[] = [
    { iri: 'https://schema.org/postalCode', kind: 'property', labels: ['Postleitzahl', 'postal code'] },
    { iri: 'https://schema.org/Order', kind: 'class' },
    { iri: 'https://schema.org/orderDate', kind: 'property', labels: ['date of the order'] },
    { iri: 'https://schema.org/partOfOrder', kind: 'property' },
  ];
  test.each<[string, readonly string[]]>([
    ['', ['postalCode', 'Order', 'orderDate', 'partOfOrder']],
    ['order', ['Order', 'orderDate', 'partOfOrder']],
    ['  ORDER date ', ['orderDate']],
    ['date of', ['orderDate']],
    ['leit', ['postalCode']],
    ['code post', ['postalCode']],
    ['schema', []],
    ['invoice', []],
  ])('by “%s”', (text, found) => expect(findTerms(terms, text).map(({ iri }) => iri.replace('https://schema.org/', ''))).toEqual(found));
});

test('names of XML are those without prefixes and @', () => {
  const document = model([input('feed', 'xml')]);
  const fields = schema({ feed: ['f:feed{}', 'f:feed.f:entries[]', 'f:feed.f:entries[*].@x:key', 'f:feed.f:entries[*].d:title'] });
  const made = addEntity.perform(document, { schema: fields, at: ref('feed:f:feed.f:entries[*].@x:key') });
  if (isRefusal(made)) throw new Error(made.sentence);
  const titled = addAttribute.perform(made, { schema: fields, at: ref('feed:f:feed.f:entries[*].d:title') });
  if (isRefusal(titled)) throw new Error(titled.sentence);
  expect(recordsOf(titled, 'entity').map(({ name, identifier }) => [name, identifier])).toMatchObject([
    ['Entry', { parts: ['https://example.org/entry/', {}] }],
  ]);
  const iris = suggest(titled, { schema: fields, terms: [] }).flatMap(({ change }) =>
    change.kind === 'predicates' ? change.predicates : change.kind === 'class' ? [change.class] : [],
  );
  expect(iris).toEqual(['https://example.org/Entry', 'https://example.org/title']);
});
