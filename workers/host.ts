/** Worker process: takes transform, slice, write and announce jobs from the queue, and stops in an orderly way. */

import type { QueueBackend } from '../queues/backend/backend.ts';
import type { StalledBackoff } from '../queues/backend/stalled-jobs.ts';
import { registerWorker } from '../queues/backend/worker-registry.ts';
import { openFleetFunctions } from '../queues/custom-functions.ts';
import {
  ANNOUNCE_QUEUE,
  type Outcome,
  type RunPayload,
  SLICE_QUEUE,
  type SlicePayload,
  type SliceResult,
  TRANSFORM_QUEUE,
  type TransformPayload,
  type TransformResult,
  WRITE_QUEUE,
  type WritePayload,
  type WriteResult,
} from '../queues/jobs.ts';
import { targetOf } from '../queues/requests/writer.ts';
import { directories } from '../src/config/directories.ts';
import { assertLicensed } from '../src/config/licence.ts';
import type { Snapshot } from '../src/config/options/options.ts';
import { s3AccessOf, webAccessOf } from '../src/config/run-defaults.ts';
import type { ConfigStore } from '../src/config/store.ts';
import { atMost, within } from '../src/core/abort.ts';
import { Fault } from '../src/core/fault.ts';
import { type Logger, METRICS } from '../src/core/telemetry/observe.ts';
import type { DatabaseAccess } from '../src/run/request.ts';
import { announce, type DeleteSources, type PublishOutcome, type RecordProvenance } from './jobs/announce.ts';
import { deleteSources as deleteSourcesOf } from './jobs/delete-source.ts';
import { sliceAttempts } from './jobs/slices.ts';
import { cleanUpRun, transformAttempts } from './jobs/transform.ts';
import { cleanUpWrite, writeAttempts } from './jobs/write.ts';
import { writeProvenance } from './output/provenance.ts';
import { defaultProcessMemoryMb, watchMemory } from './threads/memory.ts';
import { ThreadPool } from './threads/pool.ts';

export interface Workers {
  /** For readiness: whether jobs are being taken. */
  state(): { readonly running: boolean; readonly activeRuns: number };
  /** Stops taking jobs, waits at most `deadlineMs` for active ones, and requeues the rest. Does not close the backend. */
  drain(deadlineMs: number): Promise<void>;
}

export interface HostOptions {
  /** Base of relative paths in requests. */
  readonly workingDirectory?: string;
  /** URL of a module that exports `executeRun`; for tests only. */
  readonly engine?: string;
  /** Undefined: outcomes produce no messages. */
  readonly publish?: PublishOutcome;
  /** Tells those who listen that the provenance of a run could not be recorded. */
  readonly provenanceFailed?: (run: RunPayload, fault: Fault) => Promise<void>;
  /** The embedded store, if this process has it. */
  readonly store?: { readonly endpoint: string };
}

/** Announcing takes milliseconds; with several at once, many runs that end together do not wait for each other. */
const ANNOUNCE_CONCURRENCY = 8;
/** A run that kills its workers must not block other runs until MAX_STARTS ends it. */
export const RUN_BACKOFF: StalledBackoff = { initialMs: 1_000, maxMs: 60_000 };
/** Short, because the run of a slice occupies a worker meanwhile. */
export const SLICE_BACKOFF: StalledBackoff = { initialMs: 1_000, maxMs: 1_000 };
/** Time for aborted runs to stop and for the last announcements. */
const STOP_GRACE_MS = 5_000;

/**
 * Takes jobs until `drain`. Uses the settings of `config` at this moment, except for the database and the target, which are read when a job
 * starts.
 */
export async function startWorkers(
  backend: QueueBackend,
  config: ConfigStore,
  logger: Logger,
  options: HostOptions = {},
): Promise<Workers> {
  const snapshot = config.snapshot();
  const workingDirectory = options.workingDirectory ?? process.cwd();
  const lockMs = snapshot.LOCK_SECONDS * 1000;
  const common = {
    lockDuration: lockMs,
    stalledInterval: snapshot.STALLED_SECONDS * 1000,
    drainDelay: 5,
    runRetryDelay: 1_000,
  };
  const functions = await openFleetFunctions(backend.settings, directories(snapshot, workingDirectory).functions);
  const pool = new ThreadPool({ memoryMb: snapshot.THREAD_MEMORY_MB, engine: options.engine }, logger);
  const settings = {
    maxStarts: snapshot.MAX_STARTS,
    lockMs,
    admit: async () => assertLicensed(await config.refresh(), Date.now()),
    spillDirectory: directories(snapshot, workingDirectory).spill,
    workingDirectory,
    database: async () => databaseOf(await config.refresh()),
    web: async () => webAccessOf(await config.refresh()),
    s3: async () => s3AccessOf(await config.refresh()),
    functionDirectory: async (version: string) => functions.directoryOf(version),
    target: async () => targetOf(await config.refresh(), options.store),
  };
  const transforms = transformAttempts(backend, pool, settings, logger);
  const slices = sliceAttempts(backend, pool, settings, logger);
  const writes = writeAttempts(backend, pool, settings, logger);
  const mapping = backend.worker<TransformPayload, TransformResult>(
    TRANSFORM_QUEUE,
    (job, token) => transforms.process(job, token as string),
    { ...common, stalledBackoff: RUN_BACKOFF, concurrency: snapshot.WORKER_CONCURRENCY },
  );
  // A separate worker with the same concurrency: transform jobs that wait for slices must not block the slices.
  const slicing = backend.worker<SlicePayload, SliceResult>(SLICE_QUEUE, (job, token) => slices.process(job, token as string), {
    ...common,
    stalledBackoff: SLICE_BACKOFF,
    concurrency: snapshot.WORKER_CONCURRENCY,
  });
  const writing = backend.worker<WritePayload, WriteResult>(WRITE_QUEUE, (job, token) => writes.process(job, token as string), {
    ...common,
    stalledBackoff: RUN_BACKOFF,
    concurrency: snapshot.WRITE_CONCURRENCY,
  });
  const cleanUp = (run: RunPayload): Promise<void> =>
    run.service === 'graph-writer' ? cleanUpWrite(run, settings) : cleanUpRun(run, settings);
  const deleteSources: DeleteSources = (run, startedAt) => deleteSourcesOf(run, startedAt, workingDirectory, logger, settings.s3);
  const recordProvenance: RecordProvenance = async (run, outcome, result) => {
    if (run.service === 'graph-writer' || run.provenance === undefined) return undefined;
    try {
      return await writeProvenance(run, outcome, result as TransformResult | undefined, workingDirectory, await settings.s3());
    } catch (error) {
      const fault = Fault.of(error);
      logger.warn({ run: run.runId, code: fault.code, reason: fault.message }, 'provenance not recorded');
      await options.provenanceFailed?.(run, fault);
      return undefined;
    }
  };
  const announcing = backend.worker<RunPayload, Outcome>(
    ANNOUNCE_QUEUE,
    (job) => announce(job, { recordProvenance, publish: options.publish, cleanUp, deleteSources }, logger),
    {
      ...common,
      concurrency: ANNOUNCE_CONCURRENCY,
    },
  );
  const jobWorkers = [
    { worker: mapping, attempts: transforms, name: TRANSFORM_QUEUE, noun: 'run' },
    { worker: slicing, attempts: slices, name: SLICE_QUEUE, noun: 'slice' },
    { worker: writing, attempts: writes, name: WRITE_QUEUE, noun: 'run' },
  ] as const;
  for (const { worker, attempts, noun } of jobWorkers) {
    worker.on('lockRenewalFailed', (ids: string[]) => attempts.lockLost(ids));
    worker.on('stalled', (id: string) => {
      METRICS.stalls.inc();
      logger.warn({ [noun]: id }, `${noun} stalled`);
    });
  }

  let running = true;
  let draining: Promise<void> | undefined;
  const run = (worker: Pick<typeof mapping, 'run'>, name: string): void => {
    worker.run().catch((error: unknown) => {
      running = false;
      logger.error({ error, worker: name }, 'worker ended');
    });
  };
  await Promise.all([...jobWorkers.map(({ worker }) => worker.waitUntilReady()), announcing.waitUntilReady()]);
  pool.warm();
  const watch = new AbortController();
  void watchMemory(pool, snapshot.PROCESS_MEMORY_MB ?? defaultProcessMemoryMb(), logger, watch.signal);
  for (const { worker, name } of jobWorkers) run(worker, name);
  run(announcing, ANNOUNCE_QUEUE);
  const registration = await registerWorker(backend.settings);
  logger.info({ queue: backend.describe(), concurrency: snapshot.WORKER_CONCURRENCY }, 'workers started');

  const drainNow = async (deadlineMs: number): Promise<void> => {
    running = false;
    for (const { attempts } of jobWorkers) attempts.stopAccepting();
    await registration.deregister();
    await Promise.all(jobWorkers.map(({ worker }) => worker.pause(true)));
    const isIdle = (): boolean => jobWorkers.every(({ attempts }) => attempts.count === 0);
    if (!(await waitUntil(isIdle, deadlineMs))) {
      for (const { attempts } of jobWorkers) attempts.requeueAll();
      await waitUntil(isIdle, STOP_GRACE_MS);
    }
    const answers = await backend.ping(1_000).then(
      () => true,
      () => false,
    );
    // Without an answer of the queue, BullMQ closes a worker only by force.
    await atMost(STOP_GRACE_MS, Promise.all(jobWorkers.map(({ worker }) => worker.close(!answers))));
    // Callers waiting for a run that just ended must receive its outcome, unless the queue is away.
    const announces = backend.queue(ANNOUNCE_QUEUE);
    if (answers) await waitUntil(async () => (await announces.getJobCountByTypes('waiting', 'active')) === 0, STOP_GRACE_MS);
    await atMost(STOP_GRACE_MS, announcing.close(!answers));
    watch.abort();
    await pool.close();
    logger.info('workers stopped');
  };

  return {
    state: () => ({
      running: running && jobWorkers.every(({ worker }) => worker.isRunning()) && announcing.isRunning(),
      activeRuns: transforms.count + writes.count,
    }),
    drain(deadlineMs) {
      draining ??= drainNow(deadlineMs);
      return draining;
    },
  };
}

/** Undefined if only the mapping names databases. */
function databaseOf({ JDBC_URL, DB_USER, DB_PASSWORD }: Snapshot): DatabaseAccess | undefined {
  return JDBC_URL === undefined ? undefined : { jdbcUrl: JDBC_URL, user: DB_USER, password: DB_PASSWORD };
}

/** Whether `done` became true within `waitMs`; a queue that is away counts as not done. */
async function waitUntil(done: () => boolean | Promise<boolean>, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const answer = (async () => done())().catch(() => false);
    if (await within(Math.max(deadline - Date.now(), 0), answer, () => false)) return true;
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
