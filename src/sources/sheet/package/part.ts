/** Reads a part of a workbook through its handler: as a whole, or one chunk at a time. */
import { toUtf8 } from '../../encoding.ts';
import type { WorkbookOptions } from '../../source.ts';
import { declaredEncoding } from '../../xml/declared-encoding.ts';
import type { Archive } from './archive.ts';
import { type TagHandler, type TokenOptions, Tokens } from './tokens.ts';

/** Bytes that are scanned at a time: larger windows would leave the caches of the processor. */
const WINDOW_BYTES = 2 ** 16;

export class Part {
  readonly #tokens: Tokens;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #more = false;
  #ended = false;

  constructor(archive: Archive, part: string, handler: TagHandler, namespaces: TokenOptions['namespaces'], options: WorkbookOptions) {
    const { name: input, maxRecordBytes: maxTokenBytes, maxDepth } = options;
    this.#tokens = new Tokens(handler, { input, part, maxTokenBytes, maxDepth, namespaces });
    this.#chunks = toUtf8(archive.read(part), undefined, declaredEncoding, input)[Symbol.asyncIterator]();
  }

  /** Reads on, up to where the handler pauses or more bytes are needed. False: the part is read. */
  async next(): Promise<boolean> {
    if (!this.#more) {
      if (this.#ended) return false;
      await this.#push();
    }
    this.#more = this.#tokens.scan();
    return true;
  }

  /** Reads all of the part. @throws Fault source/malformed, limit/exceeded */
  async read(): Promise<void> {
    try {
      while (await this.next());
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** A token that does not end in the window is read again with twice as many bytes. */
  async #push(): Promise<void> {
    const wanted = Math.max(WINDOW_BYTES, this.#tokens.waiting);
    const pieces: Uint8Array[] = [];
    let size = 0;
    while (size < wanted) {
      if (this.#chunk.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) {
          this.#ended = true;
          break;
        }
        this.#chunk = next.value;
      }
      const piece = this.#chunk.subarray(0, wanted - size);
      this.#chunk = this.#chunk.subarray(piece.length);
      pieces.push(piece);
      size += piece.length;
    }
    if (size > 0) this.#tokens.push(pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces));
    if (this.#ended) this.#tokens.end();
  }
}
