/**
 * The slice job: maps one slice of a run in a thread, while its transform job waits for it somewhere in the fleet. It writes under
 * temporary names and never renames, so an obsolete slice is harmless.
 */
import { type Job, UnrecoverableError } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { SERVICE_QUEUES, type SlicePayload, type SliceResult, type Transformer, type TransformPayload } from '../../queues/jobs.ts';
import { cancelledFault, encodeFault } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { removeEarlier, removeEarlierSpills } from '../output/output.ts';
import type { ThreadPool } from '../threads/pool.ts';
import { type AttemptSettings, Attempts, fieldsOf, type JobKind, LOST } from './attempts.ts';
import { pathsOf, type TaskSettings, taskOf } from './task.ts';

export function sliceAttempts(
  service: Transformer,
  backend: QueueBackend,
  pool: ThreadPool,
  settings: AttemptSettings & TaskSettings,
  logger: Logger,
): Attempts<SlicePayload, SliceResult> {
  const queues = SERVICE_QUEUES[service];
  const queue = backend.queue<SlicePayload, SliceResult>(queues.slice);
  const transforms = backend.queue<TransformPayload>(queues.work);

  const cancellation = async ({ id, data }: Job<SlicePayload, SliceResult>): Promise<Fault | undefined> => {
    const [slice, run] = await Promise.all([queue.getJob(id as string), transforms.getJob(data.runId)]);
    if (slice?.data.cancelled === true || run?.data.cancelled === true) return cancelledFault();
    const waits = run?.finishedOn === undefined && run?.attemptsStarted === data.attempt && run.data.submittedAt === data.submittedAt;
    return waits ? undefined : new Fault('run/cancelled', 'The attempt of the run that needed this slice has ended');
  };

  const cleanUp = async (job: Job<SlicePayload, SliceResult>): Promise<void> => {
    const paths = await pathsOf(job.data, attemptNameOf(job), settings);
    await removeEarlier(paths, paths.name, attemptNameOf(job));
    await removeEarlierSpills(paths.spillDirectory);
  };

  const kind: JobKind<SlicePayload, SliceResult> = {
    noun: 'slice',

    async work(job, context) {
      const { data } = job;
      // The slice may have waited longer than its run existed.
      await context.admit();
      logger.info(fieldsOf(job), 'slice started');
      const startedAt = Date.now();
      const result = await pool.runSlice(await taskOf(data, attemptNameOf(job), settings, data.slice), context);
      return { ...result, time: { startedAt, milliseconds: Date.now() - startedAt } };
    },

    cancellation: (job) => cancellation(job),

    async confirm(job, lock, lockMs) {
      // At once: either answer may be outdated when it arrives, whichever was asked for first.
      const [held, fault] = await Promise.all([backend.jobChanges.confirm(queue.name, job.id as string, lock, lockMs), cancellation(job)]);
      return held === 'lost' ? LOST : fault;
    },

    onActive: (change) => METRICS.activeSlices.inc(change),

    async end(job, _, { result, fault }) {
      // Nothing else comes after the attempts whose workers died.
      if (fault?.code === 'run/killed') await cleanUp(job);
      METRICS.slices.inc({ state: stateOf(fault) });
      if (fault !== undefined) throw new UnrecoverableError(encodeFault(fault));
      return result as SliceResult;
    },
  };
  return new Attempts(kind, settings, logger);
}

/** Suffix of the names of this attempt of the slice. */
const attemptNameOf = ({ data: { attempt, slice }, attemptsStarted }: Job<SlicePayload>): string =>
  `${attempt}-${slice.index}-${attemptsStarted}`;

function stateOf(fault: Fault | undefined): string {
  if (fault === undefined) return 'completed';
  return fault.code === 'run/cancelled' ? 'cancelled' : 'failed';
}
