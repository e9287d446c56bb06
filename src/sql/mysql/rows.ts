/** The rows of one statement, in batches. While no batch is requested, the socket is paused and the server waits. */
import type { Connection, Query, TypeCast } from 'mysql2';
import type { RowBatch } from '../database.ts';

const BATCH_ROWS = 1024;
const BATCH_BYTES = 2 ** 20;

type Row = (string | null)[];

/** Members of mysql2 connections that its types lack. */
export interface Socketed extends Connection {
  readonly stream: {
    readonly bytesRead: number;
    destroy(): void;
    setTimeout(ms: number): void;
    on(event: 'timeout', listener: () => void): void;
  };
}

export interface RowOptions {
  /** `latin1`: one-byte texts of the bytes; `utf8`: ordinary text. */
  readonly encoding: 'latin1' | 'utf8';
  /** 0000-00-00 is null. */
  readonly zeroDatesAreNull: boolean;
}

export class Rows {
  /** Names of the columns, in order; undefined until they are known. */
  columns: readonly string[] | undefined;
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly #connection: Socketed;
  readonly #first: number;
  #rows: Row[] = [];
  #full = false;
  #before: number;
  #discard = false;
  #over = false;
  #error: unknown;
  #wake: () => void = () => {};
  #end: () => void = () => {};

  constructor(connection: Socketed, sql: string, options: RowOptions) {
    this.#connection = connection;
    this.#first = connection.stream.bytesRead;
    this.#before = this.#first;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const query = connection.query({ sql, rowsAsArray: true, typeCast: readTexts(options) }) as Query;
    query.on('fields', (fields: readonly { readonly name: string }[] | undefined) => {
      this.columns = fields?.map(({ name }) => name) ?? [];
    });
    query.on('result', (row: unknown) => this.#take(row));
    query.on('error', (error) => this.fail(error));
    query.on('end', () => this.#finish());
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** The next rows; undefined: there are no more. Throws the server's error. */
  async next(): Promise<RowBatch | undefined> {
    while (!this.#full && !this.#over) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#connection.resume();
      if (!this.#full && !this.#over) await woken;
    }
    if (this.#error !== undefined) throw this.#error;
    if (this.#rows.length === 0) return undefined;
    const rows = this.#rows;
    const { bytesRead } = this.#connection.stream;
    this.#rows = [];
    this.#full = false;
    this.#before = bytesRead;
    return { rows, bytes: bytesRead - this.#first };
  }

  /** Discards all further rows, and keeps the server waiting. */
  discard(): void {
    this.#discard = true;
    this.#rows = [];
    this.#connection.pause();
  }

  /** Reads and discards the remaining rows. */
  drain(): void {
    this.#connection.resume();
  }

  /** The connection broke, or the server refused. */
  fail(error: unknown): void {
    if (this.#over) return;
    this.#error ??= error;
    this.#finish();
  }

  #take(row: unknown): void {
    if (this.#discard || !Array.isArray(row)) return;
    this.#rows.push(row as Row);
    if (this.#rows.length < BATCH_ROWS && this.#connection.stream.bytesRead - this.#before < BATCH_BYTES) return;
    this.#full = true;
    this.#connection.pause();
    this.#wake();
  }

  #finish(): void {
    this.#over = true;
    this.#wake();
    this.#end();
  }
}

/** The server's own texts, never mysql2's numbers and Dates. */
function readTexts({ encoding, zeroDatesAreNull }: RowOptions): TypeCast {
  if (!zeroDatesAreNull) return (field) => field.string(encoding);
  const isDate = /^(?:DATE|DATETIME|TIMESTAMP|NEWDATE)/;
  return (field) => {
    const text = field.string(encoding);
    return text?.startsWith('0000-00-00') && isDate.test(field.type) ? null : text;
  };
}
