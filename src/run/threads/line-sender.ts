/** In a thread: collects lines, and sends them in buffers that come back. */

const BUFFER_BYTES = 1 << 20;
/** One is filled while the others are written. */
const BUFFERS = 8;

export class LineSender {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #free: Buffer[] = [];
  #buffer: Buffer | undefined;
  #used = 0;
  #buffers = 0;
  #onFree: () => void = () => undefined;

  /** @param send gives a buffer away until `free` */
  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send;
  }

  /** As `QuadSink.write`. */
  write(lines: string): void | Promise<void> {
    if (this.#buffer !== undefined && lines.length <= BUFFER_BYTES - this.#used) {
      this.#used += this.#buffer.write(lines, this.#used, 'latin1');
      return;
    }
    return this.#spread(lines);
  }

  async #spread(lines: string): Promise<void> {
    for (let from = 0; from < lines.length; ) {
      this.#buffer ??= await this.#take();
      // Only whole lines are sent: those of other threads come between.
      const rest = BUFFER_BYTES - this.#used;
      const end = lines.length - from <= rest ? lines.length : lines.lastIndexOf('\n', from + rest - 1) + 1;
      if (end > from) {
        this.#used += this.#buffer.write(lines.slice(from, end), this.#used, 'latin1');
        from = end;
      } else if (this.#used === 0) {
        const to = lines.indexOf('\n', from) + 1;
        this.#sendLong(lines.slice(from, to));
        from = to;
        continue;
      }
      if (from < lines.length) this.#give();
    }
  }

  /** A line that is longer than a buffer. */
  #sendLong(line: string): void {
    const bytes = Buffer.allocUnsafeSlow(line.length);
    bytes.write(line, 'latin1');
    this.#buffers++;
    this.#send(bytes);
  }

  /** Sends what was written. Resolves when all of it has come back. */
  async flush(): Promise<void> {
    if (this.#used > 0) this.#give();
    while (this.#buffers - this.#free.length - (this.#buffer === undefined ? 0 : 1) > 0) await this.#freed();
  }

  /** A buffer has come back. */
  free(buffer: ArrayBuffer): void {
    if (buffer.byteLength === BUFFER_BYTES) this.#free.push(Buffer.from(buffer));
    else this.#buffers--;
    this.#onFree();
  }

  #give(): void {
    const buffer = this.#buffer as Buffer;
    this.#buffer = undefined;
    this.#send(buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  async #take(): Promise<Buffer> {
    while (this.#free.length === 0) {
      if (this.#buffers < BUFFERS) {
        this.#buffers++;
        return Buffer.allocUnsafeSlow(BUFFER_BYTES);
      }
      await this.#freed();
    }
    return this.#free.pop() as Buffer;
  }

  #freed(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFree = resolve;
    });
  }
}
