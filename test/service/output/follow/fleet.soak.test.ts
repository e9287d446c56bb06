/** A fleet that follows: the worker that does is killed, and the target cannot keep up. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { missingPostgres } from '../../../servers/databases/postgres.ts';
import { missingRedis, type Redis, startRedis } from '../../../servers/queues/redis.ts';
import { temporaryDirectory } from '../../../support/queues/backends.ts';
import { ask, poll, type ServiceProcess, startService } from '../../../support/service/process.ts';
import { until } from '../../../support/service/sql-runs.ts';
import { putMapping, type Shop, startShop, withoutNamespace } from './shop.ts';

const missing = missingRedis ?? (await missingPostgres());

(missing === undefined ? describe : describe.skip)(
  `a fleet that follows${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  () => {
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
    let redis: Redis;
    let shop: Shop;
    let store: ServiceProcess;
    let all: ServiceProcess[];

    beforeEach(async () => {
      directory = await temporaryDirectory();
      all = [];
      redis = (await startRedis()) as Redis;
      shop = await startShop();
      await putMapping(join(directory.path, 'data'), 'sql-transformer');
      store = await start([], {
        QUEUE_PREFIX: 'store',
        DATA_DIR: join(directory.path, 'store'),
        LOCAL_MESSAGES: 'false',
        SERVICE: 'graph-writer',
      });
    }, 60_000);
    afterEach(async () => {
      for (const one of all) {
        one.kill('SIGCONT');
        one.kill('SIGKILL');
      }
      await Promise.all(all.map((one) => one.exited));
      await shop?.stop();
      await redis?.stop();
      await directory.remove();
    }, 60_000);

    const start = async (args: readonly string[], env: Record<string, string>): Promise<ServiceProcess> => {
      const one = await startService({ cwd: directory.path, args, env: { QUEUE_URL: redis.url, ...env } });
      all.push(one);
      return one;
    };
    const startWorker = (more: Record<string, string> = {}): Promise<ServiceProcess> =>
      start(['--role', 'worker'], {
        PORT: '0',
        DATA_DIR: join(directory.path, 'data'),
        LOCK_SECONDS: '2',
        STALLED_SECONDS: '1',
        RETRY_SECONDS: '1',
        TRIPLESTORE_TYPE: 'sparql',
        TRIPLESTORE_ENDPOINT: `${store.url}/sparql`,
        JDBC_URL: shop.jdbcUrl,
        FOLLOW: 'true',
        DATASET: 'shop',
        EPOCH_SECONDS: '1',
        ...more,
      });
    const follows = (one: ServiceProcess): boolean => one.log.some(({ msg }) => msg === 'following');
    const stored = async (): Promise<readonly string[]> => {
      const { body } = await ask(`${store.url}/sparql?${new URLSearchParams({ query: 'SELECT ?s ?p ?o { ?s ?p ?o }' })}`);
      const rows = body.results.bindings as readonly Record<string, { readonly value: string }>[];
      return rows.map(({ s, p, o }) => [s, p, o].map((term) => withoutNamespace(term?.value ?? '')).join(' ')).sort();
    };
    const settled = async (): Promise<void> => {
      const expected = JSON.stringify(await shop.expected());
      await until(async () => JSON.stringify(await stored()) === expected, 30_000, 'the store').catch(async (error) => {
        expect(await stored()).toEqual(await shop.expected());
        throw error;
      });
    };
    const metricOf = async ({ url }: ServiceProcess, name: string): Promise<number> =>
      Number(new RegExp(`^${name}\\{.*\\} (\\d+)`, 'm').exec((await ask(`${url}/metrics`)).body as string)?.[1] ?? 0);
    /** The newest version that a worker has made or found. */
    const newestOf = (one: ServiceProcess): Promise<number> => metricOf(one, 'rml_dataset_version');

    test('the worker that follows is suspended, then killed: another one goes on within seconds, and nothing is lost', async () => {
      let isOver = false;
      let id = 0;
      const changing = (async () => {
        while (!isOver) {
          id++;
          await shop.query(`INSERT INTO customers VALUES (${id}, 'C${id}'); INSERT INTO orders VALUES (${id}, ${Math.ceil(id / 2)})`);
          if (id % 3 === 0)
            await shop.query(`DELETE FROM customers WHERE id = ${id - 2}; UPDATE customers SET name = 'D' WHERE id = ${id - 1}`);
          await sleep(20);
        }
      })();
      try {
        let living: readonly ServiceProcess[] = await Promise.all([startWorker(), startWorker()]);
        for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
          await until(() => living.some(follows), 30_000, 'a worker that follows');
          const active = living.find(follows) as ServiceProcess;
          await until(async () => (await newestOf(active)) > 1, 30_000, 'a version');
          expect(living.filter(follows)).toEqual([active]);
          active.kill(signal);
          const others = living.filter((one) => one !== active);
          expect(await until(() => others.some(follows), 15_000, 'another worker that follows')).toBeLessThan(10_000);
          if (signal === 'SIGSTOP') {
            active.kill('SIGCONT');
            await active.waitForLog('follower ended: its lease is lost');
            await active.stop();
          }
          living = [...others, await startWorker()];
        }
        isOver = true;
        await changing;
        await settled();
        const ready = await Promise.all(living.map(async (one) => (await ask(`${one.url}/health/ready`)).body.checks.follower));
        expect(ready.sort()).toEqual(['standby', 'up']);
        // One that ends by a signal lets the other one follow at once.
        const active = living.find(follows) as ServiceProcess;
        const other = living.find((one) => one !== active) as ServiceProcess;
        expect((await active.stop()).code).toBe(0);
        await until(() => follows(other), 5_000, 'the other worker');
        await shop.query('DELETE FROM customers');
        await settled();
        expect(await stored()).toEqual([]);
      } finally {
        isOver = true;
        await changing;
      }
    }, 120_000);

    test('the follower waits while the target lacks too many versions, and goes on when it has them', async () => {
      const worker = await startWorker({ FOLLOW_MAX_BEHIND: '2' });
      await shop.query("INSERT INTO customers VALUES (1, 'Ann')");
      await settled();
      // A target that has had no version is not waited for.
      await until(async () => (await metricOf(worker, 'rml_dataset_target_version')) > 0, 10_000, 'the version of the target');
      store.kill('SIGSTOP');
      const newest = (): number => {
        const directoryOf = join(directory.path, 'data', 'datasets', 'shop', 'dataset.json');
        return existsSync(directoryOf) ? (JSON.parse(readFileSync(directoryOf, 'utf8')) as { currentVersion: number }).currentVersion : 0;
      };
      let id = 1;
      while (!worker.log.some(({ msg }) => msg === 'follower waits for the target')) {
        await shop.query(`INSERT INTO customers VALUES (${++id}, 'C')`);
        await sleep(200);
      }
      const reached = newest();
      for (let n = 0; n < 10; n++) {
        await shop.query(`INSERT INTO customers VALUES (${++id}, 'C')`);
        await sleep(300);
      }
      expect(newest()).toBe(reached);
      expect((await ask(`${worker.url}/health/ready`)).body.checks.follower).toBe('up');
      store.kill('SIGCONT');
      await settled();
      await poll(`${worker.url}/health/ready`, ({ body }) => body.checks.follower === 'up', 5_000);
    }, 90_000);
  },
);
