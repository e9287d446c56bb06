/** Sessions of PostgreSQL, against a real server: rows, limits, faults, what strangers may ask. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import pg from 'pg';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { RowBatch, SessionOptions, SqlSession } from '../../../src/sql/database.ts';
import { openSession } from '../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import { missingPostgres, type Postgres, startPostgres } from '../../servers/databases/postgres.ts';
import { freePort } from '../../servers/process/port.ts';
import { elapsedMs, fastest } from '../../support/fastest.ts';
import { fastDescribe, soakTest, test } from '../../support/jest/extent.ts';

const missing = await missingPostgres();
const suite = missing === undefined ? describe : describe.skip;

/** A set in the list of columns is not written to disk first, as one in FROM is. */
const ENDLESS = "SELECT generate_series(1, 1000000000000), repeat('x', 100)";

async function start(): Promise<Postgres> {
  const started = await startPostgres();
  if ('skip' in started) throw new Error(started.skip);
  return started;
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    (value) => new Error(`nothing was refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw error;
  return error;
}

async function all(batches: AsyncIterable<RowBatch>): Promise<(readonly (string | null)[])[]> {
  const rows: (readonly (string | null)[])[] = [];
  for await (const batch of batches) rows.push(...batch.rows);
  return rows;
}

suite(`PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: Postgres;
  let admin: pg.Client;

  beforeAll(async () => {
    server = await start();
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    await admin.query(`CREATE TABLE student (id int PRIMARY KEY, name text); INSERT INTO student VALUES (1, 'Ada'), (2, 'Bob');
      CREATE SCHEMA "My ""Schema"; CREATE TABLE "My ""Schema".own (a int); CREATE SEQUENCE numbers;
      CREATE ROLE secret LOGIN PASSWORD 'pass word'; CREATE ROLE nothing LOGIN; GRANT SELECT ON student TO secret;`);
    await admin.query(`COPY (VALUES ('host all secret all scram-sha-256'), ('host all nothing all reject'), ('host all all all trust'))
      TO '${(await admin.query('SHOW hba_file')).rows[0].hba_file}'`);
    await admin.query('SELECT pg_reload_conf()');
    await sleep(200);
  }, 60_000);

  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  const urlOf = (rest = 'postgres?user=postgres', host = `127.0.0.1:${server.port}`): string => `jdbc:postgresql://${host}/${rest}`;
  const open = (options: Partial<SessionOptions> = {}, url = urlOf()): Promise<SqlSession> =>
    openSession(parseJdbcUrl({ url }), { ...RUN_DEFAULTS.sql, ...options });

  async function within<T>(use: (session: SqlSession) => Promise<T>, options: Partial<SessionOptions> = {}, url = urlOf()): Promise<T> {
    const session = await open(options, url);
    try {
      return await use(session);
    } finally {
      await session.close();
    }
  }

  const rowsOf = (sql: string, columns: number, options: Partial<SessionOptions> = {}): Promise<(readonly (string | null)[])[]> =>
    within((session) => all(session.rows(sql, columns)), options);

  /** How many statements of our sessions the server runs that hold the text. */
  const running = async (text: string): Promise<number> => {
    const { rows } = await admin.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'quadmill' AND state = 'active' AND strpos(query, $1) > 0",
      [text],
    );
    return rows[0].n;
  };

  async function until(condition: () => Promise<boolean>, milliseconds: number): Promise<number> {
    const begun = performance.now();
    while (!(await condition())) {
      if (performance.now() - begun > milliseconds) throw new Error(`not within ${milliseconds} ms`);
      await sleep(10);
    }
    return performance.now() - begun;
  }

  describe('opening', () => {
    test('tells product and version, and sets what values look like', async () => {
      await within(
        async (session) => {
          expect(session.product).toBe('postgresql');
          expect(session.version).toMatch(/^\d+\.\d+$/);
          const [row] = await session.query(
            `SELECT current_setting('TimeZone') AS zone, current_setting('IntervalStyle') AS style, current_setting('transaction_read_only') AS readonly,
            current_setting('transaction_isolation') AS isolation, current_setting('search_path') AS path, current_setting('application_name') AS name,
            current_setting('work_mem') AS mem`,
          );
          expect(row).toEqual({
            zone: 'UTC',
            style: 'iso_8601',
            readonly: 'on',
            isolation: 'repeatable read',
            path: '"My ""Schema", "public"',
            name: 'tests',
            mem: '5MB',
          });
          expect(await session.describe('SELECT * FROM own')).toMatchObject([{ name: 'a', type: 'integer' }]);
        },
        {},
        urlOf(
          `postgres?user=postgres&currentSchema=${encodeURIComponent('"My ""Schema",public')}&ApplicationName=tests&options=-c%20work_mem=5MB`,
        ),
      );
    });

    test.each([
      ['a wrong password', 'postgres?user=secret&password=wr%26ong'],
      ['no password', 'postgres?user=secret'],
      ['a user that is not there', 'postgres?user=not-there&password=wrong'],
      ['a user who may not log in', 'postgres?user=nothing'],
    ])('refuses %s in the words of the specification', async (_, rest) => {
      const fault = await faultOf(open({}, urlOf(rest)));
      expect(fault).toMatchObject({ code: 'database/credentials', message: 'Invalid Database Credentials', place: {}, hint: undefined });
    });

    test('logs in with a password', async () => {
      await within((session) => session.query('SELECT 1 AS one'), {}, urlOf('postgres?user=secret&password=pass%20word'));
    });

    test('sends no password of the environment to a server of the URL', async () => {
      process.env.PGPASSWORD = 'pass word';
      try {
        expect((await faultOf(open({}, urlOf('postgres?user=secret')))).code).toBe('database/credentials');
      } finally {
        delete process.env.PGPASSWORD;
      }
    });

    test('names a database that is not there', async () => {
      const fault = await faultOf(open({}, urlOf('elsewhere?user=postgres')));
      expect(fault).toMatchObject({
        code: 'database/missing',
        message: expect.stringContaining('elsewhere'),
        place: { input: expect.stringMatching(/^jdbc:/) },
      });
    });

    test('names a host that cannot be reached, and why', async () => {
      const port = await freePort();
      for (const [host, reason] of [
        [`127.0.0.1:${port}`, 'connection refused'],
        ['no-such-host.invalid:5432', ''],
      ]) {
        const fault = await faultOf(open({ connectSeconds: 2 }, urlOf('postgres?user=postgres&password=hidden', host)));
        expect(fault).toMatchObject({ code: 'database/unreachable', message: expect.stringContaining(`${host}: ${reason}`) });
        expect(JSON.stringify(fault)).not.toContain('hidden');
      }
    });

    test('gives up a host that says nothing', async () => {
      const { createServer } = await import('node:net');
      const silent = createServer(() => {});
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port } = silent.address() as { port: number };
      const giveUp = (): Promise<number> =>
        elapsedMs(async () => {
          const fault = await faultOf(open({ connectSeconds: 0.3 }, urlOf('postgres?user=postgres', `127.0.0.1:${port}`)));
          expect(fault).toMatchObject({ code: 'database/unreachable', message: expect.stringContaining('no answer in time') });
        });
      expect(await fastest(2_000, giveUp)).toBeLessThan(2_000);
      silent.close();
    });

    test('does without TLS only where that is allowed', async () => {
      const fault = await faultOf(open({}, urlOf('postgres?user=postgres&sslmode=require')));
      expect(fault).toMatchObject({ code: 'database/unreachable', message: expect.stringContaining('the server does not offer TLS') });
    });

    test('says when the server has no place', async () => {
      const limit = Number((await admin.query('SHOW max_connections')).rows[0].max_connections);
      const others: pg.Client[] = [];
      try {
        for (let i = 0; i < limit; i++) {
          const client = new pg.Client({ connectionString: server.url });
          client.on('error', () => {});
          others.push(client);
          await client.connect();
        }
      } catch {
        others.pop();
      }
      expect((await faultOf(open())).code).toBe('database/busy');
      await Promise.all(others.map((client) => client.end()));
    }, 30_000);

    test('is cancelled by the signal', async () => {
      expect((await faultOf(open({ signal: AbortSignal.abort() }))).code).toBe('run/cancelled');
    });

    test('leaves no backend behind', async () => {
      const session = await open({}, urlOf('postgres?user=postgres&ApplicationName=leaving'));
      await session.close();
      await session.close();
      const gone = async (): Promise<boolean> =>
        (await admin.query("SELECT FROM pg_stat_activity WHERE application_name = 'leaving'")).rowCount === 0;
      await until(gone, 1000);
    });
  });

  describe('rows', () => {
    test('has none', async () => {
      expect(await rowsOf('SELECT * FROM student WHERE false', 2)).toEqual([]);
    });

    test('may have no columns', async () => {
      expect(await rowsOf('SELECT FROM student', 0)).toEqual([[], []]);
      expect(await rowsOf("SELECT ''::text FROM student", 1)).toEqual([[''], ['']]);
    });

    test('may have 1,600 columns', async () => {
      const columns = Array.from({ length: 1600 }, (_, i) => `${i} AS c${i}`);
      await within(async (session) => {
        const sql = `SELECT ${columns.join(', ')}`;
        expect(await session.describe(sql)).toHaveLength(1600);
        const [row] = await all(session.rows(sql, 1600));
        expect(row).toHaveLength(1600);
        expect(row?.[1599]).toBe('1599');
      });
    });

    test('keeps labels that come twice', async () => {
      await within(async (session) => {
        expect((await session.describe('SELECT 1 AS a, 2 AS a')).map(({ name }) => name)).toEqual(['a', 'a']);
      });
    });

    test('reads a query that ends with a comment', async () => {
      expect(await rowsOf('SELECT 1 -- one', 1)).toEqual([['1']]);
    });

    test('reads a row that is longer than what is held', async () => {
      const [row] = await rowsOf("SELECT repeat('é\\', 1000000), 'end'", 2);
      expect(row?.[0]).toHaveLength(3_000_000);
      expect(row?.[1]).toBe('end');
    });

    test('holds little of a large result, and the server waits', async () => {
      await within(async (session) => {
        const sql = "SELECT generate_series(1, 300000), repeat('x', 100)";
        let count = 0;
        let last: string | null | undefined;
        let largest = 0;
        for await (const { rows, bytes } of session.rows(sql, 2)) {
          if (count === 0) {
            await sleep(300);
            expect(await running('repeat')).toBe(1);
            expect(bytes).toBeLessThan(2 ** 20);
          }
          count += rows.length;
          last = rows.at(-1)?.[0];
          largest = Math.max(largest, rows.length);
        }
        expect([count, last]).toEqual([300_000, '300000']);
        expect(largest).toBeLessThan(5000);
      });
    });

    test('sees one state of the data in all statements', async () => {
      await within(async (session) => {
        await admin.query("INSERT INTO student VALUES (3, 'Eve')");
        try {
          expect(await all(session.rows('SELECT name FROM student ORDER BY 1', 1))).toEqual([['Ada'], ['Bob']]);
        } finally {
          await admin.query('DELETE FROM student WHERE id = 3');
        }
      });
    });

    test('shares its state with another session', async () => {
      await within(async (session) => {
        await session.query('SELECT 1 AS one');
        const snapshot = await session.exportSnapshot();
        expect(await session.exportSnapshot()).toBeDefined();
        await admin.query("INSERT INTO student VALUES (4, 'Zoe')");
        try {
          const sql = 'SELECT count(*) FROM student';
          expect(await rowsOf(sql, 1, { snapshot: snapshot as string })).toEqual([['2']]);
          expect(await rowsOf(sql, 1)).toEqual([['3']]);
        } finally {
          await admin.query('DELETE FROM student WHERE id = 4');
        }
      });
    });

    test('says that an exported state is gone', async () => {
      const snapshot = (await within((session) => session.exportSnapshot())) as string;
      expect(await faultOf(open({ snapshot }))).toMatchObject({ code: 'database/lost', message: expect.stringContaining('is gone') });
    });
  });

  describe('faults of statements', () => {
    test.each([
      ['SELECT 1,\n  nme FROM student', 'column "nme" does not exist, at line 2, column 3 of the query'],
      ['SELECT "größe", x FROM student', 'column "größe" does not exist, at line 1, column 8 of the query'],
      ['SELECT * FROM nowhere', 'relation "nowhere" does not exist, at line 1, column 15 of the query'],
      ['SELECT 1 FROM', 'syntax error at end of input, at the end of the query'],
    ])('says where %j is wrong', async (sql, message) => {
      await within(async (session) => {
        expect(await faultOf(session.describe(sql))).toMatchObject({ code: 'database/query', message });
        const [described, read] = [message, await faultOf(all(session.rows(sql, 1)))];
        expect(read.code).toBe('database/query');
        if (!described.includes('at the end')) expect(read.message).toBe(described);
        expect(await session.query("SELECT 'on' AS goes")).toEqual([{ goes: 'on' }]);
      });
    });

    test('keeps what the server advises', async () => {
      const fault = await within((session) => faultOf(session.describe('SELECT naem FROM student')));
      expect(fault.hint).toMatch(/student\.name/);
    });

    test('has no values for placeholders', async () => {
      const fault = await within((session) => faultOf(session.describe('SELECT $1::int')));
      expect(fault).toMatchObject({ code: 'database/query', message: expect.stringContaining('placeholders') });
    });

    test('refuses a NUL', async () => {
      expect(await within((session) => faultOf(session.describe('SELECT 1\0, 2')))).toMatchObject({
        code: 'database/query',
        message: expect.stringContaining('NUL'),
      });
    });

    test('ends with the fault of a value in the middle', async () => {
      await within(async (session) => {
        let count = 0;
        const reading = (async () => {
          for await (const { rows } of session.rows('SELECT 1 / (200000 - i) FROM generate_series(1, 300000) i', 1)) count += rows.length;
        })();
        expect(await faultOf(reading)).toMatchObject({ code: 'database/query', message: expect.stringContaining('division by zero') });
        expect(count).toBeGreaterThan(100_000);
        expect(await all(session.rows('SELECT 1', 1))).toEqual([['1']]);
      });
    });

    test('waits for a lock only so long', async () => {
      const other = new pg.Client({ connectionString: server.url });
      await other.connect();
      await other.query('BEGIN; LOCK TABLE student IN ACCESS EXCLUSIVE MODE');
      try {
        await within(
          async (session) => {
            expect(await faultOf(all(session.rows('SELECT * FROM student', 2)))).toMatchObject({
              code: 'database/busy',
              message: expect.stringContaining('lock'),
            });
          },
          { lockSeconds: 0.2 },
        );
      } finally {
        await other.end();
      }
    });

    test.each([
      ['that sends nothing', 'SELECT pg_sleep(60)', 1],
      ['that never ends', ENDLESS, 2],
    ])('ends a statement %s when its time is over', async (_, sql, columns) => {
      await within(
        async (session) => {
          const begun = performance.now();
          expect(await faultOf(all(session.rows(sql, columns)))).toMatchObject({
            code: 'database/time-limit',
            message: expect.stringContaining('0.5 s'),
          });
          // Far below the 60 seconds of the statement.
          expect(performance.now() - begun).toBeLessThan(30_000);
          await until(async () => (await running(sql)) === 0, 20_000);
          expect(await all(session.rows('SELECT 1', 1))).toEqual([['1']]);
        },
        { statementSeconds: 0.5 },
      );
    });

    soakTest('does not count the time of a slow reader', async () => {
      await within(
        async (session) => {
          let count = 0;
          for await (const { rows } of session.rows("SELECT generate_series(1, 40000), repeat('x', 200)", 2)) {
            if (count === 0) await sleep(1500);
            count += rows.length;
          }
          expect(count).toBe(40_000);
        },
        { statementSeconds: 1 },
      );
    });

    test('tells bytes that are no UTF-8, with row and column', async () => {
      await admin.query("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0");
      const sql =
        "SELECT i, CASE i WHEN 700 THEN convert_from('\\x66fc72'::bytea, 'SQL_ASCII') ELSE 'für' END FROM generate_series(1, 1000) i";
      const fault = await within((session) => faultOf(all(session.rows(sql, 2))), {}, urlOf('bytes?user=postgres'));
      expect(fault).toMatchObject({
        code: 'source/encoding',
        message: 'Column 2 of the result has a text that is not UTF-8',
        place: { record: 699 },
      });
    });
  });

  describe('giving up', () => {
    test.each([
      ['sends rows', ENDLESS, 2],
      ['sends nothing', 'SELECT pg_sleep(60)', 1],
    ])('the signal ends a statement that %s', async (_, sql, columns) => {
      const abort = new AbortController();
      await within(
        async (session) => {
          const reading = faultOf(all(take(session.rows(sql, columns))));
          await until(async () => (await running(sql)) === 1, 5000);
          abort.abort();
          await until(async () => (await running(sql)) === 0, 1000);
          expect((await reading).code).toBe('run/cancelled');
          expect((await faultOf(session.query('SELECT 1 AS one'))).code).toBe('run/cancelled');
        },
        { signal: abort.signal },
      );
    });

    async function* take(batches: AsyncIterable<RowBatch>): AsyncGenerator<RowBatch> {
      for await (const batch of batches) {
        await sleep(5);
        yield { ...batch, rows: [] };
      }
    }

    test('a reader that leaves ends the statement, and the session goes on with the same state', async () => {
      await within(async (session) => {
        await admin.query("INSERT INTO student VALUES (5, 'New')");
        try {
          for (let i = 0; i < 20; i++) {
            for await (const { rows } of session.rows(ENDLESS, 2)) {
              expect(rows.length).toBeGreaterThan(0);
              break;
            }
            expect(await running(ENDLESS)).toBe(0);
            expect(await all(session.rows('SELECT count(*) FROM student', 1))).toEqual([['2']]);
          }
        } finally {
          await admin.query('DELETE FROM student WHERE id = 5');
        }
      });
    });

    test('closing ends what runs', async () => {
      const session = await open();
      const batches = session.rows(ENDLESS, 2)[Symbol.asyncIterator]();
      await batches.next();
      await session.close();
      await until(async () => (await running(ENDLESS)) === 0, 1000);
      await expect(batches.next()).rejects.toMatchObject({ code: 'database/query' });
    });

    test('a backend that is ended breaks the connection', async () => {
      await within(async (session) => {
        const [row] = await session.query('SELECT pg_backend_pid()::text AS pid');
        const reading = faultOf(all(take(session.rows(ENDLESS, 2))));
        await sleep(100);
        await admin.query('SELECT pg_terminate_backend($1)', [row?.pid]);
        expect((await reading).code).toBe('database/lost');
        expect((await faultOf(session.query('SELECT 1 AS one'))).code).toBe('database/lost');
      });
    });

    soakTest('a server that says nothing any more is left', async () => {
      const abort = new AbortController();
      const session = await open({ signal: abort.signal });
      const [row] = await session.query('SELECT pg_backend_pid()::text AS pid');
      const reading = faultOf(all(session.rows('SELECT pg_sleep(60)', 1)));
      await until(async () => (await running('pg_sleep(60)')) === 1, 5000);
      process.kill(Number(row?.pid), 'SIGSTOP');
      try {
        const begun = performance.now();
        abort.abort();
        expect((await reading).code).toBe('run/cancelled');
        await session.close();
        expect(performance.now() - begun).toBeLessThan(5000);
      } finally {
        process.kill(Number(row?.pid), 'SIGCONT');
      }
    });

    test('a connection that is silent for longer than socketTimeout is left', async () => {
      await within(
        async (session) => {
          expect(await faultOf(all(session.rows('SELECT pg_sleep(60)', 1)))).toMatchObject({
            code: 'database/lost',
            message: expect.stringContaining('socketTimeout'),
          });
        },
        {},
        urlOf('postgres?user=postgres&socketTimeout=1'),
      );
    });

    soakTest(
      'a server that is killed breaks the connection',
      async () => {
        const other = await start();
        const session = await open({}, urlOf('postgres?user=postgres', `127.0.0.1:${other.port}`));
        const reading = faultOf(all(take(session.rows(ENDLESS, 2))));
        await sleep(100);
        await other.stop();
        expect((await reading).code).toBe('database/lost');
        await session.close();
      },
      30_000,
    );
  });

  describe('queries of strangers', () => {
    const select = (sql: string, maxRows = 10): Promise<(readonly (string | null)[])[]> =>
      within(async (session) => all((await session.select(sql, maxRows)).batches));

    test.each([
      [
        'SELECT * FROM student ORDER BY id DESC',
        [
          ['2', 'Bob'],
          ['1', 'Ada'],
        ],
      ],
      ['SELECT 1;', [['1']]],
      ["SELECT ';--' ; -- done\n /* a /* nested */ ; */ ; ", [[';--']]],
      ["SELECT $a$;$$;$a$, E'\\';', ';' -- ;", [[';$$;', "';", ';']]],
      ['WITH a AS (SELECT 1 AS x) SELECT x, x FROM a', [['1', '1']]],
      ['VALUES (1), (NULL)', [['1'], [null]]],
      ['TABLE student ORDER BY id LIMIT 1', [['1', 'Ada']]],
      ['(SELECT 1) UNION ALL (SELECT 2)', [['1'], ['2']]],
      ["SELECT 'größer'", [['grÃ¶Ã\x9fer']]],
    ])('runs %j', async (sql, rows) => {
      expect(await select(sql)).toEqual(rows);
    });

    test('tells the columns', async () => {
      await within(async (session) => {
        const { columns, batches } = await session.select('SELECT id, name FROM student;', 10);
        expect(columns).toMatchObject([
          { name: 'id', type: 'integer' },
          { name: 'name', type: 'text' },
        ]);
        expect(await all(batches)).toHaveLength(2);
      });
    });

    test('gives one row more than wanted, and no more', async () => {
      expect(await select(ENDLESS, 5)).toHaveLength(6);
    });

    test.each([
      "commit; insert into student values (9, 'x')",
      'SELECT 1; DROP TABLE student',
      'SELECT 1; SELECT 2;',
      "COPY (SELECT 1) TO PROGRAM 'touch /tmp/quadmill-written'",
      "COPY student TO '/tmp/quadmill-written'",
      'COPY student TO STDOUT',
      "INSERT INTO student VALUES (9, 'x')",
      "INSERT INTO student VALUES (9, 'x') RETURNING id",
      "WITH w AS (INSERT INTO student VALUES (9, 'x') RETURNING id) SELECT * FROM w",
      'WITH w AS (DELETE FROM student RETURNING id) SELECT * FROM w',
      'SELECT * INTO other FROM student',
      'SELECT * FROM student FOR UPDATE',
      'SELECT * FROM student FOR SHARE',
      "SELECT nextval('numbers')",
      "SELECT set_config('transaction_read_only', 'off', false)",
      'SET TRANSACTION READ WRITE',
      'SHOW ALL',
      'EXPLAIN SELECT 1',
      'BEGIN',
      'COMMIT',
      'ROLLBACK TO SAVEPOINT quadmill',
      'DO $$ BEGIN END $$',
      'CALL pg_sleep(1)',
      'LOCK TABLE student',
      'DECLARE c CURSOR FOR SELECT 1',
      'SELECT 1) AS a, (SELECT 2',
      'SELECT 1) TO STDOUT; COMMIT; COPY (SELECT 2',
      'SELECT 1 /*',
      "SELECT '",
      '; SELECT 1',
      'SELECT $1',
      '',
      ';',
    ])('refuses %j', async (sql) => {
      const fault = await within(async (session) => {
        const refused = await faultOf((async () => all((await session.select(sql, 10)).batches))());
        expect(await session.query("SELECT 'on' AS goes, current_setting('transaction_read_only') AS readonly")).toEqual([
          { goes: 'on', readonly: 'on' },
        ]);
        return refused;
      });
      expect(fault.code).toBe('database/query');
      expect((await admin.query('SELECT count(*)::int AS n FROM student')).rows[0].n).toBe(2);
    });

    test('says where a query is wrong', async () => {
      expect(await faultOf(select('SELECT 1,\n nme FROM student;'))).toMatchObject({
        message: expect.stringContaining('line 2, column 2'),
      });
    });

    test('says what two statements are', async () => {
      expect((await faultOf(select('SELECT 1; SELECT 2'))).message).toBe('The text has more than one statement; expected is one query');
    });
  });

  const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl on the PATH';
  (noOpenssl === undefined ? fastDescribe : fastDescribe.skip)(`TLS${noOpenssl === undefined ? '' : ` (skipped: ${noOpenssl})`}`, () => {
    let certificate: string;

    beforeAll(async () => {
      const { data_directory: directory } = (await admin.query('SHOW data_directory')).rows[0];
      certificate = join(directory, 'server.crt');
      const subject = '-subj /CN=localhost -addext subjectAltName=DNS:localhost';
      await admin.query(
        `COPY (SELECT 1) TO PROGRAM 'umask 077; cat > /dev/null; openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout server.key -out server.crt ${subject} 2> /dev/null'`,
      );
      await admin.query('ALTER SYSTEM SET ssl = on');
      await admin.query('SELECT pg_reload_conf()');
      await sleep(300);
    });

    const TLS = 'SELECT ssl::text AS tls FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    const connect = (parameters: string, host = '127.0.0.1'): Promise<string | null | undefined> =>
      within(
        async (session) => (await session.query(TLS))[0]?.tls,
        {},
        urlOf(`postgres?user=postgres&${parameters}`, `${host}:${server.port}`),
      );

    test.each([
      ['disable', '127.0.0.1', 'false'],
      ['prefer', '127.0.0.1', 'true'],
      ['require', '127.0.0.1', 'true'],
      ['verify-ca', '127.0.0.1', 'true'],
      ['verify-full', 'localhost', 'true'],
    ])('%s', async (mode, host, tls) => {
      expect(await connect(`sslmode=${mode}&sslrootcert=${certificate}`, host)).toBe(tls);
    });

    test.each([
      ['verify-ca without its authority', 'sslmode=verify-ca', '127.0.0.1', /self[- ]signed/],
      ['verify-full with another name', 'sslmode=verify-full&sslrootcert=CERTIFICATE', '127.0.0.1', /127\.0\.0\.1.*cert|IP/],
      ['a file that is not there', 'sslmode=verify-ca&sslrootcert=/nowhere.pem', '127.0.0.1', /\/nowhere\.pem cannot be read/],
    ])('refuses %s', async (_, parameters, host, message) => {
      const fault = await faultOf(connect(parameters.replace('CERTIFICATE', certificate), host));
      expect(fault).toMatchObject({ code: 'database/unreachable', message: expect.stringMatching(message) });
    });

    test('cancels and reads over TLS', async () => {
      const url = urlOf('postgres?user=postgres&sslmode=require');
      await within(
        async (session) => {
          for await (const _ of session.rows(ENDLESS, 2)) break;
          expect(await running(ENDLESS)).toBe(0);
          expect(await all(session.rows('SELECT 1', 1))).toEqual([['1']]);
        },
        {},
        url,
      );
    });
  });
});
