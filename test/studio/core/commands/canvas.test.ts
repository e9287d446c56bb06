/** Commands on the canvas: places, removing, copies; and suggestions that are accepted or rejected. */
import { describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../../../../studio/core/commands/all.ts';
import { copied, duplicate, paste } from '../../../../studio/core/commands/canvas/copies.ts';
import { align, fold, layOut, move } from '../../../../studio/core/commands/canvas/places.ts';
import { remove } from '../../../../studio/core/commands/canvas/remove.ts';
import { acceptSuggestion, rejectSuggestion } from '../../../../studio/core/commands/suggestions.ts';
import type { BlockPlace, Element } from '../../../../studio/core/document.ts';
import { constant, edge, input, join, model, reads } from '../support/model.ts';
import { perform } from '../support/perform.ts';
import { SHOP_RECORDS, shop } from '../support/shop.ts';

const place = (of: string, x: number, y: number, more: Partial<BlockPlace> = {}): BlockPlace => ({
  kind: 'place',
  id: `place-of-${of}`,
  of,
  x,
  y,
  open: [],
  pinned: false,
  ...more,
});

describe('places', () => {
  const document = model([...SHOP_RECORDS, place('Order', 10, 20, { width: 100 }), place('Line', 50, 5, { width: 40 })]);
  test('move pins a block', () => {
    expect(perform(document, move, { positions: [{ of: 'Order', x: 1, y: 2 }] }).changed).toMatchObject([{ x: 1, y: 2, pinned: true }]);
    expect(perform(document, move, { positions: [{ of: 'total', x: 1, y: 2 }] }).added).toMatchObject([{ of: 'total', pinned: true }]);
  });
  test.each([
    ['left', [10, 20, 10, 5]],
    ['right', [10, 20, 70, 5]],
    ['top', [10, 5, 50, 5]],
  ] as const)('align at the %s', (side, [ax, ay, bx, by]) => {
    const { records } = perform(document, align, { blocks: ['Order', 'Line'], side }).document;
    expect([records.get('place-of-Order'), records.get('place-of-Line')]).toMatchObject([
      { x: ax, y: ay },
      { x: bx, y: by },
    ]);
  });
  test('lay-out takes every block, also those that were moved by hand', () => {
    const moved = perform(document, move, { positions: [{ of: 'Order', x: 1, y: 2 }] }).document;
    const positions = ['Order', 'Line'].map((of) => ({ of, x: 7, y: 7 }));
    expect(perform(moved, layOut, { positions }).changed).toMatchObject([
      { of: 'Order', x: 7, y: 7, pinned: false },
      { of: 'Line', x: 7, y: 7, pinned: false },
    ]);
  });
  test('fold is not recorded', () => {
    expect(perform(document, fold, { of: 'Order', open: ['$[*].lines'] }).changed).toMatchObject([{ open: ['$[*].lines'], x: 10 }]);
    expect(fold.recorded).toBe(false);
  });
  test('refuse what has no place', () => {
    expect(perform(document, move, { positions: [{ of: 'has-total', x: 0, y: 0 }] }).refused).toBe(
      'Only blocks of the canvas have a place.',
    );
    expect(perform(document, move, { positions: [{ of: 'Order', x: Number.NaN, y: 0 }] }).refused).toBe('A position has two numbers.');
    expect(perform(document, align, { blocks: ['Order'], side: 'left' }).refused).toBe('Select two blocks or more to align them.');
    expect(perform(document, layOut, { positions: [{ of: 'gone', x: 0, y: 0 }] }).refused).toBeDefined();
    expect(perform(document, fold, { of: 'gone', open: [] }).refused).toBeDefined();
  });
});

describe('remove', () => {
  test('an entity with its edges, joins and the attributes that only it had', () => {
    const document = model([
      ...SHOP_RECORDS,
      edge('of', 'Order', 'Person', 'join'),
      join('keys', 'of', ['orders:[*].id', 'people:id']),
      edge('linked', 'Order', 'link'),
      edge('also', 'Invoice', 'link'),
      place('Order', 0, 0),
    ]);
    const { removed, said } = perform(document, remove, { ids: ['Order'] });
    expect(new Set(removed)).toEqual(new Set(['Order', 'total', 'has-total', 'of', 'keys', 'linked', 'place-of-Order']));
    expect(said).toBe('Removed Order, total, has-total, of, linked');
  });
  test('an edge alone: its attribute stays loose', () =>
    expect(perform(shop(), remove, { ids: ['has-total'] }).removed).toEqual(['has-total']));
  test('an input with all that reads it', () => {
    const document = model([input('people', 'csv'), ...SHOP_RECORDS.filter(({ id }) => ['Person', 'city', 'has-city'].includes(id))]);
    expect(perform(document, remove, { ids: ['Person', 'people'] }).document.records.size).toBe(0);
    expect(perform(document, remove, { ids: ['people'] }).refused).toBe('people.csv is read by Person, city. Remove them first.');
  });
  test('a graph: elements are in the others', () => {
    const graph: Element = { kind: 'graph', id: 'g', name: constant('urn:g') };
    const order = SHOP_RECORDS.find(({ id }) => id === 'Invoice') as Element & { kind: 'entity' };
    const document = model([input('orders', 'json'), graph, { ...order, graphs: ['g'] }]);
    expect(perform(document, remove, { ids: ['g'] })).toMatchObject({ removed: ['g'], changed: [{ id: 'Invoice', graphs: [] }] });
  });
  test('what is kept as text stays', () => {
    const text: Element = { kind: 'text', id: 'text', of: 'Order', anchor: { from: 0, to: 0 }, reason: 'a gather map' };
    const document = model([...SHOP_RECORDS, text]);
    expect(perform(document, remove, { ids: ['Order'] }).changed).toMatchObject([{ id: 'text', of: undefined }]);
    expect(perform(document, remove, { ids: ['text'] }).refused).toBe('This part is kept as text. Remove it there.');
  });
  test('refuses joins, and what is gone', () => {
    const document = model([...SHOP_RECORDS, edge('of', 'Order', 'Person', 'join'), join('keys', 'of')]);
    expect(perform(document, remove, { ids: ['keys'] }).refused).toBe('Joins and places are removed with what they belong to.');
    expect(perform(document, remove, { ids: ['gone'] }).refused).toBe('This element is not in the model any more.');
  });
});

describe('copies', () => {
  const graph: Element = { kind: 'graph', id: 'g', name: constant('urn:g') };
  const document = model([
    ...SHOP_RECORDS,
    graph,
    { ...edge('of', 'Order', 'Person', 'join'), graphs: ['g'] },
    join('keys', 'of', ['orders:[*].id', 'people:id']),
    place('Order', 10, 20),
  ]);
  test('duplicate an entity with its attributes, and its edges to others', () => {
    const { added, said } = perform(document, duplicate, { ids: ['Order'] });
    const [order, total] = added;
    expect(added).toMatchObject([
      { kind: 'entity', name: 'Order_2', parts: ['Order_2'] },
      { kind: 'attribute', value: reads('orders:[*].total') },
      { kind: 'edge', from: order?.id, to: total?.id, part: 'Order_2' },
      { kind: 'edge', from: order?.id, to: 'Person', form: 'join', graphs: ['g'] },
      { kind: 'place', of: order?.id, x: 42, y: 52 },
      { kind: 'join', conditions: [{ parent: reads('people:id') }] },
    ]);
    expect(said).toBe('Copied Order_2, total');
  });
  test('paste into another model, which finds its own inputs and graphs', () => {
    const other = model([
      { ...input('x1', 'json', 'orders.json') },
      { ...input('orders', 'csv', 'people.csv') },
      { ...graph, id: 'Order' },
    ]);
    const { added } = perform(other, paste, { records: copied(document, ['Order', 'Person']) });
    expect(added.filter(({ kind }) => kind === 'entity')).toMatchObject([{ input: 'x1' }, { input: 'orders' }]);
    expect(added.find((record) => record.kind === 'join')).toMatchObject({ conditions: [{ child: { ref: { input: 'x1' } } }] });
    expect(added.filter((record) => record.kind === 'edge').map(({ graphs }) => graphs)).toEqual([[], [], ['Order']]);
  });
  test('paste refuses what the model has no input for', () =>
    expect(perform(model([]), paste, { records: copied(document, ['Order']) }).refused).toBe(
      'This model has no input named orders.json. Add it first.',
    ));
  test('duplicate refuses nothing, and copies no edge alone', () =>
    expect(perform(document, duplicate, { ids: ['has-total'] }).added).toEqual([]));
});

describe('suggestions', () => {
  const open = model([...SHOP_RECORDS, edge('sum', 'Order', 'total', 'same', [])]);
  const suggestion = (predicate: string) => ({
    key: 'k',
    of: 'sum',
    change: { kind: 'predicates', edge: 'sum', predicates: [predicate] } as const,
    reason: 'It is named so.',
  });
  test('are accepted all or none', () => {
    const { changed } = perform(open, acceptSuggestion, { suggestions: [suggestion('urn:a')] });
    expect(changed).toMatchObject([{ id: 'sum', predicates: ['urn:a'] }]);
    expect(perform(open, acceptSuggestion, { suggestions: [suggestion('urn:a'), suggestion('relative')] }).refused).toBe(
      'relative is not an absolute IRI.',
    );
  });
  test('are rejected once', () => {
    const { document } = perform(open, rejectSuggestion, { keys: ['k', 'k'] });
    expect(document.rejected).toEqual(['k']);
    expect(perform(document, rejectSuggestion, { keys: ['k'] }).document).toBe(document);
  });
});

describe('every command', () => {
  test.each(Object.entries(COMMANDS))('%s has its name, and says when it is enabled', (name, command) => {
    expect(command.name).toBe(name);
    const nothing = command.enabled(shop(), { elements: [], fields: [] });
    const wrong = command.enabled(shop(), { elements: ['gone'], fields: [] });
    if (nothing !== true) expect(nothing.sentence).toMatch(/^Select .* first\.$/);
    if (nothing !== true) expect(wrong).not.toBe(true);
  });
  test('keys are unique', () => {
    const keys = Object.values(COMMANDS).flatMap((command) => ('keys' in command && command.keys ? [command.keys] : []));
    expect(new Set(keys).size).toBe(keys.length);
  });
  test('a selection of its kind enables a command', () => {
    expect(COMMANDS['add-class'].enabled(shop(), { elements: ['Order'], fields: [] })).toBe(true);
    expect(COMMANDS['add-class'].enabled(shop(), { elements: ['Order', 'total'], fields: [] })).not.toBe(true);
    expect(COMMANDS['add-entity'].enabled(shop(), { elements: [], fields: [{ input: 'people', path: [] }] })).toBe(true);
  });
});
