/** Files of users below one directory: written under a temporary name, and visible when they are whole. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, link, open, readdir, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
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
/** How much of one file is written between two looks at the quota. */
const CHECK_BYTES = 16 * 2 ** 20;
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
    if ((await usedBytes(directory)) + announced > limits.quotaBytes) throw noRoom(limits);
    const handle = await open(part, 'wx', 0o600);
    const { bytes, sha256 } = await receive(request, handle, limits, directory);
    const path = join(directory, name);
    return { path, bytes, sha256, isNew: await reveal(part, path, sha256) };
  } catch (error) {
    throw faultOf(error, limits);
  } finally {
    await rm(part, { force: true });
  }
}

/** Other uploads go on at the same time. @throws Fault request/no-room */
async function checkQuota(directory: string, limits: Limits): Promise<void> {
  if ((await usedBytes(directory)) > limits.quotaBytes) throw noRoom(limits);
}

interface Received {
  readonly bytes: number;
  readonly sha256: string;
}

async function receive(request: IncomingMessage, handle: FileHandle, limits: Limits, directory: string): Promise<Received> {
  const hash = createHash('sha256');
  let bytes = 0;
  let nextCheck = CHECK_BYTES;
  try {
    for await (const chunk of bodyOf(request)) {
      bytes += chunk.length;
      if (bytes > limits.fileBytes) throw tooLarge(limits);
      hash.update(chunk);
      await handle.writeFile(chunk);
      if (bytes < nextCheck) continue;
      nextCheck += CHECK_BYTES;
      await checkQuota(directory, limits);
    }
    await checkQuota(directory, limits);
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

/** Of files, and of uploads under way as far as they are written. */
async function usedBytes(directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (PART.test(name) && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
    else bytes += found.size;
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
      hint: 'Remove uploads that are no longer used from DATA_DIR/uploads, or raise UPLOAD_QUOTA_BYTES',
    },
  );
