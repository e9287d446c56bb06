/** The owner of a directory lock, and whether its process still runs: determined by the operating system wherever possible. */
import { randomUUID } from 'node:crypto';
import { open, readFile, readlink, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

export interface Owner {
  /** Unique for this lock; never reused. */
  readonly token: string;
  /** 0: no process. */
  readonly pid: number;
  /** Distinguishes a process from a later one with the same id; undefined if the system does not tell. */
  readonly born?: string | undefined;
  readonly host?: string;
  /** Boot id of the kernel, on Linux: the same in all containers of a machine, and different after a restart. */
  readonly boot?: string | undefined;
  /** Namespace of process ids: each container has a process 1. */
  readonly namespace?: string | undefined;
  /** Name of a socket in the directory that answers as long as the process lives; absent if sockets are not possible. */
  readonly socket?: string | undefined;
}

/** Interval at which the owner touches its record. After four intervals without a touch, a process of an earlier boot counts as ended. */
export const TOUCH_MS = 15_000;
const SILENT_MS = 4 * TOUCH_MS;

/** Why a directory cannot be locked: a description of its owner, as the end of "The queue directory … ". */
export interface Refusal {
  readonly text: string;
  /** What to do; undefined: the usual advice for a living owner. */
  readonly hint?: string;
}

/** This process as the owner of `directory`. `close` makes the socket refuse, as the end of the process does. */
export async function presentOwner(directory: string): Promise<{ readonly owner: Owner; close(): Promise<void> }> {
  const token = randomUUID();
  const socket = `owner-${token}.sock`;
  const close = await listenAt(join(directory, socket));
  const owner: Owner = {
    token,
    pid: process.pid,
    born: await birthOf(process.pid),
    host: hostname(),
    boot: await line('/proc/sys/kernel/random/boot_id'),
    namespace: await namespaceOf(),
    ...(close === undefined ? {} : { socket }),
  };
  return { owner, close: close ?? (async () => undefined) };
}

/**
 * Why `directory` cannot be taken from the owner whose record at `path` was touched `ageMs` ago; undefined: its process has ended.
 * Processes on another machine, or in a container without a socket, cannot be checked: a person must confirm that such a process has ended.
 *
 * @param isQueued see `LockedDirectory`
 */
export async function refusalOf(
  owner: Owner,
  me: Owner,
  directory: string,
  path: string,
  ageMs: number,
  isQueued = false,
): Promise<Refusal | undefined> {
  if (owner.pid === 0) return undefined;
  // A record of an earlier version has no host: it was written on this machine.
  const here = owner.host === undefined || owner.host === me.host;
  const who = `process ${owner.pid}${here ? '' : ` of ${owner.host}`}`;
  const used: Refusal = { text: `is in use by ${who}` };
  const unchecked: Refusal = {
    text: `belongs to ${who}; from here it cannot be checked whether that still runs`,
    hint: `If it has ended for good, remove ${path}`,
  };
  const unknown = !isQueued ? unchecked : ageMs < SILENT_MS ? used : undefined;
  if (owner.host !== undefined && (owner.boot !== me.boot || (owner.boot === undefined && !here))) {
    if (!here) return ageMs < SILENT_MS ? used : unknown;
    if (ageMs >= SILENT_MS) return undefined;
    const waitSeconds = Math.ceil((SILENT_MS - ageMs) / 1_000);
    return { text: `was in use by ${who} a moment ago, before this start of the machine`, hint: `Start again in ${waitSeconds} s` };
  }
  const answer = owner.socket === undefined ? undefined : await answers(join(directory, owner.socket));
  if (answer !== undefined) return answer ? used : undefined;
  if (owner.host !== undefined && owner.namespace !== me.namespace) return unknown;
  return (await runs(owner)) ? used : undefined;
}

export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function runs({ pid, born }: Owner): Promise<boolean> {
  if (!processExists(pid)) return false;
  const now = await birthOf(pid);
  return born === undefined || now === undefined || born === now;
}

/**
 * Listens on a socket, which the system closes when the process ends in any way. Resolves to a function that closes it; undefined: this
 * file system has no sockets.
 */
async function listenAt(path: string): Promise<(() => Promise<void>) | undefined> {
  return reachable(path, async (address) => {
    const server = createServer((connection) => connection.destroy()).unref();
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ path: address, readableAll: true, writableAll: true }, () => resolve(true));
    });
    if (!listening) return undefined;
    server.on('error', () => undefined);
    return async () => {
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(path, { force: true });
    };
  });
}

/** Whether the process behind the socket lives; undefined: there is no socket. Anything but a clear no counts as yes. */
export async function answers(path: string): Promise<boolean | undefined> {
  return reachable(
    path,
    (address) =>
      new Promise((resolve) => {
        const connection = connect({ path: address });
        connection.once('connect', () => {
          connection.destroy();
          resolve(true);
        });
        connection.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ENOENT' ? undefined : code !== 'ECONNREFUSED'));
      }),
  );
}

/** Socket addresses are limited to 108 bytes on Linux; a longer path is reached there through its open directory. */
async function reachable<T>(path: string, use: (address: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) < 100 || process.platform !== 'linux') return use(path);
  const directory = await open(dirname(path), 'r');
  try {
    return await use(`/proc/self/fd/${directory.fd}/${basename(path)}`);
  } finally {
    await directory.close();
  }
}

/** Start time of a process in clock ticks since boot, on Linux. @see proc(5), /proc/pid/stat field 22 */
async function birthOf(pid: number): Promise<string | undefined> {
  const stat = await line(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

async function namespaceOf(): Promise<string | undefined> {
  try {
    return await readlink('/proc/self/ns/pid');
  } catch {
    // Not on this system.
    return undefined;
  }
}

async function line(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'latin1')).trim();
  } catch {
    // Not on this system.
    return undefined;
  }
}
