/**
 * Pool of threads that map runs. Each has its own memory limit: a run that needs more ends together with its thread, without effect on
 * other runs or on the process that holds the locks.
 *
 * A few small runs share a thread. If it ends because of one of them, each is repeated in a separate thread, so that one alone ends with it.
 */

import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { RunProgress, SliceResult } from '../../queues/jobs.ts';
import { compiled } from '../../src/core/compiled.ts';
import { Fault } from '../../src/core/fault.ts';
import { secondsFault } from '../../src/core/limits.ts';
import { packSecrets } from '../../src/core/secret.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import type { RunSlice } from '../../src/run/request.ts';
import { removeAttempt } from '../output/output.ts';
import type { RunResult, Task, WriteTask, WrittenResult } from '../task.ts';
import type { FromThread, TargetOutage, ThreadCommand, ThreadData, ThreadResult, ToTask, ToThread } from './messages.ts';
import { mayBeSmall } from './small.ts';

export interface PoolOptions {
  readonly memoryMb: number;
  /** For mapping, shared by the runs: one takes what no other has, and at least one. Undefined: one for each run. */
  readonly threads?: number;
  /** URL of the module that exports `executeRun`; undefined: the built-in engine. */
  readonly engine?: string;
}

export interface TaskHooks {
  /** Its reason is the fault that the run ends with. */
  readonly signal: AbortSignal;
  readonly progress: (progress: RunProgress) => void;
  /** Called before each wait for the target of a write; undefined: the target accepts statements again. */
  readonly waiting?: (outage: TargetOutage | undefined) => void;
  /** Called before output appears; throws if it must not. */
  readonly assertMayCommit: () => Promise<void>;
  /** Has the slices of the run mapped by the fleet, and resolves to their results in order. */
  readonly scatter?: (slices: readonly RunSlice[]) => Promise<readonly SliceResult[]>;
}

/** A thread that has not stopped this long after an abort is terminated. */
const STOP_MS = 3_000;
/** The engine limits the time of a run itself; a run that does not, or that waits for slices, is stopped this much later. */
const GRACE_MS = 250;

/** So many small runs share a thread: more would wait for each other where there are more cores. */
const SHARED_RUNS = 4;

const SCRIPT = compiled('workers/threads/thread.js');
const ENGINE = compiled('src/run/run.js').href;

export class ThreadPool {
  private readonly options: PoolOptions;
  private readonly logger: Logger;
  private readonly threads = new Set<PoolThread>();
  /** Running tasks: the memory that their threads report, and how to end them. */
  private readonly running = new Set<RunningTask>();
  /** The number of the last task. */
  private last = 0;
  /** Threads for mapping of the running tasks. */
  private mapping = 0;
  private closed = false;

  constructor(options: PoolOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
  }

  /** Starts a thread before the first run, so that the first caller does not wait for it. @param small whether the first run may be small */
  warm(small: boolean): void {
    if (this.threads.size === 0) this.start(small ? SHARED_RUNS : 1);
  }

  /**
   * Maps one attempt of a run, in a thread that does nothing else meanwhile, or only other small runs.
   *
   * @throws Fault — that of the run; the reason of `signal`; limit/exceeded if it needed too much memory; run/lost if its thread ended
   *   otherwise
   */
  async run(task: Task, hooks: TaskHooks): Promise<RunResult> {
    if (mayBeSmall(task)) {
      try {
        return (await this.map({ ...task, shared: true }, hooks)) as RunResult;
      } catch (error) {
        if (!(error instanceof Reassigned)) throw error;
      }
    }
    const threads = Math.max(1, (this.options.threads ?? 1) - this.mapping);
    return this.map({ ...task, request: { ...task.request, threads } }, hooks) as Promise<RunResult>;
  }

  /** As `run`, for a slice, which has one thread; its files keep their temporary names. */
  runSlice(task: Task, hooks: TaskHooks): Promise<SliceResult> {
    return this.map(task, hooks) as Promise<SliceResult>;
  }

  private async map(task: Task, hooks: TaskHooks): Promise<ThreadResult> {
    const { threads } = task.request;
    this.mapping += threads;
    try {
      return await this.dispatch({ kind: 'run', task }, hooks, task.shared ? SHARED_RUNS : 1);
    } finally {
      this.mapping -= threads;
    }
  }

  /** As `run`, for the graph writer. */
  write(task: WriteTask, hooks: TaskHooks): Promise<WrittenResult> {
    return this.dispatch({ kind: 'write', task }, hooks) as Promise<WrittenResult>;
  }

  /** @param capacity of the thread that executes it */
  private async dispatch(command: ThreadCommand, hooks: TaskHooks, capacity = 1): Promise<ThreadResult> {
    if (this.closed) throw new Fault('run/lost', 'This worker is stopping');
    const thread = [...this.threads].find((one) => one.capacity === capacity && one.tasks < capacity) ?? this.start(capacity);
    if (thread.tasks++ === 0) thread.worker.ref();
    try {
      return await this.execute(thread, command, hooks);
    } finally {
      if (--thread.tasks === 0) thread.worker.unref();
    }
  }

  /**
   * Frees memory: terminates idle threads, else ends the run that holds the most with `fault`. Resolves when that is done. Does nothing if
   * all runs together hold less than half of `limitBytes`, because ending one would not help.
   */
  async shedMemory(limitBytes: number, fault: Fault): Promise<'idle threads' | 'a run' | 'nothing'> {
    const idle = [...this.threads].filter(({ tasks }) => tasks === 0);
    if (idle.length > 0) {
      await Promise.all(idle.map((thread) => this.terminate(thread)));
      return 'idle threads';
    }
    const [largest, ...others] = [...this.running].sort((a, b) => b.bytes - a.bytes);
    if (largest === undefined || others.reduce((sum, { bytes }) => sum + bytes, largest.bytes) < limitBytes / 2) return 'nothing';
    await largest.end(fault);
    return 'a run';
  }

  /** Terminates all threads. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.threads].map((thread) => this.terminate(thread)));
  }

  /** Lets the thread take no task. Resolves when it has ended. */
  private async terminate(thread: PoolThread): Promise<void> {
    this.threads.delete(thread);
    await thread.worker.terminate();
  }

  private start(capacity: number): PoolThread {
    const data: ThreadData = { engine: this.options.engine ?? ENGINE };
    const worker = new Worker(SCRIPT, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: this.options.memoryMb } });
    const thread: PoolThread = { worker, capacity, tasks: 0 };
    this.threads.add(thread);
    // A listener for each run.
    worker.setMaxListeners(0);
    // Also without a run: an unhandled error would end the process.
    worker.on('error', (error) => {
      this.threads.delete(thread);
      const byLimit = isOutOfMemory(error);
      METRICS.threadDeaths.inc({ reason: byLimit ? 'memory' : 'error' });
      // The run itself reports that it needed too much memory.
      this.logger[byLimit ? 'warn' : 'error']({ error }, 'thread died');
    });
    worker.on('exit', () => this.threads.delete(thread));
    worker.unref();
    return thread;
  }

  private execute(thread: PoolThread, command: ThreadCommand, hooks: TaskHooks): Promise<ThreadResult> {
    const { worker } = thread;
    const { signal } = hooks;
    const { seconds } = command.task.request.limits;
    const id = ++this.last;
    const post = (message: ToTask): void => worker.postMessage({ id, ...message } satisfies ToThread);
    const work = new Promise<ThreadResult>((resolve, reject) => {
      let last: NodeJS.Timeout | undefined;
      let settled = false;
      const clock = seconds === 0 ? undefined : setTimeout(() => stop(secondsFault(seconds)), seconds * 1000 + GRACE_MS);

      const settle = (act: () => void): void => {
        settled = true;
        clearTimeout(last);
        clearTimeout(clock);
        this.running.delete(runningTask);
        signal.removeEventListener('abort', abort);
        worker.off('message', onMessage);
        worker.off('error', fail);
        worker.off('exit', exit);
        act();
      };
      /** The thread is gone, so this process removes its files. */
      const threadGone = (fault: Fault): void =>
        settle(() => void cleanUpTask(command).then(() => reject(thread.capacity > 1 && !signal.aborted ? new Reassigned() : fault)));
      const stop = (fault: Fault): void => {
        // The thread may already have its next task.
        if (settled) return;
        post({ kind: 'abort', fault: fault.toJSON() });
        last ??= setTimeout(() => {
          settle(() => {
            void this.terminate(thread)
              .then(() => cleanUpTask(command))
              .then(() => reject(fault));
          });
        }, STOP_MS);
      };
      const abort = (): void => stop(Fault.of(signal.reason));
      const fail = (error: Error): void => threadGone(isOutOfMemory(error) ? memoryFault(this.options.memoryMb, error) : Fault.of(error));
      const exit = (code: number): void => threadGone(new Fault('run/lost', `The thread of the run ended with code ${code}`));
      const commit = (slices: Promise<readonly SliceResult[]>): void => {
        const allowed = async () => {
          const results = await slices;
          // Publishing is fast, and must not be interrupted halfway. Waiting for a queue that is away is no time of the run.
          clearTimeout(clock);
          await hooks.assertMayCommit();
          if (settled) return;
          post({ kind: 'commit', slices: results });
        };
        allowed().catch((error: unknown) => stop(Fault.of(error)));
      };
      const onMessage = (message: FromThread): void => {
        if (message.id !== id) return;
        switch (message.kind) {
          case 'progress':
            hooks.progress(message.progress);
            return;
          case 'waiting':
            hooks.waiting?.(message.outage);
            return;
          case 'memory':
            runningTask.bytes = message.bytes;
            return;
          case 'cut':
            commit(hooks.scatter?.(message.slices) ?? Promise.reject(new Fault('internal/error', 'This run has no handler for slices')));
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
          case 'large':
            settle(() => reject(new Reassigned()));
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
      this.running.add(runningTask);
      worker.on('message', onMessage);
      worker.on('error', fail);
      worker.on('exit', exit);
      post({ kind: 'task', command: packSecrets(command) });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort);
    });
    return work;
  }
}

/** A run that shared a thread needs one that it does not share. */
class Reassigned extends Error {}

/** A thread of the pool. */
interface PoolThread {
  readonly worker: Worker;
  /** Tasks that it executes at a time: 1, or `SHARED_RUNS` small runs. */
  readonly capacity: number;
  /** Tasks that it executes now. */
  tasks: number;
}

const nothing = (): void => undefined;

interface RunningTask {
  bytes: number;
  /** Resolves when the thread has stopped or is gone. */
  end(fault: Fault): Promise<void>;
}

/**
 * Removes temporary and spill files of the attempt. Errors here must not hide why it ended. A write keeps its rejected statements, because
 * the next attempt resumes from its position.
 */
async function cleanUpTask({ kind, task: { output, request } }: ThreadCommand): Promise<void> {
  await Promise.allSettled([
    kind === 'run' ? removeAttempt(output, output.name, output.attempt) : undefined,
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
