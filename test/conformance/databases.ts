/** The databases of cases: servers that are started when the first case wants them, and emptied for each. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { startMariadb } from '../servers/databases/mariadb.ts';
import { startPostgres } from '../servers/databases/postgres.ts';
import type { Case } from './manifest.ts';

/** As the manifest calls them. MariaDB stands for MySQL. */
export type DatabaseFormat = 'PostgreSQL' | 'MySQL';

export interface CaseDatabase {
  readonly jdbcUrl: string;
  readonly user: string;
  /** Empties the database and loads a script, or says why the script cannot be loaded. */
  load(test: Case, script: string | undefined): Promise<string | undefined>;
}

interface OpenDatabase extends CaseDatabase {
  stop(): Promise<void>;
}

export class CaseDatabases {
  readonly #open = new Map<DatabaseFormat, Promise<OpenDatabase | { readonly skip: string }>>();

  /** @returns why there is none, or the one server of that kind */
  get(format: DatabaseFormat): Promise<CaseDatabase | { readonly skip: string }> {
    let database = this.#open.get(format);
    if (database === undefined) {
      database = format === 'PostgreSQL' ? openPostgres() : openMariadb();
      this.#open.set(format, database);
    }
    return database;
  }

  async close(): Promise<void> {
    for (const opening of this.#open.values()) {
      const database = await opening;
      if ('stop' in database) await database.stop();
    }
  }
}

async function openPostgres(): Promise<OpenDatabase | { readonly skip: string }> {
  const server = await startPostgres();
  if ('skip' in server) return server;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    jdbcUrl: `jdbc:postgresql://127.0.0.1:${server.port}/postgres`,
    user: 'postgres',
    async load(_, script) {
      await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      if (script === undefined) return undefined;
      // Some scripts were written for servers that take backslashes for escapes: `'\\\\x89'` is one byte there.
      await client.query(`SET standard_conforming_strings = ${script.includes("'\\\\x") ? 'off' : 'on'}`);
      return client.query(script).then(() => undefined, reasonOf);
    },
    async stop() {
      await client.end();
      await server.stop();
    },
  };
}

/** The W3C's scripts and queries are standard SQL, with double quotes for identifiers and `||` between texts. */
const STANDARD_SQL: ReadonlySet<string> = new Set(['w3c-rdb2rdf', 'r2rml-kgc']);

async function openMariadb(): Promise<OpenDatabase | { readonly skip: string }> {
  const server = await startMariadb();
  if ('skip' in server) return server;
  const common = { host: '127.0.0.1', port: server.port, user: 'root', multipleStatements: true };
  const root = await mysql.createConnection(common);
  const [[usual]] = (await root.query('SELECT @@GLOBAL.sql_mode AS mode')) as unknown as [{ mode: string }[]];
  return {
    jdbcUrl: `jdbc:mariadb://127.0.0.1:${server.port}/test`,
    user: 'root',
    async load({ suite }, script) {
      const modes = STANDARD_SQL.has(suite) ? ['ANSI_QUOTES', 'PIPES_AS_CONCAT'] : [];
      await root.query('SET GLOBAL sql_mode = ?', [[...(usual?.mode.split(',') ?? []), ...modes].join(',')]);
      await root.query('DROP DATABASE IF EXISTS test; CREATE DATABASE test');
      if (script === undefined) return undefined;
      const loader = await mysql.createConnection({ ...common, database: 'test' });
      try {
        return await loader.query(script).then(() => undefined, reasonOf);
      } finally {
        await loader.end();
      }
    },
    async stop() {
      await root.end();
      await server.stop();
    },
  };
}

const reasonOf = (error: Error): string => `its script cannot be loaded: ${error.message}`;

/** For a case without a script: its tables are CSV files, with whole numbers as integers. */
export async function scriptForTables(paths: readonly string[]): Promise<string> {
  const tables = await Promise.all(paths.map(async (path) => [basename(path, '.csv'), await readFile(path, 'utf8')] as const));
  return tables
    .map(([table, text]) => {
      const [names = [], ...rows] = text
        .trim()
        .split(/\r?\n/)
        .map((line) => line.split(','));
      const isNumber = (column: number): boolean => rows.every((row) => /^\d+$/.test(row[column] ?? ''));
      const columns = names.map((name, column) => `${name} ${isNumber(column) ? 'INTEGER' : 'VARCHAR(99)'}`);
      const values = rows.map((row) => `(${row.map((cell) => `'${cell.replaceAll("'", "''")}'`).join(', ')})`);
      return `CREATE TABLE ${table} (${columns.join(', ')}); INSERT INTO ${table} VALUES ${values.join(', ')};`;
    })
    .join('\n');
}

/** The script of a case, as its suite's own notes say that it has to be read on the product. */
export async function scriptFor(path: string, format: DatabaseFormat): Promise<string> {
  const script = await readFile(path, 'utf8');
  if (format === 'MySQL') return script;
  // The suites' own notes tell of a line of MySQL's, and of a type that PostgreSQL writes otherwise.
  const portable = script.replace(/^USE test;/m, '').replace(/\bVARBINARY\(\d+\)/gi, 'BYTEA');
  return portable.replace(/\bX'([0-9A-F]*)'/gi, "'\\x$1'");
}
