/**
 * A private redis-server for one process without QUEUE_URL, on a socket that only its user can open.
 *
 * It writes an append-only file under the data directory and ends with this process, also when that is killed: a small process beside it waits for the
 * end of a pipe from this one. A server that is still there at the next start, perhaps about to end, is ended before the next one begins.
 */

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../../src/core/fault.ts';
import { plainEnvironment } from '../../src/core/reach/environment.ts';
import { makePrivateDirectory } from '../../src/storage/local/directory.ts';
import { lockDirectory } from '../../src/storage/local/directory-lock.ts';
import { processExists } from '../../src/storage/local/lock-owner.ts';
import { connect } from './redis.ts';

export interface PrivateServer {
  readonly socket: string;
  readonly version: string;
  readonly pid: number;
  /** Whether one of an earlier process was still there, and was ended. */
  readonly replaced: boolean;
  stop(): Promise<void>;
}

/** BullMQ needs 5.0 and recommends 6.2; below that the embedded queue is the better choice. */
const MINIMUM = [6, 2] as const;
const START_MS = 20_000;
const STOP_MS = 10_000;

/** The version of `redis-server` on the PATH; undefined: not installed, or too old. */
export async function findRedisServer(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('redis-server', ['--version'], { timeout: 5_000 });
    const found = /v=(\d+)\.(\d+)(\.\d+)?/.exec(stdout);
    if (found === null) return undefined;
    const major = Number(found[1]);
    const recent = major > MINIMUM[0] || (major === MINIMUM[0] && Number(found[2]) >= MINIMUM[1]);
    return recent ? found[0].slice(2) : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Fault service/unavailable — another process has locked the directory, or the server does not start */
export async function startRedisServer(directory: string, version: string): Promise<PrivateServer> {
  const lock = await lockDirectory(directory);
  const socket = socketOf(directory);
  let createdDirectory = false;
  const release = async (): Promise<void> => {
    if (createdDirectory) await rm(dirname(socket), { recursive: true, force: true });
    await lock.release();
  };
  try {
    if (dirname(socket) !== directory) {
      makeSocketDirectory(dirname(socket));
      createdDirectory = true;
    }
    const existing = await runningServerPid(socket);
    if (existing === undefined) await endUnresponsiveServer(directory);
    else await end(existing);
    const pid = await launch(directory, socket);
    const unwatch = endWithThisProcess(pid);
    const terminate = (): void => {
      if (processExists(pid)) process.kill(pid, 'SIGTERM');
    };
    process.once('exit', terminate);
    return {
      socket,
      version,
      pid,
      replaced: existing !== undefined,
      async stop() {
        process.off('exit', terminate);
        await end(pid);
        unwatch();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Ends the server when this process is gone, however it ends: then the pipe ends. Returns how to stop that. */
function endWithThisProcess(pid: number): () => void {
  const watcher = spawn('sh', ['-c', 'cat > /dev/null; kill -TERM "$0" 2> /dev/null', String(pid)], {
    // Ctrl+C in a terminal must not reach it.
    detached: true,
    env: plainEnvironment(),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.stdin?.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as Socket | null)?.unref();
  return () => {
    if (watcher.pid !== undefined) signalGroup(watcher.pid);
  };
}

/** `sh`, and `cat` that it waits for. */
function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Socket paths are limited to 108 bytes on Linux. For a longer data directory the socket gets a separate directory, whose name is
 * derived, so that the next start after a kill finds and later removes it.
 */
function socketOf(directory: string): string {
  const beside = join(directory, 'redis.sock');
  if (Buffer.byteLength(beside) < 100) return beside;
  const key = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return join(tmpdir(), `quadmill-${userInfo().uid}-${key}`, 'redis.sock');
}

/** @throws Fault service/unavailable — the directory belongs to another user, so its server cannot be trusted */
function makeSocketDirectory(path: string): void {
  try {
    makePrivateDirectory(path);
  } catch (error) {
    throw new Fault('service/unavailable', `The private redis-server has no directory for its socket: ${(error as Error).message}`, {
      hint: 'Remove it, or set DATA_DIR to a shorter path',
      cause: error,
    });
  }
}

/** The process id of the server that answers at `socket` and has loaded its data; undefined: none answers. Tries once. */
async function runningServerPid(socket: string): Promise<number | undefined> {
  const client = connect({ kind: 'socket', socket }, { maxRetriesPerRequest: null, connectTimeout: 1_000, retryStrategy: () => null });
  try {
    const information = await client.info('server');
    return Number(/process_id:(\d+)/.exec(information)?.[1]);
  } catch {
    return undefined;
  } finally {
    // On a closed client this would only start a timer.
    if (client.status !== 'end') client.disconnect();
  }
}

/** Ends a server of this directory that runs but does not answer, so that two servers never write the same file. */
async function endUnresponsiveServer(directory: string): Promise<void> {
  let pid: number;
  try {
    pid = Number((await readFile(join(directory, 'redis.pid'), 'utf8')).trim());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (!Number.isInteger(pid) || !processExists(pid)) return;
  const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (title.includes('redis')) await end(pid);
}

async function launch(directory: string, socket: string): Promise<number> {
  await rm(socket, { force: true });
  const log = join(directory, 'redis.log');
  const settings = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir: directory,
    pidfile: join(directory, 'redis.pid'),
    logfile: log,
    loglevel: 'warning',
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  // Its own process group: Ctrl+C in a terminal must reach only this process, so that runs end before the queue does.
  const child = spawn(
    'redis-server',
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    { detached: true, stdio: 'ignore', env: plainEnvironment() },
  );
  child.unref();
  let ended: string | undefined;
  child.on('error', (error) => {
    ended = error.message;
  });
  child.on('exit', (code, signal) => {
    ended = `it ended with ${signal ?? `code ${code}`}`;
  });
  const deadline = Date.now() + START_MS;
  while (ended === undefined && Date.now() < deadline) {
    const pid = await runningServerPid(socket);
    if (pid !== undefined) return pid;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  if (child.pid !== undefined && ended === undefined) process.kill(child.pid, 'SIGKILL');
  throw new Fault('service/unavailable', `The private redis-server does not start: ${ended ?? `no answer within ${START_MS / 1000} s`}`, {
    hint: `See ${log}, or set QUEUE_URL`,
  });
}

async function end(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_MS;
  try {
    process.kill(pid, 'SIGTERM');
    while (processExists(pid) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    if (processExists(pid)) process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
