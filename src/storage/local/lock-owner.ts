/** Who owns a directory, and whether that process still runs: asked of the operating system wherever it can tell. */
import { randomUUID } from 'node:crypto';
import { open, readFile, readlink, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';

export interface Owner {
  /** Of this claim alone; never comes again. */
  readonly token: string;
  /** 0: nobody's. */
  readonly pid: number;
  /** Tells a process from a later one with the same id; undefined where the system does not say. */
  readonly born?: string | undefined;
  readonly host?: string;
  /** Of the running kernel, on Linux: the same in all containers of a machine, another one after a restart. */
  readonly boot?: string | undefined;
  /** Of process ids: in each container there is a process 1. */
  readonly namespace?: string | undefined;
  /** Name of a socket in the directory that answers as long as the process lives; absent where there can be none. */
  readonly socket?: string | undefined;
}

/** How often the owner touches its record; four times that without a touch, and a process of an earlier boot is taken for gone. */
export const TOUCH_MS = 15_000;
const SILENT_MS = 4 * TOUCH_MS;

/** Why a directory cannot be had: what its owner is, as the end of "The queue directory … ". */
export interface Refusal {
  readonly text: string;
  /** What to do; undefined: what is to be done about any living owner. */
  readonly hint?: string;
}

/** Names and addresses of this process as the owner of `directory`. `close` makes the socket refuse, as the end of the process does. */
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
 * What stands against taking `directory` from the owner whose record at `path` was touched `ageMs` ago; undefined: its process has ended.
 * Nobody can ask another machine, or a container without a socket: a human has to say that such a process has ended.
 */
export async function refusalOf(owner: Owner, me: Owner, directory: string, path: string, ageMs: number): Promise<Refusal | undefined> {
  if (owner.pid === 0) return undefined;
  // A record of an earlier version has no host: it was written on this machine.
  const here = owner.host === undefined || owner.host === me.host;
  const who = `process ${owner.pid}${here ? '' : ` of ${owner.host}`}`;
  const used: Refusal = { text: `is in use by ${who}` };
  const unknown: Refusal = {
    text: `belongs to ${who}, and nobody can tell from here whether that still runs`,
    hint: `If it has ended for good, remove ${path}`,
  };
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
 * Listens at a socket, which the system closes with the process, however that ends. Resolves to what closes it; undefined: this file
 * system has no sockets.
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

/** Whether the process behind the socket lives; undefined: there is no socket. What is not a clear no counts as yes. */
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

/** Addresses of sockets are short, 108 bytes on Linux; there, a longer path is reached through its open directory. */
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
