/** DuckDB files: types, the catalogue, limits, strangers' queries, and files that are none, are locked or are broken. */
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Column, SessionOptions, SqlSession } from '../../../../src/sql/database.ts';
import { readDirectMapping } from '../../../../src/sql/direct-mapping/direct-mapping.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { openDuckdbWriter, writeDuckdb } from '../../../servers/databases/duckdb.ts';
import { endBySignal, fastest } from '../../../support/fastest.ts';
import { soakTest, test } from '../../../support/jest/extent.ts';

const OPTIONS: SessionOptions = { connectSeconds: 5, statementSeconds: 20, lockSeconds: 1 };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-duckdb-'));
});
afterAll(() => rm(directory, { recursive: true }));

const file = (name: string): string => join(directory, name);

const connect = (path: string, options: Partial<SessionOptions> = {}): Promise<SqlSession> =>
  openSession(parseJdbcUrl({ url: `jdbc:duckdb:${path}` }), { ...OPTIONS, ...options });

async function withSession<T>(path: string, work: (session: SqlSession) => Promise<T>, options: Partial<SessionOptions> = {}): Promise<T> {
  const session = await connect(path, options);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function allRows(session: SqlSession, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const rows: (readonly (string | null)[])[] = [];
  for await (const batch of session.rows(sql, (await session.describe(sql)).length)) rows.push(...batch.rows);
  return rows;
}

/** What a term map sees: the canonical text, and the local name of the natural datatype. */
function shown(column: Column, text: string | null): string | null {
  if (text === null) return null;
  try {
    const value = column.canonical?.(text) ?? text;
    return column.datatype === undefined ? value : `${value} (${column.datatype.replace(/.*#/, '')})`;
  } catch (error) {
    return `rejected: ${(error as Error).message}`;
  }
}

describe('values', () => {
  const VALUES: readonly (readonly [type: string, literal: string, expected: string | null])[] = [
    ['TINYINT', '-128', '-128 (integer)'],
    ['BIGINT', '9223372036854775807', '9223372036854775807 (integer)'],
    ['UBIGINT', '18446744073709551615', '18446744073709551615 (integer)'],
    ['HUGEINT', '-170141183460469231731687303715884105728', '-170141183460469231731687303715884105728 (integer)'],
    ['UHUGEINT', "'340282366920938463463374607431768211455'", '340282366920938463463374607431768211455 (integer)'],
    ['BIGNUM', "'123456789012345678901234567890123456789012345'", '123456789012345678901234567890123456789012345 (integer)'],
    ['DECIMAL(10,2)', '12.50', '12.5 (decimal)'],
    ['DECIMAL(38,10)', '-1234567890123456789012345678.0000000001', '-1234567890123456789012345678.0000000001 (decimal)'],
    ['DECIMAL(4,4)', '0', '0 (decimal)'],
    ['FLOAT', '0.1', '1.0E-1 (double)'],
    ['DOUBLE', '655.5', '6.555E2 (double)'],
    ['DOUBLE', '1e-7', '1.0E-7 (double)'],
    ['DOUBLE', '5e-324', '5.0E-324 (double)'],
    ['DOUBLE', "'-inf'", '-INF (double)'],
    ['DOUBLE', "'nan'", 'NaN (double)'],
    ['DOUBLE', '-0.0::DOUBLE', '-0.0E0 (double)'],
    ['BOOLEAN', 'true', 'true (boolean)'],
    ['DATE', "'2024-02-29'", '2024-02-29 (date)'],
    ['DATE', "'0044-03-15 (BC)'", '-0043-03-15 (date)'],
    ['DATE', "'10000-01-01'", '10000-01-01 (date)'],
    ['DATE', "'infinity'", 'rejected: "infinity" is no xsd:date'],
    ['TIME', "'23:59:59.250'", '23:59:59.25 (time)'],
    ['TIMETZ', "'12:00:00+05:30'", '12:00:00+05:30 (time)'],
    ['TIMESTAMP', "'2024-02-29 12:00:00.120'", '2024-02-29T12:00:00.12 (dateTime)'],
    ['TIMESTAMP', "'0001-01-01 (BC) 01:02:03'", '0000-01-01T01:02:03 (dateTime)'],
    ['TIMESTAMP', "'-infinity'", 'rejected: "-infinity" is no xsd:dateTime'],
    ['TIMESTAMP_S', "'2024-02-29 12:00:00'", '2024-02-29T12:00:00 (dateTime)'],
    ['TIMESTAMP_MS', "'2024-02-29 12:00:00.123'", '2024-02-29T12:00:00.123 (dateTime)'],
    ['TIMESTAMP_NS', "'2024-02-29 12:00:00.123456789'", '2024-02-29T12:00:00.123456789 (dateTime)'],
    ['TIMESTAMPTZ', "'2024-02-29 12:00:00+02'", '2024-02-29T10:00:00Z (dateTime)'],
    ['INTERVAL', "INTERVAL '14 months 3 days 26 hours 1.5 seconds'", 'P1Y2M4DT2H1.5S (duration)'],
    ['INTERVAL', "INTERVAL '-90 minutes'", '-PT1H30M (duration)'],
    ['INTERVAL', "INTERVAL '0 days'", 'PT0S (duration)'],
    ['INTERVAL', "INTERVAL '1 month -1 day'", 'rejected: "P0Y1M-1DT0H0M0S" has parts of both signs, and an xsd:duration has one sign'],
    ['UUID', "'550E8400-e29b-41d4-a716-446655440000'", '550e8400-e29b-41d4-a716-446655440000'],
    ['BLOB', "'\\x00\\xFFab'::BLOB", '00FF6162 (hexBinary)'],
    ['BIT', "'0101'", '0101'],
    ["ENUM ('ok', 'sad')", "'sad'", 'sad'],
    ['VARCHAR', "'Zürich 😀'", Buffer.from('Zürich 😀').toString('latin1')],
    ['VARCHAR', "''", ''],
    ['VARCHAR', "'a' || chr(0) || 'b'", 'a\0b'],
    ['CHAR(5)', "'abc'", 'abc'],
    ['JSON', `'{"a": [1, 2]}'`, '{"a": [1, 2]}'],
    ['INTEGER[]', '[1, NULL, 3]', '[1,null,3]'],
    ['VARCHAR[2]', `['x"y', 'z']`, '["x\\"y","z"]'],
    ['DATE[][]', "[[DATE '2024-01-01']]", '[["2024-01-01"]]'],
    ['STRUCT(a INTEGER, b VARCHAR)', "{'a': 1, 'b': NULL}", '{"a":1,"b":null}'],
    ['MAP(VARCHAR, INTEGER)', "MAP {'k': 1}", '{"k":1}'],
    ['UNION(i INTEGER, v VARCHAR)', "'text'", 'text'],
    ['INTEGER', 'NULL', null],
    ['STRUCT(a INTEGER)', 'NULL', null],
  ];

  test('of all types', async () => {
    const path = file('values.duckdb');
    const names = VALUES.map(([type], i) => `c${i} ${type}`).join(', ');
    await writeDuckdb(path, `CREATE TABLE t (${names}); INSERT INTO t VALUES (${VALUES.map(([, literal]) => literal).join(', ')})`);
    await withSession(path, async (session) => {
      const columns = await session.describe('SELECT * FROM t');
      const [row] = await allRows(session, 'SELECT * FROM t');
      expect(columns.map((column, i) => [VALUES[i]?.[0], VALUES[i]?.[1], shown(column, row?.[i] ?? null)])).toEqual(VALUES);
    });
  });

  test('of an expression, of columns with one name, and of no row', async () => {
    const path = file('values.duckdb');
    await withSession(path, async (session) => {
      const sql = 'SELECT count(*) AS n, 1 AS "a b", 2 AS "a b", NULL AS x FROM t';
      expect((await session.describe(sql)).map(({ name, type }) => [name, type])).toEqual([
        ['n', 'BIGINT'],
        ['a b', 'INTEGER'],
        ['a b', 'INTEGER'],
        ['x', 'INTEGER'],
      ]);
      expect(await allRows(session, sql)).toEqual([['1', '1', '2', null]]);
      expect(await allRows(session, 'SELECT c1 FROM t WHERE false')).toEqual([]);
    });
  });
});

test('rows of many batches keep their order, their nulls and every character', async () => {
  const path = file('many.duckdb');
  await writeDuckdb(
    path,
    `CREATE TABLE t AS SELECT i AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE 'Zürich 😀 ' || i || repeat('x', i % 2000) END AS x
     FROM range(1, 9001) AS r(i) ORDER BY hash(i)`,
  );
  const rows = await withSession(path, (session) => allRows(session, 'SELECT id, x FROM t ORDER BY id'));
  expect(rows).toHaveLength(9000);
  const expected = (i: number): string => Buffer.from(`Zürich 😀 ${i}${'x'.repeat(i % 2000)}`).toString('latin1');
  rows.forEach(([id, x], index) => {
    const i = index + 1;
    if (id !== String(i) || x !== (i % 7 === 0 ? null : expected(i))) throw new Error(`row ${i} is ${id}, ${x}`);
  });
});

test('the catalogue has tables, keys and references', async () => {
  const path = file('catalogue.duckdb');
  await writeDuckdb(
    path,
    `CREATE TABLE parent (id INTEGER PRIMARY KEY, code VARCHAR NOT NULL UNIQUE, a INT, b INT, UNIQUE (a, b));
     CREATE UNIQUE INDEX one ON parent (b); CREATE UNIQUE INDEX expr ON parent ((a + b)); CREATE INDEX plain ON parent (a);
     CREATE TABLE "Child ""1""" (k VARCHAR, n INT, p INTEGER REFERENCES parent, c VARCHAR REFERENCES Parent (code), PRIMARY KEY (n, k));
     CREATE SCHEMA other; CREATE TABLE other.parent (x INT); CREATE TEMPORARY TABLE gone (x INT);
     CREATE VIEW shown AS SELECT id FROM parent`,
  );
  await withSession(path, async (session) => {
    const tables = await session.catalogue.tables([]);
    expect(tables.map(({ name, primaryKey, uniqueKeys }) => [name, primaryKey, uniqueKeys]).sort()).toEqual([
      ['Child "1"', ['n', 'k'], []],
      ['parent', ['id'], expect.arrayContaining([['code'], ['a', 'b'], ['b']])],
    ]);
    expect(tables.find(({ name }) => name === 'parent')?.uniqueKeys).toHaveLength(3);
    const child = tables.find(({ name }) => name.startsWith('Child'));
    expect(child?.columns).toEqual([
      { name: 'k', nullable: false },
      { name: 'n', nullable: false },
      { name: 'p', nullable: true },
      { name: 'c', nullable: true },
    ]);
    expect(child?.foreignKeys).toEqual(
      expect.arrayContaining([
        { columns: ['p'], parent: { schema: 'main', name: 'parent' }, parentColumns: ['id'], exact: false },
        { columns: ['c'], parent: { schema: 'main', name: 'parent' }, parentColumns: ['code'], exact: false },
      ]),
    );
    expect((await session.catalogue.tables(['other'])).map(({ columns }) => columns)).toEqual([[{ name: 'x', nullable: true }]]);
    expect((await session.catalogue.table(['SHOWN']))?.kind).toBe('view');
    expect(await session.catalogue.table(['other', 'shown'])).toBeUndefined();
    const mapping = await readDirectMapping(session, { base: 'http://e/', schemas: [], tables: [] });
    expect(mapping).toContain(`rr:template 'http://e/parent/id={"id"}'`);
    const other = await readDirectMapping(session, { base: 'http://e/', schemas: ['other'], tables: [] });
    expect(other).toContain('t.rowid');
  });
});

describe('a session', () => {
  let path: string;
  beforeAll(async () => {
    path = file('session.duckdb');
    await writeDuckdb(path, 'CREATE TABLE t (id INTEGER PRIMARY KEY, x VARCHAR); INSERT INTO t VALUES (1, NULL), (2, NULL), (3, NULL)');
  });

  soakTest('waits for a writer that has the file open, and says so', async () => {
    const writer = await openDuckdbWriter(path);
    try {
      const started = performance.now();
      await expect(connect(path)).rejects.toMatchObject({ code: 'database/busy', retriable: true });
      expect(performance.now() - started).toBeGreaterThan(900);
      const later = connect(path, { lockSeconds: 20 });
      setTimeout(() => writer.close(), 500);
      const session = await later;
      expect(session.version).toMatch(/^\d+\.\d+\.\d+/);
      await session.close();
    } finally {
      writer.close();
    }
  });

  const ENDLESS = 'SELECT sum(hash(a.i) ^ hash(b.i) % 3) AS s FROM range(1000000000) AS a(i), range(1000000000) AS b(i)';

  soakTest('ends a statement without end at its limit', async () => {
    await expect(withSession(path, (session) => allRows(session, ENDLESS), { statementSeconds: 1 })).rejects.toMatchObject({
      code: 'database/time-limit',
    });
  });

  test('ends a statement without end by its signal, within a second', async () => {
    const run = (signal: AbortSignal): Promise<unknown> => withSession(path, (session) => allRows(session, ENDLESS), { signal });
    expect(await fastest(1_000, () => endBySignal(run))).toBeLessThan(1_000);
  }, 30_000);

  test('reads on after rows that were given up', async () => {
    await withSession(path, async (session) => {
      for await (const _ of session.rows('SELECT i FROM range(10000000) AS r(i)', 1)) break;
      expect(await allRows(session, 'SELECT id FROM t WHERE id = 3')).toEqual([['3']]);
    });
  });

  soakTest('spills a sort that does not fit into its memory, and leaves no file behind', async () => {
    const spillDirectory = await mkdtemp(join(directory, 'spill-'));
    const sql = `SELECT n, k FROM (SELECT row_number() OVER (ORDER BY k) AS n, k FROM
      (SELECT md5(CAST(i AS VARCHAR)) || repeat('x', 600) AS k FROM range(300000) AS r(i))) WHERE n % 1000 = 0 ORDER BY n`;
    await withSession(
      path,
      async (session) => {
        let last = '';
        let rows = 0;
        for await (const batch of session.rows(sql, 2))
          for (const [, key] of batch.rows) {
            if ((key as string) < last) throw new Error('not sorted');
            last = key as string;
            rows++;
          }
        expect(rows).toBe(300);
        expect(await readdir(spillDirectory)).toHaveLength(1);
      },
      { memoryBytes: 2 ** 27, spillDirectory, statementSeconds: 0 },
    );
    expect(await readdir(spillDirectory)).toEqual([]);
  });

  test('says that a query does not fit into its memory', async () => {
    const sql = `SELECT list(repeat(CAST(i AS VARCHAR), 100)) AS l FROM range(10000000) AS r(i)`;
    await expect(
      withSession(path, (session) => allRows(session, sql), { memoryBytes: 2 ** 27, statementSeconds: 0 }),
    ).rejects.toMatchObject({
      code: 'limit/exceeded',
      message: expect.stringContaining('needs more memory than it may have'),
    });
  });

  const REFUSED = [
    ['a second statement', 'SELECT 1; SELECT 2'],
    ['a write', "INSERT INTO t VALUES (9, 'x') RETURNING id"],
    ['a PRAGMA', 'PRAGMA database_list'],
    ['ATTACH', "ATTACH 'other.duckdb' AS other"],
    ['COPY', "COPY t TO 'copy.csv'"],
    ['SET', 'SET enable_external_access = true'],
    ['a subquery that is closed early', 'SELECT 1) UNION SELECT (2'],
    ['an extension', 'INSTALL httpfs'],
    ['a CSV file', `SELECT * FROM read_csv('/etc/passwd')`],
    ['a file in place of a table', `SELECT * FROM '/etc/passwd'`],
    ['a text file', `SELECT content FROM read_text('/etc/passwd')`],
    ['a list of files', `SELECT * FROM glob('/*')`],
    ['a file that a function names', `SELECT * FROM query('SELECT * FROM read_text(''/etc/passwd'')')`],
    ['a variable of the environment', `SELECT getenv('HOME')`],
    ['a parameter', 'SELECT $1'],
    ['a table that is not there', 'SELECT * FROM nothing'],
  ] as const;

  test('refuses whatever a stranger writes that is no query of its tables', async () => {
    await withSession(path, async (session) => {
      for (const [what, sql] of REFUSED) {
        const run = async (): Promise<string> => {
          const { batches } = await session.select(sql, 10);
          for await (const _ of batches);
          return `${what} was accepted`;
        };
        expect([what, await run().catch((error) => error.code)]).toEqual([what, 'database/query']);
      }
    });
  });

  test('names what is wrong in a query', async () => {
    await expect(withSession(path, (session) => session.describe('SELECT nothing FROM t'))).rejects.toMatchObject({
      message: expect.stringMatching(/^Binder Error: Referenced column "nothing" not found in FROM clause!/),
    });
  });

  test('gives a stranger no more rows than asked for', async () => {
    await withSession(path, async (session) => {
      const { batches } = await session.select('SELECT id FROM t; ', 1);
      const rows = [];
      for await (const batch of batches) rows.push(...batch.rows);
      expect(rows).toEqual([['1'], ['2']]);
    });
  });
});

/** The checksum of a block. */
function checksum(block: Buffer): bigint {
  const mask = 2n ** 64n - 1n;
  let sum = 5381n;
  for (let at = 0; at < block.length; at += 8) sum ^= (block.readBigUInt64LE(at) * 0xbf58476d1ce4e5b9n) & mask;
  return sum;
}

describe('a file that cannot be read', () => {
  const HEADER = 4096;
  const rows = `CREATE TABLE t AS SELECT md5(CAST(i AS VARCHAR)) AS x FROM range(100000) AS r(i)`;

  test.each<[string, () => Promise<string>, object]>([
    [
      'is not there',
      async () => file('none.duckdb'),
      { code: 'database/missing', message: expect.stringMatching(/^There is no file .*none\.duckdb$/) },
    ],
    ['is a directory', async () => directory, { code: 'source/type' }],
    [
      'is another kind of file',
      async () => {
        await writeFile(file('text.duckdb'), 'id,name\n1,Ann\n'.repeat(100));
        return file('text.duckdb');
      },
      { code: 'source/type', message: expect.stringMatching(/text\.duckdb is not a DuckDB database$/) },
    ],
    [
      'is empty',
      async () => {
        await writeFile(file('empty.duckdb'), '');
        return file('empty.duckdb');
      },
      { code: 'source/type' },
    ],
    [
      'is of a later version',
      async () => {
        await writeDuckdb(file('later.duckdb'), rows);
        const bytes = await readFile(file('later.duckdb'));
        bytes.writeBigUInt64LE(9999n, 12);
        bytes.writeBigUInt64LE(checksum(bytes.subarray(8, HEADER)), 0);
        await writeFile(file('later.duckdb'), bytes);
        return file('later.duckdb');
      },
      { code: 'database/unreachable', message: expect.stringContaining('was written by another version of DuckDB') },
    ],
    [
      'is encrypted',
      async () => {
        const writer = await openDuckdbWriter(':memory:');
        await writer.run(
          `SET force_mbedtls_unsafe = 'true'; ATTACH '${file('secret.duckdb')}' AS secret (ENCRYPTION_KEY 'key'); CREATE TABLE secret.t (x INT); DETACH secret`,
        );
        writer.close();
        return file('secret.duckdb');
      },
      { code: 'database/unreachable', message: expect.stringMatching(/secret\.duckdb is encrypted, and cannot be read here$/) },
    ],
    [
      'is cut off',
      async () => {
        await writeDuckdb(file('cut.duckdb'), rows);
        await truncate(file('cut.duckdb'), 3 * HEADER + 100_000);
        return file('cut.duckdb');
      },
      { code: 'source/malformed', message: expect.stringContaining('is damaged or cut off') },
    ],
    [
      'has damaged blocks',
      async () => {
        await writeDuckdb(file('block.duckdb'), rows);
        const bytes = await readFile(file('block.duckdb'));
        for (let at = 3 * HEADER + 100; at < bytes.length; at += 10_000) bytes.fill(0xee, at, at + 1000);
        await writeFile(file('block.duckdb'), bytes);
        return file('block.duckdb');
      },
      { code: 'source/malformed', message: expect.stringContaining('is damaged or cut off') },
    ],
  ])('because it %s', async (_, make, expected) => {
    const path = await make();
    await expect(withSession(path, (session) => allRows(session, 'SELECT x FROM t'))).rejects.toMatchObject(expected);
  });
});

describe('JDBC URLs', () => {
  test.each([
    ['jdbc:duckdb:/a/b.duckdb', '/a/b.duckdb'],
    ['jdbc:duckdb:b.db;access_mode=READ_ONLY;threads=4', '/data/b.db'],
    ['jdbc:duckdb:file:///a/b%20c.db', '/a/b c.db'],
  ])('%s', (url, path) => {
    expect(parseJdbcUrl({ url, directory: '/data' })).toMatchObject({
      product: 'duckdb',
      server: undefined,
      database: path,
      name: `jdbc:duckdb:${path}`,
    });
  });

  test.each([
    'jdbc:duckdb:',
    'jdbc:duckdb::memory:',
    'jdbc:duckdb:md:cloud',
    'jdbc:duckdb:a.db;session_init_sql_file=x.sql',
    'jdbc:duckdb:a.db;memory_limit=1TB',
    'jdbc:duckdb:a.db;encryption_key=k',
  ])('refuses %s', (url) => {
    expect(() => parseJdbcUrl({ url })).toThrow(expect.objectContaining({ code: 'request/invalid' }));
  });
});
