/** Large tables of real databases, sliced over real processes. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { missingMariadb } from '../servers/databases/mariadb.ts';
import { missingPostgres } from '../servers/databases/postgres.ts';
import { missingRedis } from '../servers/queues/redis.ts';
import { SHARED_START_MS, sharedMariadb, sharedPostgres } from '../servers/shared/shared.ts';
import { temporaryDirectory } from '../support/queues/backends.ts';
import { type Fleet, outputOf, startFleet } from '../support/service/fleet.ts';
import { ask } from '../support/service/process.ts';

const ROWS = 50_000;
const PASSWORD = 'hunter2-of-the-database';
const NOTE = 'http://example.com/note/';
const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/ns#> .
<#Note> rr:logicalTable [ rr:tableName "note" ] ;
  rr:subjectMap [ rr:template "${NOTE}{id}" ; rr:class ex:Note ] ;
  rr:predicateObjectMap [ rr:predicate ex:version ; rr:objectMap [ rr:column "version" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:text ; rr:objectMap [ rr:column "text" ] ] .
<#Kind> rr:logicalTable [ rr:tableName "kind" ] ;
  rr:subjectMap [ rr:template "http://example.com/kind/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:label ; rr:objectMap [ rr:column "label" ] ] .
`;

const TABLES = [
  'CREATE TABLE note (id integer PRIMARY KEY, version integer NOT NULL, text varchar(40))',
  'CREATE TABLE kind (id integer PRIMARY KEY, label varchar(40))',
  `INSERT INTO kind VALUES (1, 'a'), (2, 'b')`,
];

interface Database {
  readonly jdbcUrl: string;
  readonly user: string;
  /** One statement; returns the rows of a query. */
  execute(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  stop(): Promise<void>;
}

async function startWithPostgres(): Promise<Database> {
  const server = await sharedPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const notes = `INSERT INTO note SELECT i, 0, 'Text ' || i || ' ü' FROM generate_series(1, ${ROWS}) i`;
  for (const sql of [...TABLES, notes, 'ANALYZE']) await client.query(sql);
  return {
    jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/${server.database}`,
    user: 'postgres',
    execute: async (sql) => (await client.query(sql)).rows,
    async stop() {
      await client.end();
      await server.stop();
    },
  };
}

async function startWithMariadb(): Promise<Database> {
  const server = await sharedMariadb();
  const { port, database } = server;
  const connection = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root', database });
  const notes = `INSERT INTO note SELECT seq, 0, concat('Text ', seq, ' ü') FROM seq_1_to_${ROWS}`;
  const user = `${database}_mill`;
  const login = [`CREATE USER ${user} IDENTIFIED BY '${PASSWORD}'`, `GRANT SELECT ON ${database}.* TO ${user}`];
  for (const sql of [...TABLES, notes, 'ANALYZE TABLE note, kind', ...login]) await connection.query(sql);
  return {
    jdbcUrl: `jdbc:mariadb://127.0.0.1:${port}/${database}`,
    user,
    execute: async (sql) => (await connection.query(sql))[0] as Record<string, unknown>[],
    async stop() {
      await connection.end();
      await server.stop();
    },
  };
}

const PRODUCTS = [
  { name: 'PostgreSQL', missing: (await missingPostgres()) ?? missingRedis, start: startWithPostgres },
  { name: 'MariaDB', missing: (await missingMariadb()) ?? missingRedis, start: startWithMariadb },
] as const;

export function largeTable(only: (typeof PRODUCTS)[number]['name']): void {
  for (const product of PRODUCTS) {
    if (product.name !== only) continue;
    if (product.missing === undefined) describe(`a large table of ${only}`, () => suite(product));
    else describe(`a large table of ${only}`, () => test.skip(`is not tested: ${product.missing}`, () => undefined));
  }
}

function suite(product: (typeof PRODUCTS)[number]): void {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let database: Database;
  let fleet: Fleet;

  beforeAll(async () => {
    [directory, database] = await Promise.all([temporaryDirectory(), product.start()]);
    await mkdir(join(directory.path, 'data', 'mappings'), { recursive: true });
    await writeFile(join(directory.path, 'data', 'mappings', 'mapping.ttl'), MAPPING);
    fleet = await startFleet(directory.path, {
      SERVICE: 'sql-transformer',
      JDBC_URL: database.jdbcUrl,
      DB_USER: database.user,
      DB_PASSWORD: PASSWORD,
      SQL_SLICE_ROWS: '10000',
    });
  }, SHARED_START_MS);

  afterAll(async () => {
    await fleet?.stop();
    await database?.stop();
    await directory?.remove();
  });

  /** Runs the mapping and returns the sorted statements and the report. */
  const run = async () => {
    const { report, lines } = await outputOf(await ask(`${fleet.api.url}/process`));
    return { report, lines: lines.sort() };
  };

  test('is mapped by all workers, and gives what one of them would', async () => {
    const shared = await run();
    expect(shared.report).toMatchObject({ records: ROWS + 2, quads: 3 * ROWS + 2 });
    expect(shared.report.successfulIterations).toBeGreaterThanOrEqual(5);
    for (const worker of fleet.workers) await worker.waitForLog('slice started', (line) => line.run === shared.report.runId);
    await fleet.change('SQL_SLICE_ROWS', '0');
    const alone = await run();
    await fleet.change('SQL_SLICE_ROWS', '10000');
    expect(alone.report).toMatchObject({ successfulIterations: 1, records: ROWS + 2, quads: 3 * ROWS + 2 });
    expect(alone.report.outputFileLocations).toHaveLength(1);
    expect(shared.lines).toHaveLength(3 * ROWS + 2);
    expect(shared.lines.join('\n') === alone.lines.join('\n')).toBe(true);
  }, 60_000);

  const sharesStates = product.name === 'PostgreSQL';
  (sharesStates ? test : test.skip)(
    `is read in one state by all slices, whatever is written meanwhile${sharesStates ? '' : ' (not tested: its connections cannot share a state)'}`,
    async () => {
      const states = new Map<number, number>();
      let over = false;
      let version = 0;
      const writing = (async () => {
        while (!over) {
          version++;
          await database.execute(
            `BEGIN; UPDATE note SET version = ${version};
          INSERT INTO note SELECT ${ROWS} + ${version} * 1000 + i, ${version}, 'new' FROM generate_series(0, 99) i; COMMIT`,
          );
          states.set(version, ROWS + version * 100);
        }
      })();
      const { lines, report } = await run().finally(() => {
        over = true;
        return writing;
      });
      expect(report.successfulIterations).toBeGreaterThanOrEqual(5);
      const seen = new Set(lines.flatMap((line) => /ns#version> "(\d+)"/.exec(line)?.[1] ?? []));
      expect(seen.size).toBe(1);
      const [state] = [...seen].map(Number) as [number];
      expect(lines.filter((line) => line.includes('ns#Note>'))).toHaveLength(state === 0 ? ROWS : (states.get(state) as number));
      // The run must have started before the last version was written, or the test shows nothing.
      expect(state).toBeLessThan(version);
    },
    60_000,
  );

  test('gives each row another blank node, also in different slices', async () => {
    const fresh = `@prefix rml: <http://w3id.org/rml/> . @prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/ns#> .
      <#Note> a rml:TriplesMap ; rml:logicalSource [ rml:referenceFormulation rml:SQL2008Table ; rml:iterator "note" ] ;
        rml:subjectMap [ rml:template "${NOTE}{id}" ] ;
        rml:predicateObjectMap [ rml:predicate ex:has ; rml:objectMap [ rml:termType rml:BlankNode ] ] .`;
    const file = join(directory.path, 'data', 'mappings', 'mapping.ttl');
    await writeFile(file, fresh);
    const { lines } = await run().finally(() => writeFile(file, MAPPING));
    expect(new Set(lines.map((line) => line.split(' ')[2])).size).toBe(lines.length);
    expect(lines.length).toBeGreaterThanOrEqual(ROWS);
  }, 60_000);

  test('goes into a file for so many rows, in each slice', async () => {
    await fleet.change('SQL_ITERATION_ROWS', '4000');
    const { report, lines } = await run();
    const [row] = await database.execute('SELECT count(*) AS count FROM note');
    expect(lines).toHaveLength(3 * Number(row?.count) + 2);
    expect(new Set(lines).size).toBe(lines.length);
    expect(report.outputFileLocations.length).toBeGreaterThanOrEqual(ROWS / 4000);
    const files = (await readdir(join(directory.path, 'data', 'output'))).filter((name) => name.includes(report.runId));
    expect(files).toHaveLength(report.outputFileLocations.length + 1);
    expect(files.filter((name) => name.startsWith('.'))).toEqual([]);
  }, 60_000);

  test('leaves no password in a log', () => {
    for (const one of [fleet.api, ...fleet.workers]) expect(JSON.stringify(one.log) + one.stderr()).not.toContain(PASSWORD);
  });
}
