/** Details of the waiting jobs beyond their number: for metrics and autoscaling. */
import type { QueueBackend } from '../backend/backend.ts';
import { ANNOUNCE_QUEUE, type RunPayload, SLICE_QUEUE, TRANSFORM_QUEUE, WRITE_QUEUE, workQueueOf } from '../jobs.ts';

export interface Backlog {
  /** How long the oldest run that was never started has waited; 0: none waits. */
  readonly oldestSeconds: number;
  /** Slices of all runs, by state. */
  readonly slices: { readonly waiting: number; readonly active: number; readonly retrying: number };
}

const PAGE = 50;
/** At most so many runs are examined; runs older than the first waiting one are active or wait for a retry. */
const MAX_RUNS = 1_000;

/** @throws the error of the queue's client library when the queue is away */
export async function backlogOf(backend: Pick<QueueBackend, 'queue'>): Promise<Backlog> {
  const [{ waiting = 0, prioritized = 0, active = 0, delayed = 0 }, since] = await Promise.all([
    backend.queue(SLICE_QUEUE).getJobCounts('waiting', 'prioritized', 'active', 'delayed'),
    oldestWaiting(backend),
  ]);
  return {
    oldestSeconds: since === undefined ? 0 : Math.max(0, Date.now() - since) / 1000,
    slices: { waiting: waiting + prioritized, active, retrying: delayed },
  };
}

/** Runs are taken by urgency and start tag; only their announce jobs are in the order of submission. */
async function oldestWaiting(backend: Pick<QueueBackend, 'queue'>): Promise<number | undefined> {
  const announces = backend.queue<RunPayload>(ANNOUNCE_QUEUE);
  const counts = await Promise.all(
    [TRANSFORM_QUEUE, WRITE_QUEUE].map((name) => backend.queue(name).getJobCounts('waiting', 'prioritized')),
  );
  const waits = counts.some(({ waiting = 0, prioritized = 0 }) => waiting + prioritized > 0);
  for (let from = 0; waits && from < MAX_RUNS; from += PAGE) {
    const runs = await announces.getJobs(['waiting-children'], from, from + PAGE - 1, true);
    const jobs = await Promise.all(
      runs.map((run) => (run?.id === undefined ? undefined : backend.queue(workQueueOf(run.data.service)).getJob(run.id))),
    );
    const first = jobs.find((job) => job !== undefined && job.attemptsStarted === 0 && job.processedOn === undefined);
    if (first !== undefined) return first.timestamp;
    if (runs.length < PAGE) break;
  }
  return undefined;
}
