/**
 * Sessions over a database file. A separate process reads the file (`host.ts`); the next batch is read there while the one before is mapped.
 *
 * A statement that is cancelled or takes too long ends this process, and with it the session.
 */
import { randomUUID } from 'node:crypto';
import { access, constants, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault, type FaultCode } from '../../core/fault.ts';
import type { Column, DatabaseAddress, OpenSession, RowBatch, SessionOptions, SqlSession, TableScan } from '../database.ts';
import { busyFault, cancelledFault, lostFault, queryFault, timeLimitFault } from '../faults.ts';
import { firstRows } from '../result/first-rows.ts';
import type { Catalogue, CatalogueQuery } from '../tables.ts';
import { readCells, readPackedRows } from './cells.ts';
import type { EngineColumn, EngineFaultKind, EngineOptions, FileProduct, HostRequest } from './engine.ts';
import { type Answer, HostFault, HostProcess } from './host-process.ts';

/** What differs between the products. */
export interface FileKind {
  readonly product: FileProduct;
  /** `SQLite`, for messages. */
  readonly label: string;
  columnOf(column: EngineColumn): Column;
  catalogue(query: CatalogueQuery): Catalogue;
}

/** How long a lock is waited for without a limit: a day. */
const LONGEST_LOCK_MS = 86_400_000;

/** Memory of an engine: the usual, and what it needs at least. */
const MEMORY_BYTES = 2 ** 28;
const LEAST_MEMORY_BYTES = 2 ** 27;

/** @returns the driver of a kind of files */
export const openFiles =
  (kind: FileKind): OpenSession =>
  async (address, options) => {
    await checkFile(kind, address);
    const session = new FileSession(kind, address, options);
    try {
      await session.begin();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  };

/** @throws Fault database/missing, source/type, database/unreachable — what is found without the engine */
async function checkFile({ label }: FileKind, address: DatabaseAddress): Promise<void> {
  const path = address.database as string;
  const place = { input: address.name };
  try {
    if (!(await stat(path)).isFile())
      throw new Fault('source/type', `${path} is not a file`, { place, hint: `Name the ${label} file itself` });
    // Not opened: closing it would drop the locks that this process may have on it.
    await access(path, constants.R_OK);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const hint =
        'A relative path begins in the directory in which the program was started, or which it was given as its working directory';
      throw new Fault('database/missing', `There is no file ${path}`, { place, hint, cause: error });
    }
    const reason = code === 'EACCES' ? 'its permissions do not allow it' : code;
    throw new Fault('database/unreachable', `The file ${path} cannot be read: ${reason}`, { place, cause: error });
  }
}

type Row = Readonly<Record<string, string | null>>;

class FileSession implements SqlSession {
  readonly product: FileProduct;
  readonly address: DatabaseAddress;
  readonly catalogue: Catalogue;
  version = '';
  readonly #kind: FileKind;
  readonly #options: SessionOptions;
  readonly #host = new HostProcess();
  readonly #spillDirectory: string;
  #running = false;
  #timedOut = false;
  #closed = false;
  readonly #abort = (): void => this.#host.end(new Error('cancelled'));

  constructor(kind: FileKind, address: DatabaseAddress, options: SessionOptions) {
    this.product = kind.product;
    this.address = address;
    this.catalogue = kind.catalogue((sql, parameters) => this.query(sql, parameters));
    this.#kind = kind;
    this.#options = options;
    this.#spillDirectory = join(options.spillDirectory ?? tmpdir(), `quadmill-${kind.product}-${randomUUID()}`);
    options.signal?.addEventListener('abort', this.#abort);
    if (options.signal?.aborted) this.#abort();
  }

  async begin(): Promise<void> {
    const { lockSeconds, memoryBytes = MEMORY_BYTES } = this.#options;
    const own = Number(this.address.parameters.busy_timeout ?? 0);
    const limits = [own, lockSeconds * 1000].filter((limit) => limit > 0);
    const lockMs = Math.min(LONGEST_LOCK_MS, ...limits);
    const options: EngineOptions = {
      path: this.address.database as string,
      lockMs,
      memoryBytes: Math.max(LEAST_MEMORY_BYTES, memoryBytes),
      spillDirectory: this.#spillDirectory,
    };
    this.version = (await this.#ask({ kind: 'open', product: this.product, options })).value as string;
  }

  async describe(sql: string): Promise<readonly Column[]> {
    this.#checkFree();
    const { value } = await this.#ask({ kind: 'describe', sql });
    return (value as readonly EngineColumn[]).map((column) => this.#kind.columnOf(column));
  }

  async *rows(sql: string, columns: number, table?: TableScan): AsyncGenerator<RowBatch> {
    this.#checkFree();
    this.#running = true;
    let bytes = 0;
    let next: Promise<Answer> | undefined;
    try {
      await this.#ask({ kind: 'rows', sql, table });
      next = this.#ask({ kind: 'next' });
      while (next !== undefined) {
        const { value, body }: Answer = await next;
        const batch = value as { readonly rows: number; readonly over: boolean; readonly millionths?: readonly number[] };
        next = batch.over ? undefined : this.#ask({ kind: 'next' });
        // It is awaited in the next round, or given up below.
        next?.catch(() => {});
        bytes += body.length;
        if (this.#options.signal?.aborted) throw cancelledFault(this.address);
        if (batch.rows === 0) continue;
        const { rows, millionths } = batch;
        yield { rows: millionths === undefined ? readCells(body, columns, rows) : readPackedRows(body, columns, rows, millionths), bytes };
      }
    } finally {
      if (next !== undefined) {
        await next.catch(() => {});
        await this.#ask({ kind: 'end' }).catch(() => {});
      }
      this.#running = false;
    }
  }

  async select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }> {
    const text = sql.replace(/[\s;]+$/, '');
    const columns = await this.describe(text);
    return { columns, batches: firstRows(this.rows(text, columns.length), maxRows + 1) };
  }

  async query(sql: string, parameters: readonly (string | number)[] = []): Promise<readonly Row[]> {
    this.#checkFree();
    const names = ((await this.#ask({ kind: 'describe', sql })).value as readonly EngineColumn[]).map(({ name }) => name);
    const { value } = await this.#ask({ kind: 'query', sql, parameters });
    const rows = value as readonly (readonly (string | null)[])[];
    return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? null])));
  }

  async exportSnapshot(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#host.end(new Error('the session is closed'));
    // Until then it holds locks on the file, and writes to the directory.
    await this.#host.gone;
    await rm(this.#spillDirectory, { recursive: true, force: true }).catch(() => {});
  }

  #checkFree(): void {
    if (this.#running || this.#closed) throw new Error('a session runs one statement at a time, and none after its end');
  }

  /** A request with the time limit of a statement. Time that the reader takes does not count. */
  async #ask(request: HostRequest): Promise<Answer> {
    const { statementSeconds } = this.#options;
    const limit = (): void => {
      this.#timedOut = true;
      this.#host.end(new Error('the time limit'));
    };
    const timer = statementSeconds > 0 ? setTimeout(limit, Math.min(statementSeconds * 1000, 2 ** 31 - 1)) : undefined;
    try {
      return await this.#host.ask(request);
    } catch (error) {
      throw this.#faultOf(error, 'sql' in request ? request.sql : undefined);
    } finally {
      clearTimeout(timer);
    }
  }

  #faultOf(error: unknown, sql: string | undefined): Fault {
    const { address } = this;
    if (this.#options.signal?.aborted) return cancelledFault(address);
    const context = { address, sql, statementSeconds: this.#options.statementSeconds };
    if (this.#timedOut) return timeLimitFault(context, error);
    if (!(error instanceof HostFault)) return lostFault((error as Error).message, context, error);
    const { kind, message, hint } = error.fault;
    if (kind === 'busy') return busyFault(message, message, context, error);
    if (kind === 'query') return queryFault(message, address, hint, error);
    return new Fault(CODES[kind], message.replace('{}', address.database as string), {
      place: { input: address.name },
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

const CODES: Readonly<Record<Exclude<EngineFaultKind, 'busy' | 'query'>, FaultCode>> = {
  driver: 'database/driver',
  type: 'source/type',
  malformed: 'source/malformed',
  unreadable: 'database/unreachable',
  'too-large': 'limit/exceeded',
};
