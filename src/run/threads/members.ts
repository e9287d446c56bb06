/** Who maps a run that has several threads: these, and the one that writes. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { LinkedAbort } from '../../core/abort.ts';
import { bundled } from '../../core/compiled.ts';
import { Fault } from '../../core/fault.ts';
import type { MemoryBudget } from '../distinct/distinct.ts';
import type { PreparedRun } from '../prepare/prepare.ts';
import type { RunRequest } from '../request.ts';
import type { LongRecords } from './long-records.ts';
import { Mapper } from './mapper.ts';
import type { FromMapper, FromThread, ToMapper, ToThread } from './messages.ts';

export interface Member {
  send(message: ToMapper): void;
}

export interface Listener<M> {
  readonly hear: (message: M) => void;
  readonly fail: (error: unknown) => void;
}

export class MemberThread implements Member {
  readonly #worker: Worker;

  constructor(options: WorkerOptions, { hear, fail }: Listener<FromThread>) {
    this.#worker = new Worker(bundled('src/run/threads/thread.js'), options);
    this.#worker.on('error', (error) => fail(threadFault(error)));
    this.#worker.on('exit', () => fail(new Fault('internal/error', 'A mapping thread ended before its work')));
    this.#worker.on('message', hear);
  }

  send(message: ToThread): void {
    this.#worker.postMessage(message, message.kind === 'written' && message.buffer !== undefined ? [message.buffer] : []);
  }

  /** Lets it close what it has open. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#worker.removeAllListeners('exit');
    const exit = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.send({ kind: 'end' });
    await exit;
  }

  async end(): Promise<void> {
    this.#worker.removeAllListeners('exit');
    await this.#worker.terminate();
  }
}

function threadFault(error: Error): Error {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new Fault('limit/exceeded', 'A mapping thread of the run needed more memory than a thread may use', {
    limit: 'THREAD_MEMORY_MB',
    hint: 'Raise THREAD_MEMORY_MB, lower MEMORY_BUDGET_MB, or split the input',
    cause: error,
  });
}

/** A thread that ends in the middle of a look-up leaves its lock. Its end is told by an event, which a thread that waits for the lock does not get. */
const LOCK_SECONDS = 60;

export interface HereOptions {
  readonly snapshots: Readonly<Record<string, string>>;
  readonly budget: MemoryBudget;
  readonly turns: LongRecords;
  readonly signal: AbortSignal | undefined;
}

/** The thread that writes. */
export class MemberHere implements Member {
  readonly #mapper: Mapper;
  readonly #turns: LongRecords;
  readonly #stop: LinkedAbort;
  readonly #fail: (error: unknown) => void;
  #work: Promise<unknown> = Promise.resolve();

  constructor(
    request: RunRequest,
    prepared: PreparedRun,
    { snapshots, budget, turns, signal }: HereOptions,
    { hear, fail }: Listener<FromMapper>,
  ) {
    this.#stop = new LinkedAbort([signal]);
    this.#turns = turns;
    this.#fail = fail;
    const { digest } = prepared;
    const options = { digest, snapshots, budget, turns, signal: this.#stop.signal, lockSeconds: LOCK_SECONDS };
    this.#mapper = new Mapper(request, prepared, options, hear);
  }

  send(message: ToMapper): void {
    const work = this.#mapper.hear(message).catch((error) => {
      // If a thread has ended, that is the reason: its event comes first.
      setImmediate(() => this.#fail(error));
    });
    this.#work = Promise.all([this.#work, work]);
  }

  /** Ends what it does. Resolves when nothing is left. */
  async end(reason: Fault): Promise<void> {
    this.#stop.abort(reason);
    this.#mapper.fail(reason);
    this.#turns.fail(reason);
    await this.#work;
  }
}
