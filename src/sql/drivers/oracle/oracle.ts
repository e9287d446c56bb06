/** Oracle Database. */
import { atMost } from '../../../core/abort.ts';
import { Fault } from '../../../core/fault.ts';
import { connectingWithin } from '../../../core/reach/sockets.ts';
import { fromBytes } from '../../../core/text.ts';
import type { Column, DatabaseAddress, OpenSession, RowBatch, SessionOptions, SqlSession } from '../../database.ts';
import { cancelledFault, queryFault } from '../../faults.ts';
import { beginOrClose, connectHost, type Host } from '../../jdbc/connect.ts';
import { firstRows } from '../../result/first-rows.ts';
import { oracleCatalogue } from './catalogue.ts';
import { type Driver, type DriverColumn, type DriverConnection, type DriverRows, type FetchOptions, loadDriver } from './driver.ts';
import { type DriverError, faultOf, isAnswer, unreachableReason } from './faults.ts';
import { outlineOf } from './text.ts';
import { asTexts, columnOf, fetchAs, isLarge, textOf } from './types.ts';

const BATCH_ROWS = 500;
/** With LOBs among the columns, whose values may have many megabytes each. */
const LARGE_BATCH_ROWS = 4;
const CANCEL_LIMIT_MS = 4_000;
const CLOSE_LIMIT_MS = 1_000;

/** Fixes how texts are compared and written. */
const SETTINGS = `ALTER SESSION SET NLS_COMP = BINARY NLS_SORT = BINARY NLS_NUMERIC_CHARACTERS = '.,' NLS_CALENDAR = GREGORIAN
  NLS_DATE_LANGUAGE = AMERICAN NLS_DATE_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS' NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.FF9'
  NLS_TIMESTAMP_TZ_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.FF9TZH:TZM' NLS_LENGTH_SEMANTICS = BYTE TIME_ZONE = '+00:00'`;

export const openOracle: OpenSession = async (address, options) => openWith(await loadDriver(), address, options);

/** For tests also with another driver. @throws Fault those of `OpenSession` */
export async function openWith(driver: Driver, address: DatabaseAddress, options: SessionOptions): Promise<SqlSession> {
  // The driver looks names up itself, and follows redirects of the server.
  const attempt = (host: Host): Promise<DriverConnection> =>
    connectingWithin(options.reach, host, () => login(driver, address, host, options));
  const errors = {
    faultOf: (error: unknown) => (error instanceof Fault || isAnswer(error) ? faultOf(error, { address, statementSeconds: 0 }) : undefined),
    reasonOf: unreachableReason,
  };
  const connection = await connectHost(address, attempt, errors, options.signal);
  return beginOrClose(new OracleSession(driver, address, options, connection));
}

/**
 * The connect string of one host for the driver: a descriptor of checked parts, of which none has a parenthesis.
 *
 * @see https://docs.oracle.com/en/database/oracle/oracle-database/23/netag/configuring-naming-methods.html
 */
export function connectString({ database, parameters, tls }: DatabaseAddress, { host, port }: Host): string {
  const protocol = tls.mode === 'disable' ? 'TCP' : 'TCPS';
  const connect = parameters.sid === undefined ? `(SERVICE_NAME=${database ?? ''})` : `(SID=${parameters.sid})`;
  const parts = (...names: readonly string[]): string =>
    names.flatMap((name) => (parameters[name] === undefined ? [] : `(${name.toUpperCase()}=${parameters[name]})`)).join('');
  const timing = parts('connect_timeout', 'transport_connect_timeout', 'retry_count', 'retry_delay');
  return `(DESCRIPTION=${timing}(ADDRESS=(PROTOCOL=${protocol})(HOST=${host})(PORT=${port}))(CONNECT_DATA=${connect}${parts('server', 'instance_name')}))`;
}

async function login(
  driver: Driver,
  address: DatabaseAddress,
  host: Host,
  { signal, connectSeconds }: SessionOptions,
): Promise<DriverConnection> {
  const { user, password, tls, parameters } = address;
  const opening = driver.getConnection({
    user,
    password: password?.reveal(),
    connectString: connectString(address, host),
    connectTimeout: connectSeconds,
    transportConnectTimeout: connectSeconds,
    ...(tls.mode === 'verify-full' ? { sslServerDNMatch: true } : tls.mode === 'verify-ca' ? { sslServerDNMatch: false } : {}),
    ...(parameters.ssl_server_cert_dn === undefined ? {} : { sslServerCertDN: parameters.ssl_server_cert_dn }),
  });
  let abort = (): void => {};
  const cancelled = new Promise<never>((_, reject) => {
    abort = () => reject(new Error('cancelled'));
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
  try {
    return await Promise.race([opening, cancelled]);
  } catch (error) {
    // It may still be opened after all.
    opening.then((late) => late.close({ drop: true })).catch(() => {});
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

type Row = Readonly<Record<string, string | null>>;

class OracleSession implements SqlSession {
  readonly product = 'oracle';
  readonly address: DatabaseAddress;
  readonly version: string;
  readonly catalogue = oracleCatalogue((sql, parameters) => this.query(sql, parameters));
  readonly #driver: Driver;
  readonly #options: SessionOptions;
  readonly #connection: DriverConnection;
  #running: Promise<unknown> | undefined;
  #timedOut = false;
  #closed = false;
  readonly #abort = (): void => this.#break();

  constructor(driver: Driver, address: DatabaseAddress, options: SessionOptions, connection: DriverConnection) {
    this.#driver = driver;
    this.address = address;
    this.#options = options;
    this.#connection = connection;
    this.version = connection.oracleServerVersionString;
    options.signal?.addEventListener('abort', this.#abort);
  }

  /** One state of the data, and no writes, until the end of the session. */
  async begin(): Promise<void> {
    await this.#execute(SETTINGS);
    await this.#execute('SET TRANSACTION READ ONLY');
  }

  async describe(sql: string): Promise<readonly Column[]> {
    return (await this.#described(sql)).columns.map(columnOf);
  }

  /** The query without what follows it, and its columns. */
  async #described(sql: string): Promise<{ readonly text: string; readonly columns: readonly DriverColumn[] }> {
    const { text, isQuery } = outlineOf(sql);
    // The server runs some statements when it parses them.
    if (!isQuery) throw this.#refusal('Only a query can be run here', 'Write one SELECT, also with WITH, without functions in PL/SQL');
    const { statementType, metaData = [], bindNames } = await this.#run(sql, () => this.#connection.getStatementInfo(text));
    if (statementType !== this.#driver.STMT_TYPE_SELECT || metaData.length === 0)
      throw this.#refusal('The text is no query: it gives no columns');
    if (bindNames.length > 0) throw this.#refusal(`The query has the placeholder :${bindNames[0]}, which has no value here`);
    return { text, columns: metaData };
  }

  async *rows(sql: string, columns: number): AsyncGenerator<RowBatch> {
    const { text, columns: found } = await this.#described(sql);
    if (found.length !== columns)
      throw this.#refusal(`The query has ${found.length} columns now, and had ${columns} when it was described`);
    const size = found.some(isLarge) ? LARGE_BATCH_ROWS : BATCH_ROWS;
    const limits = { left: this.#options.statementSeconds * 1000 };
    let result: DriverRows | undefined;
    let bytes = 0;
    try {
      const options = { ...this.#fetching(), resultSet: true, fetchArraySize: size, prefetchRows: size };
      const executed = await this.#run(sql, () => this.#connection.execute(asTexts(text, found), [], options), limits);
      result = executed.resultSet as DriverRows;
      for (;;) {
        const batch = await this.#run(sql, () => (result as DriverRows).getRows(size), limits);
        if (batch.length === 0) return;
        const rows = batch.map((row) => row.map((value, i) => textOf(value, found[i] as DriverColumn)));
        for (const row of rows) for (const text of row) bytes += text?.length ?? 0;
        yield { rows, bytes };
      }
    } finally {
      await result?.close().catch(() => {});
    }
  }

  async select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }> {
    const { text, columns } = await this.#described(sql);
    return { columns: columns.map(columnOf), batches: firstRows(this.rows(text, columns.length), maxRows + 1) };
  }

  async query(sql: string, parameters: readonly (string | number)[] = []): Promise<readonly Row[]> {
    const text = withValues(sql, parameters);
    const { columns } = await this.#described(text);
    const rows: Row[] = [];
    for await (const batch of this.rows(text, columns.length))
      for (const row of batch.rows)
        rows.push(
          Object.fromEntries(columns.map(({ name }, i) => [name, row[i] === null || row[i] === undefined ? null : fromBytes(row[i])])),
        );
    return rows;
  }

  async exportSnapshot(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.signal?.removeEventListener('abort', this.#abort);
    if (this.#running !== undefined) {
      this.#break();
      await atMost(CANCEL_LIMIT_MS, this.#running);
    }
    await atMost(CLOSE_LIMIT_MS, this.#connection.rollback());
    await atMost(CLOSE_LIMIT_MS, this.#connection.close({ drop: true }));
  }

  #execute(sql: string): Promise<unknown> {
    return this.#run(undefined, () => this.#connection.execute(sql, [], this.#fetching()));
  }

  #fetching(): FetchOptions {
    return { outFormat: this.#driver.OUT_FORMAT_ARRAY, maxRows: 0, fetchTypeHandler: (column) => fetchAs(this.#driver, column) };
  }

  #break(): void {
    if (this.#running !== undefined) this.#connection.break().catch(() => {});
  }

  /** One call of the server, with what is left of the time of its statement. Time that the reader takes does not count. */
  async #run<T>(sql: string | undefined, call: () => Promise<T>, limits = { left: this.#options.statementSeconds * 1000 }): Promise<T> {
    if (this.#options.signal?.aborted) throw cancelledFault(this.address);
    if (this.#closed || this.#running !== undefined) throw new Error('a session runs one statement at a time, and none after its end');
    this.#timedOut = false;
    const limit = (): void => {
      this.#timedOut = true;
      this.#break();
    };
    const start = performance.now();
    const timer = limits.left > 0 ? setTimeout(limit, Math.min(limits.left, 2 ** 31 - 1)) : undefined;
    const running = call();
    this.#running = running.catch(() => {});
    try {
      const result = await running;
      if (this.#options.signal?.aborted) throw cancelledFault(this.address);
      return result;
    } catch (error) {
      throw this.#faultOf(error, sql);
    } finally {
      clearTimeout(timer);
      if (limits.left > 0) limits.left = Math.max(1, limits.left - (performance.now() - start));
      this.#running = undefined;
    }
  }

  #faultOf(error: unknown, sql: string | undefined): Fault {
    const { address } = this;
    if (this.#options.signal?.aborted) return cancelledFault(address);
    const cause: DriverError = this.#timedOut
      ? Object.assign(new Error('the time limit'), { code: 'NJS-123', cause: error })
      : (error as DriverError);
    return faultOf(cause, { address, statementSeconds: this.#options.statementSeconds, ...(sql === undefined ? {} : { sql }) });
  }

  #refusal(message: string, hint?: string): Fault {
    return queryFault(message, this.address, hint);
  }
}

/** A value as SQL: within quotes nothing is an escape but the doubled mark. */
function withValues(sql: string, parameters: readonly (string | number)[]): string {
  if (parameters.length === 0) return sql;
  return sql.replace(/:(\d)/g, (_, digit: string) => {
    const value = parameters[Number(digit) - 1] as string | number;
    return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
  });
}
