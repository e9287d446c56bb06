/**
 * BullMQ's job scheduler, which has one job for the next tick of the schedule. Processes with workers make it match the schedule at start and
 * whenever the schedule changes.
 */

import type { Queue } from 'bullmq';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { CronSchedule } from '../cron.ts';
import type { SharedSettings } from '../runs/contract.ts';
import { type SharedSchedule, sameSchedule } from './schedule.ts';
import { withSchedulerLock } from './scheduler-lock.ts';

const SCHEDULER = 'sql-transformer';
const RETRY_MS = 1_000;
/** The queue or the disk of the mappings is away: a tick is retried for about a minute. */
const TICK_RETRY = { attempts: 6, backoff: { type: 'exponential', delay: 2_000 }, removeOnComplete: true, removeOnFail: true } as const;

export interface SchedulerSync {
  /** Makes the scheduler match the schedule, and retries until it does or `stop` is called. */
  syncSoon(): void;
  /** Starts nothing more, and waits for a change under way. */
  stop(): Promise<void>;
}

export function openSchedulerSync(
  queue: Queue<CronSchedule>,
  settings: SharedSettings,
  schedule: SharedSchedule,
  logger: Logger,
): SchedulerSync {
  let stopped = false;

  /** Makes the scheduler match the schedule. Reads the schedule again after writing, so the last writer has seen the last change. */
  const syncScheduler = async (): Promise<void> => {
    for (;;) {
      const wanted = await schedule.read();
      if (await isInSync(wanted)) return;
      await withSchedulerLock(settings, change);
      if (sameSchedule(wanted, await schedule.read())) return;
    }
  };
  const change = async (): Promise<void> => {
    const wanted = await schedule.read();
    if (await isInSync(wanted)) return;
    if (wanted === undefined) await queue.removeJobScheduler(SCHEDULER);
    else {
      const repeat = { pattern: wanted.cron, tz: wanted.timezone };
      await queue.upsertJobScheduler(SCHEDULER, repeat, { name: 'tick', data: wanted, opts: TICK_RETRY });
    }
  };
  const isInSync = async (wanted: CronSchedule | undefined): Promise<boolean> => {
    const found = await queue.getJobScheduler(SCHEDULER);
    if (wanted === undefined) return found === undefined;
    return found?.pattern === wanted.cron && found.tz === wanted.timezone && (await hasNext(found.next));
  };
  const hasNext = async (time: number | undefined): Promise<boolean> => {
    const job = await queue.getJob(`repeat:${SCHEDULER}:${time}`);
    return job !== undefined && job.finishedOn === undefined;
  };

  let retry: NodeJS.Timeout | undefined;
  let syncing: Promise<void> = Promise.resolve();
  const syncSoon = (): void => {
    clearTimeout(retry);
    syncing = syncing.then(async () => {
      if (stopped) return;
      try {
        await syncScheduler();
      } catch (error) {
        if (stopped) return;
        logger.warn({ error }, 'schedule not synchronized');
        retry = setTimeout(syncSoon, RETRY_MS).unref();
      }
    });
  };

  return {
    syncSoon,
    stop() {
      stopped = true;
      clearTimeout(retry);
      return syncing;
    },
  };
}
