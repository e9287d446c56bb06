/**
 * Recovers stalled jobs, whose worker was lost, and promotes delayed jobs that are due.
 *
 * BullMQ's own check puts a stalled job ahead of all waiting jobs, so a few runs that kill their workers are restarted again and again
 * while all others wait. Here a stalled job keeps its place in the order and waits for a backoff that doubles each time; others run
 * meanwhile. The same step promotes due jobs: BullMQ does that when a worker asks for work, and a worker at full concurrency does not ask.
 */
import { type Job, Worker } from 'bullmq';

/** Backoff of a stalled job: `initialMs` after the first time, then doubled each time, at most `maxMs`. */
export interface StalledBackoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const NO_BACKOFF: StalledBackoff = { initialMs: 0, maxMs: 0 };

/**
 * Returns jobs to the queue that were active without a lock both now and at the previous check, and promotes due jobs. Does nothing if any
 * process checked less than `intervalMs` ago. Resolves to the ids of the stalled jobs.
 */
export type RecoverStalledJobs = (queue: string, intervalMs: number, pause: StalledBackoff) => Promise<readonly string[]>;

/** Backoff in milliseconds after the n-th loss, n from 1. */
export const backoffAfter = (losses: number, { initialMs, maxMs }: StalledBackoff): number =>
  Math.min(maxMs, initialMs * 2 ** (losses - 1));

/** Checks while the worker takes jobs, and emits its event `stalled` for each recovered job. Stops when the worker closes. */
export function watchStalledJobs(worker: Worker, recover: RecoverStalledJobs, intervalMs: number, backoff: StalledBackoff): void {
  let checking = false;
  const check = async (): Promise<void> => {
    if (checking || !worker.isRunning() || worker.isPaused()) return;
    checking = true;
    try {
      for (const id of await recover(worker.name, intervalMs, backoff)) worker.emit('stalled', id, 'active');
    } catch (error) {
      // Reported as BullMQ reports its own errors; the next interval checks again.
      worker.emit('error', error as Error);
    } finally {
      checking = false;
    }
  };
  const timer = setInterval(() => void check(), intervalMs).unref();
  worker.on('closing', () => clearInterval(timer));
}

/**
 * A worker that may take a job again while it still works on an earlier attempt, whose lock has expired.
 *
 * BullMQ renews locks by the id of the job, and stops when an attempt ends: the end of the earlier one would leave the lock of the later one
 * to expire, and the job would stall in the middle of its work. Here the lock of the last attempt is renewed until that one ends.
 */
export class RenewingWorker<D, R> extends Worker<D, R> {
  /** How many attempts of a job this worker works on, by the id of the job. */
  readonly #attempts = new Map<string, number>();
  readonly #afterwards: ((job: Job<D, R>) => void) | undefined;

  /** @param afterwards called after each attempt, also where the queue has not said whether it has the end of the job */
  constructor(afterwards: ((job: Job<D, R>) => void) | undefined, ...settings: ConstructorParameters<typeof Worker<D, R>>) {
    super(...settings);
    this.#afterwards = afterwards;
    const locks = this.lockManager;
    const untrack = locks.untrackJob.bind(locks);
    locks.untrackJob = (id) => {
      if ((this.#attempts.get(id) ?? 0) < 2) untrack(id);
    };
  }

  override async processJob(...[job, token, fetchNext]: Parameters<Worker<D, R>['processJob']>): ReturnType<Worker<D, R>['processJob']> {
    const id = job.id as string;
    this.#attempts.set(id, (this.#attempts.get(id) ?? 0) + 1);
    try {
      return await super.processJob(job, token, fetchNext);
    } finally {
      const left = (this.#attempts.get(id) as number) - 1;
      if (left > 0) this.#attempts.set(id, left);
      else this.#attempts.delete(id);
      // The last attempt may end before an earlier one.
      if (tokenOf(this.lockManager, id) === token) this.lockManager.untrackJob(id);
      this.#afterwards?.(job);
    }
  }
}

const tokenOf = (locks: object, id: string): string | undefined =>
  (locks as { readonly trackedJobs: ReadonlyMap<string, { readonly token: string }> }).trackedJobs.get(id)?.token;
