/**
 * The schedule of the SQL transformer: one for the whole fleet, kept in the queue.
 *
 * The shared settings are the only place that stores it. `scheduler.ts` makes BullMQ's job scheduler match it, and `ticks.ts` starts the runs.
 */

import { Fault } from '../../src/core/fault.ts';
import { type CronSchedule, localTimezone } from '../cron.ts';
import type { Schedule, SharedSettings } from '../runs/contract.ts';

/** The stored setting, as JSON. */
interface Stored {
  /** null: off. */
  readonly cron: string | null;
  readonly timezone: string;
  /** The option CRON yields to a request, and removes only a schedule that it has set itself. */
  readonly by: 'option' | 'request';
}

export interface SharedSchedule extends Schedule {
  /** Reads the stored schedule. */
  read(): Promise<CronSchedule | undefined>;
  /** Applies the options of a process with workers. */
  applyOption(option: CronSchedule | undefined, timezone: string | undefined): Promise<void>;
  onChange(changed: () => void): void;
  close(): void;
}

const KEY = 'schedule';
const TRIES = 20;

/** @throws Fault service/unavailable */
export async function openSchedule(settings: SharedSettings): Promise<SharedSchedule> {
  const listeners = new Set<() => void>();
  let text = await settings.get(KEY);
  const unwatch = settings.watch(KEY, (now) => {
    if (now === text) return;
    text = now;
    for (const listener of listeners) listener();
  });

  async function change(make: (stored: Stored | undefined) => Stored | undefined): Promise<void> {
    for (let i = 0; i < TRIES; i++) {
      const before = await settings.get(KEY);
      const stored = make(parseStored(before));
      const after = stored === undefined ? before : JSON.stringify(stored);
      if (after === undefined || after === before || (await settings.compareAndSet(KEY, before, after))) return;
    }
    throw new Fault('service/unavailable', 'The schedule is being changed from too many places at once', { hint: 'Try again' });
  }

  return {
    current: () => scheduleOf(parseStored(text)),

    set: (timing) =>
      change((stored) => ({
        cron: timing?.cron ?? null,
        timezone: timing?.timezone ?? stored?.timezone ?? localTimezone(),
        by: 'request',
      })),

    read: async () => scheduleOf(parseStored(await settings.get(KEY))),

    applyOption: (option, timezone) =>
      change((stored) => {
        if (stored?.by === 'request') return { ...stored, timezone: timezone ?? stored.timezone };
        if (option === undefined && stored === undefined) return undefined;
        return { cron: option?.cron ?? null, timezone: option?.timezone ?? localTimezone(), by: 'option' };
      }),

    onChange: (changed) => void listeners.add(changed),

    close() {
      unwatch();
      listeners.clear();
    },
  };
}

const parseStored = (text: string | undefined): Stored | undefined => (text === undefined ? undefined : (JSON.parse(text) as Stored));

const scheduleOf = (stored: Stored | undefined): CronSchedule | undefined =>
  stored === undefined || stored.cron === null ? undefined : { cron: stored.cron, timezone: stored.timezone };

export const sameSchedule = (a: CronSchedule | undefined, b: CronSchedule | undefined): boolean =>
  a?.cron === b?.cron && a?.timezone === b?.timezone;
