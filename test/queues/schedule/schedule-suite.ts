/** The schedule of the SQL transformer on a queue, in real time: one tick for the fleet, restarts, changes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { QueueBackend } from '../../../queues/backend/backend.ts';
import type { CronSchedule } from '../../../queues/cron.ts';
import { type FailureMessage, SERVICE_QUEUES } from '../../../queues/jobs.ts';
import type { Runs } from '../../../queues/runs/contract.ts';
import { openRuns } from '../../../queues/runs/runs.ts';
import { openSchedule, type SharedSchedule } from '../../../queues/schedule/schedule.ts';
import { startTicks, type TickOptions } from '../../../queues/schedule/ticks.ts';
import type { OptionValues } from '../../../src/config/options/options.ts';
import { openConfig } from '../../../src/config/store.ts';
import { Fault } from '../../../src/core/fault.ts';
import { createLogger } from '../../../src/core/telemetry/observe.ts';
import { openQueue, type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { casesFor, type Extent } from '../../support/queues/describe.ts';
import { fakeRuns } from '../../support/service/fake.ts';

export const EVERY_SECOND: CronSchedule = { cron: '* * * * * ?', timezone: 'UTC' };
/** Its next tick is years away: none comes during a test. */
export const YEARLY: CronSchedule = { cron: '0 0 3 29 2 ?', timezone: 'UTC' };
const SCHEDULER = 'sql-transformer';

/** Ticks in a second or two, and again 20 s later: long after a retry, and soon enough if the machine was too busy for the first. */
const soon = (): CronSchedule => {
  const second = new Date(Date.now() + 1_500).getUTCSeconds();
  return { cron: `${second},${(second + 20) % 60} * * * * ?`, timezone: 'UTC' };
};

/** What the schedule needs of a process of the fleet. */
interface Member {
  readonly backend: QueueBackend;
  readonly schedule: SharedSchedule;
  readonly runs: TickOptions['runs'];
  /** Messages of the log so far. */
  readonly log: Record<string, unknown>[];
  changeTimezone(zone: string): Promise<void>;
  end(): Promise<void>;
}

type TestRuns = ReturnType<typeof fakeRuns>;

export function scheduleSuite(queue: TestQueue, extent: Extent): void {
  const { onOne } = casesFor(queue, extent);
  let server: TestServer;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let prefix: string;
  let runs: TestRuns;
  let members: Member[];

  beforeAll(async () => {
    server = await queue.start();
  });
  afterAll(() => server?.stop(prefix));
  beforeEach(async () => {
    prefix = uniquePrefix();
    directory = await temporaryDirectory();
    await mkdir(join(directory.path, 'data', 'mappings', 'sql-transformer'), { recursive: true });
    await writeFile(join(directory.path, 'data', 'mappings', 'sql-transformer', 'mapping.ttl'), 'is read by the run');
    runs = fakeRuns();
    members = [];
  });
  afterEach(async () => {
    for (const member of [...members].reverse()) await member.end();
    await directory.remove();
  });

  /** `shares`: another process in this one, on its backend, where the queue has no other kind. `real`: with runs of the queue. */
  const buried: FailureMessage[] = [];
  const bury = async (failure: FailureMessage): Promise<void> => void buried.push(failure);
  const join_ = async (options: OptionValues = {}, more: { shares?: Member; real?: true } = {}): Promise<Member> => {
    const log: Record<string, unknown>[] = [];
    const logger = createLogger({}, { write: (line: string) => void log.push(JSON.parse(line)) });
    const own = more.shares === undefined || queue.name !== 'embedded';
    const backend = own ? await openQueue(server.url, directory.path, prefix, logger) : (more.shares as Member).backend;
    const schedule = await openSchedule(backend.settings);
    const config = await openConfig({ DATA_DIR: 'data', ...options }, backend.settings);
    const real = more.real ? await openRuns(backend) : undefined;
    const ticks = await startTicks(
      backend,
      schedule,
      { runs: real ?? runs, config, workingDirectory: directory.path, deadLetter: async (_service, failure) => bury(failure) },
      logger,
    );
    let ended: Promise<void> | undefined;
    const member: Member = {
      backend,
      schedule,
      runs: real ?? runs,
      log,
      changeTimezone: async (zone) => void (await config.update('CRON_TIMEZONE', zone)),
      end: () => {
        ended ??= (async () => {
          await ticks.stop();
          await real?.close();
          schedule.close();
          config.close();
          if (own) await backend.close();
        })();
        return ended;
      },
    };
    members.push(member);
    return member;
  };
  const until = async <T>(what: string, find: () => T | undefined | Promise<T | undefined>, waitMs = 40_000): Promise<T> => {
    for (const deadline = Date.now() + waitMs; ; ) {
      const found = await find();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`${what}: not within ${waitMs} ms; ${JSON.stringify(members.map(({ log }) => log))}`);
      await sleep(25);
    }
  };
  const ticked = (count: number) => until(`${count} ticks`, () => (runs.submitted.length >= count ? runs.submitted.length : undefined));
  const scheduler = (member: Member) => member.backend.queue('schedule').getJobScheduler(SCHEDULER);
  const synced = (member: Member, timing: CronSchedule | undefined) =>
    until('the scheduler follows', async () => {
      const found = await scheduler(member);
      return found?.pattern === timing?.cron && found?.tz === timing?.timezone ? true : undefined;
    });
  const complete = (): void => runs.ends((id) => ({ state: 'completed', report: { runId: id } as never }));

  onOne(
    'two processes make one tick each second, and never two',
    async () => {
      complete();
      const asked: string[] = [];
      const { submit } = runs;
      Object.assign(runs, {
        submit: (...given: Parameters<typeof submit>) => {
          asked.push(given[1].idempotencyKey ?? '');
          return submit(...given);
        },
      });
      const one = await join_();
      await join_({}, { shares: one });
      await one.schedule.set(EVERY_SECOND);
      await ticked(3);
      // Counts calls, also those that find the run of the other process.
      const times = asked.map((key) => key.replace('schedule ', ''));
      expect(times.slice().sort()).toEqual([...new Set(times)]);
      expect(times.every((time) => Date.parse(time) % 1_000 === 0)).toBe(true);
      const seconds = (Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '')) / 1_000;
      // A busy machine may skip seconds.
      expect(seconds).toBeLessThan(times.length + 20);
      expect(runs.submitted[0]?.request).toMatchObject({
        service: 'sql-transformer',
        inputs: [],
        mappings: [join(directory.path, 'data', 'mappings', 'sql-transformer', 'mapping.ttl')],
      });
      const scheduled = members.flatMap(({ log }) => log.filter(({ msg }) => msg === 'run scheduled').map(({ tick }) => tick));
      expect(scheduled.slice().sort()).toEqual(times.slice(0, scheduled.length));
    },
    60_000,
  );

  onOne(
    'it survives a restart of every process',
    async () => {
      complete();
      const one = await join_();
      await one.schedule.set(EVERY_SECOND);
      await ticked(1);
      await one.end();
      const before = runs.submitted.length;
      // Longer than the interval of the ticks.
      await sleep(1_200);
      expect(runs.submitted.length).toBe(before);
      const back = Date.now();
      const again = await join_();
      expect(again.schedule.current()).toEqual(EVERY_SECOND);
      await ticked(before + 2);
      // At most one of the missed ticks is made up.
      const times = runs.submitted.slice(before).map(({ key }) => Date.parse(key?.replace('schedule ', '') ?? ''));
      expect(times.filter((time) => time < back).length).toBeLessThanOrEqual(1);
    },
    60_000,
  );

  onOne(
    'when switched off, it stops at once in all processes, and stays off',
    async () => {
      complete();
      const one = await join_();
      const two = await join_({}, { shares: one });
      await one.schedule.set(EVERY_SECOND);
      await ticked(2);
      await two.schedule.set(undefined);
      const before = runs.submitted.length;
      await synced(one, undefined);
      await sleep(1_200);
      // An active tick may have ended meanwhile.
      expect(runs.submitted.length).toBeLessThanOrEqual(before + 1);
      const delayed = await one.backend.queue('schedule').getJobCounts('delayed', 'waiting', 'active');
      expect(Object.values(delayed).reduce((a, b) => a + b, 0)).toBe(0);
      await until('the other knows', () => (one.schedule.current() === undefined ? true : undefined));
    },
    60_000,
  );

  onOne(
    'a change replaces the schedule, also with concurrent changes',
    async () => {
      const one = await join_();
      const two = await join_({}, { shares: one });
      await one.schedule.set(EVERY_SECOND);
      const others = ['0 0 1 * * ?', '0 0 2 * * ?', '0 0 3 * * ?', '0 4 * * *'].map((cron) => ({ cron, timezone: 'UTC' }));
      for (let round = 0; round < 5; round++) {
        await Promise.all(others.map((timing, i) => ((i + round) % 2 === 0 ? one : two).schedule.set(timing)));
        const last = await one.schedule.read();
        expect(others).toContainEqual(last);
        await synced(one, last);
        const jobs = await one.backend.queue('schedule').getJobs(['delayed', 'waiting']);
        expect(jobs.map(({ data }) => data)).toEqual([last]);
      }
    },
    60_000,
  );

  onOne(
    'CRON is the schedule until a request sets another one, and removes only its own',
    async () => {
      const options = { CRON: YEARLY.cron, CRON_TIMEZONE: 'UTC' };
      const one = await join_(options);
      expect(one.schedule.current()).toEqual(YEARLY);
      await synced(one, YEARLY);
      await one.end();
      const without = await join_({});
      expect(without.schedule.current()).toBeUndefined();
      const own = { cron: '0 5 * * *', timezone: 'UTC' };
      await without.schedule.set(own);
      await synced(without, own);
      await without.end();
      const again = await join_(options);
      expect(again.schedule.current()).toEqual(own);
      await again.schedule.set(undefined);
      await again.end();
      expect((await join_(options)).schedule.current()).toBeUndefined();
    },
    60_000,
  );

  onOne(
    'another CRON_TIMEZONE moves the schedule to that zone',
    async () => {
      const one = await join_();
      await one.schedule.set(YEARLY);
      await one.changeTimezone('Asia/Kolkata');
      await synced(one, { ...YEARLY, timezone: 'Asia/Kolkata' });
      expect(new Date((await scheduler(one))?.next ?? 0).toISOString()).toContain('T21:30:00');
    },
    60_000,
  );

  onOne(
    'a tick is skipped, and logged, while the run of an earlier one is active',
    async () => {
      const one = await join_({}, { real: true });
      const real = one.runs as Runs;
      await one.schedule.set(EVERY_SECOND);
      const skipped = await until('a skipped tick', () => one.log.find(({ msg }) => String(msg).startsWith('tick skipped')));
      const [run, ...others] = await real.list({ service: 'sql-transformer', limit: 10 });
      expect(others).toEqual([]);
      expect(skipped).toMatchObject({ level: 'warn', run: run?.id });
      await real.cancel(run?.id ?? '');
      // The worker that takes it finds that it is cancelled.
      const worker = one.backend.worker(SERVICE_QUEUES['sql-transformer'].work, async () => ({ state: 'cancelled' }), {});
      const ended = new Promise((resolve) => worker.once('completed', resolve));
      void worker.run();
      await ended;
      await worker.close();
      const next = await until('the next run', async () => (await real.list({ limit: 10 })).find(({ id }) => id !== run?.id));
      expect(next).toMatchObject({ service: 'sql-transformer', state: 'queued', input: [] });
    },
    60_000,
  );

  onOne(
    'ticks are skipped, and logged once, while the dataset is followed',
    async () => {
      const one = await join_({ FOLLOW: true, DATASET: 'shop' });
      await one.schedule.set(EVERY_SECOND);
      const isSkipped = ({ msg }: Record<string, unknown>): boolean => String(msg).startsWith('ticks skipped');
      await until('a skipped tick', () => one.log.find(isSkipped));
      await sleep(2_500);
      expect([one.log.filter(isSkipped).length, runs.submitted, one.log.filter(({ level }) => level === 'error')]).toEqual([1, [], []]);
    },
    60_000,
  );

  onOne(
    'a tick without a master mapping starts nothing, logs what to do, and the next one follows',
    async () => {
      const one = await join_({ MASTER_MAPPING_FILE: 'absent.ttl' });
      await one.schedule.set(EVERY_SECOND);
      const said = await until('two complaints', () => {
        const lines = one.log.filter(({ msg }) => msg === 'scheduled run not started');
        return lines.length >= 2 ? lines[0] : undefined;
      });
      expect(said).toMatchObject({ reason: expect.stringContaining('absent.ttl'), hint: expect.stringContaining('PUT /rml') });
      expect(buried[0]).toMatchObject({ name: 'SQL-Transformer', error: expect.stringContaining('absent.ttl') });
      expect(runs.submitted).toEqual([]);
    },
    60_000,
  );

  onOne(
    'a tick whose run cannot be queued is retried, as the same run',
    async () => {
      complete();
      const one = await join_();
      let failures = 0;
      const submit = runs.submit;
      const keys: (string | undefined)[] = [];
      Object.assign(runs, {
        submit: async (...given: Parameters<typeof submit>) => {
          keys.push(given[1].idempotencyKey);
          if (failures++ === 0) throw new Fault('service/unavailable', 'away');
          return submit(...given);
        },
      });
      await one.schedule.set(soon());
      await ticked(1);
      expect(keys).toEqual([keys[0], keys[0]]);
      expect(runs.submitted.map(({ key }) => key)).toEqual([keys[0]]);
    },
    60_000,
  );
}
