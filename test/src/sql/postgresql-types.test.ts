/** PostgreSQL's types: what a real server writes, and what becomes of it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../src/config/run-defaults.ts';
import { Fault } from '../../../src/core/fault.ts';
import { fromBytes, toBytes } from '../../../src/core/text.ts';
import { XSD } from '../../../src/core/value.ts';
import type { Column, SqlSession } from '../../../src/sql/database.ts';
import { openSession } from '../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../src/sql/jdbc/jdbc.ts';
import { missingPostgres } from '../../servers/databases/postgres.ts';
import { SHARED_START_MS, type SharedPostgres, sharedPostgres } from '../../servers/shared/shared.ts';

const missing = await missingPostgres();
const suite = missing === undefined ? describe : describe.skip;

/** SQL of a value, type, datatype, canonical text. */
const VALUES: readonly [sql: string, type: string, datatype: string | undefined, text: string][] = [
  ["'-32768'::int2", 'smallint', 'integer', '-32768'],
  ['42', 'integer', 'integer', '42'],
  ['9223372036854775807', 'bigint', 'integer', '9223372036854775807'],
  ['4294967295::oid', 'oid', 'integer', '4294967295'],
  ['12.50::numeric(10,2)', 'numeric(10,2)', 'decimal', '12.5'],
  ['30.00::numeric(10,2)', 'numeric(10,2)', 'decimal', '30'],
  ['100::numeric', 'numeric', 'decimal', '100'],
  ['0.00::numeric(4,2)', 'numeric(4,2)', 'decimal', '0'],
  ['0.000000000000000000000000000001::numeric', 'numeric', 'decimal', '0.000000000000000000000000000001'],
  ['-1234567890123456789012345678901234567890.120', 'numeric', 'decimal', '-1234567890123456789012345678901234567890.12'],
  ['30::float8', 'double precision', 'double', '3.0E1'],
  ['80.25::float8', 'double precision', 'double', '8.025E1'],
  ['0.1::float8 + 0.2::float8', 'double precision', 'double', '3.0000000000000004E-1'],
  ["'-0'::float8", 'double precision', 'double', '-0.0E0'],
  ['1e-307::float8', 'double precision', 'double', '1.0E-307'],
  ['1.7976931348623157e308::float8', 'double precision', 'double', '1.7976931348623157E308'],
  ['123456789012345680000::float8', 'double precision', 'double', '1.2345678901234568E20'],
  ["'NaN'::float8", 'double precision', 'double', 'NaN'],
  ["'Infinity'::float8", 'double precision', 'double', 'INF'],
  ["'-Infinity'::float4", 'real', 'double', '-INF'],
  ['1.65::float4', 'real', 'double', '1.65E0'],
  ['true', 'boolean', 'boolean', 'true'],
  ['false', 'boolean', 'boolean', 'false'],
  ["date '2024-02-29'", 'date', 'date', '2024-02-29'],
  ["date '0044-03-15 BC'", 'date', 'date', '-0043-03-15'],
  ["date '0001-12-31 BC'", 'date', 'date', '0000-12-31'],
  ["date '12024-01-01'", 'date', 'date', '12024-01-01'],
  ["time '12:30:00'", 'time without time zone', 'time', '12:30:00'],
  ["time(3) '12:30:00.500'", 'time(3) without time zone', 'time', '12:30:00.5'],
  ["timetz '12:30:00+02'", 'time with time zone', 'time', '12:30:00+02:00'],
  ["timetz '12:30:00-05:30'", 'time with time zone', 'time', '12:30:00-05:30'],
  ["timetz '12:30:00+00'", 'time with time zone', 'time', '12:30:00Z'],
  ["timestamp '2024-02-29 12:30:00'", 'timestamp without time zone', 'dateTime', '2024-02-29T12:30:00'],
  ["timestamp(3) '2024-02-29 12:30:00.120'", 'timestamp(3) without time zone', 'dateTime', '2024-02-29T12:30:00.12'],
  ["timestamp '0100-01-01 00:00:00 BC'", 'timestamp without time zone', 'dateTime', '-0099-01-01T00:00:00'],
  ["timestamp '20000-01-01 00:00:00'", 'timestamp without time zone', 'dateTime', '20000-01-01T00:00:00'],
  ["timestamptz '2024-07-01 12:30:00+02'", 'timestamp with time zone', 'dateTime', '2024-07-01T10:30:00Z'],
  ["timestamptz '0044-03-15 12:00:00+00 BC'", 'timestamp with time zone', 'dateTime', '-0043-03-15T12:00:00Z'],
  ["'\\xdeadBEEF00'::bytea", 'bytea', 'hexBinary', 'DEADBEEF00'],
  ["''::bytea", 'bytea', 'hexBinary', ''],
  ["interval '1 year 2 months 3 days 4:05:06.7'", 'interval', 'duration', 'P1Y2M3DT4H5M6.7S'],
  ["interval '26 hours'", 'interval', 'duration', 'P1DT2H'],
  ["interval '-14 months -1 day -0.5 seconds'", 'interval', 'duration', '-P1Y2M1DT0.5S'],
  ["interval '0'", 'interval', 'duration', 'PT0S'],
  ["'Venus'::char(15)", 'character(15)', undefined, 'Venus          '],
  ["'Venus'::varchar(50)", 'character varying(50)', undefined, 'Venus'],
  ["'größer 🚀'", 'text', undefined, 'größer 🚀'],
  ["'tab\tline\nreturn\rback\\slash \\N \\t \b\f\v'", 'text', undefined, 'tab\tline\nreturn\rback\\slash \\N \\t \b\f\v'],
  ["''", 'text', undefined, ''],
  ["'\\N'", 'text', undefined, '\\N'],
  ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid", 'uuid', undefined, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  [`'{"a": 1.0}'::json`, 'json', undefined, '{"a": 1.0}'],
  [`'{"a":1.0}'::jsonb`, 'jsonb', undefined, '{"a": 1.0}'],
  ["'<a>b</a>'::xml", 'xml', undefined, '<a>b</a>'],
  ["'192.168.0.1/24'::inet", 'inet', undefined, '192.168.0.1/24'],
  ['int4range(1,10)', 'int4range', undefined, '[1,10)'],
  ["'sad'::mood", 'mood', undefined, 'sad'],
  ["ROW(1,'a b')::pair", 'pair', undefined, '(1,"a b")'],
  ['7::small', 'integer', 'integer', '7'],
];

const ARRAYS: readonly [sql: string, type: string, datatype: string | undefined, texts: readonly string[]][] = [
  ["'{1,2,NULL,3}'::int[]", 'integer[]', 'integer', ['1', '2', '3']],
  ["'{}'::int[]", 'integer[]', 'integer', []],
  ["'{{1,2},{3,4}}'::int[]", 'integer[]', 'integer', ['1', '2', '3', '4']],
  ["'[0:1]={5,6}'::int[]", 'integer[]', 'integer', ['5', '6']],
  ["ARRAY['a','b,c','d\"e','f\\g','NULL',NULL,'','{x}',' y ']", 'text[]', undefined, ['a', 'b,c', 'd"e', 'f\\g', 'NULL', '', '{x}', ' y ']],
  ["'{1.50,2.00}'::numeric(4,2)[]", 'numeric(4,2)[]', 'decimal', ['1.5', '2']],
  ['ARRAY[true,false]', 'boolean[]', 'boolean', ['true', 'false']],
  ["ARRAY[timestamp '2024-01-01 10:00:00']", 'timestamp without time zone[]', 'dateTime', ['2024-01-01T10:00:00']],
  ["ARRAY['\\xab01'::bytea, '\\x'::bytea]", 'bytea[]', 'hexBinary', ['AB01', '']],
  ['ARRAY[8::small]', 'small[]', 'integer', ['8']],
  ["ARRAY['(1,1),(0,0)'::box, '(3,3),(2,2)'::box]", 'box[]', undefined, ['(1,1),(0,0)', '(3,3),(2,2)']],
  ["ARRAY['ok'::mood]", 'mood[]', undefined, ['ok']],
];

/** Values that XML Schema does not have. */
const OUTSIDE: readonly [sql: string, message: RegExp, hint: RegExp][] = [
  ["date 'infinity'", /"infinity" is no xsd:date/, /CAST/],
  ["timestamp '-infinity'", /"-infinity" is no xsd:dateTime/, /CAST/],
  ["timestamptz 'infinity'", /"infinity" is no xsd:dateTime/, /CAST/],
  ["'NaN'::numeric", /"NaN" is no xsd:decimal/, /CAST/],
  ["'Infinity'::numeric", /"Infinity" is no xsd:decimal/, /CAST/],
  ["interval '1 month -1 day'", /both signs/, /CAST/],
  ["timetz '12:00:00+15:30'", /time zone/, /AT TIME ZONE/],
];

suite(`the types of PostgreSQL${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let server: SharedPostgres;
  let session: SqlSession;

  beforeAll(async () => {
    server = await sharedPostgres();
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text);
      CREATE DOMAIN tiny AS int CHECK (VALUE < 100); CREATE DOMAIN small AS tiny;`);
    await client.end();
    session = await openSession(parseJdbcUrl({ url: server.jdbcUrl }), RUN_DEFAULTS.sql);
  }, SHARED_START_MS);

  afterAll(async () => {
    await session?.close();
    await server?.stop();
  });

  const read = async (sql: string): Promise<readonly [Column, string | null]> => {
    const [column] = await session.describe(sql);
    const texts: (string | null)[] = [];
    for await (const { rows } of session.rows(sql, 1)) texts.push(...rows.map((row) => row[0] as string | null));
    expect(texts).toHaveLength(1);
    return [column as Column, texts[0] as string | null];
  };

  test.each(VALUES)('reads %s', async (sql, type, datatype, text) => {
    const [column, raw] = await read(`SELECT ${sql} AS value`);
    const canonical = column.canonical?.(raw as string) ?? raw;
    expect({ type: column.type, datatype: column.datatype, text: fromBytes(canonical as string), elements: column.elements }).toEqual({
      type,
      datatype: datatype === undefined ? undefined : XSD + datatype,
      text,
      elements: undefined,
    });
  });

  test.each(ARRAYS)('reads the elements of %s', async (sql, type, datatype, texts) => {
    const [column, raw] = await read(`SELECT ${sql} AS value`);
    const { canonical = (text: string): string => text } = column;
    expect({ type: column.type, datatype: column.datatype, texts: column.elements?.(raw as string)?.map(canonical) }).toEqual({
      type,
      datatype: datatype === undefined ? undefined : XSD + datatype,
      texts,
    });
  });

  test.each(OUTSIDE)('says that %s has no form, and what to do', async (sql, message, hint) => {
    const [column, raw] = await read(`SELECT ${sql} AS value`);
    let fault: unknown;
    try {
      column.canonical?.(raw as string);
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: 'record/term', message: expect.stringMatching(message), hint: expect.stringMatching(hint) });
  });

  test('tells null, the empty text and a text of backslash and N apart', async () => {
    const batches: (readonly (string | null)[])[] = [];
    for await (const { rows } of session.rows("VALUES (NULL, '', '\\N', E'\\\\\\\\N')", 4)) batches.push(...rows);
    expect(batches).toEqual([[null, '', '\\N', '\\\\N']]);
  });

  test('keeps zones and the order of values apart in families', async () => {
    const columns = await session.describe(
      "SELECT 1, 1.5, 'a'::text, 'a'::varchar(3), 'a'::char(3), true, now(), now()::timestamp, now()::date, 1.5::float8, 'ok'::mood, gen_random_uuid(), 'x'::bytea, now()::time, '{1}'::int[]",
    );
    expect(columns.map(({ family }) => family)).toEqual([
      'number',
      'number',
      'text',
      'text',
      'other',
      'boolean',
      'timestamp with time zone',
      'timestamp',
      'date',
      'other',
      'other',
      'uuid',
      'binary',
      'time',
      'other',
    ]);
  });

  test('does not compare texts where a collation makes different ones equal', async () => {
    const create = "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)";
    const hasIcu = await withClient(
      async (client) => (await client.query("SELECT FROM pg_collation WHERE collprovider = 'i'")).rowCount !== 0,
    );
    if (hasIcu) await withClient((client) => client.query(create));
    const other = await openSession(session.address, RUN_DEFAULTS.sql);
    const [column] = await other.describe("SELECT 'a'::text");
    await other.close();
    expect(column).toMatchObject(hasIcu ? { family: 'other', exact: false } : { family: 'text', exact: true });
    await withClient((client) => client.query('DROP COLLATION IF EXISTS folded'));
  });

  test('shows times in the zone that the URL asks for', async () => {
    const url = `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres&options=-c%20TimeZone=Europe/Berlin`;
    const other = await openSession(parseJdbcUrl({ url }), RUN_DEFAULTS.sql);
    const sql = "SELECT timestamptz '2024-07-01 12:00:00+00'";
    const [column] = await other.describe(sql);
    const texts: string[] = [];
    for await (const { rows } of other.rows(sql, 1)) texts.push(...rows.map(([text]) => column?.canonical?.(text as string) as string));
    await other.close();
    expect(texts).toEqual(['2024-07-01T14:00:00+02:00']);
  });

  async function withClient<T>(use: (client: import('pg').Client) => Promise<T>): Promise<T> {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return use(client).finally(() => client.end());
  }

  test('gives texts as bytes', async () => {
    const [, raw] = await read("SELECT 'größer'");
    expect(raw).toBe(toBytes('größer'));
  });
});
