/** Real processes of the service, started from `dist` on free ports and in their own directories. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { guard } from '../../servers/process/guard.ts';
import { PROJECT_ROOT } from '../project-root.ts';
import { makeEmbeddedQueue } from '../queues/embedded.ts';

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServiceProcess {
  readonly pid: number;
  /** URL of the root; empty for a process that does not listen. */
  readonly url: string;
  /** Lines of standard output so far. */
  readonly log: readonly LogLine[];
  /** Standard error so far. */
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<Exit>;
  /** Sends SIGTERM, and SIGKILL when the time is over that operations give (docs/operations.md). */
  stop(): Promise<Exit>;
  /** The first log line with `message`, now or later. @throws after a minute, with the whole log */
  waitForLog(message: string, where?: (line: LogLine) => boolean): Promise<LogLine>;
}

export interface ServiceOptions {
  /** Path of the command; undefined: this project's. */
  readonly program?: string;
  /** What starts the service, with its arguments, in place of Node and `program`. It gets a separate process group. */
  readonly command?: readonly [file: string, ...args: string[]];
  readonly args?: readonly string[];
  /** Options of the service; only PATH is inherited from this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** `stop_grace_period` of docker-compose.yml. */
const STOP_MS = 45_000;
const PROGRAM = join(PROJECT_ROOT, 'bin', 'quadmill.js');

/** Starts `quadmill serve` without waiting. */
export function spawnService({ program = PROGRAM, command, args = [], env, cwd }: ServiceOptions): ServiceProcess {
  const [file, ...first] = command ?? [process.execPath, program, 'serve'];
  const child: ChildProcess = spawn(file, [...first, ...args], {
    cwd,
    detached: command !== undefined,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  guard(child, undefined);
  const log: LogLine[] = [];
  const listeners = new Set<() => void>();
  let complaints = '';
  let url = '';
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
    const line = text.startsWith('{') ? (JSON.parse(text) as LogLine) : { msg: text };
    log.push(line);
    if (line.msg === 'listening') url = String(line.url);
    for (const listener of listeners) listener();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const exited = new Promise<Exit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  const whole = (): string => `${log.map((line) => JSON.stringify(line)).join('\n')}\n${complaints}`;

  return {
    pid: child.pid as number,
    get url() {
      return url;
    },
    log,
    stderr: () => complaints,
    kill: (signal) => void child.kill(signal),
    exited,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      const exit = await exited;
      clearTimeout(late);
      return exit;
    },
    waitForLog(message, where = () => true) {
      const find = () => log.find((line) => line.msg === message && where(line));
      return new Promise((resolve, reject) => {
        const end = (): void => {
          clearTimeout(late);
          listeners.delete(look);
        };
        const look = (): void => {
          const found = find();
          if (found === undefined) return;
          end();
          resolve(found);
        };
        const fail = (why: string): void => {
          end();
          reject(new Error(`${why} before it said '${message}':\n${whole()}`));
        };
        const late = setTimeout(() => fail('a minute went by'), 60_000);
        void exited.then(({ code }) => (find() === undefined ? fail(`the process ended with ${code}`) : undefined));
        listeners.add(look);
        look();
      });
    },
  };
}

/** Starts `quadmill serve` and waits until it accepts requests, or runs if it does not listen. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const { args = [], env, cwd } = options;
  const isWorker = args.includes('worker') && env.PORT === undefined;
  if (env.QUEUE_URL === 'embedded:') await makeEmbeddedQueue(join(resolve(cwd, env.DATA_DIR ?? 'data'), 'queue'));
  const started = spawnService({ ...options, env: isWorker ? env : { PORT: '0', ...env } });
  try {
    await started.waitForLog(isWorker ? 'workers started' : 'listening');
  } catch (error) {
    started.kill('SIGKILL');
    throw error;
  }
  return started;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Whatever JSON came: each test knows its own. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of every shape
  readonly body: any;
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

export const postJson = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  ask(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });

/** Repeats the request every fifty milliseconds. @throws if `until` is still false after `waitMs` */
export async function poll(url: string, until: (answer: Answer) => boolean, waitMs = 60_000): Promise<Answer> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const answer = await ask(url);
    if (until(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`${url} still answers ${answer.status} ${JSON.stringify(answer.body)}`);
    await sleep(50);
  }
}
