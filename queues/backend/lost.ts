/**
 * Jobs whose worker was lost, and those whose wait is over.
 *
 * BullMQ's own check puts a lost job ahead of everything that waits, so that a few runs that take their workers along are started again and
 * again while the others stand. Here a lost job goes back to its own place, after a pause that doubles with each loss; others go on meanwhile.
 * The same step promotes jobs whose wait is over: BullMQ does that when a worker asks for work, and workers without a free place ask for none.
 */
import type { Worker } from 'bullmq';

/** How long a job waits after it was lost: `firstMs`, and each further time twice as long. */
export interface LostPause {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const NO_PAUSE: LostPause = { firstMs: 0, longestMs: 0 };

/**
 * Gives back what is active without a lock, now and when the last look was made, and promotes what is due. Does nothing when the last look,
 * whoever made it, is less than `intervalMs` ago. Resolves to the ids of the lost jobs.
 */
export type Recover = (queue: string, intervalMs: number, pause: LostPause) => Promise<readonly string[]>;

/** What the n-th loss of a job costs it, from 1. */
export const pauseAfter = (losses: number, { firstMs, longestMs }: LostPause): number => Math.min(longestMs, firstMs * 2 ** (losses - 1));

/** Looks while the worker takes jobs, and tells it what was lost, as its event `stalled`. Ends with the worker. */
export function watchForLost(worker: Worker, recover: Recover, intervalMs: number, pause: LostPause): void {
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking || !worker.isRunning() || worker.isPaused()) return;
    looking = true;
    try {
      for (const id of await recover(worker.name, intervalMs, pause)) worker.emit('stalled', id, 'active');
    } catch (error) {
      // As BullMQ tells what its own steps meet; the next round looks again.
      worker.emit('error', error as Error);
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), intervalMs).unref();
  worker.on('closing', () => clearInterval(timer));
}
