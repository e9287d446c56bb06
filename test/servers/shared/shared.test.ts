/** What all files of a run share: separate places in one server, and nothing that outlives the run. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from '@jest/globals';
import { Redis } from 'ioredis';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { share, sharedTest, soakTest, test } from '../../support/jest/extent.ts';
import { built } from '../../support/project-root.ts';
import { missingMariadb } from '../databases/mariadb.ts';
import { missingPostgres } from '../databases/postgres.ts';
import { missingKafka } from '../queues/kafka.ts';
import { missingRedis } from '../queues/redis.ts';
import { missingFuseki } from '../stores/fuseki.ts';
import { missingRdf4j } from '../stores/rdf4j.ts';
import { SHARED_START_MS, sharedFuseki, sharedKafka, sharedMariadb, sharedPostgres, sharedRdf4j, sharedRedis } from './shared.ts';

const N_TRIPLES = { 'content-type': 'application/n-triples' };
const LINE = '<urn:s> <urn:p> "o" .\n';

/** Leaves something in a place, which its server shows; and what the server then shows in another one. */
interface Sharing {
  readonly name: string;
  readonly missing: string | undefined;
  /** What a place has before, and after something was written there, and what another place has then. */
  look(): Promise<readonly [before: number, after: number, other: number]>;
}

async function inPlaces<Place extends { stop(): Promise<void> }>(
  open: () => Promise<Place>,
  write: (place: Place) => Promise<unknown>,
  count: (place: Place) => Promise<number>,
): Promise<readonly [number, number, number]> {
  const [one, other] = [await open(), await open()];
  try {
    const before = await count(one);
    await write(one);
    return [before, await count(one), await count(other)];
  } finally {
    await one.stop();
    await other.stop();
  }
}

const inRedis = async <T>(url: string, body: (client: Redis) => Promise<T>): Promise<T> => {
  const client = new Redis(url);
  return body(client).finally(() => client.disconnect());
};
const inPostgres = async (url: string, sql: string): Promise<number> => {
  const client = new pg.Client(url);
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => Number(rows?.[0]?.n))
    .finally(() => client.end());
};
const inMariadb = async (url: string, sql: string): Promise<number> => {
  const connection = await createConnection(url.replace(/^jdbc:mariadb:\/\/(.*)\?user=root$/, 'mysql://root@$1'));
  return connection
    .query(sql)
    .then(([rows]) => Number((rows as { n?: unknown }[])[0]?.n))
    .finally(() => connection.end());
};
const post = async (url: string): Promise<void> => {
  const answer = await fetch(url, { method: 'POST', headers: N_TRIPLES, body: LINE });
  if (!answer.ok) throw new Error(await answer.text());
};
const countLines = async (url: string): Promise<number> =>
  (await (await fetch(url, { headers: { accept: 'application/n-quads' } })).text()).split('\n').filter((line) => line !== '').length;

const TABLES = "SELECT count(*) AS n FROM information_schema.tables WHERE table_name = 'mine'";

const SHARED: readonly Sharing[] = [
  {
    name: 'Redis',
    missing: missingRedis,
    look: () =>
      inPlaces(
        sharedRedis,
        ({ url }) => inRedis(url, (client) => client.set('mine', 1)),
        ({ url }) => inRedis(url, (client) => client.dbsize()),
      ),
  },
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    look: () =>
      inPlaces(
        sharedPostgres,
        ({ url }) => inPostgres(url, 'CREATE TABLE mine (n int)'),
        ({ url }) => inPostgres(url, TABLES),
      ),
  },
  {
    name: 'MariaDB',
    missing: await missingMariadb(),
    look: () =>
      inPlaces(
        sharedMariadb,
        ({ url }) => inMariadb(url, 'CREATE TABLE mine (n int)'),
        ({ url }) => inMariadb(url, `${TABLES} AND table_schema = database()`),
      ),
  },
  {
    name: 'Fuseki',
    missing: await missingFuseki(),
    look: () =>
      inPlaces(
        sharedFuseki,
        ({ tdb }) => post(`${tdb}?default`),
        ({ tdb }) => countLines(tdb),
      ),
  },
  {
    name: 'RDF4J',
    missing: await missingRdf4j(),
    look: () =>
      inPlaces(
        sharedRdf4j,
        ({ native }) => post(`${native}/statements`),
        ({ native }) => countLines(`${native}/statements`),
      ),
  },
];

const noKafka = await missingKafka();

describe('a shared server', () => {
  // Together, since each of them starts its server.
  for (const { name, missing, look } of share(4, SHARED))
    (missing === undefined ? sharedTest.concurrent : sharedTest.skip)(
      `${name} gives each file a separate place${missing === undefined ? '' : ` (not tested: ${missing})`}`,
      async () => expect(await look()).toEqual([0, 1, 0]),
      SHARED_START_MS,
    );

  (noKafka === undefined ? test.concurrent : test.skip)(
    `Kafka gives each file a separate prefix${noKafka === undefined ? '' : ` (not tested: ${noKafka})`}`,
    async () => {
      const [one, other] = [await sharedKafka(), await sharedKafka()];
      expect(other.broker).toBe(one.broker);
      expect(one.prefix).not.toBe(other.prefix);
      expect(one.secured.sasl).toMatch(/^127\.0\.0\.1:\d+$/);
      await one.stop();
      await other.stop();
    },
    SHARED_START_MS,
  );

  test('that does not exist is reported', async () => {
    const hub = process.env.QUADMILL_TEST_HUB as string;
    const answer = await fetch(`${hub}/oracle`, { method: 'POST', body: '{}' });
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('there is no server of the kind oracle')]);
  });
});

describe('a guarded server', () => {
  /** Starts a process that starts a server, and says its process id. */
  async function owner(directory: string, signal: string) {
    const script = `
      const { spawn } = await import('node:child_process');
      const { guard } = await import(${JSON.stringify(built('test/servers/process/guard.js').href)});
      const server = spawn('sh', ['-c', process.argv[1]], { detached: true, stdio: 'ignore' });
      guard(server, process.argv[2], process.argv[3]);
      process.on('message', () => process.exit(0));
      console.log(server.pid);`;
    // Deaf to the one signal that most servers end by.
    const body = "trap '' TERM; while :; do sleep 0.05; done";
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, body, directory, signal], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const pid = await new Promise<number>((resolve) => child.stdout?.once('data', (text) => resolve(Number(text))));
    return { child, pid };
  }
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  soakTest.each([
    ['is killed', 'KILL', 'SIGKILL'],
    ['is killed, also when the server takes no notice of its signal', 'TERM', 'SIGKILL'],
    ['is interrupted', 'KILL', 'SIGINT'],
  ] as const)('goes with its directory when the process that started it %s', async (_, signal, end) => {
    const directory = await mkdtemp(join(tmpdir(), 'quadmill-guarded-'));
    const { child, pid } = await owner(directory, signal);
    expect(isAlive(pid)).toBe(true);
    child.kill(end);
    for (const deadline = Date.now() + 20_000; (isAlive(pid) || existsSync(directory)) && Date.now() < deadline; ) await sleep(20);
    expect([isAlive(pid), existsSync(directory)]).toEqual([false, false]);
  });
});
