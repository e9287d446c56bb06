/**
 * The ticks of the schedule. The worker that takes a tick creates the job of the following one and starts a run. So each tick happens once,
 * however many processes exist, and a tick missed while no worker was running is made up once.
 */

import type { Job } from 'bullmq';
import type { ConfigStore } from '../../src/config/store.ts';
import { atMost } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { QueueBackend } from '../backend/backend.ts';
import { type CronSchedule, cronOfOptions, localTimezone } from '../cron.ts';
import { type FailureMessage, SCHEDULE_QUEUE, type Service } from '../jobs.ts';
import { sqlRequest } from '../requests/transform.ts';
import type { Runs, SharedSettings } from '../runs/contract.ts';
import { requestFailureMessage } from '../runs/outcome.ts';
import { runIdOfKey } from '../runs/runs.ts';
import { type SharedSchedule, sameSchedule } from './schedule.ts';
import { openSchedulerSync } from './scheduler.ts';

const RUN_RETRY_MS = 1_000;
const STOP_MS = 2_000;

export interface TickOptions {
  readonly runs: Pick<Runs, 'submit' | 'get'>;
  readonly config: ConfigStore;
  /** Base of relative paths in options. */
  readonly workingDirectory: string;
  /** Sends the failure of a tick that could not start a run. */
  readonly deadLetter?: (service: Service, failure: FailureMessage) => Promise<void>;
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
  const scheduler = openSchedulerSync(backend.queue<CronSchedule>(SCHEDULE_QUEUE), backend.settings, schedule, logger);

  let isTold = false;
  /** Does the same as `GET /process`, unless the run of an earlier tick is still active, or a follower makes the versions of the dataset. */
  const tick = async (job: Tick): Promise<void> => {
    const time = Number(job.id?.split(':').pop());
    const at = new Date(time).toISOString();
    // The schedule was switched off or changed after this tick was created.
    if (!sameSchedule(job.data, await schedule.read())) return;
    const { FOLLOW, DATASET } = config.snapshot();
    const isFollowed = FOLLOW && DATASET !== undefined;
    if (isFollowed && !isTold)
      logger.warn({ tick: at, dataset: DATASET }, 'ticks skipped: the dataset is followed, so runs make no version of it');
    isTold = isFollowed;
    if (isFollowed) return;
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
      await deadLetter('sql-transformer', requestFailureMessage('sql-transformer', error));
      logger.error({ tick: at, code: error.code, reason: error.message, hint: error.hint }, 'scheduled run not started');
    }
  };

  const snapshot = config.snapshot();
  let timezone = snapshot.CRON_TIMEZONE;
  await schedule.applyOption(cronOfOptions(snapshot), timezone);
  schedule.onChange(scheduler.syncSoon);
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
    runRetryDelay: RUN_RETRY_MS,
  });
  worker.on('failed', (job, error) => logger.warn({ tick: job?.id, error }, 'tick failed'));
  await worker.waitUntilReady();
  worker.run().catch((error: unknown) => logger.error({ error, worker: SCHEDULE_QUEUE }, 'worker ended'));
  scheduler.syncSoon();

  return {
    async stop() {
      unwatch();
      await atMost(STOP_MS, Promise.all([scheduler.stop(), worker.close()]));
    },
  };
}

/** Time and run of the last tick that started a run. */
const LAST_KEY = 'schedule-last';
const TRIES = 20;

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
