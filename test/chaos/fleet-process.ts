/** One process of the fleet, kept alive as a supervisor would: whatever ends it, it is started again until it is ready. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../src/core/abort.ts';
import { PROJECT_ROOT } from '../support/project-root.ts';
import { type Span, spanOf } from './spans.ts';

export interface FleetProcessOptions {
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
export interface ProcessInstance {
  readonly log: string;
  readonly startedAt: number;
  /** Where it answers HTTP; undefined: it has not said that it is ready. */
  url: string | undefined;
  /** Killed by a fault; undefined: it was not. */
  killedAt: number | undefined;
  /** What it counted, as it said last. A process that is killed takes the rest with it. */
  scrape: Scrape | undefined;
}

/** An answer of `/metrics`, and between which two moments it was made. */
export interface Scrape {
  readonly askedAt: number;
  readonly answeredAt: number;
  /** By name with labels. */
  readonly values: ReadonlyMap<string, number>;
}

const READY = /"url":"([^"]+)".*"msg":"listening"/;
/** Before a kill, which waits for no longer. */
const SCRAPE_MS = 250;
const AGAIN_MS = 300;
/** A start needs a second on an idle machine; while the queue is away it ends by itself and is made again. */
const READY_LIMIT_MS = 120_000;

export class FleetProcess {
  readonly name: string;
  readonly role: 'api' | 'worker';
  readonly instances: ProcessInstance[] = [];
  /** When it worked: ready, and in no fault's hands. */
  readonly up: Span[] = [];
  #busy = false;
  #ready = false;
  readonly #options: FleetProcessOptions;
  #child: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  #wanted = false;
  #closed = false;

  constructor(options: FleetProcessOptions) {
    this.name = options.name;
    this.role = options.role;
    this.#options = options;
  }

  get pid(): number {
    return this.#child?.pid as number;
  }

  get url(): string | undefined {
    return this.instances.at(-1)?.url;
  }

  /** A fault has it in hand. */
  get busy(): boolean {
    return this.#busy;
  }

  set busy(busy: boolean) {
    this.#busy = busy;
    this.#note();
  }

  get ready(): boolean {
    return this.#ready;
  }

  #setReady(ready: boolean): void {
    this.#ready = ready;
    this.#note();
  }

  get isUp(): boolean {
    return this.#ready && !this.#busy;
  }

  #note(): void {
    const last = this.up.at(-1);
    const wasUp = last?.to === Number.POSITIVE_INFINITY;
    if (this.isUp && !wasUp) this.up.push(spanOf(Date.now(), Number.POSITIVE_INFINITY));
    else if (!this.isUp && wasUp) this.up[this.up.length - 1] = spanOf(last.from, Date.now());
  }

  /** Asks for its metrics, and remembers them. False: it did not answer in time. */
  async scrape(limitMs = SCRAPE_MS): Promise<boolean> {
    const life = this.instances.at(-1);
    const { url } = this;
    if (life === undefined || url === undefined) return false;
    const askedAt = Date.now();
    const text = await withLimit(limitMs, async (signal) => (await fetch(`${url}/metrics`, { signal })).text()).catch(() => undefined);
    if (text === undefined) return false;
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const values = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
    if (askedAt >= (life.scrape?.askedAt ?? 0)) life.scrape = { askedAt, answeredAt: Date.now(), values };
    return true;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Resolves when it is ready, however often it dies on the way. @throws when it is not in time */
  start(): Promise<void> {
    if (this.#ready) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    const deadline = Date.now() + READY_LIMIT_MS;
    while (!this.#closed) {
      const life = this.#spawn();
      const child = this.#child as ChildProcess;
      while (isAlive(child)) {
        // One that was just killed is none, whatever its log says.
        if (this.#wanted && this.#isReady(life)) {
          this.#setReady(true);
          return;
        }
        if (Date.now() > deadline)
          throw new Error(`${this.name} is not ready after ${READY_LIMIT_MS / 1_000} s:\n${readFileSync(life.log)}`);
        await sleep(50);
      }
      await sleep(AGAIN_MS);
    }
  }

  /** kill -9, after a last look at its metrics. */
  async kill(): Promise<void> {
    const life = this.instances.at(-1) as ProcessInstance;
    await this.scrape();
    life.killedAt = Date.now();
    await this.#end('SIGKILL', undefined);
  }

  /** Asks it to stop. It must, with exit code 0 and within `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    await this.scrape();
    const started = Date.now();
    const code = await this.#end('SIGTERM', limitMs);
    if (code === 'late')
      this.#options.violation(`${this.name} did not stop within ${limitMs / 1_000} s of SIGTERM (${this.instances.at(-1)?.log})`);
    else if (code !== 0) {
      const after = Date.now() - started;
      this.#options.violation(`${this.name} stopped with exit code ${code} after ${after} ms of SIGTERM (${this.instances.at(-1)?.log})`);
    }
  }

  /** Ends it, whatever it does, and for good. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end('SIGKILL', undefined);
  }

  async #end(name: NodeJS.Signals, limitMs: number | undefined): Promise<number | null | 'late'> {
    this.#wanted = false;
    this.#setReady(false);
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

  #spawn(): ProcessInstance {
    const { name, role, cwd, env, logs } = this.#options;
    const log = join(logs, `${name}.${this.instances.length + 1}.log`);
    const output = openSync(log, 'w');
    const child = spawn(process.execPath, [join(PROJECT_ROOT, 'bin', 'quadmill.js'), 'serve', '--role', role], {
      cwd,
      env: { PATH: process.env.PATH, HOME: cwd, ...env },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    this.#child = child;
    this.#wanted = true;
    const life: ProcessInstance = { log, startedAt: Date.now(), url: undefined, killedAt: undefined, scrape: undefined };
    this.instances.push(life);
    const killOnExit = (): void => void child.kill('SIGKILL');
    process.once('exit', killOnExit);
    child.once('exit', (code, signal) => {
      process.off('exit', killOnExit);
      if (!this.#wanted || !this.#isReady(life)) return;
      this.#setReady(false);
      this.#options.violation(`${name} ended by itself with ${signal ?? `exit code ${code}`} (${log})`);
      this.start().catch((error: Error) => this.#options.violation(error.message));
    });
    return life;
  }

  #isReady(life: ProcessInstance): boolean {
    life.url ??= READY.exec(readFileSync(life.log, 'utf8'))?.[1];
    return life.url !== undefined;
  }
}

const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
