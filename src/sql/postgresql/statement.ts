/**
 * Statements in PostgreSQL's extended protocol, which takes one statement at a time: what pg's client runs for a session.
 *
 * pg's own queries hold all rows, and know neither a description without a run nor COPY. `COPY … TO STDOUT` sends each row as one message.
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

/** What pg's connections have, beyond their types. */
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
  /** `describe`: nothing runs. */
  readonly mode?: 'run' | 'describe';
}

/** Its methods are what pg's client calls. */
export class Statement {
  readonly text: string;
  /** Empty where the statement gives no rows. */
  fields: readonly Field[] = [];
  readonly rows: (readonly (string | null)[])[] = [];
  /** Placeholders; told by descriptions. */
  parameters = 0;
  /** Never rejects; `error` says how it ended. */
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

  /** Drops all rows from now on. The statement goes on until it has ended by itself or was cancelled. */
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

  /** The server refused, or the connection broke. */
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

/** So many bytes of rows are held; then the socket is paused and the server waits. */
const HELD_BYTES = 256 * 2 ** 10;

/** `COPY … TO STDOUT`: its rows as bytes, of which few are held. */
export class Copy extends Statement {
  /** What the socket had read when it was paused may come on top. */
  #held = Buffer.allocUnsafeSlow(2 * HELD_BYTES);
  #size = 0;
  #discard = false;
  #wake: () => void = () => {};

  /** The bytes of whole rows that have come since the last call; undefined: none have. They are there until the next wait. */
  take(): Buffer | undefined {
    if (this.#size === 0) return undefined;
    const bytes = this.#held.subarray(0, this.#size);
    this.#size = 0;
    return bytes;
  }

  /** Reads on, until there are rows or the statement is over. */
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
    // A copy: the parser writes what comes next into the buffer that this chunk is a view of.
    chunk.copy(this.#held, before);
    if (before === 0) this.#wake();
    if (this.#size >= HELD_BYTES) this.wire?.stream.pause();
  }

  /** For rows that are longer than what is held otherwise. */
  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(2 * this.#size);
    this.#held.copy(larger);
    this.#held = larger;
  }

  protected override finish(error: unknown): void {
    super.finish(error);
    // The end may have come in one piece with the rows that made us pause.
    this.wire?.stream.resume();
    this.#wake();
  }
}
