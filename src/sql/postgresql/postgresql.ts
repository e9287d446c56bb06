/**
 * PostgreSQL sessions. Rows are read with `COPY (query) TO STDOUT`, the fastest way: text that needs no decoding, as fast as it is
 * consumed.
 *
 * The transaction is REPEATABLE READ, so that all statements see one snapshot, and has a savepoint: a statement that fails or is abandoned
 * ends neither the session nor its snapshot.
 */
import { atMost } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import type { Column, DatabaseAddress, OpenSession, RowBatch, SessionOptions, SqlSession } from '../database.ts';
import { cancelledFault, queryFault } from '../faults.ts';
import { beginOrClose } from '../jdbc/connect.ts';
import { postgresCatalogue } from './catalogue.ts';
import { type Connected, connect } from './connect.ts';
import { faultOf, type PostgresError } from './faults.ts';
import { checkUtf8, splitRows } from './rows.ts';
import { settingsOf } from './settings.ts';
import { Copy, type Field, Statement } from './statement.ts';
import { withoutSemicolon } from './text.ts';
import { columnOf, TYPES_SQL, type TypeRow, typeRow } from './types.ts';

const BATCH_ROWS = 2048;
/** Time for a cancelled statement to end, before its connection is closed. */
const CANCEL_LIMIT_MS = 3_000;
/** A cancel request has no effect on a statement that has not begun, so it is repeated. */
const CANCEL_AGAIN_MS = 200;
const CLOSE_LIMIT_MS = 1_000;
/** The longest timer. */
const LONGEST_MS = 2 ** 31 - 1;
/** A row must not be longer than a JavaScript string, with some room. */
const LONGEST_TEXT = 2 ** 29 - 2 ** 16;

const SAVEPOINT = 'SAVEPOINT quadmill';
const ROLLBACK = 'ROLLBACK TO SAVEPOINT quadmill';

export const openPostgres: OpenSession = async (address, options) =>
  beginOrClose(new PostgresSession(address, options, await connect(address, options)));

type Row = Readonly<Record<string, string | null>>;

/** A caller's statement, and the number of characters that were prepended to it. */
interface Source {
  readonly sql: string;
  readonly offset: number;
}

class PostgresSession implements SqlSession {
  readonly product = 'postgresql';
  readonly address: DatabaseAddress;
  readonly catalogue = postgresCatalogue((sql, parameters) => this.query(sql, parameters));
  version = '';
  readonly #options: SessionOptions;
  readonly #connected: Connected;
  #running: Statement | undefined;
  #stopping: Promise<void> | undefined;
  /** Statements that were cancelled because of their time limit. */
  readonly #timedOut = new WeakSet<Statement>();
  #lost: unknown;
  /** Whether there is a savepoint. */
  #saved = false;
  /** The server stores any bytes, without an encoding. */
  #isAscii = false;
  /** Whether the database has collations under which different texts are equal. */
  #collations = false;
  /** By oid and modifier. */
  readonly #types = new Map<string, TypeRow>();
  readonly #abort = (): void => {
    if (this.#running !== undefined) void this.#stop(this.#running);
  };

  constructor(address: DatabaseAddress, options: SessionOptions, connected: Connected) {
    this.address = address;
    this.#options = options;
    this.#connected = connected;
    connected.client.on('error', (error) => this.#breakOff(error));
    connected.client.on('end', () => this.#breakOff(new Error('the server has closed it')));
    this.#limitSilence(Number(address.parameters.socketTimeout ?? 0) * 1000);
    options.signal?.addEventListener('abort', this.#abort);
  }

  /**
   * Configures the session as the contract requires. Settings are local to the transaction, because a pooler may later give the connection
   * to others.
   */
  async begin(): Promise<void> {
    await this.#run(new Statement('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY'));
    const { snapshot } = this.#options;
    if (snapshot !== undefined) await this.#read(snapshot);
    // The first query takes the snapshot.
    const [server] = await this.query(`SELECT pg_catalog.current_setting('server_version') AS name,
      pg_catalog.current_setting('server_version_num') AS version, pg_catalog.current_setting('server_encoding') AS encoding,
      (SELECT count(*) FROM pg_catalog.pg_collation c WHERE pg_catalog.to_jsonb(c) ->> 'collisdeterministic' = 'false')::text AS collations`);
    this.version = (server?.name ?? '').split(' ')[0] as string;
    this.#isAscii = server?.encoding === 'SQL_ASCII';
    this.#collations = server?.collations !== '0';
    const lockMs = Math.ceil(Math.min(this.#options.lockSeconds * 1000, LONGEST_MS));
    const settings = settingsOf(this.address, Number(server?.version ?? 0), this.#isAscii, lockMs);
    const calls = settings.map((_, i) => `pg_catalog.set_config($${2 * i + 1}, $${2 * i + 2}, true)`);
    await this.query(`SELECT ${calls.join(', ')}`, settings.flat());
    await this.#run(new Statement(SAVEPOINT));
    this.#saved = true;
  }

  async #read(snapshot: string): Promise<void> {
    try {
      await this.#run(new Statement(`SET TRANSACTION SNAPSHOT '${snapshot.replaceAll("'", "''")}'`));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'database/query') throw error;
      const message = 'The state of the data that was to be read is gone: the session that exported it has ended';
      throw error.with({ code: 'database/lost', message });
    }
  }

  async describe(sql: string): Promise<readonly Column[]> {
    const { fields, parameters } = await this.#run(new Statement(sql, { mode: 'describe' }), { sql, offset: 0 });
    if (parameters > 0) throw this.#refusal(`The query has placeholders ($1), which have no value here`);
    return this.#columns(fields);
  }

  async #columns(fields: readonly Field[]): Promise<readonly Column[]> {
    const keyOf = ({ dataTypeID, dataTypeModifier }: Field): string => `${dataTypeID}:${dataTypeModifier}`;
    const unknown = [...new Map(fields.map((field) => [keyOf(field), field])).values()].filter((field) => !this.#types.has(keyOf(field)));
    if (unknown.length > 0) {
      const list = (values: readonly number[]): string => `{${values.join(',')}}`;
      const oids = unknown.map((field) => field.dataTypeID);
      const rows = await this.query(TYPES_SQL, [list(oids), list(unknown.map((field) => field.dataTypeModifier))]);
      for (const [i, row] of rows.entries()) this.#types.set(keyOf(unknown[i] as Field), typeRow(oids[i] as number, row));
    }
    return fields.map((field) => columnOf(field.name, this.#types.get(keyOf(field)) as TypeRow, this.#collations));
  }

  rows(sql: string, columns: number): AsyncGenerator<RowBatch> {
    return this.#copy('', sql, '', columns, this.#isAscii);
  }

  async *#copy(before: string, sql: string, after: string, columns: number, check: boolean): AsyncGenerator<RowBatch> {
    const prefix = `COPY (${before}`;
    const source = { sql, offset: prefix.length };
    const copy = new Copy(`${prefix}${sql}\n${after}) TO STDOUT`);
    this.#submit(copy);
    let bytes = 0;
    let first = 0;
    let leftMs = this.#limitMs();
    try {
      for (;;) {
        const begun = performance.now();
        await this.#within(copy, copy.fill(), leftMs);
        leftMs -= performance.now() - begun;
        const buffer = copy.take();
        if (buffer === undefined) break;
        if (this.#options.signal?.aborted) throw cancelledFault(this.address);
        if (buffer.length > LONGEST_TEXT) throw this.#tooLong(buffer.length, first);
        if (check) checkUtf8(buffer, columns, first, this.address.name);
        bytes += buffer.length;
        const rows = splitRows(buffer.toString('latin1'), columns);
        first += rows.length;
        if (rows.length <= BATCH_ROWS) yield { rows, bytes };
        else for (let i = 0; i < rows.length; i += BATCH_ROWS) yield { rows: rows.slice(i, i + BATCH_ROWS), bytes };
      }
      if (copy.error !== undefined) throw this.#faultOf(copy, source);
    } finally {
      await this.#finish(copy);
    }
  }

  /**
   * A text that the server accepts as one statement has no open parenthesis, quote or comment, so it stays inside the parentheses in which
   * it is placed. Only a query is valid there, and none that writes or locks. Functions that the user may call are the user's right: a
   * superuser has some that write files.
   */
  async select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }> {
    const text = withoutSemicolon(sql);
    const statement = await this.#run(new Statement(text, { mode: 'describe' }), { sql: text, offset: 0 });
    if (statement.parameters > 0) throw this.#refusal(`The query has placeholders ($1), which have no value here`);
    await this.#checkQuery(text);
    const columns = await this.#columns(statement.fields);
    const limit = `) AS query LIMIT ${maxRows + 1}`;
    return { columns, batches: this.#copy('SELECT * FROM (', text, limit, columns.length, false) };
  }

  /** Describes the statement in the form in which it is executed, so that anything but a query is refused before the first row is requested. */
  async #checkQuery(text: string): Promise<void> {
    const prefix = 'SELECT * FROM (';
    try {
      await this.#run(new Statement(`${prefix}${text}\n) AS query`, { mode: 'describe' }), { sql: text, offset: prefix.length });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'database/query') throw error;
      throw this.#refusal('Only a query can be run here', 'Write one SELECT, WITH, VALUES or TABLE, which writes nothing', error.cause);
    }
  }

  async query(sql: string, parameters: readonly (string | number)[] = []): Promise<readonly Row[]> {
    const { fields, rows } = await this.#run(new Statement(sql, { values: parameters.map(String) }));
    return rows.map((row) => Object.fromEntries(fields.map(({ name }, i) => [name, row[i] ?? null])));
  }

  /** Only the top-level transaction can export a snapshot: the savepoint is released and set again. */
  async exportSnapshot(): Promise<string> {
    this.#saved = false;
    try {
      await this.#run(new Statement('RELEASE SAVEPOINT quadmill'));
      const [row] = await this.query('SELECT pg_catalog.pg_export_snapshot() AS name');
      await this.#run(new Statement(SAVEPOINT));
      this.#saved = true;
      return row?.name as string;
    } catch (error) {
      // Without a savepoint the transaction cannot be continued after an error.
      this.#breakOff(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    if (this.#running !== undefined) await this.#stop(this.#running);
    const { client, wire } = this.#connected;
    if (this.#lost === undefined) {
      this.#lost = new Error('the session is closed');
      await atMost(CLOSE_LIMIT_MS, client.end());
    }
    wire.stream.destroy();
  }

  /** Executes a statement to its end. @throws Fault */
  async #run<S extends Statement>(statement: S, source?: Source): Promise<S> {
    this.#submit(statement);
    try {
      await this.#within(statement, statement.ended, this.#limitMs());
      if (statement.error !== undefined) throw this.#faultOf(statement, source);
      return statement;
    } finally {
      await this.#finish(statement);
    }
  }

  #submit(statement: Statement): void {
    if (this.#options.signal?.aborted) throw cancelledFault(this.address);
    if (this.#lost !== undefined) throw faultOf(this.#lost, this.#context());
    if (this.#running !== undefined) throw new Error('a session runs one statement at a time');
    if (statement.text.includes('\0')) throw this.#refusal('The query has a NUL character, which PostgreSQL cannot read');
    this.#running = statement;
    this.#connected.client.query(statement as unknown as { submit(): void });
  }

  #limitMs(): number {
    const { statementSeconds } = this.#options;
    return statementSeconds > 0 ? Math.min(statementSeconds * 1000, LONGEST_MS) : Number.POSITIVE_INFINITY;
  }

  /** Waits for a statement; beyond its time limit it is cancelled, which settles it. */
  async #within(statement: Statement, promise: Promise<void>, leftMs: number): Promise<void> {
    if (leftMs === Number.POSITIVE_INFINITY) return promise;
    const cancel = (): void => {
      this.#timedOut.add(statement);
      void this.#stop(statement);
    };
    const timer = setTimeout(cancel, Math.max(1, leftMs));
    await promise;
    clearTimeout(timer);
  }

  /** Afterwards the session is ready for the next statement, or closed. */
  async #finish(statement: Statement): Promise<void> {
    const failed = !statement.isOver || statement.error !== undefined;
    await this.#stop(statement);
    if (failed && this.#lost === undefined && this.#options.signal?.aborted !== true) await this.#rollBack();
    this.#running = undefined;
  }

  /** A late cancel request may end the first attempt instead. */
  async #rollBack(): Promise<void> {
    if (!this.#saved) return;
    for (let attempt = 1; ; attempt++) {
      const statement = new Statement(ROLLBACK);
      this.#connected.client.query(statement as unknown as { submit(): void });
      await atMost(CANCEL_LIMIT_MS, statement.ended);
      if (statement.isOver && statement.error === undefined) return;
      if (attempt === 2 || (statement.error as PostgresError | undefined)?.code !== '57014')
        return this.#breakOff(statement.error ?? new Error('the transaction could not be rolled back'));
    }
  }

  /** Cancels a statement that has not ended. Never throws. */
  async #stop(statement: Statement): Promise<void> {
    if (!statement.isOver && this.#stopping === undefined) {
      this.#stopping = this.#cancel(statement).finally(() => {
        this.#stopping = undefined;
      });
    }
    await this.#stopping;
  }

  async #cancel(statement: Statement): Promise<void> {
    statement.discard();
    const deadline = performance.now() + CANCEL_LIMIT_MS;
    const left = (): number => Math.max(1, deadline - performance.now());
    while (!statement.isOver && performance.now() < deadline) {
      // Even if the cancel request fails, the statement may still end in time.
      await this.#connected.cancel(left()).catch(() => {});
      await atMost(Math.min(CANCEL_AGAIN_MS, left()), statement.ended);
    }
    if (!statement.isOver) this.#breakOff(new Error('the statement could not be cancelled'));
  }

  #breakOff(error: unknown): void {
    this.#lost ??= error;
    this.#connected.wire.stream.destroy();
    this.#running?.handleError(error);
  }

  /** socketTimeout: the time without data from the server while waiting for it. */
  #limitSilence(milliseconds: number): void {
    if (milliseconds === 0) return;
    const { stream } = this.#connected.wire;
    stream.setTimeout(Math.min(milliseconds, LONGEST_MS));
    stream.on('timeout', () => {
      if (this.#running !== undefined && !this.#running.isOver && !stream.isPaused())
        this.#breakOff(new Error(`the server said nothing for ${milliseconds / 1000} s (socketTimeout)`));
    });
  }

  #context(): { readonly address: DatabaseAddress; readonly statementSeconds: number } {
    return { address: this.address, statementSeconds: this.#options.statementSeconds };
  }

  #faultOf(statement: Statement, source: Source | undefined): Fault {
    if (this.#options.signal?.aborted) return cancelledFault(this.address);
    return faultOf(statement.error, { ...this.#context(), ...source, timedOut: this.#timedOut.has(statement) });
  }

  #refusal(message: string, hint?: string, cause?: unknown): Fault {
    return queryFault(message, this.address, hint, cause);
  }

  #tooLong(length: number, record: number): Fault {
    return new Fault('limit/exceeded', `A row of the result has more than ${LONGEST_TEXT} bytes (${length})`, {
      place: { input: this.address.name, record },
      hint: 'Leave out columns with large texts, or cut them in the query',
    });
  }
}
