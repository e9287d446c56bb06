/** MySQL and MariaDB. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { PrepareStatementInfo } from 'mysql2';
import { atMost, within } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import type { Column, DatabaseAddress, OpenSession, Product, RowBatch, SessionOptions, SqlSession } from '../database.ts';
import { cancelledFault, queryFault } from '../faults.ts';
import { beginOrClose } from '../jdbc/connect.ts';
import { firstRows } from '../result/first-rows.ts';
import { mysqlCatalogue } from './catalogue.ts';
import { type Connected, connect } from './connect.ts';
import { faultOf, type MysqlError } from './faults.ts';
import { Rows, type Socketed } from './rows.ts';
import { lookAt } from './text.ts';
import { type ColumnDefinition, columnOf } from './types.ts';

/** Time for a cancelled statement to end, before its connection is closed. */
const CANCEL_LIMIT_MS = 3_000;
/** KILL QUERY has no effect on a statement that has not begun, so it is repeated. */
const KILL_AGAIN_MS = 200;
const CLOSE_LIMIT_MS = 1_000;
/** How long the server waits for a slow reader. */
const PATIENCE_SECONDS = 86_400;
/** The longest lock wait that the server accepts: a year. */
const LOCK_LIMIT_SECONDS = 31_536_000;

export const openMysql: OpenSession = async (address, options) =>
  beginOrClose(new MysqlSession(address, options, await connect(address, options)));

type Row = Readonly<Record<string, string | null>>;

/** The current operation of the connection: reading rows, or preparing a statement. */
interface Running {
  readonly ended: Promise<void>;
  readonly isOver: boolean;
  discard(): void;
  drain(): void;
  fail(error: unknown): void;
}

class MysqlSession implements SqlSession {
  readonly address: DatabaseAddress;
  readonly catalogue = mysqlCatalogue((sql, parameters) => this.query(sql, parameters));
  product: Product;
  version = '';
  readonly #options: SessionOptions;
  readonly #connected: Connected;
  readonly #connection: Socketed;
  #id = '';
  /** 0: no limit. */
  #statementSeconds = 0;
  /** Whether a backslash is an escape within quotes. */
  #backslashes = true;
  #running: Running | undefined;
  #stopping: Promise<void> | undefined;
  #lost: unknown;
  readonly #abort = (): void => {
    if (this.#running !== undefined) void this.#stop(this.#running);
  };

  constructor(address: DatabaseAddress, options: SessionOptions, connected: Connected) {
    this.address = address;
    this.product = address.product;
    this.#options = options;
    this.#connected = connected;
    this.#connection = connected.connection;
    this.#connection.on('error', (error) => this.#breakOff(error));
    this.#limitSilence(Number(address.parameters.socketTimeout ?? 0));
    options.signal?.addEventListener('abort', this.#abort);
  }

  /** Configures the session as the contract requires. */
  async begin(): Promise<void> {
    const [row] = await this.query('SELECT VERSION() AS version, CONNECTION_ID() AS id, @@character_set_results AS charset');
    const version = row?.version ?? '';
    this.product = /mariadb/i.test(version) ? 'mariadb' : 'mysql';
    this.version = /^[\d.]+(?:-MariaDB)?/i.exec(version)?.[0] ?? version;
    this.#id = row?.id ?? '';
    // A server may ignore the client's setting, or change it with init_connect.
    if (row?.charset !== 'utf8mb4') await this.query('SET NAMES utf8mb4');
    await this.query(`SET ${this.#settings().join(', ')}`);
    const { sessionVariables } = this.address.parameters;
    if (sessionVariables) await this.query(`SET ${sessionVariables}`);
    await this.#limitStatements();
    const [mode] = await this.query('SELECT @@SESSION.sql_mode AS mode');
    this.#backslashes = !(mode?.mode ?? '').includes('NO_BACKSLASH_ESCAPES');
    await this.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    await this.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  }

  #settings(): readonly string[] {
    const { lockSeconds } = this.#options;
    const lock = lockSeconds === 0 ? LOCK_LIMIT_SECONDS : Math.ceil(lockSeconds);
    const waits = ['net_write_timeout', 'wait_timeout'].map((name) => `${name} = ${PATIENCE_SECONDS}`);
    return [...waits, `lock_wait_timeout = ${lock}`, `innodb_lock_wait_timeout = ${lock}`, ...zoneOf(this.address)];
  }

  /** The lower of our limit and that of the server or of `sessionVariables`, which an untrusted user may set. 0 means none. */
  async #limitStatements(): Promise<void> {
    const { statementSeconds } = this.#options;
    const [name, unit] = this.product === 'mariadb' ? ['max_statement_time', 1] : ['max_execution_time', 1000];
    const [row] = await this.query(`SELECT @@SESSION.${name} AS own`);
    const own = Number(row?.own ?? 0) / unit;
    const limits = [own, statementSeconds].filter((limit) => limit > 0);
    if (limits.length === 0) return;
    this.#statementSeconds = Math.min(...limits);
    await this.query(`SET ${name} = ${unit === 1 ? this.#statementSeconds : Math.ceil(this.#statementSeconds * unit)}`);
  }

  async describe(sql: string): Promise<readonly Column[]> {
    const { columns, parameters } = await this.#prepare(sql);
    if (parameters > 0) throw this.#refusal(`The query has ${parameters} placeholders (?), which have no value here`);
    if (columns.length === 0) throw this.#refusal('The text is no query: it gives no columns');
    const tinyInt1isBit = this.address.parameters.tinyInt1isBit !== 'false';
    return columns.map((column) => columnOf(column, { tinyInt1isBit }));
  }

  async *rows(sql: string, columns: number): AsyncGenerator<RowBatch> {
    const rows = this.#run(sql, 'latin1');
    try {
      for (;;) {
        const batch = await rows.next();
        if (this.#options.signal?.aborted) throw cancelledFault(this.address);
        const now = rows.columns?.length ?? 0;
        if (now !== columns) throw this.#refusal(`The query has ${now} columns now, and had ${columns} when it was described`);
        if (batch === undefined) return;
        yield batch;
      }
    } catch (error) {
      throw this.#faultOf(error, sql);
    } finally {
      await this.#stop(rows);
    }
  }

  async select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }> {
    if (sql.includes('\0')) throw this.#refusal('The query has a NUL character, where MySQL would end it');
    const { text, locks } = lookAt(sql, this.#backslashes);
    if (locks) throw this.#refusal('The query would lock what it reads', 'Leave FOR UPDATE, FOR SHARE and LOCK IN SHARE MODE out');
    const columns = await this.describe(text);
    await this.#checkQuery(text);
    return { columns, batches: firstRows(this.rows(text, columns.length), maxRows + 1) };
  }

  /**
   * Whether the text is a query and nothing more. It is known to be one statement; if it is also valid within parentheses, it is a query
   * expression: not SHOW, not CALL, not INTO OUTFILE. It is executed without the parentheses, which would discard its order.
   */
  async #checkQuery(text: string): Promise<void> {
    try {
      await this.#prepare(`SELECT EXISTS (${text}\n)`);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'database/query') throw error;
      throw this.#refusal('Only a query can be run here', 'Write one SELECT, WITH or VALUES, without INTO', error.cause);
    }
  }

  async query(sql: string, parameters: readonly (string | number)[] = []): Promise<readonly Row[]> {
    let next = 0;
    const text = sql.replace(/\?/g, () => literal(parameters[next++] as string | number));
    const rows = this.#run(text, 'utf8');
    try {
      const all: (readonly (string | null)[])[] = [];
      for (let batch = await rows.next(); batch !== undefined; batch = await rows.next()) all.push(...batch.rows);
      const names = rows.columns ?? [];
      return all.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null])));
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
      const ended = new Promise<void>((resolve) => {
        this.#connection.end(() => resolve());
      });
      await atMost(CLOSE_LIMIT_MS, ended);
    }
    this.#connection.stream.destroy();
  }

  #run(sql: string, encoding: 'latin1' | 'utf8'): Rows {
    this.#checkFree();
    const zeroDatesAreNull = this.address.parameters.zeroDateTimeBehavior === 'convertToNull';
    const rows = new Rows(this.#connection, sql, { encoding, zeroDatesAreNull });
    this.#running = rows;
    return rows;
  }

  #checkFree(): void {
    if (this.#options.signal?.aborted) throw cancelledFault(this.address);
    if (this.#lost !== undefined) throw this.#faultOf(this.#lost, undefined);
    if (this.#running !== undefined) throw new Error('a session runs one statement at a time');
  }

  async #prepare(sql: string): Promise<{ readonly columns: readonly ColumnDefinition[]; readonly parameters: number }> {
    this.#checkFree();
    const prepared = new Prepared(this.#connection, sql);
    this.#running = prepared;
    try {
      return await prepared.result;
    } catch (error) {
      throw this.#faultOf(error, sql);
    } finally {
      await this.#stop(prepared);
    }
  }

  /** Afterwards the connection is idle, or closed. Has no effect if the operation has already ended. */
  async #stop(running: Running): Promise<void> {
    if (!running.isOver && this.#stopping === undefined) this.#stopping = this.#kill(running);
    await this.#stopping;
    if (this.#running === running) {
      this.#running = undefined;
      this.#stopping = undefined;
    }
  }

  async #kill(running: Running): Promise<void> {
    running.discard();
    const deadline = performance.now() + CANCEL_LIMIT_MS;
    const left = (): number => Math.max(1, deadline - performance.now());
    try {
      const other = await this.#connected.another(left());
      try {
        while (!running.isOver && performance.now() < deadline) {
          const killed = new Promise<void>((resolve, reject) => {
            other.query(`KILL QUERY ${this.#id}`, (error: Error | null) => (error === null ? resolve() : reject(error)));
          });
          await within(left(), killed, () => undefined);
          running.drain();
          await Promise.race([running.ended, sleep(KILL_AGAIN_MS)]);
        }
      } finally {
        other.stream.destroy();
      }
    } catch {
      // No second connection is available, so the first one is closed.
    }
    if (!running.isOver) return this.#breakOff(new Error('the statement could not be cancelled'));
    // A late KILL would end the next statement.
    await atMost(left(), new Promise<void>((resolve) => void this.#connection.query('DO 0', () => resolve())));
  }

  #breakOff(error: unknown): void {
    this.#lost ??= error;
    this.#connection.stream.destroy();
    this.#running?.fail(error);
  }

  /** socketTimeout: the time without data from the server while waiting for it. */
  #limitSilence(milliseconds: number): void {
    if (milliseconds === 0) return;
    const { stream } = this.#connection;
    stream.setTimeout(milliseconds);
    stream.on('timeout', () => {
      if (this.#running !== undefined && !this.#running.isOver && !isPaused(this.#connection))
        this.#breakOff(new Error(`the server said nothing for ${milliseconds} ms (socketTimeout)`));
    });
  }

  #faultOf(error: unknown, sql: string | undefined): Fault {
    if (this.#options.signal?.aborted) return cancelledFault(this.address);
    return faultOf(error, { address: this.address, statementSeconds: this.#statementSeconds, ...(sql === undefined ? {} : { sql }) });
  }

  #refusal(message: string, hint?: string, cause?: unknown): Fault {
    return queryFault(message, this.address, hint, cause);
  }
}

/** Lets the server parse a statement without executing it. */
class Prepared implements Running {
  readonly result: Promise<{ readonly columns: readonly ColumnDefinition[]; readonly parameters: number }>;
  readonly ended: Promise<void>;
  isOver = false;
  #reject: (error: unknown) => void = () => {};

  constructor(connection: Socketed, sql: string) {
    this.result = new Promise((resolve, reject) => {
      this.#reject = reject;
      connection.prepare(sql, (error: MysqlError | null, statement: PrepareStatementInfo) => {
        this.isOver = true;
        if (error) return reject(error);
        const { columns, parameters } = statement as unknown as { columns: ColumnDefinition[]; parameters: unknown[] };
        connection.unprepare(sql);
        resolve({ columns, parameters: parameters.length });
      });
    });
    this.ended = this.result.then(
      () => {},
      () => {},
    );
  }

  discard(): void {}

  drain(): void {}

  fail(error: unknown): void {
    this.isOver = true;
    this.#reject(error);
  }
}

const isPaused = (connection: Socketed): boolean => (connection.stream as unknown as { isPaused(): boolean }).isPaused();

/** A value as SQL. Quoting depends on the sql_mode; a hexadecimal literal does not. */
export const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `_utf8mb4 X'${Buffer.from(value).toString('hex')}'`;

/**
 * The assignment of the session's time zone, if it is set. UTC is an offset: a server may lack the time zone tables. With Connector/J's `SERVER` and
 * `LOCAL` the zone is left unchanged.
 */
export function zoneOf({ parameters }: DatabaseAddress): readonly string[] {
  const zone = parameters.connectionTimeZone ?? parameters.serverTimezone;
  if (zone === undefined || zone === 'SERVER' || zone === 'LOCAL') return [];
  return [`time_zone = '${/^(?:UTC|GMT|Z)$/i.test(zone) ? '+00:00' : zone}'`];
}
