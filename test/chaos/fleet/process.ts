/** One process of the fleet, kept alive as by a supervisor: restarted after any end until it is ready. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../../src/core/abort.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { type Span, spanOf } from '../judge/spans.ts';

export interface FleetProcessOptions {
  readonly name: string;
  readonly role: 'api' | 'worker';
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Directory of its logs, one file per start. */
  readonly logs: string;
  /** Called for behaviour that a healthy fleet never shows. */
  readonly violation: (what: string) => void;
}

/** One start of the process. */
export interface ProcessInstance {
  readonly log: string;
  readonly startedAt: number;
  /** Its HTTP address; undefined: it has not reported to be ready. */
  url: string | undefined;
  /** Time at which a fault killed it; undefined: not killed. */
  killedAt: number | undefined;
  /** Its last metrics. A killed process loses later counts. */
  scrape: Scrape | undefined;
}

/** An answer of `/metrics`, with the times of request and answer. */
export interface Scrape {
  readonly askedAt: number;
  readonly answeredAt: number;
  /** By name with labels. */
  readonly values: ReadonlyMap<string, number>;
}

const READY = /"url":"([^"]+)".*"msg":"listening"/;
/** Limit for the request before a kill. */
const SCRAPE_MS = 250;
const AGAIN_MS = 300;
/** A start takes a second on an idle machine; while the queue is away the process exits and is restarted. */
const READY_LIMIT_MS = 120_000;

export class FleetProcess {
  readonly name: string;
  readonly role: 'api' | 'worker';
  readonly instances: ProcessInstance[] = [];
  /** Spans in which it was ready and not in use by a fault. */
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

  /** In use by a fault. */
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

  /** Reads and stores its metrics. False: no answer in time. */
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

  /** Resolves when it is ready, however often it is restarted. @throws if it is not ready in time */
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
        // A process that was just killed is not ready, whatever its log says.
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

  /** kill -9, after reading its metrics. */
  async kill(): Promise<void> {
    const life = this.instances.at(-1) as ProcessInstance;
    await this.scrape();
    life.killedAt = Date.now();
    await this.#end('SIGKILL', undefined);
  }

  /** Sends SIGTERM. It must exit with code 0 within `limitMs`. */
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

  /** Kills it for good. */
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
