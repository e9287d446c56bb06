/**
 * Runs as flows of the queue: `announce` waits for its child, `transform` or `write`. All state is in the queue.
 *
 * A run is submitted atomically. One listener per process receives outcomes for all waiting callers; slow polling covers lost events.
 */

import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job, JobState, JobType, Queue } from 'bullmq';
import { DEFAULTS, type Snapshot } from '../../src/config/options/options.ts';
import { atMost } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import { traceRun } from '../../src/core/telemetry/trace.ts';
import { answerOf, type QueueBackend } from '../backend/backend.ts';
import { bandOf, DEFAULT_URGENCY, priorityOf } from '../backend/fair-queueing.ts';
import {
  ALL_SERVICES,
  type FunctionsRequest,
  type Outcome,
  type RunPayload,
  type RunProgress,
  type RunSource,
  type RunState,
  type RunView,
  SERVICE_QUEUES,
  type Service,
  type ServiceRequest,
} from '../jobs.ts';
import type { Runs } from './contract.ts';
import { cancelledFault, decodeFault, failedOutcome } from './outcome.ts';
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
/** Work jobs are kept longer: a delayed announce job still needs their result. */
const WORK_KEEP_FACTOR = 10;
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
/** Announcing fails only if the queue or the disk does; it is retried for about a quarter of an hour. */
const ANNOUNCE_RETRY = { attempts: 10, backoff: { type: 'exponential', delay: 1_000 } };
const PAGE = 50;
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

type RunJob = Job<RunPayload, Outcome>;

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
  const announcesOf = (service: Service) => backend.queue<RunPayload, Outcome>(SERVICE_QUEUES[service].announce);
  const announces = services.map(announcesOf);
  const workQueues = services.map((service) => backend.queue<RunPayload>(SERVICE_QUEUES[service].work));
  const workOf = ({ runId, service }: Pick<RunPayload, 'runId' | 'service'>) =>
    backend.queue<RunPayload>(SERVICE_QUEUES[service].work).getJob(runId);
  /** An id does not say of which service the run is. */
  const find = async (id: string): Promise<RunJob | undefined> =>
    (await Promise.all(announces.map((queue) => queue.getJob(id)))).find((job) => job !== undefined);
  const flows = backend.flowProducer();
  /** Opened on demand: every listener receives the events of all runs, and workers need none. */
  let opening: Promise<ResultListeners> | undefined;
  let opened: ResultListeners | undefined;
  const listeners = (): Promise<ResultListeners> => {
    opening ??= Promise.all(services.map((service) => backend.queueEvents(SERVICE_QUEUES[service].announce)))
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
    const common = { jobId: payload.runId, removeOnComplete: keep, removeOnFail: keep };
    const { announce, work } = SERVICE_QUEUES[payload.service];
    await flows.add({
      name: 'announce',
      queueName: announce,
      data: payload,
      opts: { ...common, ...ANNOUNCE_RETRY },
      children: [
        {
          name: payload.service === 'graph-writer' ? 'write' : 'transform',
          queueName: work,
          data: payload,
          opts: { ...common, priority, attempts, backoff: { type: 'exponential', delay: retryMs }, ignoreDependencyOnFailure: true },
        },
      ],
    });
  }

  /** By band and caller: runs that this process is currently submitting. */
  const pending = new Map<string, number>();

  async function addFairly(payload: RunPayload, caller: string, urgency: number): Promise<void> {
    const band = bandOf(SERVICE_QUEUES[payload.service].work, urgency);
    const key = `${band.queue} ${urgency} ${caller}`;
    const before = pending.get(key) ?? 0;
    pending.set(key, before + 1);
    try {
      await add(payload, priorityOf(band, await backend.fairQueueing.nextStartTag(band, caller, before)));
    } finally {
      const after = (pending.get(key) ?? 1) - 1;
      if (after > 0) pending.set(key, after);
      else pending.delete(key);
    }
  }

  /** Removes the oldest ended runs beyond `keepCount`. Runs in every process; repeating it is harmless. */
  async function trim(): Promise<void> {
    const { keepCount, minKeepMs } = currentPolicy();
    const trimQueue = async (queue: Queue, waitMs: number): Promise<void> => {
      for (const [state, count] of Object.entries(await queue.getJobCounts('completed', 'failed'))) {
        if (count > keepCount) await queue.clean(waitMs, count - keepCount, state as 'completed' | 'failed');
      }
    };
    for (const queue of announces) await trimQueue(queue, minKeepMs);
    for (const queue of workQueues) await trimQueue(queue, minKeepMs * WORK_KEEP_FACTOR);
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
    const ticket = randomBytes(12).toString('hex');
    const own = request.service === 'graph-writer' ? request : { ...request, functions: functions() };
    const payload: RunPayload = { ...own, runId: id, submittedAt: new Date().toISOString(), digest, ticket, source };
    if (key === undefined) {
      opened?.expect(id);
      await addFairly(payload, caller, urgency);
      return { id, existing: false };
    }
    const announceJobs = announcesOf(request.service);
    let found = await announceJobs.getJob(id);
    if (found === undefined) {
      // A work job may outlive its run; its old result must not be used for the new run.
      const stale = await workOf(payload);
      if (stale?.finishedOn !== undefined) await stale.remove();
      opened?.expect(id);
      await addFairly(payload, caller, urgency);
      found = await announceJobs.getJob(id);
    }
    if (found !== undefined && found.data.digest !== digest) {
      throw new Fault('request/conflict', 'This idempotency key was used for another request', {
        hint: `The earlier request made the run ${id}; use a new key`,
      });
    }
    return { id, existing: found !== undefined && found.data.ticket !== ticket };
  }

  async function view(job: RunJob): Promise<RunView> {
    const outcome = outcomeOf(job);
    const work = await workOf(job.data);
    const progress = typeof work?.progress === 'object' ? (work.progress as unknown as RunProgress) : undefined;
    return {
      id: job.data.runId,
      service: job.data.service,
      state: outcome?.state ?? (await liveState(work)),
      attempts: work?.attemptsStarted ?? 0,
      submittedAt: job.data.submittedAt,
      startedAt: isoTime(work?.processedOn),
      endedAt: outcome === undefined ? undefined : isoTime(job.finishedOn),
      progress: progress && shownProgress(progress, outcome),
      input: job.data.inputs.map((input) => redact(input.url)),
      outcome,
    };
  }

  async function* views(queue: Queue<RunPayload, Outcome>, types: JobType[], wanted: (job: RunJob) => boolean): AsyncGenerator<RunView> {
    for (let start = 0; ; start += PAGE) {
      const jobs = await withinAnswerTime(queue.getJobs(types, start, start + PAGE - 1, false));
      // The queue returns an empty entry for a job removed between listing and reading.
      const chosen = jobs.filter((job) => job?.data !== undefined && wanted(job));
      for (let i = 0; i < chosen.length; i += VIEW_CONCURRENCY)
        yield* await withinAnswerTime(Promise.all(chosen.slice(i, i + VIEW_CONCURRENCY).map(view)));
      if (jobs.length < PAGE) return;
      await nextTurn();
    }
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
      const asked = services.filter((one) => service === undefined || one === service);
      const types = LIST_TYPES.filter((some) => state === undefined || state in ENDED === (some === ENDED_TYPES));
      // Ended jobs contain their state; that of the others is read from the queue.
      const wanted = (job: RunJob): boolean => state === undefined || !(state in ENDED) || outcomeOf(job)?.state === state;
      for (const [queue, some] of asked.flatMap((one) => types.map((some) => [announcesOf(one), some] as const))) {
        let count = 0;
        for await (const one of views(queue, [...some], wanted)) {
          if (state !== undefined && one.state !== state) continue;
          found.push(one);
          if (++count >= limit) break;
        }
      }
      return found.sort((a, b) => (a.submittedAt < b.submittedAt ? 1 : -1)).slice(0, limit);
    },

    async cancel(id) {
      const announce = await find(id);
      if (announce === undefined) return undefined;
      if (outcomeOf(announce) === undefined) {
        // Set the mark first: whatever happens to the job from here on, its worker and announce will see it.
        await markCancelled(announce);
        const work = await workOf(announce.data);
        if (work !== undefined && work.finishedOn === undefined) {
          await markCancelled(work);
          // It may have been started or ended since; an ended job is kept.
          if (WAITING.has(await work.getState())) await removeUnlessActive(work);
        }
        await (await listeners()).wait(id, CANCEL_WAIT_MS);
      }
      return get(id);
    },

    async counts() {
      return answerOf(
        ANSWER_MS,
        (async () => {
          const [announcing, work] = await Promise.all([
            Promise.all(announces.map((queue) => queue.getJobCounts('waiting', 'active', 'delayed'))),
            Promise.all(
              workQueues.map((queue) => queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'completed', 'failed')),
            ),
          ]);
          const sum = (counts: readonly Record<string, number>[], ...names: string[]) =>
            counts.reduce((total, count) => names.reduce((subtotal, name) => subtotal + (count[name] ?? 0), total), 0);
          return {
            queued: sum(work, 'waiting', 'prioritized'),
            running: sum(work, 'active') + sum(announcing, 'waiting', 'active', 'delayed'),
            retrying: sum(work, 'delayed'),
            completed: sum(work, 'completed'),
            failed: sum(work, 'failed'),
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

const WAITING: ReadonlySet<JobState | 'unknown'> = new Set(['waiting', 'prioritized', 'delayed'] as const);

const ENDED: Readonly<Partial<Record<RunState, boolean>>> = { completed: true, failed: true, cancelled: true };
const ENDED_TYPES: readonly JobType[] = ['completed', 'failed'];
const LIST_TYPES: readonly (readonly JobType[])[] = [['waiting-children'], ['waiting', 'active', 'delayed', 'prioritized'], ENDED_TYPES];

/** The outcome computed by announce; for an announce job that failed for good, a failure made from its error. */
function outcomeOf(job: RunJob): Outcome | undefined {
  if (job.finishedOn === undefined) return undefined;
  if (job.returnvalue !== null && typeof job.returnvalue === 'object') return job.returnvalue;
  const fault = job.data.cancelled === true ? cancelledFault() : decodeFault(job.failedReason);
  return failedOutcome(job.data, fault, new Date(job.finishedOn));
}

/** Without fields meant only for the next attempt; an ended run does not wait. */
function shownProgress({ records, quads, bytesRead, waiting }: RunProgress, outcome: Outcome | undefined): RunView['progress'] {
  return { records, quads, bytesRead, ...(waiting === undefined || outcome !== undefined ? {} : { waiting }) };
}

async function liveState(work: Job | undefined): Promise<RunState> {
  if (work === undefined) return 'running';
  switch (await work.getState()) {
    case 'waiting':
    case 'prioritized':
      return work.attemptsStarted > 0 ? 'retrying' : 'queued';
    case 'delayed':
      return 'retrying';
    default:
      return 'running';
  }
}

const markCancelled = (job: Job<RunPayload>): Promise<void> => job.updateData({ ...job.data, cancelled: true });

/** Removes a waiting job, which lets announce run; a job that just became active is left to its worker. */
async function removeUnlessActive(job: Job): Promise<void> {
  try {
    await job.remove();
  } catch (error) {
    if ((await job.getState()) === 'active') return;
    throw error;
  }
}

/** The run id for an idempotency key. */
export function runIdOfKey(service: string, key: string): string {
  return `k${createHash('sha256').update(`${service}\n${key}`).digest('hex').slice(0, 40)}`;
}

/** Covers what the client asked for, not the configuration snapshot. */
function digestOf(request: ServiceRequest): string {
  const mappings = request.service === 'graph-writer' ? [] : request.mappings;
  const asked = [request.service, request.inputs.map(({ name, url }) => [name ?? null, url]), mappings];
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex');
}

function isoTime(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
}
