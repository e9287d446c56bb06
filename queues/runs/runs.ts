/**
 * Runs as jobs of the queue: one each, transform or write. All state is in the queue.
 *
 * A run is submitted atomically. One listener per process receives outcomes for all waiting callers; slow polling covers lost events.
 */

import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobType, Queue } from 'bullmq';
import { DEFAULTS, type Snapshot } from '../../src/config/options/options.ts';
import { atMost } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { traceRun } from '../../src/core/telemetry/trace.ts';
import { answerOf, type QueueBackend } from '../backend/backend.ts';
import { bandOf, DEFAULT_URGENCY, priorityOf } from '../backend/fair-queueing.ts';
import { assertNotFollowed } from '../follow/record.ts';
import {
  ALL_SERVICES,
  type CancelPayload,
  type FunctionsRequest,
  lineOf,
  type Outcome,
  type RunPayload,
  type RunSource,
  type RunState,
  type RunView,
  SERVICE_QUEUES,
  type Service,
  type ServiceRequest,
} from '../jobs.ts';
import type { Runs } from './contract.ts';
import { outcomeOf, PLACES, type RunJob, viewOf } from './life.ts';
import { openResultListeners, type ResultListeners } from './result-listeners.ts';

export interface RunPolicy {
  /** How long, and how many, ended runs are kept. */
  readonly keepSeconds: number;
  readonly keepCount: number;
  /** Every ended run is kept at least this long, so that waiting callers receive its outcome. */
  readonly minKeepMs: number;
  /** Attempts of a run that fails with a transient error, and the delay before the second one, which doubles with each retry. */
  readonly attempts: number;
  readonly retryMs: number;
}

const MIN_KEEP_MS = 60_000;
const TRIM_MS = 5_000;

/** The policy set by the options. */
export function runPolicy(snapshot: Snapshot): RunPolicy {
  return {
    keepSeconds: snapshot.KEEP_RUNS_SECONDS,
    keepCount: snapshot.KEEP_RUNS_COUNT,
    minKeepMs: MIN_KEEP_MS,
    attempts: snapshot.RUN_ATTEMPTS,
    retryMs: snapshot.RETRY_SECONDS * 1000,
  };
}

/** A request must not hang when the queue is away. */
const ANSWER_MS = 2_000;
/** A cancel job fails only if the queue or the disk does. */
const CANCEL_OPTIONS = { attempts: 10, backoff: { type: 'exponential', delay: 1_000 }, removeOnComplete: true, removeOnFail: true };
const PAGE = 50;
/** Runs that have not ended are in the order in which they will be taken. The newest of at most so many are listed. */
const MAX_LIVE = 2_000;
/** Runs of a page that are viewed concurrently. */
const VIEW_CONCURRENCY = 10;
/** Each step of a long list must be answered in time; the whole list may take longer. */
const withinAnswerTime = <T>(step: Promise<T>): Promise<T> => answerOf(ANSWER_MS, step, 'The runs cannot be listed');

/** The caller of a run and its urgency. */
interface SubmitContext {
  readonly source: RunSource | undefined;
  readonly caller: string;
  readonly urgency: number;
}

export interface RunsOptions {
  /** Whose runs these are; default: all. */
  readonly services?: readonly Service[];
  /** Custom functions that a run begins with. */
  readonly functions?: () => FunctionsRequest | undefined;
}

/** @throws Fault service/unavailable */
export async function openRuns(
  backend: QueueBackend,
  policy: Partial<RunPolicy> | (() => RunPolicy) = {},
  { services = ALL_SERVICES, functions = () => undefined }: RunsOptions = {},
): Promise<Runs & { close(): Promise<void> }> {
  const currentPolicy = typeof policy === 'function' ? policy : () => ({ ...runPolicy(DEFAULTS), ...policy });
  const queueOf = (service: Service) => backend.queue<RunPayload, Outcome>(SERVICE_QUEUES[service].work);
  const queues = services.map(queueOf);
  /** An id does not say of which service the run is. */
  const find = async (id: string): Promise<RunJob | undefined> =>
    isRunId(id) ? (await Promise.all(queues.map((queue) => queue.getJob(id)))).find((job) => job !== undefined) : undefined;
  /** Opened on demand: every listener receives the events of all runs, and workers need none. */
  let opening: Promise<ResultListeners> | undefined;
  let opened: ResultListeners | undefined;
  const listeners = (): Promise<ResultListeners> => {
    opening ??= Promise.all(services.map((service) => backend.queueEvents(SERVICE_QUEUES[service].work)))
      .then((events) =>
        openResultListeners(events, async (id) => {
          const job = await find(id);
          return job === undefined ? 'unknown' : outcomeOf(job);
        }),
      )
      .then((all) => {
        opened = all;
        return all;
      })
      .catch((error) => {
        opening = undefined;
        throw error;
      });
    return opening;
  };

  async function add(payload: RunPayload, priority: number): Promise<void> {
    const { keepSeconds, attempts, retryMs } = currentPolicy();
    // By age only: to keep a count, PostgreSQL would read all kept jobs whenever a job ends. `trim` limits the count.
    const keep = { age: keepSeconds };
    await queueOf(payload.service).add(payload.service === 'graph-writer' ? 'write' : 'transform', payload, {
      jobId: payload.runId,
      removeOnComplete: keep,
      removeOnFail: keep,
      priority,
      attempts,
      backoff: { type: 'exponential', delay: retryMs },
    });
  }

  /** By band and caller: runs that this process is currently submitting. */
  const pending = new Map<string, number>();

  /** Resolves to false where the queue has the run already. */
  async function addFairly(payload: RunPayload, caller: string, urgency: number): Promise<boolean> {
    const band = bandOf(SERVICE_QUEUES[payload.service].work, urgency);
    const key = `${band.queue} ${urgency} ${caller}`;
    const before = pending.get(key) ?? 0;
    pending.set(key, before + 1);
    try {
      const tag = await backend.fairQueueing.startTagOf(payload.runId, band, caller, before);
      if (tag === undefined) return false;
      const line = lineOf(payload);
      if (line !== undefined) await backend.datasetLines.join(line, payload.runId);
      opened?.expect(payload.runId);
      await add(payload, priorityOf(band, tag));
      return true;
    } finally {
      const after = (pending.get(key) ?? 1) - 1;
      if (after > 0) pending.set(key, after);
      else pending.delete(key);
    }
  }

  /** Removes the oldest ended runs beyond `keepCount`. Runs in every process; repeating it is harmless. */
  async function trim(): Promise<void> {
    const { keepCount, minKeepMs } = currentPolicy();
    for (const queue of queues) {
      for (const [state, count] of Object.entries(await queue.getJobCounts('completed', 'failed'))) {
        if (count > keepCount) await queue.clean(minKeepMs, count - keepCount, state as 'completed' | 'failed');
      }
    }
  }
  let trimming: Promise<void> | undefined;
  const trimmer = setInterval(
    () => {
      // A queue that is away reports that itself; the next interval trims.
      trimming ??= trim()
        .catch(() => undefined)
        .finally(() => {
          trimming = undefined;
        });
      // Jitter, so that processes started together do not all remove the same runs at once.
    },
    TRIM_MS * (0.8 + 0.4 * Math.random()),
  ).unref();

  async function submitOnce(request: ServiceRequest, key: string | undefined, digest: string, { source, caller, urgency }: SubmitContext) {
    const id = key === undefined ? `r${randomBytes(16).toString('hex')}` : runIdOfKey(request.service, key);
    traceRun({ run: id });
    // JSON has no undefined: the value is absent or null.
    if (request.service !== 'graph-writer' && request.dataset != null) await assertNotFollowed(backend.settings, request.dataset);
    const ticket = randomBytes(12).toString('hex');
    const own = request.service === 'graph-writer' ? request : { ...request, functions: functions() };
    const payload: RunPayload = { ...own, runId: id, submittedAt: new Date().toISOString(), digest, ticket, source };
    if (key === undefined) {
      await addFairly(payload, caller, urgency);
      return { id, existing: false };
    }
    let added: boolean;
    let found: RunJob | undefined;
    do {
      added = await addFairly(payload, caller, urgency);
      found = await queueOf(request.service).getJob(id);
      // A run that was there may have been removed before it was looked at.
    } while (!added && found === undefined);
    if (found !== undefined && found.data.digest !== digest) {
      throw new Fault('request/conflict', 'This idempotency key was used for another request', {
        hint: `The earlier request made the run ${id}; use a new key`,
      });
    }
    return { id, existing: found !== undefined && found.data.ticket !== ticket };
  }

  const view = async (job: RunJob): Promise<RunView> => viewOf(job, job.finishedOn === undefined ? await job.getState() : 'unknown');

  /** Jobs of the queue in these states, in its order. */
  async function* jobsOf(queue: Queue<RunPayload, Outcome>, types: readonly JobType[]): AsyncGenerator<readonly RunJob[]> {
    for (let start = 0; ; start += PAGE) {
      const jobs = await withinAnswerTime(queue.getJobs([...types], start, start + PAGE - 1, false));
      // The queue returns an empty entry for a job removed between listing and reading.
      yield jobs.filter((job) => job?.data !== undefined);
      if (jobs.length < PAGE) return;
      await nextTurn();
    }
  }

  /** Runs that have not ended, newest first. */
  async function* liveRuns(queue: Queue<RunPayload, Outcome>, types: readonly JobType[]): AsyncGenerator<RunView> {
    const live: RunJob[] = [];
    for await (const jobs of jobsOf(queue, types)) {
      live.push(...jobs);
      if (live.length >= MAX_LIVE) break;
    }
    yield* views(live.sort((a, b) => b.timestamp - a.timestamp));
  }

  /** Runs that have ended, the last one first. A job contains its outcome. */
  async function* endedRuns(queue: Queue<RunPayload, Outcome>, type: JobType, state: RunState | undefined): AsyncGenerator<RunView> {
    for await (const jobs of jobsOf(queue, [type]))
      yield* views(jobs.filter((job) => state === undefined || outcomeOf(job)?.state === state));
  }

  async function* views(jobs: readonly RunJob[]): AsyncGenerator<RunView> {
    for (let i = 0; i < jobs.length; i += VIEW_CONCURRENCY)
      yield* await withinAnswerTime(Promise.all(jobs.slice(i, i + VIEW_CONCURRENCY).map(view)));
  }

  const get = async (id: string): Promise<RunView | undefined> => {
    const job = await find(id);
    return job === undefined ? undefined : view(job);
  };

  return {
    get,

    async submit(request, { idempotencyKey, digest = digestOf(request), source, caller, urgency = DEFAULT_URGENCY }) {
      const origin = { source, caller: caller ?? (source === undefined ? 'anonymous' : 'kafka'), urgency };
      return answerOf(ANSWER_MS, submitOnce(request, idempotencyKey, digest, origin), 'The run may not have been queued');
    },

    outcome: async (id, waitMs) => (await listeners()).wait(id, waitMs),

    async list({ service, state, limit }) {
      const found: RunView[] = [];
      const asked = services.filter((one) => service === undefined || one === service).map(queueOf);
      const types = state === undefined ? [...LIVE_TYPES, ...ENDED_TYPES] : PLACES[state];
      const live = types.filter((type) => LIVE_TYPES.includes(type));
      const ended = types.filter((type) => ENDED_TYPES.includes(type));
      const lists = asked.flatMap((queue) => [
        ...(live.length > 0 ? [liveRuns(queue, live)] : []),
        ...ended.map((type) => endedRuns(queue, type, state)),
      ]);
      for (const list of lists) {
        let count = 0;
        for await (const one of list) {
          if (state !== undefined && one.state !== state) continue;
          found.push(one);
          if (++count >= limit) break;
        }
      }
      return found.sort((a, b) => (a.submittedAt < b.submittedAt ? 1 : -1)).slice(0, limit);
    },

    async cancel(id) {
      const job = await find(id);
      if (job === undefined) return undefined;
      if (outcomeOf(job) === undefined) {
        const { work, cancel } = SERVICE_QUEUES[job.data.service];
        // Set the mark first: the worker that takes the run from here on sees it.
        await backend.jobChanges.amend(work, id, { cancelled: true });
        // No worker may take it for a long time. If one has taken it meanwhile, it sees the mark.
        const state = await job.getState();
        if (PLACES.retrying.some((place) => place === state)) {
          await backend.queue<CancelPayload>(cancel).add('cancel', { runId: id }, { jobId: id, ...CANCEL_OPTIONS });
        }
        await (await listeners()).wait(id, CANCEL_WAIT_MS);
      }
      return get(id);
    },

    async counts() {
      return answerOf(
        ANSWER_MS,
        (async () => {
          const counts = await Promise.all(
            queues.map((queue) => queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'completed', 'failed')),
          );
          const sum = (...names: string[]) =>
            counts.reduce((total, count) => names.reduce((subtotal, name) => subtotal + (count[name] ?? 0), total), 0);
          return {
            queued: sum('waiting', 'prioritized'),
            running: sum('active'),
            retrying: sum('delayed'),
            completed: sum('completed'),
            failed: sum('failed'),
          };
        })(),
        'The runs cannot be counted',
      );
    },

    async close() {
      clearInterval(trimmer);
      if (trimming !== undefined) await atMost(ANSWER_MS, trimming);
      await opening?.then((all) => all.close()).catch(() => undefined);
    },
  };
}

/** A worker notices within half a second, and its thread takes some time to stop. */
const CANCEL_WAIT_MS = 1_500;

const ENDED_TYPES: readonly JobType[] = ['completed', 'failed'];
const LIVE_TYPES: readonly JobType[] = ['waiting', 'prioritized', 'delayed', 'active'];

/** The queue has other things under names such as `meta` and `events`. */
const isRunId = (id: string): boolean => /^[rk][0-9a-f]{20,64}$/.test(id);

/** The run id for an idempotency key. */
export function runIdOfKey(service: string, key: string): string {
  return `k${createHash('sha256').update(`${service}\n${key}`).digest('hex').slice(0, 40)}`;
}

/** Covers what the client asked for, not the configuration snapshot. */
function digestOf(request: ServiceRequest): string {
  const { dataset } = request;
  const { mappings = [] } = request.service === 'graph-writer' ? {} : request;
  const asked = [request.service, request.inputs.map(({ name, url }) => [name ?? null, url]), mappings];
  const whole = dataset === undefined ? asked : [...asked, dataset.name];
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex');
}
