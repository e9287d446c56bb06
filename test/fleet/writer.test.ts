/** The graph writer in a fleet: a worker killed during a write, repeated messages, an unavailable target. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from '@jest/globals';
import { missingRedis, type Redis, startRedis } from '../servers/queues/redis.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { ask, poll, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const STATEMENTS = 150_000;
const why = missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`;

(missingRedis === undefined ? describe : describe.skip)(`a fleet that writes${why}`, () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let redis: Redis;
  let all: ServiceProcess[];
  const at = (name: string): string => join(directory.path, name);

  beforeEach(async () => {
    directory = await temporaryDirectory();
    redis = (await startRedis()) as Redis;
    all = [];
  }, 60_000);
  afterEach(async () => {
    for (const one of all) one.kill('SIGKILL');
    await Promise.all(all.map((one) => one.exited));
    await redis.stop();
    await directory.remove();
  }, 60_000);

  const start = async (args: readonly string[], env: Record<string, string>): Promise<ServiceProcess> => {
    const one = await startService({ cwd: directory.path, args, env });
    all.push(one);
    return one;
  };
  /** A separate process with an embedded store, used as a SPARQL endpoint. */
  const startStore = (): Promise<ServiceProcess> =>
    start([], { QUEUE_URL: redis.url, QUEUE_PREFIX: 'store', DATA_DIR: at('store'), LOCAL_MESSAGES: 'false', SERVICE: 'graph-writer' });
  const fleet = (store: ServiceProcess): Record<string, string> => ({
    QUEUE_URL: redis.url,
    SERVICE: 'graph-writer',
    LOG_LEVEL: 'debug',
    LOCK_SECONDS: '2',
    STALLED_SECONDS: '1',
    TRIPLESTORE_TYPE: 'sparql',
    TRIPLESTORE_ENDPOINT: `${store.url}/sparql`,
  });
  const countIn = async (store: ServiceProcess): Promise<number> => {
    const query = encodeURIComponent('SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }');
    const { body } = await ask(`${store.url}/sparql?query=${query}`);
    const { bindings } = body.results as { bindings: { n: { value: string } }[] };
    return Number(bindings[0]?.n.value);
  };

  soakTest(
    'resumes where the killed worker stopped, and the store has each statement once',
    async () => {
      const file = createWriteStream(at('large.nq'));
      for (let i = 0; i < STATEMENTS; i++)
        file.write(`<http://e.org/s/${i >> 2}> <http://e.org/p${i & 3}> ${i % 7 === 0 ? `_:n${i}` : `"${i}"`} .\n`);
      await new Promise((resolve) => file.end(resolve));
      const store = await startStore();
      const env = fleet(store);
      const [api, ...workers] = await Promise.all([
        start(['--role', 'api'], env),
        start(['--role', 'worker'], env),
        start(['--role', 'worker'], env),
      ]);
      const answer = postJson(`${(api as ServiceProcess).url}/process`, { inputFileURL: at('large.nq') });
      const [taker] = await Promise.race(workers.map(async (worker) => [worker, await worker.waitForLog('run started')] as const));
      for (let i = 0; i < 600 && (await countIn(store)) === 0; i++);
      const before = await countIn(store);
      taker.kill('SIGKILL');
      expect(before).toBeLessThan(STATEMENTS);

      const { status, body } = await answer;
      expect(body).toMatchObject({ mode: 'insert', records: STATEMENTS, quadsWritten: STATEMENTS, rejectedRecords: 0 });
      expect(status).toBe(200);
      expect(await countIn(store)).toBe(STATEMENTS);
      const { body: view } = await ask(`${(api as ServiceProcess).url}/runs/${body.runId as string}`);
      expect(view).toMatchObject({ state: 'completed', attempts: 2 });
    },
    240_000,
  );

  test('waits for an unreachable target, and reports how long when it gives up', async () => {
    const store = await startStore();
    const env = { ...fleet(store), TRIPLESTORE_PATIENCE_SECONDS: '1', RUN_ATTEMPTS: '1' };
    const [api] = await Promise.all([start(['--role', 'api'], env), start(['--role', 'worker'], env)]);
    store.kill('SIGKILL');
    await store.exited;
    const file = createWriteStream(at('small.nq'));
    await new Promise((resolve) => file.end('<http://e.org/s> <http://e.org/p> "a" .\n', () => resolve(undefined)));
    const { status, body } = await postJson(`${api.url}/process`, { inputFileURL: at('small.nq') });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'target/unreachable', entity: at('small.nq') });
    expect(body.error).toMatch(/TRIPLESTORE_PATIENCE_SECONDS/);
    await poll(`${api.url}/runs`, ({ body: { runs } }) => (runs as { state: string }[])[0]?.state === 'failed', 10_000);
  }, 120_000);
});
