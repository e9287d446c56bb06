/** Databases that the bench starts for itself, with flat-1m's rows in their table `person`. */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { missingDuckdb, writeDuckdb } from '../servers/databases/duckdb.ts';
import { startMariadb } from '../servers/databases/mariadb.ts';
import { startPostgres } from '../servers/databases/postgres.ts';
import { missingSqlite, openSqliteWriter } from '../servers/databases/sqlite.ts';

export interface LoadedDatabase {
  readonly jdbcUrl: string;
  stop(): Promise<void>;
}

export type Load = (csvPath: string, copies: number) => Promise<LoadedDatabase | { readonly skip: string }>;

/** Servers by product; each copy of the rows has its own keys. */
export const DATABASES: Readonly<Record<'postgresql' | 'mariadb' | 'sqlite' | 'duckdb', Load>> = {
  postgresql: loadPostgres,
  mariadb: loadMariadb,
  sqlite: loadSqlite,
  duckdb: loadDuckdb,
};

/** As many rows as there are keys in one copy. */
const COPY_ROWS = 1_000_000;

/** Column by column, as `INSERT … SELECT` wants them; `shift` is SQL for what is added to the key. */
const copied = (shift: string): string =>
  `SELECT id + ${shift}, name, concat('user', id + ${shift}, '@example.org'), city, country, score, visits, created, active, note`;

async function loadPostgres(csvPath: string, copies: number): ReturnType<Load> {
  const server = await startPostgres();
  if ('skip' in server) return server;
  return loaded(server, `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres`, async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    try {
      await client.query(`CREATE TABLE person (id integer PRIMARY KEY, name varchar(100), email varchar(100), city varchar(100),
        country varchar(2), score numeric(10,2), visits integer, created date, active boolean, note text)`);
      await pipeline(createReadStream(csvPath), client.query(from('COPY person FROM STDIN (FORMAT csv, HEADER)')));
      if (copies > 1)
        await client.query(`INSERT INTO person ${copied(`k * ${COPY_ROWS}`)} FROM generate_series(1, ${copies - 1}) AS k, person`);
      await client.query('VACUUM ANALYZE person');
      await client.query('CHECKPOINT');
    } finally {
      await client.end();
    }
  });
}

async function loadMariadb(csvPath: string, copies: number): ReturnType<Load> {
  const server = await startMariadb();
  if ('skip' in server) return server;
  return loaded(server, server.url, async () => {
    const login = { host: '127.0.0.1', port: server.port, user: 'root', database: 'test', charset: 'utf8mb4' };
    const client = await mysql.createConnection(login);
    try {
      await client.query(`CREATE TABLE person (id int PRIMARY KEY, name varchar(100), email varchar(100), city varchar(100),
        country varchar(2), score numeric(10,2), visits int, created date, active boolean, note text) CHARACTER SET utf8mb4`);
      await client.query({
        sql: `LOAD DATA LOCAL INFILE 'data.csv' INTO TABLE person CHARACTER SET utf8mb4
          FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\\n' IGNORE 1 LINES
          (id, name, email, city, country, score, visits, created, @active, note) SET active = @active = 'true'`,
        infileStreamFactory: () => createReadStream(csvPath),
      });
      for (let k = 1; k < copies; k++)
        await client.query(`INSERT INTO person ${copied(String(k * COPY_ROWS))} FROM person WHERE id < ${COPY_ROWS}`);
      await client.query('ANALYZE TABLE person');
    } finally {
      await client.end();
    }
  });
}

async function loadSqlite(csvPath: string, copies: number): ReturnType<Load> {
  const skip = missingSqlite();
  if (skip !== undefined) return { skip };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-bench-sqlite-'));
  const server = { stop: () => rm(directory, { recursive: true }) };
  const path = join(directory, 'person.db');
  return loaded(server, `jdbc:sqlite:${path}`, async () => {
    const database = openSqliteWriter(path);
    try {
      database.exec(`PRAGMA synchronous = 0; CREATE TABLE person (id integer PRIMARY KEY, name varchar(100), email varchar(100), city varchar(100),
        country varchar(2), score numeric(10,2), visits integer, created date, active boolean, note text); BEGIN`);
      const insert = database.prepare(`INSERT INTO person VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
      const lines = createInterface({ input: createReadStream(csvPath) })[Symbol.asyncIterator]();
      await lines.next();
      for await (const line of { [Symbol.asyncIterator]: () => lines }) {
        const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
          ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? (plain === '' ? null : (plain ?? null)),
        );
        insert.run(...cells.map((cell, i) => (i === 8 && cell !== null ? Number(cell === 'true') : cell)));
      }
      for (let k = 1; k < copies; k++)
        database.exec(`INSERT INTO person ${copied(String(k * COPY_ROWS))} FROM person WHERE id < ${COPY_ROWS}`);
      database.exec('COMMIT; ANALYZE');
    } finally {
      database.close();
    }
  });
}

async function loadDuckdb(csvPath: string, copies: number): ReturnType<Load> {
  const skip = missingDuckdb();
  if (skip !== undefined) return { skip };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-bench-duckdb-'));
  const server = { stop: () => rm(directory, { recursive: true }) };
  const path = join(directory, 'person.duckdb');
  return loaded(server, `jdbc:duckdb:${path}`, async () => {
    const copy = (k: number): string => `INSERT INTO person ${copied(String(k * COPY_ROWS))} FROM person WHERE id < ${COPY_ROWS};`;
    await writeDuckdb(
      path,
      `CREATE TABLE person (id integer PRIMARY KEY, name varchar, email varchar, city varchar, country varchar, score numeric(10,2),
        visits integer, created date, active boolean, note varchar);
       COPY person FROM '${csvPath.replaceAll("'", "''")}' (FORMAT csv, HEADER); ${Array.from({ length: copies - 1 }, (_, k) => copy(k + 1)).join(' ')}`,
    );
  });
}

async function loaded(server: { stop(): Promise<void> }, jdbcUrl: string, load: () => Promise<void>): Promise<LoadedDatabase> {
  try {
    await load();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { jdbcUrl, stop: () => server.stop() };
}
