/** A dedicated PostgreSQL or MariaDB for a test of what goes wrong: user `ann` has a password, and what she runs can be watched. */
import { writeFile } from 'node:fs/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { missingMariadb, startMariadb } from './mariadb.ts';
import { missingPostgres, startPostgres } from './postgres.ts';

export const PASSWORD = 'hunter2-right';

/** With the reason why it cannot be started here; undefined: it can. */
export const FAULTY: readonly { readonly product: Faulty['product']; readonly missing: string | undefined; start(): Promise<Faulty> }[] = [
  { product: 'postgresql', missing: await missingPostgres(), start: postgres },
  { product: 'mariadb', missing: await missingMariadb(), start: mariadb },
];

type Rows = readonly Readonly<Record<string, unknown>>[];

/** A connection of the superuser. */
export interface Admin {
  /** One statement. */
  execute(sql: string): Promise<Rows>;
  end(): Promise<void>;
}

export interface Faulty {
  readonly product: 'postgresql' | 'mariadb';
  readonly port: number;
  /** Of the database `shop`, without a login. */
  readonly jdbcUrl: string;
  /** To another database where one is named, which must be there. */
  connect(database?: string): Promise<Admin>;
  /** One statement of the superuser, on a separate connection. */
  execute(sql: string, database?: string): Promise<Rows>;
  /** What ann's connections run or ran last. */
  statements(): Promise<readonly string[]>;
  crash(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const once = async (connecting: Promise<Admin>, sql: string): Promise<Rows> => {
  const admin = await connecting;
  return admin.execute(sql).finally(() => admin.end());
};

const texts = (rows: Rows): readonly string[] => rows.map(({ text }) => String(text ?? ''));

/** The server trusts everybody but ann. */
async function postgres(): Promise<Faulty> {
  const server = await startPostgres();
  if ('skip' in server) throw new Error(server.skip);
  const { port } = server;
  const connect = async (database = 'shop'): Promise<Admin> => {
    const client = new pg.Client({ connectionString: server.url.replace(/\w+$/, database) });
    client.on('error', () => undefined);
    await client.connect();
    return { execute: async (sql) => (await client.query(sql)).rows, end: () => client.end() };
  };
  const setup = await connect('postgres');
  await setup.execute('CREATE DATABASE shop');
  await setup.execute(`CREATE ROLE ann LOGIN PASSWORD '${PASSWORD}' IN ROLE pg_read_all_data`);
  const [row] = await setup.execute('SHOW hba_file');
  await writeFile(String(row?.hba_file), 'host all ann all scram-sha-256\nhost all all all trust\n');
  await setup.execute('SELECT pg_reload_conf()');
  await setup.end();
  return {
    product: 'postgresql',
    port,
    jdbcUrl: `jdbc:postgresql://127.0.0.1:${port}/shop`,
    connect,
    execute: (sql, database) => once(connect(database), sql),
    statements: async () => texts(await once(connect(), "SELECT query AS text FROM pg_stat_activity WHERE usename = 'ann'")),
    crash: server.crash,
    restart: server.restart,
    stop: server.stop,
  };
}

async function mariadb(): Promise<Faulty> {
  const server = await startMariadb();
  if ('skip' in server) throw new Error(server.skip);
  const { port } = server;
  const connect = async (database = 'shop'): Promise<Admin> => {
    const client = await mysql.createConnection({ host: '127.0.0.1', port, user: 'root', database, charset: 'utf8mb4' });
    client.on('error', () => undefined);
    return { execute: async (sql) => (await client.query(sql))[0] as Rows, end: () => client.end() };
  };
  const setup = await connect('test');
  for (const sql of ['CREATE DATABASE shop', `CREATE USER ann IDENTIFIED BY '${PASSWORD}'`, 'GRANT SELECT ON *.* TO ann'])
    await setup.execute(sql);
  await setup.end();
  return {
    product: 'mariadb',
    port,
    jdbcUrl: `jdbc:mariadb://127.0.0.1:${port}/shop`,
    connect,
    execute: (sql, database) => once(connect(database), sql),
    statements: async () => texts(await once(connect(), "SELECT info AS text FROM information_schema.processlist WHERE user = 'ann'")),
    crash: server.crash,
    restart: server.restart,
    stop: server.stop,
  };
}
