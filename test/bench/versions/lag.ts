/**
 * The time from a commit in PostgreSQL to the store, while rows of two tables change: `quadmill follow` keeps a dataset, and `quadmill write --follow` writes its
 * versions. `lag.ts NAME` is what `npm run bench` starts.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Driver } from 'neo4j-driver';
import pg from 'pg';
import { table } from '../../conformance/summary.ts';
import { missingPostgres, startPostgres } from '../../servers/databases/postgres.ts';
import { missingFuseki, startFuseki } from '../../servers/stores/fuseki.ts';
import { missingNeo4j, NEO4J_LOGIN, startNeo4j } from '../../servers/stores/neo4j.ts';
import { inSession, openDriver } from '../../src/targets/bolt/oracle.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { Random } from '../../support/random.ts';

/** A store that is written to, and asked for the newest marker. */
export interface LagStore {
  /** Options of `quadmill write`. */
  readonly target: readonly string[];
  /** The newest number in the store; 0: none. */
  marker(): Promise<number>;
  readonly fusekiUrl?: string;
  readonly driver?: Driver;
  stop(): Promise<void>;
}

const MARKER = 'http://example.com/marker/1';

async function fuseki(): Promise<LagStore> {
  const server = await startFuseki();
  if ('skip' in server) throw new Error(server.skip);
  const query = `SELECT ?n { <${MARKER}> <http://example.com/n> ?n }`;
  return {
    target: ['--target', server.tdb, '--type', 'fuseki'],
    fusekiUrl: server.tdb,
    async marker() {
      // Fuseki closes connections that wait.
      const answer = await fetch(`${server.tdb}?query=${encodeURIComponent(query)}`, { headers: { accept: 'text/csv' } }).catch(
        () => undefined,
      );
      return Number((await answer?.text())?.trim().split(/\s+/)[1] ?? 0);
    },
    stop: () => server.stop(),
  };
}

async function neo4j(): Promise<LagStore> {
  const server = await startNeo4j();
  if ('skip' in server) throw new Error(server.skip);
  const driver = openDriver(server.url, NEO4J_LOGIN);
  return {
    target: ['--target', server.url, '--username', NEO4J_LOGIN.username, '--password-file', 'password'],
    driver,
    marker: () =>
      inSession(driver, async (session) => {
        const found = await session.run('MATCH (n:Resource {iri: $iri}) RETURN [key IN keys(n) WHERE key <> "iri" | n[key]] AS values', {
          iri: MARKER,
        });
        return Number((found.records[0]?.get('values') as unknown[] | undefined)?.[0] ?? 0);
      }),
    async stop() {
      await driver.close();
      await server.stop();
    },
  };
}

export const LAG_STORES: Readonly<
  Record<string, { readonly missing: () => Promise<string | undefined>; readonly start: () => Promise<LagStore> }>
> = {
  'follow-fuseki': { missing: async () => (await missingPostgres()) ?? (await missingFuseki()), start: fuseki },
  'follow-neo4j': { missing: async () => (await missingPostgres()) ?? (await missingNeo4j()), start: neo4j },
};

const MAPPING = `@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix ex: <http://example.com/> .
<#Marker> rr:logicalTable [ rr:tableName "marker" ] ; rr:subjectMap [ rr:template "http://example.com/marker/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:n ; rr:objectMap [ rr:column "n" ] ] .
<#Customer> rr:logicalTable [ rr:tableName "customers" ] ; rr:subjectMap [ rr:template "http://example.com/customer/{id}" ; rr:class ex:Customer ] ;
  rr:predicateObjectMap [ rr:predicate ex:name ; rr:objectMap [ rr:column "name" ] ] .
<#Order> rr:logicalTable [ rr:tableName "orders" ] ; rr:subjectMap [ rr:template "http://example.com/order/{id}" ; rr:class ex:Order ] ;
  rr:predicateObjectMap [ rr:predicate ex:total ; rr:objectMap [ rr:column "total" ] ] ;
  rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:parentTriplesMap <#Customer> ;
    rr:joinCondition [ rr:child "customer" ; rr:parent "id" ] ] ] .
`;
const SCHEMA = `CREATE TABLE marker (id int PRIMARY KEY, n int);
CREATE TABLE customers (id int PRIMARY KEY, name text);
CREATE TABLE orders (id int PRIMARY KEY, customer int, total int);
INSERT INTO marker VALUES (1, 0);
INSERT INTO customers SELECT n, 'Customer ' || n FROM generate_series(1, 1000) n;
INSERT INTO orders SELECT n, 1 + n % 1000, n FROM generate_series(1, 10000) n;`;

/** A transaction is committed so often. */
const EACH_MS = 100;
const POLL_MS = 20;
/** For the last change to be in the store. */
const REST_MS = 120_000;

export interface LagOptions {
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** The writer is killed, and started again, in the middle. */
  readonly isKilled: boolean;
}

export interface Lag {
  readonly events: number;
  /** Of the commits that have a marker, in milliseconds, ascending. */
  readonly lags: readonly number[];
}

/**
 * @param rest called when the store has the last change and both processes have ended, with the directory of the dataset `shop`, and a command
 * @throws Error — a process has ended, or the last change does not come
 */
export async function measureLag(
  store: LagStore,
  { eventsPerSecond, seconds, isKilled }: LagOptions,
  rest: (directory: string, quadmill: (...args: readonly string[]) => Promise<unknown>) => Promise<void> = async () => undefined,
): Promise<Lag> {
  const server = await startPostgres({ settings: ['wal_level=logical'] });
  if ('skip' in server) throw new Error(server.skip);
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-lag-'));
  const client = new pg.Client({ connectionString: server.url });
  const children = new Set<ChildProcess>();
  const command = join(PROJECT_ROOT, 'bin/quadmill.js');
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, [command, ...args], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    children.add(child);
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    const ended = new Promise<number | null>((done) => child.on('exit', (code) => done(code)));
    return {
      async end(signal: 'SIGTERM' | 'SIGKILL') {
        child.kill(signal);
        const code = await ended;
        // 130: `write --follow` was within a write.
        if (signal === 'SIGTERM' && code !== 0 && !(args[0] === 'write' && code === 130))
          throw new Error(`${args[0]} has ended with ${code}: ${said}`);
        children.delete(child);
      },
    };
  };
  const quadmill = (...args: readonly string[]) => promisify(execFile)(process.execPath, [command, ...args], { cwd: directory });
  try {
    writeFileSync(join(directory, 'shop.ttl'), MAPPING);
    writeFileSync(join(directory, 'password'), NEO4J_LOGIN.password);
    await client.connect();
    await client.query(SCHEMA);
    const url = `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres`;
    const following = ['follow', 'shop.ttl', '--dataset', 'shop', '--epoch-seconds', '1', '--jdbc-url', url];
    await quadmill(...following, '--until-caught-up');
    const writing = ['write', '--dataset', 'shop', ...store.target, '--follow'];
    await quadmill(...writing.slice(0, -1));
    const follower = start(...following);
    let writer = start(...writing);
    // Both are there with the first change.
    let marker = 1;
    await client.query('UPDATE marker SET n = 1');
    await until(store, 1);
    const committed = new Map<number, number>();
    const lags: number[] = [];
    let isOver = false;
    const watch = async (): Promise<void> => {
      for (const deadline = Date.now() + seconds * 1000 + REST_MS; ; await sleep(POLL_MS)) {
        const seen = await store.marker();
        const now = Date.now();
        for (const [one, at] of committed) {
          if (one > seen) continue;
          lags.push(now - at);
          committed.delete(one);
        }
        if (isOver && committed.size === 0) return;
        if (now > deadline) throw new Error(`the store has ${seen}, and ${marker} was committed`);
      }
    };
    const random = new Random(1);
    const perTransaction = Math.max(2, Math.round((eventsPerSecond * EACH_MS) / 1000));
    let events = 0;
    const change = async (): Promise<void> => {
      const begin = performance.now();
      for (let n = 0; performance.now() - begin < seconds * 1000; n++) {
        const id = (): number => random.between(1, 10_000);
        const half = Math.floor((perTransaction - 1) / 2);
        const statements = [
          `UPDATE orders SET total = total + 1 WHERE id IN (${Array.from({ length: half }, id).join()})`,
          `UPDATE orders SET customer = ${random.between(1, 1000)} WHERE id IN (${Array.from({ length: half - 2 }, id).join()})`,
          `UPDATE customers SET name = 'Name ${n}' WHERE id = ${random.between(1, 1000)}`,
          n % 2 === 0
            ? `INSERT INTO orders VALUES (${10_001 + n}, ${random.between(1, 1000)}, ${n})`
            : `DELETE FROM orders WHERE id = ${10_000 + n}`,
          `UPDATE marker SET n = ${++marker}`,
        ];
        await client.query('BEGIN');
        for (const statement of statements) events += (await client.query(statement)).rowCount ?? 0;
        await client.query('COMMIT');
        committed.set(marker, Date.now());
        if (isKilled && n === Math.floor((seconds * 1000) / EACH_MS / 2)) {
          await writer.end('SIGKILL');
          writer = start(...writing);
        }
        await sleep(Math.max(0, begin + (n + 1) * EACH_MS - performance.now()));
      }
      isOver = true;
    };
    await Promise.all([change(), watch()]);
    await writer.end('SIGTERM');
    await quadmill(...writing.slice(0, -1));
    await follower.end('SIGTERM');
    await rest(directory, quadmill);
    return { events, lags: lags.sort((a, b) => a - b) };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await client.end().catch(() => undefined);
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function until(store: LagStore, marker: number): Promise<void> {
  for (const deadline = Date.now() + REST_MS; (await store.marker()) < marker; await sleep(POLL_MS))
    if (Date.now() > deadline) throw new Error(`the marker ${marker} is not in the store`);
}

export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] as number;

/** That 95 % of the commits are to have, in milliseconds. */
const MOST_LAG_MS = 2000;

/** @returns whether the lag is as it should be, where the servers are */
export function benchLag(names: readonly string[]): boolean {
  const rows = names.map((name) => {
    const text = execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: 'utf8' });
    return { name, figures: JSON.parse(text) as Record<string, number> };
  });
  const columns = ['events', 'p50 ms', 'p95 ms', 'largest ms'];
  const cells = ['events', 'p50', 'p95', 'most'];
  console.log(
    `\nfrom a commit in PostgreSQL to the store, epochs of 1 s\n${table([
      ['store', ...columns],
      ...rows.map(({ name, figures }) => [name, ...cells.map((cell) => String(Math.round(figures[cell] as number)))]),
    ])}`,
  );
  return rows.every(({ figures }) => (figures.p95 as number) < MOST_LAG_MS);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', rate = '500', seconds = '20'] = process.argv.slice(2);
  const store = await (LAG_STORES[name] as (typeof LAG_STORES)[string]).start();
  try {
    const { events, lags } = await measureLag(store, { eventsPerSecond: Number(rate), seconds: Number(seconds), isKilled: false });
    console.log(
      JSON.stringify({ events, commits: lags.length, p50: percentile(lags, 0.5), p95: percentile(lags, 0.95), most: lags.at(-1) }),
    );
  } finally {
    await store.stop();
  }
}
