/** A large table of a real PostgreSQL, shared by real processes. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { startRedis, temporaryDirectory, uniquePrefix } from './queues-backends.ts';
import { missingPostgres, type Postgres, startPostgres } from './servers/postgres.ts';
import { missingRedis } from './servers/redis.ts';
import { ask, type ServiceProcess, startService } from './service/process.ts';

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

const missing = (await missingPostgres()) ?? missingRedis;

(missing === undefined ? describe : describe.skip)(`a large table${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let database: Postgres;
  let client: pg.Client;
  let api: ServiceProcess;
  let workers: readonly ServiceProcess[] = [];

  beforeAll(async () => {
    [directory, redis] = await Promise.all([temporaryDirectory(), startRedis()]);
    database = (await startPostgres()) as Postgres;
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('CREATE TABLE note (id integer PRIMARY KEY, version integer NOT NULL, text text)');
    await client.query(`INSERT INTO note SELECT i, 0, 'Text ' || i || ' ü' FROM generate_series(1, ${ROWS}) i`);
    await client.query(`CREATE TABLE kind (id integer PRIMARY KEY, label text); INSERT INTO kind VALUES (1, 'a'), (2, 'b')`);
    await client.query('ANALYZE');
    await mkdir(join(directory.path, 'data', 'mappings'), { recursive: true });
    await writeFile(join(directory.path, 'data', 'mappings', 'mapping.ttl'), MAPPING);
    const env = {
      QUEUE_URL: redis.url,
      QUEUE_PREFIX: uniquePrefix(),
      SERVICE: 'sql-transformer',
      JDBC_URL: `jdbc:postgresql://127.0.0.1:${database.port}/postgres`,
      DB_USER: 'postgres',
      DB_PASSWORD: PASSWORD,
      SQL_SLICE_ROWS: '10000',
    };
    const start = (role: string): Promise<ServiceProcess> => startService({ cwd: directory.path, args: ['--role', role], env });
    [api, ...workers] = (await Promise.all([start('api'), start('worker'), start('worker')])) as [ServiceProcess, ...ServiceProcess[]];
  }, 60_000);

  afterAll(async () => {
    const all = [api, ...workers].filter((one) => one !== undefined);
    for (const one of all) one.kill('SIGKILL');
    await Promise.all(all.map((one) => one.exited));
    await client?.end();
    await database?.stop();
    await redis?.stop();
    await directory?.remove();
  });

  /** Runs the mapping and gives the statements in order, and the report. */
  const run = async () => {
    const { status, body } = await ask(`${api.url}/process`);
    if (status !== 200) throw new Error(`the run failed: ${JSON.stringify(body)}`);
    const texts = await Promise.all((body.outputFileLocations as string[]).map((url) => readFile(fileURLToPath(url), 'utf8')));
    return { report: body, lines: texts.flatMap((text) => text.trimEnd().split('\n')).sort() };
  };
  const change = async (option: string, value: string): Promise<void> => {
    const { status } = await ask(`${api.url}/updateConfig?configEntry=${option}&configValue=${value}`, { method: 'PUT' });
    expect(status).toBe(200);
  };

  test('is mapped by all workers, and gives what one of them would', async () => {
    const shared = await run();
    expect(shared.report).toMatchObject({ records: ROWS + 2, quads: 3 * ROWS + 2 });
    expect(shared.report.successfulIterations).toBeGreaterThanOrEqual(5);
    for (const worker of workers) await worker.said('slice started', (line) => line.run === shared.report.runId);
    await change('SQL_SLICE_ROWS', '0');
    const alone = await run();
    await change('SQL_SLICE_ROWS', '10000');
    expect(alone.report).toMatchObject({ successfulIterations: 1, records: ROWS + 2, quads: 3 * ROWS + 2 });
    expect(alone.report.outputFileLocations).toHaveLength(1);
    expect(shared.lines).toHaveLength(3 * ROWS + 2);
    expect(shared.lines.join('\n') === alone.lines.join('\n')).toBe(true);
  }, 60_000);

  test('is read in one state by all slices, whatever is written meanwhile', async () => {
    const states = new Map<number, number>();
    let over = false;
    let version = 0;
    const writing = (async () => {
      while (!over) {
        version++;
        await client.query(
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
    // The run began before the last version was written, or the test has shown nothing.
    expect(state).toBeLessThan(version);
  }, 60_000);

  test('goes into a file for so many rows, in each slice', async () => {
    await change('SQL_ITERATION_ROWS', '4000');
    const { report, lines } = await run();
    const { rows } = await client.query('SELECT count(*)::int AS count FROM note');
    expect(lines).toHaveLength(3 * rows[0].count + 2);
    expect(new Set(lines).size).toBe(lines.length);
    expect(report.outputFileLocations.length).toBeGreaterThanOrEqual(ROWS / 4000);
    const files = (await readdir(join(directory.path, 'data', 'output'))).filter((name) => name.includes(report.runId));
    expect(files).toHaveLength(report.outputFileLocations.length + 1);
    expect(files.filter((name) => name.startsWith('.'))).toEqual([]);
  }, 60_000);

  test('leaves no password in a log', () => {
    for (const one of [api, ...workers]) expect(JSON.stringify(one.log) + one.complaints()).not.toContain(PASSWORD);
  });
});
