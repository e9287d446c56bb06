/**
 * Threads that map runs, reused, each with a memory limit of its own: a run that needs more ends with its thread, and
 * neither its neighbours nor the process that holds the jobs' locks notice.
 */

import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { RunProgress, SliceResult } from '../../queues/jobs.ts';
import { compiled } from '../../src/core/compiled.ts';
import { Fault } from '../../src/core/fault.ts';
import { secondsFault } from '../../src/core/limits.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import type { RunSlice } from '../../src/run/request.ts';
import { removeAttempt } from '../output/output.ts';
import type {
  FromThread,
  RunResult,
  TargetOutage,
  Task,
  ThreadCommand,
  ThreadData,
  ThreadResult,
  ToThread,
  WriteTask,
  WrittenResult,
} from './messages.ts';

export interface PoolOptions {
  readonly memoryMb: number;
  /** URL of the module that exports `executeRun`; undefined: the engine of this program. */
  readonly engine?: string;
}

export interface TaskHooks {
  /** Its reason is the fault that the run ends with. */
  readonly signal: AbortSignal;
  readonly progress: (progress: RunProgress) => void;
  /** Told before each wait for the target of a write; undefined once it takes statements again. */
  readonly waiting?: (trouble: TargetOutage | undefined) => void;
  /** Asked before the output appears; throws when it must not. */
  readonly assertMayCommit: () => Promise<void>;
  /** Has slices of the run mapped, here or elsewhere, and gives their results in the order of the slices. */
  readonly scatter?: (slices: readonly RunSlice[]) => Promise<readonly SliceResult[]>;
}

/** A thread that was told to stop and has not after so long is ended. */
const STOP_MS = 3_000;
/** The engine ends a run in time by itself; one that cannot, or waits for its slices, is stopped so much later. */
const GRACE_MS = 250;

const SCRIPT = compiled('workers/threads/thread.js');
const ENGINE = compiled('src/run/run.js').href;

export class ThreadPool {
  private readonly options: PoolOptions;
  private readonly logger: Logger;
  private readonly idle: Worker[] = [];
  private readonly all = new Set<Worker>();
  /** Runs and slices that are mapped: how much memory their threads hold by their own word, and how to end them. */
  private readonly running = new Map<Worker, RunningTask>();
  private closed = false;

  constructor(options: PoolOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
  }

  /** Starts a thread ahead of the first run, so that the first caller does not wait for it. */
  warm(): void {
    if (this.all.size === 0) this.idle.push(this.start());
  }

  /**
   * Maps one attempt of a run, in a thread of its own for as long as it takes.
   *
   * @throws Fault — that of the run; the reason of `signal`; limit/exceeded when it needed too much memory; run/lost when
   * its thread ended otherwise
   */
  run(task: Task, hooks: TaskHooks): Promise<RunResult> {
    return this.dispatch({ kind: 'run', task }, hooks) as Promise<RunResult>;
  }

  /** The same for a slice of a run; its files keep their temporary names. */
  runSlice(task: Task, hooks: TaskHooks): Promise<SliceResult> {
    return this.dispatch({ kind: 'run', task }, hooks) as Promise<SliceResult>;
  }

  /** The same for a run of the graph writer. */
  write(task: WriteTask, hooks: TaskHooks): Promise<WrittenResult> {
    return this.dispatch({ kind: 'write', task }, hooks) as Promise<WrittenResult>;
  }

  private async dispatch(command: ThreadCommand, hooks: TaskHooks): Promise<ThreadResult> {
    if (this.closed) throw new Fault('run/lost', 'This worker is stopping');
    const thread = this.idle.pop() ?? this.start();
    thread.ref();
    try {
      return await this.execute(thread, command, hooks);
    } finally {
      if (this.all.has(thread) && !this.closed) {
        thread.unref();
        this.idle.push(thread);
      }
    }
  }

  /**
   * Has memory given back: that of idle threads, else that of the run that holds most, which ends with `fault`. Resolves when it is done.
   * A process whose runs hold less than half of `limitBytes` is not helped by their end.
   */
  async shedMemory(limitBytes: number, fault: Fault): Promise<'idle threads' | 'a run' | 'nothing'> {
    const idle = this.idle.splice(0);
    if (idle.length > 0) {
      for (const thread of idle) this.all.delete(thread);
      await Promise.all(idle.map((thread) => thread.terminate()));
      return 'idle threads';
    }
    const [largest, ...others] = [...this.running.values()].sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined || others.reduce((sum, { bytes }) => sum + bytes, largest.bytes) < limitBytes / 2) return 'nothing';
    await largest.end(fault);
    return 'a run';
  }

  /** Ends all threads, whatever they do. */
  async close(): Promise<void> {
    this.closed = true;
    this.idle.length = 0;
    await Promise.all([...this.all].map((thread) => thread.terminate()));
  }

  private start(): Worker {
    const data: ThreadData = { engine: this.options.engine ?? ENGINE };
    const thread = new Worker(SCRIPT, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: this.options.memoryMb } });
    this.all.add(thread);
    const remove = (): void => {
      this.all.delete(thread);
      const place = this.idle.indexOf(thread);
      if (place >= 0) this.idle.splice(place, 1);
    };
    // Also while no run listens: an unheard error would end the process.
    thread.on('error', (error) => {
      remove();
      const byLimit = isOutOfMemory(error);
      METRICS.threadDeaths.inc({ reason: byLimit ? 'memory' : 'error' });
      // Its run says that it needed too much memory.
      this.logger[byLimit ? 'warn' : 'error']({ error }, 'thread died');
    });
    thread.on('exit', remove);
    thread.unref();
    return thread;
  }

  private execute(thread: Worker, command: ThreadCommand, hooks: TaskHooks): Promise<ThreadResult> {
    const { signal } = hooks;
    const { seconds } = command.task.request.limits;
    const post = (message: ToThread): void => thread.postMessage(message);
    const work = new Promise<ThreadResult>((resolve, reject) => {
      let last: NodeJS.Timeout | undefined;
      let settled = false;
      const clock = seconds === 0 ? undefined : setTimeout(() => stop(secondsFault(seconds)), seconds * 1000 + GRACE_MS);

      const settle = (act: () => void): void => {
        settled = true;
        clearTimeout(last);
        clearTimeout(clock);
        this.running.delete(thread);
        signal.removeEventListener('abort', abort);
        thread.off('message', onMessage);
        thread.off('error', fail);
        thread.off('exit', exit);
        act();
      };
      /** The thread can remove nothing any more. */
      const threadGone = (fault: Fault): void => settle(() => void cleanUpTask(command).then(() => reject(fault)));
      const stop = (fault: Fault): void => {
        // The thread may be at its next task already.
        if (settled) return;
        post({ kind: 'abort', fault: fault.toJSON() });
        last ??= setTimeout(() => {
          this.all.delete(thread);
          settle(() => {
            void thread
              .terminate()
              .then(() => cleanUpTask(command))
              .then(() => reject(fault));
          });
        }, STOP_MS);
      };
      const abort = (): void => stop(Fault.of(signal.reason));
      const fail = (error: Error): void => threadGone(isOutOfMemory(error) ? memoryFault(this.options.memoryMb, error) : Fault.of(error));
      const exit = (code: number): void => threadGone(new Fault('run/lost', `The thread that carried out the run ended with code ${code}`));
      const commit = (slices: Promise<readonly SliceResult[]>): void => {
        const allowed = async () => {
          const results = await slices;
          await hooks.assertMayCommit();
          if (settled) return;
          // Nothing takes long from here on, and half a publication would be worse.
          clearTimeout(clock);
          post({ kind: 'commit', slices: results });
        };
        allowed().catch((error: unknown) => stop(Fault.of(error)));
      };
      const onMessage = (message: FromThread): void => {
        switch (message.kind) {
          case 'progress':
            hooks.progress(message.progress);
            return;
          case 'waiting':
            hooks.waiting?.(message.trouble);
            return;
          case 'memory':
            runningTask.bytes = message.bytes;
            return;
          case 'cut':
            commit(hooks.scatter?.(message.slices) ?? Promise.reject(new Fault('internal/error', 'Nobody takes the slices of this run')));
            return;
          case 'mapped':
            commit(Promise.resolve([]));
            return;
          case 'done':
            settle(() => resolve(message.result));
            return;
          case 'failed':
            settle(() => reject(Fault.from(message.fault)));
            return;
        }
      };

      const runningTask: RunningTask = {
        bytes: 0,
        end: (fault) => {
          stop(fault);
          return work.then(nothing, nothing);
        },
      };
      this.running.set(thread, runningTask);
      thread.on('message', onMessage);
      thread.on('error', fail);
      thread.on('exit', exit);
      post(command);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
    return work;
  }
}

const nothing = (): void => undefined;

interface RunningTask {
  bytes: number;
  /** Resolves when the thread has stopped, or is gone. */
  end(fault: Fault): Promise<void>;
}

/**
 * What the attempt has left under temporary names, and in the spill. Tidying up must not hide why it ended. The next attempt to write goes on
 * from where this one was, and needs its rejected statements.
 */
async function cleanUpTask({ kind, task: { output, request } }: ThreadCommand): Promise<void> {
  await Promise.allSettled([
    kind === 'run' ? removeAttempt(output.directory, output.name, output.attempt) : undefined,
    rm(request.spillDirectory, { recursive: true, force: true }),
  ]);
}

function isOutOfMemory(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function memoryFault(memoryMb: number, cause: Error): Fault {
  return new Fault('limit/exceeded', `The run needed more than the ${memoryMb} MB of memory that a thread may use`, {
    limit: 'THREAD_MEMORY_MB',
    hint: 'Raise THREAD_MEMORY_MB, lower MEMORY_BUDGET_MB, or split the input',
    cause,
  });
}
