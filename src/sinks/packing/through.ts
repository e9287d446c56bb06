/** Sends bytes through a stream that transforms them, one write at a time. */
import type { Duplex } from 'node:stream';
import { Fault } from '../../core/fault.ts';

/** Bytes as one-byte text, as sinks take them. */
export type PassBytes = (bytes: string) => void | Promise<void>;

/** Small writes are collected to this many bytes, since each costs a message between threads. Larger ones are cut. */
const WRITE_BYTES = 256 * 1024;

/** What the stream gives is passed on before a write ends, so that nothing accumulates. */
export class Through {
  readonly #stream: Duplex;
  readonly #pass: PassBytes;
  #collected = '';
  #given: Buffer[] = [];
  #failure: Error | undefined;
  #fail: (error: Error) => void = () => undefined;

  constructor(stream: Duplex, pass: PassBytes) {
    this.#stream = stream;
    this.#pass = pass;
    stream.on('data', (chunk: Buffer) => this.#given.push(chunk));
    stream.on('error', (error: Error) => {
      this.#failure ??= error;
      this.#fail(error);
    });
  }

  /** @throws Fault sink/failed */
  write(bytes: string): void | Promise<void> {
    this.#collected += bytes;
    if (this.#collected.length >= WRITE_BYTES) return this.#flush();
  }

  /** @throws Fault sink/failed */
  async end(): Promise<void> {
    await this.#flush();
    await this.#wait((done) => {
      this.#stream.once('end', done);
      this.#stream.end();
    });
    await this.#passOn();
  }

  destroy(): void {
    this.#collected = '';
    this.#given = [];
    this.#stream.destroy();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#collected, 'latin1');
    this.#collected = '';
    for (let from = 0; from < bytes.length; from += WRITE_BYTES) {
      await this.#wait((done) => void this.#stream.write(bytes.subarray(from, from + WRITE_BYTES), () => done()));
      await this.#passOn();
    }
  }

  async #wait(begin: (done: () => void) => void): Promise<void> {
    try {
      await new Promise<void>((done, fail) => {
        this.#fail = fail;
        if (this.#failure === undefined) begin(done);
        else fail(this.#failure);
      });
    } catch (error) {
      throw new Fault('sink/failed', `The output cannot be compressed: ${(error as Error).message}`, { cause: error });
    }
  }

  async #passOn(): Promise<void> {
    const given = this.#given;
    this.#given = [];
    for (const chunk of given) await this.#pass(chunk.toString('latin1'));
  }
}
