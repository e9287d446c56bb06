/**
 * The thread that answers the questions of the studio: one for each process, beside those of runs, so that long runs do not delay it. It is
 * started by the first question and ends when none has come for a while.
 */
import { Worker } from 'node:worker_threads';
import type { Question } from '../../queues/preview.ts';
import { compiled } from '../../src/core/compiled.ts';
import { Fault, type FaultData } from '../../src/core/fault.ts';
import { timeOverFault } from '../../src/core/limits.ts';
import { type Packed, packSecrets } from '../../src/core/secret.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { DatabaseReading } from '../../src/preview/database.ts';
import type { RunAccess } from '../../src/preview/preview.ts';
import type { FieldsAccess } from '../../src/sampling/fields.ts';

/** What a question may use, as the options say at this moment. */
export interface PreviewAccess {
  readonly sample: FieldsAccess;
  /** Of a question about tables; absent: there is no database. */
  readonly database?: DatabaseReading;
  /** Of a question about a mapping. */
  readonly run?: RunAccess;
  /** Where relative sources stand: a directory, as URL or path. */
  readonly mappings?: string;
}

export interface PreviewCommand {
  readonly question: Question;
  readonly access: PreviewAccess;
}

/** In milliseconds since 1970, `until` is when an answer should be there that can be given of less. */
export type TimedCommand = PreviewCommand & { readonly until: number };

export type ToPreviewThread = Packed<TimedCommand>;
/** `step`: what it does next, and may take long. */
export type FromPreviewThread = { readonly answer: unknown } | { readonly fault: FaultData } | { readonly step: string };

const SCRIPT = compiled('workers/threads/preview-thread.js');
const MEMORY_MB = 256;
const ANSWER_MS = 10_000;
/** Between an answer of what there was time for, and the end of the thread. */
const SPARE_MS = 3_000;
const IDLE_MS = 300_000;

export class PreviewThread {
  readonly #logger: Logger;
  #thread: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * One question at a time.
   *
   * @throws Fault that of the answer; run/cancelled — `signal`; limit/exceeded — it took too long, or too much memory; run/lost — the thread has died
   */
  ask(command: PreviewCommand, signal: AbortSignal): Promise<unknown> {
    const answer = this.#last.then(() => this.#askNow(command, signal));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#thread?.terminate();
  }

  async #askNow(command: PreviewCommand, signal: AbortSignal): Promise<unknown> {
    clearTimeout(this.#idle);
    const thread = this.#start();
    thread.ref();
    try {
      return await answerOf(thread, command, signal);
    } catch (error) {
      // A thread that did not answer may be in any state.
      if (error instanceof ThreadFault) {
        this.#thread = undefined;
        await thread.terminate();
        if (error.fault.code !== 'run/cancelled')
          this.#logger.warn(
            { question: command.question.kind, code: error.fault.code, reason: error.fault.message },
            'preview thread ended',
          );
        throw error.fault;
      }
      throw error;
    } finally {
      thread.unref();
      this.#idle = setTimeout(() => void this.#end(), IDLE_MS).unref();
    }
  }

  #start(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(SCRIPT, { resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
    // Between two questions, too.
    thread.on('error', (error) => this.#logger.warn({ error }, 'preview thread died'));
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    this.#thread = thread;
    return thread;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}

/** The thread itself did not answer. */
class ThreadFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

async function answerOf(thread: Worker, command: PreviewCommand, signal: AbortSignal): Promise<unknown> {
  const removers: (() => void)[] = [];
  try {
    return await new Promise((resolve, reject) => {
      const give = (fault: Fault): void => reject(new ThreadFault(fault));
      const on = <A>(event: 'message' | 'error' | 'exit', listener: (value: A) => void): void => {
        thread.on(event as 'message', listener);
        removers.push(() => thread.off(event as 'message', listener));
      };
      let doing = 'reading the mapping';
      on('message', (message: FromPreviewThread) => {
        if ('step' in message) doing = message.step;
        else if ('fault' in message) reject(Fault.from(message.fault));
        else resolve(message.answer);
      });
      on('error', (error: NodeJS.ErrnoException) =>
        give(
          error.code === 'ERR_WORKER_OUT_OF_MEMORY'
            ? new Fault('limit/exceeded', `The answer needed more than ${MEMORY_MB} MB of memory`, { hint: 'Use a smaller input' })
            : new Fault('run/lost', `The thread has died: ${error.message}`),
        ),
      );
      on('exit', (code: number) => give(new Fault('run/lost', `The thread ended with code ${code}`)));
      const timer = setTimeout(() => give(timeOverFault(doing, ANSWER_MS)), ANSWER_MS);
      const abort = (): void => give(new Fault('run/cancelled', 'The client disconnected'));
      signal.addEventListener('abort', abort);
      removers.push(
        () => clearTimeout(timer),
        () => signal.removeEventListener('abort', abort),
      );
      if (signal.aborted) abort();
      thread.postMessage(packSecrets({ ...command, until: Date.now() + ANSWER_MS - SPARE_MS }) satisfies ToPreviewThread);
    });
  } finally {
    for (const remove of removers) remove();
  }
}
