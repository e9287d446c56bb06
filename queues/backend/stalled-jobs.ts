/**
 * Recovers stalled jobs, whose worker was lost, and promotes delayed jobs that are due.
 *
 * BullMQ's own check puts a stalled job ahead of all waiting jobs, so a few runs that kill their workers are restarted again and again
 * while all others wait. Here a stalled job keeps its place in the order and waits for a backoff that doubles each time; others run
 * meanwhile. The same step promotes due jobs: BullMQ does that when a worker asks for work, and a worker at full concurrency does not ask.
 */
import type { Worker } from 'bullmq';

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
