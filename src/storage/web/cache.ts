/**
 * Answers that were kept, for conditional requests: a server that says "not modified" need not send them again.
 *
 * A file for each answer: a line of JSON with its headers, then its body, as it was after content encodings were undone. Files appear by
 * rename, so that processes may share the directory. What was not used for longest goes first.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9111#section-4.3
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import type { WebCache } from '../logins.ts';
import type { Headers } from './retry.ts';

/** An answer that was kept. The caller calls `close`, also after it has read the body; it may do so repeatedly. */
export interface KeptAnswer {
  readonly headers: Headers;
  /** Of the request that asks whether it is still valid. */
  readonly conditions: Readonly<Record<string, string>>;
  readonly sizeBytes: number;
  body(): AsyncGenerator<Uint8Array, void, undefined>;
  close(): Promise<void>;
}

/** What readers look at. */
const KEPT_HEADERS = ['content-type', 'link', 'etag', 'last-modified'] as const;
const MOST_HEAD_BYTES = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;
const ANSWER_NAME = /^[0-9a-f]{64}\.answer$/;
const UNFINISHED_NAME = /^[0-9a-f]{64}\.[0-9a-f]{12}\.tmp$/;
const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * @param sent the headers of the request, which distinguish answers to different callers: an answer to one login is never given to another
 */
export const keyOf = (address: string, sent: readonly (readonly [name: string, value: string])[]): string =>
  createHash('sha256')
    .update(JSON.stringify([address, sent]))
    .digest('hex');

/** @throws Fault config/invalid — the directory cannot be used */
export async function openKept({ directory }: WebCache, key: string): Promise<KeptAnswer | undefined> {
  await made(directory);
  const path = join(directory, `${key}.answer`);
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  const head = await headOf(file);
  if (head === undefined) {
    await file.close();
    return undefined;
  }
  const now = new Date();
  // Only the order of removal depends on it.
  await utimes(path, now, now).catch(() => undefined);
  const { values, from } = head;
  const etag = values.etag;
  const modified = values['last-modified'];
  return {
    headers: { get: (name) => values[name] ?? null },
    conditions: {
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
      ...(modified === undefined ? {} : { 'if-modified-since': modified }),
    },
    sizeBytes: (await file.stat()).size - from,
    async *body() {
      for (let at = from; ; ) {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    close: () => file.close(),
  };
}

async function headOf(file: FileHandle): Promise<{ readonly values: Readonly<Record<string, string>>; readonly from: number } | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_HEAD_BYTES), 0, MOST_HEAD_BYTES, 0);
  const end = buffer.subarray(0, bytesRead).indexOf(10);
  try {
    return end < 0 ? undefined : { values: JSON.parse(buffer.toString('utf8', 0, end)), from: end + 1 };
  } catch {
    // A file that is not ours, or was damaged: the answer is fetched again and takes its place.
    return undefined;
  }
}

/** Whether an answer may be kept, and can be asked for conditionally. */
export const isKeepable = (headers: Headers): boolean =>
  (headers.get('etag') !== null || headers.get('last-modified') !== null) && !/\bno-store\b/i.test(headers.get('cache-control') ?? '');

/**
 * Passes `body` on and keeps it once it has ended.
 *
 * An answer that cannot be written, for lack of room for example, is passed on all the same: keeping it only saves time.
 */
export async function* keeping(
  { directory, bytes }: WebCache,
  key: string,
  headers: Headers,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const values = Object.fromEntries(KEPT_HEADERS.flatMap((name) => (headers.get(name) === null ? [] : [[name, headers.get(name)]])));
  const head = Buffer.from(`${JSON.stringify(values)}\n`);
  const path = join(directory, `${key}.${randomBytes(6).toString('hex')}.tmp`);
  let file = head.length > MOST_HEAD_BYTES ? undefined : await open(path, 'wx', 0o600).catch(() => undefined);
  let written = 0;
  const write = async (chunk: Uint8Array): Promise<void> => {
    if (file === undefined) return;
    written += chunk.length;
    const done =
      written <= bytes &&
      (await file.appendFile(chunk).then(
        () => true,
        () => false,
      ));
    if (done) return;
    await file.close();
    file = undefined;
    await rm(path, { force: true });
  };
  try {
    await write(head);
    for await (const chunk of body) {
      await write(chunk);
      yield chunk;
    }
    if (file === undefined) return;
    // A file that has its name is complete, also after the power failed.
    const isComplete = await file.sync().then(
      () => true,
      () => false,
    );
    await file.close();
    file = undefined;
    if (!isComplete) return;
    await rename(path, join(directory, `${key}.answer`)).catch(() => undefined);
    await makeRoom(directory, onDisk(written), bytes);
  } finally {
    await file?.close();
    await rm(path, { force: true });
  }
}

/** By directory: bytes that this thread has added since it looked at all answers. */
const added = new Map<string, number>();

/** Looks at all answers after each tenth of the limit: looking costs a call for each of them. */
async function makeRoom(directory: string, size: number, most: number): Promise<void> {
  const bytes = (added.get(directory) ?? Number.POSITIVE_INFINITY) + size;
  added.set(directory, bytes);
  if (bytes < most / 10) return;
  added.set(directory, 0);
  await removeOldest(directory, most);
}

/** Removes answers until all others fit, and what broken processes left. Files with other names are not ours. */
async function removeOldest(directory: string, most: number): Promise<void> {
  const files: { readonly path: string; readonly size: number; readonly usedMs: number }[] = [];
  for (const name of await readdir(directory)) {
    if (!ANSWER_NAME.test(name) && !UNFINISHED_NAME.test(name)) continue;
    const path = join(directory, name);
    // Another process may have removed it.
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (ANSWER_NAME.test(name)) files.push({ path, size: onDisk(found.size), usedMs: found.mtimeMs });
    else if (Date.now() - found.mtimeMs > STALE_MS) await rm(path, { force: true });
  }
  files.sort((a, b) => b.usedMs - a.usedMs);
  let total = 0;
  for (const { path, size } of files) {
    total += size;
    if (total > most) await rm(path, { force: true });
  }
}

/** File systems give room in blocks. */
const onDisk = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
const BLOCK_BYTES = 4096;

async function made(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Fault('config/invalid', `The directory ${directory} of SOURCE_CACHE_DIRECTORY cannot be used: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
