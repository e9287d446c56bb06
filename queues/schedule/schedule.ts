/**
 * The schedule of the SQL transformer: one for the whole fleet, kept in the queue.
 *
 * The shared settings are the only place that stores it. Processes with workers make BullMQ's job scheduler match it at start and whenever
 * it changes. The scheduler has one job for the next tick; the worker that takes it creates the job of the following tick and starts a run.
 * So each tick happens once, however many processes exist, and a tick missed while no worker was running is made up once.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import type { ConfigStore } from '../../src/config/store.ts';
import { atMost } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { QueueBackend } from '../backend/backend.ts';
import { type CronSchedule, cronOfOptions, localTimezone } from '../cron.ts';
import { type FailureMessage, SCHEDULE_QUEUE } from '../jobs.ts';
import { sqlRequest } from '../requests/transform.ts';
import type { Runs, Schedule, SharedSettings } from '../runs/contract.ts';
import { requestFailureMessage } from '../runs/outcome.ts';
import { runIdOfKey } from '../runs/runs.ts';

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
/** Time and run of the last tick that started a run. */
const LAST_KEY = 'schedule-last';
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

const sameSchedule = (a: CronSchedule | undefined, b: CronSchedule | undefined): boolean =>
  a?.cron === b?.cron && a?.timezone === b?.timezone;

const SCHEDULER = 'sql-transformer';
const RETRY_MS = 1_000;
const STOP_MS = 2_000;
/** The queue or the disk of the mappings is away: a tick is retried for about a minute. */
const TICK_RETRY = { attempts: 6, backoff: { type: 'exponential', delay: 2_000 }, removeOnComplete: true, removeOnFail: true } as const;

export interface TickOptions {
  readonly runs: Pick<Runs, 'submit' | 'get'>;
  readonly config: ConfigStore;
  /** Base of relative paths in options. */
  readonly workingDirectory: string;
  /** Sends the failure of a tick that could not start a run. */
  readonly deadLetter?: (failure: FailureMessage) => Promise<void>;
}

export interface Ticks {
  /** Takes no more ticks, and waits for an active one. */
  stop(): Promise<void>;
}

type Tick = Job<CronSchedule>;

/**
 * Takes ticks of the schedule until `stop`, together with the other processes of the fleet. The option CRON of this process becomes the
 * schedule unless a request has set one.
 *
 * @throws Fault config/invalid — CRON is not a cron expression; service/unavailable
 */
export async function startTicks(
  backend: QueueBackend,
  schedule: SharedSchedule,
  { runs, config, workingDirectory, deadLetter = async () => undefined }: TickOptions,
  logger: Logger,
): Promise<Ticks> {
  const queue = backend.queue<CronSchedule>(SCHEDULE_QUEUE);
  let stopped = false;

  /** Makes the scheduler match the schedule. Reads the schedule again after writing, so the last writer has seen the last change. */
  const syncScheduler = async (): Promise<void> => {
    for (;;) {
      const wanted = await schedule.read();
      if (await isInSync(wanted)) return;
      await withSchedulerLock(backend.settings, change);
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

  /** Does the same as `GET /process`, unless the run of an earlier tick is still active. */
  const tick = async (job: Tick): Promise<void> => {
    const time = Number(job.id?.split(':').pop());
    const at = new Date(time).toISOString();
    // The schedule was switched off or changed after this tick was created.
    if (!sameSchedule(job.data, await schedule.read())) return;
    const key = `schedule ${at}`;
    const before = await lockTick(backend.settings, { time, run: runIdOfKey('sql-transformer', key) }, runs);
    if (before !== undefined) {
      const why = before.time < time ? 'the run of an earlier one is still active' : 'a later one has come before it';
      logger.warn({ tick: at, run: before.run }, `tick skipped: ${why}`);
      return;
    }
    try {
      const request = await sqlRequest(config.snapshot(), workingDirectory);
      const { id, existing } = await runs.submit(request, { idempotencyKey: key, digest: at, caller: 'schedule' });
      if (!existing) logger.info({ tick: at, run: id }, 'run scheduled');
    } catch (error) {
      if (!(error instanceof Fault) || error.retriable) throw error;
      await deadLetter(requestFailureMessage('sql-transformer', error));
      logger.error({ tick: at, code: error.code, reason: error.message, hint: error.hint }, 'scheduled run not started');
    }
  };

  const snapshot = config.snapshot();
  let timezone = snapshot.CRON_TIMEZONE;
  await schedule.applyOption(cronOfOptions(snapshot), timezone);
  schedule.onChange(syncSoon);
  const unwatch = config.onChange((now) => {
    if (now.CRON_TIMEZONE === timezone) return;
    timezone = now.CRON_TIMEZONE;
    const change = async (): Promise<void> => schedule.applyOption(cronOfOptions(now), timezone ?? localTimezone());
    change().catch((error: unknown) => logger.warn({ error }, 'time zone of the schedule not changed'));
  });
  const worker = backend.worker<CronSchedule, void>(SCHEDULE_QUEUE, tick, {
    concurrency: 1,
    lockDuration: snapshot.LOCK_SECONDS * 1_000,
    stalledInterval: snapshot.STALLED_SECONDS * 1_000,
    drainDelay: 5,
    runRetryDelay: RETRY_MS,
  });
  worker.on('failed', (job, error) => logger.warn({ tick: job?.id, error }, 'tick failed'));
  await worker.waitUntilReady();
  worker.run().catch((error: unknown) => logger.error({ error, worker: SCHEDULE_QUEUE }, 'worker ended'));
  syncSoon();

  return {
    async stop() {
      stopped = true;
      unwatch();
      clearTimeout(retry);
      await atMost(STOP_MS, Promise.all([syncing, worker.close()]));
    },
  };
}

const SCHEDULER_LOCK_KEY = 'schedule-arranging';
/** Changing the scheduler takes milliseconds; if its process dies, the others wait this long. */
const LEASE_MS = 5_000;
const LEASE_POLL_MS = 25;

/**
 * Runs `work` under a lock of the whole fleet. On PostgreSQL two concurrent changes of a scheduler would leave the next tick of both; the
 * orphaned one could not be removed, and no other tick could be scheduled at its time.
 */
async function withSchedulerLock(settings: SharedSettings, work: () => Promise<void>): Promise<void> {
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

interface LastTick {
  readonly time: number;
  readonly run: string;
}

/**
 * Makes `tick` the last one. Resolves to undefined if it may start its run; else to the tick that prevents that: one whose run is active,
 * or a later one. A tick that is already the last one may start: its process may have died before it submitted the run, and the run id is
 * the same.
 */
async function lockTick(settings: SharedSettings, tick: LastTick, runs: Pick<Runs, 'get'>): Promise<LastTick | undefined> {
  for (let i = 0; i < TRIES; i++) {
    const text = await settings.get(LAST_KEY);
    const last = text === undefined ? undefined : (JSON.parse(text) as LastTick);
    if (last?.time === tick.time) return undefined;
    if (last !== undefined) {
      if (last.time > tick.time) return last;
      const run = await runs.get(last.run);
      if (run !== undefined && run.outcome === undefined) return last;
    }
    if (await settings.compareAndSet(LAST_KEY, text, JSON.stringify(tick))) return undefined;
  }
  throw new Fault('service/unavailable', 'The last tick of the schedule is being changed too often');
}
