/** Several services on one queue: whose runs a worker takes, whose options a request changes, and what a worker does not reach. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import pg from 'pg';
import { missingPostgres } from '../servers/databases/postgres.ts';
import { missingRedis, type Redis, startRedis } from '../servers/queues/redis.ts';
import { SHARED_START_MS, type SharedPostgres, sharedPostgres } from '../servers/shared/shared.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { PEOPLE, PEOPLE_LINES, peopleMapping } from '../support/service/inputs.ts';
import { type Answer, ask, poll, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const SQL_MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
ex:Person rr:logicalTable [ rr:tableName "person" ] ;
  rr:subjectMap [ rr:template "http://example.com/person/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
`;
const SQL_LINES = ['<http://example.com/person/1> <http://example.com/name> "Ann" .'];
/** Nothing listens on it. */
const NOWHERE = 'jdbc:postgresql://127.0.0.1:1/nowhere';

const missing = missingRedis ?? (await missingPostgres());
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

(missing === undefined ? describe : describe.skip)(`services on one queue${why}`, () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let redis: Redis;
  let postgres: SharedPostgres;
  let jdbc: Readonly<Record<string, string>>;
  let prefix: string;
  let all: ServiceProcess[] = [];
  const at = (name: string): string => join(directory.path, name);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    [redis, postgres] = await Promise.all([startRedis() as Promise<Redis>, sharedPostgres()]);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query('CREATE TABLE person (id integer PRIMARY KEY, name text)');
    await client.query("INSERT INTO person VALUES (1, 'Ann')");
    await client.end();
    const { hostname, port, pathname, username, password } = new URL(postgres.url);
    jdbc = {
      JDBC_URL: `jdbc:postgresql://${hostname}:${port}${pathname}`,
      DB_USER: decodeURIComponent(username),
      DB_PASSWORD: decodeURIComponent(password),
    };
    await writeFile(at('people.csv'), PEOPLE.csv);
    await writeFile(at('people.ttl'), peopleMapping('csv', 'people.csv'));
    await writeFile(at('people.nq'), `${PEOPLE_LINES.join('\n')}\n`);
  }, SHARED_START_MS);
  afterEach(async () => {
    for (const one of all) one.kill('SIGKILL');
    await Promise.all(all.map((one) => one.exited));
    all = [];
  });
  afterAll(async () => {
    await Promise.all([redis?.stop(), postgres?.stop()]);
    await directory.remove();
  });

  /** Processes of one test share a queue; each deployment has its own data directory. */
  const start = async (service: string, role: 'all' | 'api' | 'worker', env: Readonly<Record<string, string>> = {}) => {
    const one = await startService({
      cwd: directory.path,
      args: ['--role', role],
      env: {
        QUEUE_URL: redis.url,
        QUEUE_PREFIX: prefix,
        SERVICE: service,
        LOG_LEVEL: 'debug',
        DATA_DIR: at(`data-${prefix}-${service}`),
        RETRY_SECONDS: '1',
        TRIPLESTORE_TYPE: 'embedded',
        ...env,
      },
    });
    all.push(one);
    return one;
  };
  const linesOf = async ({ status, body }: Answer): Promise<readonly string[]> => {
    expect({ status, ...body }).toMatchObject({ status: 200 });
    const texts = await Promise.all((body.outputFileLocations as string[]).map((url) => readFile(fileURLToPath(url), 'utf8')));
    return texts.flatMap((text) => text.trimEnd().split('\n')).sort();
  };
  const put = async (url: string, text: string): Promise<void> => {
    expect((await ask(url, { method: 'PUT', body: text, headers: { 'content-type': 'text/turtle' } })).status).toBe(200);
  };
  const files = () => ({ inputFileURL: at('people.csv'), mappingURL: at('people.ttl') });
  const change = async ({ url }: Pick<ServiceProcess, 'url'>, configEntry: string, configValue: string): Promise<void> => {
    const path = `${url}/updateConfig?${new URLSearchParams({ configEntry, configValue })}`;
    expect((await ask(path, { method: 'PUT' })).status).toBe(200);
  };
  const nameOf = async ({ url }: ServiceProcess): Promise<unknown> => (await ask(`${url}/config?paths=friendlyName`)).body.friendlyName;

  test('three deployments, each takes its own runs, and has its own options and files', async () => {
    prefix = uniquePrefix();
    const [semi, sql, writer] = await Promise.all([
      start('semi-structured-transformer', 'all'),
      start('sql-transformer', 'all', jdbc),
      start('graph-writer', 'all'),
    ]);
    await put(`${sql.url}/rml`, SQL_MAPPING);
    const [people, rows, written] = await Promise.all([
      postJson(`${semi.url}/process`, files()),
      ask(`${sql.url}/process`),
      postJson(`${writer.url}/process`, { inputFileURL: at('people.nq') }),
    ]);
    expect(await linesOf(people)).toEqual([...PEOPLE_LINES].sort());
    expect(await linesOf(rows)).toEqual(SQL_LINES);
    expect(written).toMatchObject({ status: 200, body: { quadsWritten: PEOPLE_LINES.length } });
    expect(people.body.outputFileLocations[0]).toContain(`data-${prefix}-semi-structured-transformer`);
    expect(rows.body.outputFileLocations[0]).toContain(`data-${prefix}-sql-transformer`);
    for (const one of [semi, sql, writer]) {
      expect(one.log.filter(({ msg }) => msg === 'run started')).toHaveLength(1);
      // Runs of the other services are not shown.
      expect((await ask(`${one.url}/runs`)).body.runs).toHaveLength(1);
      expect((await ask(`${one.url}/health/ready`)).body).toMatchObject({ workers: 1 });
    }
    expect((await ask(`${semi.url}/runs/${rows.body.runId}`)).status).toBe(404);
    await change(sql, 'friendlyName', 'Tables');
    await change(writer, 'friendlyName', 'Graphs');
    expect(await Promise.all([semi, sql, writer].map(nameOf))).toEqual(['Semi-Structured-Transformer', 'Tables', 'Graphs']);
  }, 60_000);

  test('a process of all services leaves a run to the workers of its service, which follow its options', async () => {
    prefix = uniquePrefix();
    const [api, semi] = await Promise.all([start('all', 'api', jdbc), start('semi-structured-transformer', 'worker')]);
    const sqlUrl = `${api.url}/sql-transformer`;
    await put(`${sqlUrl}/rml`, SQL_MAPPING);
    const later = await ask(`${sqlUrl}/process`, { headers: { prefer: 'respond-async' } });
    expect(later).toMatchObject({ status: 202, body: { state: 'queued', workers: 0, reason: expect.stringContaining('no worker') } });
    const done = await postJson(`${api.url}/semi-structured-transformer/process`, files());
    expect(await linesOf(done)).toEqual([...PEOPLE_LINES].sort());
    expect((await ask(`${sqlUrl}/runs/${later.body.id}`)).body).toMatchObject({ state: 'queued' });
    // The database is that of the option that the API process was told, not of the environment of the worker.
    await change({ url: sqlUrl }, 'JDBC_URL', jdbc.JDBC_URL as string);
    const { DB_USER, DB_PASSWORD } = jdbc as { readonly [name: string]: string };
    const sql = await start('sql-transformer', 'worker', {
      JDBC_URL: NOWHERE,
      DB_USER: DB_USER as string,
      DB_PASSWORD: DB_PASSWORD as string,
    });
    await poll(`${sqlUrl}/runs/${later.body.id}`, ({ body: { state } }) => state === 'completed');
    expect([semi, sql].map(({ log }) => log.filter(({ msg }) => msg === 'run started').length)).toEqual([1, 1]);
  }, 60_000);

  soakTest(
    'a worker that does not reach the database leaves the runs to one that does, until it reaches it or is alone',
    async () => {
      prefix = uniquePrefix();
      const near = await start('sql-transformer', 'all', jdbc);
      await put(`${near.url}/rml`, SQL_MAPPING);
      const far = await start('sql-transformer', 'worker', { ...jdbc, JDBC_URL: NOWHERE });
      const { log } = far;
      expect(log).toContainEqual(expect.objectContaining({ msg: 'runs are left to other workers', code: 'database/unreachable' }));
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(`${near.url}/process`)));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(log.filter(({ msg }) => msg === 'run started')).toEqual([]);
      // Alone it takes them: the caller learns why they cannot be carried out.
      const api = await start('sql-transformer', 'api', { RUN_ATTEMPTS: '1' });
      near.kill('SIGTERM');
      await near.exited;
      await far.waitForLog('runs are taken again');
      const failed = await ask(`${api.url}/process`);
      expect(failed).toMatchObject({ status: 400, body: { code: 'database/unreachable' } });
      // All processes of the service follow this change.
      await change(api, 'JDBC_URL', jdbc.JDBC_URL as string);
      expect(await linesOf(await ask(`${api.url}/process`))).toEqual(SQL_LINES);
    },
    60_000,
  );

  soakTest(
    'a worker that does not reach the target leaves the runs to one that does, also if it finds out while it writes',
    async () => {
      prefix = uniquePrefix();
      // Each is a separate store, with a separate queue.
      const store = await start('graph-writer', 'all', { QUEUE_PREFIX: uniquePrefix(), DATA_DIR: at('store') });
      const target = { TRIPLESTORE_TYPE: 'sparql', TRIPLESTORE_PATIENCE_SECONDS: '2', RUN_ATTEMPTS: '10' };
      const near = { ...target, TRIPLESTORE_ENDPOINT: `${store.url}/sparql` };
      const api = await start('graph-writer', 'api', near);
      const far = await start('graph-writer', 'worker', { ...target, TRIPLESTORE_ENDPOINT: 'http://127.0.0.1:1/sparql' });
      // It takes the run, as the only worker.
      const run = postJson(`${api.url}/process`, { inputFileURL: at('people.nq') });
      await far.waitForLog('run started');
      await start('graph-writer', 'worker', near);
      await far.waitForLog('runs are left to other workers');
      expect(await run).toMatchObject({ status: 200, body: { quadsWritten: PEOPLE_LINES.length } });
      const started = (): number => far.log.filter(({ msg }) => msg === 'run started').length;
      const before = started();
      const more = await Promise.all(Array.from({ length: 6 }, () => postJson(`${api.url}/process`, { inputFileURL: at('people.nq') })));
      expect(more.map(({ status }) => status)).toEqual(Array(6).fill(200));
      expect(started()).toBe(before);
    },
    60_000,
  );
});
