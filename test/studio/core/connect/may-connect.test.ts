/** What may be connected: one row for each cell of the tables of the design, accepted and refused, with its sentence. */
import { describe, expect, test } from '@jest/globals';
import { drawUpwards } from '../../../../studio/core/commands/edges/upwards.ts';
import { findingsIn } from '../../../../studio/core/commands/invariants.ts';
import { mayConnect } from '../../../../studio/core/connect/may-connect.ts';
import type { StudioDocument } from '../../../../studio/core/document.ts';
import { recordsOf } from '../../../../studio/core/elements/records.ts';
import { print } from '../../../../studio/core/print/print.ts';
import { read } from '../../../../studio/core/read/read.ts';
import { warningOf } from '../../../../studio/core/rules/link.ts';
import { type ConnectOptions, type End, isRefusal, type Verdict } from '../../../../studio/core/rules/verdict.ts';
import { CANVAS, edge, element, entity, field, input, model, reads, ref, schema, template, title } from '../support/model.ts';
import { SHOP_RECORDS, SHOP_SCHEMA, shop } from '../support/shop.ts';

const judge = (from: End, to: End, options: ConnectOptions = {}, document: StudioDocument = shop()): Verdict =>
  mayConnect(document, SHOP_SCHEMA, from, to, options);

/** `makes form (note)`, or `rule: sentence [instead]`. */
function told(verdict: Verdict): string {
  if (!verdict.ok) return `${verdict.rule}: ${verdict.sentence}${verdict.instead ? ` [${verdict.instead.command}]` : ''}`;
  return [verdict.makes, verdict.form, verdict.note && `(${verdict.note})`].filter(Boolean).join(' ');
}

const NO_TITLE = 'R1: people.csv is an input. Open it and choose one of its fields.';
const LIST = 'R1: lines holds a list. Open it and choose one of its fields, or make an entity of each item. [add-entity]';
const OBJECT = 'R1: customer holds an object. Open it and choose one of its fields, or make an entity of it. [add-entity]';
const START = 'R2: Only entities have outgoing edges. Make';
const SINGLE = 'is a single object; a join matches all objects of an input. Choose it again with grouping on.';
const VIEWS = 'Elements of the two views cannot be linked.';
const DOWN = 'An edge runs within one level or downwards.';
const BRANCHES = 'R3: lines and payments are side by side: nothing says which line belongs to which payment. Connect both to Order.';
const ONE_OBJECT = 'With grouping off, only fields of one object can be linked.';

const TOTAL = field('orders:[*].total');
const SKU = field('orders:[*].lines[*].sku');

describe('a value field', () => {
  test.each<[string, End, ConnectOptions, string]>([
    ['value field at its level', field('orders:[*].customerId'), {}, 'entity same'],
    ['value field below', field('orders:[*].lines[*].qty'), {}, 'entity down'],
    ['value field of another input', field('people:id'), {}, 'join join (Join Order to Person)'],
    ['list', field('orders:[*].lines'), {}, LIST],
    ['object', field('orders:[*].customer'), {}, OBJECT],
    ['entity', element('Invoice'), {}, 'attribute same'],
    ['entity of a list', element('Line'), {}, `R3: Line is nested in lines, below total. ${DOWN} [connect]`],
    [
      'entity of another input',
      element('Person'),
      {},
      'X2: total is in orders.json, Person in people.csv. Make an entity of the order and join it. [connect]',
    ],
    ['attribute', element('total'), {}, 'value'],
    ['attribute, appended', element('total'), { append: true }, 'value'],
    ['attribute of an entity below', element('sku'), {}, `R3: Line is nested in lines, below total. ${DOWN}`],
    [
      'attribute of an entity of another input',
      element('city'),
      {},
      'X2: total is in orders.json, Person in people.csv. Make an entity of the order and join it. [connect]',
    ],
    ['canvas', CANVAS, {}, 'entity'],
    ['canvas, as attribute', CANVAS, { as: 'attribute', predicates: ['urn:new'] }, 'attribute same (total belongs to Order.)'],
    ['title', title('people'), {}, NO_TITLE],
  ])('to a %s', (_, to, options, expected) => expect(told(judge(TOTAL, to, options))).toBe(expected));

  test('of a list to a field above', () =>
    expect(told(judge(SKU, TOTAL))).toBe(`R3: sku is nested in lines, below total. ${DOWN} [connect]`));
  test('of a list to a list beside it', () => expect(told(judge(SKU, field('orders:[*].payments[*].amount')))).toBe(BRANCHES));
  test('that identifies an entity already: the other one is its attribute', () =>
    expect(told(judge(field('people:id'), field('people:name')))).toBe('attribute same'));
  test('whose object has no entity stays loose on the canvas', () =>
    expect(told(judge(field('orders:[*].lines[*].taxes[*].rate'), CANVAS, { as: 'attribute' }))).toBe(
      'attribute (No entity is made of each tax yet: rate stays loose until an edge leads to it.)',
    ));
  test('beside another list is not appended to a value', () =>
    expect(told(judge(SKU, element('amount'), { append: true }))).toBe(
      'R3: payments and lines are side by side: nothing says which payment belongs to which line. Connect both to Order.',
    ));
  test('of another input is not appended to a value', () =>
    expect(told(judge(field('people:name'), element('link'), { append: true }))).toBe(
      'X2: name is in people.csv, id in orders.json. Make an entity of the person and join it.',
    ));
});

describe('a list or object', () => {
  test.each<[string, End, string]>([
    ['value field', TOTAL, LIST],
    ['list', field('orders:[*].payments'), LIST],
    ['entity', element('Order'), LIST],
    ['attribute', element('total'), LIST],
    ['canvas', CANVAS, 'entity'],
    ['title', title('people'), NO_TITLE],
  ])('to a %s', (_, to, expected) => expect(told(judge(field('orders:[*].lines'), to))).toBe(expected));

  test('an object says so', () => expect(told(judge(field('orders:[*].customer'), TOTAL))).toBe(OBJECT));
});

describe('an entity', () => {
  test.each<[string, End, ConnectOptions, string]>([
    ['value field at its level', field('orders:[*].customerId'), {}, 'attribute same'],
    ['value field in an object below', field('orders:[*].customer.city'), {}, 'attribute same'],
    ['value field in a list below', SKU, {}, 'attribute down'],
    [
      'value field of another input',
      field('people:name'),
      {},
      'X2: name is in people.csv, Order in orders.json. Make an entity of the person and join it. [connect]',
    ],
    [
      'value field of another input, as entity',
      field('people:name'),
      { as: 'entity' },
      'join join (Order and Person come from different inputs. Say which fields match.)',
    ],
    ['list', field('orders:[*].lines'), {}, 'entity down'],
    ['object', field('orders:[*].customer'), {}, 'entity same'],
    [
      'list of another input',
      field('parts:parts.part'),
      {},
      'entity join (Order and part come from different inputs. Say which fields match.)',
    ],
    ['entity', element('Invoice'), {}, 'edge same'],
    ['entity below', element('Line'), {}, 'edge down'],
    ['entity of another input', element('Person'), {}, 'join join (Order and Person come from different inputs. Say which fields match.)'],
    ['entity of a constant', element('Shop'), {}, 'edge same'],
    ['attribute', element('link'), {}, 'edge same'],
    ['attribute of a constant', element('currency'), {}, 'edge same'],
    [
      'attribute of another input',
      element('city'),
      {},
      'X2: city is in people.csv, Order in orders.json. Make an entity of the person and join it. [connect]',
    ],
    ['canvas', CANVAS, {}, 'entity same'],
    ['title', title('people'), {}, NO_TITLE],
    ['itself', element('Order'), {}, 'edge same (every order points at itself)'],
    ['itself, by key', element('Order'), { join: true }, 'join join (Say which fields of Order and Order match.)'],
    ['entity at its level, by key', element('Invoice'), { join: true }, 'join join (Say which fields of Order and Invoice match.)'],
    ['entity below, by key', element('Line'), { join: true }, `R3: Line is nested in lines, below Order. ${DOWN}`],
  ])('to a %s', (_, to, options, expected) => expect(told(judge(element('Order'), to, options))).toBe(expected));
});

describe('an attribute', () => {
  const LINK = `${START} https://example.org/{id} an entity first. [add-entity]`;
  test.each<[string, End, string, string]>([
    ['value field', TOTAL, LINK, 'attribute same'],
    ['list', field('orders:[*].lines'), LINK, LINK],
    ['entity', element('Invoice'), LINK, 'edge same'],
    ['attribute', element('total'), LINK, 'edge same'],
    ['canvas', CANVAS, LINK, LINK],
    ['title', title('people'), NO_TITLE, NO_TITLE],
  ])('to a %s; and drawn by an expert', (_, to, expected, byExpert) => {
    expect(told(judge(element('link'), to))).toBe(expected);
    expect(told(judge(element('link'), to, {}, shop({ expert: true })))).toBe(byExpert);
  });

  test('that is a literal is never a subject', () =>
    expect(told(judge(element('total'), element('link'), {}, shop({ expert: true })))).toBe(
      'R2: A literal cannot be the subject of a statement.',
    ));
  test('of a constant cannot be made an entity', () =>
    expect(told(judge(element('currency'), element('Order')))).toBe(`${START} EUR an entity first.`));
});

describe('where to stands, seen from from', () => {
  const people = element('Person');
  test.each<[string, End, End, string]>([
    ['same level, grouped', element('Order'), element('Invoice'), 'edge same'],
    ['same level, ungrouped', element('First'), field('orders:[0].total'), 'attribute same'],
    ['same level, ungrouped, neighbours of one list', element('FirstLine'), element('SecondLine'), 'edge same'],
    [
      'same level, ungrouped, two objects',
      element('First'),
      element('thirdTotal'),
      `R6: First and total are in different objects (1 and 3 of orders.json). ${ONE_OBJECT}`,
    ],
    [
      'same level, one of each',
      element('Order'),
      element('firstTotal'),
      `R6: Order was chosen with grouping on and total with grouping off. ${VIEWS}`,
    ],
    [
      'same level, one of each, the other way',
      element('First'),
      element('link'),
      `R6: https://example.org/{id} was chosen with grouping on and First with grouping off. ${VIEWS}`,
    ],
    ['same level, flat', people, field('people:name'), 'attribute same'],
    ['below, grouped', element('Order'), element('Line'), 'edge down'],
    ['below, grouped, several values of one list', element('Order'), element('both'), 'edge view'],
    ['below, grouped, object', element('Order'), element('Customer'), 'edge same'],
    ['below, ungrouped', element('First'), element('SecondLine'), 'edge same'],
    [
      'below, ungrouped, another object',
      element('Third'),
      element('SecondLine'),
      `R6: Third and SecondLine are in different objects (3 and 1 of orders.json). ${ONE_OBJECT}`,
    ],
    [
      'below, one of each',
      element('Order'),
      element('SecondLine'),
      `R6: Order was chosen with grouping on and SecondLine with grouping off. ${VIEWS}`,
    ],
    ['above, grouped', element('Line'), element('Order'), `R3: Line is nested in lines, below Order. ${DOWN} [connect]`],
    [
      'above, grouped, from an object',
      element('Customer'),
      element('Order'),
      `R3: Customer is nested in customer, below Order. ${DOWN} [connect]`,
    ],
    [
      'above, grouped, XML',
      element('Bolt'),
      element('Part'),
      `R3: Bolt is nested in bolt, below Part. ${DOWN} An expert may edit the XPath in the mapping text. [connect]`,
    ],
    ['above, ungrouped', element('SecondLine'), element('First'), `R3: SecondLine is nested in lines, below First. ${DOWN} [connect]`],
    [
      'above, ungrouped, another object',
      element('SecondLine'),
      element('Third'),
      `R6: SecondLine and Third are in different objects (1 and 3 of orders.json). ${ONE_OBJECT}`,
    ],
    ['above, one of each', element('Line'), element('First'), `R6: Line was chosen with grouping on and First with grouping off. ${VIEWS}`],
    ['another branch, grouped', element('Line'), element('Payment'), BRANCHES],
    ['another branch, ungrouped', element('FirstLine'), element('FirstPayment'), BRANCHES.replace('Order', 'First')],
    [
      'another branch, one of each',
      element('Line'),
      element('FirstPayment'),
      `R6: Line was chosen with grouping on and FirstPayment with grouping off. ${VIEWS}`,
    ],
    ['no level, grouped', element('Payment'), element('currency'), 'edge same'],
    ['no level, ungrouped', element('FirstLine'), element('currency'), 'edge same'],
    ['no level, flat', people, element('Shop'), 'edge same'],
    [
      'another input, entity, grouped',
      element('Line'),
      element('Part'),
      'join join (Line and Part come from different inputs. Say which fields match.)',
    ],
    ['another input, entity, ungrouped', element('First'), people, `R6: First ${SINGLE}`],
    ['another input, entity, to an ungrouped one', people, element('First'), `R6: First ${SINGLE}`],
    [
      'another input, entity, one of each',
      element('Part'),
      element('First'),
      `R6: Part was chosen with grouping on and First with grouping off. ${VIEWS}`,
    ],
    [
      'another input, entity, flat',
      people,
      element('Order'),
      'join join (Person and Order come from different inputs. Say which fields match.)',
    ],
    [
      'another input, field, grouped',
      element('Part'),
      TOTAL,
      'X2: total is in orders.json, Part in parts.xml. Make an entity of the order and join it. [connect]',
    ],
    ['another input, field, ungrouped', people, field('orders:[0].total'), `R6: total ${SINGLE}`],
    ['another input, attribute, ungrouped', people, element('firstTotal'), `R6: total ${SINGLE}`],
    [
      'another input, field, one of each',
      element('Part'),
      field('orders:[0].total'),
      `R6: Part was chosen with grouping on and total with grouping off. ${VIEWS}`,
    ],
    ['another input, field to field, ungrouped', field('people:id'), field('orders:[0].id'), `R6: id ${SINGLE}`],
    [
      'another input, field to field, one of each',
      field('parts:parts.part[*].@id'),
      field('orders:[0].id'),
      `R6: @id was chosen with grouping on and id with grouping off. ${VIEWS}`,
    ],
  ])('%s', (_, from, to, expected) => {
    const both = entity('both', 'orders', template('urn:', 'orders:[*].lines[*].sku', '-', 'orders:[*].lines[*].qty'));
    expect(told(judge(from, to, {}, model([...SHOP_RECORDS, both])))).toBe(expected);
  });
});

describe('what a refusal offers', () => {
  test('the edge the other way leads from the entity above', () => {
    const verdict = judge(element('Line'), element('Order'));
    expect(verdict.ok === false && verdict.instead).toMatchObject({
      command: 'connect',
      argument: { from: { kind: 'element', id: 'Order' }, to: { kind: 'element', id: 'Line' } },
    });
  });

  test('an expert writes the path upwards in XML', () => {
    const verdict = judge(element('Bolt'), field('parts:parts.part[*].@id'), {}, shop({ expert: true }));
    expect(verdict.ok === false && verdict.instead).toMatchObject({ command: 'open-text', argument: { of: 'Bolt', path: '../@id' } });
  });

  test('an edge upwards is written with `../`, read again, and drawn with a warning', async () => {
    const records = [input('parts', 'xml'), ...SHOP_RECORDS.filter(({ id }) => id === 'Part' || id === 'Bolt')];
    const expert = model(records, { expert: true });
    const value = drawUpwards.perform(expert, { of: 'Bolt', to: ref('parts:parts.part[*].@id') });
    const edge = isRefusal(value) ? value : drawUpwards.perform(value, { of: 'Bolt', to: 'Part' });
    if (isRefusal(edge)) throw new Error(edge.sentence);
    const { text = '', diagnostics } = await print(edge, 'rml');
    expect(diagnostics).toEqual([]);
    expect(text).toContain('rml:reference "../@id"');
    expect(text).toContain('rml:template "https://example.org/part/{../@id}"');
    const again = (await read(text, undefined)).document;
    expect(recordsOf(again, 'text')).toEqual([]);
    const found = findingsIn(again);
    expect(found.map(({ severity, invariant }) => [severity, invariant])).toEqual([
      ['warning', 'I3'],
      ['warning', 'I3'],
    ]);
    // What the canvas, the outline, the inspector and the problems show of them.
    const sentence = /is nested in bolt, below .*\. An edge runs within one level or downwards\. An expert may edit the XPath/;
    for (const document of [edge, again])
      expect(recordsOf(document, 'edge').map((one) => warningOf(document, one))).toEqual([
        expect.stringMatching(sentence),
        expect.stringMatching(sentence),
      ]);
    expect(recordsOf(shop(), 'edge').map((one) => warningOf(shop(), one))).toEqual(recordsOf(shop(), 'edge').map(() => undefined));
    expect(drawUpwards.perform(model(records), { of: 'Bolt', to: 'Part' })).toMatchObject({ rule: 'R3' });
  });

  test('the edge that is there is selected', () => {
    const document = model([...SHOP_RECORDS, edge('drawn', 'Order', 'Line', 'down', [])]);
    const verdict = judge(element('Order'), element('Line'), {}, document);
    expect(told(verdict)).toBe('X3: Order has this edge already. [select]');
    expect(verdict.ok === false && verdict.instead).toEqual({ command: 'select', argument: { ids: ['drawn'] } });
  });
});

describe('X3', () => {
  test('a field that is an attribute with these predicates already', () =>
    expect(told(judge(element('Order'), TOTAL, { predicates: ['urn:has-total'] }))).toBe('X3: Order has this edge already. [select]'));
  test('another predicate is another edge', () =>
    expect(told(judge(element('Order'), TOTAL, { predicates: ['urn:sum'] }))).toBe('attribute same'));
});

describe('form', () => {
  test('a field above the iteration needs a view in JSON, and none in XML', () => {
    const json = entity('Deep', 'orders', template('urn:', 'orders:[*].id', 'orders:[*].lines[*].sku'));
    const xml = entity('Deep', 'parts', template('urn:', 'parts:parts.part[*].@id', 'parts:parts.part[*].bolt[*].@size'));
    const of = (one: typeof json, to: End): string => told(judge(element('Deep'), to, {}, model([...SHOP_RECORDS, one])));
    expect(of(json, field('orders:[*].lines[*].qty'))).toBe('attribute view');
    expect(of(xml, field('parts:parts.part[*].bolt[*].@size'))).toBe('attribute same');
  });

  test('a root object is one object in both views', () => {
    const document = model([input('shop', 'json'), entity('Shop', 'shop', template('urn:', 'shop:name'))]);
    const fields = schema({ shop: ['name', 'items[]', 'items[*].id'] });
    const to = (text: string): string => told(mayConnect(document, fields, element('Shop'), field(text)));
    expect(to('shop:items[*].id')).toBe('attribute down');
    expect(to('shop:items[2].id')).toBe('attribute same');
  });
});

test('an element that has been removed is reported', () =>
  expect(told(judge(element('Order'), element('gone')))).toBe('I1: This element is not in the model any more.'));
test('the canvas begins no edge', () =>
  expect(told(judge(CANVAS, element('Order')))).toBe('R1: No edge begins on the empty canvas. Begin at a field or an entity.'));
test('an attribute made by a function takes nothing behind it', () => {
  const call = { kind: 'call', function: 'urn:f#upper', arguments: [{ parameter: 'urn:p', value: reads('orders:[*].total') }] } as const;
  const document = model([...SHOP_RECORDS, { kind: 'attribute', id: 'made', value: call, termType: 'literal' }]);
  expect(told(judge(TOTAL, element('made'), { append: true }, document))).toBe(
    'R1: upper(total) is made by a function or written by hand. Nothing can be appended to it.',
  );
});
