/** Takes exact numbers of bytes out of chunks of any size. */

export type Chunks = AsyncGenerator<Uint8Array, void, undefined>;

const NOTHING = Buffer.alloc(0);

/** The caller that made it closes it. */
export class ByteReader {
  readonly #chunks: Chunks;
  #held: Buffer = NOTHING;
  #position = 0;

  constructor(chunks: Chunks) {
    this.#chunks = chunks;
  }

  /** How many bytes were taken. */
  get position(): number {
    return this.#position;
  }

  /** The next bytes, as many as are there, at most `most`; undefined at the end. */
  async chunk(most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
    if (this.#held.length === 0) this.#held = await this.#next();
    if (this.#held.length === 0) return undefined;
    return this.#take(Math.min(most, this.#held.length));
  }

  /** Exactly `length` bytes; fewer only at the end. */
  async read(length: number): Promise<Buffer> {
    const pieces = [this.#held];
    for (let held = this.#held.length; held < length; ) {
      const next = await this.#next();
      if (next.length === 0) break;
      pieces.push(next);
      held += next.length;
    }
    if (pieces.length > 1) this.#held = Buffer.concat(pieces);
    return this.#take(Math.min(length, this.#held.length));
  }

  /** Puts back the last bytes that were taken. */
  unread(bytes: Buffer): void {
    this.#position -= bytes.length;
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([bytes, this.#held]);
  }

  /** Reads to the end, so that the producer of the chunks can check what follows the content. */
  async drain(): Promise<void> {
    while ((await this.chunk()) !== undefined);
  }

  /** Does not wait: a chunk that is being read may never come. The caller that opened the input closes it. */
  close(): void {
    this.#chunks.return().catch(() => undefined);
  }

  #take(length: number): Buffer {
    const taken = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    this.#position += length;
    return taken;
  }

  async #next(): Promise<Buffer> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done) return NOTHING;
      if (value.length > 0) return Buffer.from(value.buffer, value.byteOffset, value.length);
    }
  }
}
