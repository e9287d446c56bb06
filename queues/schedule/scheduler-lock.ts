/** The lock of the job scheduler: in the whole fleet, one process changes it at a time. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedSettings } from '../runs/contract.ts';

const SCHEDULER_LOCK_KEY = 'schedule-arranging';
/** Changing the scheduler takes milliseconds; if its process dies, the others wait this long. */
const LEASE_MS = 5_000;
const LEASE_POLL_MS = 25;

/**
 * Runs `work` under a lock of the whole fleet. On PostgreSQL two concurrent changes of a scheduler would leave the next tick of both; the
 * orphaned one could not be removed, and no other tick could be scheduled at its time.
 */
export async function withSchedulerLock(settings: SharedSettings, work: () => Promise<void>): Promise<void> {
  for (;;) {
    const held = await settings.get(SCHEDULER_LOCK_KEY);
    if (Number(held?.split(' ')[0] ?? 0) < Date.now()) {
      const mine = `${Date.now() + LEASE_MS} ${randomUUID()}`;
      if (await settings.compareAndSet(SCHEDULER_LOCK_KEY, held, mine)) {
        try {
          return await work();
        } finally {
          await settings.compareAndSet(SCHEDULER_LOCK_KEY, mine, '0');
        }
      }
    }
    await sleep(LEASE_POLL_MS);
  }
}
