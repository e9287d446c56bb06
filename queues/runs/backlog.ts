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
/** At most so many runs are examined; runs older than the first waiting one are active or wait for a retry. */
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

/** Runs are taken by urgency and start tag; only their announce jobs are in the order of submission. */
async function oldestWaiting(backend: Queues, service: Service): Promise<number | undefined> {
  const announces = backend.queue<RunPayload>(SERVICE_QUEUES[service].announce);
  const work = backend.queue(SERVICE_QUEUES[service].work);
  const { waiting = 0, prioritized = 0 } = await work.getJobCounts('waiting', 'prioritized');
  for (let from = 0; waiting + prioritized > 0 && from < MAX_RUNS; from += PAGE) {
    const runs = await announces.getJobs(['waiting-children'], from, from + PAGE - 1, true);
    const jobs = await Promise.all(runs.map((run) => (run?.id === undefined ? undefined : work.getJob(run.id))));
    const first = jobs.find((job) => job !== undefined && job.attemptsStarted === 0 && job.processedOn === undefined);
    if (first !== undefined) return first.timestamp;
    if (runs.length < PAGE) break;
  }
  return undefined;
}
