/**
 * Recovers stalled jobs, whose worker was lost, and promotes delayed jobs that are due.
 *
 * BullMQ's own check puts a stalled job ahead of all waiting jobs, so a few runs that kill their workers are restarted again and again
 * while all others wait. Here a stalled job keeps its place in the order and waits for a backoff that doubles each time; others run
 * meanwhile. The same step promotes due jobs: BullMQ does that when a worker asks for work, and a worker at full concurrency does not ask.
 */
import { type Job, Worker } from 'bullmq';
import { whileAway } from '../refusals.ts';
import { type JobChanges, lockOf } from './changes.ts';

/** Backoff of a stalled job: `initialMs` after the first time, then doubled each time, at most `maxMs`. */
export interface StalledBackoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const NO_BACKOFF: StalledBackoff = { initialMs: 0, maxMs: 0 };

/**
 * Returns jobs to the queue that were active without a lock both now and at the previous check, and promotes due jobs. Does nothing if any
 * process checked less than `intervalMs` ago. Resolves to the ids of the stalled jobs.
 *
 * @param isBack whether the queue was away since the previous check. This one recovers nothing then, so that workers that are alive renew the locks that have
 *   expired meanwhile before the next check.
 */
export type RecoverStalledJobs = (queue: string, intervalMs: number, pause: StalledBackoff, isBack: boolean) => Promise<readonly string[]>;

/** Checks while the worker takes jobs, and emits its event `stalled` for each recovered job. Stops when the worker closes. */
export function watchStalledJobs(worker: Worker, recover: RecoverStalledJobs, intervalMs: number, backoff: StalledBackoff): void {
  let checking = false;
  let wasAway = false;
  const check = async (): Promise<void> => {
    if (checking || !worker.isRunning() || worker.isPaused()) return;
    checking = true;
    try {
      const recovered = await recover(worker.name, intervalMs, backoff, wasAway);
      wasAway = false;
      for (const id of recovered) worker.emit('stalled', id, 'active');
    } catch (error) {
      wasAway = true;
      // Reported as BullMQ reports its own errors; the next interval checks again.
      worker.emit('error', error as Error);
    } finally {
      checking = false;
    }
  };
  const timer = setInterval(() => void check(), intervalMs).unref();
  worker.on('closing', () => clearInterval(timer));
}

/** How soon locks are renewed after the queue refused that. Less than the shortest time between two checks for stalled jobs. */
const RENEW_MS = 500;

/**
 * A worker that holds the locks of its jobs for as long as it works on them.
 *
 * It may take a job again while it still works on an earlier attempt, whose lock has expired. BullMQ renews locks by the id of the job, and stops when an
 * attempt ends: the end of the earlier one would leave the lock of the later one to expire, and the job would stall in the middle of its
 * work. Here the lock of the last attempt is renewed until that one ends.
 *
 * A queue that is away, or takes no writes, lets locks expire. They are renewed as soon as it is back, and the end of a job waits for it.
 */
export class RenewingWorker<D, R> extends Worker<D, R> {
  /** The attempts that this worker works on, by the token of their lock. */
  readonly #attempts = new Map<string, Job<D, R>>();
  readonly #confirm: JobChanges['confirm'];
  readonly #afterwards: ((job: Job<D, R>) => void) | undefined;
  readonly #closing = new AbortController();
  #renewal: NodeJS.Timeout | undefined;

  /** @param afterwards called after each attempt, also where the queue has not said whether it has the end of the job */
  constructor(
    confirm: JobChanges['confirm'],
    afterwards: ((job: Job<D, R>) => void) | undefined,
    ...settings: ConstructorParameters<typeof Worker<D, R>>
  ) {
    super(...settings);
    this.#confirm = confirm;
    this.#afterwards = afterwards;
    const locks = this.lockManager;
    const untrack = locks.untrackJob.bind(locks);
    locks.untrackJob = (id) => {
      if ([...this.#attempts.values()].filter((job) => job.id === id).length < 2) untrack(id);
    };
    this.on('closing', () => {
      clearTimeout(this.#renewal);
      this.#closing.abort();
    });
  }

  override async processJob(...[job, token, fetchNext]: Parameters<Worker<D, R>['processJob']>): ReturnType<Worker<D, R>['processJob']> {
    this.#attempts.set(token, job);
    try {
      return await super.processJob(job, token, fetchNext);
    } finally {
      this.#attempts.delete(token);
      // The last attempt may end before an earlier one.
      const id = job.id as string;
      if (trackedBy(this.lockManager).get(id)?.token === token) this.lockManager.untrackJob(id);
      this.#afterwards?.(job);
    }
  }

  /** Renews all locks, not only those that are due: the answer may come after an outage, in which others have expired. */
  override async extendJobLocks(..._due: Parameters<Worker<D, R>['extendJobLocks']>): Promise<string[]> {
    const tracked = [...trackedBy(this.lockManager)].map(([id, { token }]) => ({ id, token }));
    if (tracked.length === 0) return [];
    const { lockDuration } = this.opts as { readonly lockDuration: number };
    try {
      const failed = await super.extendJobLocks(
        tracked.map(({ id }) => id),
        tracked.map(({ token }) => token),
        lockDuration,
      );
      const lost: string[] = [];
      for (const { id, token } of tracked.filter(({ id }) => failed.includes(id))) {
        const job = this.#attempts.get(token);
        // BullMQ takes a lock that has expired for lost.
        if (job?.id === id && (await this.#confirm(this.name, id, lockOf(job, token), lockDuration)) === 'lost') lost.push(id);
      }
      return lost;
    } catch (error) {
      this.#renewSoon();
      throw error;
    }
  }

  /** BullMQ asks again at once. */
  protected override moveToActive(...lock: Parameters<Worker<D, R>['moveToActive']>): ReturnType<Worker<D, R>['moveToActive']> {
    return whileAway(this.#closing.signal, () => super.moveToActive(...lock));
  }

  protected override handleCompleted(...end: Parameters<Worker<D, R>['handleCompleted']>): ReturnType<Worker<D, R>['handleCompleted']> {
    return this.#finish(end[1], end[2], () => super.handleCompleted(...end));
  }

  protected override handleFailed(...end: Parameters<Worker<D, R>['handleFailed']>): ReturnType<Worker<D, R>['handleFailed']> {
    return this.#finish(end[1], end[2], () => super.handleFailed(...end));
  }

  /** Waits while the queue is away. The lock may have expired then. */
  #finish<T>(job: Job<D, R>, token: string, finish: () => Promise<T>): Promise<T> {
    return whileAway(this.#closing.signal, async () => {
      try {
        return await finish();
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== MISSING_LOCK) throw error;
        const { lockDuration } = this.opts as { readonly lockDuration: number };
        if ((await this.#confirm(this.name, job.id as string, lockOf(job, token), lockDuration)) === 'lost') throw error;
        return finish();
      }
    });
  }

  #renewSoon(): void {
    if (this.#renewal !== undefined || this.#closing.signal.aborted) return;
    this.#renewal = setTimeout(() => {
      this.#renewal = undefined;
      void (this.lockManager as unknown as { extendLocks(ids: readonly string[]): Promise<void> }).extendLocks([]);
    }, RENEW_MS).unref();
  }
}

/** BullMQ's code of the error that a job has no lock. */
const MISSING_LOCK = -2;

const trackedBy = (locks: object): ReadonlyMap<string, { readonly token: string }> =>
  (locks as { readonly trackedJobs: ReadonlyMap<string, { readonly token: string }> }).trackedJobs;
