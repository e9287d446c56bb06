/**
 * Jobs whose worker was lost, and those whose wait is over.
 *
 * BullMQ's own check puts a lost job ahead of everything that waits, so that a few runs that take their workers along are started again and
 * again while the others stand. Here a lost job goes back to its own place, after a pause that doubles with each loss; others go on meanwhile.
 * The same step promotes jobs whose wait is over: BullMQ does that when a worker asks for work, and workers without a free place ask for none.
 */
import type { Worker } from 'bullmq';

/** How long a job waits after it was lost: `firstMs`, and each further time twice as long. */
export interface StalledBackoff {
  readonly initialMs: number;
  readonly maxMs: number;
}

export const NO_BACKOFF: StalledBackoff = { initialMs: 0, maxMs: 0 };

/**
 * Gives back what is active without a lock, now and when the last look was made, and promotes what is due. Does nothing when the last look,
 * whoever made it, is less than `intervalMs` ago. Resolves to the ids of the lost jobs.
 */
export type RecoverStalledJobs = (queue: string, intervalMs: number, pause: StalledBackoff) => Promise<readonly string[]>;

/** What the n-th loss of a job costs it, from 1. */
export const backoffAfter = (losses: number, { initialMs, maxMs }: StalledBackoff): number =>
  Math.min(maxMs, initialMs * 2 ** (losses - 1));

/** Looks while the worker takes jobs, and tells it what was lost, as its event `stalled`. Ends with the worker. */
export function watchStalledJobs(worker: Worker, recover: RecoverStalledJobs, intervalMs: number, backoff: StalledBackoff): void {
  let checking = false;
  const check = async (): Promise<void> => {
    if (checking || !worker.isRunning() || worker.isPaused()) return;
    checking = true;
    try {
      for (const id of await recover(worker.name, intervalMs, backoff)) worker.emit('stalled', id, 'active');
    } catch (error) {
      // As BullMQ tells what its own steps meet; the next round looks again.
      worker.emit('error', error as Error);
    } finally {
      checking = false;
    }
  };
  const timer = setInterval(() => void check(), intervalMs).unref();
  worker.on('closing', () => clearInterval(timer));
}
