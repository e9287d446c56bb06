/** Random transactions on tables of every kind, for tests of the binlog. */
import { setTimeout as sleep } from 'node:timers/promises';
import type mysql from 'mysql2/promise';
import type { Random } from '../../../support/random.ts';

/** Types and literals of their values, under an empty sql_mode. */
const TYPES: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['tinyint', ['-128', '127']],
  ['tinyint unsigned', ['255']],
  ['boolean', ['true', '2']],
  ['smallint unsigned', ['65535']],
  ['mediumint', ['-8388608', '8388607']],
  ['mediumint unsigned', ['16777215']],
  ['int', ['-2147483648', '7']],
  ['int unsigned', ['4294967295']],
  ['int(7) zerofill', ['42']],
  ['bigint', ['-9223372036854775808', '9007199254740993']],
  ['bigint unsigned', ['18446744073709551615']],
  ['float', ['1.1', '-0.0', '3.4028235e38', '1e-45', '16777216', '1234567.8', '0.00001', '1e15', '123456789012345', '-1e-20']],
  ['float(7,3)', ['1.1', '-1234.5678']],
  ['double', ['0.1', '1e300', '5e-324', '123456789012345678', '1e15', '1e14', '0.000001', '-1.5e-16', '1e-15', '-0.0']],
  ['double(10,2)', ['1234567.891', '-0.5']],
  ['decimal(38,10)', ['1234567890123456789012345678.0123456789', '-1', '0']],
  ['decimal(5,0)', ['-99999', '12']],
  ['decimal(9,9)', ['0.000000001', '-0.999999999']],
  ['decimal(12,2) zerofill', ['1.5']],
  ['bit(1)', ["b'1'", "b'0'"]],
  ['bit(12)', ["b'101'"]],
  ['bit(64)', ["x'ff00ff00ff00ff01'"]],
  ['date', ["'2024-02-29'", "'0000-00-00'", "'2024-00-15'", "'9999-12-31'", "'1000-01-01'"]],
  ['time', ["'-838:59:59'", "'00:00:00'", "'100:00:01'", "'-00:00:01'"]],
  ['time(1)', ["'-00:00:00.5'", "'12:00:00.9'"]],
  ['time(3)', ["'-12:34:56.789'", "'00:00:00.001'"]],
  ['time(6)', ["'23:59:59.999999'", "'-00:00:00.000001'"]],
  ['datetime', ["'2024-02-29 12:34:56'", "'0000-00-00'", "'2024-00-00 01:02:03'"]],
  ['datetime(3)', ["'2024-02-29 12:34:56.123'"]],
  ['datetime(6)', ["'9999-12-31 23:59:59.999999'", "'1000-01-01'"]],
  ['timestamp null', ["'2024-03-31 01:30:00'", "'2024-07-01 12:00:00'", "'0000-00-00'", "'2024-10-27 02:30:00'"]],
  ['timestamp(2) null', ["'2024-02-29 12:34:56.12'", "'0000-00-00'"]],
  ['timestamp(6) null', ["'1970-01-02 00:00:01.000001'", "'2038-01-18 03:14:07.999999'"]],
  ['year', ['0', '2024', '1901']],
  ['char(5)', ["'ab'", "''", "'x   '"]],
  ['varchar(50)', ["'x   '", "'🐘 \\\\ \\n\\t'", "'null'"]],
  ['varchar(300)', ["repeat('é', 200)", "'kurz'"]],
  ['varchar(50) character set latin1', ["'é€'", "'ÿ'"]],
  ['varchar(50) character set ucs2', ["'Zoë'"]],
  ['varchar(50) character set utf16', ["'🐘x'"]],
  ['varchar(50) character set utf32', ["'🐘x'"]],
  ['varchar(50) character set sjis', ["'大きな'"]],
  ['varchar(50) character set koi8r', ["'Привет'"]],
  ['text character set cp1251', ["'Привет'"]],
  ['char(10) character set gbk', ["'大'"]],
  ['binary(4)', ["x'0001'", "x'ff'"]],
  ['varbinary(10)', ["x'0001feff'", "x''"]],
  ['tinytext', ["'t'"]],
  ['text', ['\'té\\n"xt"\'']],
  ['longtext', ["repeat('lang ', 60)"]],
  ['tinyblob', ["x'00'"]],
  ['blob', ["x'80ff00'", "repeat(x'ff', 300)"]],
  ['varchar(400) compressed', ["repeat('abc', 100)", "'x'", "''"]],
  ['blob compressed', ["repeat('abc', 90)"]],
  ["enum('a', 'b,c', 'é', 'it''s')", ["'b,c'", "'é'", "'not listed'", "'it''s'"]],
  ["enum('a', 'ж') character set latin1", ["'a'"]],
  ["set('x', 'y', 'z')", ["'x,z'", "''"]],
  [`set(${Array.from({ length: 64 }, (_, i) => `'s${i}'`).join(', ')})`, ["'s0,s31,s32,s63'"]],
  ['json', [`'{"b":1,  "a":1.10}'`]],
  ['uuid', ["'6f1e8a52-7f0c-1a3d-9d5e-2b1c3d4e5f60'", "'00000000-0000-0000-0000-000000000000'"]],
  ['inet4', ["'10.0.0.0'"]],
  ['inet6', ["'::1'", "'2001:db8::'"]],
  ['point', ['point(1.5, -2)']],
  ['geometry', ["ST_GeomFromText('LINESTRING(0 0,1 1)', 4326)"]],
];

export const ALL = `
CREATE TABLE types (id int PRIMARY KEY, ${TYPES.map(([type], i) => `c${i} ${type}`).join(', ')}) CHARACTER SET utf8mb4;
CREATE TABLE customers (id bigint unsigned PRIMARY KEY, name varchar(100));
CREATE TABLE orders (id decimal(20,2) PRIMARY KEY, customer_id bigint unsigned, note text, FOREIGN KEY (customer_id) REFERENCES customers (id));
CREATE TABLE order_lines (order_id int, line_no binary(3), sku char(5), at timestamp(3) NULL, PRIMARY KEY (line_no, order_id));
CREATE TABLE audit (at datetime(6), what text);
CREATE TABLE plain (id int PRIMARY KEY, note text) ENGINE=Aria TRANSACTIONAL=0;
CREATE TABLE computed (id int PRIMARY KEY, a int, v int AS (a + 1) VIRTUAL, p varchar(20) AS (concat('p', a)) STORED, hidden int INVISIBLE DEFAULT 5, b text);
CREATE TABLE altered (id int PRIMARY KEY, c0 varchar(20) DEFAULT 'zero');
CREATE TABLE \`odd \`\`name\` (\`the key\` varchar(20) CHARACTER SET latin1 PRIMARY KEY, \`a.b\` int);
`;

export const TABLES = ['types', 'customers', 'orders', 'order_lines', 'audit', 'plain', 'computed', 'altered', 'odd `name'] as const;

export interface WriterOptions {
  readonly withDdl: boolean;
  /** Changes of a table whose engine has no transactions: the log then has what is rolled back. */
  readonly withPlain: boolean;
  /** Transactions that are prepared, and committed or rolled back a little later. */
  readonly withPrepared: boolean;
}

/** Runs one random transaction. Refused statements are left out. */
export async function writeRandomly(client: mysql.Connection, random: Random, options: WriterOptions): Promise<void> {
  const xid = options.withPrepared && random.chance(0.3) ? `'x${client.threadId}'` : undefined;
  await client.query(xid === undefined ? 'START TRANSACTION' : `XA START ${xid}`);
  const count = random.between(1, 8);
  for (let i = 0; i < count; i++) {
    const isSaved = random.chance(0.2);
    if (isSaved) await client.query('SAVEPOINT s');
    await tried(client, random.pick(STATEMENTS)(random, options));
    if (isSaved && random.chance(0.5)) await client.query('ROLLBACK TO SAVEPOINT s').catch(() => undefined);
  }
  if (xid === undefined) {
    await client.query(random.chance(0.1) ? 'ROLLBACK' : 'COMMIT');
    return;
  }
  await tried(client, `XA END ${xid}`);
  await tried(client, `XA PREPARE ${xid}`);
  await sleep(random.between(0, 60));
  // A deadlock has ended it.
  await tried(client, `XA ${random.chance(0.05) ? 'ROLLBACK' : 'COMMIT'} ${xid}`);
  await tried(client, `XA ROLLBACK ${xid}`);
}

/** Refused by a key, a lock, a deadlock, another change of the table, or within an XA transaction, which may have ended. */
const EXPECTED = new Set([1060, 1054, 1062, 1091, 1137, 1205, 1213, 1397, 1399, 1402, 1412, 1451, 1452, 1614, 1701, 1020, 1305]);

async function tried(client: mysql.Connection, sql: string): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    if (!EXPECTED.has((error as { errno?: number }).errno ?? 0)) throw new Error(`${sql}: ${(error as Error).message}`, { cause: error });
  }
}

const id = (random: Random): number => random.between(1, 12);

type Statement = (random: Random, options: WriterOptions) => string;

const STATEMENTS: readonly Statement[] = [
  (r) => `INSERT INTO customers VALUES (${id(r)}, 'Zoë ${id(r)}') ON DUPLICATE KEY UPDATE name = 'again'`,
  (r) => `REPLACE INTO customers VALUES (${r.pick(['18446744073709551615', '9007199254740993'])}, '🐘')`,
  (r) => `UPDATE customers SET id = ${id(r)} WHERE id = ${id(r)}`,
  (r) => `DELETE FROM customers WHERE id = ${id(r)}`,
  (r) => `INSERT INTO orders VALUES (${id(r)}.5, (SELECT id FROM customers LIMIT 1), 'n')`,
  (r) => `UPDATE orders SET id = id + 1, note = NULL WHERE id = ${id(r)}.5`,
  (r) => `DELETE FROM orders WHERE id = ${id(r)}.5`,
  (r) => `INSERT INTO order_lines SELECT ${id(r)}, x'ff0${r.between(0, 9)}', 'a${id(r)}', now(3)`,
  (r) => `UPDATE order_lines SET order_id = order_id + ${id(r)} ORDER BY order_id DESC`,
  (r) => `DELETE FROM order_lines WHERE order_id > 30 OR order_id = ${id(r)}`,
  (r) => `INSERT INTO audit (at, what) SELECT '2024-03-01 00:00:00.5', CONCAT('w', seq % 2) FROM seq_1_to_${id(r)}`,
  (r) => `UPDATE audit SET what = 'u${id(r)}' ORDER BY rand() LIMIT 1`,
  () => 'DELETE FROM audit ORDER BY rand() LIMIT 2',
  (r, { withPlain }) => (withPlain ? r.pick(PLAIN)(r) : 'SELECT 1'),
  (r) => `INSERT INTO computed (id, a, b) VALUES (${id(r)}, ${id(r)}, 'b')`,
  (r) => `UPDATE computed SET a = ${id(r)}, hidden = a WHERE id = ${id(r)}`,
  (r) => `DELETE FROM computed WHERE id = ${id(r)}`,
  (r) => `INSERT INTO altered (id) VALUES (${id(r)})`,
  (r) => `DELETE FROM altered WHERE id = ${id(r)}`,
  (r) => `INSERT INTO \`odd \`\`name\` VALUES ('é "${id(r)}', ${id(r)}) ON DUPLICATE KEY UPDATE \`a.b\` = NULL`,
  (r) => `DELETE FROM \`odd \`\`name\` WHERE \`a.b\` = ${id(r)}`,
  (r) => `INSERT INTO types VALUES (${[id(r), ...TYPES.map(([, values]) => (r.chance(0.2) ? 'NULL' : r.pick(values)))].join(', ')})`,
  (r) => `INSERT INTO types VALUES (${[id(r), ...TYPES.map(([, values]) => (r.chance(0.2) ? 'NULL' : r.pick(values)))].join(', ')})`,
  (r) => {
    const column = r.between(0, TYPES.length - 1);
    return `UPDATE types SET c${column} = ${r.pick(TYPES[column]?.[1] as string[])} WHERE id = ${id(r)}`;
  },
  (r) => `DELETE FROM types WHERE id = ${id(r)}`,
  (r) =>
    r.chance(0.2) ? `TRUNCATE ${r.pick(['audit', 'TABLE `types`', 'test.plain', '/* all */ TABLE `test` . `odd ``name`'])}` : 'SELECT 1',
  (r, { withDdl }) => (withDdl && r.chance(0.4) ? r.pick(DDL)(r) : 'SELECT 1'),
];

const PLAIN: readonly ((random: Random) => string)[] = [
  (r) => `INSERT INTO plain VALUES (${id(r)}, 'a')`,
  (r) => `UPDATE plain SET id = ${id(r)}, note = 'm' WHERE id = ${id(r)}`,
  (r) => `DELETE FROM plain WHERE id = ${id(r)}`,
];

const DDL: readonly ((random: Random) => string)[] = [
  (r) => `ALTER TABLE altered ADD COLUMN c${r.between(0, 4)} varchar(10) DEFAULT 'd${id(r)}'`,
  (r) => `ALTER TABLE altered ADD COLUMN c${r.between(0, 4)} int DEFAULT 3 FIRST`,
  (r) => `ALTER TABLE altered DROP COLUMN c${r.between(0, 4)}`,
  (r) => `ALTER TABLE altered CHANGE COLUMN c${r.between(0, 4)} c${r.between(0, 4)} varchar(${r.between(10, 300)})`,
  () => 'CREATE TABLE IF NOT EXISTS other LIKE altered',
  () => 'RENAME TABLE altered TO spare, spare TO altered',
  () => 'ALTER TABLE audit ADD COLUMN IF NOT EXISTS more int DEFAULT 7',
  () => 'ALTER TABLE audit DROP COLUMN IF EXISTS more',
  () => "COMMIT; SET STATEMENT binlog_format = 'STATEMENT' FOR UPDATE customers SET name = 'by statement'",
];
