/** DuckDB in the host process, by the package @duckdb/node-api. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult, DuckDBType, DuckDBVector } from '@duckdb/node-api';
import type { CellWriter } from '../cells.ts';
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
import { kindOf, textOf } from './kinds.ts';

type Library = typeof import('@duckdb/node-api');

/** Every DuckDB database has it in its first block, also an encrypted one. */
const MAGIC = 'DUCK';
const MAGIC_OFFSET = 8;

/** How often a file that a writer has open is tried again. */
const RETRY_MS = 100;

export const openDuckdb: OpenEngine = async ({ path, lockMs, memoryBytes, spillDirectory }) => {
  const { DuckDBInstance, version } = await loadLibrary();
  if ((await textAt(path, MAGIC_OFFSET, MAGIC.length)) !== MAGIC) throw new EngineError(NO_DATABASE);
  const settings = {
    access_mode: 'READ_ONLY',
    memory_limit: `${Math.floor(memoryBytes / 2 ** 20)}MiB`,
    temp_directory: spillDirectory,
    threads: '1',
    // Queries read the database file alone.
    enable_external_access: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_persistent_secrets: 'false',
  };
  const until = performance.now() + lockMs;
  for (;;) {
    try {
      const connection = await (await DuckDBInstance.create(path, settings)).connect();
      for (const statement of ["SET TimeZone = 'UTC'", 'SET lock_configuration = true', 'BEGIN TRANSACTION READ ONLY'])
        await connection.run(statement);
      return new Duckdb(connection, version());
    } catch (error) {
      const fault = faultOf(error);
      if (fault.kind !== 'busy' || performance.now() >= until) throw new EngineError(fault);
      await sleep(RETRY_MS);
    }
  }
};

async function loadLibrary(): Promise<Library> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    throw new EngineError({
      kind: 'driver',
      message: missing
        ? 'DuckDB files need the package @duckdb/node-api, which is not installed'
        : `The package @duckdb/node-api cannot be loaded: ${message.split('\n', 1)[0]}`,
      hint: 'Run npm install @duckdb/node-api beside Quadmill',
    });
  }
}

const NO_DATABASE: EngineFault = {
  kind: 'type',
  message: '{} is not a DuckDB database',
  hint: 'A DuckDB database has the bytes DUCK behind the first eight; Parquet and CSV files are sources themselves',
};

class Duckdb implements Engine {
  readonly version: string;
  readonly #connection: DuckDBConnection;
  readonly faultOf = faultOf;

  constructor(connection: DuckDBConnection, version: string) {
    this.#connection = connection;
    this.version = version.replace(/^v/, '');
  }

  async describe(sql: string): Promise<readonly EngineColumn[]> {
    const columns = await this.#columns(sql);
    // As a subquery it is a query and nothing more: no PRAGMA, ATTACH or second statement.
    await this.#columns(`SELECT * FROM (${sql}\n) AS q`);
    return columns;
  }

  async rows(sql: string): Promise<Cursor> {
    const columns = await this.#columns(sql);
    const names = columns.map((_, i) => `c${i}`);
    const texts = columns.map(({ type = '' }, i) => `${textOf(`c${i}`, kindOf(type))} AS t${i}`);
    const lengths = columns.map((_, i) => `coalesce(strlen(t${i}), -1)`).join(`, ',', `);
    // One text for a row: reading a text costs more than DuckDB takes to make it. A null adds nothing to a concat. Rows keep the order of the
    // subquery, as preserve_insertion_order is on.
    const packed = `SELECT concat(${lengths}, ';', ${columns.map((_, i) => `t${i}`).join(', ')})
      FROM (SELECT ${texts.join(', ')} FROM (${sql}\n) AS q(${names.join(', ')})) AS texts`;
    return new DuckdbCursor(await this.#connection.stream(packed), columns.length);
  }

  async plainRows(sql: string, parameters: readonly (string | number)[]): Promise<PlainRows> {
    const rows = await (await this.#connection.runAndReadAll(sql, [...parameters])).getRows();
    return rows.map((row) => row.map((item) => (item === null ? null : String(item))));
  }

  async #columns(sql: string): Promise<readonly EngineColumn[]> {
    const statement = await this.#connection.prepare(sql);
    try {
      // With parameters, types are not known before they have values.
      const hasTypes = statement.parameterCount === 0;
      return Array.from({ length: statement.columnCount }, (_, i) => ({
        name: statement.columnName(i),
        type: hasTypes ? typeName(statement.columnType(i)) : undefined,
      }));
    } finally {
      statement.destroySync();
    }
  }
}

const typeName = (type: DuckDBType): string => type.alias ?? String(type);

class DuckdbCursor implements Cursor {
  readonly #result: DuckDBResult;
  readonly #lengths: number[];
  #chunk: DuckDBDataChunk | null = null;
  #vector: DuckDBVector | undefined;
  #row = 0;

  constructor(result: DuckDBResult, columns: number) {
    this.#result = result;
    this.#lengths = new Array(columns).fill(-1);
  }

  async fill(batch: CellWriter): Promise<boolean> {
    while (!batch.full) {
      if (this.#chunk === null || this.#row >= this.#chunk.rowCount) {
        this.#chunk = await this.#result.fetchChunk();
        if (this.#chunk === null || this.#chunk.rowCount === 0) return true;
        this.#vector = this.#chunk.getColumnVector(0);
        this.#row = 0;
      }
      this.#add(this.#vector?.getItem(this.#row++) as string, batch);
    }
    return false;
  }

  /** @param row `2,-1,3;abcde`: the lengths of the texts, and the texts */
  #add(row: string, batch: CellWriter): void {
    const lengths = this.#lengths;
    let at = 0;
    for (let column = 0; column < lengths.length; column++) {
      const isNull = row.charCodeAt(at) === MINUS;
      if (isNull) at++;
      let length = 0;
      for (let digit = row.charCodeAt(at++) - ZERO; digit >= 0 && digit <= 9; digit = row.charCodeAt(at++) - ZERO)
        length = length * 10 + digit;
      lengths[column] = isNull ? -1 : length;
    }
    batch.addPacked(lengths, row.slice(at));
  }

  close(): void {
    this.#chunk = null;
    this.#vector = undefined;
  }
}

const MINUS = 45;
const ZERO = 48;

function faultOf(error: unknown): EngineFault {
  if (error instanceof EngineError) return error.fault;
  const { message } = error as Error;
  const [first = ''] = message.split('\n', 1);
  const text = first.replace(/\.$/, '');
  if (/Could not set lock on file|being used by another process/.test(message))
    return { kind: 'busy', message: 'Another process has the file open for writing for longer than the limit' };
  if (/not a valid DuckDB database/.test(message)) return NO_DATABASE;
  if (/version number/.test(message))
    return {
      kind: 'unreadable',
      message: `{} was written by another version of DuckDB: ${text}`,
      hint: 'A later version of the package @duckdb/node-api may read it; EXPORT DATABASE and IMPORT DATABASE convert it',
    };
  if (/encrypt/i.test(message) && /^(?:IO|Catalog|Invalid Input|Invalid Configuration|Binder) Error/.test(message))
    return { kind: 'unreadable', message: '{} is encrypted, and cannot be read here', hint: 'Copy it into a database without encryption' };
  if (/Corrupt database|checksum|Could not read enough bytes|Serialization Error|INTERNAL Error|FATAL Error/.test(message))
    return { kind: 'malformed', message: `{} is damaged or cut off: ${text}`, hint: 'EXPORT DATABASE saves what can be read' };
  if (/^Out of Memory Error/.test(message)) {
    const hint = 'A larger memory budget of the run, or a query that sorts and groups less, may help';
    return { kind: 'too-large', message: `A query of {} needs more memory than it may have: ${text}`, hint };
  }
  // Of JavaScript: a text longer than half a gigabyte.
  if ((error as NodeJS.ErrnoException).code === 'ERR_STRING_TOO_LONG' || /Invalid string length|string longer than/.test(message))
    return { kind: 'too-large', message: 'A row of {} is too large: its texts have more than half a gigabyte' };
  if (/^IO Error/.test(message)) return { kind: 'unreadable', message: `{} cannot be read: ${text}` };
  return { kind: 'query', message: messageOf(message) };
}

/** `Binder Error: Referenced column "x" not found … (at line 1, column 8)`: without the lines that show the place. */
function messageOf(message: string): string {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  const shown = lines.findIndex((line) => /^LINE \d+:/.test(line));
  return (shown === -1 ? lines : lines.slice(0, shown)).join('; ').replace(/\.$/, '');
}
