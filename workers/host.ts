/** A process that works: it takes transform and announce jobs from the queue, and stops in an orderly way. */
import { atMost, type QueueBackend } from '../queues/backend.ts';
import { ANNOUNCE_QUEUE, type Outcome, TRANSFORM_QUEUE, type TransformPayload, type TransformResult } from '../queues/jobs.ts';
import { directories } from '../src/config/directories.ts';
import type { ConfigStore } from '../src/config/store.ts';
import { type Logger, METRICS } from '../src/observe.ts';
import { announce } from './announce.ts';
import { ThreadPool } from './pool.ts';
import { Transforms } from './transform.ts';

export interface Workers {
  /** For readiness: whether jobs are being taken. */
  state(): { readonly running: boolean; readonly activeRuns: number };
  /**
   * Stops taking jobs, lets active ones end for at most `deadlineMs`, and gives the rest back to the queue. Does not
   * close the backend.
   */
  drain(deadlineMs: number): Promise<void>;
}

export interface HostOptions {
  /** What relative paths of requests start from. */
  readonly workingDirectory?: string;
  /** URL of a module that exports `executeRun`; only tests give one. */
  readonly engine?: string;
}

/** Announcing takes milliseconds, and must not wait behind itself when many runs end at once. */
const ANNOUNCE_CONCURRENCY = 8;
/** Stalls are bounded by MAX_STARTS, in the job's own words; BullMQ's bound must never come first. */
const NEVER = 1_000_000;
/** What an aborted run gets to stop, and the last announcements to go out. */
const LAST_MS = 5_000;

/** Takes jobs until `drain`. The settings are those of `config` at this moment. */
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
    maxStalledCount: NEVER,
    drainDelay: 5,
    runRetryDelay: 1_000,
  };
  const pool = new ThreadPool({ memoryMb: snapshot.THREAD_MEMORY_MB, engine: options.engine }, logger);
  const transforms = new Transforms(
    backend.queue<TransformPayload>(TRANSFORM_QUEUE),
    pool,
    { maxStarts: snapshot.MAX_STARTS, lockMs, spillDirectory: directories(snapshot, workingDirectory).spill, workingDirectory },
    logger,
  );
  const mapping = backend.worker<TransformPayload, TransformResult>(
    TRANSFORM_QUEUE,
    (job, token) => transforms.process(job, token as string),
    { ...common, concurrency: snapshot.WORKER_CONCURRENCY },
  );
  const announcing = backend.worker<TransformPayload, Outcome>(ANNOUNCE_QUEUE, (job) => announce(job, logger), {
    ...common,
    concurrency: ANNOUNCE_CONCURRENCY,
  });
  mapping.on('lockRenewalFailed', (ids: string[]) => transforms.lockLost(ids));
  mapping.on('stalled', (id) => {
    METRICS.stalls.inc();
    logger.warn({ run: id }, 'run stalled');
  });

  let running = true;
  let draining: Promise<void> | undefined;
  const run = (worker: typeof mapping | typeof announcing, name: string): void => {
    worker.run().catch((error: unknown) => {
      running = false;
      logger.error({ error, worker: name }, 'worker ended');
    });
  };
  await Promise.all([mapping.waitUntilReady(), announcing.waitUntilReady()]);
  pool.warm();
  run(mapping, TRANSFORM_QUEUE);
  run(announcing, ANNOUNCE_QUEUE);
  logger.info({ queue: backend.describe(), concurrency: snapshot.WORKER_CONCURRENCY }, 'workers started');

  const drainNow = async (deadlineMs: number): Promise<void> => {
    running = false;
    transforms.stopTaking();
    await mapping.pause(true);
    const idle = await until(() => transforms.count === 0, deadlineMs);
    if (!idle) {
      transforms.giveBack();
      await until(() => transforms.count === 0, LAST_MS);
    }
    const answers = await backend.ping(1_000).then(
      () => true,
      () => false,
    );
    // Only by force does BullMQ let go of a worker without an answer of the queue.
    await atMost(LAST_MS, mapping.close(!answers));
    // Whoever waits for a run that just ended shall hear of it, unless the queue is away.
    const announces = backend.queue(ANNOUNCE_QUEUE);
    if (answers) await until(async () => (await announces.getJobCountByTypes('waiting', 'active')) === 0, LAST_MS);
    await atMost(LAST_MS, announcing.close(!answers));
    await pool.close();
    logger.info('workers stopped');
  };

  return {
    state: () => ({ running: running && mapping.isRunning() && announcing.isRunning(), activeRuns: transforms.count }),
    drain(deadlineMs) {
      draining ??= drainNow(deadlineMs);
      return draining;
    },
  };
}

/** Whether `done` came true within `waitMs`; a queue that is away counts as not done. */
async function until(done: () => boolean | Promise<boolean>, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const answer = (async () => done())().catch(() => false);
    const left = deadline - Date.now();
    const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), Math.max(left, 0)).unref());
    if (await Promise.race([answer, late])) return true;
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
