/** What takes the transform, write and slice jobs of the services of a process. */
import type { Job, Processor, Worker } from 'bullmq';
import type { QueueBackend, WorkerSettings } from '../../queues/backend/backend.ts';
import type { StalledBackoff } from '../../queues/backend/jobs/stalled-jobs.ts';
import { type Outcome, type RunPayload, SERVICE_QUEUES, type Service } from '../../queues/jobs.ts';
import type { Snapshot } from '../../src/config/options/options.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import type { ThreadPool } from '../threads/pool.ts';
import type { Attempts } from './attempts.ts';
import type { DatasetTurns } from './dataset-turns.ts';
import type { RunEnd } from './run-end.ts';
import { sliceAttempts } from './slices.ts';
import type { TaskSettings } from './task.ts';
import { transformAttempts } from './transform.ts';
import { type WriteSettings, writeAttempts } from './write.ts';

/** What takes one kind of job of a service. */
export interface JobWorker {
  readonly service: Service;
  readonly noun: 'run' | 'slice';
  readonly worker: Worker;
  readonly attempts: Pick<Attempts<RunPayload, unknown>, 'count' | 'lockLost' | 'requeueAll' | 'stopAccepting'>;
}

export interface JobWorkerOptions {
  readonly backend: QueueBackend;
  readonly pool: ThreadPool;
  readonly settings: TaskSettings & WriteSettings;
  readonly snapshot: Pick<Snapshot, 'WORKER_CONCURRENCY' | 'WRITE_CONCURRENCY'>;
  readonly turns: DatasetTurns;
  /** What follows the last attempt of a run. */
  readonly end: RunEnd;
  /** Of all workers. */
  readonly common: WorkerSettings;
  readonly logger: Logger;
}

/** A run that kills its workers must not block other runs until MAX_STARTS ends it. */
export const RUN_BACKOFF: StalledBackoff = { initialMs: 1_000, maxMs: 60_000 };
/** Short, because the run of a slice occupies a worker meanwhile. */
export const SLICE_BACKOFF: StalledBackoff = { initialMs: 1_000, maxMs: 1_000 };

/** Opens them; none takes jobs before it is run. */
export const openJobWorkers = (services: readonly Service[], options: JobWorkerOptions): readonly JobWorker[] =>
  services.flatMap((service) => workersOf(service, options));

function workersOf(service: Service, options: JobWorkerOptions): readonly JobWorker[] {
  const { backend, pool, settings, turns, end, logger } = options;
  const { WORKER_CONCURRENCY: concurrency, WRITE_CONCURRENCY } = options.snapshot;
  if (service === 'graph-writer') {
    const writes = writeAttempts(backend, pool, settings, turns, end, logger);
    return [open(service, 'run', SERVICE_QUEUES[service].work, writes, WRITE_CONCURRENCY, options)];
  }
  const { work, slice } = SERVICE_QUEUES[service];
  return [
    open(service, 'run', work, transformAttempts(service, backend, pool, settings, turns, end, logger), concurrency, options),
    // A separate worker with the same concurrency: transform jobs that wait for slices must not block the slices.
    open(service, 'slice', slice, sliceAttempts(service, backend, pool, settings, logger), concurrency, options),
  ];
}

function open<D extends RunPayload, W, R>(
  service: Service,
  noun: JobWorker['noun'],
  queue: string,
  attempts: Attempts<D, W, R>,
  concurrency: number,
  { backend, end, common, logger }: JobWorkerOptions,
): JobWorker {
  const process: Processor<D, R> = (job, token) => attempts.process(job, token as string);
  const stalledBackoff = noun === 'run' ? RUN_BACKOFF : SLICE_BACKOFF;
  const afterwards = (job: Job<D, R>): void => end.afterwards(job as unknown as Job<RunPayload, Outcome>);
  const ofRuns = noun === 'run' ? { afterwards } : {};
  const worker = backend.worker<D, R>(queue, process, { ...common, ...ofRuns, stalledBackoff, concurrency });
  worker.on('lockRenewalFailed', (ids: string[]) => attempts.lockLost(ids));
  worker.on('stalled', (id: string) => {
    METRICS.stalls.inc();
    logger.warn({ [noun]: id }, `${noun} stalled`);
  });
  if (noun === 'run') end.watch(worker as unknown as Worker<RunPayload, Outcome>);
  return { service, noun, worker: worker as unknown as Worker, attempts };
}
