/**
 * How soon the jobs of a killed worker were taken again, from the queue's own events and the logs of the workers.
 *
 * Two things must happen: the queue gives the job back, which any worker that is up sees to; and a worker that is up and has a free place
 * takes it. The clock runs while there is such a worker, and the queue is there.
 */
import { Redis } from 'ioredis';
import { type Delays, LOOK_MS } from './delays.ts';
import type { LifeLog } from './logs.ts';
import type { Member } from './member.ts';
import { coveredMs, minus, overlaps, type Span, spanOf } from './spans.ts';
import { LOCK_SECONDS, PLACES, PREFIX, STALLED_SECONDS, type World } from './world.ts';

const QUEUES = { 'run started': 'transform', 'slice started': 'slice' } as const;
type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

interface QueueEvent {
  /** By the clock of Redis, which is this machine's. */
  readonly at: number;
  readonly event: string;
}

/** One start of a job by a worker. */
interface Start {
  readonly job: string;
  readonly queue: QueueName;
  readonly worker: Member;
  readonly killedAt: number | undefined;
  /** From taken to ended, or to the death of its worker. */
  readonly held: Span;
  /** From there on. */
  readonly later: readonly QueueEvent[];
}

export interface Recovery {
  readonly job: string;
  /** From the death of the worker to the next start. */
  readonly span: Span;
  /** As much of it as somebody could have done what was to be done. */
  readonly clockMs: number;
  readonly limitMs: number;
}

/**
 * What must happen in time one after the other, once the lock has run out: a timer of a worker fires and its check reaches the queue; the
 * queue's answer reaches a worker that waits for jobs, and its own request the queue.
 */
const STEPS = 2;
/** Processes find the queue again within so long of its return (docs/operations.md). */
const QUEUE_RETURN_MS = 5_000;

/** Of every run and slice that a killed worker held and that was not given up. */
export async function readRecoveries(world: World, logs: readonly LifeLog[], delays: Delays): Promise<readonly Recovery[]> {
  const client = new Redis(world.redis.url);
  try {
    const starts = [...(await startsOf(client, 'transform', logs)), ...(await startsOf(client, 'slice', logs))];
    const away = world.redis.away.map(({ from, to }) => spanOf(from, to + QUEUE_RETURN_MS));
    const up = minus(
      world.workers.flatMap((worker) => worker.up),
      away,
    );
    const free = (queue: QueueName): readonly Span[] => minus(freePlaces(world.workers, starts, queue), away);
    const places = { transform: free('transform'), slice: free('slice') };
    return starts.flatMap(({ job, queue, killedAt, later: [back, ...later] }) => {
      if (killedAt === undefined || back?.event !== 'waiting') return [];
      const taken = later.find(({ event }) => event === 'active');
      if (taken === undefined) return [];
      const span = spanOf(killedAt, taken.at);
      const allowanceMs = STEPS * (delays.longest(span) + LOOK_MS);
      const limitMs = (LOCK_SECONDS + STALLED_SECONDS) * 1_000 + allowanceMs;
      const clockMs = coveredMs(spanOf(killedAt, back.at), up) + coveredMs(spanOf(back.at, taken.at), places[queue]);
      return [{ job, span, clockMs, limitMs }];
    });
  } finally {
    client.disconnect();
  }
}

/** When at least one worker that was up had a place for a job of the queue. */
function freePlaces(workers: readonly Member[], starts: readonly Start[], queue: QueueName): readonly Span[] {
  return workers.flatMap((worker) => {
    const held = starts.filter((start) => start.worker === worker && start.queue === queue).map((start) => start.held);
    return minus(worker.up, overlaps(held, PLACES));
  });
}

/** Pairs the lines of the logs, which name the worker, with the events of the queue, which name the job. */
async function startsOf(client: Redis, queue: QueueName, logs: readonly LifeLog[]): Promise<readonly Start[]> {
  const events = await readEvents(client, queue);
  const jobs = new Map<string, string[]>();
  for (const job of events.keys()) {
    const name = queue === 'transform' ? job : job.replace(/^([^-]+)-.*-(\d+)$/, '$1 $2');
    jobs.set(name, [...(jobs.get(name) ?? []), job]);
  }
  return logs.flatMap(({ member: worker, life: { killedAt }, lines }) =>
    lines.flatMap(({ at, msg, run, slice }): readonly Start[] => {
      if (QUEUES[msg as keyof typeof QUEUES] !== queue) return [];
      const named = jobs.get(queue === 'transform' ? String(run) : `${run} ${slice}`) ?? [];
      const taken = named.flatMap((job) => {
        const all = events.get(job) as readonly QueueEvent[];
        const position = all.findLastIndex((event) => event.event === 'active' && event.at <= at);
        return position < 0 ? [] : [{ job, from: (all[position] as QueueEvent).at, later: all.slice(position + 1) }];
      });
      const last = taken.sort((a, b) => a.from - b.from).at(-1);
      if (last === undefined) return [];
      const end = Math.min(last.later[0]?.at ?? Number.POSITIVE_INFINITY, killedAt ?? Number.POSITIVE_INFINITY);
      const died = killedAt !== undefined && end === killedAt;
      return [{ job: last.job, queue, worker, killedAt: died ? killedAt : undefined, held: spanOf(last.from, end), later: last.later }];
    }),
  );
}

/** What changes the state of a job. */
const CHANGES: ReadonlySet<string> = new Set(['active', 'waiting', 'delayed', 'completed', 'failed', 'removed']);

async function readEvents(client: Redis, queue: QueueName): Promise<ReadonlyMap<string, readonly QueueEvent[]>> {
  const events = new Map<string, QueueEvent[]>();
  for (const [id, fields] of await client.xrange(`${PREFIX}:${queue}:events`, '-', '+')) {
    const read = (name: string): string => fields[fields.indexOf(name) + 1] ?? '';
    const event = read('event');
    if (!CHANGES.has(event)) continue;
    const job = read('jobId');
    const all = events.get(job) ?? [];
    all.push({ at: Number.parseInt(id, 10), event });
    events.set(job, all);
  }
  return events;
}
