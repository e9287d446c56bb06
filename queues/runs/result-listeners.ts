/** Who waits for the outcome of which run: one listener for all of them, and a slow round against lost events. */
import type { QueueEvents } from 'bullmq';
import { atMost } from '../backend/backend.ts';
import type { Outcome } from '../jobs.ts';

export interface ResultListeners {
  /** A run is about to be made: its outcome is remembered from now on, so that whoever waits for it need not ask first. */
  expect(id: string): void;
  /** The outcome; undefined when `waitMs` ran out (0: no limit), there is no such run, or the waiters were closed. */
  wait(id: string, waitMs: number): Promise<Outcome | undefined>;
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;
const POLL_MS = 1_000;
/** Runs asked for in one round; each waits its turn, so that many waiters cost no more than a few. */
const POLL_COUNT = 25;
/** Runs for which nobody has waited yet; most are waited for at once, or never. */
const MAX_EXPECTED = 1_000;

/** `ask` reads the outcome of a run from the queue: undefined while there is none. */
export function openResultListeners(
  events: QueueEvents,
  readOutcome: (id: string) => Promise<Outcome | undefined | 'unknown'>,
): ResultListeners {
  /** In the order in which they are asked for; asking moves a run to the end. */
  const waiting = new Map<string, Set<(outcome: Outcome | undefined) => void>>();
  /** undefined: expected, and not ended as far as this process has heard. */
  const expected = new Map<string, Outcome | undefined>();
  let polling = false;

  const resolveAll = (id: string, outcome: Outcome | undefined): void => {
    const all = waiting.get(id);
    if (all === undefined) return;
    waiting.delete(id);
    for (const resolve of all) resolve(outcome);
  };

  const check = async (id: string): Promise<void> => {
    const outcome = await readOutcome(id);
    if (outcome === 'unknown') resolveAll(id, undefined);
    else if (outcome !== undefined) resolveAll(id, outcome);
  };

  const poll = async (): Promise<void> => {
    if (polling) return;
    polling = true;
    try {
      for (const id of [...waiting.keys()].slice(0, POLL_COUNT)) {
        const all = waiting.get(id);
        if (all === undefined) continue;
        waiting.delete(id);
        waiting.set(id, all);
        await check(id);
      }
    } catch {
      // The queue is away; its connection reports that itself, and the next round asks again.
    } finally {
      polling = false;
    }
  };
  const timer = setInterval(() => void poll(), POLL_MS).unref();

  events.on('completed', ({ jobId, returnvalue }) => {
    if (waiting.has(jobId)) resolveAll(jobId, returnvalue as unknown as Outcome);
    else if (expected.has(jobId)) expected.set(jobId, returnvalue as unknown as Outcome);
  });
  events.on('failed', ({ jobId }) => {
    expected.delete(jobId);
    if (waiting.has(jobId)) void check(jobId).catch(() => undefined);
  });

  return {
    expect(id) {
      expected.set(id, undefined);
      if (expected.size > MAX_EXPECTED) expected.delete(expected.keys().next().value as string);
    },

    async wait(id, waitMs) {
      const heard = expected.get(id);
      if (heard !== undefined) {
        expected.delete(id);
        return heard;
      }
      let timeout: NodeJS.Timeout | undefined;
      const all = waiting.get(id) ?? new Set();
      waiting.set(id, all);
      const outcome = new Promise<Outcome | undefined>((resolve) => {
        all.add(resolve);
        if (waitMs > 0) {
          timeout = setTimeout(() => {
            all.delete(resolve);
            if (all.size === 0 && waiting.get(id) === all) waiting.delete(id);
            resolve(undefined);
          }, waitMs);
        }
      });
      try {
        // It may have ended before anybody listened.
        if (!expected.delete(id)) await check(id);
        return await outcome;
      } finally {
        clearTimeout(timeout);
      }
    },

    async close() {
      clearInterval(timer);
      for (const id of [...waiting.keys()]) resolveAll(id, undefined);
      await atMost(CLOSE_MS, events.close());
    },
  };
}
