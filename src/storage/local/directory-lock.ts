/**
 * Directory locks: one process at a time in a directory.
 *
 * `owner.json` is the record of the owner. It appears complete, by rename, and only the one successor of the previous record may write it:
 * a process that wants to follow a dead owner hard-links its own record to `owner-after-TOKEN.json`, a name that exists once per owner, and
 * then checks again that this owner is still the last one. A successor that dies halfway is followed in the same way.
 */

import { createHash } from 'node:crypto';
import { link, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { makeDirectory } from './directory.ts';
import { answers, type Owner, presentOwner, type Refusal, refusalOf, TOUCH_MS } from './lock-owner.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** What the directory is, for messages. */
export interface LockedDirectory {
  /** `queue`: "The queue directory …". */
  readonly what: string;
  readonly hint: string;
  /** Whether an owner that cannot be checked, and has not touched its record for a while, counts as ended: others see to it that it does no harm. */
  readonly isQueued?: boolean;
}

const QUEUE: LockedDirectory = {
  what: 'queue',
  hint: 'Stop that process, give this one another DATA_DIR, or let both share a queue by QUEUE_URL',
};
const RECORD = 'owner.json';
const UNOWNED = 'unowned';
/** An attempt fails only if another process has made progress. */
const TRIES = 100;
const YOUNG_MS = 60_000;

/**
 * Locks `directory` (created if missing) for this process, until `release` or the end of the process.
 *
 * @throws Fault service/unavailable — another process owns it, or may own it; the message names it and says what to do
 */
export async function lockDirectory(directory: string, { what, hint, isQueued = false }: LockedDirectory = QUEUE): Promise<DirectoryLock> {
  try {
    makeDirectory(directory, 0o700);
  } catch (error) {
    throw new Fault('config/invalid', `The ${what} directory ${directory} cannot be made: ${(error as Error).message}`, {
      hint: 'Name a directory in which this user may write: --data-dir (DATA_DIR) of the service, --target of quadmill write',
      cause: error,
    });
  }
  const { owner: me, close } = await presentOwner(directory);
  const own = join(directory, `owner-${me.token}.json`);
  try {
    for (let i = 0; i < TRIES; i++) {
      await writeRecord(own, me);
      const outcome = await attempt(directory, own, me, isQueued);
      if (outcome === 'taken') {
        const stop = keep(directory, me, what);
        return {
          async release() {
            stop();
            if ((await readRecord(join(directory, RECORD)))?.owner.token === me.token) await rm(join(directory, RECORD), { force: true });
            await close();
          },
        };
      }
      if (outcome !== 'overtaken') {
        throw new Fault('service/unavailable', `The ${what} directory ${directory} ${outcome.text}`, { hint: outcome.hint ?? hint });
      }
    }
    throw new Fault('service/unavailable', `The ${what} directory ${directory} is being claimed by several processes at once`, { hint });
  } catch (error) {
    await rm(own, { force: true });
    await close();
    throw error;
  }
}

/** `overtaken`: another process has changed the state meanwhile. */
async function attempt(directory: string, own: string, me: Owner, isQueued: boolean): Promise<'taken' | 'overtaken' | Refusal> {
  const record = join(directory, RECORD);
  const before = await readRecord(record);
  const followed: string[] = [];
  let last = UNOWNED;
  for (let path = record, found = before; ; path = after(directory, last), found = await readRecord(path)) {
    if (found !== undefined) {
      const refusal = await refusalOf(found.owner, me, directory, path, Date.now() - found.touched, isQueued);
      if (refusal !== undefined) return refusal;
      last = found.owner.token;
    } else if (path !== record) break;
    if (path !== record) followed.push(path);
    if (found?.owner.socket !== undefined) followed.push(join(directory, found.owner.socket));
  }
  const claimed = after(directory, last);
  try {
    await link(own, claimed);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return 'overtaken';
    throw new Fault('config/invalid', `${directory} cannot be claimed: its file system refuses a hard link (${(error as Error).message})`, {
      hint: 'Take a directory of a local file system',
      cause: error,
    });
  }
  const now = await readRecord(record);
  if (now?.owner.token !== before?.owner.token) {
    await rm(claimed, { force: true });
    return 'overtaken';
  }
  await rename(own, record);
  for (const path of [...followed, claimed]) await rm(path, { force: true });
  await removeRemains(directory, me);
  return 'taken';
}

const after = (directory: string, token: string): string => join(directory, `owner-after-${token}.json`);

interface Found {
  readonly owner: Owner;
  /** Milliseconds since 1970. */
  readonly touched: number;
}

/** Undefined: there is none. */
async function readRecord(path: string): Promise<Found | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return { owner: ownerOf(text) ?? damaged(path), touched: mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function ownerOf(text: string): Owner | undefined {
  try {
    const { pid, born, token = `${pid}-${born}`, ...rest } = JSON.parse(text) as Partial<Owner>;
    if (typeof pid === 'number' && pid > 0 && /^[\w-]+$/.test(token)) return { ...rest, pid, born, token };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

/** Records appear complete, so an invalid one was truncated by a failure of the machine, which also ended the process that wrote it. */
const damaged = (path: string): Owner => ({ pid: 0, token: `damaged-${createHash('sha256').update(basename(path)).digest('hex')}` });

/** Synced to disk before anything refers to it. */
async function writeRecord(path: string, owner: Owner): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(owner));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Touches the record regularly. Ends this process if a person removed the record and another process has locked the directory. */
function keep(directory: string, me: Owner, what: string): () => void {
  const record = join(directory, RECORD);
  const touch = async (): Promise<void> => {
    const owner = (await readRecord(record))?.owner;
    if (owner === undefined || owner.token === me.token) return utimes(record, new Date(), new Date());
    const fault = new Fault(
      'service/unavailable',
      `The ${what} directory ${directory} was taken from this process by process ${owner.pid}`,
    );
    // Anything that this process writes from now on would damage the directory.
    setImmediate(() => {
      throw fault;
    });
  };
  // If the file system does not answer now, it is tried again; a record that was removed with its directory needs no touch.
  const timer = setInterval(() => void touch().catch(() => undefined), TOUCH_MS).unref();
  return () => clearInterval(timer);
}

/** Removes files of processes that died while locking. Recent files may still be in use. */
async function removeRemains(directory: string, me: Owner): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!/^owner-.*\.(json|sock)$/.test(name) || name.includes(me.token)) continue;
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || Date.now() - found.mtimeMs < YOUNG_MS) continue;
    const gone = name.endsWith('.sock') ? (await answers(path)) === false : await isDead(path, directory, me);
    if (gone) await rm(path, { force: true });
  }
}

async function isDead(path: string, directory: string, me: Owner): Promise<boolean> {
  const found = await readRecord(path);
  return found !== undefined && (await refusalOf(found.owner, me, directory, path, Date.now() - found.touched)) === undefined;
}
