/** Result listeners: one event listener per process and service for all waiting callers, plus slow polling in case an event is lost. */
import type { QueueEvents } from 'bullmq';
import { atMost } from '../../src/core/abort.ts';
import type { Outcome } from '../jobs.ts';
import { decodeOutcome, isOutcome } from './outcome.ts';

export interface ResultListeners {
  /** Call before a run is created: its outcome is kept, so that `wait` need not ask the queue first. */
  expect(id: string): void;
  /** Waits for the outcome; undefined after `waitMs` (0: no limit), if there is no such run, or on `close`. */
  wait(id: string, waitMs: number): Promise<Outcome | undefined>;
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;
const POLL_MS = 1_000;
/** Runs checked per poll, in rotation, so that many waiting callers cost no more than a few. */
const POLL_COUNT = 25;
/** Outcomes kept for runs that no request waits for yet; most runs are waited for at once or never. */
const MAX_EXPECTED = 1_000;

/** `events` are those of the queues of runs; `readOutcome` reads the outcome of a run from the queue; undefined: it has not ended. */
export function openResultListeners(
  events: readonly QueueEvents[],
  readOutcome: (id: string) => Promise<Outcome | undefined | 'unknown'>,
): ResultListeners {
  /** In polling order; polling moves a run to the end. */
  const waiting = new Map<string, Set<(outcome: Outcome | undefined) => void>>();
  /** undefined: expected, and no event received yet. */
  const expected = new Map<string, Outcome | undefined>();
  let polling = false;

  const resolveAll = (id: string, outcome: Outcome | undefined): void => {
    const all = waiting.get(id);
    if (all === undefined) return;
    waiting.delete(id);
    for (const resolve of all) resolve(outcome);
  };

  const take = (id: string, outcome: Outcome): void => {
    if (waiting.has(id)) resolveAll(id, outcome);
    else if (expected.has(id)) expected.set(id, outcome);
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
      // The queue is away and its connection reports that; the next poll asks again.
    } finally {
      polling = false;
    }
  };
  const timer = setInterval(() => void poll(), POLL_MS).unref();

  for (const one of events) {
    one.on('completed', ({ jobId, returnvalue }) => {
      if (isOutcome(returnvalue)) take(jobId, returnvalue);
    });
    one.on('failed', ({ jobId, failedReason }) => {
      const outcome = decodeOutcome(failedReason);
      if (outcome !== undefined) return take(jobId, outcome);
      expected.delete(jobId);
      if (waiting.has(jobId)) void check(jobId).catch(() => undefined);
    });
  }

  return {
    expect(id) {
      expected.set(id, undefined);
      if (expected.size > MAX_EXPECTED) expected.delete(expected.keys().next().value as string);
    },

    async wait(id, waitMs) {
      const received = expected.get(id);
      if (received !== undefined) {
        expected.delete(id);
        return received;
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
        // The run may have ended before the listener was added.
        if (!expected.delete(id)) await check(id);
        return await outcome;
      } finally {
        clearTimeout(timeout);
      }
    },

    async close() {
      clearInterval(timer);
      for (const id of [...waiting.keys()]) resolveAll(id, undefined);
      await atMost(CLOSE_MS, Promise.all(events.map((one) => one.close())));
    },
  };
}
