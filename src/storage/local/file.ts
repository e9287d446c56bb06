/** Local files: read in chunks, listed, written atomically. */

import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsync, fsyncSync, openSync, type Stats } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { Fault } from '../../core/fault.ts';
import { nearest } from '../../core/nearest.ts';
import { fileCalls, HANDED_OVER, type OpenFile } from '../../core/reach/file-calls.ts';
import type { Reach } from '../../core/reach/reach.ts';
import { openWithin, resolveWithin } from '../../core/reach/safe-path.ts';
import type { RawInput } from '../storage.ts';
import { type ByteRange, changedFault, type InputState } from '../storage.ts';
import { makeDirectory } from './directory.ts';

const CHUNK_BYTES = 256 * 1024;

/**
 * Opens the file at `path`, if it is within `reach`; `name` is what the user wrote, for messages. The file is closed when the iteration ends.
 *
 * @throws Fault source/missing — names the path and suggests similar names; source/refused — permission, directory; source/unreadable;
 * run/lost — a range of a file that has changed; request/forbidden
 */
export async function openFile(path: string, name: string, range: ByteRange | undefined, reach: Reach | undefined): Promise<RawInput> {
  let handle: OpenFile;
  try {
    // Without a reach it may be a pipe, and to open one is to wait for its writer.
    handle = reach === undefined ? await HANDED_OVER.open(path, constants.O_RDONLY) : await openWithin(reach, path, name);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw await openFault(error as NodeJS.ErrnoException, path, name);
  }
  const found = await handle.stat().catch(async (error) => {
    await handle.close();
    throw readFault(error as NodeJS.ErrnoException, path, name);
  });
  if (found.isDirectory()) {
    await handle.close();
    throw new Fault('source/refused', `${path} is a directory, a file was expected`, {
      place: { input: name },
      hint: 'Name a file in it',
    });
  }
  if (range !== undefined && versionOf(found) !== range.version) {
    await handle.close();
    throw changedFault(name);
  }
  const sizeBytes = found.isFile() ? found.size : undefined;
  // A small file is read into a small buffer, with room for the final empty read.
  const chunkBytes = Math.min(CHUNK_BYTES, Math.max(sizeBytes ?? CHUNK_BYTES, 4095) + 1);
  const chunks = range === undefined ? chunksOf(handle, path, name, chunkBytes) : rangeOf(handle, path, name, range);
  return { chunks, close: () => handle.close(), sizeBytes: range === undefined ? sizeBytes : range.to - range.from, mediaType: undefined };
}

/** Standard input. The writer may be slow: `signal` ends the wait for it. */
export function openStandardInput(name: string, signal: AbortSignal | undefined): RawInput {
  const { stdin } = process;
  signal?.addEventListener('abort', () => stdin.destroy(), { once: true });
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of stdin) yield chunk as Uint8Array;
    } catch (error) {
      throw readFault(error as NodeJS.ErrnoException, 'Standard input', name);
    }
  };
  return { chunks: chunks(), close: async () => void stdin.destroy(), sizeBytes: undefined, mediaType: undefined };
}

/**
 * Size and version of a regular file, without reading it; undefined for anything else, and for a missing file.
 *
 * @throws Fault request/forbidden — not within `reach`
 */
export async function fileState(path: string, reach: Reach | undefined): Promise<InputState | undefined> {
  const real = reach === undefined ? path : await resolveWithin(reach, path, path);
  const found = await fileCalls.stat(real).catch(() => undefined);
  return found?.isFile() === true ? { sizeBytes: found.size, version: versionOf(found) } : undefined;
}

/** @throws Fault request/forbidden — not within `reach` */
export async function isDirectory(path: string, name: string, reach: Reach | undefined): Promise<boolean> {
  const real = reach === undefined ? path : await resolveWithin(reach, path, name);
  return (await fileCalls.stat(real).catch(() => undefined))?.isDirectory() === true;
}

const versionOf = ({ size, mtimeMs, ino }: Stats): string => `${size} ${mtimeMs} ${ino}`;

/** The bytes of the given version, or a fault: the file's version is checked again at the end. */
async function* rangeOf(handle: OpenFile, path: string, name: string, range: ByteRange): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunksOf(handle, path, name, CHUNK_BYTES, range)) yield chunk;
  const now = await stat(path).catch(() => undefined);
  if (now === undefined || versionOf(now) !== range.version) throw changedFault(name);
}

/** One chunk is read ahead, so that disk and reader work in parallel. Ownership of each chunk passes to the caller. */
async function* chunksOf(
  handle: OpenFile,
  path: string,
  name: string,
  chunkBytes: number,
  range?: Pick<ByteRange, 'from' | 'to'>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let at = range?.from ?? 0;
  const read = (): Promise<Uint8Array | Error> => {
    const wanted = Math.min(chunkBytes, (range?.to ?? Number.POSITIVE_INFINITY) - at);
    // Without a range, no positions are used: a pipe has none.
    const buffer = Buffer.allocUnsafeSlow(wanted);
    return handle.read(buffer, range === undefined ? null : at).then(
      (bytesRead) => {
        at += bytesRead;
        return buffer.subarray(0, bytesRead);
      },
      (error: Error) => error,
    );
  };
  let next = read();
  try {
    for (;;) {
      const chunk = await next;
      if (chunk instanceof Error) throw readFault(chunk, path, name);
      if (chunk.length === 0) return;
      next = read();
      yield chunk;
    }
  } finally {
    await next;
    await handle.close();
  }
}

async function openFault(error: NodeJS.ErrnoException, path: string, name: string): Promise<Fault> {
  const place = { input: name };
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new Fault('source/missing', `There is no file ${path}`, { place, hint: await neighbours(path), cause: error });
    case 'EACCES':
    case 'EPERM':
      return new Fault('source/refused', `No permission to read ${path}`, { place, cause: error });
    default:
      return readFault(error, path, name);
  }
}

/** Similar names in the directory, or the first missing directory of the path. */
async function neighbours(path: string): Promise<string | undefined> {
  const directory = dirname(path);
  try {
    const names = await readdir(directory);
    const near = nearest(basename(path), names);
    const sameStem = names.filter((name) => stemOf(name) === stemOf(path) && !near.includes(name));
    const shown = [...near, ...sameStem].slice(0, 3);
    return shown.length > 0 ? `The directory ${directory} has ${shown.join(', ')}` : undefined;
  } catch {
    return directory === dirname(directory) ? undefined : `There is no directory ${await missingDirectory(directory)}`;
  }
}

const stemOf = (path: string): string => basename(path, extname(path)).toLowerCase();

async function missingDirectory(directory: string): Promise<string> {
  const parent = dirname(directory);
  const parentIsThere = await readdir(parent).then(
    () => true,
    () => false,
  );
  return parentIsThere || parent === directory ? directory : missingDirectory(parent);
}

const readFault = (error: NodeJS.ErrnoException, path: string, name: string): Fault =>
  new Fault('source/unreadable', `${path} cannot be read: ${error.message}`, { place: { input: name }, cause: error });

/**
 * Absolute paths of the files directly in `directory` whose names are wanted, in the order of their names.
 *
 * @throws Fault source/missing, source/refused, source/unreadable
 */
export async function listFiles(
  directory: string,
  name: string,
  isWanted: (name: string) => boolean,
  reach: Reach | undefined,
): Promise<readonly string[]> {
  const real = reach === undefined ? directory : await resolveWithin(reach, directory, name);
  try {
    const entries = await readdir(real, { withFileTypes: true });
    const wanted = entries.filter((entry) => !entry.isDirectory() && isWanted(entry.name));
    return wanted.map((entry) => join(directory, entry.name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') {
      throw new Fault('source/refused', `${directory} is not a directory`, { place: { input: name }, cause: error });
    }
    throw await openFault(error as NodeJS.ErrnoException, directory, name);
  }
}

/** Resolves when what was written to the descriptor is on the disk; other work goes on meanwhile. */
export const syncFile = promisify(fsync);

/**
 * Writes `text` as UTF-8 to `path` atomically: a reader sees the old content or the new, even after a power failure.
 *
 * Creates missing directories. @throws Fault sink/failed
 */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}-${randomBytes(4).toString('hex')}.part`);
  try {
    makeDirectory(dirname(path));
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new Fault('sink/failed', `${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Makes a rename durable. Some file systems do not support it; the rename itself has succeeded anyway. */
export async function syncDirectory(directory: string): Promise<void> {
  // A thread that does one run at a time may block.
  await syncBy(directory, isMainThread ? syncFile : fsyncSync);
}

/**
 * As `syncDirectory`, for a thread that has others to serve meanwhile. Those who call while a directory is being synced share the next sync of it,
 * which begins after their renames.
 */
export function syncDirectoryTogether(directory: string): Promise<void> {
  const found = syncs.get(directory);
  return new Promise((resolve) => {
    if (found === undefined) void syncFor(directory, [resolve]);
    else found.push(resolve);
  });
}

/** By directory that is being synced: who waits for the next sync. */
const syncs = new Map<string, (() => void)[]>();

async function syncFor(directory: string, first: readonly (() => void)[]): Promise<void> {
  const waiting: (() => void)[] = [];
  syncs.set(directory, waiting);
  for (let served = first; served.length > 0; served = waiting.splice(0)) {
    await syncBy(directory, syncFile);
    for (const resolve of served) resolve();
  }
  syncs.delete(directory);
}

/** Opening and closing take microseconds. */
async function syncBy(directory: string, sync: (descriptor: number) => void | Promise<void>): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(directory, 'r');
  } catch {
    return;
  }
  try {
    await sync(descriptor);
  } catch {
    // As said above.
  } finally {
    closeSync(descriptor);
  }
}
