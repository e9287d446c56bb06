/** The SQL transformer: a fleet of real processes over a real database, over HTTP and by its schedule. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { missingMariadb, startMariadb } from '../servers/databases/mariadb.ts';
import { missingPostgres, startPostgres } from '../servers/databases/postgres.ts';
import { SHARED_START_MS, type SharedPostgres, sharedPostgres } from '../servers/shared/shared.ts';
import { temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { ask, poll, type ServiceProcess, startService } from '../support/service/process.ts';

const PASSWORD = 'hunter2-right';
const WRONG = 'hunter3-wrong';

const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
ex:Person rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
`;
const LINES = [
  '<http://example.com/person/1> <http://example.com/name> "Ann" .',
  '<http://example.com/person/2> <http://example.com/name> "Jürg" .',
];
const TABLE = [
  'CREATE TABLE person (id integer PRIMARY KEY, name varchar(40))',
  "INSERT INTO person VALUES (1, 'Ann'), (2, 'Jürg'), (3, NULL)",
];

interface Database {
  /** For user `ann`, who has the password. */
  readonly jdbcUrl: string;
  stop(): Promise<void>;
}

type Product = 'postgresql' | 'mariadb';

const DATABASES: Readonly<Record<Product, { readonly missing: string | undefined; start(): Promise<Database> }>> = {
  postgresql: { missing: await missingPostgres(), start: startPeopleInPostgres },
  mariadb: { missing: await missingMariadb(), start: startPeopleInMariadb },
};

const missingQueue = await missingPostgres();

export function sqlFleet(only: Product): void {
  const { missing = missingQueue, start } = DATABASES[only];
  if (missing === undefined) describe(`over ${only}`, () => suite(start));
  else describe(`over ${only}`, () => test.skip(`is not tested: ${missing}`, () => undefined));
}

function suite(startDatabase: () => Promise<Database>): void {
  const prefix = uniquePrefix();
  const fleet: ServiceProcess[] = [];
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let database: Database;
  let queue: SharedPostgres;
  let api: ServiceProcess;
  const at = (name: string): string => join(directory.path, name);

  const start = async (role: 'api' | 'worker'): Promise<ServiceProcess> => {
    const env = {
      SERVICE: 'sql-transformer',
      QUEUE_URL: queue.url,
      QUEUE_PREFIX: prefix,
      JDBC_URL: database.jdbcUrl,
      DB_USER: 'ann',
      DB_PASSWORD: PASSWORD,
      CRON_TIMEZONE: 'UTC',
      LOCK_SECONDS: '2',
      STALLED_SECONDS: '1',
    };
    const one = await startService({ cwd: directory.path, args: ['--role', role], env });
    fleet.push(one);
    return one;
  };
  const startFleet = async (): Promise<void> => {
    [api] = (await Promise.all([start('api'), start('worker'), start('worker')])) as [ServiceProcess, ServiceProcess, ServiceProcess];
  };
  const setPassword = (password: string) =>
    ask(`${api.url}/updateConfig?${new URLSearchParams({ configEntry: 'DB_PASSWORD', configValue: password })}`, { method: 'PUT' });
  const linesOf = async (url: string): Promise<string[]> => (await readFile(fileURLToPath(url), 'utf8')).trimEnd().split('\n').sort();

  beforeAll(async () => {
    directory = await temporaryDirectory();
    [database, queue] = await Promise.all([startDatabase(), sharedPostgres()]);
    await startFleet();
  }, SHARED_START_MS);
  afterAll(async () => {
    for (const one of fleet) one.kill('SIGKILL');
    await Promise.all(fleet.map(({ exited }) => exited));
    await Promise.all([database?.stop(), queue?.stop()]);
    await directory.remove();
  });

  test('without a master mapping it says how to put one; then GET /process gives the files', async () => {
    expect(await ask(`${api.url}/process`)).toMatchObject({ status: 400, body: { error: expect.stringContaining('PUT /rml') } });
    const put = await ask(`${api.url}/rml`, { method: 'PUT', body: MAPPING, headers: { 'content-type': 'text/turtle' } });
    expect([put.status, put.body]).toEqual([200, '']);
    const { status, body } = await ask(`${api.url}/process`);
    expect({ status, ...body }).toEqual({
      status: 200,
      successfulIterations: 1,
      failedIterations: 0,
      outputFileLocations: [expect.stringMatching(`/SQL-Transformer-${body.runId}\\.nq$`)],
      mappingFiles: [expect.stringContaining('mapping.ttl')],
      processingTime: expect.any(Number),
      runId: expect.any(String),
      records: 3,
      quads: 2,
      rejectedRecords: 0,
      warnings: expect.any(Array),
    });
    expect(await linesOf(body.outputFileLocations[0])).toEqual(LINES);
    expect((await ask(`${api.url}/runs/${body.runId}`)).body).toMatchObject({ service: 'sql-transformer', state: 'completed', input: [] });
  }, 30_000);

  test('a refused login has exactly the text of the specification, and the next run finds the password mended', async () => {
    await setPassword(WRONG);
    const text = 'Record could not be processed due to: Invalid Database Credentials.';
    // Enough for both workers to get some.
    const runs = () => Promise.all(Array.from({ length: 6 }, () => ask(`${api.url}/process`)));
    for (const { status, body } of await runs()) {
      expect({ status, ...body }).toMatchObject({ status: 400, error: text, name: 'SQL-Transformer', code: 'database/credentials' });
      expect('entity' in body).toBe(false);
    }
    await setPassword(PASSWORD);
    expect((await runs()).map(({ status }) => status)).toEqual(Array(6).fill(200));
  }, 30_000);

  test('a tick of the schedule is one run for the fleet, and the schedule survives that all processes are killed', async () => {
    const set = await ask(`${api.url}/updateCron?${new URLSearchParams({ cronValue: '* * * * * ?' })}`, { method: 'PUT' });
    expect(set.body).toEqual({ cron: '* * * * * ?', timezone: 'UTC', next: [expect.any(String), expect.any(String), expect.any(String)] });
    const scheduled = () => fleet.flatMap(({ log }) => log.filter(({ msg }) => msg === 'run scheduled'));
    const until = async (count: number): Promise<void> => {
      for (const deadline = Date.now() + 20_000; scheduled().length < count; await sleep(50)) {
        if (Date.now() > deadline)
          throw new Error(`${scheduled().length} of ${count} ticks: ${JSON.stringify(fleet.map(({ log }) => log.slice(-5)))}`);
      }
    };
    await until(3);
    for (const one of fleet) one.kill('SIGKILL');
    await Promise.all(fleet.map(({ exited }) => exited));
    await startFleet();
    expect((await ask(`${api.url}/config?paths=CRON`)).body).toEqual({ serviceTransformerConfig: { sql: { cron: '* * * * * ?' } } });
    await until(scheduled().length + 3);
    expect((await ask(`${api.url}/updateCron`, { method: 'PUT' })).body).toEqual({ cron: null });
    const ticks = scheduled().map(({ tick }) => tick);
    expect(new Set(ticks).size).toBe(ticks.length);
    const ended = await poll(`${api.url}/runs?limit=1000`, ({ body }) =>
      body.runs.every(({ state }: { state: string }) => state === 'completed' || state === 'failed'),
    );
    const states = new Map<string, string>(ended.body.runs.map(({ id, state }: { id: string; state: string }) => [id, state]));
    expect(scheduled().map(({ run }) => states.get(String(run)))).toEqual(ticks.map(() => 'completed'));
    await sleep(2_200);
    expect(scheduled().length).toBeLessThanOrEqual(ticks.length + 1);
  }, 60_000);

  test('no password is in the queue, in a log line, in a metric, in an answer or in an output file', async () => {
    const said: [string, string][] = fleet.map(({ log, stderr }) => ['log', `${JSON.stringify(log)}${stderr()}`]);
    for (const path of ['/metrics', '/runs?limit=1000', '/config', '/openapi.json']) {
      said.push([path, JSON.stringify((await ask(`${api.url}${path}`)).body)]);
    }
    for (const name of await readdir(at('data/output'))) said.push([name, await readFile(at(`data/output/${name}`), 'utf8')]);
    said.push(...(await tablesOf(queue.url, prefix)));
    expect(said.filter(([name, text]) => name === 'job' && text.includes('mapping.ttl'))).toHaveLength(1);
    expect(said.map(([name]) => basename(name))).toEqual(expect.arrayContaining(['log', 'metrics', 'job']));
    expect(said.filter(([, text]) => text.includes('hunter')).map(([name]) => name)).toEqual([]);
  });
}

/** All tables of the queue as text, except the settings, which store what `/updateConfig` was given. */
async function tablesOf(url: string, schema: string): Promise<[string, string][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1', [schema]);
    const texts: [string, string][] = [];
    for (const { name } of rows as { name: string }[]) {
      if (name === 'quadmill_setting') continue;
      const { rows: lines } = await client.query(`SELECT t::text AS line FROM "${schema}"."${name}" t`);
      texts.push([name, lines.map(({ line }) => line).join('\n')]);
    }
    return texts;
  } finally {
    await client.end();
  }
}

/** The test's server trusts all users; only `ann` needs a password. */
async function startPeopleInPostgres(): Promise<Database> {
  const server = await startPostgres();
  if ('skip' in server) throw new Error(server.skip);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  for (const statement of [...TABLE, `CREATE ROLE ann LOGIN PASSWORD '${PASSWORD}'`, 'GRANT SELECT ON person TO ann']) {
    await client.query(statement);
  }
  const { rows } = await client.query<{ hba_file: string }>('SHOW hba_file');
  const file = rows[0]?.hba_file as string;
  await writeFile(file, `host all ann 127.0.0.1/32 scram-sha-256\n${await readFile(file, 'utf8')}`);
  await client.query('SELECT pg_reload_conf()');
  await client.end();
  return { jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/postgres`, stop: () => server.stop() };
}

async function startPeopleInMariadb(): Promise<Database> {
  const server = await startMariadb();
  if ('skip' in server) throw new Error(server.skip);
  const client = await mysql.createConnection({ host: '127.0.0.1', port: server.port, user: 'root', database: 'test', charset: 'utf8mb4' });
  for (const statement of [...TABLE, `CREATE USER ann IDENTIFIED BY '${PASSWORD}'`, 'GRANT SELECT ON test.person TO ann']) {
    await client.query(statement);
  }
  await client.end();
  return { jdbcUrl: `jdbc:mariadb://127.0.0.1:${server.port}/test`, stop: () => server.stop() };
}
