/** One process of the fleet, kept alive as a supervisor would: whatever ends it, it is started again until it is ready. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT_ROOT } from '../project-root.ts';

export interface MemberOptions {
  readonly name: string;
  readonly role: 'api' | 'worker';
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where its output goes, one file for each start. */
  readonly logs: string;
  /** Told what a process of a healthy fleet does not do. */
  readonly violation: (what: string) => void;
}

/** One process that there was. */
export interface Life {
  readonly log: string;
  readonly startedAt: number;
  /** Killed by a fault; undefined: it was not. */
  killedAt: number | undefined;
}

const READY = { api: '"msg":"listening"', worker: '"msg":"workers started"' } as const;
const AGAIN_MS = 300;
/** A start needs a second on an idle machine; while the queue is away it ends by itself and is made again. */
const READY_LIMIT_MS = 120_000;

export class Member {
  readonly name: string;
  readonly role: 'api' | 'worker';
  /** A fault has it in hand. */
  busy = false;
  ready = false;
  readonly lives: Life[] = [];
  readonly #options: MemberOptions;
  #child: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  #wanted = false;
  #closed = false;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.role = options.role;
    this.#options = options;
  }

  get pid(): number {
    return this.#child?.pid as number;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Resolves when it is ready, however often it dies on the way. @throws when it is not in time */
  start(): Promise<void> {
    if (this.ready) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    const deadline = Date.now() + READY_LIMIT_MS;
    while (!this.#closed) {
      const { log } = this.#spawn();
      const child = this.#child as ChildProcess;
      while (isAlive(child)) {
        // One that was just killed is none, whatever its log says.
        if (this.#wanted && this.#isReady(log)) {
          this.ready = true;
          return;
        }
        if (Date.now() > deadline) throw new Error(`${this.name} is not ready after ${READY_LIMIT_MS / 1_000} s:\n${readFileSync(log)}`);
        await sleep(50);
      }
      await sleep(AGAIN_MS);
    }
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const life = this.lives.at(-1) as Life;
    life.killedAt = Date.now();
    await this.#end('SIGKILL', undefined);
  }

  /** Asks it to stop. It must, with exit code 0 and within `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    const started = Date.now();
    const code = await this.#end('SIGTERM', limitMs);
    if (code === 'late')
      this.#options.violation(`${this.name} did not stop within ${limitMs / 1_000} s of SIGTERM (${this.lives.at(-1)?.log})`);
    else if (code !== 0) {
      const after = Date.now() - started;
      this.#options.violation(`${this.name} stopped with exit code ${code} after ${after} ms of SIGTERM (${this.lives.at(-1)?.log})`);
    }
  }

  /** Ends it, whatever it does, and for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end('SIGKILL', undefined);
  }

  async #end(name: NodeJS.Signals, limitMs: number | undefined): Promise<number | null | 'late'> {
    this.#wanted = false;
    this.ready = false;
    const child = this.#child;
    if (child === undefined || !isAlive(child)) return child?.exitCode ?? null;
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(name);
    if (limitMs === undefined) return exited;
    const late = new AbortController();
    const answer = await Promise.race([exited, sleep(limitMs, 'late' as const, { signal: late.signal }).catch(() => 'late' as const)]);
    late.abort();
    if (answer === 'late') {
      child.kill('SIGKILL');
      await exited;
    }
    return answer;
  }

  #spawn(): Life {
    const { name, role, cwd, env, logs } = this.#options;
    const log = join(logs, `${name}.${this.lives.length + 1}.log`);
    const output = openSync(log, 'w');
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'bin', 'quadmill.js'), 'serve', '--role', role], {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, ...env },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    this.#child = child;
    this.#wanted = true;
    const life: Life = { log, startedAt: Date.now(), killedAt: undefined };
    this.lives.push(life);
    const killOnExit = (): void => void child.kill('SIGKILL');
    process.once('exit', killOnExit);
    child.once('exit', (code, signal) => {
      process.off('exit', killOnExit);
      if (!this.#wanted || !this.#isReady(log)) return;
      this.ready = false;
      this.#options.violation(`${name} ended by itself with ${signal ?? `exit code ${code}`} (${log})`);
      this.start().catch((error: Error) => this.#options.violation(error.message));
    });
    return life;
  }

  #isReady(log: string): boolean {
    return readFileSync(log, 'utf8').includes(READY[this.role]);
  }
}

const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
