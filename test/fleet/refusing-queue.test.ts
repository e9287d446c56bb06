/** A queue that is there and takes no writes, full or read-only, counts as away: services say so, and runs wait for either. */
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { faultOf, problemAnswer } from '../../api/problem.ts';
import { queueRefusal } from '../../queues/backend/refusals.ts';
import { Fault } from '../../src/core/fault.ts';
import { missingPostgres, startPostgres } from '../servers/databases/postgres.ts';
import { missingRedis } from '../servers/queues/redis.ts';
import { closeAfterEach } from '../support/closing.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { startRedis, uniquePrefix } from '../support/queues/backends.ts';
import { PEOPLE, peopleMapping, slowInput } from '../support/service/inputs.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, spawnService, startService } from '../support/service/process.ts';

const { closes, directory } = closeAfterEach();

test.each<[string, Error & { code?: string }, string | undefined]>([
  ['Redis 7', new Error("OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:1."), 'maxmemory'],
  [
    'Redis 6 in a script',
    new Error('ERR Error running script (call to f_1): @user_script:4: @user_script: 4: -OOM command not allowed when used memory'),
    'maxmemory',
  ],
  [
    'a failed save',
    new Error('MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk'),
    'cannot save',
  ],
  ['too few replicas', new Error('NOREPLICAS Not enough good replicas to write. script: f00, on @user_script:4.'), 'too few replicas'],
  ['a replica', new Error("READONLY You can't write against a read only replica."), 'read-only replica'],
  [
    'a cluster',
    Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: new Error('LOADING Redis is loading') }),
    'reading',
  ],
  ['a read-only PostgreSQL', Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' }), 'read-only'],
  ['a full PostgreSQL', Object.assign(new Error('could not extend file'), { code: '53100' }), 'disk of PostgreSQL is full'],
  ['a wrong statement', Object.assign(new Error('syntax error'), { code: '42601' }), undefined],
  ['a value that looks like one', new Error('ERR wrong type for MISCONFIGURED'), undefined],
])('%s is recognised', (_, error, words) => {
  const fault = queueRefusal(error);
  if (words === undefined) expect(fault).toBeUndefined();
  else expect(fault).toMatchObject({ code: 'service/unavailable', message: expect.stringContaining(words), hint: expect.any(String) });
});

const failing = (code: string, path?: string): Error =>
  Object.assign(new Error(`${code}: it failed`), { code, ...(path === undefined ? {} : { path }) });

test.each<[string, unknown, number, string, RegExp]>([
  [
    'a full disk',
    failing('ENOSPC', '/data/mappings/a.ttl'),
    507,
    'service/full',
    /disk of the service is full \(\/data\/mappings\/a\.ttl\)/,
  ],
  ['a used-up quota', failing('EDQUOT'), 507, 'service/full', /disk of the service is full$/],
  [
    'a full disk below a fault',
    new Fault('sink/failed', 'The output cannot be written', { cause: failing('ENOSPC') }),
    507,
    'service/full',
    /is full/,
  ],
  ['a read-only disk', failing('EROFS'), 503, 'service/unavailable', /is read-only/],
  ['a full Redis', new Error("OOM command not allowed when used memory > 'maxmemory'."), 503, 'service/unavailable', /used its memory/],
  ['a read-only PostgreSQL', failing('25006'), 503, 'service/unavailable', /PostgreSQL is read-only/],
  ['another error of the disk', failing('EIO'), 500, 'internal/error', /Unexpected error/],
  ['a fault of the request', new Fault('request/malformed', 'no', { cause: failing('ENOSPC') }), 400, 'request/malformed', /^no$/],
])('%s is answered so, wherever a route meets it', (_, error, status, code, words) => {
  const { body } = problemAnswer(faultOf(error), { path: '/x', id: '1' });
  expect(body).toMatchObject({ status, code, detail: expect.stringMatching(words) });
});

interface Queue {
  readonly url: string;
  refuse(): Promise<unknown>;
  accept(): Promise<unknown>;
}

async function redis(refuse: (admin: Redis) => Promise<unknown>, accept: (admin: Redis) => Promise<unknown>): Promise<Queue> {
  const server = await startRedis();
  closes(() => server.stop());
  const admin = new Redis(server.url);
  closes(() => admin.disconnect());
  return { url: server.url, refuse: () => refuse(admin), accept: () => accept(admin) };
}

async function postgres(): Promise<Queue> {
  const server = await startPostgres();
  if ('skip' in server) throw new Error(server.skip);
  closes(() => server.stop());
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  admin.on('error', () => undefined);
  closes(() => admin.end());
  const set = async (value: 'on' | 'off'): Promise<void> => {
    await admin.query('SET default_transaction_read_only = off');
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await admin.query('SELECT pg_reload_conf()');
  };
  return { url: server.url, refuse: () => set('on'), accept: () => set('off') };
}

const QUEUES: readonly (readonly [name: string, missing: string | undefined, start: () => Promise<Queue>, words: RegExp])[] = [
  [
    'a Redis without memory',
    missingRedis,
    () =>
      redis(
        (admin) => admin.config('SET', 'maxmemory', '1'),
        (admin) => admin.config('SET', 'maxmemory', '0'),
      ),
    /used its memory/,
  ],
  [
    'a Redis that cannot save',
    missingRedis,
    () =>
      redis(
        async (admin) => {
          await admin.config('SET', 'save', '3600 1');
          await admin.set('something', '1');
          await admin.config('SET', 'stop-writes-on-bgsave-error', 'yes');
          // The directory goes away below the server.
          const [, dir] = (await admin.config('GET', 'dir')) as [string, string];
          await rm(dir, { recursive: true, force: true });
          await admin.bgsave();
          while (!/rdb_last_bgsave_status:err/.test(await admin.info('persistence'))) await sleep(50);
        },
        (admin) => admin.config('SET', 'stop-writes-on-bgsave-error', 'no'),
      ),
    /cannot save/,
  ],
  [
    'a Redis that became a replica',
    missingRedis,
    () =>
      redis(
        // Of a server that is not there: it goes on with what it has.
        (admin) => admin.replicaof('127.0.0.1', 1),
        (admin) => admin.call('REPLICAOF', 'NO', 'ONE'),
      ),
    /read-only replica/,
  ],
  ['a read-only PostgreSQL', await missingPostgres(), postgres, /PostgreSQL is read-only/],
];

/** Reached by way of a proxy that closes its port. */
const AWAY: (typeof QUEUES)[number] = [
  'a Redis that cannot be reached',
  missingRedis,
  async () => {
    const server = await startRedis();
    closes(() => server.stop());
    const sockets = new Set<Socket>();
    const proxy = createServer((incoming) => {
      const outgoing = connect(server.port, '127.0.0.1');
      for (const [one, other] of [[incoming, outgoing] as const, [outgoing, incoming] as const]) {
        sockets.add(one);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    const listen = (port: number): Promise<unknown> => new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
    await listen(0);
    const { port } = proxy.address() as AddressInfo;
    const refuse = async (): Promise<void> => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    };
    closes(refuse);
    return { url: `redis://127.0.0.1:${port}`, refuse, accept: () => listen(port) };
  },
  /does not answer/,
];

async function service(queue: Queue, env: Readonly<Record<string, string>> = {}): Promise<{ service: ServiceProcess; cwd: string }> {
  const cwd = await directory();
  await writeFile(join(cwd, 'people.csv'), PEOPLE.csv);
  await writeFile(join(cwd, 'people.ttl'), peopleMapping('csv', 'people.csv'));
  const started = await startService({
    cwd,
    env: { QUEUE_URL: queue.url, QUEUE_PREFIX: uniquePrefix(), SERVICE: 'semi-structured-transformer', ...env },
  });
  closes(async () => {
    started.kill('SIGKILL');
    await started.exited;
  });
  return { service: started, cwd };
}

async function waitFor(holds: () => boolean): Promise<void> {
  for (let left = 200; left > 0 && !holds(); left--) await sleep(100);
  expect(holds()).toBe(true);
}

const sentence = ({ status, body }: Answer): readonly unknown[] => [status, (body as { detail?: string }).detail];

describe.each(QUEUES)('%s', (_, missing, start, words) => {
  const test_ = missing === undefined ? test : test.skip;
  const why = missing === undefined ? '' : ` (skipped: ${missing})`;

  test_(
    `is reported by readiness and by what writes, and a run that it interrupts ends as its first attempt${why}`,
    async () => {
      const queue = await start();
      const { service: one, cwd } = await service(queue, { RUN_ATTEMPTS: '1' });
      expect((await ask(`${one.url}/health/ready`)).status).toBe(200);
      const slow = await slowInput();
      closes(() => slow.close());
      await writeFile(join(cwd, 'slow.ttl'), peopleMapping('csv', slow.url));
      const request = { inputFileURL: slow.url, mappingURL: join(cwd, 'slow.ttl') };
      const run = await postJson(`${one.url}/process`, request, { Prefer: 'respond-async' });
      expect(run.status).toBe(202);
      await slow.asked;

      await queue.refuse();
      const down = await poll(`${one.url}/health/ready`, ({ status }) => status === 503);
      expect(down.body).toMatchObject({ checks: { queue: 'down' }, reasons: { queue: expect.stringMatching(words) } });
      const refused = [503, expect.stringMatching(words)];
      const put = await ask(`${one.url}/updateConfig?configEntry=LOG_LEVEL&configValue=warn`, { method: 'PUT' });
      expect(sentence(put)).toEqual(refused);
      const posted = await postJson(`${one.url}/process`, { inputFileURL: join(cwd, 'people.csv'), mappingURL: join(cwd, 'people.ttl') });
      expect(sentence(posted)).toEqual(refused);
      // A mapping is a file, and a backup is one, too: neither needs a write to the queue, and none is an unexpected error.
      const mapping = await ask(`${one.url}/rml?fileName=new.ttl`, {
        method: 'PUT',
        headers: { 'content-type': 'text/turtle' },
        body: peopleMapping('csv', 'people.csv'),
      });
      const backup = await ask(`${one.url}/uploadConfigBackup`, { method: 'PUT' });
      expect([mapping.status, backup.status]).toEqual([200, 200]);
      // Its worker has the whole input, and asks whether it may publish.
      slow.release();
      await sleep(3_000);

      await queue.accept();
      await poll(`${one.url}/health/ready`, ({ status }) => status === 200);
      const ended = await poll(
        `${one.url}/runs/${(run.body as { id: string }).id}`,
        ({ body }) => !/waiting|running|retrying/.test((body as { state: string }).state),
      );
      expect(ended.body).toMatchObject({ state: 'completed', attempts: 1 });
    },
    120_000,
  );

  test_(
    `is reported by a start, without a stack${why}`,
    async () => {
      const queue = await start();
      await queue.refuse();
      const cwd = await directory();
      const one = spawnService({
        cwd,
        env: { QUEUE_URL: queue.url, QUEUE_PREFIX: uniquePrefix(), SERVICE: 'semi-structured-transformer' },
      });
      const exit = await one.exited;
      expect(exit).toMatchObject({ code: 1 });
      expect(one.stderr()).toMatch(words);
      expect(one.stderr()).toMatch(/Start Quadmill again then/);
      expect(one.stderr()).not.toMatch(/^\s+at /m);
      expect(one.log).toEqual([]);
      await queue.accept();
    },
    60_000,
  );
});

describe.each([...QUEUES, AWAY])('%s', (_, missing, start, words) => {
  const why = missing === undefined ? '' : ` (skipped: ${missing})`;

  (missing === undefined ? soakTest : soakTest.skip)(
    `lets a run go on whose lock ends meanwhile, however often, and is a line of the log when it begins and when it is over${why}`,
    async () => {
      const queue = await start();
      // Of a run that is lost once, and is started again, nothing would be left.
      const { service: one, cwd } = await service(queue, { RUN_ATTEMPTS: '1', MAX_STARTS: '1', LOCK_SECONDS: '2', STALLED_SECONDS: '2' });
      const slow = await slowInput();
      closes(() => slow.close());
      await writeFile(join(cwd, 'slow.ttl'), peopleMapping('csv', slow.url));
      const request = { inputFileURL: slow.url, mappingURL: join(cwd, 'slow.ttl') };
      const run = await postJson(`${one.url}/process`, request, { Prefer: 'respond-async' });
      await slow.asked;
      const OUTAGES = 2;
      const lines = (msg: string) => one.log.filter((line) => line.msg === msg);
      for (let outage = 1; outage <= OUTAGES; outage++) {
        await queue.refuse();
        // The run waits for the queue with its whole input.
        if (outage === OUTAGES) slow.release();
        await sleep(6_000);
        await queue.accept();
        await waitFor(() => lines('queue back').length === outage);
        // Two looks for lost jobs.
        await sleep(5_000);
      }
      const isOver = ({ body }: Answer): boolean => /completed|failed/.test((body as { state: string }).state);
      const ended = await poll(`${one.url}/runs/${(run.body as { id: string }).id}`, isOver);
      expect(ended.body).toMatchObject({ state: 'completed', attempts: 1, outcome: { report: { quads: 2_000 } } });
      expect(slow.count()).toBe(1);
      for (const line of lines('queue away'))
        expect(line).toMatchObject({ level: 'warn', reason: expect.stringMatching(words), hint: expect.any(String) });
      for (const line of lines('queue back')) expect(line.seconds).toBeGreaterThan(3);
      expect([lines('queue away').length, lines('queue back').length]).toEqual([OUTAGES, OUTAGES]);
      expect(JSON.stringify(one.log) + one.stderr()).not.toMatch(/\s+at [^ ]+ \(|ReplyError/);
    },
    120_000,
  );
});
