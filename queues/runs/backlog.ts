/** Details of the waiting jobs beyond their number: for metrics and autoscaling. */
import type { QueueBackend } from '../backend/backend.ts';
import { ALL_SERVICES, type RunPayload, SERVICE_QUEUES, type Service } from '../jobs.ts';

export interface Backlog {
  /** How long the oldest run that was never started has waited; 0: none waits. */
  readonly oldestSeconds: number;
  /** Slices of all runs, by state. */
  readonly slices: { readonly waiting: number; readonly active: number; readonly retrying: number };
}

const PAGE = 50;
/** At most so many runs are examined: those that are taken first. */
const MAX_RUNS = 1_000;

type Queues = Pick<QueueBackend, 'queue'>;

/** @throws the error of the queue's client library when the queue is away */
export async function backlogOf(backend: Queues, services: readonly Service[] = ALL_SERVICES): Promise<Backlog> {
  const [slices, since] = await Promise.all([
    Promise.all(
      services.flatMap((service) => {
        const { slice } = SERVICE_QUEUES[service];
        return slice === undefined ? [] : [backend.queue(slice).getJobCounts('waiting', 'prioritized', 'active', 'delayed')];
      }),
    ),
    Promise.all(services.map((service) => oldestWaiting(backend, service))),
  ]);
  const sum = (...states: readonly string[]): number =>
    slices.reduce((total, counts) => states.reduce((subtotal, state) => subtotal + (counts[state] ?? 0), total), 0);
  const oldest = Math.min(...since.map((time) => time ?? Number.POSITIVE_INFINITY));
  return {
    oldestSeconds: Number.isFinite(oldest) ? Math.max(0, Date.now() - oldest) / 1000 : 0,
    slices: { waiting: sum('waiting', 'prioritized'), active: sum('active'), retrying: sum('delayed') },
  };
}

/** Runs wait in the order in which they will be taken, by urgency and start tag, so all of them are looked at. */
async function oldestWaiting(backend: Queues, service: Service): Promise<number | undefined> {
  const queue = backend.queue<RunPayload>(SERVICE_QUEUES[service].work);
  let oldest: number | undefined;
  for (let from = 0; from < MAX_RUNS; from += PAGE) {
    const jobs = await queue.getJobs(['prioritized'], from, from + PAGE - 1, true);
    for (const job of jobs) {
      // The queue returns an empty entry for a job removed between listing and reading.
      if (job?.timestamp !== undefined && job.attemptsStarted === 0) oldest = Math.min(oldest ?? job.timestamp, job.timestamp);
    }
    if (jobs.length < PAGE) break;
  }
  return oldest;
}
