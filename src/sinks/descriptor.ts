/** Writes one-byte text to an open file descriptor, through two growing buffers: one is filled while the other is written. */
import { createHash, type Hash } from 'node:crypto';
import { write as writeCallback } from 'node:fs';
import { promisify } from 'node:util';
import { Fault } from '../core/fault.ts';

const writeDescriptor = promisify(writeCallback);

const BUFFER_BYTES = 1 << 20;
/** Small runs write little: allocating megabytes for each would keep the garbage collector busy. */
const FIRST_BYTES = 1 << 14;
/** A full non-blocking pipe returns EAGAIN; there is no event to wait for, so the write is retried after a pause. */
const FULL_PIPE_WAIT_MS = 5;

/** The reader of a pipe has closed it. Not an error: `| head` wants no more. */
export class ReaderGone extends Fault {
  constructor(cause: unknown) {
    super('run/cancelled', 'The reader of the output went away', { cause });
  }
}

/** The caller opens and closes the descriptor. */
export class DescriptorWriter {
  readonly #descriptor: number;
  /** For messages. */
  readonly #name: string;
  readonly #hash: Hash | undefined;
  #filling: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #spare: Buffer | undefined;
  #used = 0;
  #bytes = 0;
  #inFlight: Promise<void> | undefined;
  #failure: Fault | undefined;

  constructor(descriptor: number, name: string, digest: boolean) {
    this.#descriptor = descriptor;
    this.#name = name;
    this.#hash = digest ? createHash('sha256') : undefined;
  }

  /** @throws Fault sink/failed — disk full and the like, also for an earlier write; ReaderGone */
  write(text: string): void | Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (text.length > this.#filling.length - this.#used) {
      if (text.length > BUFFER_BYTES - this.#used) return this.#spread(text);
      this.#grow(this.#used + text.length);
    }
    this.#used += this.#filling.write(text, this.#used, 'latin1');
  }

  /** Writes bytes without copying them. Resolves when they have been passed to the operating system. @throws those of `write` */
  async writeBytes(bytes: Uint8Array): Promise<void> {
    if (this.#used > 0) await this.#swap();
    await this.#inFlight;
    if (this.#failure !== undefined) throw this.#failure;
    this.#bytes += bytes.length;
    this.#inFlight = this.#send(bytes);
    this.#hash?.update(bytes);
    await this.#inFlight;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #grow(wanted: number): void {
    let size = this.#filling.length;
    while (size < wanted) size *= 4;
    const larger = Buffer.allocUnsafeSlow(Math.min(size, BUFFER_BYTES));
    this.#filling.copy(larger, 0, 0, this.#used);
    this.#filling = larger;
  }

  async #spread(text: string): Promise<void> {
    if (this.#filling.length < BUFFER_BYTES) this.#grow(BUFFER_BYTES);
    for (let from = 0; from < text.length; ) {
      const length = Math.min(BUFFER_BYTES - this.#used, text.length - from);
      this.#used += this.#filling.write(text.slice(from, from + length), this.#used, 'latin1');
      from += length;
      if (this.#used === BUFFER_BYTES) await this.#swap();
    }
  }

  /** Starts writing the full buffer and continues with the other one, once that has been written. */
  async #swap(): Promise<void> {
    await this.#inFlight;
    if (this.#failure !== undefined) throw this.#failure;
    const full = this.#filling;
    const content = full.subarray(0, this.#used);
    this.#filling = this.#spare ?? Buffer.allocUnsafeSlow(full.length);
    this.#spare = full;
    this.#used = 0;
    this.#bytes += content.length;
    this.#inFlight = this.#send(content);
    this.#hash?.update(content);
  }

  /** Stores its error for the next call, so that no rejection is unhandled. */
  async #send(buffer: Uint8Array): Promise<void> {
    try {
      for (let from = 0; from < buffer.length; ) {
        from += (await writeDescriptor(this.#descriptor, buffer, from, buffer.length - from, null).catch(retryWhenFull)).bytesWritten;
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      this.#failure = code === 'EPIPE' ? new ReaderGone(error) : writeFault(this.#name, error);
    }
  }

  /** Resolves when everything has been passed to the operating system. `sha256` is empty without digest. */
  async finish(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    if (this.#used > 0) await this.#swap();
    await this.#inFlight;
    if (this.#failure !== undefined) throw this.#failure;
    return { bytes: this.#bytes, sha256: this.#hash?.digest('hex') ?? '' };
  }

  /** Resolves when the descriptor is no longer in use. Discards what is buffered. */
  async drop(): Promise<void> {
    this.#used = 0;
    await this.#inFlight;
  }
}

async function retryWhenFull(error: NodeJS.ErrnoException): Promise<{ bytesWritten: number }> {
  if (error.code !== 'EAGAIN') throw error;
  await new Promise((resolve) => setTimeout(resolve, FULL_PIPE_WAIT_MS));
  return { bytesWritten: 0 };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such directory',
  ENOTDIR: 'a part of the path is not a directory',
  EEXIST: 'a part of the path is not a directory',
  EISDIR: 'there is a directory of that name',
};

/** `sink/failed` with the path and the reason. */
export function writeFault(path: string, error: unknown): Fault {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? message : (REASONS[code] ?? message);
  return new Fault('sink/failed', `${path} cannot be written: ${reason}`, { cause: error });
}
