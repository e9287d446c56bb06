/**
 * What Quadmill uses of BullMQ beyond its documented interface: keys, scores and fields in Redis, tables and functions in PostgreSQL, and a
 * few files whose behaviour is repeated here. BullMQ may change any of it in a patch release, so its version is pinned exactly.
 *
 * When a test fails after a new version was installed: read the change, bring the file that the test names into line, then change the test.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { PglitePool } from '../../../queues/backend/embedded/pglite.ts';
import { bandOf, priorityOf, URGENCY_LEVELS } from '../../../queues/backend/fair-queueing.ts';
import { openEmbedded } from '../../../queues/backend/postgres.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { QUEUES, startRedis, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';

const BULLMQ = join(dirname(createRequire(import.meta.url).resolve('bullmq')), '../..');

test('the version is pinned, and it is the one installed', async () => {
  const read = async (directory: string) => JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  const wanted = (await read(PROJECT_ROOT)).dependencies.bullmq;
  expect(wanted).toMatch(/^\d+\.\d+\.\d+$/);
  expect((await read(BULLMQ)).version).toBe(wanted);
});

/** Without comments, and with white space normalized. */
function digest(code: string): string {
  const text = code
    .replace(/--\[\[[\s\S]*?\]\]|\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*(--|\/\/).*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Each file of BullMQ whose behaviour our code repeats, our code, and the digest of the file when the two were last compared. */
const REPEATED: readonly (readonly [file: string, repeatedIn: string, digest: string])[] = [
  ['scripts/moveStalledJobsToWait-9.js', 'RECOVER_STALLED in queues/backend/redis.ts', '618f1e436dd930f6'],
  [
    'scripts/extendLocks-1.js',
    'RECOVER_STALLED in queues/backend/redis.ts, which marks jobs; renewing the lock removes the mark',
    'ea1ff62a674add26',
  ],
  [
    'scripts/moveToActive-11.js',
    'RECOVER_STALLED in queues/backend/redis.ts, which promotes what is due and wakes workers',
    '4c5d62176bfc5678',
  ],
  ['classes/queue-events.js', 'GatheredEvents in queues/backend/jobs/events.ts', '80126a2d2ef67943'],
  ['classes/lock-manager.js', 'RenewingWorker in queues/backend/jobs/stalled-jobs.ts', '30e4ab514ee67baf'],
  ['commands/includes/promoteDelayedJobs.lua', 'RECOVER_STALLED in queues/backend/redis.ts', 'f741b8ed4d749709'],
  ['commands/includes/addDelayedJob.lua', 'RECOVER_STALLED in queues/backend/redis.ts', '9468f255a9a5dc5e'],
  ['commands/includes/getDelayedScore.lua', 'RECOVER_STALLED in queues/backend/redis.ts', '7870df975f751c1e'],
  ['commands/includes/getPriorityScore.lua', 'RECOVER_STALLED and NEXT_START_TAG in queues/backend/redis.ts', '3655e46ffa6c269a'],
  ['commands/includes/addBaseMarkerIfNeeded.lua', 'RECOVER_STALLED in queues/backend/redis.ts', '6457649e39f11b7d'],
  ['commands/includes/addDelayMarkerIfNeeded.lua', 'RECOVER_STALLED in queues/backend/redis.ts', 'eba34b6570280e69'],
  ['postgres/create-postgres-backend.js', 'makeDriver in queues/backend/postgres.ts', 'd74137c85755f414'],
  [
    'postgres/postgres-connection.js',
    'SchemaConnection in queues/backend/postgres.ts, PglitePool in queues/backend/embedded/pglite.ts',
    '6fa818064451f767',
  ],
];

test('the code that repeats them has these names', async () => {
  for (const [, repeatedIn] of REPEATED) {
    for (const [, names = '', path = ''] of repeatedIn.matchAll(/(\w+(?: and \w+)*) in (queues\/\S+\.ts)/g)) {
      const text = await readFile(join(PROJECT_ROOT, path), 'utf8');
      expect([path, ...names.split(' and ').filter((name) => !text.includes(name))]).toEqual([path]);
    }
  }
});

const CHANGED = 'BullMQ has changed; compare it with the place named here, then write the new digest down';

test.each(REPEATED)('%s has not changed since it was last compared', async (file, repeatedIn, expected) => {
  const code = await readFile(join(BULLMQ, 'dist/cjs', file), 'utf8').catch(() => 'no such file');
  expect({ file, repeatedIn, note: CHANGED, digest: digest(code) }).toEqual({ file, repeatedIn, note: CHANGED, digest: expected });
});

const missingRedis = QUEUES.find((queue) => queue.name === 'redis')?.missing;
(missingRedis === undefined ? describe : describe.skip)(
  `in Redis${missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`}`,
  () => {
    const prefix = uniquePrefix();
    const ends: (() => Promise<unknown>)[] = [];
    let redis: Redis;

    beforeAll(async () => {
      const server = await startRedis();
      ends.push(() => server.stop());
      redis = new Redis(server.url, { maxRetriesPerRequest: null });
      ends.push(() => redis.quit());
    });
    afterAll(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });

    function open(name: string): { queue: Queue; worker: Worker; key: (part: string) => string } {
      const queue = new Queue(name, { connection: redis, prefix });
      const worker = new Worker(name, async () => undefined, { connection: redis, prefix, autorun: false, skipStalledCheck: true });
      ends.push(
        () => queue.close(),
        () => worker.close(),
      );
      return { queue, worker, key: (part) => `${prefix}:${name}:${part}` };
    }

    const eventsOf = async (stream: string): Promise<readonly Record<string, string>[]> =>
      (await redis.xrange(stream, '-', '+')).map(([, fields]) =>
        Object.fromEntries(Array.from({ length: fields.length / 2 }, (_, i) => [fields[2 * i], fields[2 * i + 1]])),
      );

    test('every key is the prefix, the queue and a name', () => {
      const { queue } = open('names');
      const names = ['stalled-check', 'stalled', 'active', 'wait', 'prioritized', 'delayed', 'pc', 'marker', 'events', 'meta'];
      const { keys } = queue as unknown as { keys: Readonly<Record<string, string>> };
      expect(names.map((name) => keys[name])).toEqual(names.map((name) => `${prefix}:names:${name}`));
    });

    test('the score of a job with a priority is the priority times 2^32 plus a counter, and the marker 0 wakes workers', async () => {
      const { queue, key } = open('priorities');
      const job = await queue.add('job', {}, { priority: 5 });
      expect(await redis.zrange(key('prioritized'), '0', '-1', 'WITHSCORES')).toEqual([job.id, String(5 * 2 ** 32 + 1)]);
      expect(await redis.get(key('pc'))).toBe('1');
      expect(await redis.hget(key(job.id as string), 'priority')).toBe('5');
      expect(await redis.zscore(key('marker'), '0')).toBe('0');
    });

    test('the largest priority of the last urgency is the largest that BullMQ accepts', async () => {
      const { queue } = open('largest');
      const priority = priorityOf(bandOf('largest', URGENCY_LEVELS - 1), Number.POSITIVE_INFINITY);
      await queue.add('job', {}, { priority });
      await expect(queue.add('job', {}, { priority: priority + 1 })).rejects.toThrow('Priority should be between 0 and');
    });

    test('the score of a delayed job is its time times 4096, as is that of the marker 1', async () => {
      const { queue, key } = open('delays');
      const job = await queue.add('job', {}, { delay: 60_000 });
      const due = job.timestamp + 60_000;
      expect(await redis.zrange(key('delayed'), '0', '-1', 'WITHSCORES')).toEqual([job.id, String(due * 4096)]);
      expect(await redis.zscore(key('marker'), '1')).toBe(String(due));
      expect(await redis.hget(key(job.id as string), 'delay')).toBe('60000');
      expect(await eventsOf(key('events'))).toContainEqual({ event: 'delayed', jobId: job.id, delay: String(due) });
      expect(await redis.hget(key('meta'), 'opts.maxLenEvents')).toBe('10000');
    });

    test('a paused queue has a field in its metadata, and wakes no worker', async () => {
      const { queue, key } = open('pauses');
      await queue.pause();
      await queue.add('job', {});
      expect(await redis.hexists(key('meta'), 'paused')).toBe(1);
      expect(await redis.exists(key('marker'))).toBe(0);
      await queue.resume();
      expect(await redis.hexists(key('meta'), 'paused')).toBe(0);
    });

    test('an active job is in the list of active jobs and has a lock; renewing the lock removes its mark', async () => {
      const { queue, worker, key } = open('locks');
      const { id } = (await queue.add('job', {})) as { id: string };
      const job = await worker.getNextJob('token', { block: false });
      expect(await redis.lrange(key('active'), 0, -1)).toEqual([id]);
      expect(await redis.get(key(`${id}:lock`))).toBe('token');
      await redis.sadd(key('stalled'), id);
      await worker.extendJobLocks([id], ['token'], 10_000);
      expect(await redis.smembers(key('stalled'))).toEqual([]);
      await job?.moveToCompleted('done', 'token', false);
      expect(await redis.exists(key(`${id}:lock`), key('active'))).toBe(0);
    });

    test('the check for stalled jobs has a key that expires, counts losses in stc, and emits events', async () => {
      const { queue, worker, key } = open('losses');
      const { id } = (await queue.add('job', {})) as { id: string };
      await worker.getNextJob('token', { block: false });
      const backend = worker.getBackend() as unknown as { moveStalledJobsToWait(): Promise<string[]> };
      await backend.moveStalledJobsToWait();
      expect(await redis.pttl(key('stalled-check'))).toBeGreaterThan(0);
      expect(await redis.smembers(key('stalled'))).toEqual([id]);
      await redis.del(key('stalled-check'), key(`${id}:lock`));
      expect(await backend.moveStalledJobsToWait()).toEqual([id]);
      expect(await redis.hget(key(id), 'stc')).toBe('1');
      expect((await queue.getJob(id))?.stalledCounter).toBe(1);
      expect(await redis.lrange(key('wait'), 0, -1)).toEqual([id]);
      const events = await eventsOf(key('events'));
      expect(events).toContainEqual({ event: 'waiting', jobId: id, prev: 'active' });
      expect(events).toContainEqual({ event: 'stalled', jobId: id });
    });

    test('the id of a job of a scheduler ends with its time', async () => {
      const { queue } = open('ticks');
      const job = await queue.upsertJobScheduler('tick', { every: 3_600_000 });
      expect(Number(job?.id?.split(':').pop())).toBe((await queue.getJobScheduler('tick'))?.next);
    });
  },
);

describe('in PostgreSQL, a server or embedded', () => {
  const schema = uniquePrefix();
  const ends: (() => Promise<unknown>)[] = [];
  let pool: PglitePool;
  let queue: Queue;
  let worker: Worker;

  beforeAll(async () => {
    const directory = await temporaryDirectory();
    ends.push(() => directory.remove());
    const driver = await openEmbedded(directory.path, schema);
    ends.push(() => driver.close());
    pool = driver.connection('producer') as PglitePool;
    const factory = driver.factory as undefined;
    const options = { connection: pool as never };
    queue = new Queue('jobs', options, factory);
    worker = new Worker('jobs', async () => undefined, { ...options, autorun: false, skipStalledCheck: true }, factory);
    ends.push(
      () => queue.close(),
      () => worker.close(),
    );
  }, 300_000);
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  const rowsOf = async <R>(text: string, ...values: readonly unknown[]): Promise<readonly R[]> =>
    (await pool.query(text, values)).rows as R[];
  const jobOf = async (id: string | undefined) =>
    (await rowsOf<Readonly<Record<string, unknown>>>(`SELECT * FROM ${schema}.job WHERE queue = 'jobs' AND id = $1`, id))[0];

  test.each([
    ['move_stalled_jobs_to_wait', 'recoverStalledBy in queues/backend/postgres.ts', 'a7754451f02f974b'],
    ['extend_lock', 'recoverStalledBy in queues/backend/postgres.ts, which trusts the time of the lock', 'c897e22a29b1b7b5'],
    ['move_to_active', 'recoverStalledBy in queues/backend/postgres.ts, which promotes what is due and wakes workers', '4ba31d8b324c862c'],
    ['publish_event', 'recoverStalledBy in queues/backend/postgres.ts', '424a2f5e14e7f66f'],
  ])('%s has not changed since it was last compared', async (name, repeatedIn, expected) => {
    const [found] = await rowsOf<{ text: string }>(
      `SELECT pg_get_function_identity_arguments(oid) || ' ' || prosrc AS text FROM pg_proc
       WHERE proname = $1 AND pronamespace = $2::regnamespace`,
      name,
      schema,
    );
    const actual = digest(found?.text ?? 'no such function');
    expect({ name, repeatedIn, note: CHANGED, digest: actual }).toEqual({ name, repeatedIn, note: CHANGED, digest: expected });
  });

  test('jobs and metadata have the columns that our statements name', async () => {
    const columns = await rowsOf<{ text: string }>(
      `SELECT table_name || '.' || column_name || ' ' || udt_name AS text FROM information_schema.columns WHERE table_schema = $1`,
      schema,
    );
    const wanted = [
      ...['queue text', 'id text', 'seq int8', 'state job_state', 'priority int4', 'delay_ms int8', 'process_at_ms int8'],
      ...['lock_token text', 'locked_until_ms int8', 'stalled_marked bool', 'stalled_count int4'],
    ].map((column) => `job.${column}`);
    const meta = ['queue text', 'field text', 'value text'].map((column) => `meta.${column}`);
    expect(columns.map(({ text }) => text)).toEqual(expect.arrayContaining([...wanted, ...meta]));
  });

  test('a waiting job has a priority and a position in the order, and a delayed one the time at which it is due', async () => {
    const waiting = await queue.add('job', {}, { priority: 5 });
    expect(await jobOf(waiting.id)).toMatchObject({ state: 'waiting', priority: 5, lock_token: null, stalled_count: 0 });
    const delayed = await queue.add('job', {}, { delay: 60_000 });
    const row = await jobOf(delayed.id);
    expect(row).toMatchObject({ state: 'delayed', stalled_marked: false });
    expect([Number(row?.delay_ms), Number(row?.process_at_ms)]).toEqual([60_000, delayed.timestamp + 60_000]);
    await queue.drain(true);
  });

  test('a new job is announced on the channel that workers listen to', async () => {
    const client = await pool.connect();
    const heard = new Promise((resolve) => client.once('notification', resolve));
    await client.query('LISTEN bullmq_jobs');
    await queue.add('job', {});
    expect(await heard).toMatchObject({ channel: 'bullmq_jobs', payload: 'jobs' });
    client.release();
    await queue.drain();
  });

  test('an active job has a lock with a time; renewing the lock moves the time', async () => {
    const { id } = (await queue.add('job', {})) as { id: string };
    const job = await worker.getNextJob('token', { block: false });
    const row = await jobOf(id);
    expect(row).toMatchObject({ state: 'active', lock_token: 'token', stalled_marked: false });
    await worker.extendJobLocks([id], ['token'], 3_600_000);
    expect(Number((await jobOf(id))?.locked_until_ms)).toBeGreaterThan(Number(row?.locked_until_ms));
    await job?.moveToCompleted('done', 'token', false);
    expect(await jobOf(id)).toMatchObject({ state: 'completed', lock_token: null });
  });

  test('the end of a job reads a few rows, however many jobs have ended before', async () => {
    const jobs = 200;
    await pool.query('SELECT pg_stat_force_next_flush()');
    const readOf = async (): Promise<number> => {
      await pool.query('SELECT pg_stat_force_next_flush()');
      const text = `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = 'job'`;
      return (await rowsOf<{ read: number }>(text, schema))[0]?.read as number;
    };
    const before = await readOf();
    for (let i = 0; i < jobs; i++) {
      await queue.add('job', {}, { removeOnComplete: { age: 3_600 } });
      await (await worker.getNextJob('token', { block: false }))?.moveToCompleted('done', 'token', false);
    }
    expect((await readOf()) - before).toBeLessThan(30 * jobs);
  }, 60_000);

  test('the id of a job of a scheduler ends with its time', async () => {
    const job = await queue.upsertJobScheduler('tick', { every: 3_600_000 });
    expect(Number(job?.id?.split(':').pop())).toBe((await queue.getJobScheduler('tick'))?.next);
  });
});
