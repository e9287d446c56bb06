/**
 * The contract between the host process and the engine of a database file (`sqlite/`, `duckdb/`), and what the host and the session say to each other.
 *
 * The engine runs in a separate process (`host.ts`): a statement in native code can be stopped only by ending its process, and a broken
 * file that crashes the engine ends only this process.
 */
import { open } from 'node:fs/promises';
import type { TableScan } from '../database.ts';
import type { CellWriter } from './cells.ts';

/** The products that are files. */
export type FileProduct = 'sqlite' | 'duckdb';

export interface EngineOptions {
  /** Absolute. */
  readonly path: string;
  /** Time to wait for a lock of another process. */
  readonly lockMs: number;
  /** The most memory for what the engine itself holds, where its library can be limited. */
  readonly memoryBytes: number;
  /** What does not fit there goes into this directory. It need not exist, and the session removes it. */
  readonly spillDirectory: string;
}

/** A column of a result. */
export interface EngineColumn {
  readonly name: string;
  /** The declared type; undefined: an expression, or a column without type. */
  readonly type: string | undefined;
}

/** The database in one read-only transaction. All methods throw `EngineError`, or the errors of the engine's library. */
export interface Engine {
  readonly version: string;
  /** The columns of a query. It is not run. It must be one query, and nothing more. */
  describe(sql: string): readonly EngineColumn[] | Promise<readonly EngineColumn[]>;
  /**
   * The rows of a query as texts, in the form that the product's `Column` reads.
   *
   * @param table what the query reads, if it is no more than that
   */
  rows(sql: string, table?: TableScan): Cursor | Promise<Cursor>;
  /** The same as ordinary texts, for small queries of the project itself. */
  plainRows(sql: string, parameters: readonly (string | number)[]): PlainRows | Promise<PlainRows>;
  /** The fault for an error of `describe`, `rows`, or of opening. */
  faultOf(error: unknown): EngineFault;
}

export type PlainRows = readonly (readonly (string | null)[])[];

/** The rows of a query that are left. */
export interface Cursor {
  /** Adds rows until the batch is full. @returns whether no row is left */
  fill(batch: CellWriter): boolean | Promise<boolean>;
  /** Gives up the rows that are left. */
  close(): void;
}

export type OpenEngine = (options: EngineOptions) => Promise<Engine>;

/** What went wrong. `driver`: the library is not installed; `type`: not a file of this kind. */
export type EngineFaultKind = 'driver' | 'type' | 'malformed' | 'busy' | 'unreadable' | 'too-large' | 'query';

export interface EngineFault {
  readonly kind: EngineFaultKind;
  readonly message: string;
  readonly hint?: string;
}

/** An error that the engine has already judged. */
export class EngineError extends Error {
  readonly fault: EngineFault;

  constructor(fault: EngineFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Bytes of a file as Latin-1, by which its format is recognised: fewer than `length` where it ends before. @throws system errors */
export async function textAt(path: string, offset: number, length: number): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The pipe whose other end the process of the session holds open, as a file descriptor of the host process. */
export const LIFELINE = 3;

export type HostRequest =
  | { readonly kind: 'open'; readonly product: FileProduct; readonly options: EngineOptions }
  | { readonly kind: 'describe'; readonly sql: string }
  /** Begins a query, whose rows `next` gives in batches. */
  | { readonly kind: 'rows'; readonly sql: string; readonly table?: TableScan | undefined }
  | { readonly kind: 'next' }
  /** Gives up the rows that are left. */
  | { readonly kind: 'end' }
  | { readonly kind: 'query'; readonly sql: string; readonly parameters: readonly (string | number)[] };

/** The head of a reply. The cells of a batch follow it, see `cells.ts`. */
export type HostReply = { readonly fault: EngineFault } | { readonly value: unknown };
