/** A dedicated MariaDB for a test: private directory, free port, gone when stopped. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { guard } from '../process/guard.ts';
import { freePort, listens } from '../process/port.ts';
import { type User, unprivileged } from '../process/user.ts';

const START_LIMIT_MS = 30_000;
/** Debian keeps the server where PATH does not always lead. */
const DIRECTORIES = ['/usr/sbin', '/usr/bin', '/usr/local/bin'];
/** It need not survive a crash of the machine, and one test has it for itself. */
const QUICK = [
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=0',
  '--innodb-buffer-pool-size=64M',
  '--innodb-log-file-size=32M',
  '--performance-schema=OFF',
  '--skip-name-resolve',
  '--skip-log-bin',
  '--max-allowed-packet=64M',
  '--character-set-server=utf8mb4',
];

export interface Mariadb {
  /** JDBC URL: superuser `root`, database `test`, no password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** kill -9 of the server. */
  crash(): Promise<void>;
  /** After `crash`: on the same port, with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface MariadbOptions {
  /** Further arguments of the server, such as `--sql-mode=ANSI_QUOTES`. */
  readonly arguments?: readonly string[];
}

interface Installation {
  readonly server: string;
  readonly install: string;
  /** Whom to run it as; undefined: as ourselves. */
  readonly user: User | undefined;
}

/** Why no MariaDB can be started here; undefined: one can. */
export async function missingMariadb(): Promise<string | undefined> {
  const found = installation();
  return typeof found === 'string' ? found : undefined;
}

/** A fresh server with an empty database `test`. */
export async function startMariadb(options: MariadbOptions = {}): Promise<Mariadb | { readonly skip: string }> {
  const found = installation();
  if (typeof found === 'string') return { skip: found };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-mariadb-'));
  let server: ChildProcess | undefined;
  try {
    if (found.user !== undefined) await chown(directory, found.user.uid, found.user.gid);
    const data = join(directory, 'data');
    const as = { cwd: directory, ...found.user, env: { ...process.env, HOME: directory, TMPDIR: directory } };
    const install = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-name-resolve'];
    await promisify(execFile)(found.install, install, as);
    const port = await freePort();
    const own = [
      `--datadir=${data}`,
      `--socket=${join(directory, 'socket')}`,
      `--pid-file=${join(directory, 'pid')}`,
      `--tmpdir=${directory}`,
    ];
    const where = ['--bind-address=127.0.0.1', `--port=${port}`];
    const log = join(directory, 'log');
    const launch = async (): Promise<ChildProcess> => {
      const output = await open(log, 'w');
      const stdio = ['ignore', output.fd, output.fd] as const;
      server = spawn(found.server, ['--no-defaults', ...own, ...where, ...QUICK, ...(options.arguments ?? [])], {
        ...as,
        stdio: [...stdio],
      });
      guard(server, directory);
      await output.close();
      await untilReady(server, port, log);
      return server;
    };
    let running = await launch();
    await makeDatabase(port);
    return {
      url: `jdbc:mariadb://127.0.0.1:${port}/test?user=root`,
      port,
      get pid() {
        return running.pid as number;
      },
      crash: () => kill(running),
      async restart() {
        running = await launch();
      },
      stop: () => stop(running, directory),
    };
  } catch (error) {
    await (server === undefined ? rm(directory, { recursive: true, force: true }) : stop(server, directory));
    throw error;
  }
}

function installation(): Installation | string {
  const onPath = (process.env.PATH ?? '').split(':').filter((directory) => directory !== '');
  const find = (program: string): string | undefined =>
    [...onPath, ...DIRECTORIES].map((directory) => join(directory, program)).find((path) => existsSync(path));
  const [server, install] = [find('mariadbd'), find('mariadb-install-db')];
  if (server === undefined || install === undefined)
    return `there is no mariadbd with mariadb-install-db in ${DIRECTORIES.join(', ')} or on the PATH`;
  const user = unprivileged('MariaDB', ['mysql', 'nobody']);
  return typeof user === 'string' ? user : { server, install, user };
}

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;

async function untilReady(server: ChildProcess, port: number, log: string): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await listens(port))) {
    if (hasEnded(server)) throw new Error(`MariaDB did not start:\n${await readFile(log, 'utf8')}`);
    if (performance.now() > deadline) throw new Error(`MariaDB did not answer in time:\n${await readFile(log, 'utf8')}`);
    await sleep(50);
  }
}

/** The installation makes one with the character set latin1. */
async function makeDatabase(port: number): Promise<void> {
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
  await connection.query('CREATE OR REPLACE DATABASE test');
  await connection.end();
}

/** Nothing of it is kept, so that it need not end in order. */
async function stop(server: ChildProcess, directory: string): Promise<void> {
  await kill(server);
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
}

async function kill(server: ChildProcess): Promise<void> {
  if (hasEnded(server)) return;
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  server.kill('SIGKILL');
  await ended;
}
