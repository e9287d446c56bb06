/** Tables and queries of the SQL transformer's database: listed, and their fields read. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { StudioPreview, StudioSample, StudioTables } from '../../../client/types.ts';
import { missingMariadb } from '../../servers/databases/mariadb.ts';
import { missingPostgres } from '../../servers/databases/postgres.ts';
import { writeSqlite } from '../../servers/databases/sqlite.ts';
import { SHARED_START_MS, sharedMariadb, sharedPostgres } from '../../servers/shared/shared.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { ask, postJson, type ServiceProcess, startService } from '../../support/service/process.ts';

/** `Q` stands for the quote of the product. */
const STATEMENTS = [
  'CREATE TABLE town (code varchar(10) PRIMARY KEY, name varchar(40) NOT NULL)',
  'CREATE TABLE person (id integer PRIMARY KEY, QFull NameQ varchar(40), born date, town varchar(10), FOREIGN KEY (town) REFERENCES town (code))',
  "INSERT INTO town VALUES ('BS', 'Basel'), ('ZH', 'Zürich')",
  "INSERT INTO person VALUES (1, 'Ann', '1990-02-03', 'BS'), (2, NULL, '1991-12-31', 'ZH'), (3, 'Bo', NULL, 'BS')",
  'CREATE VIEW grown AS SELECT id FROM person WHERE id > 1',
];

interface Opened {
  readonly jdbcUrl: string;
  readonly user?: string;
  stop(): Promise<void>;
}

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
const at = (name: string): string => join(directory.path, name);
const base = (): string => `${service.url}/sql-transformer`;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await startService({ cwd: directory.path, env: { DATA_DIR: at('data') } });
}, SHARED_START_MS);
afterAll(async () => {
  await service?.stop();
  await directory?.remove();
});

const set = async (option: string, value: string): Promise<void> => {
  const { status } = await ask(`${base()}/updateConfig?${new URLSearchParams({ configEntry: option, configValue: value })}`, {
    method: 'PUT',
  });
  expect(status).toBe(200);
};
const sample = (question: object) => postJson(`${service.url}/studio/samples`, question);

const PRODUCTS: readonly (readonly [string, string | undefined, () => Promise<Opened>])[] = [
  ['PostgreSQL', await missingPostgres(), openPostgres],
  ['MariaDB', await missingMariadb(), openMariadb],
  ['SQLite', undefined, openSqlite],
];

test('without a database it is said what to set', async () => {
  const { status, body } = await ask(`${service.url}/studio/tables`);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('Set JDBC_URL, DB_USER and DB_PASSWORD')]);
});

for (const [product, missing, open] of PRODUCTS) {
  if (missing === undefined) describe(product, () => suite(open));
  else describe(product, () => test.skip(`is not tested: ${missing}`, () => undefined));
}

function suite(open: () => Promise<Opened>): void {
  let database: Opened;
  beforeAll(async () => {
    database = await open();
    await set('JDBC_URL', database.jdbcUrl);
    await set('DB_USER', database.user ?? '');
  }, SHARED_START_MS);
  afterAll(() => database?.stop());

  test('the tables with their columns and keys', async () => {
    const { status, body } = await ask(`${service.url}/studio/tables`);
    expect({ status, body }).toMatchObject({ status: 200 });
    const { tables, cut } = body as unknown as StudioTables;
    expect(cut).toBe(false);
    expect(tables).toEqual([
      expect.objectContaining({
        name: 'person',
        kind: 'table',
        columns: ['id', 'Full Name', 'born', 'town'].map((name) => ({ name, nullable: name !== 'id' })),
        primaryKey: ['id'],
        foreignKeys: [{ columns: ['town'], parent: 'town', parentColumns: ['code'] }],
      }),
      expect.objectContaining({ name: 'town', primaryKey: ['code'], foreignKeys: [] }),
    ]);
  });

  test('the fields of a table, of a view and of a query', async () => {
    const { status, body } = await sample({ of: 'table', location: 'person' });
    expect({ status, body }).toMatchObject({ status: 200, body: { format: 'sql', records: 3, complete: true, warnings: [] } });
    const { fields } = body as unknown as StudioSample;
    const told = fields.filter(({ values }) => values !== undefined);
    expect(told.map(({ path, values }) => [path.at(-1), values?.kind, values?.nulls, values?.examples])).toEqual([
      [{ name: 'id' }, 'integer', 0, ['1', '2', '3']],
      [{ name: 'Full Name' }, 'text', 1, ['Ann', 'Bo']],
      [{ name: 'born' }, 'date', 1, ['1990-02-03', '1991-12-31']],
      [{ name: 'town' }, 'text', 0, ['BS', 'ZH']],
    ]);
    expect((await sample({ of: 'table', location: 'grown' })).body).toMatchObject({ records: 2 });
    expect((await sample({ of: 'query', location: 'SELECT code, name FROM town WHERE 1 = 0' })).body).toMatchObject({
      records: 0,
      fields: [{ path: [{ name: 'code' }] }, { path: [{ name: 'name' }] }],
    });
  });

  test('a preview reads the same columns', async () => {
    const text = `@prefix rr: <http://www.w3.org/ns/r2rml#> .
<#Person> rr:logicalTable [ rr:tableName "person" ] ; rr:subjectMap [ rr:template "http://e/person/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/name> ; rr:objectMap [ rr:column "\\"Full Name\\"" ] ] ;
  rr:predicateObjectMap [ rr:predicate <http://e/town> ; rr:objectMap [ rr:parentTriplesMap <#Town> ; rr:joinCondition [ rr:child "town" ; rr:parent "code" ] ] ] .
<#Town> rr:logicalTable [ rr:tableName "town" ] ; rr:subjectMap [ rr:template "http://e/town/{code}" ] .
`;
    const { status, body } = await postJson(`${service.url}/studio/previews`, { name: 'a.ttl', text, service: 'sql-transformer' });
    expect(status).toBe(200);
    const { statements, diagnostics } = body as unknown as StudioPreview;
    expect([statements.length, diagnostics]).toEqual([5, []]);
  });

  test.each<[string, object, RegExp]>([
    ['a table that is not there', { of: 'table', location: 'absent' }, /no table or view 'absent'/],
    ['what is no name', { of: 'table', location: 'a b c; DROP' }, /is not the name of a table/],
    ['a query with a mistake', { of: 'query', location: 'SELECT x FROM nowhere' }, /nowhere/],
    ['several statements', { of: 'query', location: 'SELECT 1; SELECT 2' }, /more than one statement|syntax error/],
    ['a statement that writes', { of: 'query', location: 'DELETE FROM person' }, /./],
    ['nothing', { of: 'table' }, /location is missing/],
    ['another kind', { of: 'procedure', location: 'person' }, /`?of`?/],
  ])('%s is refused', async (_, question, says) => {
    const { status, body } = await sample(question);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(says)]);
    expect((await sample({ of: 'table', location: 'person' })).body).toMatchObject({ records: 3 });
  });
}

async function openPostgres(): Promise<Opened> {
  const { url, jdbcUrl, stop } = await sharedPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of STATEMENTS) await client.query(statement.replaceAll('Q', '"'));
  await client.end();
  return { jdbcUrl, user: 'postgres', stop };
}

async function openMariadb(): Promise<Opened> {
  const { url, port, database, stop } = await sharedMariadb();
  const client = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root', database, charset: 'utf8mb4' });
  for (const statement of STATEMENTS) await client.query(statement.replaceAll('Q', '`'));
  await client.end();
  return { jdbcUrl: url, user: 'root', stop };
}

async function openSqlite(): Promise<Opened> {
  await writeSqlite(at('people.db'), STATEMENTS.map((statement) => statement.replaceAll('Q', '"')).join(';\n'));
  return { jdbcUrl: 'jdbc:sqlite:people.db', stop: async () => undefined };
}
