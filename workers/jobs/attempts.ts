/**
 * Starts of jobs in this process, from taken to done, failed or given back, while this process keeps their locks.
 *
 * Whoever holds the lock of a job decides; everybody else only leaves marks that the holder looks for.
 */
import { type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { RunPayload, RunProgress } from '../../queues/jobs.ts';
import { cancelledFault, encodeFault, killedFault } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { type TracedWork, traceRun } from '../../src/core/telemetry/trace.ts';

/** What jobs of one queue are, and how they are done. */
export interface JobKind<D extends RunPayload, R> {
  readonly noun: 'run' | 'slice';
  /** Does it. @throws Fault */
  work(job: Job<D, R>, context: AttemptContext): Promise<R>;
  /** Asks the queue whether anybody still wants the job. Its answer is the fault that the job ends with. */
  cancellation(job: Job<D, R>): Promise<Fault | undefined>;
  /** Removes what starts of the job left that died with their workers. */
  cleanUp(job: Job<D, R>): Promise<void>;
  /** Told when the number of jobs in this process changes. */
  onActiveCount(count: number): void;
  /** Told how a job has ended, unless it is tried again; undefined: well. */
  onEnded(fault: Fault | undefined): void;
}

/** One start of a job, for the one who does it. */
export interface AttemptContext {
  readonly signal: AbortSignal;
  progress(now: RunProgress): void;
  /** Throws when the job must not go on, and above all its output not appear: the lock is lost, or nobody wants it any more. */
  assertMayCommit(): Promise<void>;
}

export interface AttemptSettings {
  readonly maxStarts: number;
  readonly lockMs: number;
}

/** How often a job is looked at for marks, and progress is written down. */
export const POLL_MS = 500;

/** Reason of an abort that gives the job back to the queue: no failure, and nobody's fault. */
const REQUEUE = new Fault('run/lost', 'The worker is stopping; the run goes back to the queue');

export class Attempts<D extends RunPayload, R> {
  private readonly kind: JobKind<D, R>;
  private readonly settings: AttemptSettings;
  private readonly logger: Logger;
  /** By job id. */
  private readonly active = new Map<string, AbortController>();
  private draining = false;

  constructor(kind: JobKind<D, R>, settings: AttemptSettings, logger: Logger) {
    this.kind = kind;
    this.settings = settings;
    this.logger = logger;
  }

  get count(): number {
    return this.active.size;
  }

  /** From now on, jobs that are still handed out go straight back. */
  stopAccepting(): void {
    this.draining = true;
  }

  /** Stops all jobs; they go back to the queue. */
  requeueAll(): void {
    for (const stop of this.active.values()) stop.abort(REQUEUE);
  }

  /** The lock is gone, so another worker may have the job: this one must stop, and says nothing more about it. */
  lockLost(ids: readonly string[]): void {
    for (const id of ids) {
      this.active.get(id)?.abort(lostFault());
      this.logger.warn({ [this.kind.noun]: id }, `${this.kind.noun} lost`);
    }
  }

  /** BullMQ's processor. Throws what tells BullMQ how to go on: fail for good, try again, or back to the queue. */
  async process(job: Job<D, R>, token: string): Promise<R> {
    if (this.draining) return this.requeue(job, token);
    const stop = new AbortController();
    const id = job.id as string;
    traceRun(fieldsOf(job));
    this.active.set(id, stop);
    this.kind.onActiveCount(this.active.size);
    try {
      const result = await this.attempt(job, token, stop);
      this.kind.onEnded(undefined);
      return result;
    } catch (error) {
      if (stop.signal.reason === REQUEUE) return this.requeue(job, token);
      throw this.verdict(job, Fault.of(error));
    } finally {
      this.active.delete(id);
      this.kind.onActiveCount(this.active.size);
    }
  }

  private async attempt(job: Job<D, R>, token: string, stop: AbortController): Promise<R> {
    if (job.data.cancelled === true) throw cancelledFault();
    if (job.stalledCounter >= this.settings.maxStarts) {
      await this.kind.cleanUp(job);
      throw killedFault(job.stalledCounter);
    }
    const watcher = this.watch(job, stop);
    try {
      return await this.kind.work(job, {
        signal: stop.signal,
        progress: watcher.progress,
        assertMayCommit: () => this.assertMayCommit(job, token),
      });
    } finally {
      await watcher.end();
    }
  }

  /** The last moment at which an attempt that is not wanted any more can be kept from publishing. */
  private async assertMayCommit(job: Job<D, R>, token: string): Promise<void> {
    try {
      const held = await job.extendLock(token, this.settings.lockMs);
      if (held === 0) throw lostFault();
      const fault = await this.kind.cancellation(job);
      if (fault !== undefined) throw fault;
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw new Fault('run/lost', `The queue did not say whether the run may go on: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Writes progress down and looks for marks, while the job goes on. */
  private watch(job: Job<D, R>, stop: AbortController): { progress(now: RunProgress): void; end(): Promise<void> } {
    let latest: RunProgress | undefined;
    let polling: Promise<void> | undefined;
    const poll = async (): Promise<void> => {
      try {
        const fault = await this.kind.cancellation(job);
        if (fault !== undefined) stop.abort(fault);
        const progress = latest;
        latest = undefined;
        if (progress !== undefined) await job.updateProgress(progress);
      } catch {
        // The queue is away: its connection reports that itself, and the next round looks again.
      }
    };
    const timer = setInterval(() => {
      polling ??= poll().finally(() => {
        polling = undefined;
      });
    }, POLL_MS);
    return {
      progress: (now) => {
        latest = now;
      },
      async end() {
        clearInterval(timer);
        await polling;
      },
    };
  }

  private verdict(job: Job<D, R>, fault: Fault): Error {
    const attempts = job.opts.attempts ?? 1;
    if (!fault.retriable || job.attemptsMade + 1 >= attempts) {
      this.kind.onEnded(fault);
      return new UnrecoverableError(encodeFault(fault));
    }
    METRICS.retries.inc({ code: fault.code });
    this.logger.warn({ ...fieldsOf(job), code: fault.code, reason: fault.message }, `${this.kind.noun} retried`);
    return new Error(encodeFault(fault));
  }

  private async requeue(job: Job<D, R>, token: string): Promise<never> {
    await job.moveToWait(token);
    this.logger.info(fieldsOf(job), `${this.kind.noun} went back to the queue`);
    throw new WaitingError();
  }
}

/** Fields that every log line about a job has. */
export function fieldsOf(job: Job<RunPayload>): TracedWork {
  const { runId, slice } = job.data as RunPayload & { readonly slice?: { readonly index: number } };
  return { run: runId, ...(slice === undefined ? {} : { slice: slice.index }), attempt: job.attemptsStarted };
}

const lostFault = (): Fault => new Fault('run/lost', 'This worker lost the lock of the run');
