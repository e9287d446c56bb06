/** The rows of one statement, in batches. While no batch is requested, the driver reads no further and the server waits. */
import type { Connection, Request } from 'tedious';
import type { DriverValue } from './types.ts';

const BATCH_ROWS = 1024;
const BATCH_BYTES = 2 ** 20;

export type Tedious = typeof import('tedious');

export class Rows {
  /** Names of the columns, in order; undefined until they are known. */
  columns: readonly string[] | undefined;
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly #request: Request;
  readonly #decode: (value: DriverValue, column: number) => string | null;
  #rows: (string | null)[][] = [];
  #size = 0;
  #bytes = 0;
  #full = false;
  #discard = false;
  #over = false;
  #error: unknown;
  #wake: () => void = () => {};
  #end: () => void = () => {};

  /** @param decode value of the driver → text */
  constructor(tedious: Tedious, connection: Connection, sql: string, decode: (value: DriverValue, column: number) => string | null) {
    this.#decode = decode;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#request = new tedious.Request(sql, (error) => {
      if (error) this.#error ??= error;
      this.#finish();
    });
    this.#request.on('columnMetadata', (columns) => {
      this.columns = (columns as readonly { readonly colName: string }[]).map(({ colName }) => colName);
    });
    this.#request.on('row', (row: readonly { readonly value: DriverValue }[]) => this.#take(row));
    connection.execSqlBatch(this.#request);
  }

  /** Whether the connection is free for the next statement. */
  get isOver(): boolean {
    return this.#over;
  }

  /** The next rows; undefined: there are no more. Throws the server's error. */
  async next(): Promise<{ readonly rows: readonly (readonly (string | null)[])[]; readonly bytes: number } | undefined> {
    while (!this.#full && !this.#over && this.#error === undefined) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#request.resume();
      await woken;
    }
    if (this.#error !== undefined) throw this.#error;
    if (this.#rows.length === 0) return undefined;
    const rows = this.#rows;
    this.#rows = [];
    this.#size = 0;
    this.#full = false;
    return { rows, bytes: this.#bytes };
  }

  /** Tells the server to stop, and discards what still comes. */
  cancel(): void {
    this.#discard = true;
    this.#rows = [];
    this.#request.cancel();
    // The driver reads up to the server's acknowledgement.
    this.#request.resume();
  }

  /** Lets `next` throw. The statement itself goes on until `cancel`. */
  fail(error: unknown): void {
    this.#error ??= error;
    this.#wake();
  }

  #take(row: readonly { readonly value: DriverValue }[]): void {
    if (this.#discard) return;
    const texts = row.map(({ value }, i) => this.#decode(value, i));
    const size = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    this.#size += size;
    this.#bytes += size;
    this.#rows.push(texts);
    if (this.#rows.length < BATCH_ROWS && this.#size < BATCH_BYTES) return;
    this.#full = true;
    this.#request.pause();
    this.#wake();
  }

  #finish(): void {
    this.#over = true;
    this.#wake();
    this.#end();
  }
}
