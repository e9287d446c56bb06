/** Leases over a store that is slow, refuses, and loses answers; holders that are suspended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { type Lease, takeLease } from '../../../queues/follow/lease.ts';
import { assertNotFollowed, followerOf, noteTargetVersion, targetVersionOf } from '../../../queues/follow/record.ts';
import { checkFollowOptions } from '../../../queues/requests/follow.ts';
import type { SharedSettings } from '../../../queues/runs/contract.ts';
import { DEFAULTS, type OptionValues } from '../../../src/config/options/options.ts';
import { parseOption } from '../../../src/config/parse.ts';
import { Random } from '../../support/random.ts';

type Trouble = () => 'none' | 'refused' | 'lost answer';

/** @param waitMs before and after each access */
function storeOf(waitMs: () => number = () => 0, trouble: Trouble = () => 'none'): SharedSettings {
  const values = new Map<string, string>();
  const access = async <T>(act: () => T): Promise<T> => {
    await sleep(waitMs());
    const now = trouble();
    if (now === 'refused') throw new Error('the queue is away');
    const result = act();
    await sleep(waitMs());
    if (now === 'lost answer') throw new Error('the answer is lost');
    return result;
  };
  return {
    get: (key) => access(() => values.get(key)),
    compareAndSet: (key, expected, value) =>
      access(() => {
        if (values.get(key) !== expected) return false;
        values.set(key, value);
        return true;
      }),
    watch: () => () => undefined,
  };
}

const STATE = { service: 'sql-transformer', phase: 'starting' } as const;
const url = '/datasets/shop';
const never = new AbortController().signal;
const take = async (settings: SharedSettings, worker: string, lockMs: number): Promise<Lease> =>
  (await takeLease({ settings, url, worker, lockMs }, STATE, never)) as Lease;

describe('the lease of a follower', () => {
  test('a worker waits for another one, and has it as soon as that releases it', async () => {
    const settings = storeOf();
    const first = await take(settings, 'a', 2_000);
    const began = performance.now();
    const waiting = take(settings, 'b', 2_000);
    await sleep(300);
    expect((await followerOf(settings, url))?.worker).toBe('a');
    await first.release({ ...STATE, phase: 'starting' });
    const second = await waiting;
    expect(performance.now() - began).toBeLessThan(1_500);
    expect([first.lost.aborted, second.lost.aborted, (await followerOf(settings, url))?.worker]).toEqual([true, false, 'b']);
    await expect(first.confirm()).rejects.toThrow('lost the lease');
    await second.release({ ...STATE, phase: 'off' });
    expect(await followerOf(settings, url)).toBeUndefined();
  });

  test('a worker that gives no sign of life loses it', async () => {
    const settings = storeOf();
    let isAway = false;
    const dying: SharedSettings = { ...settings, get: (key) => (isAway ? Promise.reject(new Error('away')) : settings.get(key)) };
    const first = await take(dying, 'a', 400);
    await sleep(600);
    expect(first.lost.aborted).toBe(false);
    isAway = true;
    const second = await take(settings, 'b', 400);
    expect(first.lost.aborted).toBe(true);
    isAway = false;
    await expect(first.confirm()).rejects.toThrow('lost the lease');
    await second.release({ ...STATE, phase: 'off' });
  });

  test('who waits can stop', async () => {
    const settings = storeOf();
    const held = await take(settings, 'a', 400);
    const stop = new AbortController();
    const waiting = takeLease({ settings, url, worker: 'b', lockMs: 400 }, STATE, stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
    await held.release({ ...STATE, phase: 'off' });
  });

  test.each([1, 2, 3])('at no time two workers have it, whatever the store does (%i)', async (seed) => {
    const random = new Random(seed);
    const lockMs = 200;
    const settings = storeOf(
      () => (random.chance(0.03) ? random.between(0, 250) : random.between(0, 3)),
      () => (random.chance(0.9) ? 'none' : random.pick(['refused', 'lost answer'])),
    );
    const holders = new Set<string>();
    let turns = 0;
    let isOver = false;
    const work = async (worker: string): Promise<void> => {
      while (!isOver) {
        const lease = await take(settings, worker, lockMs);
        if (!lease.lost.aborted) {
          holders.add(worker);
          lease.lost.addEventListener('abort', () => holders.delete(worker));
          expect([...holders]).toEqual([worker]);
          turns++;
        }
        const until = performance.now() + random.between(0, 300);
        while (performance.now() < until && !lease.lost.aborted) {
          await sleep(random.between(1, 20));
          if (random.chance(0.2))
            await lease.confirm().then(
              () => expect([...holders]).toEqual([worker]),
              () => undefined,
            );
        }
        // It dies, or releases it.
        holders.delete(worker);
        await lease.release(STATE).catch(() => undefined);
      }
    };
    const all = ['a', 'b', 'c'].map(work);
    await sleep(1_500);
    isOver = true;
    await Promise.all(all);
    expect(turns).toBeGreaterThan(2);
  });
});

test('a run of a dataset that is followed is refused, as long as its record is fresh', async () => {
  const settings = storeOf();
  const dataset = { name: 'shop', url };
  await assertNotFollowed(settings, dataset);
  const lease = await take(settings, 'a', 2_000);
  await expect(assertNotFollowed(settings, dataset)).rejects.toMatchObject({ code: 'request/conflict' });
  await assertNotFollowed(settings, { name: 'other', url: '/datasets/other' });
  await lease.release({ ...STATE, phase: 'failed', reason: 'no such table' });
  await expect(assertNotFollowed(settings, dataset)).rejects.toMatchObject({ code: 'request/conflict' });
  const now = Date.now;
  try {
    Date.now = () => now() + 200_000;
    await assertNotFollowed(settings, dataset);
  } finally {
    Date.now = now;
  }
});

test('the version of the target is noted', async () => {
  const settings = storeOf();
  expect(await targetVersionOf(settings, url)).toBeUndefined();
  await noteTargetVersion(settings, url, 3);
  await noteTargetVersion(settings, url, 4);
  expect(await targetVersionOf(settings, url)).toBe(4);
});

test.each<[OptionValues, RegExp]>([[{ FOLLOW: true }, /FOLLOW is set, and DATASET is not/]])('%j is refused', (values, message) => {
  expect(() => checkFollowOptions({ ...DEFAULTS, ...values })).toThrow(message);
});

test.each([
  ['kafka://localhost:9092/shop.public.{table}', true],
  ['kafka://a:1,b:2/shop.{table}', true],
  ['kafka://localhost:9092/shop.public', false],
  ['kafka://user:secret@localhost:9092/shop.public.{table}', false],
  ['localhost:9092', false],
])('%s as FOLLOW_CHANGES: %p', (text, isRight) => {
  const parse = () => parseOption('FOLLOW_CHANGES', text);
  if (isRight) expect(parse()).toBe(text);
  else expect(parse).toThrow(/kafka:\/\/HOST:PORT/);
});
