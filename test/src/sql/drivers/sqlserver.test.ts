/**
 * Sessions of SQL Server over its protocol: the driver connects, streams, cancels and fails against a server of the tests (`tds.ts`). What a SQL Server
 * itself answers to the statements is not tested here.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault, Fault } from '../../../../src/core/fault.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { executeRun } from '../../../../src/run/run.ts';
import type { Column, SessionOptions, SqlSession } from '../../../../src/sql/database.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { loadDriver } from '../../../../src/sql/drivers/sqlserver/connect.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import { startSqlServer, type TestDatabase } from '../../../servers/databases/sqlserver.ts';
import type { TdsServer } from '../../../servers/databases/tds.ts';

const started: TdsServer[] = [];
const sessions: SqlSession[] = [];

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

const urlOf = ({ port }: TdsServer, more = ''): string => `jdbc:sqlserver://127.0.0.1:${port};databaseName=sales;encrypt=false${more}`;

async function start(database: TestDatabase): Promise<TdsServer> {
  const server = await startSqlServer(database);
  started.push(server);
  return server;
}

async function open(
  database: TestDatabase,
  options: Partial<SessionOptions> = {},
  more = '',
): Promise<{ readonly session: SqlSession; readonly server: TdsServer }> {
  const server = await start(database);
  const address = parseJdbcUrl({ url: urlOf(server, more), user: 'ann', password: new Secret('s3cret') });
  const session = await openSession(address, { ...RUN_DEFAULTS.sql, ...options });
  sessions.push(session);
  return { session, server };
}

const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Fault) return error;
  throw new Error(`no fault but ${String(error)}`);
};

async function read(session: SqlSession, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const columns = await session.describe(sql);
  const found: (string | null)[][] = [];
  for await (const { rows } of session.rows(sql, columns.length))
    for (const row of rows) found.push(row.map((text, i) => (text === null ? null : fromBytes(columns[i]?.canonical?.(text) ?? text))));
  return found;
}

const query = (type: string, ...values: readonly (string | number | Buffer | null)[]): TestDatabase['queries'] => [
  { sql: 'SELECT x FROM t', columns: [['x', type]], rows: values.map((value) => [value]) },
];

describe('a session', () => {
  test('logs in, fixes its settings, and sees one state of the data', async () => {
    const { session, server } = await open({}, {}, ';applicationName=nightly');
    expect(session.product).toBe('sqlserver');
    expect(session.version).toBe('16.0.4135.4');
    expect(session.warning).toBeUndefined();
    expect(server.login()).toEqual({ user: 'ann', database: 'sales', application: 'nightly' });
    expect(server.batches[0]).toContain('SET LOCK_TIMEOUT ');
    expect(server.batches.at(-1)).toBe('SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION;');
  });

  test('says that a database without snapshots may change between two queries', async () => {
    const { session, server } = await open({ snapshots: false });
    expect(session.warning).toContain('does not allow snapshots');
    expect(server.batches.at(-1)).toContain('READ COMMITTED');
  });

  test.each([
    ['int', [2147483647, -1, null], 'nvarchar(20)', ['2147483647', '-1', null], 'integer'],
    ['tinyint', ['255'], 'nvarchar(20)', ['255'], 'integer'],
    ['bigint', ['-9223372036854775808'], 'nvarchar(20)', ['-9223372036854775808'], 'integer'],
    ['bit', ['1', '0'], 'nvarchar(20)', ['true', 'false'], 'boolean'],
    [
      'decimal(38,10)',
      ['1234567890123456789012345678.1234567890', '-0.5000000000'],
      'nvarchar(41)',
      ['1234567890123456789012345678.123456789', '-0.5'],
      'decimal',
    ],
    ['money', ['12345000', '-1'], 'money', ['1234.5', '-0.0001'], 'decimal'],
    ['float', [0.1, 1e300, -655.56], 'float', ['1.0E-1', '1.0E300', '-6.5556E2'], 'double'],
    ['real', [0.1, 16777216], 'real', ['1.0E-1', '1.6777216E7'], 'double'],
    ['date', ['2024-05-31', '0001-01-01'], 'nvarchar(34)', ['2024-05-31', '0001-01-01'], 'date'],
    ['time(7)', ['12:30:00.5000000', '23:59:59.0000000'], 'nvarchar(34)', ['12:30:00.5', '23:59:59'], 'time'],
    [
      'datetime',
      ['2024-05-31T12:30:00.007Z', '1753-01-01T00:00:00Z'],
      'datetime',
      ['2024-05-31T12:30:00.007', '1753-01-01T00:00:00'],
      'dateTime',
    ],
    ['datetime2(7)', ['2024-05-31 12:30:00.1234567'], 'nvarchar(34)', ['2024-05-31T12:30:00.1234567'], 'dateTime'],
    [
      'datetimeoffset(3)',
      ['2024-05-31 12:30:00.500 +02:00', '2024-05-31 12:30:00.000 +00:00'],
      'nvarchar(34)',
      ['2024-05-31T12:30:00.5+02:00', '2024-05-31T12:30:00Z'],
      'dateTime',
    ],
    ['nvarchar(50)', ['Zoë 😀', ''], 'nvarchar(50)', ['Zoë 😀', ''], undefined],
    ['varchar(8000)', ['long'], 'nvarchar(max)', ['long'], undefined],
    ['char(5)', ['ab   '], 'nvarchar(5)', ['ab   '], undefined],
    ['text', ['much'], 'nvarchar(max)', ['much'], undefined],
    ['xml', ['<a/>'], 'xml', ['<a/>'], undefined],
    ['uniqueidentifier', ['6F9619FF-8B86-D011-B42D-00C04FC964FF'], 'nvarchar(36)', ['6F9619FF-8B86-D011-B42D-00C04FC964FF'], undefined],
    ['varbinary(8)', [Buffer.from('00ff', 'hex'), null], 'varbinary(8)', ['00FF', null], 'hexBinary'],
    ['timestamp', [Buffer.from('00000000000007D1', 'hex')], 'binary(8)', ['00000000000007D1'], 'hexBinary'],
  ] as const)('reads %s', async (type, values, sent, texts, datatype) => {
    const { session, server } = await open({ queries: query(type, ...values) });
    const [column] = await session.describe('SELECT x FROM t');
    expect(column?.datatype).toBe(datatype === undefined ? undefined : `http://www.w3.org/2001/XMLSchema#${datatype}`);
    expect(await read(session, 'SELECT x FROM t')).toEqual(texts.map((text) => [text]));
    expect(server.batches.at(-1)).toBe(`EXEC (N'SELECT x FROM t') WITH RESULT SETS ((c1 ${sent} NULL))`);
  });

  test.each([
    ['money', '9223372036854775807', 'Write CAST(… AS decimal(19, 4))'],
    ['geography', Buffer.from('e6'), 'Write x.ToString() in a query'],
    ['sql_variant', 7, 'Write CAST(x AS nvarchar(4000))'],
  ] as const)('a value of %s that the driver cannot give says what to write', async (type, value, hint) => {
    const [column] = (await (await open({ queries: query(type, 1) })).session.describe('SELECT x FROM t')) as readonly [Column];
    expect(column.partial).toBe(true);
    expect(() => column.canonical?.(String(type === 'money' ? Number(value) / 10000 : value))).toThrow(
      expect.objectContaining({ code: 'record/term', hint: expect.stringContaining(hint) }),
    );
  });

  const ROWS = 4000;
  const wide = 'x'.repeat(4000);

  test('waits for a slow reader: the server is stopped', async () => {
    const rows = function* (): Generator<readonly string[]> {
      for (let i = 0; i < ROWS; i++) yield [wide];
    };
    const { session, server } = await open({ queries: [{ sql: 'SELECT x FROM t', columns: [['x', 'nvarchar(4000)']], rows: rows() }] });
    const batches = session.rows('SELECT x FROM t', 1)[Symbol.asyncIterator]();
    let read = (await batches.next()).value?.rows.length as number;
    await new Promise((resolve) => setTimeout(resolve, 300));
    const sent = server.sentRows();
    // 32 MB are to come; what is under way is what buffers of the sockets hold.
    expect(sent).toBeLessThan(ROWS - 1000);
    for (let next = await batches.next(); !next.done; next = await batches.next()) read += next.value.rows.length;
    expect(read).toBe(ROWS);
  });

  test('a reader that has enough cancels the query, and the session goes on', async () => {
    const rows = function* (): Generator<readonly string[]> {
      for (let i = 0; i < ROWS; i++) yield [wide];
    };
    const { session, server } = await open({
      queries: [
        { sql: 'SELECT x FROM t', columns: [['x', 'nvarchar(4000)']], rows: rows() },
        { sql: 'SELECT 1 AS y', columns: [['y', 'int']], rows: [['1']] },
      ],
    });
    for await (const batch of session.rows('SELECT x FROM t', 1)) {
      expect(batch.rows[0]).toEqual([wide]);
      break;
    }
    expect(server.cancels()).toBe(1);
    expect(server.sentRows()).toBeLessThan(ROWS);
    expect(await read(session, 'SELECT 1 AS y')).toEqual([['1']]);
  });

  const hanging: TestDatabase = {
    queries: [
      { sql: 'SELECT x FROM t', columns: [['x', 'int']], rows: [], answers: 'hang' },
      { sql: 'SELECT 1 AS y', columns: [['y', 'int']], rows: [['1']] },
    ],
  };

  test('a statement over its limit is cancelled on the server', async () => {
    const { session, server } = await open(hanging, { statementSeconds: 0.2 });
    const fault = await faultOf(read(session, 'SELECT x FROM t'));
    expect(fault.code).toBe('database/time-limit');
    expect(fault.message).toContain('0.2 s');
    expect(server.cancels()).toBe(1);
    expect(await read(session, 'SELECT 1 AS y')).toEqual([['1']]);
  });

  test('a signal cancels the statement on the server', async () => {
    const controller = new AbortController();
    const { session, server } = await open(hanging, { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    expect((await faultOf(read(session, 'SELECT x FROM t'))).code).toBe('run/cancelled');
    expect(server.cancels()).toBe(1);
  });

  test.each([
    [
      { error: { number: 1205, message: 'Transaction (Process ID 52) was deadlocked on lock resources.' } },
      'database/busy',
      'to resolve a deadlock',
    ],
    [{ error: { number: 1222, message: 'Lock request time out period exceeded.' } }, 'database/busy', 'A lock was waited for'],
    [
      { error: { number: 8134, message: 'Divide by zero error encountered.', line: 3 } },
      'database/query',
      'Divide by zero error encountered, at line 3 of the query',
    ],
    [
      { error: { number: 3952, message: "Snapshot isolation transaction failed accessing database 'b'." } },
      'database/query',
      'ALLOW_SNAPSHOT_ISOLATION',
    ],
    ['break', 'database/lost', 'The connection to the database broke'],
  ] as const)('%j is %s', async (answers, code, words) => {
    const { session } = await open({ queries: [{ sql: 'SELECT x FROM t', columns: [['x', 'int']], rows: [], answers }] });
    const fault = await faultOf(read(session, 'SELECT x FROM t'));
    expect(fault.code).toBe(code);
    expect(describeFault(fault)).toContain(words);
  });

  test.each([
    [[{ number: 18456, message: "Login failed for user 'ann'." }], 'database/credentials', 'Invalid Database Credentials'],
    [
      [
        { number: 4060, message: 'Cannot open database "sales" requested by the login. The login failed.' },
        { number: 18456, message: "Login failed for user 'ann'." },
      ],
      'database/missing',
      'no database sales',
    ],
    [
      [{ number: 40613, message: "Database 'sales' on server 'x' is not currently available." }],
      'database/busy',
      'not currently available',
    ],
  ] as const)('a login that is refused: %j', async (refuses, code, words) => {
    const fault = await faultOf(open({ refuses }));
    expect(fault.code).toBe(code);
    expect(describeFault(fault)).toContain(words);
    expect(describeFault(fault)).not.toContain('s3cret');
  });

  test('a host where nothing listens, and a server that wants TLS', async () => {
    const { port } = await start({});
    await started.splice(0)[0]?.stop();
    const address = parseJdbcUrl({ url: `jdbc:sqlserver://127.0.0.1:${port};encrypt=false`, user: 'a', password: new Secret('b') });
    const refused = await faultOf(openSession(address, RUN_DEFAULTS.sql));
    expect(refused.code).toBe('database/unreachable');
    expect(refused.message).toContain(`127.0.0.1:${port}: connection refused`);
    const tls = await faultOf(open({ encryption: 3 }));
    expect(tls.code).toBe('database/unreachable');
    expect(tls.message).toContain('write encrypt=true');
  });
});

describe('what is a query', () => {
  const columns = [['a', 'int']] as const;

  test.each([
    ['SELECT a FROM t', 'SELECT * FROM (SELECT a FROM t\n) AS q (c1)'],
    ['SELECT a FROM t ORDER BY a', 'SELECT * FROM (SELECT a FROM t ORDER BY a\nOFFSET 0 ROWS\n) AS q (c1)'],
    ['SELECT TOP 3 a FROM t ORDER BY a', 'SELECT * FROM (SELECT TOP 3 a FROM t ORDER BY a\n) AS q (c1)'],
    [
      'WITH w (x) AS (SELECT 1), v AS (SELECT 2 AS y) SELECT x FROM w',
      'WITH w (x) AS (SELECT 1), v AS (SELECT 2 AS y) SELECT * FROM (SELECT x FROM w\n) AS q (c1)',
    ],
    ['SELECT a FROM t OPTION (MAXDOP 1)', 'SELECT * FROM (SELECT a FROM t \n) AS q (c1)'],
    ['SELECT \')\', [b]]) DROP], "c" FROM t -- ;', 'SELECT * FROM (SELECT \')\', [b]]) DROP], "c" FROM t\n) AS q (c1)'],
    ['SELECT a /* one /* two */ three */ FROM t;', 'SELECT * FROM (SELECT a /* one /* two */ three */ FROM t\n) AS q (c1)'],
  ])('%j is asked for in parentheses, without being run', async (sql, enclosed) => {
    const text = sql.replace(/;$| -- ;$/, '');
    const asked: string[] = [];
    const { session, server } = await open({
      answer(batch) {
        const literal = /describe_first_result_set\(N'((?:[^']|'')*)'/.exec(batch)?.[1];
        if (literal === undefined) return batch.includes('Version') ? { columns: [], rows: [] } : 'done';
        asked.push(literal.replaceAll("''", "'"));
        return {
          columns: ['name', 'system_type_name', 'user_type_schema', 'user_type_name', 'hidden', 'error_number', 'error_message'].map(
            (name) => ({ name, type: 'nvarchar(99)' }),
          ),
          rows: columns.map(([name, type]) => [name, type, null, null, '0', null, null]),
        };
      },
    });
    await session.describe(sql);
    expect(asked).toEqual([text, enclosed]);
    expect(server.batches.filter((batch) => batch.startsWith('EXEC'))).toEqual([]);
  });

  test.each([
    'SELECT 1) AS q; DROP TABLE t; SELECT * FROM (SELECT 1',
    'SELECT (1',
    "SELECT 'a",
    'SELECT [a',
    'SELECT 1 /* /* */',
    'SELECT 1; DELETE FROM t',
    'WITH w AS (SELECT 1 AS a) DELETE FROM w',
    'WITH w AS (SELECT 1 AS a) INSERT INTO t SELECT a FROM w',
  ])('%j never reaches the server', async (sql) => {
    const { session, server } = await open({});
    const before = server.batches.length;
    expect((await faultOf(session.describe(sql))).code).toBe('database/query');
    expect((await faultOf(session.select(sql, 10))).code).toBe('database/query');
    expect(server.batches.length).toBe(before);
  });

  test('what the server takes alone but not in parentheses is refused', async () => {
    const sql = 'SELECT a INTO u FROM t';
    const { session } = await open({
      queries: [
        { sql, columns: [['a', 'int']], rows: [] },
        { sql: 'EXEC p', columns: [], rows: [] },
      ],
    });
    // The server of the tests finds the columns of the text alone.
    const fault = await faultOf(session.describe('SELECT a INTO u FROM t DELETE t'));
    expect(fault.code).toBe('database/query');
    expect(fault.message).toContain("Invalid object name 'unknown'");
    expect((await faultOf(session.describe('EXEC p'))).message).toContain('it gives no columns');
  });

  test('a query of a stranger gives so many rows and no more', async () => {
    const { session, server } = await open({ queries: query('int', ...Array.from({ length: 5000 }, (_, i) => String(i))) });
    const { columns, batches } = await session.select('SELECT x FROM t', 3);
    expect(columns.map(({ name, type }) => [name, type])).toEqual([['x', 'int']]);
    const rows = [];
    for await (const batch of batches) rows.push(...batch.rows);
    expect(rows).toEqual([['0'], ['1'], ['2'], ['3']]);
    expect(server.batches.at(-1)).toContain('WITH RESULT SETS');
  });
});

describe('a run', () => {
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-sqlserver-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const database: TestDatabase = {
    tables: [
      { name: 'Person', columns: [{ name: 'id' }, { name: 'name', nullable: true }, { name: 'dept' }], primaryKey: ['id'] },
      { name: 'Dept', columns: [{ name: 'id' }, { name: 'title' }], primaryKey: ['id'] },
    ],
    queries: [
      {
        sql: 'SELECT * FROM "dbo"."Person"',
        columns: [
          ['id', 'int'],
          ['name', 'nvarchar(20)'],
          ['dept', 'int'],
        ],
        rows: [],
      },
      {
        sql: 'SELECT * FROM "dbo"."Dept"',
        columns: [
          ['id', 'int'],
          ['title', 'varchar(20)'],
        ],
        rows: [],
      },
      {
        sql: 'SELECT "id", "name" FROM "dbo"."Person"',
        columns: [
          ['id', 'int'],
          ['name', 'nvarchar(20)'],
        ],
        rows: [
          ['7', 'Zoë'],
          ['8', null],
        ],
      },
      { sql: 'SELECT "title" FROM "dbo"."Dept"', columns: [['title', 'varchar(20)']], rows: [] },
      {
        sql: 'SELECT c.c_0, p.p_0 FROM (SELECT "id" AS c_0, "dept" AS c_k0 FROM "dbo"."Person") AS c JOIN (SELECT "title" AS p_0, "id" AS p_k0 FROM "dbo"."Dept") AS p ON c.c_k0 = p.p_k0',
        columns: [
          ['c_0', 'int'],
          ['p_0', 'varchar(20)'],
        ],
        rows: [['7', 'Sales']],
      },
    ],
  };
  const mapping = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
<#Dept> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "Dept" ] ; rr:subjectMap [ rr:template "http://example.com/dept/{title}" ] .
<#Person> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "person" ; rr:sqlVersion rr:MSSQLServer ] ; rr:subjectMap [ rr:template "http://example.com/{ID}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:id ; rr:objectMap [ rr:column "id" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:dept ; rr:objectMap [ rr:parentTriplesMap <#Dept> ; rr:joinCondition [ rr:child "dept" ; rr:parent "id" ] ] ] .`;

  test('gives statements of tables and of a join that the server makes', async () => {
    const server = await start({ ...database, snapshots: false });
    const file = join(directory, 'mapping.ttl');
    writeFileSync(file, mapping);
    let lines = '';
    const sink = { write: (text: string) => void (lines += text), commit: async () => [], abort: async () => undefined };
    const report = await executeRun(
      {
        ...RUN_DEFAULTS,
        runId: 'sqlserver',
        mappings: [file],
        inputs: [],
        workingDirectory: directory,
        spillDirectory: join(directory, 'spill'),
        onError: 'strict',
        database: { jdbcUrl: urlOf(server), user: 'ann', password: new Secret('s3cret') },
      },
      sink,
      {},
    );
    expect(fromBytes(lines).trim().split('\n').sort()).toEqual([
      '<http://example.com/7> <http://example.com/dept> <http://example.com/dept/Sales> .',
      '<http://example.com/7> <http://example.com/id> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .',
      '<http://example.com/7> <http://example.com/name> "Zoë" .',
      '<http://example.com/8> <http://example.com/id> "8"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    ]);
    expect(report.warnings.join()).toContain('does not allow snapshots');
  });
});

test('without the driver, the fault says what to install', async () => {
  const missing = (): Promise<never> =>
    Promise.reject(Object.assign(new Error("Cannot find package 'tedious'"), { code: 'ERR_MODULE_NOT_FOUND' }));
  const fault = await faultOf(loadDriver(missing));
  expect([fault.code, fault.hint]).toEqual(['database/driver', 'Run npm install tedious beside Quadmill']);
});
