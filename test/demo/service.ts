/** Starts the service in a separate process on a free port, with a separate data directory, and takes both away again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT_ROOT } from '../support/project-root.ts';

export interface RunningService {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** In words. */
  readonly queue: string;
  /** Does no harm when repeated. */
  stop(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;

/** @param options further variables of its environment. @throws Error — it ended or said nothing in time; with what it said */
export async function startService(options: NodeJS.ProcessEnv = {}): Promise<RunningService> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'quadmill-demo-'));
  const child = spawn(process.execPath, [join(PROJECT_ROOT, 'bin', 'quadmill.js'), 'serve', '--port', '0', '--data-dir', dataDirectory], {
    cwd: PROJECT_ROOT,
    env: { ...passedOn(), QUEUE_URL: 'embedded:', ...options },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(dataDirectory, { recursive: true, force: true });
  };
  try {
    return { ...(await listening(child)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a process needs; options of a service that this machine may really run stay out. */
const passedOn = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG'].includes(name)));

/** The service logs JSON lines; the one that says `listening` has the address. */
function listening(child: ChildProcess): Promise<{ readonly url: string; readonly queue: string }> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (reason: string): void => reject(new Error(`the service ${reason}${said.length > 0 ? `:\n${said.join('\n')}` : ''}`));
    const timer = setTimeout(() => fail(`did not start within ${START_LIMIT_MS / 1000} s`), START_LIMIT_MS);
    const take = (line: string): void => {
      said.push(line);
      const entry = parse(line);
      if (entry?.msg !== 'listening') return;
      clearTimeout(timer);
      resolve({ url: String(entry.url), queue: String(entry.queue) });
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', take);
    }
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with code ${code}`);
    });
  });
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}
