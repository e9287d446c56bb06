/** Prepared statements of the embedded queue. */

import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PglitePool } from '../../../../queues/backend/embedded/pglite.ts';

let database: PGlite;
let pool: PglitePool;

beforeAll(async () => {
  database = await PGlite.create();
  pool = new PglitePool(database);
  await pool.query('CREATE TABLE item (id integer PRIMARY KEY, name text)');
}, 30_000);

afterAll(async () => {
  await pool.end();
  await database.close();
});

describe('a statement', () => {
  test.each([
    ['text', 'SELECT $1::text AS it', 'Zürich\n', 'Zürich\n'],
    ['no value', 'SELECT $1::text AS it', null, null],
    ['a number', 'SELECT $1::int + 1 AS it', 41, 42],
    ['a truth', 'SELECT NOT $1::boolean AS it', true, false],
    ['JSON', `SELECT $1::jsonb -> 'a' AS it`, { a: [1, 'b'] }, [1, 'b']],
    ['a list of texts', 'SELECT array_length($1::text[], 1) AS it', ['a,b', '"c"', 'd'], 3],
  ])('takes and gives %s, the first time and the second', async (_, text, given, expected) => {
    for (const _time of [1, 2]) expect((await pool.query(text, [given])).rows).toEqual([{ it: expected }]);
  });

  test('returns how many rows it changed', async () => {
    const insert = 'INSERT INTO item (id, name) VALUES ($1, $2)';
    expect(await pool.query(insert, [1, 'one'])).toEqual({ rows: [], rowCount: 1 });
    expect(await pool.query(insert, [2, 'two'])).toEqual({ rows: [], rowCount: 1 });
    expect(await pool.query('UPDATE item SET name = name WHERE id > $1', [0])).toEqual({ rows: [], rowCount: 2 });
    expect(await pool.query('SELECT name FROM item WHERE id = $1', [9])).toEqual({ rows: [], rowCount: 0 });
  });

  test('that fails leaves the session as it was', async () => {
    const insert = 'INSERT INTO item (id) VALUES ($1) RETURNING id';
    expect((await pool.query(insert, [10])).rowCount).toBe(1);
    await expect(pool.query(insert, [10])).rejects.toMatchObject({ code: '23505' });
    await expect(pool.query('SELECT nothing FROM item WHERE id = $1', [1])).rejects.toMatchObject({ code: '42703' });
    expect((await pool.query(insert, [11])).rows).toEqual([{ id: 11 }]);
  });

  test('follows its table when that changes', async () => {
    const select = 'SELECT * FROM item WHERE id = $1';
    await pool.query('INSERT INTO item (id, name) VALUES ($1, $2)', [20, 'twenty']);
    expect((await pool.query(select, [20])).rows).toEqual([{ id: 20, name: 'twenty' }]);
    await pool.query('ALTER TABLE item ADD COLUMN size integer');
    expect((await pool.query(select, [20])).rows).toEqual([{ id: 20, name: 'twenty', size: null }]);
  });

  test('in a transaction that failed is refused, and works again after it', async () => {
    const client = await pool.connect();
    const select = 'SELECT $1::int AS it';
    await client.query('BEGIN');
    await expect(client.query('SELECT 1 / $1::int', [0])).rejects.toMatchObject({ code: '22012' });
    await expect(client.query(select, [1])).rejects.toMatchObject({ code: '25P02' });
    await client.query('ROLLBACK');
    expect((await client.query(select, [1])).rows).toEqual([{ it: 1 }]);
    client.release();
  });
});
