/** The files of the embedded queue do not grow with what was deleted. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PglitePool } from '../../../../queues/backend/embedded/pglite.ts';
import { Vacuum } from '../../../../queues/backend/embedded/vacuum.ts';
import { openEmbedded } from '../../../../queues/backend/postgres.ts';
import { temporaryDirectory } from '../../../support/queues/backends.ts';

const SCHEMA = 'jobs';
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let driver: Awaited<ReturnType<typeof openEmbedded>>;
let pool: PglitePool;

beforeAll(async () => {
  directory = await temporaryDirectory();
  driver = await openEmbedded(directory.path, SCHEMA);
  pool = driver.connection('producer') as PglitePool;
  await pool.query('CREATE TABLE of_test (id integer PRIMARY KEY, filling text)');
}, 60_000);

afterAll(async () => {
  await driver.close();
  await directory.remove();
}, 30_000);

const bytes = async (): Promise<number> =>
  Number((await pool.query(`SELECT pg_total_relation_size('of_test') AS bytes`)).rows.map((row) => (row as { bytes: number }).bytes)[0]);
const turnOver = async (rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round++) {
    await pool.query(`INSERT INTO of_test SELECT i, repeat('x', 500) FROM generate_series(1, 2000) AS i`);
    await pool.query('DELETE FROM of_test');
  }
};
const bytesOf = (path: string): number =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const found = statSync(join(path, name));
    return sum + (found.isFile() ? found.size : 0);
  }, 0);

describe('the embedded queue', () => {
  test('makes the space of deleted rows free, table by table', async () => {
    await turnOver(3);
    const full = await bytes();
    const vacuum = new Vacuum(pool, SCHEMA);
    const tables = (await pool.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [SCHEMA])).rows.length;
    for (let i = 0; i < tables; i++) await vacuum.next();
    await vacuum.close();
    expect(full).toBeGreaterThan(3_000_000);
    expect(await bytes()).toBeLessThan(200_000);
  });

  test('does so as time goes by, and tells what fails', async () => {
    const errors: unknown[] = [];
    const broken = Object.assign(Object.create(pool) as PglitePool, {
      query: async () => {
        throw new Error('no session');
      },
      emit: (_: string, error: unknown) => errors.push(error) > 0,
    });
    const vacuum = new Vacuum(broken, SCHEMA, 5);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await vacuum.close();
    expect(errors).toContainEqual(new Error('no session'));
    await turnOver(1);
    const working = new Vacuum(pool, SCHEMA, 5);
    while ((await bytes()) > 200_000) await new Promise((resolve) => setTimeout(resolve, 20));
    await working.close();
  }, 30_000);

  test('keeps little of its log', async () => {
    const vacuum = new Vacuum(pool, SCHEMA);
    for (let i = 0; i < 10; i++) {
      await turnOver(15);
      await vacuum.next();
    }
    await vacuum.close();
    expect(bytesOf(join(directory.path, 'database', 'pg_wal'))).toBeLessThan(100 * 2 ** 20);
  }, 60_000);
});
