/**
 * Calls of the file system that take microseconds.
 *
 * Where an event loop serves others, they are handed to Node's threads, since a slow disk must not stop it. A thread that does one run at a
 * time, or a few small ones, serves no others, and there a call costs a tenth of handing it over.
 */
import { close, closeSync, fstat, fstatSync, lstatSync, open, openSync, read, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';

/** A regular file that was opened for reading. */
export interface OpenFile {
  stat(): Promise<Stats>;
  /** Reads at most `buffer.length` bytes; 0: the end. @param position null: after what was read last */
  read(buffer: Buffer, position: number | null): Promise<number>;
  /** May be called again. */
  close(): Promise<void>;
}

/** As in `node:fs/promises`. */
export interface FileCalls {
  realpath(path: string): Promise<string>;
  lstat(path: string): Promise<Stats>;
  stat(path: string): Promise<Stats>;
  open(path: string, flags: number): Promise<OpenFile>;
}

const openAsync = promisify(open);
const fstatAsync = promisify(fstat);
const closeAsync = promisify(close);
const readAsync = promisify(read);

/** Larger reads may wait for the disk, and what was read before is worked on meanwhile. */
const SHORT_READ_BYTES = 64 * 1024;

function openedFile(descriptor: number, isShort: boolean): OpenFile {
  let closed = false;
  /** The number of a closed file may be given to the next one while a read of it is under way. */
  let reading: Promise<unknown> | undefined;
  return {
    stat: async () => (isShort ? fstatSync(descriptor) : fstatAsync(descriptor)),
    async read(buffer, position) {
      if (isShort && buffer.length <= SHORT_READ_BYTES) return readSync(descriptor, buffer, 0, buffer.length, position);
      const under = readAsync(descriptor, buffer, 0, buffer.length, position);
      reading = under.catch(() => undefined);
      return (await under).bytesRead;
    },
    async close() {
      if (closed) return;
      closed = true;
      await reading;
      if (isShort) closeSync(descriptor);
      else await closeAsync(descriptor);
    },
  };
}

export const HANDED_OVER: FileCalls = {
  realpath,
  lstat,
  stat,
  open: async (path, flags) => openedFile(await openAsync(path, flags), false),
};

export const AT_ONCE: FileCalls = {
  realpath: async (path) => realpathSync.native(path),
  lstat: async (path) => lstatSync(path),
  stat: async (path) => statSync(path),
  open: async (path, flags) => openedFile(openSync(path, flags), true),
};

/** Those of this thread. */
export const fileCalls: FileCalls = isMainThread ? HANDED_OVER : AT_ONCE;
