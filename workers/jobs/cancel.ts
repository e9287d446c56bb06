/** The cancel job: ends a run that waits, as the worker would that took it. */
import { randomBytes } from 'node:crypto';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type CancelPayload, type Outcome, type RunPayload, SERVICE_QUEUES, type Service } from '../../queues/jobs.ts';
import { cancelledFault } from '../../queues/runs/outcome.ts';
import type { RunEnd } from './run-end.ts';

/**
 * A run that does not wait is left to its worker, which finds the mark. If this process dies in between, the lock of the run expires, and the
 * run is taken by another worker, or by this job again.
 *
 * @throws the error of the queue's client library when the queue is away; the job is retried
 */
export function cancelWaiting(
  service: Service,
  backend: QueueBackend,
  end: RunEnd,
  lockMs: number,
): (job: Job<CancelPayload>) => Promise<void> {
  const { work } = SERVICE_QUEUES[service];
  const queue = backend.queue<RunPayload, Outcome>(work);
  return async ({ data: { runId } }) => {
    const token = randomBytes(12).toString('hex');
    if (!(await backend.jobChanges.take(work, runId, token, lockMs))) return;
    const job = await queue.getJob(runId);
    if (job === undefined) return;
    try {
      await end.process(job, token, { fault: cancelledFault() });
    } catch (error) {
      // The run is taken again later.
      if (error instanceof DelayedError) return;
      if (!(error instanceof UnrecoverableError)) throw error;
      await end.fail(job, token, error);
    }
  };
}
