/**
 * Runs that an earlier version queued as flows of two jobs: the work, and `announce`, which waited for it and computed the outcome.
 *
 * The work is a run of this version. Where it ended before this version came to it, its end is given to the workers as a stored one. What
 * else is left of a flow is nothing but the job that waited.
 */
import type { Job, Worker } from 'bullmq';
import type { QueueBackend, WorkerSettings } from '../../queues/backend/backend.ts';
import { type Outcome, type RunPayload, SERVICE_QUEUES, type Service, type StoredEnd } from '../../queues/jobs.ts';
import { cancelledFault, decodeFault, decodeOutcome, isOutcome } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';

/** The queues of the jobs that waited. */
export const ANNOUNCE_QUEUES: Readonly<Record<Service, string>> = {
  'semi-structured-transformer': 'announce-semi-structured',
  'sql-transformer': 'announce-sql',
  'graph-writer': 'announce-writer',
};

type RunJob = Job<RunPayload, Outcome>;

/** Undefined: no such job is in the queue now. */
export async function openEarlierRuns(
  service: Service,
  backend: QueueBackend,
  settings: WorkerSettings,
  logger: Logger,
): Promise<Worker | undefined> {
  const name = ANNOUNCE_QUEUES[service];
  const counts = await backend.queue(name).getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'waiting-children');
  const count = Object.values(counts).reduce((sum, some) => sum + some, 0);
  if (count === 0) return undefined;
  logger.warn({ service, runs: count }, 'runs of an earlier version are in the queue; they are ended by this one');
  return backend.worker<RunPayload, void>(name, (job) => adopt(job, backend), settings) as Worker;
}

/** May be repeated after any of its steps. */
async function adopt(job: Job<RunPayload, void>, backend: QueueBackend): Promise<void> {
  const { data, opts } = job;
  const queue = backend.queue<RunPayload, Outcome>(SERVICE_QUEUES[data.service].work);
  const work = await queue.getJob(data.runId);
  const ended = data.ended ?? earlierEnd(data, work);
  if (ended === undefined) return;
  // The work is removed before its end is in the queue again.
  if (data.ended === undefined) await job.updateData({ ...data, ended });
  await work?.remove();
  const { removeOnComplete, removeOnFail } = opts;
  await queue.add(
    data.service === 'graph-writer' ? 'write' : 'transform',
    { ...data, ended },
    { jobId: data.runId, removeOnComplete, removeOnFail },
  );
}

/** The end of the work, if no outcome was made of it. */
function earlierEnd({ cancelled }: RunPayload, work: RunJob | undefined): StoredEnd | undefined {
  const common = { at: work?.finishedOn ?? Date.now(), failures: 0 };
  if (work === undefined) {
    const lost = new Fault('run/lost', 'An earlier version queued the run, and its work is not in the queue any more', {
      hint: 'Send the request again',
    });
    return { ...common, fault: (cancelled === true ? cancelledFault() : lost).toJSON() };
  }
  if (work.finishedOn === undefined) return undefined;
  const { returnvalue, failedReason } = work;
  if (failedReason) return decodeOutcome(failedReason) === undefined ? { ...common, fault: decodeFault(failedReason).toJSON() } : undefined;
  return isOutcome(returnvalue) ? undefined : { ...common, result: returnvalue as unknown as NonNullable<StoredEnd['result']> };
}
