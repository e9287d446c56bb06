/** Random transactions on tables of every kind, for tests of the replication log. */
import type pg from 'pg';
import type { Random } from '../../../support/random.ts';

export const SCHEMA = `
CREATE SCHEMA shop;
CREATE TYPE shop.order_status AS ENUM ('new', 'paid', 'shipped');
CREATE DOMAIN shop.code AS varchar(8);
CREATE TABLE shop.customers (id bigint PRIMARY KEY, name text, tags text[], prefs jsonb, photo bytea);
CREATE TABLE shop.orders (id bigint PRIMARY KEY, customer_id bigint REFERENCES shop.customers ON UPDATE CASCADE ON DELETE SET NULL, status shop.order_status);
CREATE TABLE shop.lines (order_id bigint REFERENCES shop.orders ON DELETE CASCADE ON UPDATE CASCADE, line_no int, sku char(6), PRIMARY KEY (line_no, order_id));
CREATE TABLE shop.products (sku varchar(20) PRIMARY KEY, name text NOT NULL, description text, attributes jsonb, bytes bytea, tags text[]);
ALTER TABLE shop.products ALTER description SET STORAGE EXTERNAL, ALTER attributes SET STORAGE EXTERNAL, ALTER bytes SET STORAGE EXTERNAL;
CREATE TABLE shop.whole (id int PRIMARY KEY, note text, description text);
ALTER TABLE shop.whole REPLICA IDENTITY FULL, ALTER description SET STORAGE EXTERNAL;
CREATE TABLE shop.indexed (id int PRIMARY KEY, code text NOT NULL, part int NOT NULL, description text);
CREATE UNIQUE INDEX by_code ON shop.indexed (part, code);
ALTER TABLE shop.indexed REPLICA IDENTITY USING INDEX by_code;
CREATE TABLE shop.audit (at timestamptz, what text, description text);
ALTER TABLE shop.audit REPLICA IDENTITY FULL, ALTER description SET STORAGE EXTERNAL;
CREATE TABLE shop.parts (id int, region int, note text, PRIMARY KEY (id, region)) PARTITION BY RANGE (region);
CREATE TABLE shop.parts_low PARTITION OF shop.parts FOR VALUES FROM (0) TO (5);
CREATE TABLE shop.parts_high (note text, region int NOT NULL, id int NOT NULL);
ALTER TABLE shop.parts ATTACH PARTITION shop.parts_high FOR VALUES FROM (5) TO (10);
CREATE TABLE shop.altered (id int PRIMARY KEY, c0 text DEFAULT 'zero');
CREATE TABLE shop."Odd ""name" ("the key" text PRIMARY KEY, "a.b" int);
`;

/** Types and literals of their values. */
const TYPES: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['smallint', ['-32768', '0', '32767']],
  ['bigint', ['-9223372036854775808', '9007199254740993']],
  ['real', ["'NaN'", "'-Infinity'", '1.1', '1e-45', '3.4028235e38', '-0.0']],
  ['double precision', ["'NaN'", "'Infinity'", '0.1', '5e-324', '1.7976931348623157e308', '123456789012345678']],
  ['numeric', ["'NaN'", '12345678901234567890.123456789', '0.000', '1e30', '-0.50']],
  ['numeric(38,10)', ['1234567890123456789012345678.0123456789', '-1']],
  ['money', ["'-1234.56'", "'0'"]],
  ['char(5)', ["'ab'", "''", "'é'", "'x    '"]],
  ['varchar(20)', ["E'tab\\t\\\\ \\n'", "'🐘'", "'null'", "'\\N'"]],
  ['boolean', ['true', 'false']],
  ['bit(1)', ["B'1'"]],
  ['bit varying(12)', ["B'101'", "B''"]],
  ['date', ["'2024-02-29'", "'infinity'", "'4713-01-01 BC'", "'5874897-12-31'", "'0001-01-01'"]],
  ['time', ["'23:59:59.999999'", "'24:00:00'", "'00:00:00.5'"]],
  ['time(3)', ["'12:00:00.123'"]],
  ['timetz', ["'12:00:00+02'", "'12:00:00.5-15:59'"]],
  ['timestamp', ["'2024-02-29 12:34:56.123456'", "'infinity'", "'0044-03-15 12:00:00 BC'"]],
  ['timestamp(3)', ["'2024-02-29 12:34:56.123'"]],
  ['timestamptz', ["'2024-02-29 12:34:56.123456+02'", "'-infinity'", "'1500-01-01 00:00:00+00'"]],
  ['interval', ["'1 year 2 mons 3 days 04:05:06.789'", "'-1 day 2 hours'", "'0'"]],
  ['uuid', ["'6f1e8a52-7f0c-4a3d-9d5e-2b1c3d4e5f60'"]],
  ['json', [`'{"b":1,  "a":1.10}'`, "'null'"]],
  ['jsonb', [`'{"b":1,  "a":1.10}'`, `'[1, "zwei", null]'`]],
  ['xml', ["'<a>x</a>'"]],
  ['bytea', ["'\\x0001feff'", "'\\x'"]],
  ['inet', ["'10.0.0.1/8'", "'::1'"]],
  ['cidr', ["'10.0.0.0/8'"]],
  ['macaddr', ["'08:00:2b:01:02:03'"]],
  ['point', ["'(1.5,-2)'"]],
  ['int4range', ["'[1,5)'", "'empty'"]],
  ['tstzrange', ["'[2024-01-01 00:00:00+00,)'"]],
  ['tsvector', ["'a b'"]],
  ['int[]', ["'{1,NULL,3}'", "'{}'", "'[0:1]={1,2}'"]],
  ['text[]', [`'{"a",NULL,"b c","q\\"q","",null,"NULL"}'`]],
  ['numeric(12,2)[]', ["'{1.10,NULL}'"]],
  ['date[]', ["'{2024-02-29,infinity}'"]],
  ['timestamptz[]', ["'{2024-02-29 12:00:00+02}'"]],
  ['bytea[]', ["ARRAY['\\x00ff'::bytea]"]],
  ['interval[]', ["ARRAY['1 day'::interval]"]],
  ['int[][]', ["'{{1,2},{3,4}}'"]],
  ['shop.order_status', ["'paid'"]],
  ['shop.order_status[]', ["'{new,paid}'"]],
  ['shop.code', ["'abc'"]],
  ['oid', ['4294967295']],
  ['"char"', ["'x'"]],
  ['name', ["'a name'"]],
  ['shop.customers', [`ROW(1, 'a "b"', '{x}', NULL, '\\x01')`]],
];

const TYPES_TABLE = `CREATE TABLE shop.types (id int PRIMARY KEY, ${TYPES.map(([type], i) => `c${i} ${type}`).join(', ')})`;

export const ALL = `${SCHEMA} ${TYPES_TABLE}`;

export const TABLES = [
  'customers',
  'orders',
  'lines',
  'products',
  'whole',
  'indexed',
  'audit',
  'parts',
  'altered',
  'Odd "name',
  'types',
] as const;

export interface WriterOptions {
  readonly withDdl: boolean;
}

/** Runs one random transaction. Refused statements roll it back. */
export async function writeRandomly(client: pg.Client, random: Random, options: WriterOptions): Promise<void> {
  const isDone = await tried(client, 'BEGIN');
  if (!isDone) return;
  const count = random.between(1, 8);
  for (let i = 0; i < count; i++) {
    await client.query('SAVEPOINT s');
    const sql = random.pick(STATEMENTS)(random, options);
    const done = await tried(client, sql);
    if (!done || random.between(0, 9) === 0) await client.query('ROLLBACK TO SAVEPOINT s');
    else await client.query('RELEASE SAVEPOINT s');
  }
  await client.query(random.between(0, 9) === 0 ? 'ROLLBACK' : 'COMMIT');
}

/** Refused by a constraint, a lock or a deadlock; anything else is a mistake of the test. */
const EXPECTED = /^(?:23|40|55P03|0A000|42701|42703|2BP01)/;

async function tried(client: pg.Client, sql: string): Promise<boolean> {
  try {
    await client.query(sql);
    return true;
  } catch (error) {
    if (EXPECTED.test((error as { code?: string }).code ?? '')) return false;
    throw new Error(`${sql}: ${(error as Error).message}`, { cause: error });
  }
}

const id = (random: Random): number => random.between(1, 12);
const long = (random: Random): string =>
  random.between(0, 1) === 0
    ? `'short ${id(random)}'`
    : `(SELECT string_agg(md5((i * ${random.between(1, 9999)})::text), '') FROM generate_series(1, 90) i)`;
const pickRow = (table: string): string => `ctid = (SELECT ctid FROM shop.${table} ORDER BY random() LIMIT 1)`;

type Statement = (random: Random, options: WriterOptions) => string;

const STATEMENTS: readonly Statement[] = [
  (r) =>
    `INSERT INTO shop.customers VALUES (${id(r)}, 'Zoë ${id(r)}', '{a,"b c"}', '{"n": 1.50}', '\\x00ff10') ON CONFLICT (id) DO UPDATE SET name = 'again'`,
  (r) => `UPDATE shop.customers SET id = ${id(r)} WHERE id = ${id(r)}`,
  (r) => `DELETE FROM shop.customers WHERE id = ${id(r)}`,
  (r) => `INSERT INTO shop.orders VALUES (${id(r)}, (SELECT id FROM shop.customers LIMIT 1), 'new')`,
  (r) => `UPDATE shop.orders SET id = ${id(r)}, status = 'paid' WHERE id = ${id(r)}`,
  (r) => `DELETE FROM shop.orders WHERE id = ${id(r)}`,
  (r) => `INSERT INTO shop.lines SELECT id, ${id(r)}, 'a${id(r)}' FROM shop.orders`,
  (r) => `UPDATE shop.lines SET line_no = line_no + ${id(r)}`,
  (r) =>
    `INSERT INTO shop.products VALUES ('p${id(r)}', 'n', ${long(r)}, jsonb_build_object('k', ${long(r)}), convert_to(${long(r)}, 'UTF8'), ARRAY[${long(r)}])`,
  (r) => `UPDATE shop.products SET name = 'n${id(r)}' WHERE sku = 'p${id(r)}'`,
  (r) => `UPDATE shop.products SET description = ${long(r)} WHERE sku = 'p${id(r)}'`,
  (r) => `UPDATE shop.products SET sku = 'p${id(r)}' WHERE sku = 'p${id(r)}'`,
  (r) => `DELETE FROM shop.products WHERE sku = 'p${id(r)}'`,
  (r) => `INSERT INTO shop.whole VALUES (${id(r)}, NULL, ${long(r)}) ON CONFLICT DO NOTHING`,
  (r) => `UPDATE shop.whole SET note = 'n${id(r)}' WHERE id < ${id(r)}`,
  (r) => `UPDATE shop.whole SET id = ${id(r)} WHERE id = ${id(r)}`,
  (r) => `DELETE FROM shop.whole WHERE id = ${id(r)}`,
  (r) => `INSERT INTO shop.indexed VALUES (${id(r)}, 'c${id(r)}', 1, ${long(r)})`,
  (r) => `UPDATE shop.indexed SET code = 'c${id(r)}' WHERE id = ${id(r)}`,
  (r) => `UPDATE shop.indexed SET id = id + 100 WHERE id = ${id(r)}`,
  (r) => `DELETE FROM shop.indexed WHERE id % 12 = ${id(r)}`,
  (r) => `INSERT INTO shop.audit SELECT '2024-03-01', 'w' || i % 2, ${long(r)} FROM generate_series(1, ${id(r)}) i`,
  (r) => `UPDATE shop.audit SET what = 'u${id(r)}' WHERE ${pickRow('audit')}`,
  () => `DELETE FROM shop.audit WHERE ${pickRow('audit')}`,
  (r) => `INSERT INTO shop.parts VALUES (${id(r)}, ${r.between(0, 9)}, 'n')`,
  (r) => `UPDATE shop.parts SET region = ${r.between(0, 9)}, note = 'm' WHERE id = ${id(r)}`,
  (r) => `DELETE FROM shop.parts WHERE id = ${id(r)}`,
  (r) => `INSERT INTO shop.altered (id) VALUES (${id(r)}) ON CONFLICT DO NOTHING`,
  (r) => `DELETE FROM shop.altered WHERE id = ${id(r)}`,
  (r) => `INSERT INTO shop."Odd ""name" VALUES ('k "${id(r)}', ${id(r)}) ON CONFLICT ("the key") DO UPDATE SET "a.b" = NULL`,
  (r) => `DELETE FROM shop."Odd ""name" WHERE "a.b" = ${id(r)}`,
  (r) =>
    `INSERT INTO shop.types VALUES (${[id(r), ...TYPES.map(([, values]) => (r.between(0, 3) === 0 ? 'NULL' : r.pick(values)))].join(', ')}) ON CONFLICT DO NOTHING`,
  (r) => {
    const column = r.between(0, TYPES.length - 1);
    return `UPDATE shop.types SET c${column} = ${r.pick(TYPES[column]?.[1] as string[])} WHERE id = ${id(r)}`;
  },
  (r) => `DELETE FROM shop.types WHERE id = ${id(r)}`,
  (r) =>
    r.between(0, 4) === 0
      ? `TRUNCATE ${r.pick(['shop.audit', 'shop.whole', 'shop.customers, shop.products CASCADE', 'shop.parts', 'shop.types'])}`
      : 'SELECT 1',
  (r, { withDdl }) => (withDdl && r.between(0, 2) === 0 ? r.pick(DDL)(r) : 'SELECT 1'),
];

const DDL: readonly ((random: Random) => string)[] = [
  (r) => `ALTER TABLE shop.altered ADD COLUMN c${r.between(0, 4)} text DEFAULT 'd${id(r)}'`,
  (r) => `ALTER TABLE shop.altered ADD COLUMN c${r.between(0, 4)} int`,
  (r) => `ALTER TABLE shop.altered DROP COLUMN c${r.between(0, 4)}`,
  (r) => `ALTER TABLE shop.altered RENAME COLUMN c${r.between(0, 4)} TO c${r.between(0, 4)}`,
  (r) => `ALTER TABLE shop.altered ALTER COLUMN c${r.between(0, 4)} TYPE varchar(${r.between(10, 12)})`,
  () => 'ALTER TABLE shop.audit ADD COLUMN more int DEFAULT 7',
  () => 'ALTER TABLE shop.audit DROP COLUMN more',
];
