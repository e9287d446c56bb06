/** A dedicated Redis for a test: free port, private directory, gone when stopped. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guard } from '../process/guard.ts';
import { freePort, listens } from '../process/port.ts';

const START_LIMIT_MS = 10_000;

export interface Redis {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Kills it: nothing is written on the way out. */
  stop(): Promise<void>;
}

export interface RedisOptions {
  /** undefined: a free one. A port that was used before lets clients find the new server. */
  readonly port?: number | undefined;
  /**
   * Directory of an append-only file, which the caller makes and removes; undefined: nothing is kept. Every write is there before it is
   * answered: with `everysec`, a kill may lose what was answered while the last flush was still going on.
   */
  readonly appendOnly?: string | undefined;
  /** undefined: 16. */
  readonly databases?: number;
}

/** Why no Redis can be started here; undefined: one can. */
export const missingRedis: string | undefined =
  spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'there is no redis-server on the PATH';

export async function startRedis(options: RedisOptions = {}): Promise<Redis | { readonly skip: string }> {
  if (missingRedis !== undefined) return { skip: missingRedis };
  const port = options.port ?? (await freePort());
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-redis-'));
  const keep = options.appendOnly === undefined ? ['no'] : ['yes', '--appendfsync', 'always'];
  const files = ['--dir', options.appendOnly ?? directory, '--save', '', '--appendonly', ...keep];
  const address = ['--port', String(port), '--bind', '127.0.0.1', '--databases', String(options.databases ?? 16)];
  const server = spawn('redis-server', [...address, ...files], { stdio: 'ignore' });
  guard(server, directory);
  try {
    await untilReady(server, port);
  } catch (error) {
    await stop(server, directory);
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, pid: server.pid as number, stop: () => stop(server, directory) };
}

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;

async function untilReady(server: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await listens(port))) {
    if (hasEnded(server)) throw new Error(`redis-server did not start on port ${port}`);
    if (performance.now() > deadline) throw new Error(`redis-server did not answer on port ${port} in time`);
    await sleep(20);
  }
}

async function stop(server: ChildProcess, directory: string): Promise<void> {
  if (!hasEnded(server)) {
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    server.kill('SIGKILL');
    await ended;
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
