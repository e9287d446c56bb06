/** Random sequences of commands: invariants, undo and redo, and what is said against what is done. The seed is part of each case's name. */
import { describe, expect } from '@jest/globals';
import { COMMANDS } from '../../../studio/core/commands/all.ts';
import { connect } from '../../../studio/core/commands/edges/connect.ts';
import { addEntity } from '../../../studio/core/commands/elements/entities.ts';
import { findingsIn } from '../../../studio/core/commands/invariants.ts';
import { mayConnect } from '../../../studio/core/connect/may-connect.ts';
import type { StudioDocument } from '../../../studio/core/document.ts';
import { recordOf, withRecords } from '../../../studio/core/elements/records.ts';
import { begin, perform, redo, type Session, undo } from '../../../studio/core/history/history.ts';
import { type Connect, isRefusal, type Refusal } from '../../../studio/core/rules/verdict.ts';
import { share, sharedTest, test } from '../../support/jest/extent.ts';
import { Random, seeds, soakSeeds } from '../../support/random.ts';
import { RandomCommands } from './support/random-command.ts';
import { SHOP_SCHEMA, shop } from './support/shop.ts';
import { lined, writeLines } from './support/write.ts';

const SEEDS = soakSeeds(1, 300);
const STEPS = 60;

/** Elements in their order, settings, text and ranges: all that undo restores. */
const whole = (document: StudioDocument): unknown => ({
  ...document,
  records: [...document.records.values()],
  text: { text: document.text.text, anchors: Object.fromEntries(document.text.anchors) },
});

/** Errors, and warnings that are not of edges that an expert drew. */
const wrong = (document: StudioDocument): readonly unknown[] =>
  findingsIn(document).filter(({ severity, message }) => severity === 'error' || !/Only entities have outgoing edges/.test(message));

/** As a text gives it that has two triples maps for one entity. */
function withTwoParts(document: StudioDocument): StudioDocument {
  const order = recordOf(document, 'entity', 'Order');
  return order === undefined ? document : withRecords(document, [{ ...order, parts: ['Order', 'More'] }]);
}

function expectSentence({ sentence, names }: Refusal): void {
  expect(sentence).toMatch(/^\S.*\.$/s);
  for (const name of names.filter((one) => one !== '')) if (sentence.includes(name)) return;
  expect(names.length === 0 || sentence === 'A literal cannot be the subject of a statement.' || names[0] === '').toBe(true);
}

describe('random commands', () => {
  sharedTest.each(share(15, SEEDS))('keep the invariants, and are undone and redone: seed %i', (seed) => {
    const random = new Random(seed);
    const commands = new RandomCommands(random, SHOP_SCHEMA);
    let session: Session = begin(lined(withTwoParts(shop())));
    const seen = new Map<number, unknown>([[0, whole(session.document)]]);
    for (let i = 0; i < STEPS; i++) {
      if (random.chance(0.15)) session = random.chance(0.6) ? undo(session) : redo(session);
      else {
        const { command, argument } = commands.next(session.document, ['fold']);
        expect(command.label(session.document, argument)).not.toBe('');
        const done = perform(session, command, argument, writeLines);
        if (isRefusal(done)) expectSentence(done);
        else {
          expect(done.said).not.toBe('');
          session = done.session;
          if (session.done.length > 0) seen.set(session.done.length, whole(session.document));
        }
      }
      expect(wrong(session.document)).toEqual([]);
      expect(whole(session.document)).toEqual(seen.get(session.done.length));
    }
    const last = whole(session.document);
    const steps = session.done.length;
    while (session.done.length > 0) {
      session = undo(session);
      expect(whole(session.document)).toEqual(seen.get(session.done.length));
    }
    while (session.done.length < steps) session = redo(session);
    expect(whole(session.document)).toEqual(last);
  });

  sharedTest.each(share(8, SEEDS))('with folding, which is not undone, keep the invariants: seed %i', (seed) => {
    const random = new Random(seed);
    const commands = new RandomCommands(random, SHOP_SCHEMA);
    let session: Session = begin(lined(shop()));
    for (let i = 0; i < STEPS; i++) {
      const call = random.chance(0.3)
        ? { command: COMMANDS.fold as never, argument: { of: random.pick([...session.document.records.keys()]), open: [] } as never }
        : commands.next(session.document);
      const done = random.chance(0.3) ? undefined : perform(session, call.command, call.argument, writeLines);
      if (done === undefined) session = random.chance(0.6) ? undo(session) : redo(session);
      else if (!isRefusal(done)) session = done.session;
      expect(wrong(session.document)).toEqual([]);
    }
  });

  sharedTest.each(share(15, SEEDS))('connect what may be connected and nothing else: seed %i', (seed) => {
    const random = new Random(seed);
    const commands = new RandomCommands(random, SHOP_SCHEMA);
    let document = shop({ expert: random.chance(0.3) });
    for (let i = 0; i < STEPS; i++) {
      const drawn: Connect = {
        schema: SHOP_SCHEMA,
        from: commands.end(document),
        to: commands.end(document),
        options: commands.options(),
      };
      const verdict = mayConnect(document, drawn.schema, drawn.from, drawn.to, drawn.options);
      const after = connect.perform(document, drawn);
      expect(isRefusal(after)).toBe(!verdict.ok);
      if (!verdict.ok) {
        expectSentence(verdict);
        const { instead } = verdict;
        if (instead?.command === 'connect') expect(connect.perform(document, instead.argument)).not.toHaveProperty('sentence');
        if (instead?.command === 'add-entity') expect(addEntity.perform(document, instead.argument)).not.toHaveProperty('sentence');
      } else if (!isRefusal(after)) {
        const made = [...after.records.values()].filter(({ id }) => !document.records.has(id)).map(({ kind }) => kind);
        const wanted = { entity: 'entity', attribute: 'attribute', edge: 'edge', join: 'edge', value: undefined }[verdict.makes];
        const isCompleted = verdict.makes === 'join' && made.length === 0;
        if (!isCompleted && wanted !== undefined) expect(made).toContain(wanted);
        if (verdict.form !== undefined && !isCompleted) {
          expect([...after.records.values()].findLast(({ id, kind }) => kind === 'edge' && !document.records.has(id))).toBeDefined();
        }
        expect(wrong(after)).toEqual([]);
        document = random.chance(0.5) ? after : document;
      }
    }
  });

  test('are of every kind, each both carried out and refused where it can be', () => {
    const done = new Set<string>();
    const refused = new Set<string>();
    for (const seed of seeds(1, 120)) {
      const commands = new RandomCommands(new Random(seed), SHOP_SCHEMA);
      let document = withTwoParts(shop());
      for (let i = 0; i < STEPS; i++) {
        const { command, argument } = commands.next(document);
        const after = command.perform(document, argument);
        if (isRefusal(after)) refused.add(command.name);
        else if (after !== document) {
          done.add(command.name);
          document = after;
        }
      }
    }
    const never = ['set-expert', 'accept-suggestion', 'reject-suggestion', 'duplicate', 'paste', 'edit-text'];
    expect(Object.keys(COMMANDS).filter((name) => !done.has(name))).toEqual([]);
    expect(Object.keys(COMMANDS).filter((name) => !refused.has(name) && !never.includes(name))).toEqual([]);
  });
});
