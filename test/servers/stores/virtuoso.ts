/** A dedicated Virtuoso for a test: private directory, free ports, gone when stopped. Needs `virtuoso-t` on the PATH. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guard } from '../process/guard.ts';
import { freePort } from '../process/port.ts';

const START_LIMIT_MS = 60_000;
const PROGRAM = 'virtuoso-t';

/** The administrator of a fresh database. */
export const VIRTUOSO_USER = { username: 'dba', password: 'dba' } as const;

export interface Virtuoso {
  readonly origin: string;
  /** `HOST:PORT` of SQL. */
  readonly sql: string;
  /** Files in it may be loaded. */
  readonly directory: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Why no Virtuoso can be started here; undefined: one can. */
export function missingVirtuoso(): string | undefined {
  return spawnSync(PROGRAM, ['-?'], { stdio: 'ignore' }).error === undefined ? undefined : `there is no ${PROGRAM} on the PATH`;
}

/** A fresh server. */
export async function startVirtuoso(): Promise<Virtuoso | { readonly skip: string }> {
  const missing = missingVirtuoso();
  if (missing !== undefined) return { skip: missing };
  const directory = await mkdtemp(join(tmpdir(), 'quadmill-virtuoso-'));
  const [sql, http] = [await freePort(), await freePort()];
  await writeFile(join(directory, 'virtuoso.ini'), configuration(sql, http));
  const log = join(directory, 'log');
  const output = await open(log, 'w');
  const server = spawn(PROGRAM, ['+foreground'], { cwd: directory, stdio: ['ignore', output.fd, output.fd] });
  guard(server, directory);
  await output.close();
  const stop = async (): Promise<void> => {
    await end(server);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const said = await readFile(log, 'utf8');
    if (said.includes('Server online at')) break;
    if (server.exitCode !== null || performance.now() > deadline) {
      await stop();
      throw new Error(`Virtuoso did not start:\n${said.slice(-4_000)}`);
    }
    await sleep(50);
  }
  return { origin: `http://127.0.0.1:${http}`, sql: `127.0.0.1:${sql}`, directory, pid: server.pid as number, stop };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  server.kill('SIGKILL');
  await ended;
}

const configuration = (sql: number, http: number): string => `[Database]
DatabaseFile = v.db
ErrorLogFile = v.log
LockFile = v.lck
TransactionFile = v.trx
xa_persistent_file = v.pxa
FileExtend = 200
[TempDatabase]
DatabaseFile = vt.db
TransactionFile = vt.trx
[Parameters]
ServerPort = 127.0.0.1:${sql}
DirsAllowed = .
NumberOfBuffers = 10000
MaxDirtyBuffers = 6000
[HTTPServer]
ServerPort = 127.0.0.1:${http}
ServerRoot = .
MaxClientConnections = 5
ServerThreads = 5
[SPARQL]
ResultSetMaxRows = 1000000
`;
