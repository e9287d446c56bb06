/** A database of the shared PostgreSQL, or a dedicated MariaDB, for a test; used in the same way: scripts go in, a JDBC URL comes out. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { sharedPostgres } from '../shared/shared.ts';
import { missingDuckdb, writeDuckdb } from './duckdb.ts';
import { missingMariadb, startMariadb } from './mariadb.ts';
import { missingPostgres } from './postgres.ts';
import { missingSqlite, writeSqlite } from './sqlite.ts';

/** Each with the reason why it cannot be started here; undefined: it can. */
export const SERVERS = [
  ['postgresql', await missingPostgres()],
  ['mariadb', await missingMariadb()],
  ['sqlite', missingSqlite()],
  ['duckdb', missingDuckdb()],
] as const;

export type Server = (typeof SERVERS)[number];

/** What `npm test` asks where the soak tests ask the others: a server and a file. */
export const FAST_SERVERS: readonly Server[] = SERVERS.filter(([product]) => product === 'postgresql' || product === 'sqlite');
export const OTHER_SERVERS: readonly Server[] = SERVERS.filter((server) => !FAST_SERVERS.includes(server));

export interface TestDatabases {
  /** With the user. The database of MariaDB is `test`. */
  readonly jdbcUrl: string;
  /** Drops everything in the database, and schemas or databases of other names, and runs a script. Identifiers stand in double quotes. */
  load(script: string): Promise<void>;
  /** Runs a script on what is there. */
  run(script: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startDatabases(product: Server[0]): Promise<TestDatabases> {
  const started = await STARTS[product]();
  if ('skip' in started) throw new Error(started.skip);
  return started;
}

const STARTS = {
  postgresql: postgres,
  mariadb,
  sqlite: () => file('sqlite', writeSqlite),
  duckdb: () => file('duckdb', writeDuckdb),
} as const;

async function postgres(): Promise<TestDatabases> {
  const { url, jdbcUrl, database, stop } = await sharedPostgres();
  const run = async (name: string, script: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url.replace(/[^/]*$/, name) });
    await client.connect();
    await client.query(script).finally(() => client.end());
  };
  return {
    jdbcUrl,
    async load(script) {
      await run('postgres', `DROP DATABASE IF EXISTS ${database}`);
      await run('postgres', `CREATE DATABASE ${database}`);
      await run(database, script);
    },
    run: (script) => run(database, script),
    stop,
  };
}

const SYSTEM = new Set(['mysql', 'sys', 'information_schema', 'performance_schema']);

async function mariadb(): Promise<TestDatabases | { readonly skip: string }> {
  const server = await startMariadb();
  if ('skip' in server) return server;
  const inSession = async (work: (connection: mysql.Connection) => Promise<unknown>): Promise<void> => {
    const options = { host: '127.0.0.1', port: server.port, user: 'root', multipleStatements: true, charset: 'utf8mb4' };
    const connection = await mysql.createConnection(options);
    try {
      await connection.query(`SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES,NO_BACKSLASH_ESCAPES')`);
      await work(connection);
    } finally {
      await connection.end();
    }
  };
  return {
    jdbcUrl: `jdbc:mariadb://127.0.0.1:${server.port}/test?user=root`,
    load: (script) =>
      inSession(async (connection) => {
        const [rows] = await connection.query('SHOW DATABASES');
        await connection.query('SET foreign_key_checks = 0');
        for (const { Database: name } of rows as { Database: string }[])
          if (!SYSTEM.has(name)) await connection.query(`DROP DATABASE "${name}"`);
        await connection.query('SET foreign_key_checks = 1');
        await connection.query('CREATE DATABASE test CHARACTER SET utf8mb4; USE test');
        await connection.query(script);
      }),
    run: (script) => inSession((connection) => connection.query(`USE test; ${script}`)),
    stop: () => server.stop(),
  };
}

type FileProduct = 'sqlite' | 'duckdb';

async function file(product: FileProduct, write: (path: string, script: string) => Promise<void>): Promise<TestDatabases> {
  const directory = await mkdtemp(join(tmpdir(), `quadmill-${product}-`));
  const path = join(directory, 'test.db');
  return {
    jdbcUrl: `jdbc:${product}:${path}`,
    async load(script) {
      await rm(path, { force: true });
      await write(path, script);
    },
    run: (script) => write(path, script),
    stop: () => rm(directory, { recursive: true }),
  };
}

/** The servers, without the products that are files: these have one schema, and separate tests. */
export const SERVERS_ALONE = SERVERS.filter(([product]) => product !== 'sqlite' && product !== 'duckdb') as readonly (readonly [
  Exclude<Server[0], FileProduct>,
  string | undefined,
])[];
