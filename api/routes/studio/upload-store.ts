/** Files of users below one directory: written under a temporary name, and visible when they are whole. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, link, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Fault } from '../../../src/core/fault.ts';
import { makeDirectory } from '../../../src/storage/local/directory.ts';
import { syncDirectory } from '../../../src/storage/local/file.ts';

export interface Limits {
  readonly fileBytes: number;
  /** Of all files together. */
  readonly quotaBytes: number;
}

export interface StoredUpload {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** False: the same bytes were there under this name. */
  readonly isNew: boolean;
}

const PART = /^\.[0-9a-f-]{36}\.part$/;
/** How much room is reserved at once for a file that has not announced its size. */
const STEP_BYTES = 16 * 2 ** 20;
/** Longer than a request may take: its process has died. */
const ABANDONED_MS = 86_400_000;

/**
 * Stores the body of `request` as `name`. The body is read once; nothing of it stays when this fails.
 *
 * @throws Fault request/too-large — more than `fileBytes`; request/no-room — more than the quota, or the disk is full; request/conflict —
 *   other bytes have this name; request/malformed — the body ended too early; sink/failed
 */
export async function storeUpload(directory: string, name: string, request: IncomingMessage, limits: Limits): Promise<StoredUpload> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limits.fileBytes) throw tooLarge(limits);
  const part = join(directory, `.${randomUUID()}.part`);
  try {
    makeDirectory(directory);
    await reserve(directory, part, announced, limits);
    const handle = await open(part, 'wx', 0o600);
    const { bytes, sha256 } = await receive(request, handle, part, announced, limits);
    const path = join(directory, name);
    return { path, bytes, sha256, isNew: await reveal(part, path, sha256) };
  } catch (error) {
    throw faultOf(error, limits);
  } finally {
    await rm(part, { force: true });
    reserved.delete(part);
  }
}

/** By path of an upload under way in this process: the bytes that it may write. */
const reserved = new Map<string, number>();
/** Ends with the last reservation that was asked for: each sees those before it. */
let lastReservation: Promise<void> = Promise.resolve();

/**
 * Reserves room for an upload. Uploads get theirs in the order in which they ask: one that has its room is not refused because of later ones.
 *
 * @param bytes altogether
 * @throws Fault request/no-room
 */
function reserve(directory: string, part: string, bytes: number, limits: Limits): Promise<void> {
  const before = lastReservation;
  const own = (async (): Promise<void> => {
    await before;
    if ((await usedBytes(directory, part)) + bytes > limits.quotaBytes) throw noRoom(limits);
    reserved.set(part, bytes);
  })();
  lastReservation = own.catch(() => undefined);
  return own;
}

interface Received {
  readonly bytes: number;
  readonly sha256: string;
}

/** @param room what is reserved for it */
async function receive(request: IncomingMessage, handle: FileHandle, part: string, room: number, limits: Limits): Promise<Received> {
  const hash = createHash('sha256');
  let bytes = 0;
  let left = room;
  try {
    for await (const chunk of bodyOf(request)) {
      bytes += chunk.length;
      left -= chunk.length;
      if (bytes > limits.fileBytes) throw tooLarge(limits);
      if (left < 0) {
        // It has not announced its size. What is left of the quota may be less than a whole step.
        await reserve(dirname(part), part, bytes + STEP_BYTES, limits).then(
          () => (left = STEP_BYTES),
          async () => {
            await reserve(dirname(part), part, bytes, limits);
            left = 0;
          },
        );
      }
      hash.update(chunk);
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function* bodyOf(request: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  const chunks = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => {
        throw new Fault('request/malformed', 'The request body ended too early', { cause: error });
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.();
  }
}

/** Gives the file its name, unless there is one. @returns whether there was none @throws Fault request/conflict */
async function reveal(part: string, path: string, sha256: string): Promise<boolean> {
  try {
    // Unlike a rename, a link never replaces a file.
    await link(part, path);
    await syncDirectory(join(path, '..'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const there = createHash('sha256');
  await pipeline(createReadStream(path), there);
  if (there.digest('hex') === sha256) return false;
  throw new Fault('request/conflict', 'Another file has been uploaded under this name', { hint: 'Upload it under another name' });
}

/** Of files, and of uploads under way but `own`: what is reserved for them, or those of other processes as far as they are written. */
async function usedBytes(directory: string, own: string): Promise<number> {
  const others = new Map([...reserved].filter(([part]) => part !== own && dirname(part) === directory));
  let bytes = [...others.values()].reduce((sum, room) => sum + room, 0);
  const found = new Map<string, Stats>();
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const state = await stat(path).catch(() => undefined);
    if (state !== undefined) found.set(path, state);
  }
  // A file that has just got its name is that of its upload as well.
  const counted = new Set([...others.keys(), own].map((part) => found.get(part)?.ino));
  for (const [path, { ino, size, mtimeMs }] of found) {
    if (counted.has(ino)) continue;
    if (PART.test(basename(path)) && Date.now() - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    else bytes += size;
  }
  return bytes;
}

function faultOf(error: unknown, limits: Limits): unknown {
  if (error instanceof Fault) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return noRoom(limits);
  return new Fault('sink/failed', `The upload cannot be written: ${message}`, { cause: error });
}

const tooLarge = ({ fileBytes }: Limits): Fault =>
  new Fault('request/too-large', `The file is larger than ${fileBytes} bytes`, {
    hint: 'The option MAX_UPLOAD_BYTES says how large it may be',
  });

const noRoom = ({ quotaBytes }: Limits): Fault =>
  new Fault(
    'request/no-room',
    `There is no room for the file: uploads may have ${quotaBytes} bytes together, and the disk must have them`,
    {
      hint: 'Remove unused uploads from DATA_DIR/uploads, or raise UPLOAD_QUOTA_BYTES',
    },
  );
