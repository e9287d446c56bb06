/**
 * How soon the jobs of a killed worker were restarted, from the queue's events and the logs of the workers.
 *
 * Two steps are needed: the queue recovers the job, which any running worker triggers; and after its backoff a running worker with free
 * capacity takes it. The clock runs while such a worker and the queue are available, and stops during the backoff.
 */
import { Redis } from 'ioredis';
import { SERVICE_QUEUES, type Service } from '../../../queues/jobs.ts';
import type { FleetProcess } from '../fleet/process.ts';
import { CONCURRENCY, LOCK_SECONDS, PREFIX, STALLED_SECONDS, type World } from '../fleet/world.ts';
import { type Latencies, LOOK_MS } from './delays.ts';
import type { InstanceLog } from './logs.ts';
import { leftSpans } from './reach.ts';
import { coveredMs, minus, overlaps, type Span, spanOf } from './spans.ts';

/** What a worker logs when it starts a job of a kind. */
const STARTED = { transform: 'run started', slice: 'slice started' } as const;
export type JobKind = keyof typeof STARTED;

/** Those of the load. */
export const LOAD_SERVICES = ['semi-structured-transformer', 'sql-transformer'] as const satisfies readonly Service[];
/** The queues of the load. Each has a separate worker, with its own capacity, in every process. */
export const JOB_QUEUES: Readonly<Record<string, JobKind>> = Object.fromEntries(
  LOAD_SERVICES.flatMap((service) => [
    [SERVICE_QUEUES[service].work, 'transform'],
    [SERVICE_QUEUES[service].slice, 'slice'],
  ]),
);
const serviceOf = (queue: string): Service =>
  LOAD_SERVICES.find((service) => Object.values(SERVICE_QUEUES[service]).includes(queue)) as Service;

export interface QueueEvent {
  /** Time of Redis, whose clock is that of this machine. */
  readonly at: number;
  readonly event: string;
  /** When a delayed job is due. */
  readonly due: number;
}

/** By queue and job. */
export type JobEvents = Readonly<Record<string, ReadonlyMap<string, readonly QueueEvent[]>>>;

/** All data about jobs in the queue and the logs. */
export interface Records {
  readonly events: JobEvents;
  readonly recoveries: readonly Recovery[];
  /** By queue: spans in which a running worker had capacity for a job of it, and the queue was available. */
  readonly free: Readonly<Record<string, readonly FreePlace[]>>;
}

/** A span in which this worker had capacity. */
export interface FreePlace extends Span {
  readonly worker: string;
}

/** One attempt of a job. */
interface Start {
  readonly job: string;
  readonly queue: string;
  readonly worker: FleetProcess;
  readonly killedAt: number | undefined;
  /**
   * From start to end, or to the death of its worker. An attempt whose lock is lost holds its place until its worker has stopped it, although
   * the queue has given the job to others.
   */
  readonly held: Span;
  /** Later events. */
  readonly later: readonly QueueEvent[];
}

export interface Recovery {
  readonly job: string;
  /** From the death of the worker to the next start. */
  readonly span: Span;
  /** The part of it in which recovery was possible. */
  readonly clockMs: number;
  readonly limitMs: number;
}

/**
 * Sequential steps after the lock has expired: a worker's timer fires and its check reaches the queue; the queue's answer reaches a waiting
 * worker, whose request reaches the queue.
 */
const STEPS = 2;
/** Processes reconnect to the queue within this time (docs/operations.md). */
export const QUEUE_RETURN_MS = 5_000;

/** Recoveries of all runs and slices that a killed worker held and that were restarted. */
export async function readRecords(world: World, logs: readonly InstanceLog[], delays: Latencies): Promise<Records> {
  const client = new Redis(world.redis.url);
  try {
    const names = Object.keys(JOB_QUEUES);
    const all = await Promise.all(names.map((queue) => readEvents(client, queue)));
    const events: JobEvents = Object.fromEntries(names.map((queue, i) => [queue, all[i] as JobEvents[string]]));
    const starts = Object.entries(events).flatMap(([queue, jobs]) => startsOf(jobs, queue, logs));
    const away = world.redis.away.map(({ from, to }) => spanOf(from, to + QUEUE_RETURN_MS));
    const up = minus(
      world.workers.flatMap((worker) => worker.up),
      away,
    );
    const free = (queue: string): readonly FreePlace[] =>
      world.workers.flatMap((worker) =>
        minus(freePlaces(worker, starts, queue, logs), away).map((span) => ({ ...span, worker: worker.name })),
      );
    const places = Object.fromEntries(names.map((queue) => [queue, free(queue)]));
    const recoveries = starts.flatMap(({ job, queue, killedAt, later: [back, ...later] }): readonly Recovery[] => {
      if (killedAt === undefined || (back?.event !== 'waiting' && back?.event !== 'delayed')) return [];
      const taken = later.find(({ event }) => event === 'active');
      if (taken === undefined) return [];
      const span = spanOf(killedAt, taken.at);
      const allowanceMs = STEPS * (delays.longest(span) + LOOK_MS);
      const limitMs = (LOCK_SECONDS + 2 * STALLED_SECONDS) * 1_000 + allowanceMs;
      const dueAt = Math.min(taken.at, Math.max(back.at, back.due));
      const clockMs = coveredMs(spanOf(killedAt, back.at), up) + coveredMs(spanOf(dueAt, taken.at), places[queue] ?? []);
      return [{ job, span, clockMs, limitMs }];
    });
    return { events, recoveries, free: places };
  } finally {
    client.disconnect();
  }
}

/**
 * Spans in which the worker was running, took jobs of the queue and had capacity for one. While it passes from one job to the
 * next it does not: however long a run waits for its turn, such moments of all others before it do not add up to a free place.
 */
function freePlaces(worker: FleetProcess, starts: readonly Start[], queue: string, logs: readonly InstanceLog[]): readonly Span[] {
  const held = starts.filter((start) => start.worker === worker && start.queue === queue).map((start) => start.held);
  const open = minus(worker.up, overlaps(held, CONCURRENCY)).filter((span) => !isHandOver(span, held));
  return minus(open, leftSpans(worker, serviceOf(queue), logs));
}

/** From the end of one job to the start of another, within the time that delays are measured in. */
export const isHandOver = ({ from, to }: Span, held: readonly Span[]): boolean =>
  to - from < LOOK_MS && held.some((span) => span.to === from) && held.some((span) => span.from === to);

/** Matches log lines, which name the worker, with events of the queue, which name the job. Exported for tests. */
export function startsOf(
  events: ReadonlyMap<string, readonly QueueEvent[]>,
  queue: string,
  logs: readonly InstanceLog[],
): readonly Start[] {
  const kind = JOB_QUEUES[queue] as JobKind;
  const jobs = new Map<string, string[]>();
  for (const job of events.keys()) {
    const name = kind === 'transform' ? job : job.replace(/^([^-]+)-.*-(\d+)$/, '$1 $2');
    jobs.set(name, [...(jobs.get(name) ?? []), job]);
  }
  return logs.flatMap(({ process: worker, instance: { killedAt }, lines }) =>
    lines.flatMap(({ at, msg, run, slice, attempt }): readonly Start[] => {
      if (msg !== STARTED[kind]) return [];
      const named = jobs.get(kind === 'transform' ? String(run) : `${run} ${slice}`) ?? [];
      const taken = named.flatMap((job) => {
        const all = events.get(job) as readonly QueueEvent[];
        const position = all.findLastIndex((event) => event.event === 'active' && event.at <= at);
        return position < 0 ? [] : [{ job, from: (all[position] as QueueEvent).at, later: all.slice(position + 1) }];
      });
      const last = taken.sort((a, b) => a.from - b.from).at(-1);
      if (last === undefined) return [];
      const next = last.later[0]?.at ?? Number.POSITIVE_INFINITY;
      const death = killedAt ?? Number.POSITIVE_INFINITY;
      const stopped = lines.findLast((line) => line.run === run && line.slice === slice && line.attempt === attempt)?.at ?? at;
      const held = spanOf(last.from, Math.min(Math.max(next, stopped), death));
      return [{ job: last.job, queue, worker, killedAt: death <= next ? killedAt : undefined, held, later: last.later }];
    }),
  );
}

/** Events that change the state of a job. */
const CHANGES: ReadonlySet<string> = new Set(['active', 'waiting', 'delayed', 'stalled', 'completed', 'failed', 'removed']);

async function readEvents(client: Redis, queue: string): Promise<ReadonlyMap<string, readonly QueueEvent[]>> {
  const events = new Map<string, QueueEvent[]>();
  for (const [id, fields] of await client.xrange(`${PREFIX}:${queue}:events`, '-', '+')) {
    const read = (name: string): string => fields[fields.indexOf(name) + 1] ?? '';
    const event = read('event');
    if (!CHANGES.has(event)) continue;
    const job = read('jobId');
    const all = events.get(job) ?? [];
    all.push({ at: Number.parseInt(id, 10), event, due: event === 'delayed' ? Number(read('delay')) : 0 });
    events.set(job, all);
  }
  return events;
}
