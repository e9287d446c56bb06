/** A thread that maps, as the thread that writes sees it. */
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { bundled } from '../../core/compiled.ts';
import { Fault } from '../../core/fault.ts';
import type { FromThread, ToThread } from './messages.ts';

export interface Listener {
  readonly receive: (message: FromThread) => void;
  readonly fail: (error: unknown) => void;
}

export class MappingThread {
  readonly #worker: Worker;

  constructor(options: WorkerOptions, { receive, fail }: Listener) {
    this.#worker = new Worker(bundled('src/run/threads/thread.js'), options);
    this.#worker.on('error', (error) => fail(threadFault(error)));
    this.#worker.on('exit', () => fail(new Fault('internal/error', 'A mapping thread ended before its work')));
    this.#worker.on('message', receive);
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
