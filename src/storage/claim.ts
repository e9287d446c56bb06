/** One process at a time in a directory: a file with the owner's process id, which a dead owner leaves behind without harm. */
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../fault.ts';

export interface Claim {
  release(): Promise<void>;
}

interface Owner {
  readonly pid: number;
  /** Tells a process from a later one with the same id; undefined where the system does not say. */
  readonly born: string | undefined;
}

const QUEUE: Claimed = {
  what: 'queue',
  hint: 'Stop that process, give this one another DATA_DIR, or let both share a queue by QUEUE_URL',
};
const FILE = 'owner.json';
const TRIES = 5;

/** What the directory is, for messages. */
export interface Claimed {
  /** `queue`: "The queue directory …". */
  readonly what: string;
  readonly hint: string;
}

/**
 * Claims `directory` (created when missing) for this process.
 *
 * @throws Fault service/unavailable — a living process owns it; the text names its id
 */
export async function claimDirectory(directory: string, { what, hint }: Claimed = QUEUE): Promise<Claim> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, FILE);
  const me: Owner = { pid: process.pid, born: await birthOf(process.pid) };
  for (let i = 0; i < TRIES; i++) {
    try {
      const file = await open(path, 'wx', 0o600);
      try {
        await file.writeFile(JSON.stringify(me));
      } finally {
        await file.close();
      }
      return { release: () => rm(path, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = await readOwner(path);
    if (owner !== undefined && (await isAlive(owner))) {
      throw new Fault('service/unavailable', `The ${what} directory ${directory} is in use by process ${owner.pid}`, { hint });
    }
    await rm(path, { force: true });
  }
  throw new Fault('service/unavailable', `The ${what} directory ${directory} is being claimed by several processes at once`);
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Owner;
  } catch (error) {
    // Gone meanwhile, or cut off by the death of its writer: nobody's.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function isAlive(owner: Owner): Promise<boolean> {
  if (!processExists(owner.pid)) return false;
  const born = await birthOf(owner.pid);
  return owner.born === undefined || born === undefined || owner.born === born;
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start time of a process in clock ticks since boot, on Linux. @see proc(5), /proc/pid/stat field 22 */
async function birthOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
