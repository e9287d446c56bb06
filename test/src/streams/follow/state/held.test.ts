/** What an epoch takes of events, and the position that is written with it. */
import { describe, expect, test } from '@jest/globals';
import type { ChangeBatch, ChangeEvent } from '../../../../../src/streams/events.ts';
import { HeldEvents } from '../../../../../src/streams/follow/held.ts';
import { Random, seeds } from '../../../../support/random.ts';

const row = (position: string): ChangeEvent => ({ kind: 'row', table: 't', key: undefined, position, row: {} });
const mark = (kind: 'begin' | 'commit', transaction: string): ChangeEvent => ({ kind, transaction });
const snapshot = (state: 'begin' | 'end'): ChangeEvent => ({ kind: 'snapshot', table: 't', state });
const batch = (at: string, ...events: ChangeEvent[]): ChangeBatch => ({ events, position: { at }, bytes: 1, changedAt: undefined });

describe('events that are held', () => {
  test('up to an open transaction they are taken with the position behind the last batch that ended before it', () => {
    const held = new HeldEvents();
    held.add(batch('1', snapshot('begin'), snapshot('end')));
    held.add(batch('2', mark('begin', 'a'), row('a'), mark('commit', 'a'), mark('begin', 'b'), row('b')));
    const { events, position } = held.takeClean();
    expect(position).toEqual({ at: '1' });
    expect(events.at(-1)).toEqual(mark('commit', 'a'));
    held.add(batch('3', mark('commit', 'b')));
    expect(held.takeClean()).toEqual({ events: [mark('begin', 'b'), row('b'), mark('commit', 'b')], position: { at: '3' } });
  });

  test('a batch within a transaction has no position of an epoch', () => {
    const held = new HeldEvents();
    held.add(batch('1', mark('begin', 'a'), row('a')));
    expect(held.takeClean()).toEqual({ events: [], position: undefined });
    expect(held.takeAll().position).toEqual({ at: '1' });
    expect(held.isClean).toBe(false);
  });

  test.each(seeds(1, 20))('no change is lost, and no snapshot is read a second time: seed %d', (seed) => {
    const random = new Random(seed);
    const held = new HeldEvents();
    // What was added, with the number of the batch, and the number that the position names.
    const added: { readonly event: ChangeEvent; readonly batch: number }[] = [];
    let open = false;
    let taken = 0;
    let written = 0;
    for (let number = 1; number <= 100; number++) {
      // A snapshot is read between two transactions.
      const isSnapshot = !open && random.chance(0.3);
      const events: ChangeEvent[] = isSnapshot ? [snapshot('begin')] : [];
      for (let n = isSnapshot ? 0 : random.between(0, 4); n > 0; n--) {
        if (random.chance(0.4)) {
          events.push(mark(open ? 'commit' : 'begin', String(number)));
          open = !open;
        } else events.push(row(String(added.length)));
      }
      held.add(batch(String(number), ...events));
      added.push(...events.map((event) => ({ event, batch: number })));
      if (!random.chance(0.3) || !held.isClean) continue;
      const { events: found, position } = held.takeClean();
      expect(found).toEqual(added.slice(taken, taken + found.length).map(({ event }) => event));
      taken += found.length;
      written = Number(position?.at ?? written);
      // Nothing that is not taken is behind the position, and no snapshot is read a second time.
      expect(added.slice(taken).every((one) => one.batch > written)).toBe(true);
      expect(added.slice(0, taken).some((one) => one.batch > written && one.event.kind === 'snapshot')).toBe(false);
    }
  });
});
