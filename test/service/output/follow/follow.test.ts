/** A service that follows a PostgreSQL: versions of its dataset, the embedded store, what it tells, and options while it runs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { missingPostgres } from '../../../servers/databases/postgres.ts';
import { soakTest, test } from '../../../support/jest/extent.ts';
import { temporaryDirectory } from '../../../support/queues/backends.ts';
import { type Answer, ask, poll, type ServiceProcess, spawnService, startService } from '../../../support/service/process.ts';
import { until } from '../../../support/service/sql-runs.ts';
import { CUSTOMERS_ONLY, lineOf, putMapping, type Shop, startShop, withoutNamespace } from './shop.ts';

const missing = await missingPostgres();

(missing === undefined ? describe : describe.skip)(
  `a service that follows${missing === undefined ? '' : ` (not tested: ${missing})`}`,
  () => {
    let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
    let shop: Shop;
    let service: ServiceProcess;
    const env = (): Record<string, string> => ({
      QUEUE_URL: 'embedded:',
      DATA_DIR: join(directory.path, 'data'),
      LOCK_SECONDS: '2',
      EPOCH_SECONDS: '1',
      JDBC_URL: shop.jdbcUrl,
      FOLLOW: 'true',
      DATASET: 'shop',
    });
    beforeAll(async () => {
      directory = await temporaryDirectory();
      shop = await startShop();
      await shop.query("INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bob'); INSERT INTO orders VALUES (10, 1), (11, 2)");
      await putMapping(join(directory.path, 'data'), 'sql-transformer');
      service = await startService({ cwd: directory.path, env: env() });
    }, 60_000);
    afterAll(async () => {
      await service?.stop();
      await shop?.stop();
      await directory.remove();
    }, 60_000);

    const sql = (path: string): string => `${service.url}/sql-transformer${path}`;
    const set = (configEntry: string, configValue: string): Promise<Answer> =>
      ask(sql(`/updateConfig?${new URLSearchParams({ configEntry, configValue })}`), { method: 'PUT' });
    const stored = async (): Promise<readonly string[]> => {
      const { body } = await ask(`${service.url}/sparql?${new URLSearchParams({ query: 'SELECT ?s ?p ?o { ?s ?p ?o }' })}`);
      const rows = body.results.bindings as readonly Record<string, { readonly value: string }>[];
      return rows.map(({ s, p, o }) => [s, p, o].map((term) => withoutNamespace(term?.value ?? '')).join(' ')).sort();
    };
    const graph = async (): Promise<readonly string[]> => {
      const { status, body } = await ask(`${service.url}/datasets/shop/graph`);
      return status === 200 ? (body as string).trimEnd().split('\n').map(lineOf).sort() : [];
    };
    /** Until the newest version and the store are those of the tables. */
    const settled = async (): Promise<void> => {
      const expected = await shop.expected();
      const deadline = Date.now() + 20_000;
      for (;;) {
        const found = [await graph(), await stored()];
        if (JSON.stringify(found) === JSON.stringify([expected, expected])) return;
        if (Date.now() > deadline) expect(found).toEqual([expected, expected]);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };

    test('rows that change make versions, and the store has their graph: what came, what changed, what has gone', async () => {
      await settled();
      await shop.query("BEGIN; UPDATE customers SET name = 'Anna' WHERE id = 1; UPDATE orders SET customer = 1 WHERE id = 11; COMMIT");
      await settled();
      await shop.query("DELETE FROM orders WHERE id = 10; DELETE FROM customers WHERE id = 2; INSERT INTO customers VALUES (3, 'Cem')");
      await settled();
      const { body } = await poll(
        `${service.url}/datasets/shop`,
        ({ body: { currentVersion, followed } }) => followed?.version === currentVersion && followed.lag?.seconds === 0,
        15_000,
      );
      expect(body.followed).toMatchObject({
        service: 'sql-transformer',
        phase: 'following',
        isActive: true,
        feed: expect.stringMatching(/^jdbc:postgresql:/),
        position: { lsn: expect.stringMatching(/\//) },
        version: body.currentVersion,
        lag: { keptBytes: expect.any(Number) },
      });
      expect(body.currentVersion).toBeGreaterThanOrEqual(3);
      const ready = await ask(`${service.url}/health/ready`);
      expect([ready.status, ready.body.checks.follower]).toEqual([200, 'up']);
      const metrics = (await ask(`${service.url}/metrics`)).body as string;
      expect(metrics).toMatch(/^rml_follow_active 1$/m);
      expect(metrics).toMatch(/^rml_follow_lag_seconds\{dataset="shop"\} \d/m);
      expect(metrics).toMatch(/^rml_follow_epochs_total\{dataset="shop"\} \d/m);
      expect(metrics).toMatch(/^rml_follow_kept_bytes\{dataset="shop"\} \d/m);
    }, 60_000);

    test('a run of the dataset is refused, and one of another is not', async () => {
      const refused = await ask(sql('/process'));
      expect([refused.status, refused.body.code, refused.body.hint]).toEqual([
        409,
        'request/conflict',
        'Name another dataset, or set FOLLOW=false first',
      ]);
      const other = await ask(sql('/process?dataset=other'));
      expect([other.status, other.body.version]).toEqual([200, 1]);
    }, 30_000);

    soakTest(
      'a changed mapping and FOLLOW=false are heeded while it runs',
      async () => {
        await settled();
        await putMapping(join(directory.path, 'data'), 'sql-transformer', CUSTOMERS_ONLY);
        await shop.query('DELETE FROM orders');
        await service.waitForLog('follower ended', ({ reason }) => reason === 'changed');
        await settled();
        expect((await set('FOLLOW', 'false')).status).toBe(200);
        await service.waitForLog('follower ended', ({ reason }) => reason === 'stopped');
        await poll(`${service.url}/datasets/shop`, ({ body }) => body.followed === undefined, 15_000);
        expect((await ask(`${service.url}/health/ready`)).body.checks.follower).toBe('off');
        await shop.query("INSERT INTO customers VALUES (4, 'Dan')");
        const run = await ask(sql('/process'));
        expect([run.status, run.body.added]).toEqual([200, 1]);
        expect((await set('FOLLOW', 'true')).status).toBe(200);
        await shop.query("INSERT INTO customers VALUES (5, 'Eve')");
        await settled();
      },
      60_000,
    );

    soakTest('a service that is killed goes on where it was', async () => {
      service.kill('SIGKILL');
      await service.exited;
      await shop.query("UPDATE customers SET name = 'Fay' WHERE id = 5; DELETE FROM customers WHERE id = 4");
      service = await startService({ cwd: directory.path, env: env() });
      await settled();
    });

    soakTest('what keeps it from following is reported: by readiness, by the dataset and in the log', async () => {
      expect((await set('DATASET', '')).status).toBe(200);
      const { body } = await poll(`${service.url}/health/ready`, (answer) => answer.body.checks.follower === 'down', 15_000);
      expect(body.reasons.follower).toMatch(/^FOLLOW is set, and DATASET is not/);
      await set('DATASET', 'shop');
      await poll(`${service.url}/health/ready`, (answer) => answer.body.checks.follower === 'up', 15_000);
      await putMapping(join(directory.path, 'data'), 'sql-transformer', CUSTOMERS_ONLY.replace('customers', 'none'));
      const failed = await poll(`${service.url}/datasets/shop`, (answer) => answer.body.followed?.phase === 'failed', 30_000);
      expect(failed.body.followed.reason).toMatch(/none/);
      expect((await ask(sql('/process'))).status).toBe(409);
      await putMapping(join(directory.path, 'data'), 'sql-transformer', CUSTOMERS_ONLY);
      await poll(`${service.url}/health/ready`, (answer) => answer.body.checks.follower === 'up', 30_000);
      await settled();
    });

    soakTest('rows that give no valid term are in a file under quarantine, as long as there are some', async () => {
      const typed = CUSTOMERS_ONLY.replace('rr:column "name"', `rr:column "name" ; rr:datatype <http://www.w3.org/2001/XMLSchema#integer>`);
      await shop.query("DELETE FROM customers; INSERT INTO customers VALUES (1, '7'), (2, 'seven')");
      expect((await set('ON_ERROR', 'quarantine')).status).toBe(200);
      await putMapping(join(directory.path, 'data'), 'sql-transformer', typed);
      const file = join(directory.path, 'data', 'output', 'SQL-Transformer-follower-shop.rejected.ndjson');
      await until(() => existsSync(file), 30_000, 'the file');
      expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(1);
      await shop.query("UPDATE customers SET name = '8' WHERE id = 2");
      await until(() => !existsSync(file), 30_000, 'no file');
    });

    soakTest('options that contradict each other keep it from starting', async () => {
      const cwd = join(directory.path, 'refused');
      const refused = spawnService({ cwd: directory.path, env: { ...env(), DATA_DIR: cwd, PORT: '0', DATASET: '' } });
      expect((await refused.exited).code).not.toBe(0);
      expect(refused.stderr()).toMatch(/FOLLOW is set, and DATASET is not/);
      expect(existsSync(join(cwd, 'queue'))).toBe(false);
    });
  },
);
