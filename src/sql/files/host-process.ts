/** The process that reads a database file, as its session sees it: requests that are answered in their order. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../core/compiled.ts';
import { plainEnvironment } from '../../core/reach/environment.ts';
import { type EngineFault, type HostReply, type HostRequest, LIFELINE } from './engine.ts';

/** Megabytes for JavaScript's objects: a batch or two. */
const HEAP_MB = 192;

/** What came with a reply: its value, and the cells of a batch. */
export interface Answer {
  readonly value: unknown;
  readonly body: Buffer;
}

/** The engine's answer to a request that it cannot meet. */
export class HostFault extends Error {
  readonly fault: EngineFault;

  constructor(fault: EngineFault) {
    super(fault.message);
    this.fault = fault;
  }
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class HostProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting: Waiting[] = [];
  #chunks: Buffer[] = [];
  #size = 0;
  #ended: Error | undefined;
  #lastWords = '';
  /** Resolved when the process is gone, and its locks with it. */
  readonly gone: Promise<void>;

  constructor() {
    this.#child = spawn(
      process.execPath,
      ['--no-warnings', `--max-old-space-size=${HEAP_MB}`, fileURLToPath(compiled('src/sql/files/host.js'))],
      // The fourth is the lifeline.
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: plainEnvironment(), windowsHide: true },
    ) as ChildProcessByStdio<Writable, Readable, Readable>;
    // The end of the process reports the reason.
    this.#child.stdio[LIFELINE]?.on('error', () => {});
    this.#child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-500);
    });
    // The end of the process reports broken pipes.
    this.#child.stdin.on('error', () => {});
    let isGone = (): void => {};
    this.gone = new Promise((resolve) => {
      isGone = resolve;
    });
    this.#child.on('error', (error) => {
      this.end(error);
      // It was never there.
      if (this.#child.pid === undefined) isGone();
    });
    this.#child.on('close', (code, signal) => {
      isGone();
      const how = signal === null ? `exit code ${code}` : signal;
      const words = this.#lastWords.trim().split('\n').at(-1) ?? '';
      this.end(new Error(`the process that reads the file ended (${how})${words === '' ? '' : `: ${words}`}`));
    });
  }

  /** @throws HostFault; Error — the process has ended */
  ask(request: HostRequest): Promise<Answer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${JSON.stringify(request)}\n`);
    });
  }

  /** Ends the process, in whatever statement it is. What waits is rejected with the error. */
  end(error: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#child.kill('SIGKILL');
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (let total = this.#next(); total !== undefined && this.#size >= total; total = this.#next()) {
      const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      this.#chunks = bytes.length === total ? [] : [bytes.subarray(total)];
      this.#size -= total;
      this.#reply(bytes.subarray(0, total));
    }
  }

  /** The size of the reply that has begun to arrive; undefined: none. */
  #next(): number | undefined {
    if (this.#size < 8) return undefined;
    if ((this.#chunks[0] as Buffer).length < 8) this.#chunks = [Buffer.concat(this.#chunks)];
    const [first] = this.#chunks as [Buffer];
    return 8 + first.readUInt32LE(0) + first.readUInt32LE(4);
  }

  #reply(bytes: Buffer): void {
    const end = 8 + bytes.readUInt32LE(0);
    const reply = JSON.parse(bytes.toString('utf8', 8, end)) as HostReply;
    const waiting = this.#waiting.shift();
    if ('fault' in reply) waiting?.reject(new HostFault(reply.fault));
    else waiting?.resolve({ value: reply.value, body: bytes.subarray(end) });
  }
}
