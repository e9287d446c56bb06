/**
 * The transform job: a run, each attempt of which maps its inputs in a thread. If the engine cuts the run into slices, its thread holds the state of the data
 * while this job waits for the slice jobs, and then publishes their output.
 */
import type { QueueBackend } from '../../queues/backend/backend.ts';
import {
  type Outcome,
  SERVICE_QUEUES,
  type SlicePayload,
  type SliceResult,
  type Transformer,
  type TransformPayload,
  type TransformResult,
} from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { inPresentSpan } from '../../src/core/telemetry/trace.ts';
import { lockState } from '../../src/datasets/versions/state.ts';
import type { DirectoryLock } from '../../src/storage/local/directory-lock.ts';
import { removeAll, removeSpills } from '../output/output.ts';
import type { DatasetTask } from '../task.ts';
import type { ThreadPool } from '../threads/pool.ts';
import { type AttemptSettings, Attempts, Busy, fieldsOf, type JobKind, wholeRun } from './attempts.ts';
import type { DatasetTurns } from './dataset-turns.ts';
import type { RunEnd } from './run-end.ts';
import { ScatterGather } from './scatter-gather.ts';
import { type AttemptPaths, type PathSettings, pathsOf, type TaskSettings, taskOf } from './task.ts';

export function transformAttempts(
  service: Transformer,
  backend: QueueBackend,
  pool: ThreadPool,
  settings: AttemptSettings & TaskSettings,
  turns: DatasetTurns,
  end: RunEnd,
  logger: Logger,
): Attempts<TransformPayload, TransformResult, Outcome> {
  const queues = SERVICE_QUEUES[service];
  const slices = backend.queue<SlicePayload, SliceResult>(queues.slice);

  const kind: JobKind<TransformPayload, TransformResult, Outcome> = {
    ...wholeRun(backend.queue<TransformPayload>(queues.work), backend.jobChanges),

    async work(job, context) {
      const { data } = job;
      const started = performance.now();
      const startedAt = Date.now();
      const [task] = await Promise.all([taskOf(data, String(job.attemptsStarted), settings), context.admit()]);
      const lock = task.dataset === undefined ? undefined : await lockOf(task.dataset);
      METRICS.attempts.inc();
      logger.debug({ ...fieldsOf(job), service: data.service, mapping: data.mappings }, 'run started');
      const scatterGather = new ScatterGather(slices, backend.fairQueueing, job, task, context);
      try {
        const result = await pool.run(task, {
          ...context,
          // Called at the request of the thread.
          scatter: inPresentSpan((cut) => {
            logger.info({ ...fieldsOf(job), slices: cut.length }, 'run sliced');
            return scatterGather.resultsOf(cut);
          }),
        });
        METRICS.bytesRead.inc(result.report.bytesRead);
        METRICS.bytesWritten.inc(result.report.bytesWritten);
        METRICS.spilled.inc(result.report.bytesSpilled ?? 0);
        return { ...result, startedAt, milliseconds: Math.round(performance.now() - started) };
      } finally {
        await scatterGather.end();
        await lock?.release();
      }
    },

    turns,

    end: (job, token, ended) => end.process(job, token, ended),

    onActive: (change) => METRICS.activeRuns.inc(change),
  };
  return new Attempts(kind, settings, logger);
}

/**
 * The lock of a dataset against commands, and attempts on other machines that have lost their job and not noticed yet. This process holds it, not the
 * thread: a thread may be ended.
 *
 * @throws Busy; Fault config/invalid
 */
async function lockOf({ stateDirectory, url }: DatasetTask): Promise<DirectoryLock> {
  try {
    return await lockState(stateDirectory, redact(url), true);
  } catch (error) {
    if (error instanceof Fault && error.code === 'service/unavailable') throw new Busy();
    throw error;
  }
}

/** Removes all files of a run that ended without output. */
export async function cleanUpRun(run: TransformPayload, settings: PathSettings): Promise<void> {
  let paths: AttemptPaths;
  try {
    paths = await pathsOf(run, '0', settings);
  } catch (error) {
    // The run failed because its output directory is invalid, so there are no files.
    if (Fault.of(error).code === 'config/invalid') return;
    throw error;
  }
  await removeAll(paths, paths.name);
  await removeSpills(paths.spillDirectory);
}
