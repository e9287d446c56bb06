/**
 * Sessions of Oracle behind the interface of its driver. The driver here is a stand-in of the test: neither the real one nor a server takes part. What is
 * tested is which statements are made, which values come of what the driver gives, and what becomes of its errors.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { describeFault, Fault } from '../../../../src/core/fault.ts';
import { Secret } from '../../../../src/core/secret.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import type { SessionOptions, SqlSession } from '../../../../src/sql/database.ts';
import {
  type Driver,
  type DriverColumn,
  type DriverValue,
  type FetchOptions,
  loadDriver,
} from '../../../../src/sql/drivers/oracle/driver.ts';
import { connectString, openWith } from '../../../../src/sql/drivers/oracle/oracle.ts';
import { outlineOf } from '../../../../src/sql/drivers/oracle/text.ts';
import { columnOf } from '../../../../src/sql/drivers/oracle/types.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';

interface Answer {
  readonly columns?: readonly DriverColumn[];
  readonly rows?: readonly (readonly DriverValue[])[];
  readonly error?: unknown;
  /** It ends when it is broken off. */
  readonly hangs?: true;
}

interface StandIn {
  readonly driver: Driver;
  readonly statements: string[];
  readonly asked: Record<string, unknown>[];
  readonly fetched: FetchOptions[];
  breaks: number;
  closed: boolean;
}

/** @param answers by the statement, as the server is asked for it */
function standIn(answers: Readonly<Record<string, Answer>>, login?: Error): StandIn {
  const asked: Record<string, unknown>[] = [];
  const state: StandIn = { driver: undefined as never, statements: [], asked, fetched: [], breaks: 0, closed: false };
  let stop = (): void => {};
  const hang = (): Promise<never> =>
    new Promise((_, reject) => {
      stop = () => reject(error('ORA-01013', 'user requested cancel of current operation'));
    });
  const answerTo = (sql: string): Answer => {
    const answer = answers[sql];
    if (answer === undefined) throw error('ORA-00942', 'table or view does not exist', 14);
    return answer;
  };
  const driver: Driver = {
    STRING: 'STRING',
    BUFFER: 'BUFFER',
    OUT_FORMAT_ARRAY: 4001,
    STMT_TYPE_SELECT: 1,
    async getConnection(options) {
      asked.push({ ...options });
      if (login !== undefined) throw login;
      return {
        oracleServerVersionString: '23.5.0.24.7',
        async getStatementInfo(sql) {
          return {
            statementType: 1,
            metaData: answerTo(sql).columns ?? [],
            bindNames: [...sql.matchAll(/:(\w+)/g)].map(([, name]) => name as string),
          };
        },
        async execute(sql, _, options) {
          state.statements.push(sql);
          state.fetched.push(options);
          if (/^(?:ALTER SESSION|SET TRANSACTION)/.test(sql)) return {};
          const { rows = [], error: refusal, hangs } = answerTo(sql);
          if (hangs) await hang();
          if (refusal !== undefined) throw refusal;
          const left = rows.map((row) => [...row]);
          return { resultSet: { getRows: async (count) => left.splice(0, count), close: async () => {} } };
        },
        async break() {
          state.breaks++;
          stop();
        },
        rollback: async () => {},
        async close() {
          state.closed = true;
        },
      };
    },
  };
  return Object.assign(state, { driver });
}

const error = (code: string, message: string, offset?: number): Error =>
  Object.assign(new Error(`${code}: ${message}`), { code, ...(offset === undefined ? {} : { offset }) });

const ADDRESS = parseJdbcUrl({ url: 'jdbc:oracle:thin:@//h:1521/sales', user: 'ann', password: new Secret('s3cret') });
const open = (stand: StandIn, options: Partial<SessionOptions> = {}): Promise<SqlSession> =>
  openWith(stand.driver, ADDRESS, { ...RUN_DEFAULTS.sql, ...options });

const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof Fault) return thrown;
  throw new Error(`no fault but ${String(thrown)}`);
};

async function read(session: SqlSession, sql: string): Promise<readonly (readonly (string | null)[])[]> {
  const columns = await session.describe(sql);
  const found: (string | null)[][] = [];
  for await (const { rows } of session.rows(sql, columns.length))
    for (const row of rows) found.push(row.map((text, i) => (text === null ? null : fromBytes(columns[i]?.canonical?.(text) ?? text))));
  return found;
}

test('a session has one state of the data, read-only, and texts that do not depend on the server', async () => {
  const stand = standIn({});
  const session = await open(stand);
  expect(session.version).toBe('23.5.0.24.7');
  expect(stand.asked[0]).toMatchObject({
    user: 'ann',
    password: 's3cret',
    connectString: '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=sales)))',
  });
  expect(stand.statements[0]).toContain("NLS_SORT = BINARY NLS_NUMERIC_CHARACTERS = '.,'");
  expect(stand.statements[0]).toContain("TIME_ZONE = '+00:00'");
  expect(stand.statements[1]).toBe('SET TRANSACTION READ ONLY');
  await session.close();
  expect(stand.closed).toBe(true);
});

test.each([
  ['jdbc:oracle:thin:@h:1600:XE', '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1600))(CONNECT_DATA=(SID=XE)))'],
  [
    'jdbc:oracle:thin:@tcps://h:2484/s?retry_count=2',
    '(DESCRIPTION=(RETRY_COUNT=2)(ADDRESS=(PROTOCOL=TCPS)(HOST=h)(PORT=2484))(CONNECT_DATA=(SERVICE_NAME=s)))',
  ],
  [
    'jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h)))',
    '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=)))',
  ],
  [
    'jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h))(CONNECT_DATA=(SID=XE)(SERVER=POOLED)(INSTANCE_NAME=i1)))',
    '(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))(CONNECT_DATA=(SID=XE)(SERVER=pooled)(INSTANCE_NAME=i1)))',
  ],
])('%s connects to %s', (url, expected) => {
  const address = parseJdbcUrl({ url });
  expect(connectString(address, address.server as { host: string; port: number })).toBe(expected);
});

const DAY = 'SYYYY-MM-DD"T"HH24:MI:SS';

describe('types', () => {
  test.each([
    [
      { dbTypeName: 'NUMBER', precision: 38, scale: 0 },
      'q',
      ['12345678901234567890123456789012345678'],
      ['12345678901234567890123456789012345678'],
      'integer',
    ],
    [
      { dbTypeName: 'NUMBER', precision: 10, scale: 2 },
      'q',
      ['-.50', '3.00', '1.5E+3', '25E-4', null],
      ['-0.5', '3', '1500', '0.0025', null],
      'decimal',
    ],
    [{ dbTypeName: 'NUMBER', precision: 0, scale: -127 }, 'q', ['1E+40', '-12.30'], [`1${'0'.repeat(40)}`, '-12.3'], 'decimal'],
    [{ dbTypeName: 'BINARY_FLOAT' }, 'q', [Math.fround(0.1), 2 ** 24], ['1.0E-1', '1.6777216E7'], 'double'],
    [{ dbTypeName: 'BINARY_DOUBLE' }, 'q', [0.1, Number.POSITIVE_INFINITY, Number.NaN], ['1.0E-1', 'INF', 'NaN'], 'double'],
    [{ dbTypeName: 'BOOLEAN' }, 'q', [true, false], ['true', 'false'], 'boolean'],
    [{ dbTypeName: 'DATE' }, `TO_CHAR(q."X", '${DAY}')`, [' 2024-05-31T12:30:00'], ['2024-05-31T12:30:00'], 'dateTime'],
    [
      { dbTypeName: 'TIMESTAMP' },
      `TO_CHAR(q."X", '${DAY}.FF9')`,
      [' 2024-05-31T12:30:00.123456789', ' 2024-05-31T00:00:00.000000000'],
      ['2024-05-31T12:30:00.123456789', '2024-05-31T00:00:00'],
      'dateTime',
    ],
    [
      { dbTypeName: 'TIMESTAMP WITH TIME ZONE' },
      `TO_CHAR(q."X", '${DAY}.FF9TZH:TZM')`,
      [' 2024-05-31T12:30:00.500000000+02:00', ' 2024-05-31T12:30:00.000000000+00:00'],
      ['2024-05-31T12:30:00.5+02:00', '2024-05-31T12:30:00Z'],
      'dateTime',
    ],
    [
      { dbTypeName: 'TIMESTAMP WITH LOCAL TIME ZONE' },
      `TO_CHAR(q."X", '${DAY}.FF9')`,
      [' 2024-05-31T10:30:00.000000000'],
      ['2024-05-31T10:30:00Z'],
      'dateTime',
    ],
    [
      { dbTypeName: 'INTERVAL DAY TO SECOND' },
      'TO_CHAR(q."X")',
      ['+02 10:00:05.500000', '-00 00:00:01.000000', '+00 00:00:00.000000'],
      ['P2DT10H5.5S', '-PT1S', 'PT0S'],
      'duration',
    ],
    [{ dbTypeName: 'INTERVAL YEAR TO MONTH' }, 'TO_CHAR(q."X")', ['+01-06', '-00-03', '+00-00'], ['P1Y6M', '-P3M', 'P0M'], 'duration'],
    [{ dbTypeName: 'CHAR', byteSize: 5 }, 'q', ['ab   '], ['ab   '], undefined],
    [{ dbTypeName: 'VARCHAR2', byteSize: 50 }, 'q', ['Zoë 😀', null], ['Zoë 😀', null], undefined],
    [{ dbTypeName: 'CLOB' }, 'q', ['much'], ['much'], undefined],
    [{ dbTypeName: 'XMLTYPE' }, 'XMLSERIALIZE(CONTENT q."X" AS CLOB)', ['<a/>'], ['<a/>'], undefined],
    [{ dbTypeName: 'JSON' }, 'JSON_SERIALIZE(q."X" RETURNING CLOB)', ['{"a":1}'], ['{"a":1}'], undefined],
    [{ dbTypeName: 'RAW' }, 'q', [Buffer.from('00ff', 'hex')], ['00FF'], 'hexBinary'],
    [{ dbTypeName: 'BLOB' }, 'q', [Buffer.from('ab')], ['6162'], 'hexBinary'],
    [{ dbTypeName: 'ROWID' }, 'q', ['AAAR3sAAEAAAACXAAA'], ['AAAR3sAAEAAAACXAAA'], undefined],
  ] as const)('%j', async (type, shown, values, texts, datatype) => {
    const column: DriverColumn = { name: 'X', ...type };
    const sql = shown === 'q' ? 'SELECT X FROM T' : `SELECT ${shown} FROM (SELECT X FROM T\n) q`;
    const stand = standIn({
      'SELECT X FROM T': { columns: [column], rows: [] },
      [sql]: { columns: [column], rows: values.map((value) => [value]) },
    });
    const session = await open(stand);
    expect((await session.describe('SELECT X FROM T'))[0]?.datatype).toBe(
      datatype === undefined ? undefined : `http://www.w3.org/2001/XMLSchema#${datatype}`,
    );
    expect(await read(session, 'SELECT X FROM T')).toEqual(texts.map((text) => [text]));
    expect(stand.statements.at(-1)).toBe(sql);
    await session.close();
  });

  test.each([
    ['DATE', '-4712-01-01T00:00:00', 'is no date of our era'],
    ['VECTOR', 'a VECTOR', 'cannot be read as text'],
  ])('a value of %s that has no text rejects its record', (dbTypeName, text, words) => {
    const column = columnOf({ name: 'X', dbTypeName });
    expect(column.partial).toBe(true);
    expect(() => column.canonical?.(text)).toThrow(words);
  });

  test('numbers and LOBs are fetched as texts, and few rows with LOBs at once', async () => {
    const columns = [
      { name: 'N', dbTypeName: 'NUMBER', precision: 9, scale: 2 },
      { name: 'C', dbTypeName: 'CLOB' },
    ];
    const stand = standIn({ 'SELECT N, C FROM T': { columns, rows: [] } });
    const session = await open(stand);
    expect(await read(session, 'SELECT N, C FROM T')).toEqual([]);
    const options = stand.fetched.at(-1) as FetchOptions;
    expect([options.fetchArraySize, columns.map((column) => options.fetchTypeHandler?.(column))]).toEqual([
      4,
      [{ type: 'STRING' }, { type: 'STRING' }],
    ]);
    await session.close();
  });

  test('a query with two columns of one name gets names of ours', async () => {
    const columns = [
      { name: 'D', dbTypeName: 'DATE' },
      { name: 'D', dbTypeName: 'NUMBER' },
    ];
    const sql = `WITH q (C1, C2) AS (SELECT D, D FROM T\n) SELECT TO_CHAR(q.C1, '${DAY}'), q.C2 FROM q`;
    const session = await open(standIn({ 'SELECT D, D FROM T': { columns }, [sql]: { rows: [[' 2024-01-01T00:00:00', '1']] } }));
    expect(await read(session, 'SELECT D, D FROM T')).toEqual([['2024-01-01T00:00:00', '1']]);
    await session.close();
  });
});

const X = [{ name: 'X', dbTypeName: 'VARCHAR2', byteSize: 9 }];

test('many rows come in batches', async () => {
  const rows = Array.from({ length: 1201 }, (_, i) => [String(i)]);
  const session = await open(standIn({ 'SELECT X FROM T': { columns: X, rows } }));
  const sizes: number[] = [];
  for await (const batch of session.rows('SELECT X FROM T', 1)) sizes.push(batch.rows.length);
  expect(sizes).toEqual([500, 500, 201]);
  const { batches } = await session.select('SELECT X FROM T;', 2);
  const first: unknown[] = [];
  for await (const batch of batches) first.push(...batch.rows);
  expect(first).toEqual([['0'], ['1'], ['2']]);
  await session.close();
});

test('a statement over its limit is broken off, and so is one whose run is cancelled', async () => {
  const answers = { 'SELECT X FROM T': { columns: X, hangs: true } } as const;
  const slow = standIn(answers);
  const session = await open(slow, { statementSeconds: 0.1 });
  const late = await faultOf(read(session, 'SELECT X FROM T'));
  expect([late.code, slow.breaks]).toEqual(['database/time-limit', 1]);
  await session.close();
  const controller = new AbortController();
  const stand = standIn(answers);
  const other = await open(stand, { signal: controller.signal });
  const reading = faultOf(read(other, 'SELECT X FROM T'));
  await sleep(50);
  controller.abort();
  expect([(await reading).code, stand.breaks]).toEqual(['run/cancelled', 1]);
  await other.close();
});

test.each([
  [error('ORA-01017', 'invalid username/password; logon denied'), 'database/credentials', 'Invalid Database Credentials'],
  [error('ORA-28000', 'The account is locked.'), 'database/credentials', 'Invalid Database Credentials'],
  [
    error('NJS-518', 'cannot connect to Oracle Database. Service "sales" is not registered with the listener'),
    'database/missing',
    'no service or database sales',
  ],
  [error('ORA-12516', 'TNS:listener could not find available handler'), 'database/busy', 'The server has no place'],
  [
    Object.assign(error('NJS-511', 'connection refused'), { cause: { code: 'ECONNREFUSED' } }),
    'database/unreachable',
    'h:1521: connection refused',
  ],
] as const)('a login that is refused: %s', async (refusal, code, words) => {
  const fault = await faultOf(open(standIn({}, refusal)));
  expect(fault.code).toBe(code);
  expect(describeFault(fault)).toContain(words);
  expect(describeFault(fault)).not.toContain('s3cret');
});

test.each([
  [error('ORA-00060', 'deadlock detected while waiting for resource'), 'database/busy', 'to resolve a deadlock'],
  [error('ORA-01555', 'snapshot too old: rollback segment number 9'), 'database/busy', 'undo retention'],
  [error('ORA-03113', 'end-of-file on communication channel'), 'database/lost', 'The connection to the database broke'],
  [error('NJS-500', 'connection to the Oracle Database was broken'), 'database/lost', 'broke'],
  [error('ORA-01722', 'invalid number', 7), 'database/query', 'ORA-01722: invalid number, at line 1, column 8 of the query'],
] as const)('%s while rows are read', async (refusal, code, words) => {
  const session = await open(standIn({ 'SELECT X FROM T': { columns: X, error: refusal } }));
  const fault = await faultOf(read(session, 'SELECT X FROM T'));
  expect(fault.code).toBe(code);
  expect(describeFault(fault)).toContain(words);
  await session.close();
});

test.each([
  'DROP TABLE T',
  'BEGIN NULL; END;',
  'SELECT 1 FROM DUAL; DROP TABLE T',
  'WITH FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END; SELECT f FROM DUAL',
  '',
])('%j never reaches the server', async (sql) => {
  const stand = standIn({ [sql]: { columns: X } });
  const session = await open(stand);
  expect((await faultOf(session.describe(sql))).message).toContain('Only a query can be run here');
  expect(stand.statements).toHaveLength(2);
  await session.close();
});

test.each([
  ["SELECT q'[a;'b]' FROM T ; -- end", "SELECT q'[a;'b]' FROM T "],
  ["SELECT nq'!it's!' , 'a'';' FROM \"x;y\"", "SELECT nq'!it's!' , 'a'';' FROM \"x;y\""],
  ['(SELECT 1 FROM DUAL) /* ; */', '(SELECT 1 FROM DUAL) /* ; */'],
])('%j is one query', (sql, text) => {
  expect(outlineOf(sql)).toEqual({ text, isQuery: true });
});

test('without the driver, the fault says what to install', async () => {
  const fault = await faultOf(loadDriver(() => Promise.reject(new Error("Cannot find package 'oracledb'"))));
  expect([fault.code, fault.hint]).toEqual(['database/driver', 'Run npm install oracledb beside Quadmill']);
});

test('the package has what is used of it', async () => {
  const driver = await loadDriver();
  expect([driver.STMT_TYPE_SELECT, typeof driver.getConnection, driver.OUT_FORMAT_ARRAY]).toEqual([1, 'function', 4001]);
  expect([driver.STRING, driver.BUFFER].every((type) => type !== undefined)).toBe(true);
  // Its thin mode tells what is wrong with a host in the form that faults are made of.
  const address = parseJdbcUrl({ url: 'jdbc:oracle:thin:@//127.0.0.1:9/x', user: 'a', password: new Secret('b') });
  const fault = await faultOf(openWith(driver, address, RUN_DEFAULTS.sql));
  expect([fault.code, fault.message]).toEqual(['database/unreachable', expect.stringContaining('127.0.0.1:9')]);
});
