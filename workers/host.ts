/** Worker process: takes the transform, slice, write and cancel jobs of its services from the queue, and stops in an orderly way. */

import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import type { QueueBackend } from '../queues/backend/backend.ts';
import { settingsOfService } from '../queues/backend/settings.ts';
import { registerWorker, watchWorkerRegistry } from '../queues/backend/worker-registry.ts';
import { callLimitsOf, type FleetFunctions, openFleetFunctions } from '../queues/custom-functions.ts';
import { noteTargetVersion } from '../queues/follow/record.ts';
import {
  ALL_SERVICES,
  type CancelPayload,
  type Outcome,
  type RunPayload,
  SERVICE_QUEUES,
  type Service,
  type TransformResult,
} from '../queues/jobs.ts';
import { followingService } from '../queues/requests/follow.ts';
import { targetOf } from '../queues/requests/writer.ts';
import { directories } from '../src/config/directories.ts';
import { assertLicensed } from '../src/config/licence.ts';
import { s3AccessOf, webAccessOf } from '../src/config/run-defaults.ts';
import type { ConfigStore } from '../src/config/store.ts';
import { atMost } from '../src/core/abort.ts';
import { Fault } from '../src/core/fault.ts';
import { type Logger, METRICS } from '../src/core/telemetry/observe.ts';
import { checkConnection, databaseOf, isUnreached } from './connections.ts';
import type { FollowerAnnouncements } from './follow/announce.ts';
import { type FollowerHealth, startFollower } from './follow/follower.ts';
import { cancelWaiting } from './jobs/cancel.ts';
import { datasetTurns } from './jobs/dataset-turns.ts';
import { deleteSources as deleteSourcesOf } from './jobs/delete-source.ts';
import { openJobWorkers } from './jobs/job-workers.ts';
import { openPreviewWorker } from './jobs/preview.ts';
import { previewAccess } from './jobs/preview-access.ts';
import { openRetention } from './jobs/retain-outputs.ts';
import { type DeleteSources, type PublishOutcome, type RecordProvenance, RunEnd } from './jobs/run-end.ts';
import { cleanUpRun } from './jobs/transform.ts';
import { cleanUpWrite } from './jobs/write.ts';
import { writeProvenance } from './output/provenance.ts';
import { type Reachability, watchReachability } from './reachability.ts';
import { defaultProcessMemoryMb, watchMemory } from './threads/memory.ts';
import { ThreadPool } from './threads/pool.ts';

export interface Workers {
  /** For readiness: whether jobs are being taken. */
  state(): { readonly running: boolean; readonly activeRuns: number };
  /** Of the dataset that the options name; undefined: no service of this process follows. */
  follower(): FollowerHealth | undefined;
  /** Stops taking jobs, waits at most `deadlineMs` for active ones, and requeues the rest. Does not close the backend. */
  drain(deadlineMs: number): Promise<void>;
}

export interface HostOptions {
  /** Whose runs are taken; default: those of all services. */
  readonly services?: readonly Service[];
  /** Base of relative paths in requests. */
  readonly workingDirectory?: string;
  /** URL of a module that exports `executeRun`; for tests only. */
  readonly engine?: string;
  /** Undefined: outcomes produce no messages. */
  readonly publish?: PublishOutcome;
  /** Undefined: messages that a follower rejects are logged alone. */
  readonly rejected?: FollowerAnnouncements['rejected'];
  /** Tells those who listen that the provenance of a run could not be recorded. */
  readonly provenanceFailed?: (run: RunPayload, fault: Fault) => Promise<void>;
  /** The embedded store, if this process has it. */
  readonly store?: { readonly endpoint: string };
}

/** Time for aborted runs to stop and for what follows their end. */
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
  const { services = ALL_SERVICES, workingDirectory = process.cwd(), store } = options;
  const snapshot = config.snapshot();
  const lockMs = snapshot.LOCK_SECONDS * 1000;
  const common = {
    lockDuration: lockMs,
    stalledInterval: snapshot.STALLED_SECONDS * 1000,
    drainDelay: 5,
    runRetryDelay: 1_000,
  };
  const functionDirectory = directories(snapshot, workingDirectory).functions;
  const functions = new Map<Service, FleetFunctions>();
  for (const service of services) {
    functions.set(service, await openFleetFunctions(settingsOfService(backend.settings, service), functionDirectory));
  }
  let reachability: Reachability | undefined;
  const pool = new ThreadPool({ memoryMb: snapshot.THREAD_MEMORY_MB, threads: snapshot.WORKER_THREADS, engine: options.engine }, logger);
  const settings = {
    maxStarts: snapshot.MAX_STARTS,
    lockMs,
    admit: async () => assertLicensed(await config.refresh(), Date.now()),
    spillDirectory: directories(snapshot, workingDirectory).spill,
    datasetStates: join(resolve(workingDirectory, snapshot.DATA_DIR), 'datasets'),
    workingDirectory,
    database: async () => databaseOf(await config.refresh()),
    web: async () => webAccessOf(await config.refresh()),
    s3: async () => s3AccessOf(await config.refresh()),
    functionDirectory: async (version: string, service: Service) => (functions.get(service) as FleetFunctions).directoryOf(version),
    target: async () => targetOf(await config.refresh(), store),
    onFault: (service: Service, fault: Fault) => {
      if (isUnreached(fault)) reachability?.suspect(service);
    },
  };
  const cleanUp = (run: RunPayload): Promise<void> =>
    run.service === 'graph-writer' ? cleanUpWrite(run, settings) : cleanUpRun(run, settings);
  const retention = openRetention(services, backend, config, workingDirectory, logger);
  const deleteSources: DeleteSources = async (run, startedAt) => {
    await deleteSourcesOf(run, startedAt, workingDirectory, logger, () => config.refresh());
    await retention.written(run);
  };
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
  const turns = datasetTurns(backend);
  const noteTarget = async (run: RunPayload, outcome: Outcome): Promise<void> => {
    // JSON has no undefined: the value is absent or null.
    if (run.service !== 'graph-writer' || run.dataset == null || outcome.state !== 'completed') return;
    const { version } = outcome.report;
    if (version !== undefined) await noteTargetVersion(backend.settings, run.dataset.url, version);
  };
  const end = new RunEnd(
    backend,
    { recordProvenance, publish: options.publish, cleanUp, deleteSources, noteTarget, leave: turns.leave },
    logger,
  );
  const jobWorkers = openJobWorkers(services, { backend, pool, settings, snapshot, turns, end, common, logger });
  const cancelling = services.map((service) =>
    backend.worker<CancelPayload, void>(SERVICE_QUEUES[service].cancel, cancelWaiting(service, backend, end, lockMs), common),
  );
  const preview = services.some((service) => service !== 'graph-writer')
    ? openPreviewWorker(backend, previewAccess({ config, workingDirectory, functions }), common, logger)
    : undefined;

  let running = true;
  let draining: Promise<void> | undefined;
  const run = (worker: Pick<Worker, 'run' | 'name'>): void => {
    worker.run().catch((error: unknown) => {
      running = false;
      logger.error({ error, worker: worker.name }, 'worker ended');
    });
  };
  const all = [...jobWorkers.map(({ worker }) => worker), ...cancelling, ...(preview === undefined ? [] : [preview.worker])];
  await Promise.all(all.map((worker) => worker.waitUntilReady()));
  pool.warm(services.includes('semi-structured-transformer'));
  const watch = new AbortController();
  void watchMemory(pool, snapshot.PROCESS_MEMORY_MB ?? defaultProcessMemoryMb(), logger, watch.signal);
  const registry = await watchWorkerRegistry(backend.settings);
  const registration = await registerWorker(backend.settings, services);
  reachability = await watchReachability(
    {
      services,
      check: async (service, signal) => checkConnection(service, await config.refresh(), { workingDirectory, store }, signal),
      isReachedByOthers: (service) => registry.isReachedByOthers(service, registration.id),
      tell: registration.tell,
      take: (service, on) => {
        METRICS.runsLeft.set({ service }, on ? 0 : 1);
        for (const { worker } of jobWorkers.filter((one) => one.service === service)) {
          const switching = on ? worker.resume() : worker.pause(true);
          switching.catch((error: unknown) => logger.warn({ error, worker: worker.name }, 'worker not switched'));
        }
      },
    },
    logger,
  );
  for (const worker of all) run(worker);
  const following = followingService(services);
  const follower =
    following &&
    startFollower(
      {
        service: following,
        settings: backend.settings,
        config,
        workingDirectory,
        tasks: settings,
        functions: () => {
          const version = functions.get(following)?.current();
          return version === undefined ? undefined : { version, limits: callLimitsOf(config.snapshot()) };
        },
        admit: settings.admit,
        announcements:
          options.publish === undefined || options.rejected === undefined
            ? undefined
            : { publish: options.publish, rejected: options.rejected },
        hasWriter: () => registry.count(['graph-writer']) > 0,
        lockMs,
        memoryMb: snapshot.THREAD_MEMORY_MB,
      },
      logger,
    );
  logger.info({ queue: backend.describe(), services, concurrency: snapshot.WORKER_CONCURRENCY }, 'workers started');

  const drainNow = async (deadlineMs: number): Promise<void> => {
    running = false;
    retention.stop();
    for (const { attempts } of jobWorkers) attempts.stopAccepting();
    const followed = follower?.stop(deadlineMs);
    await reachability?.stop();
    registry.close();
    await registration.deregister();
    await Promise.all(jobWorkers.map(({ worker }) => worker.pause(true)));
    const isIdle = (): boolean => jobWorkers.every(({ attempts }) => attempts.count === 0);
    if (!(await waitUntil(isIdle, deadlineMs))) {
      for (const { attempts } of jobWorkers) attempts.requeueAll();
      await waitUntil(isIdle, STOP_GRACE_MS);
    }
    // Versions that it has made are announced before the messages end.
    await followed;
    const answers = await backend.ping(1_000).then(
      () => true,
      () => false,
    );
    // Without an answer of the queue, BullMQ closes a worker only by force. A question takes seconds at most, and another worker answers it otherwise.
    await atMost(STOP_GRACE_MS, Promise.all(all.map((worker) => worker.close(!answers || worker === preview?.worker))));
    await end.close(answers ? STOP_GRACE_MS : 0);
    watch.abort();
    await Promise.all([pool.close(), preview?.close()]);
    logger.info('workers stopped');
  };

  return {
    follower: () => follower?.health(),
    state: () => ({
      running:
        running &&
        jobWorkers.every(({ worker }) => worker.isRunning() || worker.isPaused()) &&
        cancelling.every((worker) => worker.isRunning()),
      activeRuns: jobWorkers.reduce((sum, { noun, attempts }) => sum + (noun === 'run' ? attempts.count : 0), 0),
    }),
    drain(deadlineMs) {
      draining ??= drainNow(deadlineMs);
      return draining;
    },
  };
}

/** Whether `done` became true within `waitMs`. */
async function waitUntil(done: () => boolean, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  while (!done()) {
    if (Date.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}
