/** The write job: a run, each attempt of which writes its inputs to the target, in a thread. Resumes from the position of an earlier attempt. */
import type { Job } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type Outcome, type RunProgress, SERVICE_QUEUES, type WritePayload, type WriteResult } from '../../queues/jobs.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import type { S3Access } from '../../src/storage/s3-access.ts';
import type { TargetAddress } from '../../src/targets/target.ts';
import { removeAll, removeSpills } from '../output/output.ts';
import type { WriteTask } from '../task.ts';
import type { TaskHooks, ThreadPool } from '../threads/pool.ts';
import { type AttemptContext, type AttemptSettings, Attempts, fieldsOf, type JobKind, wholeRun } from './attempts.ts';
import type { DatasetTurns } from './dataset-turns.ts';
import type { RunEnd } from './run-end.ts';
import { type PathSettings, pathsOf } from './task.ts';

export interface WriteSettings extends AttemptSettings {
  /** Absolute path. */
  readonly spillDirectory: string;
  readonly workingDirectory: string;
  /** How object storage is reached, as currently configured. */
  readonly s3: () => Promise<S3Access>;
  /** The currently configured target; read when a job starts, never stored in one. @throws Fault config/invalid */
  readonly target: () => Promise<TargetAddress>;
}

export function writeAttempts(
  backend: QueueBackend,
  pool: ThreadPool,
  settings: WriteSettings,
  turns: DatasetTurns,
  end: RunEnd,
  logger: Logger,
): Attempts<WritePayload, WriteResult, Outcome> {
  const kind: JobKind<WritePayload, WriteResult, Outcome> = {
    ...wholeRun(backend.queue<WritePayload>(SERVICE_QUEUES['graph-writer'].work), backend.jobChanges),

    async work(job, context) {
      const started = performance.now();
      const startedAt = Date.now();
      const [task] = await Promise.all([writeTaskOf(job, settings), context.admit()]);
      METRICS.attempts.inc();
      const { type } = task.request.target;
      logger.debug(
        { ...fieldsOf(job), service: job.data.service, target: type, resumed: task.request.resume !== undefined },
        'run started',
      );
      const result = await pool.write(task, { ...context, ...progressHooks(job, context, settings, logger) });
      METRICS.bytesRead.inc(result.report.bytesRead);
      METRICS.spilled.inc(result.report.bytesSpilled);
      METRICS.writeBatches.inc(result.report.batches);
      return { ...result, startedAt, milliseconds: Math.round(performance.now() - started) };
    },

    turns,

    end: (job, token, ended) => end.process(job, token, ended),

    onActive: (change) => METRICS.activeWrites.inc(change),
  };
  return new Attempts(kind, settings, logger);
}

/** Stores in the progress of the job, and logs once, that the target is unavailable. */
function progressHooks(
  job: Job<WritePayload, Outcome>,
  context: AttemptContext,
  { onFault }: WriteSettings,
  logger: Logger,
): Pick<TaskHooks, 'progress' | 'waiting'> {
  let latest = progressOf(job) ?? { records: 0, quads: 0, bytesRead: 0 };
  let waiting: string | undefined;
  let logged = false;
  return {
    progress(now) {
      latest = now;
      context.progress({ ...latest, waiting });
    },
    waiting(outage) {
      waiting = outage?.reason;
      context.progress({ ...latest, waiting });
      if (outage !== undefined) METRICS.writeRetries.inc();
      if (logged === (outage?.lasting ?? false)) return;
      logged = !logged;
      if (logged) {
        logger.warn({ ...fieldsOf(job), reason: waiting }, 'waiting for the target');
        onFault?.(job.data.service, new Fault('target/unreachable', waiting ?? 'The target does not answer'));
      } else logger.info(fieldsOf(job), 'target accepts statements again');
    },
  };
}

const progressOf = ({ progress }: Job<WritePayload, Outcome>): RunProgress | undefined =>
  typeof progress === 'object' ? (progress as unknown as RunProgress) : undefined;

/** Removes the files of a run that did not complete; statements in the target stay. */
export async function cleanUpWrite(run: WritePayload, settings: PathSettings): Promise<void> {
  const paths = await pathsOf(run, '0', settings);
  await removeAll(paths, paths.name);
  await removeSpills(paths.spillDirectory);
}

async function writeTaskOf(job: Job<WritePayload, Outcome>, settings: WriteSettings): Promise<WriteTask> {
  const { data } = job;
  const attempt = String(job.attemptsStarted);
  // Asked for at once, the options are read once.
  const [{ directory, objects, name, spillDirectory }, target, s3] = await Promise.all([
    pathsOf(data, attempt, settings),
    settings.target(),
    settings.s3(),
  ]);
  return {
    // JSON has no undefined: the value is absent or null.
    dataset: data.dataset ?? undefined,
    request: {
      ...data.write,
      runId: data.runId,
      inputs: data.inputs.map(({ url }) => url),
      workingDirectory: settings.workingDirectory,
      target,
      s3,
      spillDirectory,
      // The statements that earlier attempts rejected are files of the machine that rejected them, so they are looked for again.
      resume: objects === undefined ? (progressOf(job)?.position ?? undefined) : undefined,
    },
    output: { directory, objects, name, attempt },
  };
}
