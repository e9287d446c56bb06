/** SQL Server and Azure SQL. */
import type { Connection } from 'tedious';
import { atMost } from '../../../core/abort.ts';
import type { Fault } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import type { Column, DatabaseAddress, OpenSession, RowBatch, SessionOptions, SqlSession } from '../../database.ts';
import { sqlText } from '../../dialects/sqlserver.ts';
import { enclosed, outlineOf } from '../../dialects/sqlserver-text.ts';
import { cancelledFault, queryFault } from '../../faults.ts';
import { beginOrClose } from '../../jdbc/connect.ts';
import { firstRows } from '../../result/first-rows.ts';
import { sqlServerCatalogue } from './catalogue.ts';
import { connect, loadDriver } from './connect.ts';
import { type DriverError, faultOf } from './faults.ts';
import { Rows, type Tedious } from './rows.ts';
import { columnOf, type Described, sentAs, textOf } from './types.ts';

const CANCEL_LIMIT_MS = 4_000;
const CLOSE_LIMIT_MS = 1_000;

export const openSqlServer: OpenSession = async (address, options) => {
  const tedious = await loadDriver();
  return beginOrClose(new SqlServerSession(address, options, tedious, await connect(tedious, address, options)));
};

type Row = Readonly<Record<string, string | null>>;

class SqlServerSession implements SqlSession {
  readonly product = 'sqlserver';
  readonly address: DatabaseAddress;
  readonly catalogue = sqlServerCatalogue((sql, parameters) => this.#internal(sql, parameters));
  version = '';
  warning: string | undefined;
  readonly #options: SessionOptions;
  readonly #tedious: Tedious;
  readonly #connection: Connection;
  /** 0: no limit. */
  readonly #statementSeconds: number;
  #running: Rows | undefined;
  #lost: unknown;
  readonly #abort = (): void => this.#running?.fail(new Error('cancelled'));

  constructor(address: DatabaseAddress, options: SessionOptions, tedious: Tedious, connection: Connection) {
    this.address = address;
    this.#options = options;
    this.#tedious = tedious;
    this.#connection = connection;
    this.#statementSeconds = lowest(Number(address.parameters.queryTimeout ?? 0), options.statementSeconds);
    connection.on('error', (error) => this.#breakOff(error));
    connection.on('end', () => this.#breakOff(new Error('the server closed the connection')));
    options.signal?.addEventListener('abort', this.#abort);
  }

  /**
   * Fixes what decides how statements are read, and begins the one transaction of the session. SQL Server has no read-only transactions: only queries get
   * to it (`#check`), and the transaction is rolled back.
   */
  async begin(): Promise<void> {
    const lockMs = lowest(Number(this.address.parameters.lockTimeout ?? 0), this.#options.lockSeconds * 1000);
    await this.#internal(`SET QUOTED_IDENTIFIER, ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT, IMPLICIT_TRANSACTIONS, XACT_ABORT OFF;
SET ROWCOUNT 0;
SET LOCK_TIMEOUT ${lockMs === 0 ? -1 : Math.ceil(lockMs)};`);
    const [row] = await this.#internal(`SELECT CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')) AS version,
  (SELECT snapshot_isolation_state FROM sys.databases WHERE database_id = DB_ID()) AS state`);
    this.version = row?.version ?? '';
    const isSnapshot = row?.state === '1';
    if (!isSnapshot)
      this.warning = `${this.address.name} does not allow snapshots, so each query reads the rows as they are when it begins (ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION ON)`;
    await this.#internal(`SET TRANSACTION ISOLATION LEVEL ${isSnapshot ? 'SNAPSHOT' : 'READ COMMITTED'}; BEGIN TRANSACTION;`);
  }

  async describe(sql: string): Promise<readonly Column[]> {
    return (await this.#check(sql)).columns.map(columnOf);
  }

  /** The query without what follows it, and its columns. It is known to be one query and nothing else. */
  async #check(sql: string): Promise<{ readonly text: string; readonly columns: readonly Described[] }> {
    const outline = outlineOf(sql);
    if (outline.broken !== undefined) throw this.#refusal(`The text is no query: it has ${outline.broken}`, 'Write one SELECT');
    const columns = await this.#described(outline.text, sql);
    if (columns.length === 0) throw this.#refusal('The text is no query: it gives no columns');
    try {
      await this.#described(enclosed(outline, columns.length), undefined);
    } catch (error) {
      throw this.#refusal(
        'Only a query can be run here',
        'Write one SELECT, also with WITH or OPTION, without INTO',
        (error as Error).cause,
      );
    }
    return { text: outline.text, columns };
  }

  /** The columns that the server finds in a text without running it. @param sql as its author wrote it */
  async #described(text: string, sql: string | undefined): Promise<readonly Described[]> {
    const rows = await this.#internal(
      `SELECT name, system_type_name, user_type_schema, user_type_name, CONVERT(int, is_hidden) AS hidden, error_number, error_message
FROM sys.dm_exec_describe_first_result_set(?, NULL, 0) ORDER BY column_ordinal`,
      [text],
    );
    const failed = rows.find((row) => row.error_number !== null);
    if (failed !== undefined) {
      const error: DriverError = Object.assign(new Error(failed.error_message ?? ''), { number: Number(failed.error_number) });
      throw this.#faultOf(error, sql);
    }
    return rows
      .filter(({ hidden }) => hidden !== '1')
      .map(({ name, system_type_name, user_type_schema, user_type_name }) => ({
        name: name ?? '',
        type: system_type_name ?? user_type_name ?? '',
        clr: system_type_name === null ? `[${user_type_schema}].[${user_type_name}]` : undefined,
      }));
  }

  async *rows(sql: string, columns: number): AsyncGenerator<RowBatch> {
    const { text } = outlineOf(sql);
    const described = await this.#described(text, sql);
    if (described.length !== columns)
      throw this.#refusal(`The query has ${described.length} columns now, and had ${columns} when it was described`);
    const rows = this.#run(asTexts(text, described), described);
    try {
      for (let left = this.#statementSeconds * 1000; ; ) {
        const start = performance.now();
        const batch = await this.#next(rows, left);
        if (batch === undefined) return;
        if (left > 0) left = Math.max(1, left - (performance.now() - start));
        yield batch;
      }
    } catch (error) {
      throw this.#faultOf(error, sql);
    } finally {
      await this.#stop(rows);
    }
  }

  async select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }> {
    const { text, columns } = await this.#check(sql);
    return { columns: columns.map(columnOf), batches: firstRows(this.rows(text, columns.length), maxRows + 1) };
  }

  async query(sql: string, parameters: readonly (string | number)[] = []): Promise<readonly Row[]> {
    const text = withValues(sql, parameters);
    const described = await this.#described(text, undefined);
    return this.#all(asTexts(text, described), described);
  }

  /** A statement of this driver, whose values are integers and texts. */
  #internal(sql: string, parameters: readonly (string | number)[] = []): Promise<readonly Row[]> {
    return this.#all(withValues(sql, parameters), undefined);
  }

  async #all(sql: string, described: readonly Described[] | undefined): Promise<readonly Row[]> {
    const rows = this.#run(sql, described);
    try {
      const all: (readonly (string | null)[])[] = [];
      const left = this.#statementSeconds * 1000;
      for (let batch = await this.#next(rows, left); batch !== undefined; batch = await this.#next(rows, left)) all.push(...batch.rows);
      const names = described?.map(({ name }) => name) ?? rows.columns ?? [];
      return all.map((row) => Object.fromEntries(names.map((name, i) => [name, characters(row[i] ?? null)])));
    } catch (error) {
      throw this.#faultOf(error, undefined);
    } finally {
      await this.#stop(rows);
    }
  }

  async exportSnapshot(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    if (this.#running !== undefined) await this.#stop(this.#running);
    if (this.#lost === undefined) {
      this.#lost = new Error('the session is closed');
      // The server rolls back what is open.
      const ended = new Promise<void>((resolve) => void this.#connection.once('end', () => resolve()));
      this.#connection.close();
      await atMost(CLOSE_LIMIT_MS, ended);
    }
  }

  #run(sql: string, described: readonly Described[] | undefined): Rows {
    if (this.#options.signal?.aborted) throw cancelledFault(this.address);
    if (this.#lost !== undefined) throw this.#faultOf(this.#lost, undefined);
    if (this.#running !== undefined) throw new Error('a session runs one statement at a time');
    const types = described?.map(({ type }) => type);
    this.#running = new Rows(this.#tedious, this.#connection, sql, (value, column) => textOf(value, types?.[column] ?? ''));
    return this.#running;
  }

  /** @param leftMs 0: no limit */
  async #next(rows: Rows, leftMs: number): Promise<RowBatch | undefined> {
    const late = Object.assign(new Error('the time limit'), { code: 'ETIMEOUT' });
    const timer = leftMs > 0 ? setTimeout(() => rows.fail(late), Math.min(leftMs, 2 ** 31 - 1)) : undefined;
    try {
      return await rows.next();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Afterwards the connection is idle, or closed. */
  async #stop(rows: Rows): Promise<void> {
    if (!rows.isOver) {
      rows.cancel();
      if (!(await atMost(CANCEL_LIMIT_MS, rows.ended))) {
        this.#breakOff(new Error('the statement could not be cancelled'));
        this.#connection.close();
      }
    }
    if (this.#running === rows) this.#running = undefined;
  }

  #breakOff(error: unknown): void {
    this.#lost ??= error;
    this.#running?.fail(error);
  }

  #faultOf(error: unknown, sql: string | undefined): Fault {
    if (this.#options.signal?.aborted) return cancelledFault(this.address);
    return faultOf(error, { address: this.address, statementSeconds: this.#statementSeconds, ...(sql === undefined ? {} : { sql }) });
  }

  #refusal(message: string, hint?: string, cause?: unknown): Fault {
    return queryFault(message, this.address, hint, cause);
  }
}

/**
 * The query, with the columns of its result converted by the server. It is not wrapped in another one: so its order is kept, its columns need no names, and
 * WITH may begin it.
 *
 * @see https://learn.microsoft.com/en-us/sql/t-sql/language-elements/execute-transact-sql#with-execute_option
 */
export function asTexts(sql: string, columns: readonly Described[]): string {
  const sets = columns.map((column, i) => `c${i + 1} ${sentAs(column)} NULL`);
  return `EXEC (${sqlText(sql)}) WITH RESULT SETS ((${sets.join(', ')}))`;
}

const characters = (text: string | null): string | null => (text === null ? null : fromBytes(text));

/** The lower of two limits; 0 is none. */
const lowest = (a: number, b: number): number => (a === 0 || b === 0 ? a + b : Math.min(a, b));

function withValues(sql: string, parameters: readonly (string | number)[]): string {
  if (parameters.length === 0) return sql;
  let next = 0;
  return sql.replace(/\?/g, () => {
    const value = parameters[next++] as string | number;
    return typeof value === 'number' ? String(value) : sqlText(value);
  });
}
