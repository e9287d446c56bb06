/** SQLite files: types, storage classes, the catalogue, limits, strangers' queries, and files that are none or are broken. */
import { createCipheriv } from 'node:crypto';
import { chmod, copyFile, mkdtemp, open, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TypedValue } from '../../../../src/core/value.ts';
import type { Column, SessionOptions, SqlSession } from '../../../../src/sql/database.ts';
import { readDirectMapping } from '../../../../src/sql/direct-mapping/direct-mapping.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { openSqliteWriter, writeSqlite } from '../../../servers/databases/sqlite.ts';
import { endBySignal, fastest } from '../../../support/fastest.ts';
import { Random } from '../../../support/random.ts';

const OPTIONS: SessionOptions = { connectSeconds: 5, statementSeconds: 20, lockSeconds: 1 };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-sqlite-'));
});
afterAll(() => rm(directory, { recursive: true }));

const connect = (path: string, options: Partial<SessionOptions> = {}): Promise<SqlSession> =>
  openSession(parseJdbcUrl({ url: `jdbc:sqlite:${path}` }), { ...OPTIONS, ...options });

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

/** What a term map sees: the text in a literal of the natural datatype, and that datatype's local name. */
function shown(column: Column, text: string | null): string | null {
  if (text === null) return null;
  try {
    const value = column.value?.(text) ?? column.canonical?.(text) ?? text;
    if (value instanceof TypedValue) return `${value.text} (${value.datatype.replace(/.*#/, '')}), written ${value.written}`;
    return column.datatype === undefined ? value : `${value} (${column.datatype.replace(/.*#/, '')})`;
  } catch (error) {
    return `rejected: ${(error as Error).message}`;
  }
}

describe('values', () => {
  const value = async (type: string, literal: string): Promise<string | null> => {
    const path = join(directory, `value-${Math.random()}.db`);
    await writeSqlite(path, `CREATE TABLE t (x ${type}); INSERT INTO t VALUES (${literal})`);
    return withSession(path, async (session) => {
      const [column] = await session.describe('SELECT x FROM t');
      const [row] = await allRows(session, 'SELECT x FROM t');
      return shown(column as Column, row?.[0] ?? null);
    });
  };

  test.each([
    ['INTEGER', '9223372036854775807', '9223372036854775807 (integer)'],
    ['INT', '-9007199254740993', '-9007199254740993 (integer)'],
    ['INTEGER', "'twelve'", 'rejected: "twelve" is no integer, as which a column of its type is read'],
    ['INTEGER', '2.5', 'rejected: "2.5" is no integer, as which a column of its type is read'],
    ['BIGINT', 'NULL', null],
    ['REAL', '655.5', '6.555E2 (double), written 655.5'],
    ['DOUBLE', '1e300', '1.0E300 (double), written 1e+300'],
    ['REAL', '-9e999', '-INF (double), written -INF'],
    ['REAL', "'x'", 'rejected: "x" is no double, as which a column of its type is read'],
    ['DECIMAL(10,2)', '12.50', '12.5 (decimal)'],
    ['NUMERIC', '1e25', '10000000000000000000000000 (decimal)'],
    ['NUMERIC', '1.5e-9', '0.0000000015 (decimal)'],
    ['BOOLEAN', '1', 'true (boolean)'],
    ['BOOLEAN', '0', 'false (boolean)'],
    ['BOOLEAN', '7', 'rejected: "7" is no boolean, as which a column of its type is read'],
    ['DATE', "'2024-02-29'", '2024-02-29 (date)'],
    ['DATE', '1709164800', 'rejected: "1709164800" is no date, as which a column of its type is read'],
    ['DATETIME', "'2024-02-29 12:30'", '2024-02-29T12:30:00 (dateTime)'],
    ['TIMESTAMP', "'2024-02-29T12:30:01.500Z'", '2024-02-29T12:30:01.5Z (dateTime)'],
    ['TIME', "'23:59:59.250'", '23:59:59.25 (time)'],
    ['BLOB', "x'00ff10'", '00FF10 (hexBinary)'],
    ['BLOB', "'text'", 'rejected: "text" is no hexBinary, as which a column of its type is read'],
    ['VARCHAR(5)', "'longer than five'", 'longer than five'],
    ['CHAR(6)', "'né'", 'n\u00c3\u00a9    '],
    ['TEXT', "x'00'", 'rejected: a BLOB of 1 bytes is no text, as which a column of its type is read'],
    ['TEXT', "''", ''],
    ['', '5', '5 (integer), written 5'],
    ['', '0.1', '1.0E-1 (double), written 0.1'],
    ['', "'text'", 'text'],
    ['', "x'ab'", 'AB (hexBinary), written AB'],
  ])('of a column %s: %s', async (type, literal, expected) => {
    expect(await value(type, literal)).toBe(expected);
  });

  test('of an expression have the datatype of their storage class', async () => {
    const path = join(directory, 'expressions.db');
    await writeSqlite(path, 'CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, NULL), (2, NULL)');
    const sql = "SELECT count(*) AS n, avg(a) AS m, 'x' || max(a) AS x FROM t";
    await withSession(path, async (session) => {
      const columns = await session.describe(sql);
      const [row] = await allRows(session, sql);
      expect(columns.map((column, i) => shown(column, row?.[i] ?? null))).toEqual([
        '2 (integer), written 2',
        '1.5E0 (double), written 1.5',
        'x2',
      ]);
    });
  });
});

test('rows of many batches keep their order, their nulls and every character', async () => {
  const path = join(directory, 'many.db');
  await writeSqlite(
    path,
    `CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
     INSERT INTO t SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'Zürich 😀 ' || i || substr('${'x'.repeat(2000)}', 1, i % 2000) END FROM n`,
  );
  const rows = await withSession(path, (session) => allRows(session, 'SELECT id, x FROM t ORDER BY id'));
  expect(rows).toHaveLength(9000);
  const expected = (i: number): string => Buffer.from(`Zürich 😀 ${i}${'x'.repeat(i % 2000)}`).toString('latin1');
  rows.forEach(([id, x], index) => {
    const i = index + 1;
    if (id !== String(i) || x !== (i % 7 === 0 ? null : expected(i))) throw new Error(`row ${i} is ${id}, ${x}`);
  });
});

test('integers of every length have their digits', async () => {
  const powers = Array.from({ length: 19 }, (_, i) => 10n ** BigInt(i));
  const edges = [0n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n - 1n];
  const values = [...powers.flatMap((power) => [power - 1n, power, power + 1n]), ...edges].flatMap((value) => [value, -value]);
  const path = join(directory, 'digits.db');
  await writeSqlite(
    path,
    `CREATE TABLE t (n INTEGER PRIMARY KEY, x INTEGER); INSERT INTO t VALUES ${values.map((value, i) => `(${i}, ${value})`).join(', ')}`,
  );
  const rows = await withSession(path, (session) => allRows(session, 'SELECT x FROM t ORDER BY n'));
  expect(rows.map(([x]) => x)).toEqual(values.map(String));
});

test('reals have the digits of their shortest text', async () => {
  const random = new Random(7);
  const hundredths = Array.from({ length: 3000 }, () => Math.floor(random.next() * 10 ** random.between(1, 12)) / 100);
  const reals = Array.from({ length: 500 }, () => random.next() * 10 ** random.between(0, 9));
  const edges = [0, -0, 0.01, 0.1, 0.29, 0.57, 1.005, 1.15, 4.35, 100, 1e15, 1e21, 21474836.47, 21474836.48, 0.001, 1e-7];
  const values = [...edges, ...hundredths, ...reals].flatMap((value) => [value, -value]);
  const path = join(directory, 'reals.db');
  const writer = openSqliteWriter(path);
  writer.exec('CREATE TABLE t (n INTEGER PRIMARY KEY, x REAL); BEGIN');
  // As parameters: the library reads literals of SQL less exactly.
  const insert = writer.prepare('INSERT INTO t VALUES (?, ?)');
  for (const [i, value] of values.entries()) insert.run(i, value);
  writer.exec('COMMIT');
  writer.close();
  const read = await withSession(path, (session) => allRows(session, 'SELECT x FROM t ORDER BY n'));
  expect(read.map(([x]) => x)).toEqual(values.map(String));
});

test('the catalogue has tables, keys and references', async () => {
  const path = join(directory, 'catalogue.db');
  await writeSqlite(
    path,
    `CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, a INT, b INT, UNIQUE (a, b));
     CREATE UNIQUE INDEX part ON parent (b) WHERE a > 1; CREATE UNIQUE INDEX expr ON parent (a + b);
     CREATE TABLE "Child ""1""" (k TEXT PRIMARY KEY, p INTEGER REFERENCES parent, c TEXT REFERENCES Parent (code), g INT AS (p + 1));
     CREATE TABLE nulls (k TEXT PRIMARY KEY); INSERT INTO nulls VALUES (NULL), (NULL);
     CREATE TABLE two (x INT, y INT, PRIMARY KEY (y, x)) WITHOUT ROWID;
     CREATE VIEW shown AS SELECT id FROM parent;`,
  );
  await withSession(path, async (session) => {
    const tables = await session.catalogue.tables([]);
    expect(tables.map(({ name, primaryKey, uniqueKeys }) => [name, primaryKey, uniqueKeys]).sort()).toEqual([
      ['Child "1"', ['k'], []],
      ['nulls', undefined, [['k']]],
      ['parent', ['id'], expect.arrayContaining([['code'], ['a', 'b']])],
      ['two', ['y', 'x'], []],
    ]);
    const child = tables.find(({ name }) => name.startsWith('Child'));
    expect(child?.columns.map(({ name }) => name)).toEqual(['k', 'p', 'c', 'g']);
    expect(child?.foreignKeys).toEqual(
      expect.arrayContaining([
        { columns: ['p'], parent: { schema: 'main', name: 'parent' }, parentColumns: ['id'], exact: false },
        { columns: ['c'], parent: { schema: 'main', name: 'parent' }, parentColumns: ['code'], exact: false },
      ]),
    );
    expect((await session.catalogue.table(['SHOWN']))?.kind).toBe('view');
    expect(await session.catalogue.table(['other', 'parent'])).toBeUndefined();
    const mapping = await readDirectMapping(session, { base: 'http://e/', schemas: [], tables: [] });
    expect(mapping).toContain(`rr:template 'http://e/parent/id={"id"}'`);
    expect(mapping).toContain('ROW_NUMBER() OVER');
  });
});

describe('a session', () => {
  let path: string;
  beforeAll(async () => {
    path = join(directory, 'session.db');
    await writeSqlite(path, 'CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, NULL), (2, NULL), (3, NULL)');
  });

  test('sees one state of the data, and no writer breaks it', async () => {
    const wal = join(directory, 'wal.db');
    await writeSqlite(wal, 'PRAGMA journal_mode = WAL; CREATE TABLE t (id INT); INSERT INTO t VALUES (1)');
    const writer = openSqliteWriter(wal);
    try {
      await withSession(wal, async (session) => {
        writer.exec('INSERT INTO t VALUES (2)');
        expect(await allRows(session, 'SELECT id FROM t')).toEqual([['1']]);
      });
      // What stands in the -wal file alone is read.
      expect(await withSession(wal, (session) => allRows(session, 'SELECT id FROM t'))).toEqual([['1'], ['2']]);
    } finally {
      writer.close();
    }
  });

  test('says that another process holds a lock', async () => {
    const writer = openSqliteWriter(path);
    try {
      writer.exec('BEGIN EXCLUSIVE');
      const started = performance.now();
      await expect(connect(path)).rejects.toMatchObject({ code: 'database/busy', retriable: true });
      expect(performance.now() - started).toBeGreaterThan(900);
    } finally {
      writer.close();
    }
  });

  const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n';

  test('ends a statement without end at its limit', async () => {
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
      for await (const _ of session.rows('SELECT a.id FROM t AS a, t AS b, t AS c, t AS d, t AS e, t AS f, t AS g, t AS h', 1)) break;
      expect(await allRows(session, 'SELECT id FROM t WHERE id = 3')).toEqual([['3']]);
    });
  });

  test.each([
    ['a second statement', 'SELECT 1; SELECT 2'],
    ['a write', 'DELETE FROM t RETURNING id'],
    ['a PRAGMA', 'PRAGMA table_info(t)'],
    ['ATTACH', "ATTACH 'other.db' AS other"],
    ['VACUUM INTO', "VACUUM INTO 'copy.db'"],
    ['a subquery that is closed early', 'SELECT 1) UNION SELECT (2'],
    ['an extension', "SELECT load_extension('x')"],
    ['a table that is not there', 'SELECT * FROM nothing'],
  ])('refuses %s of a stranger', async (_, sql) => {
    const run = withSession(path, async (session) => {
      const { batches } = await session.select(sql, 10);
      for await (const _batch of batches);
    });
    await expect(run).rejects.toMatchObject({ code: 'database/query' });
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

describe('a file that cannot be read', () => {
  const file = (name: string): string => join(directory, name);

  test.each<[string, () => Promise<string>, object]>([
    [
      'is not there',
      async () => file('none.db'),
      { code: 'database/missing', message: expect.stringMatching(/^There is no file .*none\.db$/) },
    ],
    ['is a directory', async () => directory, { code: 'source/type' }],
    [
      'is another kind of file',
      async () => {
        await writeFile(file('text.db'), 'id,name\n1,Ann\n'.repeat(100));
        return file('text.db');
      },
      { code: 'source/type', message: expect.stringContaining('is not an SQLite database, or an encrypted one') },
    ],
    [
      'is encrypted',
      async () => {
        // SQLCipher encrypts every page, the first with its magic bytes too.
        await writeFile(file('secret.db'), createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16)).update(Buffer.alloc(8192)));
        return file('secret.db');
      },
      { code: 'source/type', message: expect.stringContaining('or an encrypted one') },
    ],
    [
      'is cut off',
      async () => {
        await writeSqlite(
          file('cut.db'),
          `CREATE TABLE t (x TEXT); INSERT INTO t SELECT hex(randomblob(900)) FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9))`,
        );
        await truncate(file('cut.db'), (await stat(file('cut.db'))).size - 6000);
        return file('cut.db');
      },
      { code: 'source/malformed', message: expect.stringContaining('is damaged or cut off') },
    ],
    [
      'has a damaged page',
      async () => {
        await writeSqlite(
          file('page.db'),
          `CREATE TABLE t (x TEXT); INSERT INTO t SELECT hex(randomblob(900)) FROM (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9))`,
        );
        const broken = await open(file('page.db'), 'r+');
        await broken.write(Buffer.alloc(4000, 0xee), 0, 4000, 4096);
        await broken.close();
        return file('page.db');
      },
      { code: 'source/malformed' },
    ],
  ])('because it %s', async (_, make, expected) => {
    const path = await make();
    await expect(withSession(path, (session) => allRows(session, 'SELECT x FROM t'))).rejects.toMatchObject(expected);
  });

  test('a value that is too large', async () => {
    // SQLite's own limit is a billion bytes.
    const sql = 'SELECT zeroblob(1100000000) AS x';
    await writeSqlite(file('large.db'), 'CREATE TABLE t (x INT)');
    const run = withSession(file('large.db'), (session) => allRows(session, sql));
    await expect(run).rejects.toMatchObject({
      code: 'limit/exceeded',
      message: expect.stringMatching(/^A value of .*large\.db is too large/),
    });
  });

  test('an empty file is a database without tables', async () => {
    await writeFile(file('empty.db'), '');
    expect(await withSession(file('empty.db'), (session) => session.catalogue.tables([]))).toEqual([]);
  });

  test('a read-only file in a read-only directory is read', async () => {
    await copyFile(file('session.db'), file('readonly.db'));
    await chmod(file('readonly.db'), 0o444);
    expect(await withSession(file('readonly.db'), (session) => allRows(session, 'SELECT id FROM t'))).toHaveLength(3);
  });
});

describe('JDBC URLs', () => {
  test.each([
    ['jdbc:sqlite:/a/b.db', '/a/b.db'],
    ['jdbc:sqlite:b.db?busy_timeout=5&journal_mode=WAL', '/data/b.db'],
    ['jdbc:sqlite:file:///a/b%20c.db?mode=ro', '/a/b c.db'],
    ['jdbc:sqlite:file:b.db', '/data/b.db'],
  ])('%s', (url, path) => {
    expect(parseJdbcUrl({ url, directory: '/data' })).toMatchObject({
      product: 'sqlite',
      server: undefined,
      database: path,
      name: `jdbc:sqlite:${path}`,
    });
  });

  test.each([
    'jdbc:sqlite:',
    'jdbc:sqlite::memory:',
    'jdbc:sqlite::resource:a.db',
    'jdbc:sqlite:http://h/a.db',
    'jdbc:sqlite:a.db?key=1',
    'jdbc:sqlite:a.db?vfs=x',
  ])('refuses %s', (url) => {
    expect(() => parseJdbcUrl({ url })).toThrow(expect.objectContaining({ code: 'request/invalid' }));
  });
});

test.each([
  [`SELECT REPLACE(x, "/", "-") AS y FROM t`, `write '/', in single quotes`],
  [`SELECT x FROM t WHERE x = "it's"`, `write 'it''s', in single quotes`],
  [`SELECT z FROM t`, undefined],
])('a text in double quotes is no column, and the hint says how it is written: %s', async (sql, hint) => {
  const path = join(directory, 'quotes.db');
  await rm(path, { force: true });
  await writeSqlite(path, "CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('a/b')");
  const error = await withSession(path, (session) => session.describe(sql)).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining('no such column') });
  if (hint === undefined) expect((error as { hint?: string }).hint ?? '').not.toContain('single quotes');
  else expect((error as { hint?: string }).hint).toContain(hint);
});
