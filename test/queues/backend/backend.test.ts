/** Opening and losing queues: the private server, the embedded queue, and a queue that goes away. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect } from '@jest/globals';
import type { Pool } from 'pg';
import { openBackend, type QueueBackend } from '../../../queues/backend/backend.ts';
import type { TransformRequest } from '../../../queues/jobs.ts';
import { openRuns } from '../../../queues/runs/runs.ts';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { openConfig } from '../../../src/config/store.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { lockDirectory } from '../../../src/storage/local/directory-lock.ts';
import { processExists } from '../../../src/storage/local/lock-owner.ts';
import { startWorkers } from '../../../workers/host.ts';
import { closeAfterEach } from '../../support/closing.ts';
import { fastest } from '../../support/fastest.ts';
import { soakTest, test } from '../../support/jest/extent.ts';
import { built } from '../../support/project-root.ts';
import { QUEUES, startRedis, uniquePrefix } from '../../support/queues/backends.ts';
import { makeEmbeddedQueue } from '../../support/queues/embedded.ts';

const ENGINE = built('test/support/queues/engine.js').href;
const BACKEND = built('queues/backend/backend.js').href;
const OBSERVE = built('src/core/telemetry/observe.js').href;
const logger = quietLogger();
const missing = QUEUES.find((queue) => queue.name === 'redis')?.missing;
const onRedis = (extent: typeof test) =>
  missing === undefined ? extent : (name: string, ..._: unknown[]) => extent.skip(`${name} (not tested: ${missing})`, () => undefined);
const withRedis = onRedis(test);

const { closes, directory: directoryForTest } = closeAfterEach();

async function open(url: string | undefined, directory: string, prefix = 'test'): Promise<QueueBackend> {
  const backend = await openBackend({ url, directory, prefix }, logger);
  closes(() => backend.close());
  return backend;
}

/** A process that opens a queue, stores a setting and waits. Resolves when it is stored. */
async function startOpener(directory: string, url: string | undefined): Promise<{ readonly pid: number; kill(): Promise<void> }> {
  const script = `
    const { openBackend } = await import(${JSON.stringify(BACKEND)});
    const { quietLogger } = await import(${JSON.stringify(OBSERVE)});
    const backend = await openBackend({ url: ${JSON.stringify(url)}, directory: ${JSON.stringify(directory)}, prefix: 'test' }, quietLogger());
    await backend.settings.compareAndSet('left', undefined, 'behind');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    console.log('ready');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  closes(kill);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });
  return { pid: child.pid as number, kill };
}

const request = (url: string, directory: string): TransformRequest => ({
  service: 'semi-structured-transformer',
  inputs: [{ name: undefined, url }],
  mappings: ['file:///mapping.ttl'],
  run: { ...RUN_DEFAULTS, maxRejected: 0, memoryBudgetBytes: 1e6, maxRecordBytes: 1e6 },
  sliceRows: 0,
  output: { directory, format: 'nquads' },
});

describe('a directory', () => {
  soakTest(
    'belongs to one running process, and to the next one after that has died',
    async () => {
      const directory = await directoryForTest();
      const opener = await startOpener(directory, 'embedded:');
      await expect(open('embedded:', directory)).rejects.toMatchObject({
        code: 'service/unavailable',
        message: expect.stringContaining(String(opener.pid)),
      });
      await opener.kill();
      const backend = await open('embedded:', directory);
      expect(await backend.settings.get('left')).toBe('behind');
    },
    60_000,
  );

  soakTest('is free again when its owner releases it, or left an incomplete file', async () => {
    const directory = await directoryForTest();
    const claim = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toMatchObject({ code: 'service/unavailable' });
    await claim.release();
    await (await lockDirectory(directory)).release();
  });
});

describe('without QUEUE_URL', () => {
  withRedis('a redis-server of our own is started, and ends with us', async () => {
    const directory = await directoryForTest();
    const backend = await open(undefined, directory);
    expect(backend.kind).toBe('redis');
    expect(backend.describe()).toContain('private redis-server');
    const pid = Number(await readFile(join(directory, 'redis', 'redis.pid'), 'utf8'));
    expect(processExists(pid)).toBe(true);
    await backend.settings.compareAndSet('kept', undefined, 'yes');
    await backend.close();
    expect(processExists(pid)).toBe(false);
    const again = await open(undefined, directory);
    expect(await again.settings.get('kept')).toBe('yes');
  });

  withRedis('the server of a killed process ends, and the next one has all that it held', async () => {
    const directory = await directoryForTest();
    const opener = await startOpener(directory, undefined);
    const pid = Number(await readFile(join(directory, 'redis', 'redis.pid'), 'utf8'));
    await opener.kill();
    // It may be about to end.
    const backend = await open(undefined, directory);
    // It has written everything when its file of the process id goes; the process itself ends soon after.
    while (processExists(pid)) await sleep(20);
    expect(await backend.settings.get('left')).toBe('behind');
    await backend.close();
  });

  onRedis(soakTest)('a left server that does not answer is ended, and its data are read by the next', async () => {
    const directory = await directoryForTest();
    const opener = await startOpener(directory, undefined);
    const pid = Number(await readFile(join(directory, 'redis', 'redis.pid'), 'utf8'));
    await opener.kill();
    await rm(join(directory, 'redis', 'redis.sock'), { force: true });
    const backend = await open(undefined, directory);
    // It has written everything when its file of the process id goes; the process itself ends soon after.
    while (processExists(pid)) await sleep(20);
    expect(await backend.settings.get('left')).toBe('behind');
  });

  withRedis('a long data directory is no obstacle, and what stands in for it is removed', async () => {
    const directory = join(await directoryForTest(), 'd'.repeat(120));
    const key = createHash('sha256').update(join(directory, 'redis')).digest('hex').slice(0, 16);
    const standIn = join(tmpdir(), `quadmill-${userInfo().uid}-${key}`);
    const backend = await open(undefined, directory);
    await backend.ping();
    expect(backend.kind).toBe('redis');
    expect(await readdir(standIn)).toEqual(['redis.sock']);
    await backend.close();
    expect(existsSync(standIn)).toBe(false);
  });
});

describe('a socket directory where other users may create one', () => {
  const standIn = (directory: string): string => {
    const key = createHash('sha256').update(join(directory, 'redis')).digest('hex').slice(0, 16);
    return join(tmpdir(), `quadmill-${userInfo().uid}-${key}`);
  };
  const made: readonly [string, (path: string, elsewhere: string) => Promise<unknown>][] = [
    [
      'that others may enter',
      async (path) => {
        await mkdir(path);
        await chmod(path, 0o777);
      },
    ],
    ['that is a link', (path, elsewhere) => symlink(elsewhere, path)],
  ];
  test.each(made)('%s is neither used nor removed', async (_, make) => {
    if (missing !== undefined) return;
    const directory = join(await directoryForTest(), 'd'.repeat(120));
    const path = standIn(directory);
    const elsewhere = await directoryForTest();
    await make(path, elsewhere);
    closes(() => rm(path, { recursive: true, force: true }));
    await expect(open(undefined, directory)).rejects.toMatchObject({
      code: 'service/unavailable',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('DATA_DIR'),
    });
    expect(existsSync(path)).toBe(true);
    expect(await readdir(elsewhere)).toEqual([]);
  });
});

describe('an error of a pool', () => {
  soakTest('of the embedded queue is reported, and does not end the process', async () => {
    const directory = await directoryForTest();
    await makeEmbeddedQueue(directory);
    const backend = await open('embedded:', directory);
    const pool = backend.queue('any').opts.connection as unknown as EventEmitter;
    expect(pool.emit('error', new Error('the session is gone'))).toBe(true);
    await backend.ping();
  });

  test('of PostgreSQL, with a connection in use, is reported, and the next query uses another one', async () => {
    const postgres = QUEUES.find(({ name }) => name === 'postgres');
    if (postgres === undefined || postgres.missing !== undefined) return;
    const prefix = uniquePrefix();
    const { url, stop } = await postgres.start();
    closes(async () => stop(prefix));
    const backend = await open(url, await directoryForTest(), prefix);
    const pool = backend.queue('any').opts.connection as unknown as Pool;
    const taken = await pool.connect();
    const other = await pool.connect();
    const { rows } = await taken.query('SELECT pg_backend_pid() AS id');
    const gone = new Promise((resolve) => taken.once('end', resolve));
    await other.query('SELECT pg_terminate_backend($1)', [rows[0].id]);
    await gone;
    taken.release(true);
    other.release();
    await backend.ping();
  });
});

describe('a queue that is away', () => {
  test.each(['redis://:hunter2@127.0.0.1:1/0', 'postgres://user:hunter2@127.0.0.1:1/none'])(
    'is reported without its password: %s',
    async (url) => {
      const directory = await directoryForTest();
      const failure = await open(url, directory).then(
        () => undefined,
        (error: Error) => error,
      );
      expect(failure).toMatchObject({ code: 'service/unavailable', message: expect.stringContaining('127.0.0.1:1') });
      expect(failure?.message).not.toContain('hunter2');
    },
  );

  soakTest('of an unknown kind is refused', async () => {
    await expect(open('amqp://localhost', await directoryForTest())).rejects.toMatchObject({ code: 'config/invalid' });
  });

  withRedis(
    'fails a submission within two seconds, whether it hangs or is gone, and works again afterwards',
    async () => {
      const directory = await directoryForTest();
      const prefix = uniquePrefix();
      const server = await startRedis();
      closes(() => server.stop());
      const backend = await open(server.url, directory, prefix);
      const config = await openConfig({ DATA_DIR: directory }, backend.settings);
      const runs = await openRuns(backend);
      const workers = await startWorkers(backend, config, logger, { engine: ENGINE });
      closes(async () => {
        config.close();
        await workers.drain(0);
        await runs.close();
      });
      const refusal = async (): Promise<number> => {
        const started = Date.now();
        await expect(runs.submit(request('ok', directory), {})).rejects.toMatchObject({ code: 'service/unavailable' });
        return Date.now() - started;
      };

      process.kill(server.pid, 'SIGSTOP');
      expect(await fastest(2_300, refusal)).toBeLessThan(2_300);
      await expect(runs.counts()).rejects.toMatchObject({ code: 'service/unavailable' });
      process.kill(server.pid, 'SIGCONT');
      const first = await runs.submit(request('ok', directory), {});
      expect(await runs.outcome(first.id, 10_000)).toMatchObject({ state: 'completed' });

      await server.stop();
      expect(await fastest(2_300, refusal)).toBeLessThan(2_300);
      const again = await startRedis(server.port);
      closes(() => again.stop());
      let id: string | undefined;
      for (let i = 0; id === undefined && i < 50; i++) {
        await sleep(100);
        id = await runs.submit(request('ok', directory), {}).then(
          (submitted) => submitted.id,
          () => undefined,
        );
      }
      expect(await runs.outcome(id as string, 10_000)).toMatchObject({ state: 'completed' });
    },
    40_000,
  );
});

test('the worker script of the tests is where they look for it', async () => {
  expect(await readFile(fileURLToPath(ENGINE), 'utf8')).toContain('executeRun');
});
