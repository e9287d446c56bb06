/**
 * A window of the document: its bytes, the same as one-byte text, and its position in the document.
 *
 * The scanner extends it: `at` moves forward, `push` drops what is before it. Behind the bytes of the window stands a `<` that belongs to no
 * document: a loop over names, spaces, text or a value ends there, without comparing its position with the length.
 */
import { Fault, type FaultPlace } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import { LESS } from './syntax.ts';

/** A hint for a document that ends too early. */
export const CUT_OFF = 'The file is probably cut off; fetch or write it again';

export abstract class XmlWindow {
  /** Those of `text`, then the `<` that ends loops, then bytes without meaning. */
  protected bytes: Uint8Array = new Uint8Array([LESS]);
  protected text = '';
  protected at = 0;
  /** No more bytes will come. */
  protected ended = false;
  /** Before the window: bytes, line feeds, bytes since the last line feed. */
  protected bytesBefore = 0;
  #linesBefore = 0;
  #columnBefore = 0;
  /** Line feeds of the window that are counted, and the next one after these; the length of the window if there is none. */
  #lines = 0;
  #nextFeed = 0;
  /** While the text of an entity is read: the line of the reference to it in the document. */
  protected entityLine: number | undefined;
  /** The memory of `bytes`, for as many windows as fit. */
  #memory: Buffer = Buffer.from(this.bytes.buffer);

  protected readonly input: string;
  readonly #maxTokenBytes: number;

  constructor(input: string, maxTokenBytes: number) {
    this.input = input;
    this.#maxTokenBytes = maxTokenBytes;
  }

  /** Bytes of text that have been processed. */
  get position(): number {
    return this.bytesBefore + this.at;
  }

  /** The 1-based line of `at`. Going on from one to the next counts each line feed once. */
  get line(): number {
    if (this.entityLine !== undefined) return this.entityLine;
    this.#countLines();
    return this.#linesBefore + this.#lines + 1;
  }

  #countLines(): void {
    while (this.#nextFeed < this.at) {
      this.#lines++;
      this.#findFeed(this.#nextFeed + 1);
    }
  }

  #findFeed(from: number): void {
    const found = this.text.indexOf('\n', from);
    this.#nextFeed = found < 0 ? this.text.length : found;
  }

  /** Bytes of an incomplete token. Push at least as many again, so that long tokens take linear time. */
  get waiting(): number {
    return this.text.length - this.at;
  }

  /** Appends UTF-8 to the window. The bytes belong to the scanner until the next call. */
  push(chunk: Uint8Array): void {
    const old = this.text;
    const at = this.at;
    this.#countLines();
    const feed = at === 0 ? -1 : old.lastIndexOf('\n', at - 1);
    this.#columnBefore = feed < 0 ? this.#columnBefore + at : at - feed - 1;
    this.#linesBefore += this.#lines;
    this.bytesBefore += at;
    const rest = old.length - at;
    if (rest > this.#maxTokenBytes) {
      throw new Fault('limit/exceeded', `A tag or a declaration is longer than the ${this.#maxTokenBytes} bytes that are allowed`, {
        place: this.place(at),
        limit: 'MAX_RECORD_BYTES',
        hint: 'Look for a tag that is not closed, or raise MAX_RECORD_BYTES (--max-record-mb)',
      });
    }
    this.#makeRoom(rest + chunk.length + 1);
    // Joined as bytes: a concatenated string would be slower to read character by character.
    this.bytes.copyWithin(0, at, old.length);
    this.bytes.set(chunk, rest);
    this.bytes[rest + chunk.length] = LESS;
    this.text = this.#memory.toString('latin1', 0, rest + chunk.length);
    this.at = 0;
    this.#lines = 0;
    this.#findFeed(0);
  }

  /** Windows have about the same size, but for long tokens, so this is seldom. */
  #makeRoom(bytes: number): void {
    const old = this.bytes;
    if (bytes <= old.length) return;
    this.bytes = new Uint8Array(bytes);
    this.#memory = Buffer.from(this.bytes.buffer);
    this.bytes.set(old);
  }

  /** Marks the end of the document. */
  end(): void {
    this.ended = true;
  }

  /** The innermost open element, and the 0-based position of the current record: for messages. */
  protected abstract context(): { readonly element: string | undefined; readonly record: number | undefined };

  /** Line and record. */
  protected place(at: number): FaultPlace {
    const { record } = this.context();
    let line = this.#linesBefore + 1;
    for (let i = this.text.indexOf('\n'); i >= 0 && i < at; i = this.text.indexOf('\n', i + 1)) line++;
    return { input: this.input, line, ...(record === undefined ? {} : { record }) };
  }

  /** An excerpt of the window for a message. */
  protected shown(from: number, to: number): string {
    return fromBytes(this.text.slice(from, Math.min(to, from + 200)));
  }

  /** False: wait for the rest of `what`. @throws Fault source/malformed — the document ended */
  protected incomplete(what: string): false {
    if (this.ended) this.fail(`The document ends within ${what}`, this.at, CUT_OFF);
    return false;
  }

  /** @throws Fault source/malformed at a position of the window */
  protected fail(message: string, at: number, hint?: string): never {
    const { element } = this.context();
    const within = element === undefined ? '' : `, in <${fromBytes(element)}>`;
    throw new Fault('source/malformed', `${message}${within}`, {
      place: { ...this.place(at), column: this.#column(at) },
      ...(hint === undefined ? {} : { hint }),
    });
  }

  /** 1-based; counts characters if the line begins in the window, else bytes. */
  #column(at: number): number {
    const begin = at === 0 ? -1 : this.text.lastIndexOf('\n', at - 1);
    if (begin >= 0) return fromBytes(this.text.slice(begin + 1, at)).length + 1;
    return this.#columnBefore + fromBytes(this.text.slice(0, at)).length + 1;
  }
}
