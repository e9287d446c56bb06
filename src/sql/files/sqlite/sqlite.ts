/** SQLite in the host process: Node's own `node:sqlite`, or a package with the same interface where Node has none. */
import { mkdir } from 'node:fs/promises';
import type { TableScan } from '../../database.ts';
import {
  type Cursor,
  type Engine,
  type EngineColumn,
  EngineError,
  type EngineFault,
  type OpenEngine,
  type PlainRows,
  textAt,
} from '../engine.ts';
import { type Cell, SqliteCursor, writing } from './cursor.ts';
import { EXPECTED, kindOf } from './kinds.ts';
import { type PackedQueries, packedCursor } from './packed.ts';

/** The part of the interface of `node:sqlite` that is used. */
interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): void;
}

interface Statement {
  columns(): readonly { readonly name: string; readonly type: string | null }[];
  iterate(...parameters: readonly (string | number | bigint)[]): Iterator<readonly Cell[]>;
  get(...parameters: readonly bigint[]): unknown;
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
}

interface Library {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: true; readonly timeout: number }) => Database;
  readonly StatementSync: { readonly prototype: object };
}

/** Every SQLite database begins with it, unless it is empty or encrypted. */
const MAGIC = 'SQLite format 3\0';

export const openSqlite: OpenEngine = async ({ path, lockMs, spillDirectory }) => {
  const { DatabaseSync } = await loadLibrary();
  if (!['', MAGIC].includes(await textAt(path, 0, MAGIC.length))) throw new EngineError(NO_DATABASE);
  try {
    // SQLite looks for it once, when the first database is opened. Where it cannot be made, a query that needs no temporary file runs all the same.
    process.env.SQLITE_TMPDIR = spillDirectory;
    await mkdir(spillDirectory, { recursive: true }).catch(() => {});
    const database = new DatabaseSync(path, { readOnly: true, timeout: lockMs });
    // Temporary tables of large sorts are files, not memory; 16 MB of pages.
    database.exec('PRAGMA query_only = 1; PRAGMA cache_size = -16384; PRAGMA temp_store = 1; BEGIN');
    // The transaction sees one state from its first read on. The page count is checked against the file here, too.
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return new Sqlite(database);
  } catch (error) {
    throw error instanceof EngineError ? error : new EngineError(faultOf(error));
  }
};

async function loadLibrary(): Promise<Library> {
  // A name that the compiler does not resolve: the types of the lowest version of Node lack it.
  const builtIn = 'node:sqlite';
  const own = (await import(builtIn).catch(() => undefined)) as Library | undefined;
  if (own !== undefined && 'columns' in own.StatementSync.prototype && 'setReturnArrays' in own.StatementSync.prototype) return own;
  try {
    return (await import('@photostructure/sqlite')) as unknown as Library;
  } catch {
    throw new EngineError({
      kind: 'driver',
      message: `SQLite files need Node 22.16 or later, or the package @photostructure/sqlite; this is Node ${process.versions.node}`,
      hint: 'Run npm install @photostructure/sqlite beside Quadmill, or use a later Node',
    });
  }
}

const NO_DATABASE: EngineFault = {
  kind: 'type',
  message: '{} is not an SQLite database, or an encrypted one',
  hint: 'An SQLite database begins with the bytes "SQLite format 3"; encrypted ones cannot be read here, export such a database first',
};

/**
 * `REPLACE(x, "/", "-")`: other programs take a name in double quotes that no column has for a text, and so would not notice a misspelt column.
 */
function withTextHint(error: unknown, sql: string): unknown {
  const name = /^no such column: "?(.+?)"?(?: - .*)?$/s.exec((error as Error).message)?.[1];
  if (name === undefined || !sql.includes(`"${name}"`)) return error;
  const { hint: _, ...fault } = faultOf(error);
  return new EngineError({
    ...fault,
    hint: `Double quotes name columns. If it is a text, write '${name.replaceAll("'", "''")}', in single quotes`,
  });
}

class Sqlite implements Engine {
  readonly version: string;
  readonly #database: Database;
  readonly faultOf = faultOf;

  constructor(database: Database) {
    this.#database = database;
    const version = database.prepare('SELECT sqlite_version() AS version');
    this.version = (version.get() as { readonly version: string }).version;
  }

  describe(sql: string): readonly EngineColumn[] {
    // As a subquery it is one query and nothing more: no PRAGMA, ATTACH or second statement. Prepared alone, the rest of the text would be ignored.
    try {
      this.#database.prepare(`SELECT 1 FROM (${sql}\n)`);
    } catch (error) {
      throw withTextHint(error, sql);
    }
    const columns = this.#database.prepare(sql).columns();
    return columns.map(({ name, type }) => ({ name, type: type ?? undefined }));
  }

  rows(sql: string, table?: TableScan): Cursor {
    return (table === undefined || table.columns.length === 0 ? undefined : this.#packed(sql, table)) ?? this.#rows(sql, []);
  }

  plainRows(sql: string, parameters: readonly (string | number)[]): PlainRows {
    const cursor = this.#rows(sql, parameters, () => 'irtb');
    const all: (readonly (string | null)[])[] = [];
    for (let row = cursor.next(); row !== undefined; row = cursor.next()) all.push(row);
    return all;
  }

  /** @param expected the storage classes that are not marked in a column of this type */
  #rows(sql: string, parameters: readonly (string | number | bigint)[], expected = expectedOf): SqliteCursor {
    const statement = this.#prepare(sql);
    const columns = statement.columns().map(({ type }) => writing(expected(type)));
    return new SqliteCursor(statement, statement.iterate(...parameters), columns);
  }

  #prepare(sql: string): Statement {
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  }

  /** Only an ordinary table has its rows in the order of their ids. A generated column may be an expression whose result JSON takes for JSON. */
  #packed(sql: string, table: TableScan): Cursor | undefined {
    const [found] = this.plainRows("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table.name]);
    if (found?.[0] !== 'table' || found[1] !== '0') return undefined;
    const columns = this.plainRows('SELECT name, hidden FROM pragma_table_xinfo(?)', [table.name]);
    if (columns.some(([, hidden]) => hidden !== '0')) return undefined;
    const names = columns.map(([name]) => name as string);
    const expected = this.#database
      .prepare(sql)
      .columns()
      .map(({ type }) => expectedOf(type));
    const queries: PackedQueries = { prepare: (text) => this.#prepare(text), rows: (text, parameters) => this.#rows(text, parameters) };
    return packedCursor(queries, table, names, expected);
  }
}

const expectedOf = (type: string | null): string => EXPECTED[kindOf(type ?? undefined)];

/** @see https://www.sqlite.org/rescode.html */
function faultOf(error: unknown): EngineFault {
  const { message, errcode } = error as Error & { readonly errcode?: number };
  const text = message.replace(/\.$/, '');
  const is = (code: number, words: RegExp): boolean => (errcode === undefined ? words.test(message) : (errcode & 0xff) === code);
  if (is(5, /database is locked/) || is(6, /table is locked/))
    return { kind: 'busy', message: 'Another process holds a lock on the file for longer than the limit' };
  if (is(26, /not a database/)) return NO_DATABASE;
  if (is(11, /malformed/))
    return {
      kind: 'malformed',
      message: `{} is damaged or cut off: ${text}`,
      hint: 'sqlite3 FILE "PRAGMA integrity_check" says where; .recover saves what can be read',
    };
  if (is(18, /too big/)) return { kind: 'too-large', message: `A value of {} is too large: ${text}` };
  if (is(8, /readonly/))
    return {
      kind: 'unreadable',
      message: `{} cannot be opened read-only: ${text}`,
      hint: 'A writer that crashed has left a journal; open the file once with sqlite3, so that it is recovered',
    };
  if (is(10, /disk I\/O/) || is(14, /unable to open/))
    return {
      kind: 'unreadable',
      message: `{} cannot be read: ${text}`,
      hint: 'A database in WAL mode needs its -wal and -shm files beside it, or a directory that can be written',
    };
  return { kind: 'query', message: text };
}
