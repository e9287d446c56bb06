/**
 * A window of delimited text: bytes, the same as one-byte text, and their position in the document.
 *
 * The scanner extends it: `at` moves forward, `fill` drops what is before it.
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import type { CsvOptions } from '../source.ts';

const LF = 10;

/** For hints about quotes. */
export const WITHOUT_QUOTES =
  'A file without quotes is read with --quote \'\' on the command line, or csvw:dialect [ csvw:quoteChar "" ] in the mapping';

/** Bytes that become text at once. V8 keeps larger strings apart, and frees them only with everything else. */
const WINDOW_BYTES = 1 << 16;

export abstract class CsvWindow {
  /** Bytes of the document that have come into the window so far. */
  bytesRead = 0;

  protected readonly options: CsvOptions;
  protected buffer: Buffer = Buffer.alloc(0);
  protected text = '';
  /** Position of the next row in the window. */
  protected at = 0;
  /** No more bytes will come. */
  protected ended = false;
  readonly #input: AsyncIterator<Uint8Array> | undefined;
  /** Bytes of the input that are not in the window yet. */
  #later: Uint8Array = new Uint8Array(0);
  /** The 1-based line at `#countedTo`. Lines are counted only for messages and when bytes are dropped. */
  #linesBefore = 1;
  #countedTo = 0;

  /** @param document a string is the whole of it, as one-byte UTF-8: then `fill` is not needed */
  constructor(document: AsyncIterable<Uint8Array> | string, options: CsvOptions) {
    this.options = options;
    if (typeof document === 'string') {
      this.buffer = Buffer.from(document, 'latin1');
      this.text = document;
      this.bytesRead = document.length;
      this.ended = true;
    } else this.#input = document[Symbol.asyncIterator]();
  }

  /**
   * Drops the bytes before `at` and reads more. False: the input has ended.
   *
   * A partial row stays in the window. The longer it is, the more is read at once, up to the limit of a row: so long rows take linear time.
   *
   * @throws Fault limit/exceeded — the partial row is too long; those of the input
   */
  async fill(): Promise<boolean> {
    const input = this.#input;
    if (this.ended || input === undefined) return false;
    const rest = this.buffer.subarray(this.at);
    const limit = this.options.maxRecordBytes;
    if (rest.length > limit) throw this.tooLong();
    const chunks: Uint8Array[] = [rest];
    let size = rest.length;
    const wanted = Math.min(rest.length * 2, limit) + 1;
    while (size < wanted && !this.ended) {
      if (this.#later.length === 0) {
        const next = await input.next();
        if (next.done === true) this.ended = true;
        else this.#later = next.value;
        continue;
      }
      const piece = this.#later.subarray(0, WINDOW_BYTES);
      this.#later = this.#later.subarray(piece.length);
      chunks.push(piece);
      size += piece.length;
    }
    this.bytesRead += size - rest.length;
    this.#countLines(this.at);
    this.buffer = Buffer.concat(chunks, size);
    this.text = this.buffer.toString('latin1');
    this.at = 0;
    this.#countedTo = 0;
    return true;
  }

  /** Offset in the document of the next row, or of empty lines before it. A byte order mark does not count. */
  get byte(): number {
    return this.#byteAt(this.at);
  }

  /** Closes the input. */
  async close(): Promise<void> {
    this.ended = true;
    await this.#input?.return?.();
  }

  /** Input and record for the place of a fault. */
  protected abstract context(): FaultPlace;

  protected placeOf(at: number): FaultPlace {
    this.#countLines(at);
    return { ...this.context(), line: this.#linesBefore, byte: this.#byteAt(at) };
  }

  /** The line of a position in the window. Unlike `placeOf`, it may go back. */
  protected lineAt(at: number): number {
    this.#countLines(at);
    let line = this.#linesBefore;
    for (let i = this.buffer.indexOf(LF, at); i >= 0 && i < this.#countedTo; i = this.buffer.indexOf(LF, i + 1)) line--;
    return line;
  }

  protected tooLong(): Fault {
    return new Fault('limit/exceeded', `A row is longer than the ${this.options.maxRecordBytes} bytes that are allowed`, {
      place: this.placeOf(this.at),
      limit: 'MAX_RECORD_BYTES',
      hint: `Look for a quote that is not closed, or raise MAX_RECORD_BYTES (--max-record-mb). ${WITHOUT_QUOTES}`,
    });
  }

  #byteAt(at: number): number {
    return this.bytesRead - this.buffer.length + at;
  }

  #countLines(to: number): void {
    for (let i = this.buffer.indexOf(LF, this.#countedTo); i >= 0 && i < to; i = this.buffer.indexOf(LF, i + 1)) this.#linesBefore++;
    this.#countedTo = Math.max(this.#countedTo, to);
  }
}
