/** One change of a mapping file at a time: within the process by a queue, among processes of one directory by a lock file. */
import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../../src/core/fault.ts';
import { makeDirectory } from '../../../src/storage/local/directory.ts';
import { isObjectUrl } from '../../../src/storage/url.ts';

const changes = new Map<string, Promise<unknown>>();

/** How long a change waits for those of other processes. */
const WAIT_MS = 10_000;
const PAUSE_MS = 20;
/** A change takes milliseconds: the owner of an older lock file has died. */
const STALE_MS = 60_000;

/**
 * Calls `change` when no other change of the file at `path` is under way. Objects have no lock file: changes of
 * different processes are not kept apart there.
 *
 * @throws Fault service/unavailable — another process does not end its change
 */
export async function changeAlone<T>(path: string, change: () => Promise<T>): Promise<T> {
  const before = changes.get(path) ?? Promise.resolve();
  const result = before.then(() => (isObjectUrl(path) ? change() : withLockFile(path, change)));
  const ended = result.catch(() => undefined);
  changes.set(path, ended);
  try {
    return await result;
  } finally {
    if (changes.get(path) === ended) changes.delete(path);
  }
}

async function withLockFile<T>(path: string, change: () => Promise<T>): Promise<T> {
  const lock = join(dirname(path), `.${basename(path)}.lock`);
  makeDirectory(dirname(path));
  const until = Date.now() + WAIT_MS;
  while (!(await take(lock))) {
    if (Date.now() > until) {
      throw new Fault('service/unavailable', `${basename(path)} is being changed by another process`, { hint: 'Try again in a moment' });
    }
    await removeStale(lock);
    await sleep(PAUSE_MS);
  }
  try {
    return await change();
  } finally {
    await rm(lock, { force: true });
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx')).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new Fault('sink/failed', `${lock} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Another process may have done the same meanwhile and hold a new lock, which is put back. */
async function removeStale(lock: string): Promise<void> {
  if (!(await isStale(lock))) return;
  const aside = `${lock}.${randomUUID()}`;
  try {
    await rename(lock, aside);
    if (!(await isStale(aside))) await link(aside, lock);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function isStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > STALE_MS;
}
