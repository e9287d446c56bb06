/**
 * Statements in PostgreSQL's extended protocol, which allows one statement at a time: query objects that pg's client executes for a
 * session.
 *
 * pg's own queries hold all rows, and support neither describing without executing nor COPY. `COPY … TO STDOUT` sends each row as one
 * message.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
import type { Socket } from 'node:net';

/** A column of a result, as the server describes it. */
export interface Field {
  readonly name: string;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}

/** Members of pg connections that its types lack. */
export interface Wire {
  readonly stream: Socket;
  parse(statement: { readonly text: string }): void;
  bind(values: { readonly values: readonly string[] }): void;
  describe(what: { readonly type: 'S' | 'P' }): void;
  execute(portal: { readonly portal: '' }): void;
  sync(): void;
  sendCopyFail(message: string): void;
  on(event: 'parameterDescription', listener: (message: { readonly parameterCount: number }) => void): void;
  off(event: 'parameterDescription', listener: (message: { readonly parameterCount: number }) => void): void;
}

export interface StatementOptions {
  readonly values?: readonly string[];
  /** `describe`: nothing is executed. */
  readonly mode?: 'run' | 'describe';
}

/** pg's client calls its methods. */
export class Statement {
  readonly text: string;
  /** Empty if the statement returns no rows. */
  fields: readonly Field[] = [];
  readonly rows: (readonly (string | null)[])[] = [];
  /** Number of placeholders, from the description. */
  parameters = 0;
  /** Never rejects; `error` is the result. */
  readonly ended: Promise<void>;
  isOver = false;
  error: unknown;
  protected wire: Wire | undefined;
  readonly #options: StatementOptions;
  #end: () => void = () => {};
  readonly #count = ({ parameterCount }: { readonly parameterCount: number }): void => {
    this.parameters = parameterCount;
  };

  constructor(text: string, options: StatementOptions = {}) {
    this.text = text;
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  submit(wire: Wire): void {
    this.wire = wire;
    const { values = [], mode } = this.#options;
    wire.stream.cork();
    wire.parse({ text: this.text });
    if (mode === 'describe') {
      wire.on('parameterDescription', this.#count);
      wire.describe({ type: 'S' });
    } else {
      wire.bind({ values });
      wire.describe({ type: 'P' });
      wire.execute({ portal: '' });
    }
    wire.sync();
    wire.stream.uncork();
  }

  /** Discards all further rows. The statement continues until it ends or is cancelled. */
  discard(): void {}

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.fields = fields;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.rows.push(fields);
  }

  handleCopyData(_message: { readonly chunk: Buffer }): void {}

  handleCopyInResponse(wire: Wire): void {
    wire.sendCopyFail('there is nothing to copy');
  }

  handlePortalSuspended(): void {}

  handleEmptyQuery(): void {}

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.finish(undefined);
  }

  /** The server refused the statement, or the connection broke. */
  handleError(error: unknown): void {
    this.finish(error);
  }

  protected finish(error: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.error = error;
    this.wire?.off('parameterDescription', this.#count);
    this.#end();
  }
}

/** Maximum bytes of buffered rows; then the socket is paused and the server waits. */
const HELD_BYTES = 256 * 2 ** 10;

/** `COPY … TO STDOUT`: its rows as bytes, with a small buffer. */
export class Copy extends Statement {
  /** Plus what the socket had already read when it was paused. */
  #held = Buffer.allocUnsafeSlow(2 * HELD_BYTES);
  #size = 0;
  #discard = false;
  #wake: () => void = () => {};

  /** The bytes of complete rows since the last call; undefined: none. They are valid until the next wait. */
  take(): Buffer | undefined {
    if (this.#size === 0) return undefined;
    const bytes = this.#held.subarray(0, this.#size);
    this.#size = 0;
    return bytes;
  }

  /** Reads until there are rows or the statement has ended. */
  async fill(): Promise<void> {
    if (this.#size > 0 || this.isOver) return;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.wire?.stream.resume();
    await woken;
  }

  override discard(): void {
    this.#discard = true;
    this.#size = 0;
    this.wire?.stream.resume();
  }

  override handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#discard) return;
    const before = this.#size;
    this.#size += chunk.length;
    if (this.#size > this.#held.length) this.#grow();
    // Copied, because the parser reuses the buffer of this chunk.
    chunk.copy(this.#held, before);
    if (before === 0) this.#wake();
    if (this.#size >= HELD_BYTES) this.wire?.stream.pause();
  }

  /** For rows that are longer than the buffer. */
  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#size);
    this.#held.copy(larger);
    this.#held = larger;
  }

  protected override finish(error: unknown): void {
    super.finish(error);
    // The end may have arrived together with the rows that filled the buffer.
    this.wire?.stream.resume();
    this.#wake();
  }
}
