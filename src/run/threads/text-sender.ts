/** In a thread: collects the text of outputs, and sends it in buffers that come back. */

const BUFFER_BYTES = 1 << 20;
/** One is filled while the others are written. */
const BUFFERS = 8;

interface Filling {
  readonly buffer: Buffer;
  used: number;
}

export class TextSender {
  readonly #send: (bytes: Uint8Array, output: number) => void;
  readonly #free: Buffer[] = [];
  /** By output: what is being filled. */
  readonly #filling: (Filling | undefined)[] = [];
  #buffers = 0;
  #onFree: (() => void) | undefined;

  /** @param send gives a buffer away until `free` */
  constructor(send: (bytes: Uint8Array, output: number) => void) {
    this.#send = send;
  }

  /** As `StatementSink.write`: a piece is sent as a whole, since those of other threads come between. */
  write(text: string, output: number): void | Promise<void> {
    const filling = this.#filling[output];
    if (filling !== undefined && text.length <= BUFFER_BYTES - filling.used) {
      filling.used += filling.buffer.write(text, filling.used, 'latin1');
      return;
    }
    return this.#begin(text, output);
  }

  async #begin(text: string, output: number): Promise<void> {
    this.#give(output);
    if (text.length > BUFFER_BYTES) return this.#sendLong(text, output);
    const buffer = await this.#take();
    this.#filling[output] = { buffer, used: buffer.write(text, 'latin1') };
  }

  /** A piece that is longer than a buffer. */
  async #sendLong(text: string, output: number): Promise<void> {
    while (this.#buffers - this.#free.length >= BUFFERS) await this.#freed();
    const bytes = Buffer.allocUnsafeSlow(text.length);
    bytes.write(text, 'latin1');
    this.#buffers++;
    this.#send(bytes, output);
  }

  /** Sends what was written. Resolves when all of it has come back. */
  async flush(): Promise<void> {
    this.#giveAll();
    while (this.#buffers > this.#free.length) await this.#freed();
  }

  /** A buffer has come back. */
  free(buffer: ArrayBuffer): void {
    if (buffer.byteLength === BUFFER_BYTES) this.#free.push(Buffer.from(buffer));
    else this.#buffers--;
    this.#onFree?.();
  }

  #giveAll(): void {
    for (const output of this.#filling.keys()) this.#give(output);
  }

  #give(output: number): void {
    const filling = this.#filling[output];
    if (filling === undefined) return;
    this.#filling[output] = undefined;
    this.#send(filling.buffer.subarray(0, filling.used), output);
  }

  async #take(): Promise<Buffer> {
    while (this.#free.length === 0) {
      if (this.#buffers < BUFFERS) {
        this.#buffers++;
        return Buffer.allocUnsafeSlow(BUFFER_BYTES);
      }
      // Those of other outputs may be all that there are.
      this.#giveAll();
      await this.#freed();
    }
    return this.#free.pop() as Buffer;
  }

  #freed(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#onFree = resolve;
    });
  }
}
