/** Several processes on one Redis: configuration, lost workers, a lost queue. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { fastest } from '../support/fastest.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { startRedis, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { PEOPLE, PEOPLE_LINES, peopleMapping, slowInput } from '../support/service/inputs.ts';
import { ask, poll, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
const why = hasRedis ? '' : ' (skipped: there is no redis-server on the PATH)';

(hasRedis ? describe : describe.skip)(`a fleet on Redis${why}`, () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let fleet: ServiceProcess[];
  let env: Record<string, string>;
  const at = (name: string): string => join(directory.path, name);

  beforeEach(async () => {
    directory = await temporaryDirectory();
    redis = await startRedis();
    fleet = [];
    env = {
      QUEUE_URL: redis.url,
      QUEUE_PREFIX: uniquePrefix(),
      LOCK_SECONDS: '2',
      STALLED_SECONDS: '1',
      SERVICE: 'semi-structured-transformer',
      LOG_LEVEL: 'debug',
    };
    await writeFile(at('people.csv'), PEOPLE.csv);
    await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
  });
  afterEach(async () => {
    for (const one of fleet) one.kill('SIGKILL');
    await Promise.all(fleet.map((one) => one.exited));
    await redis.stop();
    await directory.remove();
  });

  const start = async (role: 'api' | 'worker', more: Record<string, string> = {}): Promise<ServiceProcess> => {
    const one = await startService({ cwd: directory.path, args: ['--role', role], env: { ...env, ...more } });
    fleet.push(one);
    return one;
  };
  const body = () => ({ inputFileURL: at('people.csv'), mappingURL: at('people.ttl') });

  soakTest(
    'without workers, readiness, the run and a waiting answer report that; with one, the run continues',
    async () => {
      const api = await start('api', { PROCESS_WAIT_SECONDS: '1' });
      expect((await ask(`${api.url}/health/ready`)).body).toMatchObject({ status: 'up', workers: 0 });
      const { status, body: waiting } = await postJson(`${api.url}/process`, body());
      expect(status).toBe(202);
      const reason = expect.stringContaining('quadmill serve --role worker');
      expect(waiting).toMatchObject({ state: 'queued', workers: 0, reason });
      const run = `${api.url}/runs/${waiting.id}`;
      expect((await ask(run)).body).toMatchObject({ state: 'queued', workers: 0, reason });
      const worker = await start('worker');
      await poll(`${api.url}/health/ready`, ({ body: { workers } }) => workers === 1);
      const done = await poll(run, ({ body: { state } }) => state === 'completed');
      expect(done.body).not.toHaveProperty('reason');
      worker.kill('SIGTERM');
      await worker.exited;
      await poll(`${api.url}/health/ready`, ({ body: { workers } }) => workers === 0);
    },
    60_000,
  );

  test('an option that one process changes is seen by the others within a second, and the next run follows it', async () => {
    const [first, second] = await Promise.all([start('api'), start('api'), start('worker')]);
    expect((await ask(`${second.url}/config?paths=friendlyName`)).body).toEqual({ friendlyName: 'Semi-Structured-Transformer' });
    let names = 0;
    const seen = async (): Promise<number> => {
      const name = `Mill ${++names}`;
      await ask(`${first.url}/updateConfig?${new URLSearchParams({ configEntry: 'friendlyName', configValue: name })}`, { method: 'PUT' });
      const changed = performance.now();
      await poll(`${second.url}/config?paths=friendlyName`, ({ body: { friendlyName } }) => friendlyName === name);
      return performance.now() - changed;
    };
    expect(await fastest(1_000, seen)).toBeLessThan(1_000);
    const change = { configEntry: 'outputDirUrl', configValue: at('elsewhere') };
    await ask(`${first.url}/updateConfig`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(change),
    });
    const elsewhere = (value: unknown): boolean => JSON.stringify(value).includes(at('elsewhere'));
    await poll(`${second.url}/config?paths=OUTPUT_DIR_URL`, ({ body }) => elsewhere(body));
    const { body: report } = await postJson(`${second.url}/process`, body());
    expect(elsewhere(report.outputFileLocations)).toBe(true);
  });

  soakTest('a change survives that every process restarts', async () => {
    const first = await start('api');
    await ask(`${first.url}/updateConfig?configEntry=friendlyName&configValue=Mill`, { method: 'PUT' });
    await first.stop();
    const next = await start('api');
    expect((await ask(`${next.url}/config?paths=friendlyName`)).body).toEqual({ friendlyName: 'Mill' });
  });

  soakTest('a run whose worker is killed is started again and completes, and no incomplete file is ever visible', async () => {
    const input = await slowInput();
    try {
      const [api, ...workers] = await Promise.all([start('api'), start('worker'), start('worker')]);
      const answer = postJson(`${api.url}/process`, { inputFileURL: input.url, mappingURL: at('people.ttl') });
      const starting = await Promise.race(workers.map(async (worker) => [worker, await worker.waitForLog('run started')] as const));
      await input.asked;
      const output = at('data/output');
      const visible = async () =>
        (await readdir(output).catch(() => [])).filter((name) => !name.startsWith('.') && /\.(nq|json)$/.test(name));
      starting[0].kill('SIGKILL');
      await starting[0].exited;
      expect(await visible()).toEqual([]);
      const [survivor] = workers.filter((worker) => worker !== starting[0]) as [ServiceProcess];
      const id = starting[1].run;
      await survivor.waitForLog('run started', (line) => line.run === id);
      expect(await visible()).toEqual([]);
      input.release();
      const { status, body: report } = await answer;
      expect({ status, runId: report.runId, records: report.records }).toEqual({ status: 200, runId: id, records: 2_000 });
      expect((await ask(`${api.url}/runs/${id}`)).body).toMatchObject({ state: 'completed', attempts: 2 });
      expect(input.count()).toBe(2);
      const name = `Semi-Structured-Transformer-${id}`;
      expect((await readdir(output)).sort()).toEqual([`${name}.manifest.json`, `${name}.nq`]);
      const lines = (await readFile(fileURLToPath(report.outputFileLocations[0]), 'utf8')).trimEnd().split('\n');
      expect(new Set(lines).size).toBe(2_000);
      expect(lines).toHaveLength(2_000);
    } finally {
      await input.close();
    }
  });

  soakTest('a run continues when the API process that accepted it is killed, and another one shows it', async () => {
    const input = await slowInput();
    try {
      const [first, second] = await Promise.all([start('api'), start('api'), start('worker')]);
      const { body: view } = await postJson(
        `${first.url}/process`,
        { inputFileURL: input.url, mappingURL: at('people.ttl') },
        { prefer: 'respond-async' },
      );
      await input.asked;
      first.kill('SIGKILL');
      input.release();
      await poll(`${second.url}/runs/${view.id}`, ({ body: { state } }) => state === 'completed');
    } finally {
      await input.close();
    }
  });

  soakTest(
    'a queue that is away is 503 with Retry-After within two seconds; it is ready again within five of its return, and runs continue',
    async () => {
      const [api, worker] = await Promise.all([start('api'), start('worker')]);
      expect((await postJson(`${api.url}/process`, body())).status).toBe(200);
      await redis.stop();
      for (const path of ['/process', '/runs', '/runs/r0123456789abcdef0123456789abcdef', '/health/ready']) {
        const refusal = async (): Promise<number> => {
          const started = performance.now();
          const {
            status,
            headers,
            body: problem,
          } = path === '/process' ? await postJson(api.url + path, body()) : await ask(api.url + path);
          const ended = performance.now();
          expect([path, status]).toEqual([path, 503]);
          expect(headers.get('retry-after')).toMatch(/^\d+$/);
          expect(problem).toMatchObject({ code: 'service/unavailable' });
          return ended - started;
        };
        expect(await fastest(2_000, refusal)).toBeLessThan(2_000);
      }
      expect((await ask(`${api.url}/health/live`)).status).toBe(200);
      expect((await ask(`${api.url}/config`)).status).toBe(200);
      redis = await startRedis(redis.port);
      await poll(`${api.url}/health/ready`, ({ status }) => status === 200, 5_000);
      const { status, body: report } = await postJson(`${api.url}/process`, body());
      expect(status).toBe(200);
      expect((await readFile(fileURLToPath(report.outputFileLocations[0]), 'utf8')).trimEnd().split('\n').sort()).toEqual(PEOPLE_LINES);
      expect(await worker.stop()).toEqual({ code: 0, signal: null });
      expect(await api.stop()).toEqual({ code: 0, signal: null });
    },
  );

  test('a worker that is given a port answers health and metrics there, and nothing else', async () => {
    const worker = await start('worker', { PORT: '0' });
    expect((await ask(`${worker.url}/health/ready`)).body).toMatchObject({ checks: { queue: 'up', workers: 'up' } });
    expect((await ask(`${worker.url}/metrics`)).status).toBe(200);
    expect((await ask(`${worker.url}/config`)).status).toBe(404);
  });
});
