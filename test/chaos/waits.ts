/**
 * How long jobs waited and how often they were started, from the queue's own events.
 *
 * A job that may be taken waits for a place, and for nothing else. One that was lost waits for its pause besides, which grows with each loss:
 * that bounds how often a run is started, and lets the others go on.
 */
import { backoffAfter, type StalledBackoff } from '../../queues/backend/stalled-jobs.ts';
import { RUN_BACKOFF, SLICE_BACKOFF } from '../../workers/host.ts';
import { type Latencies, LOOK_MS } from './delays.ts';
import type { GroundTruth } from './ground-truth.ts';
import type { JobEvents, QueueEvent, QueueName } from './recovery.ts';
import { coveredMs, type Span, spanOf } from './spans.ts';
import { STALLED_SECONDS } from './world.ts';

const BACKOFFS: Readonly<Record<QueueName, StalledBackoff>> = { transform: RUN_BACKOFF, slice: SLICE_BACKOFF };
/** The clocks of the worker, which computes when a pause is over, and of Redis, which orders events, are read one after the other. */
const CLOCKS_MS = 25;
/** As in `recovery.ts`: a look finds what nobody was told of, and a worker that waits takes it. */
const STEPS = 2;

export interface Waits {
  /** Of one run: starts, and milliseconds that it waited for its turn at once. */
  readonly mostStarts: number;
  readonly longestMs: number;
  /** The longest of it in which there was a free place. */
  readonly longestIdleMs: number;
}

/** Writes what is wrong into the ledger. `free`: when a worker had a place for a job of the queue, and the queue was there. */
export function judgeWaits(
  events: JobEvents,
  free: Readonly<Record<QueueName, readonly Span[]>>,
  delays: Latencies,
  ledger: GroundTruth,
): Waits {
  let [mostStarts, longestMs, longestIdleMs] = [0, 0, 0];
  for (const queue of ['transform', 'slice'] as const) {
    for (const [job, all] of events[queue]) {
      if (queue === 'transform') mostStarts = Math.max(mostStarts, all.filter(({ event }) => event === 'active').length);
      judgeBackoffs(job, all, BACKOFFS[queue], ledger);
      for (const span of waitsOf(all)) {
        const idleMs = coveredMs(span, free[queue]);
        const limitMs = STALLED_SECONDS * 1_000 + STEPS * (delays.longest(span) + LOOK_MS);
        if (idleMs > limitMs) {
          const waited = `${queue} ${job} waited ${Math.round(idleMs)} ms from ${new Date(span.from).toISOString()} on`;
          ledger.violation(undefined, `${waited} while there was a free place; ${Math.round(limitMs)} are allowed`);
        }
        longestIdleMs = Math.max(longestIdleMs, idleMs);
        if (queue === 'transform') longestMs = Math.max(longestMs, span.to - span.from);
      }
    }
  }
  return { mostStarts, longestMs, longestIdleMs };
}

/** From when it may be taken to when it is. */
function waitsOf(all: readonly QueueEvent[]): readonly Span[] {
  return all.flatMap(({ event, at }, i) => {
    const next = all[i + 1];
    return event === 'waiting' && next?.event === 'active' ? [spanOf(at, next.at)] : [];
  });
}

function judgeBackoffs(job: string, all: readonly QueueEvent[], pause: StalledBackoff, ledger: GroundTruth): void {
  let losses = 0;
  for (const [i, { event, at }] of all.entries()) {
    if (event !== 'stalled') continue;
    const pauseMs = backoffAfter(++losses, pause);
    const next = all.slice(i).find((later) => later.event === 'active');
    if (next === undefined || next.at - at >= pauseMs - CLOCKS_MS) continue;
    ledger.violation(
      undefined,
      `${job} was started again ${next.at - at} ms after it was lost ${losses} times; the pause is ${pauseMs} ms`,
    );
  }
}
