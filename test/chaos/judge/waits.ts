/**
 * How long jobs waited and how often they were started, from the queue's events.
 *
 * A due job waits only for capacity. A stalled job also waits for its backoff, which grows each time: that limits how often a run is
 * restarted, and lets other runs continue.
 */
import type { StalledBackoff } from '../../../queues/backend/jobs/stalled-jobs.ts';
import { RUN_BACKOFF, SLICE_BACKOFF } from '../../../workers/jobs/job-workers.ts';
import { STALLED_SECONDS } from '../fleet/world.ts';
import { type Latencies, LOOK_MS } from './delays.ts';
import type { GroundTruth } from './ground-truth.ts';
import { type FreePlace, JOB_QUEUES, type JobEvents, type JobKind, type QueueEvent } from './recovery.ts';
import { coveredMs, type Span, spanOf } from './spans.ts';

const BACKOFFS: Readonly<Record<JobKind, StalledBackoff>> = { transform: RUN_BACKOFF, slice: SLICE_BACKOFF };
/** The worker's clock, which determines the end of a backoff, and Redis's clock, which orders events, are read one after the other. */
const CLOCKS_MS = 25;
/** As in `recovery.ts`: a check finds a job without notification, and a waiting worker takes it. */
const STEPS = 2;

export interface Waits {
  /** For one run: number of starts, and the longest uninterrupted wait in milliseconds. */
  readonly mostStarts: number;
  readonly longestMs: number;
  /** The longest part of a wait with free capacity. */
  readonly longestIdleMs: number;
  /** Where there was capacity then. */
  readonly idlePlaces: string;
}

/** Records violations. `free`: spans in which a worker had capacity for a job of the queue, and the queue was available. */
export function judgeWaits(
  events: JobEvents,
  free: Readonly<Record<string, readonly FreePlace[]>>,
  delays: Pick<Latencies, 'longest' | 'slowdown'>,
  ledger: GroundTruth,
): Waits {
  let [mostStarts, longestMs, longestIdleMs] = [0, 0, 0];
  let idlePlaces = '';
  for (const [queue, kind] of Object.entries(JOB_QUEUES)) {
    for (const [job, all] of events[queue] ?? []) {
      if (kind === 'transform') mostStarts = Math.max(mostStarts, all.filter(({ event }) => event === 'active').length);
      judgeBackoffs(job, all, BACKOFFS[kind], ledger);
      for (const span of waitsOf(all)) {
        const idleMs = coveredMs(span, free[queue] ?? []);
        const limitMs = STALLED_SECONDS * 1_000 * delays.slowdown(span) + STEPS * (delays.longest(span) + LOOK_MS);
        if (idleMs > limitMs) {
          const waited = `${queue} ${job} waited ${Math.round(idleMs)} ms from ${new Date(span.from).toISOString()} on`;
          ledger.violation(
            undefined,
            `${waited} while there was a free place (${placesWithin(span, free[queue] ?? [])}); ${Math.round(limitMs)} are allowed`,
          );
        }
        if (idleMs > longestIdleMs) {
          longestIdleMs = idleMs;
          idlePlaces = ` (${queue}: ${placesWithin(span, free[queue] ?? [])})`;
        }
        if (kind === 'transform') longestMs = Math.max(longestMs, span.to - span.from);
      }
    }
  }
  return { mostStarts, longestMs, longestIdleMs, idlePlaces };
}

/** As `worker-1 12:00:01.250Z + 400 ms`. */
const placesWithin = ({ from, to }: Span, places: readonly FreePlace[]): string =>
  places
    .map((place) => ({ ...place, from: Math.max(from, place.from), to: Math.min(to, place.to) }))
    .filter((place) => place.from < place.to)
    .sort((a, b) => a.from - b.from)
    .map((place) => `${place.worker} ${new Date(place.from).toISOString().slice(11)} + ${Math.round(place.to - place.from)} ms`)
    .join(', ');

/** Spans from due to started. */
function waitsOf(all: readonly QueueEvent[]): readonly Span[] {
  return all.flatMap(({ event, at }, i) => {
    const next = all[i + 1];
    return event === 'waiting' && next?.event === 'active' ? [spanOf(at, next.at)] : [];
  });
}

/** Backoff in milliseconds after the n-th loss, n from 1. */
const backoffAfter = (losses: number, { initialMs, maxMs }: StalledBackoff): number => Math.min(maxMs, initialMs * 2 ** (losses - 1));

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
