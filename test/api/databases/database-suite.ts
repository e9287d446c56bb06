/** `/testDBConnection` and `/queryDatabase` over HTTP, against real servers. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { OptionValues } from '../../../src/config/options/options.ts';
import { createLogger } from '../../../src/core/telemetry/observe.ts';
import { missingMariadb, startMariadb } from '../../servers/databases/mariadb.ts';
import { missingPostgres, startPostgres } from '../../servers/databases/postgres.ts';
import { freePort } from '../../servers/process/port.ts';
import { fastest } from '../../support/fastest.ts';
import { type FakeApi, startFakeApi } from '../../support/service/fake.ts';

const PASSWORD = 'hünter2>>>??';
const inBase64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/** A server with the user `alice`, who has a password, and her table `notes (id, note)` of 200,000 rows. */
interface Subject {
  readonly url: string;
  /** Runs SQL as the superuser. */
  execute(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  stop(): Promise<void>;
}

interface ProductRow {
  readonly product: string;
  readonly missing: string | undefined;
  start(): Promise<Subject>;
  readonly classes: readonly string[];
  readonly otherClass: string;
  /** alice's active statements, with the ids for `kill`. */
  readonly running: string;
  /** The column with the text of such a statement. */
  readonly text: string;
  readonly kill: (id: unknown) => string;
  readonly sleep: string;
  /** A query of one row, and its part of the answer. */
  readonly values: string;
  readonly row: string;
  readonly types: readonly string[];
  readonly fileParameter: string;
  /** The name and value of a parameter that would disable the time limit. */
  readonly lift: readonly [string, string];
  readonly refused: readonly (readonly [string, string])[];
}

const PRODUCTS: readonly ProductRow[] = [
  {
    product: 'postgresql',
    missing: await missingPostgres(),
    start: startPostgresSubject,
    classes: ['postgresql', 'org.postgresql.Driver'],
    otherClass: 'com.mysql.cj.jdbc.Driver',
    running: "select pid as id from pg_stat_activity where usename = 'alice' and state <> 'idle'",
    text: 'query',
    kill: (id) => `select pg_terminate_backend(${id})`,
    sleep: 'select pg_sleep(60)',
    values: `select 9007199254740993 as id, 'é "x"' as id, true as b, 1.5::numeric(5,2) as d, array[1,2] as list, 'nan'::float8 as nan,
      null as empty, date 'infinity' as forever, timestamp '2026-01-02 03:04:05' as at`,
    row: '{"id":9007199254740993,"id_2":"é \\"x\\"","b":true,"d":1.5,"list":[1,2],"nan":"NaN","empty":null,"forever":"infinity","at":"2026-01-02T03:04:05"}',
    types: ['bigint', 'text', 'boolean', 'numeric(5,2)', 'integer[]', 'double precision', 'text', 'date', 'timestamp without time zone'],
    fileParameter: 'sslrootcert',
    lift: ['options', '-c statement_timeout=0'],
    refused: [
      ['a write behind the end of the transaction', "commit; insert into notes values (0, 'x')"],
      ['a program of the server', "copy (select 1) to program 'true'"],
      ['a file of the server', "copy notes to '/tmp/quadmill-notes'"],
      ['a table that is dropped', 'drop table notes'],
      ['a write inside a query', 'with gone as (delete from notes returning id) select * from gone'],
      ['a write by a function', "select setval('counter', 100)"],
      ['a query that locks rows', 'select * from notes for update'],
      ['a new table', 'select * into copied from notes'],
      ['a block of code', 'do $$ begin delete from notes; end $$'],
      ['a transaction that may write', 'set transaction read write'],
      ['nothing but a comment', '-- nothing'],
    ],
  },
  {
    product: 'mariadb',
    missing: await missingMariadb(),
    start: startMariadbSubject,
    classes: ['mariadb', 'mysql', 'org.mariadb.jdbc.Driver', 'com.mysql.cj.jdbc.Driver'],
    otherClass: 'org.postgresql.Driver',
    running: "select id from information_schema.processlist where user = 'alice' and command <> 'Sleep'",
    text: 'info',
    kill: (id) => `kill ${id}`,
    sleep: 'select sleep(60)',
    values: `select 9007199254740993 as id, 'é "x"' as id, cast(1.5 as decimal(5,2)) as d, null as empty,
      cast('2026-01-02 03:04:05' as datetime) as at`,
    row: '{"id":9007199254740993,"id_2":"é \\"x\\"","d":1.5,"empty":null,"at":"2026-01-02T03:04:05"}',
    types: [],
    fileParameter: 'serverSslCert',
    lift: ['sessionVariables', 'max_statement_time=0'],
    refused: [
      ['a write behind the end of the transaction', "commit; insert into notes values (0, 'x')"],
      ['a file of the server', "select * from notes into outfile '/tmp/quadmill-notes'"],
      ['a table that is dropped', 'drop table notes'],
      ['a write', 'delete from notes'],
      ['a write with a query in it', 'insert into notes select id + 1000000, note from notes'],
      ['a procedure', 'call wipe()'],
      ['a statement that lifts its own limit', 'set statement max_statement_time=0 for select 1'],
      ['a write inside of a comment that the server reads', '/*! delete from notes */'],
      ['a transaction that may write', 'start transaction read write'],
      ['nothing but a comment', '-- nothing'],
    ],
  },
];

async function startPostgresSubject(): Promise<Subject> {
  const server = await startPostgres();
  if ('skip' in server) throw new Error(server.skip);
  const pool = new pg.Pool({ connectionString: server.url, max: 1 });
  const execute = async (sql: string) => (await pool.query(sql)).rows as readonly Readonly<Record<string, unknown>>[];
  await execute(`create role alice login superuser password '${PASSWORD}'`);
  await execute("create table notes as select g as id, 'note ' || g as note from generate_series(1, 200000) g");
  await execute('create sequence counter');
  const [row] = await execute('show hba_file');
  const path = String(row?.hba_file);
  await writeFile(path, `host all alice 127.0.0.1/32 scram-sha-256\n${await readFile(path, 'utf8')}`);
  await execute('select pg_reload_conf()');
  return {
    url: `jdbc:postgresql://127.0.0.1:${server.port}/postgres`,
    execute,
    stop: async () => {
      pool.on('error', () => undefined);
      await pool.end();
      await server.stop();
    },
  };
}

async function startMariadbSubject(): Promise<Subject> {
  const server = await startMariadb();
  if ('skip' in server) throw new Error(server.skip);
  const connection = await mysql.createConnection({ host: '127.0.0.1', port: server.port, user: 'root', database: 'test' });
  const execute = async (sql: string) => (await connection.query(sql))[0] as readonly Readonly<Record<string, unknown>>[];
  await execute(`create user alice@'127.0.0.1' identified by '${PASSWORD}'`);
  await execute("grant all on *.* to alice@'127.0.0.1'");
  await execute("create table notes as select seq as id, concat('note ', seq) as note from seq_1_to_200000");
  await execute('create procedure wipe() delete from notes');
  return {
    url: `jdbc:mariadb://127.0.0.1:${server.port}/test`,
    execute,
    stop: async () => {
      connection.destroy();
      await server.stop();
    },
  };
}

type Parameters = Readonly<Record<string, string | readonly string[]>>;

let api: FakeApi;
let log: string[];

async function startApi(options: OptionValues = {}): Promise<void> {
  const out = new Writable({ write: (chunk, _, done) => done(void log.push(String(chunk))) });
  api = await startFakeApi({ SERVICE: 'sql-transformer', ...options }, { logger: createLogger({ level: 'trace' }, out) });
}

beforeEach(() => {
  log = [];
});
afterEach(() => api.close());

function urlOf(path: string, parameters: Parameters): string {
  const query = Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((one) => [name, one as string]));
  return `${api.url}${path}?${new URLSearchParams(query)}`;
}

async function ask(path: string, parameters: Parameters) {
  const response = await fetch(urlOf(path, parameters));
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const body = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
  return { status: response.status, type: response.headers.get('content-type'), headers: response.headers, text, body };
}

/** A request whose answer is read by hand. */
async function open(path: string, parameters: Parameters): Promise<IncomingMessage> {
  const asked = request(urlOf(path, parameters), { agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

async function readAll(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

/** Sends a request and closes the connection once `when` holds, before or during the answer. */
async function leave(url: string, when: () => Promise<boolean>): Promise<void> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await until(when);
  socket.destroy();
}

async function until(holds: () => Promise<boolean>, limitMs = 10_000): Promise<number> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > limitMs) throw new Error(`not within ${limitMs} ms`);
    await sleep(20);
  }
  return performance.now() - started;
}

const isProblem = (type: string | null): boolean => type === 'application/problem+json';

export function wrongRequests(): void {
  describe('a wrong request is a problem that does not repeat it', () => {
    const url = 'jdbc:postgresql://127.0.0.1:1/db';
    beforeEach(() => startApi());

    test.each<readonly [name: string, parameters: Parameters, detail: string | RegExp]>([
      ['without url', { query: 'select 1' }, 'url is missing'],
      ['without query', { url }, 'query is missing'],
      ['url twice', { url: [url, url], query: 'select 1' }, 'url is given 2 times'],
      ['something that is no JDBC URL', { url: 'postgres://host/db', query: 'select 1' }, 'not named by a JDBC URL'],
      ['a driver that contradicts the URL', { url, jdbc: 'com.mysql.cj.jdbc.Driver', query: 'select 1' }, /mysql/i],
      ['a password that is not Base64', { url, password: 's3cret!', query: 'select 1' }, 'password is not the Base64'],
      ['a password in clear text', { url, password: 's3cret', query: 'select 1' }, 'password is not the Base64'],
      ['a password that is not UTF-8', { url, password: '/////w==', query: 'select 1' }, 'password is not the Base64 of UTF-8'],
      ['more keys than values', { url, jdbcParamKey: ['sslmode', 'user'], jdbcParamValue: 's3cret', query: 'select 1' }, '2 and 1'],
      ['an empty key', { url, jdbcParamKey: '', jdbcParamValue: 's3cret', query: 'select 1' }, 'jdbcParamKey, entry 1, is empty'],
      ['an unknown JDBC parameter', { url, jdbcParamKey: 'sslmod', jdbcParamValue: 's3cret', query: 'select 1' }, 'sslmod'],
      ['returnCSV that is no boolean', { url, query: 'select 1', returnCSV: 's3cret' }, 'returnCSV is neither true nor false'],
      ['a NUL in the query', { url, query: 'select 1\0s3cret' }, 'query has a NUL'],
      ['a file of this machine', { url: `${url}?sslrootcert=/etc/passwd`, query: 'select 1' }, /sslrootcert/],
      ['an & of the URL that was not encoded', { url: `${url}?password=a`, s3cret: '', query: 'select 1' }, 'does not know'],
    ])('%s', async (_, parameters, detail) => {
      const { status, type, body, text } = await ask('/queryDatabase', parameters);
      expect([status, isProblem(type), body.code]).toEqual([400, true, 'request/invalid']);
      expect(body.detail).toEqual(typeof detail === 'string' ? expect.stringContaining(detail) : expect.stringMatching(detail));
      expect(text).not.toContain('s3cret');
      expect(log.join('')).not.toContain('s3cret');
    });

    test('HEAD is refused, since it would reach a database', async () => {
      const response = await fetch(urlOf('/testDBConnection', { url }), { method: 'HEAD' });
      expect(response.status).toBe(405);
    });

    test('an unsupported kind of database is refused with a list of the supported ones', async () => {
      const { status, type, body } = await ask('/testDBConnection', { url: 'jdbc:db2://host:50000/db' });
      expect([status, isProblem(type)]).toEqual([400, false]);
      expect(body).toMatchObject({ name: 'SQL-Transformer', type: 'SQL-Transformer', code: 'database/driver' });
      expect(body.error).toMatch(/^Record could not be processed due to: .*db2.*postgresql.*mariadb.*sqlserver.*oracle/s);
      expect(body).not.toHaveProperty('runId');
    });
  });
}

export function callsOver(only: ProductRow['product']): void {
  for (const row of PRODUCTS) {
    if (row.product !== only) continue;
    if (row.missing === undefined) describe(only, () => suite(row));
    else describe(only, () => test.skip(`cannot be tested here: ${row.missing}`, () => undefined));
  }
}

function suite(row: ProductRow): void {
  let subject: Subject;
  let login: Parameters;
  beforeAll(async () => {
    subject = await row.start();
    login = { url: subject.url, user: 'alice', password: inBase64(PASSWORD) };
  }, 60_000);
  afterAll(() => subject?.stop());
  beforeEach(() => startApi({ QUERY_MAX_ROWS: 1_000_000 }));

  const running = () => subject.execute(row.running);
  const isIdle = async () => (await running()).length === 0;
  const isBusy = async () => (await running()).length > 0;
  const query = (sql: string, more: Parameters = {}) => ask('/queryDatabase', { ...login, query: sql, ...more });

  describe('/testDBConnection', () => {
    test.each([undefined, ...row.classes])('with the driver %s', async (jdbc) => {
      const { status, body } = await ask('/testDBConnection', { ...login, ...(jdbc === undefined ? {} : { jdbc }) });
      expect([status, body]).toEqual([
        200,
        { success: true, product: row.product, version: expect.stringMatching(/^\d+\.\d+/), milliseconds: expect.any(Number) },
      ]);
    });

    test.each([
      ['with a + that was not encoded', (base64: string) => base64.replaceAll('+', ' ')],
      ['as base64url', (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')],
      ['with a line end', (base64: string) => `${base64}\n`],
    ])('a password %s', async (_, written) => {
      expect(inBase64(PASSWORD)).toMatch(/[+/]/);
      const password = written(inBase64(PASSWORD));
      expect((await ask('/testDBConnection', { ...login, password })).body).toMatchObject({ success: true });
    });

    test('login and parameters as JDBC parameters', async () => {
      const { url } = subject;
      const { body } = await ask('/testDBConnection', { url, jdbcParamKey: ['user', 'password'], jdbcParamValue: ['alice', PASSWORD] });
      expect(body).toMatchObject({ success: true });
    });

    test('a wrong password is answered with the text of the specification', async () => {
      const { status, type, body } = await ask('/testDBConnection', { ...login, password: inBase64('wrong one') });
      expect([status, isProblem(type)]).toEqual([400, false]);
      expect(body.error).toBe('Record could not be processed due to: Invalid Database Credentials.');
      expect(body).toMatchObject({ name: 'SQL-Transformer', type: 'SQL-Transformer', code: 'database/credentials' });
      expect(body.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
    });

    test('a port at which nothing listens is named', async () => {
      const port = await freePort();
      const { status, body } = await ask('/testDBConnection', { ...login, url: subject.url.replace(/:\d+\//, `:${port}/`) });
      expect([status, body.code]).toEqual([400, 'database/unreachable']);
      expect(body.error).toContain(`127.0.0.1:${port}`);
    });

    test('a host that does not exist is named', async () => {
      const { body } = await ask('/testDBConnection', { ...login, url: subject.url.replace('127.0.0.1', 'nowhere.invalid') });
      expect(body.code).toBe('database/unreachable');
      expect(body.error).toContain('nowhere.invalid');
    });

    test('a database that does not exist is named', async () => {
      const { status, body } = await ask('/testDBConnection', { ...login, url: subject.url.replace(/\w+$/, 'elsewhere') });
      expect([status, body.code]).toEqual([400, 'database/missing']);
      expect(body.error).toContain('elsewhere');
    });

    test('a driver of another product is a problem', async () => {
      const { status, type } = await ask('/testDBConnection', { ...login, jdbc: row.otherClass });
      expect([status, isProblem(type)]).toEqual([400, true]);
    });

    test('a parameter that names a file of this machine is refused', async () => {
      const more = { jdbcParamKey: row.fileParameter, jdbcParamValue: '/etc/passwd' };
      const { status, body } = await ask('/testDBConnection', { ...login, ...more });
      expect([status, body.code]).toEqual([400, 'request/invalid']);
    });
  });

  describe('/queryDatabase', () => {
    test('answers values by their types', async () => {
      const { status, type, text, body } = await query(row.values);
      expect([status, type]).toEqual([200, 'application/json; charset=utf-8']);
      expect(text).toContain(`"rows":[\n${row.row}\n]`);
      expect(body).toMatchObject({ rowCount: 1, truncated: false });
      const columns = body.columns as readonly { readonly name: string; readonly type: string }[];
      expect(columns.map(({ name }) => name)).toEqual(Object.keys(JSON.parse(row.row) as object));
      if (row.types.length > 0) expect(columns.map((column) => column.type)).toEqual(row.types);
      for (const column of columns) expect(column.type).not.toBe('');
    });

    test('answers CSV', async () => {
      const { status, type, text, headers } = await query("select 1 as id, '' as empty, null as nothing, 'a\"b,c' as note", {
        returnCSV: 'true',
      });
      expect([status, type]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(text).toBe('id,empty,nothing,note\r\n1,"",,"a""b,c"\r\n');
      expect([headers.get('x-row-limit'), headers.get('x-truncated')]).toEqual(['1000000', 'false']);
    });

    test('answers a query without rows, and one that ends with a semicolon', async () => {
      const { status, body } = await query('select id, note from notes where id < 0 ;');
      expect([status, body]).toMatchObject([200, { rows: [], rowCount: 0, truncated: false }]);
    });

    test.each([
      ['JSON', {}],
      ['CSV', { returnCSV: 'true' }],
    ])(
      'sends 200,000 rows as %s while they come',
      async (form, more) => {
        const answer = await open('/queryDatabase', {
          ...login,
          query: "select id, note, repeat('x', 250) as filler from notes order by id",
          ...more,
        });
        await sleep(200);
        expect(await isBusy()).toBe(true);
        const filler = 'x'.repeat(250);
        const text = await readAll(answer);
        expect(answer.complete).toBe(true);
        if (form === 'CSV') {
          const lines = text.split('\r\n');
          expect([lines.length, lines[0], lines[200_000], lines[200_001]]).toEqual([
            200_002,
            'id,note,filler',
            `200000,note 200000,${filler}`,
            '',
          ]);
          expect(answer.trailers['x-truncated']).toBe('false');
        } else {
          const { rows, ...rest } = JSON.parse(text) as { rows: readonly unknown[] };
          expect([rows.length, rows[0], rows[199_999]]).toEqual([
            200_000,
            { id: 1, note: 'note 1', filler },
            { id: 200_000, note: 'note 200000', filler },
          ]);
          expect(rest).toMatchObject({ rowCount: 200_000, truncated: false });
        }
        await until(isIdle);
      },
      30_000,
    );

    test('names the place of an error in the SQL', async () => {
      const { status, type, body } = await query('select id,\n  nott\nfrom notes');
      expect([status, isProblem(type), body.code]).toEqual([400, false, 'database/query']);
      expect(body.error).toMatch(/^Record could not be processed due to: .*nott/s);
    });

    test.each(row.refused)('refuses %s', async (_, sql) => {
      const { status, body } = await query(sql);
      expect([status, body.code]).toEqual([400, 'database/query']);
      expect(body.error).toMatch(/^Record could not be processed due to: .{20}/s);
      const [counted] = await subject.execute('select count(*) as n, min(id) as least, max(id) as most from notes');
      expect([Number(counted?.n), Number(counted?.least), Number(counted?.most)]).toEqual([200_000, 1, 200_000]);
      await until(isIdle);
    });

    test('ends the statement within a second when the client leaves before the answer', async () => {
      const end = async (): Promise<number> => {
        await leave(urlOf('/queryDatabase', { ...login, query: row.sleep }), isBusy);
        return until(isIdle);
      };
      expect(await fastest(1_000, end)).toBeLessThan(1_000);
    });

    test('ends the statement within a second when the client leaves in the middle of the answer', async () => {
      const end = async (): Promise<number> => {
        const answer = await open('/queryDatabase', { ...login, query: 'select a.id, b.note from notes a, notes b' });
        await once(answer, 'readable');
        expect(await isBusy()).toBe(true);
        answer.destroy();
        return until(isIdle);
      };
      expect(await fastest(1_000, end)).toBeLessThan(1_000);
      expect(log.join('')).not.toContain('answer cut off');
    });

    test('cuts off an answer whose connection to the database breaks, and logs why', async () => {
      const answer = await open('/queryDatabase', { ...login, query: 'select a.id, b.note from notes a, notes b' });
      await once(answer, 'readable');
      const [statement] = await running();
      await subject.execute(row.kill(statement?.id));
      await expect(readAll(answer)).rejects.toThrow('aborted');
      await until(async () => log.join('').includes('answer cut off'));
      expect(log.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ level: 'warn', msg: 'answer cut off', path: '/queryDatabase', code: 'database/lost' }),
      );
      expect(log.join('')).not.toContain(PASSWORD);
      expect(log.join('')).not.toContain(inBase64(PASSWORD));
    }, 30_000);

    test('gives up when the process ends', async () => {
      const answer = query(row.sleep);
      await until(isBusy);
      api.end();
      expect(await answer).toMatchObject({ status: 503, body: { code: 'service/unavailable' } });
      await until(isIdle);
    });

    test('makes sixteen calls at once, and refuses one more until there is a place again', async () => {
      const calls = Array.from({ length: 16 }, () => query(row.sleep));
      // A call that still prepares its transaction is between two statements at times.
      const sleeping = () => subject.execute(`${row.running} and ${row.text} like '%sleep(60)%'`);
      await until(async () => (await sleeping()).length === 16);
      const { status, type, headers, body } = await query('select 1 as one');
      expect([status, isProblem(type), body.code]).toEqual([429, true, 'request/too-many']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      for (const { id } of await sleeping()) await subject.execute(row.kill(id));
      expect((await Promise.all(calls)).map(({ body }) => body.code)).toEqual(Array.from({ length: 16 }, () => 'database/lost'));
      expect((await query('select 1 as one')).status).toBe(200);
    }, 30_000);
  });

  describe('limits of /queryDatabase', () => {
    beforeEach(async () => {
      await api.close();
      await startApi({ QUERY_MAX_ROWS: 3, QUERY_TIMEOUT_SECONDS: 1 });
    });

    test.each([
      ['select id from notes where id <= 3 order by id', false],
      ['select id from notes order by id', true],
    ])('%s: truncated is %s', async (sql, truncated) => {
      expect((await query(sql)).body).toMatchObject({ rows: [{ id: 1 }, { id: 2 }, { id: 3 }], rowCount: 3, truncated });
      const csv = await query(sql, { returnCSV: 'TRUE' });
      expect([csv.text, csv.headers.get('x-truncated')]).toEqual(['id\r\n1\r\n2\r\n3\r\n', String(truncated)]);
      await until(isIdle);
    });

    test.each([
      ['a statement', {}],
      ['one whose parameters lift it', { jdbcParamKey: row.lift[0], jdbcParamValue: row.lift[1] }],
    ])('the time limit ends %s', async (_, more) => {
      const end = async (): Promise<number> => {
        const started = performance.now();
        const { status, body } = await query(row.sleep, more);
        const ended = performance.now();
        expect([status, body.code]).toEqual([400, 'database/time-limit']);
        await until(isIdle);
        return ended - started;
      };
      expect(await fastest(3_000, end)).toBeLessThan(3_000);
    });
  });
}
