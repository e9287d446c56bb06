/** Undo and redo, steps that are merged, and edits of the text. */
import { describe, expect, test } from '@jest/globals';
import { fold, move } from '../../../../studio/core/commands/canvas/places.ts';
import { remove } from '../../../../studio/core/commands/canvas/remove.ts';
import type { Command } from '../../../../studio/core/commands/command.ts';
import { addClass, rename, setIdentifier } from '../../../../studio/core/commands/elements/entities.ts';
import { setExpert } from '../../../../studio/core/commands/elements/graphs.ts';
import type { StudioDocument } from '../../../../studio/core/document.ts';
import { begin, perform, redo, type Session, undo } from '../../../../studio/core/history/history.ts';
import { isRefusal } from '../../../../studio/core/rules/verdict.ts';
import { constant, edge, join, model, template } from '../support/model.ts';
import { SHOP_RECORDS, shop } from '../support/shop.ts';
import { lined, writeLines } from '../support/write.ts';

function done<A>(session: Session, command: Command<A>, argument: A): Session {
  const after = perform(session, command, argument, writeLines);
  if (isRefusal(after)) throw new Error(after.sentence);
  return after.session;
}

const to = (x: number, of = 'Order') => ({ positions: [{ of, x, y: 0 }] });
const orderOf = ({ records }: StudioDocument): readonly string[] => [...records.keys()];

describe('undo and redo', () => {
  test('restore the document, its order and its text', () => {
    const first = begin(lined(shop()));
    const second = done(first, remove, { ids: ['Order', 'Line'] });
    expect(second.document.text.text).not.toContain('"id":"Order"');
    const back = undo(second);
    expect(back.document).toEqual(first.document);
    expect(orderOf(back.document)).toEqual(orderOf(first.document));
    expect(redo(back).document).toEqual(second.document);
  });
  test('of what belongs to the whole document', () => {
    const session = done(begin(shop()), setExpert, { expert: true });
    expect(undo(session).document.expert).toBe(false);
    expect(redo(undo(session)).document.expert).toBe(true);
  });
  test('at the ends of the history change nothing', () => {
    const session = begin(shop());
    expect(undo(session)).toBe(session);
    expect(redo(session)).toBe(session);
  });
  test('a new step ends what could be redone', () => {
    const session = done(undo(done(begin(shop()), addClass, { id: 'Order', classes: ['urn:A'] })), addClass, {
      id: 'Order',
      classes: ['urn:B'],
    });
    expect(redo(session)).toBe(session);
  });
  test('a refused command, and one that changes nothing, leave no step', () => {
    const session = begin(shop());
    expect(isRefusal(perform(session, addClass, { id: 'Order', classes: ['A'] }, writeLines))).toBe(true);
    expect(done(session, addClass, { id: 'Order', classes: [] })).toBe(session);
  });
});

describe('steps', () => {
  test('of dragging are one', () => {
    const session = [to(1), to(2), to(3)].reduce((last, argument) => done(last, move, argument), begin(lined(shop())));
    expect(session.done).toHaveLength(1);
    expect(session.done[0]?.label).toBe('Move Order');
    expect(undo(session).document).toEqual(lined(shop()));
    expect(redo(undo(session)).document).toEqual(session.document);
  });
  test('of typing are one, with the text', () => {
    const first = begin(lined(shop()));
    const session = ['P', 'Pr', 'Product'].reduce((last, name) => done(last, rename, { id: 'Line', name }), first);
    expect(session.done).toHaveLength(1);
    expect(session.document.text.text).toContain('"name":"Product"');
    expect(undo(session).document).toEqual(first.document);
    expect(redo(undo(session)).document).toEqual(session.document);
  });
  test('of other elements, and behind an undone one, are their own', () => {
    expect(done(done(begin(shop()), move, to(1)), move, to(1, 'Line')).done).toHaveLength(2);
    const again = done(undo(done(done(begin(shop()), move, to(1)), addClass, { id: 'Order', classes: ['urn:A'] })), move, to(2));
    expect(again.done).toHaveLength(2);
  });
  test('keep the order of records that were removed and made again', () => {
    const document = model([
      ...SHOP_RECORDS,
      edge('of', 'Order', 'Person', 'join'),
      join('join-29', 'of', ['orders:[*].id', 'people:id']),
      edge('behind', 'Order', 'Invoice'),
    ]);
    const identifiers = [constant('urn:all'), template('urn:', 'people:id')];
    const session = identifiers.reduce((last, identifier) => done(last, setIdentifier, { id: 'Person', identifier }), begin(document));
    expect(session.done).toHaveLength(1);
    expect(orderOf(undo(session).document)).toEqual(orderOf(document));
    expect(orderOf(redo(undo(session)).document)).toEqual(orderOf(session.document));
  });
  test('are 500 at most', () => {
    let session = begin(shop());
    for (let i = 0; i < 510; i++) session = done(session, addClass, { id: 'Order', classes: [`urn:${i}`] });
    expect(session.done).toHaveLength(500);
    while (session.done.length > 0) session = undo(session);
    expect(session.document.records.get('Order')).toMatchObject({ classes: { length: 10 } });
  });
  test('folding is none, and its places go with their blocks', () => {
    const added = done(begin(shop()), addClass, { id: 'Order', classes: ['urn:A'] });
    const folded = done(added, fold, { of: 'Order', open: [] });
    expect(folded.done).toBe(added.done);
    const removed = undo(done(folded, remove, { ids: ['Order'] }));
    expect(removed.document.records.has('place-of-Order')).toBe(true);
  });
});

test('a command that edits the text itself is undone with it', () => {
  const type: Command<string> = {
    name: 'type',
    label: () => 'Type',
    role: 'operator',
    enabled: () => true,
    perform: (document, text) => ({ ...document, text: { ...document.text, text } }),
    said: () => 'Typed',
    recorded: true,
  };
  const session = done(begin(shop({ text: { text: 'a b c', anchors: new Map() } })), type, 'a X c');
  expect(undo(session).document.text.text).toBe('a b c');
  expect(redo(undo(session)).document.text.text).toBe('a X c');
});
