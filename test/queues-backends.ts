/** The queues that this machine has, each opened on names of its own; for tests. */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface TestServer {
  readonly url: string;
  /** Ends what was started, and removes what it kept under `prefix`. */
  stop(prefix: string): Promise<void>;
}

export interface TestQueue {
  readonly name: 'embedded' | 'redis' | 'postgres';
  /** Why it cannot be tested here; undefined: it can. */
  readonly missing: string | undefined;
  start(): Promise<TestServer>;
}

const POSTGRES = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/test';
const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
const hasPostgres = await answers(POSTGRES);

export const QUEUES: readonly TestQueue[] = [
  { name: 'embedded', missing: undefined, start: async () => ({ url: 'embedded:', stop: async () => undefined }) },
  { name: 'redis', missing: hasRedis ? undefined : 'there is no redis-server on the PATH', start: () => startRedis() },
  {
    name: 'postgres',
    missing: hasPostgres ? undefined : `no PostgreSQL answers at ${POSTGRES}`,
    start: async () => ({ url: POSTGRES, stop: dropSchema }),
  },
];

export function uniquePrefix(): string {
  return `t${randomBytes(6).toString('hex')}`;
}

export async function temporaryDirectory(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'quadmill-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** A redis-server without files, on a free port unless one is given. */
export async function startRedis(
  given?: number,
): Promise<TestServer & { readonly pid: number; readonly port: number; stop(): Promise<void> }> {
  const port = given ?? (await freePort());
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (!(await listens(port))) await sleep(20);
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid as number,
    port,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function dropSchema(prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES });
  await client.connect();
  try {
    await client.query(`DROP SCHEMA IF EXISTS "${prefix}" CASCADE`);
  } finally {
    await client.end();
  }
}
