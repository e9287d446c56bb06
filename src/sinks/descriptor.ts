/**
 * Writes one-byte text to an open file descriptor, through buffers of a megabyte: some are written while the next one is filled.
 *
 * A disk takes most writes at once and some only after tens of milliseconds. So a few full buffers may wait, and one call writes all of them: the
 * writer waits for a disk that is slow, but not for a short delay.
 */
import { createHash, type Hash } from 'node:crypto';
import { fdatasync as fdatasyncCallback, writeSync, writev as writevCallback } from 'node:fs';
import { promisify } from 'node:util';
import { Fault } from '../core/fault.ts';

const writeBuffers = promisify(writevCallback);
const syncData = promisify(fdatasyncCallback);

const BUFFER_BYTES = 1 << 20;
/** Small runs write little: allocating megabytes for each would keep the garbage collector busy. */
const FIRST_BYTES = 1 << 14;
/** As much of a file goes to the page cache in microseconds; handing it to a thread of libuv takes ten times as long. */
const SMALL_BYTES = 1 << 16;
const NOTHING = Buffer.alloc(0);
/** With those that are being written and the one that is filled, at most nine buffers. */
const MOST_WAITING = 4;
/**
 * A system that writes to its disk when it likes leaves most of it for the sync at the end, when nothing else is left to do. Asking for it after so
 * many bytes keeps the disk busy meanwhile. Less would only write the metadata more often.
 */
const SYNC_BYTES = 64 * BUFFER_BYTES;
/** A full non-blocking pipe returns EAGAIN; there is no event to wait for, so the write is retried after a pause. */
const FULL_PIPE_WAIT_MS = 5;

/** The reader of a pipe has closed it. Not an error: `| head` wants no more. */
export class ReaderGone extends Fault {
  constructor(cause: unknown) {
    super('run/cancelled', 'The reader of the output went away', { cause });
  }
}

export interface DescriptorOptions {
  /** Compute SHA-256 while writing. */
  readonly digest: boolean;
  /** The descriptor is a file that will be synced: ask for it from time to time. The caller still syncs it at the end. */
  readonly durable?: boolean;
}

/** The caller opens and closes the descriptor. */
export class DescriptorWriter {
  readonly #descriptor: number;
  /** For messages. */
  readonly #name: string;
  readonly #hash: Hash | undefined;
  readonly #durable: boolean;
  #filling: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #used = 0;
  #bytes = 0;
  /** Full, in order. */
  #waiting: Buffer[] = [];
  readonly #free: Buffer[] = [];
  /** Until nothing waits any more. */
  #writing: Promise<void> | undefined;
  /** Until those are written that have been passed to the system. */
  #sending: Promise<void> | undefined;
  #unsynced = 0;
  #syncing: Promise<void> | undefined;
  #failure: Fault | undefined;

  constructor(descriptor: number, name: string, { digest, durable = false }: DescriptorOptions) {
    this.#descriptor = descriptor;
    this.#name = name;
    this.#hash = digest ? createHash('sha256') : undefined;
    this.#durable = durable;
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

  /** Writes buffers without copying them. Resolves when they have been passed to the operating system. @throws those of `write` */
  async writeBytes(buffers: readonly Uint8Array[]): Promise<void> {
    if (this.#used > 0) await this.#swap();
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
    this.#bytes += buffers.reduce((sum, { length }) => sum + length, 0);
    this.#sending = this.#send(buffers).catch((error) => this.#fail(error));
    for (const bytes of buffers) this.#hash?.update(bytes);
    await this.#sending;
    if (this.#durable && this.#failure === undefined) this.#sync(buffers);
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

  /** Passes the full buffer on and continues with another one, if there is more to come. Waits while too many do. */
  async #swap(more = true): Promise<void> {
    // What has been written meanwhile is known only after a turn of the event loop.
    if (this.#writing !== undefined) await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length >= MOST_WAITING) await this.#sending;
    if (this.#failure !== undefined) throw this.#failure;
    const content = this.#filling.subarray(0, this.#used);
    this.#filling = this.#free.pop() ?? (more ? Buffer.allocUnsafeSlow(BUFFER_BYTES) : NOTHING);
    this.#used = 0;
    this.#bytes += content.length;
    this.#waiting.push(content);
    this.#writing ??= this.#writeWaiting();
    this.#hash?.update(content);
  }

  /** Stores its error for the next call, so that no rejection is unhandled. */
  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const buffers = this.#waiting;
      this.#waiting = [];
      this.#sending = this.#send(buffers).catch((error) => this.#fail(error));
      await this.#sending;
      for (const buffer of buffers) if (buffer.length === BUFFER_BYTES) this.#free.push(buffer);
      if (this.#durable && this.#failure === undefined) this.#sync(buffers);
    }
    this.#writing = undefined;
  }

  async #send(buffers: readonly Uint8Array[]): Promise<void> {
    let rest = buffers;
    while (rest.length > 0) {
      const { bytesWritten } = await writeBuffers(this.#descriptor, rest).catch(retryWhenFull);
      rest = behind(rest, bytesWritten);
    }
  }

  #writeAtOnce(): void {
    const content = this.#filling.subarray(0, this.#used);
    this.#used = 0;
    this.#bytes = content.length;
    this.#hash?.update(content);
    try {
      for (let from = 0; from < content.length; ) from += writeSync(this.#descriptor, content, from);
    } catch (error) {
      this.#fail(error);
    }
  }

  #sync(written: readonly Uint8Array[]): void {
    this.#unsynced += written.reduce((sum, { length }) => sum + length, 0);
    if (this.#syncing !== undefined || this.#unsynced < SYNC_BYTES) return;
    this.#unsynced = 0;
    // The system reports an error once: the sync at the end may succeed nevertheless.
    this.#syncing = syncData(this.#descriptor)
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#syncing = undefined;
      });
  }

  #fail(error: unknown): void {
    this.#waiting = [];
    const code = (error as NodeJS.ErrnoException).code;
    this.#failure ??= code === 'EPIPE' ? new ReaderGone(error) : writeFault(this.#name, error);
  }

  /** Resolves when everything has been passed to the operating system. `sha256` is empty without digest. */
  async finish(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    if (this.#used > 0) {
      if (this.#durable && this.#bytes === 0 && this.#used <= SMALL_BYTES) this.#writeAtOnce();
      else await this.#swap(false);
    }
    await this.#writing;
    await this.#syncing;
    if (this.#failure !== undefined) throw this.#failure;
    return { bytes: this.#bytes, sha256: this.#hash?.digest('hex') ?? '' };
  }

  /** Resolves when the descriptor is not in use any more. Discards what is buffered. */
  async drop(): Promise<void> {
    this.#used = 0;
    this.#waiting = [];
    await this.#writing;
    await this.#syncing;
  }
}

/** What of them comes after so many bytes. */
function behind(buffers: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let from = bytes;
  let first = 0;
  while (first < buffers.length && from >= (buffers[first] as Uint8Array).length) from -= (buffers[first++] as Uint8Array).length;
  const [partial, ...others] = buffers.slice(first);
  return partial === undefined ? [] : [partial.subarray(from), ...others];
}

async function retryWhenFull(error: NodeJS.ErrnoException): Promise<{ bytesWritten: number }> {
  if (error.code !== 'EAGAIN') throw error;
  await new Promise((resolve) => setTimeout(resolve, FULL_PIPE_WAIT_MS));
  return { bytesWritten: 0 };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file may not become larger (see `ulimit -f`, and the limits of the file system)',
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
