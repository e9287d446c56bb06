/** Sessions of MariaDB: what is read, and what goes wrong. */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { Secret } from '../../../src/core/secret.ts';
import { fromBytes } from '../../../src/core/text.ts';
import type { Column, DatabaseAddress, RowBatch, SessionOptions, SqlSession } from '../../../src/sql/database.ts';
import { parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import { openMysql } from '../../../src/sql/mysql/mysql.ts';
import { type Mariadb, missingMariadb, startMariadb } from '../../servers/databases/mariadb.ts';
import { freePort } from '../../servers/process/port.ts';
import { elapsedMs, fastest } from '../../support/fastest.ts';
import { soakTest, test } from '../../support/jest/extent.ts';

const missing = await missingMariadb();
const suite = missing === undefined ? describe : describe.skip;

let server: Mariadb;

beforeAll(async () => {
  if (missing !== undefined) return;
  const started = await startMariadb();
  if ('skip' in started) throw new Error(started.skip);
  server = started;
}, 60_000);

afterAll(() => server?.stop());

const address = (parameters = '', base = server.url): DatabaseAddress => parseJdbcUrl({ url: `${base}${parameters}` });
const open = (options: Partial<SessionOptions> = {}, at = address()): Promise<SqlSession> =>
  openMysql(at, { ...RUN_DEFAULTS.sql, ...options });

/** Runs a statement as another user of the server would. */
async function elsewhere<T>(use: (run: (sql: string) => Promise<Record<string, unknown>[]>) => Promise<T>): Promise<T> {
  const connection = await createConnection({
    host: '127.0.0.1',
    port: server.port,
    user: 'root',
    database: 'test',
    multipleStatements: true,
  });
  try {
    return await use(async (sql) => (await connection.query(sql))[0] as Record<string, unknown>[]);
  } finally {
    await connection.end();
  }
}

const prepare = (...statements: readonly string[]): Promise<unknown> =>
  elsewhere(async (run) => {
    for (const statement of statements) await run(statement);
  });

async function withSession<T>(
  use: (session: SqlSession) => Promise<T>,
  options: Partial<SessionOptions> = {},
  parameters = '',
): Promise<T> {
  const session = await open(options, address(parameters));
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

async function collect(batches: AsyncIterable<RowBatch>): Promise<(readonly (string | null)[])[]> {
  const all: (readonly (string | null)[])[] = [];
  for await (const { rows } of batches) all.push(...rows);
  return all;
}

async function read(
  session: SqlSession,
  sql: string,
): Promise<{ readonly columns: readonly Column[]; readonly rows: (readonly (string | null)[])[] }> {
  const columns = await session.describe(sql);
  return { columns, rows: await collect(session.rows(sql, columns.length)) };
}

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const result = await work.then(
    (value) => new Error(`gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  expect(result).toHaveProperty('name', 'Fault');
  return result as Fault;
}

/** Statements of others that run now, by what they contain. */
const running = (part: string): Promise<number> =>
  elsewhere(async (run) => {
    const rows = await run(
      `SELECT COUNT(*) AS n FROM information_schema.processlist WHERE info LIKE '%${part}%' AND id <> CONNECTION_ID()`,
    );
    return Number(rows[0]?.n);
  });

async function until(holds: () => Promise<boolean>, limitMs = 5000): Promise<number> {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > limitMs) throw new Error('it did not happen in time');
    await sleep(20);
  }
  return performance.now() - start;
}

suite('values', () => {
  test.each<[string, string, string, string | undefined, string]>([
    ['TINYINT', '-128', 'tinyint', 'integer', '-128'],
    ['SMALLINT UNSIGNED', '65535', 'smallint unsigned', 'integer', '65535'],
    ['MEDIUMINT', '-8388608', 'mediumint', 'integer', '-8388608'],
    ['INT', '2147483647', 'int', 'integer', '2147483647'],
    ['INT(6) ZEROFILL', '42', 'int unsigned zerofill', 'integer', '42'],
    ['INT(6) ZEROFILL', '0', 'int unsigned zerofill', 'integer', '0'],
    ['BIGINT', '-9223372036854775808', 'bigint', 'integer', '-9223372036854775808'],
    ['BIGINT UNSIGNED', '18446744073709551615', 'bigint unsigned', 'integer', '18446744073709551615'],
    ['TINYINT(1)', '0', 'tinyint(1)', 'boolean', 'false'],
    ['BOOLEAN', 'TRUE', 'tinyint(1)', 'boolean', 'true'],
    ['TINYINT(1) UNSIGNED', '1', 'tinyint unsigned', 'integer', '1'],
    ['BIT(1)', "b'1'", 'bit(1)', 'boolean', 'true'],
    ['BIT(1)', "b'0'", 'bit(1)', 'boolean', 'false'],
    ['BIT(10)', "b'1000000011'", 'bit(10)', 'hexBinary', '0203'],
    ['DECIMAL(10,2)', '-12.50', 'decimal(10,2)', 'decimal', '-12.5'],
    ['DECIMAL(10,2)', '0', 'decimal(10,2)', 'decimal', '0'],
    ['DECIMAL(10,2)', '100', 'decimal(10,2)', 'decimal', '100'],
    ['DECIMAL(12) UNSIGNED', '120', 'decimal(12,0) unsigned', 'decimal', '120'],
    [
      'DECIMAL(65,30)',
      '12345678901234567890123456789012345.123456789012345678901234567890',
      'decimal(65,30)',
      'decimal',
      '12345678901234567890123456789012345.12345678901234567890123456789',
    ],
    ['FLOAT', '1.65', 'float', 'double', '1.65E0'],
    ['DOUBLE', '80.25', 'double', 'double', '8.025E1'],
    ['DOUBLE', '30', 'double', 'double', '3.0E1'],
    ['DOUBLE', '0', 'double', 'double', '0.0E0'],
    ['DOUBLE', '-1.5e-7', 'double', 'double', '-1.5E-7'],
    ['DOUBLE', '1.7976931348623157e308', 'double', 'double', '1.7976931348623157E308'],
    ['DOUBLE', '0.001', 'double', 'double', '1.0E-3'],
    ['DOUBLE', '123456789012345680000', 'double', 'double', '1.2345678901234568E20'],
    ['DOUBLE(8,2)', '7.5', 'double(8,2)', 'double', '7.5E0'],
    ['DATE', "'2024-02-29'", 'date', 'date', '2024-02-29'],
    ['DATE', "'0999-01-01'", 'date', 'date', '0999-01-01'],
    ['TIME', "'23:59:59'", 'time', 'time', '23:59:59'],
    ['TIME(3)', "'01:02:03.500'", 'time(3)', 'time', '01:02:03.5'],
    ['DATETIME', "'2009-10-10 12:12:22'", 'datetime', 'dateTime', '2009-10-10T12:12:22'],
    ['DATETIME(6)', "'2009-10-10 12:12:20.000000'", 'datetime(6)', 'dateTime', '2009-10-10T12:12:20'],
    ['DATETIME(6)', "'2009-10-10 12:12:22.120000'", 'datetime(6)', 'dateTime', '2009-10-10T12:12:22.12'],
    ['TIMESTAMP NULL', "'2009-10-10 12:12:22'", 'timestamp', 'dateTime', '2009-10-10T12:12:22'],
    ['YEAR', '1987', 'year', 'gYear', '1987'],
    ['BINARY(3)', "X'00FF'", 'binary(3)', 'hexBinary', '00FF00'],
    ['VARBINARY(20)', "X'89504E470D0A1A0A00'", 'varbinary(20)', 'hexBinary', '89504E470D0A1A0A00'],
    ['BLOB', "X''", 'blob', 'hexBinary', ''],
    ['LONGBLOB', "X'FE'", 'longblob', 'hexBinary', 'FE'],
    ['VARCHAR(10) CHARACTER SET binary', "'ab'", 'varbinary(10)', 'hexBinary', '6162'],
    ['CHAR(5)', "'ab '", 'char(5)', undefined, 'ab   '],
    ['CHAR(3)', "'ñ漢'", 'char(3)', undefined, 'ñ漢 '],
    ['CHAR(2)', "'😀é'", 'char(2)', undefined, '😀é'],
    ['VARCHAR(20)', "'ab '", 'varchar(20)', undefined, 'ab '],
    ['VARCHAR(20)', "''", 'varchar(20)', undefined, ''],
    ['TEXT', "'two\\nlines\\tand \\\\ and \\0 inside'", 'text', undefined, 'two\nlines\tand \\ and \0 inside'],
    ['LONGTEXT', "'ñandú – 漢字 – 😀'", 'longtext', undefined, 'ñandú – 漢字 – 😀'],
    ['TEXT CHARACTER SET latin1', "'ñ €'", 'text', undefined, 'ñ €'],
    ['TINYTEXT', "'x'", 'tinytext', undefined, 'x'],
    ["ENUM('small','large')", "'large'", 'enum', undefined, 'large'],
    ["SET('a','b','c')", "'a,c'", 'set', undefined, 'a,c'],
    ['JSON', `'{"a": 1.50}'`, 'json', undefined, '{"a": 1.50}'],
    ['UUID', "'123e4567-e89b-12d3-a456-426655440000'", 'uuid', undefined, '123e4567-e89b-12d3-a456-426655440000'],
    ['INET6', "'::1'", 'inet6', undefined, '::1'],
    ['POINT', 'POINT(1, 2)', 'point', 'hexBinary', '000000000101000000000000000000F03F0000000000000040'],
  ])('%s %s is a %s', async (type, value, name, datatype, expected) => {
    await prepare('SET NAMES utf8mb4', `CREATE OR REPLACE TABLE one (v ${type})`, `INSERT INTO one VALUES (${value}), (NULL)`);
    await withSession(async (session) => {
      const { columns, rows } = await read(session, 'SELECT v FROM one');
      const [column] = columns as [Column];
      expect(column).toMatchObject({ name: 'v', type: name });
      expect(column.datatype).toBe(datatype === undefined ? undefined : `http://www.w3.org/2001/XMLSchema#${datatype}`);
      const text = rows[0]?.[0] as string;
      expect(fromBytes(column.canonical?.(text) ?? text)).toBe(expected);
      expect(rows[1]).toEqual([null]);
    });
  });

  test.each<[string, string, string]>([
    ['TINYINT(1)', '2', 'tinyInt1isBit=false'],
    ['DATE', "'0000-00-00'", 'zeroDateTimeBehavior=convertToNull'],
    ['DATE', "'2024-00-10'", 'CAST(v AS CHAR)'],
    ['DATETIME', "'0000-00-00 00:00:00'", 'zeroDateTimeBehavior=convertToNull'],
    ['TIME', "'-01:00:00'", 'CAST(v AS CHAR)'],
    ['TIME', "'100:00:00'", 'CAST(v AS CHAR)'],
  ])('a %s of %s has no term, and the hint names %s', async (type, value, hint) => {
    await prepare(`SET sql_mode=''; CREATE OR REPLACE TABLE one (v ${type}); INSERT INTO one VALUES (${value})`);
    await withSession(async (session) => {
      const { columns, rows } = await read(session, 'SELECT v FROM one');
      const convert = async (): Promise<unknown> => columns[0]?.canonical?.(rows[0]?.[0] as string);
      const fault = await faultOf(convert());
      expect(fault.code).toBe('record/term');
      expect(fault.hint).toContain(hint);
    });
  });

  test('tinyInt1isBit=false makes a TINYINT(1) an integer', async () => {
    await prepare('CREATE OR REPLACE TABLE one (v TINYINT(1)); INSERT INTO one VALUES (2)');
    const { columns, rows } = await withSession((session) => read(session, 'SELECT v FROM one'), {}, '&tinyInt1isBit=false');
    expect(columns[0]).toMatchObject({ type: 'tinyint', canonical: undefined });
    expect(rows).toEqual([['2']]);
  });

  test('zeroDateTimeBehavior=convertToNull reads zero dates as null, and texts that look like them as they are', async () => {
    const values = "'0000-00-00', '0000-00-00 00:00:00', '0000-00-00'";
    await prepare(`SET sql_mode=''; CREATE OR REPLACE TABLE one (a DATE, b DATETIME, c VARCHAR(20)); INSERT INTO one VALUES (${values})`);
    const { rows } = await withSession((session) => read(session, 'SELECT * FROM one'), {}, '&zeroDateTimeBehavior=convertToNull');
    expect(rows).toEqual([[null, null, '0000-00-00']]);
  });

  test('zero rows have columns', async () => {
    await prepare('CREATE OR REPLACE TABLE one (`Größe in m` INT, b TEXT)');
    const { columns, rows } = await withSession((session) => read(session, 'SELECT *, 1 AS b FROM one'));
    expect(columns.map(({ name }) => name)).toEqual(['Größe in m', 'b', 'b']);
    expect(rows).toEqual([]);
  });

  test('a thousand columns are read', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `c${i}`);
    await prepare(
      `CREATE OR REPLACE TABLE wide (${names.map((name) => `${name} INT`)}) ENGINE=MyISAM`,
      `INSERT INTO wide VALUES (${names.map((_, i) => i)})`,
    );
    const { columns, rows } = await withSession((session) => read(session, 'SELECT * FROM wide'));
    expect(columns.map(({ name }) => name)).toEqual(names);
    expect(rows).toEqual([names.map((_, i) => String(i))]);
  });

  test('a value of 20 MB is read whole', async () => {
    const { rows } = await withSession((session) => read(session, "SELECT REPEAT('abcdefghij', 2000000), 'end'"));
    expect(rows[0]?.[0]).toHaveLength(20_000_000);
    expect(rows[0]?.[1]).toBe('end');
  });

  test('parameters of our own queries are values, whatever the sql_mode', async () => {
    const value = `it's "\\' ? 😀`;
    const sql = 'SELECT ? AS text, ? + 1 AS number, NULL AS nothing, ? AS empty';
    for (const mode of ['', "&sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES'"])
      expect(await withSession((session) => session.query(sql, [value, 41, '']), {}, mode)).toEqual([
        { text: value, number: '42', nothing: null, empty: '' },
      ]);
  });
});

suite('sessions', () => {
  test('the product and its version are those of the server', async () => {
    const session = await open({}, address('', server.url.replace('mariadb', 'mysql')));
    expect(session.product).toBe('mariadb');
    expect(session.version).toMatch(/^\d+\.\d+\.\d+-MariaDB$/);
    expect(await session.exportSnapshot()).toBeUndefined();
    await session.close();
    await session.close();
  });

  test('all statements of a session see one state of the data', async () => {
    await prepare('CREATE OR REPLACE TABLE state (v INT) ENGINE=InnoDB', 'INSERT INTO state VALUES (1)');
    await withSession(async (session) => {
      await prepare('INSERT INTO state VALUES (2)');
      expect((await read(session, 'SELECT v FROM state')).rows).toEqual([['1']]);
    });
  });

  test('a session cannot write', async () => {
    await prepare('CREATE OR REPLACE TABLE state (v INT)');
    await withSession(async (session) => {
      for (const sql of ['INSERT INTO state VALUES (1)', 'COMMIT', 'DELETE FROM state', 'DROP TABLE state'])
        await session.query(sql).catch((fault: Fault) => expect(fault.message).toMatch(/READ ONLY/));
    });
    expect(await elsewhere((run) => run('SELECT * FROM state'))).toEqual([]);
  });

  test('sessionVariables and the time zone are set', async () => {
    const parameters = '&sessionVariables=sql_mode=ANSI_QUOTES&connectionTimeZone=%2B02:00';
    const [row] = await withSession((session) => session.query('SELECT @@sql_mode AS mode, @@time_zone AS zone'), {}, parameters);
    expect(row).toMatchObject({ zone: '+02:00' });
    expect(row?.mode).toContain('ANSI_QUOTES');
  });

  test('a wrong password is reported in the words of the specification', async () => {
    await prepare("CREATE OR REPLACE USER stranger@'%' IDENTIFIED BY 'right'");
    const at = parseJdbcUrl({
      url: `jdbc:mariadb://127.0.0.1:${server.port}/test`,
      user: 'stranger',
      password: new Secret('wr0ng-s3cret'),
    });
    const fault = await faultOf(open({}, at));
    expect(fault).toMatchObject({ code: 'database/credentials', message: 'Invalid Database Credentials', place: {}, hint: undefined });
  });

  test('a database that the user may not use is distinguished from a wrong password', async () => {
    await prepare("CREATE OR REPLACE USER stranger@'%' IDENTIFIED BY 'right'", 'CREATE DATABASE IF NOT EXISTS secret');
    const at = parseJdbcUrl({ url: `jdbc:mariadb://127.0.0.1:${server.port}/secret`, user: 'stranger', password: new Secret('right') });
    expect(await faultOf(open({}, at))).toMatchObject({
      code: 'database/missing',
      message: 'The login is right, but the user may not use the database secret',
    });
  });

  test('a database that is not there is named', async () => {
    const at = parseJdbcUrl({ url: `jdbc:mariadb://127.0.0.1:${server.port}/nowhere?user=root` });
    expect(await faultOf(open({}, at))).toMatchObject({ code: 'database/missing', message: 'The server has no database nowhere' });
  });

  test('a host that cannot be reached is named with the reason', async () => {
    const port = await freePort();
    for (const [host, reason] of [
      [`127.0.0.1:${port}`, 'connection refused'],
      ['no-such-host.invalid:3307', 'no such host'],
    ])
      expect(await faultOf(open({}, parseJdbcUrl({ url: `jdbc:mariadb://${host}/test?user=root` })))).toMatchObject({
        code: 'database/unreachable',
        message: expect.stringContaining(`${host}: ${reason}`),
      });
  });

  test('a server that accepts and says nothing is given up', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    const fault = await faultOf(open({ connectSeconds: 0.3 }, parseJdbcUrl({ url: `jdbc:mariadb://127.0.0.1:${port}/test?user=root` })));
    expect(fault).toMatchObject({ code: 'database/unreachable' });
    expect(fault.message).toContain('no answer in time');
    const cancel = (): Promise<number> =>
      elapsedMs(async () => {
        const cancelled = open(
          { signal: AbortSignal.timeout(100) },
          parseJdbcUrl({ url: `jdbc:mariadb://127.0.0.1:${port}/test?user=root` }),
        );
        expect(await faultOf(cancelled)).toMatchObject({ code: 'run/cancelled' });
      });
    expect(await fastest(1_000, cancel)).toBeLessThan(1_000);
    silent.close();
  });

  test('TLS is required where the URL says so', async () => {
    const [row] = await withSession((session) => session.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'"));
    const required = open({}, address('&sslMode=REQUIRED'));
    if (row?.Value === '') expect((await faultOf(required)).message).toContain('the server does not offer TLS');
    else await (await required).close();
  });
});

suite('what goes wrong', () => {
  test.each([
    ['SELECT v FORM one', 'at line 1, column 15 of the query, near "one"'],
    ['SELECT 1,\n  FROM one', 'at line 2, column 3 of the query, near "FROM one"'],
    ['SELECT 1 FROM', 'at line 1, column 14 of the query: it ends too early'],
    ['SELECT "ñ😀", FROM one', 'at line 1, column 14 of the query, near "FROM one"'],
  ])('a syntax error in %j is shown %s', async (sql, expected) => {
    const fault = await withSession((session) => faultOf(session.describe(sql)));
    expect(fault).toMatchObject({ code: 'database/query', message: `The query has a syntax error ${expected}` });
    expect(fault.place.input).toContain('jdbc:mariadb://127.0.0.1');
  });

  test('a column that is not there is named, and the session goes on', async () => {
    await prepare('CREATE OR REPLACE TABLE one (v INT)');
    await withSession(async (session) => {
      const fault = await faultOf(collect(session.rows('SELECT nope FROM one', 1)));
      expect(fault).toMatchObject({ code: 'database/query' });
      expect(fault.message).toContain("Unknown column 'nope'");
      expect((await read(session, 'SELECT 1')).rows).toEqual([['1']]);
    });
  });

  test('a query with a placeholder is refused, and so is what is no query', async () => {
    await withSession(async (session) => {
      expect((await faultOf(session.describe('SELECT ?'))).message).toContain('placeholder');
      expect((await faultOf(session.describe('DO 1'))).message).toContain('no query');
    });
  });

  test('a table that another connection has locked is waited for until the limit', async () => {
    await prepare('CREATE OR REPLACE TABLE locked (v INT)');
    await elsewhere(async (run) => {
      await run('LOCK TABLES locked WRITE');
      await withSession(
        async (session) => {
          const started = performance.now();
          expect(await faultOf(collect(session.rows('SELECT v FROM locked', 1)))).toMatchObject({ code: 'database/busy', retriable: true });
          expect(performance.now() - started).toBeLessThan(3000);
        },
        { lockSeconds: 1 },
      );
    });
  });

  test('a table whose definition is being changed is waited for until the limit', async () => {
    await prepare('CREATE OR REPLACE TABLE changing (v INT) ENGINE=InnoDB', 'INSERT INTO changing VALUES (1)');
    await elsewhere(async (holder) => {
      // The change waits for this reader, and who comes later waits for the change.
      await holder('START TRANSACTION; SELECT * FROM changing');
      const changed = prepare('ALTER TABLE changing ADD COLUMN w INT');
      const waiting =
        "SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table metadata lock' AND info LIKE 'ALTER%'";
      await until(() => elsewhere(async (run) => (await run(waiting)).length === 1));
      const fault = await withSession((session) => faultOf(read(session, 'SELECT v FROM changing')), { lockSeconds: 1 });
      expect(fault).toMatchObject({ code: 'database/busy' });
      await holder('COMMIT');
      await changed;
    });
  });

  test('a table that changes after the session began can be read by a later one', async () => {
    await prepare('CREATE OR REPLACE TABLE changing (v INT) ENGINE=InnoDB', 'INSERT INTO changing VALUES (1)');
    await withSession(async (session) => {
      await prepare('ALTER TABLE changing ADD COLUMN w INT, ALGORITHM=COPY');
      expect(await faultOf(read(session, 'SELECT * FROM changing'))).toMatchObject({ code: 'database/busy', retriable: true });
    });
    expect((await withSession((session) => read(session, 'SELECT * FROM changing'))).rows).toEqual([['1', null]]);
  });

  test('a column that vanishes or comes after the description is reported', async () => {
    await prepare('CREATE OR REPLACE TABLE changing (v INT, w INT) ENGINE=MyISAM');
    await withSession(async (session) => {
      const columns = await session.describe('SELECT * FROM changing');
      expect((await faultOf(collect(session.rows('SELECT v FROM changing', columns.length)))).message).toBe(
        'The query has 1 columns now, and had 2 when it was described',
      );
    });
  });

  soakTest(
    'a server without a place for one more connection is busy',
    async () => {
      const other = await startMariadb({ arguments: ['--max-connections=10', '--extra-max-connections=1'] });
      if ('skip' in other) throw new Error(other.skip);
      const at = address('', other.url);
      const sessions: SqlSession[] = [];
      // A login that the server refused may take a place for a moment longer: full is what stays full.
      const faults: Fault[] = [];
      while (faults.length < 5) {
        const found = await open({}, at).catch((error: unknown) => {
          if (error instanceof Fault) return error;
          throw error;
        });
        if (!(found instanceof Fault)) {
          sessions.push(found);
          faults.length = 0;
          continue;
        }
        faults.push(found);
        await sleep(50);
      }
      const fault = faults.at(-1);
      expect(fault).toMatchObject({ code: 'database/busy', retriable: true });
      // Without a second connection for KILL, the first one is broken off.
      const [session] = sessions as [SqlSession];
      for await (const _ of session.rows('SELECT a.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 1)) break;
      expect(await faultOf(session.describe('SELECT 1'))).toMatchObject({ code: 'database/lost' });
      await Promise.all(sessions.map((one) => one.close()));
      await other.stop();
    },
    30_000,
  );

  test('a server that says nothing for longer than socketTimeout is given up', async () => {
    const reading = withSession((session) => collect(session.rows('SELECT SLEEP(30)', 1)), {}, '&socketTimeout=500');
    expect((await faultOf(reading)).message).toContain('the server said nothing for 500 ms (socketTimeout)');
  });

  test('a time zone that the server does not know is reported', async () => {
    const fault = await faultOf(open({}, address('&connectionTimeZone=Europe/Nowhere')));
    expect(fault).toMatchObject({ code: 'database/query', hint: expect.stringContaining('+02:00') });
    expect(fault.message).toContain('Europe/Nowhere');
  });

  test('a statement that waits for a lock is cancelled', async () => {
    await prepare('CREATE OR REPLACE TABLE locked (v INT)');
    await elsewhere(async (run) => {
      await run('LOCK TABLES locked WRITE');
      const cancel = async (): Promise<number> => {
        const session = await open({ signal: AbortSignal.timeout(200) });
        const took = await elapsedMs(async () =>
          expect(await faultOf(collect(session.rows('SELECT v FROM locked', 1)))).toMatchObject({ code: 'run/cancelled' }),
        );
        await session.close();
        return took;
      };
      expect(await fastest(1_200, cancel)).toBeLessThan(1_200);
    });
  });

  test('a query that takes too long ends with its limit', async () => {
    const fault = await withSession(
      (session) => faultOf(collect(session.rows('SELECT COUNT(*) FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 1))),
      {
        statementSeconds: 1,
      },
    );
    expect(fault).toMatchObject({ code: 'database/time-limit', message: 'The query takes longer than its limit of 1 s' });
  });

  test.each([
    ['&sessionVariables=max_statement_time=0', 2, '2.000000'],
    ['&sessionVariables=max_statement_time=900', 2, '2.000000'],
    ['&sessionVariables=max_statement_time=1.5', 2, '1.500000'],
    ['&sessionVariables=max_statement_time=900', 0, '900.000000'],
    ['', 0, '0.000000'],
  ])('of the limits %j and %d s the lower one holds', async (parameters, statementSeconds, limit) => {
    const work = (session: SqlSession): Promise<unknown> => session.query('SELECT @@max_statement_time AS seconds');
    expect(await withSession(work, { statementSeconds }, parameters)).toEqual([{ seconds: limit }]);
  });

  test('a signal ends the statement on the server within a second', async () => {
    const cancel = new AbortController();
    const session = await open({ signal: cancel.signal });
    const reading = faultOf(collect(session.rows('SELECT COUNT(*), 4711 FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 2)));
    await until(async () => (await running('4711')) === 1);
    cancel.abort();
    expect(await until(async () => (await running('4711')) === 0)).toBeLessThan(10_000);
    expect(await reading).toMatchObject({ code: 'run/cancelled' });
    expect(await faultOf(session.describe('SELECT 1'))).toMatchObject({ code: 'run/cancelled' });
    await session.close();
  });

  test('giving up early ends the statement on the server, and the session can be used again', async () => {
    await withSession(async (session) => {
      for (let i = 0; i < 5; i++) {
        const started = performance.now();
        for await (const { rows } of session.rows('SELECT a.seq, 4712 FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 2)) {
          expect(rows[0]).toEqual(['1', '4712']);
          break;
        }
        expect(await running('4712')).toBe(0);
        expect(performance.now() - started).toBeLessThan(10_000);
        expect((await read(session, "SELECT 'again'")).rows).toEqual([['again']]);
      }
    });
  });

  test('closing a session with a reader in the middle ends the statement', async () => {
    const session = await open();
    const batches = session.rows('SELECT a.seq, 4713 FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 2)[Symbol.asyncIterator]();
    await batches.next();
    await session.close();
    expect(await until(async () => (await running('4713')) === 0)).toBeLessThan(1000);
  });

  test('a connection that an operator ends is lost', async () => {
    const session = await open();
    const batches = session.rows('SELECT a.seq, 4714 FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 2);
    const reading = faultOf(collect(limited(batches)));
    await until(async () => (await running('4714')) === 1);
    await elsewhere(async (run) => {
      const [row] = await run("SELECT id FROM information_schema.processlist WHERE info LIKE '%4714%' AND id <> CONNECTION_ID()");
      await run(`KILL CONNECTION ${row?.id}`);
    });
    expect(await reading).toMatchObject({ code: 'database/lost', retriable: true });
    expect(await faultOf(session.describe('SELECT 1'))).toMatchObject({ code: 'database/lost' });
    await session.close();
  });

  soakTest(
    'a server that dies while rows come is lost, and no row comes after it',
    async () => {
      const other = await startMariadb();
      if ('skip' in other) throw new Error(other.skip);
      const session = await open({}, address('', other.url));
      let rows = 0;
      const reading = async (): Promise<void> => {
        for await (const batch of session.rows('SELECT a.seq, b.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b', 2)) {
          if (rows === 0) process.kill(other.pid, 'SIGKILL');
          rows += batch.rows.length;
          await sleep(1);
        }
      };
      const fault = await faultOf(reading());
      expect(fault).toMatchObject({ code: 'database/lost' });
      expect(rows).toBeGreaterThan(0);
      await session.close();
      await other.stop();
    },
    30_000,
  );

  soakTest(
    'a slow reader of 300,000 rows holds the server back, and memory does not grow',
    async () => {
      await withSession(async (session) => {
        const sql = "SELECT seq, REPEAT('x', 1000) FROM seq_1_to_300000";
        let count = 0;
        let most = 0;
        const before = process.memoryUsage.rss();
        for await (const { rows } of session.rows(sql, 2)) {
          if (count % 50_000 < 1000) await sleep(300);
          count += rows.length;
          most = Math.max(most, process.memoryUsage.rss() - before);
        }
        expect(count).toBe(300_000);
        expect(most / 2 ** 20).toBeLessThan(150);
      });
    },
    60_000,
  );
});

/** A reader that takes its time. */
async function* limited(batches: AsyncIterable<RowBatch>): AsyncGenerator<RowBatch> {
  for await (const batch of batches) {
    yield { rows: [], bytes: batch.bytes };
    await sleep(1);
  }
}

suite("strangers' queries", () => {
  const choose = (
    sql: string,
    maxRows = 10,
    parameters = '',
  ): Promise<{ readonly names: string[]; readonly rows: (readonly (string | null)[])[] }> =>
    withSession(
      async (session) => {
        const { columns, batches } = await session.select(sql, maxRows);
        return { names: columns.map(({ name }) => name), rows: await collect(batches) };
      },
      { lockSeconds: 2 },
      parameters,
    );

  test.each<[string, string[][]]>([
    ["SELECT 1, 'a;b' ;", [['1', 'a;b']]],
    ['SELECT 1;; -- done;\n', [['1']]],
    ['SELECT 1; # done', [['1']]],
    ['SELECT 1 -- not the end', [['1']]],
    ['SELECT 1 /* ; */', [['1']]],
    ['/*! SELECT */ 1', [['1']]],
    ['SELECT \';\' AS `a;b`, ";"', [[';', ';']]],
    ["SELECT 'FOR UPDATE'", [['FOR UPDATE']]],
    ['(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC', [['2'], ['1']]],
    ['WITH a AS (SELECT 1 AS x) SELECT * FROM a', [['1']]],
    ['VALUES (1, 2)', [['1', '2']]],
    ['SELECT 1 AS a, 2 AS a', [['1', '2']]],
    ['SELECT seq FROM seq_1_to_3 ORDER BY seq DESC', [['3'], ['2'], ['1']]],
    ['SELECT seq FROM seq_1_to_3 ORDER BY seq DESC LIMIT 1', [['3']]],
  ])('%j is run', async (sql, expected) => {
    expect((await choose(sql)).rows).toEqual(expected);
  });

  test('of many rows one more than the most comes', async () => {
    const { rows } = await choose('SELECT seq FROM seq_1_to_1000000 ORDER BY seq', 1500);
    expect(rows).toHaveLength(1501);
    expect(rows.at(-1)).toEqual(['1501']);
  });

  test('quotes are read as the session does', async () => {
    expect((await choose("SELECT 'a\\';' ;")).rows).toEqual([["a';"]]);
    expect((await choose("SELECT 'a\\' ; -- '", 10, "&sessionVariables=sql_mode='NO_BACKSLASH_ESCAPES'")).rows).toEqual([['a\\']]);
  });

  const FILE = '/tmp/quadmill-never-written';
  test.each([
    'DELETE FROM kept',
    'INSERT INTO kept VALUES (2)',
    'INSERT INTO kept VALUES (2) RETURNING v',
    'DELETE FROM kept RETURNING v',
    'COMMIT; INSERT INTO kept VALUES (2)',
    'SELECT 1; INSERT INTO kept VALUES (2)',
    'SELECT 1; SELECT 2',
    'SELECT 1;\0 SELECT 2',
    `SELECT * FROM kept INTO OUTFILE '${FILE}'`,
    `SELECT * INTO DUMPFILE '${FILE}' FROM kept`,
    `SELECT 1) x INTO OUTFILE '${FILE}' -- `,
    `SELECT 1) INTO OUTFILE '${FILE}' -- `,
    `SELECT 1 /*! INTO OUTFILE '${FILE}' */`,
    `SELECT 1 /*M! INTO OUTFILE '${FILE}' */`,
    `SELECT 1 a, 2 a INTO OUTFILE '${FILE}'`,
    'SELECT 1 INTO @x',
    'SELECT v FROM kept FOR UPDATE',
    'SELECT v FROM kept FOR /* */ UPDATE',
    'SELECT v FROM kept /*! FOR UPDATE */',
    'SELECT v FROM kept LOCK IN SHARE MODE',
    'SELECT write_one()',
    'SELECT NEXTVAL(numbers)',
    'CALL write_two()',
    'SHOW TABLES',
    'SET GLOBAL max_connections = 1',
    'SET STATEMENT max_statement_time = 0 FOR SELECT 1',
    'EXPLAIN SELECT 1',
    "PREPARE p FROM 'DELETE FROM kept'",
    'LOCK TABLES kept WRITE',
    'DROP TABLE kept',
    'CREATE TABLE other (v INT)',
    'KILL 1',
    `LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE kept`,
    'SELECT ?',
    '',
    ';',
    "SELECT 'open",
    'SELECT 1 /* open',
  ])('%j is refused', async (sql) => {
    await prepare(
      'CREATE OR REPLACE TABLE kept (v INT) ENGINE=MyISAM',
      'INSERT INTO kept VALUES (1)',
      'CREATE OR REPLACE SEQUENCE numbers',
      'CREATE OR REPLACE FUNCTION write_one() RETURNS INT BEGIN INSERT INTO kept VALUES (2); RETURN 1; END',
      'CREATE OR REPLACE PROCEDURE write_two() BEGIN INSERT INTO kept VALUES (2); SELECT 1; END',
    );
    expect(await faultOf(choose(sql))).toMatchObject({ code: 'database/query' });
    expect(await elsewhere((run) => run('SELECT v FROM kept'))).toEqual([{ v: 1 }]);
    const { existsSync } = await import('node:fs');
    expect(existsSync(FILE)).toBe(false);
  });

  test('a function that sleeps is bound by the time limit', async () => {
    const reading = withSession(async (session) => collect((await session.select('SELECT SLEEP(60)', 10)).batches), {
      statementSeconds: 1,
    });
    const started = performance.now();
    // MariaDB may answer a SLEEP that was ended with 1.
    await reading.catch((fault: Fault) => expect(fault.code).toBe('database/time-limit'));
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
