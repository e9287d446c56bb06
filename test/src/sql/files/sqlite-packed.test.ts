/** Tables of SQLite that are read by hundreds of rows give the same rows as a query that is read row by row. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SqlSession } from '../../../../src/sql/database.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { openSqliteWriter } from '../../../servers/databases/sqlite.ts';
import { Random, seeds } from '../../../support/random.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-sqlite-packed-'));
});
afterAll(() => rm(directory, { recursive: true }));

interface Read {
  readonly rows: readonly (readonly (string | null)[])[];
  /** Packed rows have others. */
  readonly bytes: number;
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The table in both ways. */
async function readTwice(path: string, name: string, columns: readonly string[]): Promise<{ readonly table: Read; readonly query: Read }> {
  const session = await openSession(parseJdbcUrl({ url: `jdbc:sqlite:${path}` }), {
    connectSeconds: 5,
    statementSeconds: 60,
    lockSeconds: 1,
  });
  try {
    const sql = `SELECT ${columns.map(quoted).join(', ')} FROM "main".${quoted(name)}`;
    const table = await readAll(session.rows(sql, columns.length, { schema: 'main', name, columns }));
    return { table, query: await readAll(session.rows(sql, columns.length)) };
  } finally {
    await session.close();
  }
}

async function readAll(batches: ReturnType<SqlSession['rows']>): Promise<Read> {
  const rows: (readonly (string | null)[])[] = [];
  let bytes = 0;
  for await (const batch of batches) {
    rows.push(...batch.rows);
    bytes = batch.bytes;
  }
  return { rows, bytes };
}

type Cell = string | number | bigint | null | Uint8Array;
interface Writer {
  exec(sql: string): void;
  prepare(sql: string): { run(...values: readonly Cell[]): unknown };
  close(): void;
}

async function written(name: string, write: (writer: Writer) => void): Promise<string> {
  const path = join(directory, `${name}.db`);
  const writer = openSqliteWriter(path) as unknown as Writer;
  try {
    write(writer);
  } finally {
    writer.close();
  }
  return path;
}

const TYPES = ['TEXT', 'VARCHAR(10)', 'INTEGER', 'REAL', 'DECIMAL(9,3)', 'NUMERIC', 'BOOLEAN', 'DATE', 'DATETIME', 'BLOB', ''];
const TEXTS = [
  '',
  'a',
  'null',
  'Zürich',
  '😀',
  '"',
  '\\',
  '\\"',
  '"],["',
  'a\\u0000',
  'line\nbreak\r\n\t',
  '\0',
  '\0t',
  'a\0b',
  '12',
  '1.50',
  '2024-02-29',
  '\u2028',
  "'",
];

/** @param odd the probability of a value of any class in any column */
function randomCell(random: Random, type: string, odd: number): Cell {
  if (random.chance(0.1)) return null;
  const any = random.chance(odd);
  const isNumber = /INT|BOOL/.test(type);
  if (any ? random.chance(0.3) : /REAL|DEC|NUM/.test(type)) {
    const scale = random.pick([1, 100, 10_000, 1e6, 1e7]);
    return random.chance(0.1)
      ? random.pick([0, -0, 1e-7, 1e-6, 1e21, 1e300, -9.5, 0.1 + 0.2, 999999999.999999, 1e9, Number.MIN_VALUE, 4.35, 1.005])
      : (Math.round(random.next() * 10 ** random.between(1, 12)) / scale) * random.pick([1, -1]);
  }
  if (any ? random.chance(0.4) : isNumber)
    return random.pick<bigint>([
      0n,
      1n,
      -1n,
      127n,
      2n ** 31n,
      -(2n ** 53n) - 1n,
      2n ** 63n - 1n,
      -(2n ** 63n),
      BigInt(random.between(0, 10 ** 6)),
    ]);
  if (any ? random.chance(0.3) : type === 'BLOB') return Buffer.from(random.pick(TEXTS));
  const text = random.pick(TEXTS);
  return random.chance(0.01) ? text.padEnd(random.between(1000, 9000), 'x😀') : text;
}

test.each(seeds(1, 24))('random tables: seed %i', async (seed) => {
  const random = new Random(seed);
  const types = Array.from({ length: random.between(1, 8) }, () => random.pick(TYPES));
  const columns = types.map((_, i) => random.pick([`c${i}`, `C"${i}`, `ü ${i}`, `c${i}]`]));
  if (random.chance(0.2)) columns[0] = random.pick(['rowid', '_ROWID_', 'oid']);
  const odd = random.pick([0, 0, 0.0005, 0.01, 0.3]);
  const rows = random.pick([0, 1, 511, 512, 513, 2500, 5000]);
  const name = random.pick(['t', 'a "table"', 'täble']);
  const path = await written(`random-${seed}`, (writer) => {
    writer.exec(`CREATE TABLE ${quoted(name)} (${columns.map((column, i) => `${quoted(column)} ${types[i]}`).join(', ')}); BEGIN`);
    const insert = writer.prepare(`INSERT INTO ${quoted(name)} VALUES (${columns.map(() => '?').join(', ')})`);
    for (let row = 0; row < rows; row++) insert.run(...types.map((type) => randomCell(random, type, odd)));
    writer.exec('COMMIT');
    if (random.chance(0.3)) writer.exec(`DELETE FROM ${quoted(name)} WHERE random() % 3 = 0`);
  });
  const read = random.shuffle(columns).slice(0, random.between(1, columns.length));
  const { table, query } = await readTwice(path, name, read);
  expect(table.rows).toEqual(query.rows);
});

test('all rowids are read, and those of the first and the last row', async () => {
  const ids = [-(2n ** 63n), -5n, 0n, 7n, 2n ** 63n - 1n];
  const path = await written('rowids', (writer) => {
    writer.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)');
    const insert = writer.prepare('INSERT INTO t VALUES (?, ?)');
    for (const id of ids) insert.run(id, `x${id}`);
  });
  const { table, query } = await readTwice(path, 't', ['id', 'x']);
  expect(table.rows).toEqual(ids.map((id) => [String(id), `x${id}`]));
  expect(table.rows).toEqual(query.rows);
  expect(table.bytes).not.toBe(query.bytes);
});

/** Rows 0 to 2999; the value of the column `x` is given by SQL. */
const series = (x: string): string =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999) INSERT INTO t (id, x) SELECT i, ${x} FROM n`;

test.each<[string, string, string, boolean]>([
  ['texts', 'id INTEGER PRIMARY KEY, x TEXT', series("'Zürich ' || i"), true],
  ['texts that are no UTF-8', 'id INTEGER PRIMARY KEY, x TEXT', series("CAST(x'61c3' AS TEXT) || i || CAST(x'e28222f0' AS TEXT)"), true],
  ['a BLOB among texts', 'id INTEGER PRIMARY KEY, x TEXT', series("iif(i = 700, x'00ff', 'x' || i)"), true],
  ['long rows among short ones', 'id INTEGER PRIMARY KEY, x TEXT', series("iif(i % 700 = 0, printf('%.*c', 100000, 'x'), 'x' || i)"), true],
  ['a NUL at the beginning', 'id INTEGER PRIMARY KEY, x TEXT', series('iif(i = 700, char(0) || i, i)'), true],
  ['reals with many digits in every row', 'id INTEGER PRIMARY KEY, x REAL', series('i / 7.0'), false],
  ['a table without rowids', 'id INTEGER PRIMARY KEY, x TEXT) WITHOUT ROWID; --', series("'x' || i"), false],
  ['a generated column of JSON', 'id INTEGER PRIMARY KEY, x TEXT, y TEXT AS (json_array(id, x))', series("'x' || i"), false],
  ['all names of rowids taken', 'id INTEGER, x TEXT, rowid TEXT, oid TEXT, _rowid_ TEXT', series("'x' || i"), false],
  ['a column named rowid', 'id INTEGER, x TEXT, rowid TEXT', series("'x' || i"), true],
])('%s', async (name, columns, insert, isPacked) => {
  const path = await written(name, (writer) => {
    writer.exec(`CREATE TABLE t (${columns});\n`.replace('--);\n', '\n'));
    writer.exec(insert);
  });
  const { table, query } = await readTwice(path, 't', name.includes('generated') ? ['id', 'x', 'y'] : ['id', 'x']);
  expect(table.rows).toHaveLength(3000);
  expect(table.rows).toEqual(query.rows);
  expect(table.bytes !== query.bytes).toBe(isPacked);
});

test('a view is read as a query', async () => {
  const path = await written('view', (writer) => {
    writer.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); CREATE VIEW v AS SELECT id, x FROM t UNION ALL SELECT 'text', 7");
    writer.exec(series("'x' || i"));
  });
  const { table, query } = await readTwice(path, 'v', ['id', 'x']);
  expect(table).toEqual(query);
});

test('a table with more columns than a function takes', async () => {
  const columns = Array.from({ length: 1500 }, (_, i) => `c${i}`);
  const path = await written('wide', (writer) => {
    writer.exec(`CREATE TABLE t (${columns.map((column) => `${column} TEXT`).join(', ')}); INSERT INTO t (c0, c1499) VALUES ('a', 'b')`);
  });
  const { table, query } = await readTwice(path, 't', columns);
  expect([table.rows[0]?.[0], table.rows[0]?.[1499], table.rows.length]).toEqual(['a', 'b', 1]);
  expect(table).toEqual(query);
});
