/**
 * The transform job: one attempt to map a run, in a thread, while this process keeps the job's lock.
 *
 * Whoever holds the lock decides; everybody else only leaves marks (`cancelled`) that the holder looks for.
 */
import { join } from 'node:path';
import { type Job, type Queue, UnrecoverableError, WaitingError } from 'bullmq';
import { SERVICES, type TransformPayload, type TransformResult } from '../queues/jobs.ts';
import { cancelledFault, encodeFault, killedFault } from '../queues/outcome.ts';
import { Fault } from '../src/fault.ts';
import { type Logger, METRICS } from '../src/observe.ts';
import type { Progress } from '../src/run/request.ts';
import type { Task } from './messages.ts';
import { outputDirectory, outputName, removeLeftovers, removeSpills } from './output.ts';
import type { ThreadPool } from './pool.ts';

export type TransformJob = Job<TransformPayload, TransformResult>;

export interface TransformSettings {
  readonly maxStarts: number;
  readonly lockMs: number;
  readonly spillDirectory: string;
  readonly workingDirectory: string;
}

/** How often the mark of a cancelled run is looked for, and progress is written down. */
const LOOK_MS = 500;

/** Reason of an abort that gives the job back to the queue: no failure, and nobody's fault. */
const GIVE_BACK = new Fault('run/lost', 'The worker is stopping; the run goes back to the queue');

export class Transforms {
  private readonly queue: Queue<TransformPayload>;
  private readonly pool: ThreadPool;
  private readonly settings: TransformSettings;
  private readonly logger: Logger;
  private readonly active = new Map<string, AbortController>();
  private draining = false;

  constructor(queue: Queue<TransformPayload>, pool: ThreadPool, settings: TransformSettings, logger: Logger) {
    this.queue = queue;
    this.pool = pool;
    this.settings = settings;
    this.logger = logger;
  }

  get count(): number {
    return this.active.size;
  }

  /** From now on, jobs that are still handed out go straight back. */
  stopTaking(): void {
    this.draining = true;
  }

  /** Stops all runs; their jobs go back to the queue. */
  giveBack(): void {
    for (const stop of this.active.values()) stop.abort(GIVE_BACK);
  }

  /** The lock is gone, so another worker may have the job: this one must stop, and says nothing more about it. */
  lockLost(ids: readonly string[]): void {
    for (const id of ids) {
      this.active.get(id)?.abort(new Fault('run/lost', 'This worker lost the lock of the run'));
      this.logger.warn({ run: id }, 'run lost');
    }
  }

  /** BullMQ's processor. Throws what tells BullMQ how to go on: fail for good, try again, or back to the queue. */
  async process(job: TransformJob, token: string): Promise<TransformResult> {
    if (this.draining) return this.backToQueue(job, token);
    const stop = new AbortController();
    this.active.set(job.data.runId, stop);
    METRICS.activeRuns.set(this.active.size);
    const started = performance.now();
    try {
      const result = await this.attempt(job, token, stop);
      METRICS.bytesRead.inc(result.report.bytesRead);
      METRICS.bytesWritten.inc(result.report.bytesWritten);
      return { ...result, milliseconds: Math.round(performance.now() - started) };
    } catch (error) {
      if (stop.signal.reason === GIVE_BACK) return this.backToQueue(job, token);
      throw this.verdict(job, Fault.of(error));
    } finally {
      this.active.delete(job.data.runId);
      METRICS.activeRuns.set(this.active.size);
    }
  }

  private async attempt(job: TransformJob, token: string, stop: AbortController): Promise<Omit<TransformResult, 'milliseconds'>> {
    const { data } = job;
    if (data.cancelled === true) throw cancelledFault();
    const task = this.taskOf(job);
    if (job.stalledCounter >= this.settings.maxStarts) {
      await removeLeftovers(task.output.directory, task.output.name, true);
      await removeSpills(task.request.spillDirectory);
      throw killedFault(job.stalledCounter);
    }
    METRICS.attempts.inc();
    this.logger.info({ run: data.runId, attempt: job.attemptsStarted, service: data.service, mapping: data.mappings }, 'run started');
    const look = this.watch(job, stop);
    try {
      return await this.pool.run(task, {
        signal: stop.signal,
        progress: look.progress,
        mayCommit: () => this.mayCommit(job, token),
      });
    } finally {
      await look.end();
    }
  }

  private taskOf(job: TransformJob): Task {
    const { data } = job;
    const attempt = String(job.attemptsStarted);
    const name = outputName(data);
    return {
      request: {
        ...data.run,
        runId: data.runId,
        mappings: data.mappings,
        inputs: data.inputs,
        workingDirectory: this.settings.workingDirectory,
        base: data.run.base ?? undefined,
        onError: data.run.onError ?? undefined,
        // JSON has no infinity: it comes back as null.
        maxRejected: data.run.maxRejected ?? Number.POSITIVE_INFINITY,
        threads: 1,
        spillDirectory: join(this.settings.spillDirectory, `${name}.${attempt}`),
      },
      output: {
        directory: outputDirectory(data.output.directory),
        name,
        format: data.output.format,
        attempt,
        service: SERVICES[data.service].name,
      },
    };
  }

  /** The last moment at which an attempt that is not wanted any more can be kept from publishing. */
  private async mayCommit(job: TransformJob, token: string): Promise<void> {
    const held = await job.extendLock(token, this.settings.lockMs);
    if (held === 0) throw new Fault('run/lost', 'This worker lost the lock of the run');
    const now = await this.queue.getJob(job.data.runId);
    if (now?.data.cancelled === true) throw cancelledFault();
  }

  /** Writes progress down and looks for the mark of a cancelled run, while the run goes on. */
  private watch(job: TransformJob, stop: AbortController): { progress(now: Progress): void; end(): Promise<void> } {
    let latest: Progress | undefined;
    let round: Promise<void> | undefined;
    const look = async (): Promise<void> => {
      try {
        const now = await this.queue.getJob(job.data.runId);
        if (now?.data.cancelled === true) stop.abort(cancelledFault());
        const progress = latest;
        latest = undefined;
        if (progress !== undefined) await job.updateProgress(progress);
      } catch {
        // The queue is away: its connection reports that itself, and the next round looks again.
      }
    };
    const timer = setInterval(() => {
      round ??= look().finally(() => {
        round = undefined;
      });
    }, LOOK_MS);
    return {
      progress: (now) => {
        latest = now;
      },
      async end() {
        clearInterval(timer);
        await round;
      },
    };
  }

  private verdict(job: TransformJob, fault: Fault): Error {
    const attempts = job.opts.attempts ?? 1;
    if (!fault.retriable || job.attemptsMade + 1 >= attempts) return new UnrecoverableError(encodeFault(fault));
    METRICS.retries.inc({ code: fault.code });
    this.logger.warn({ run: job.data.runId, attempt: job.attemptsStarted, code: fault.code, reason: fault.message }, 'run retried');
    return new Error(encodeFault(fault));
  }

  private async backToQueue(job: TransformJob, token: string): Promise<never> {
    await job.moveToWait(token);
    this.logger.info({ run: job.data.runId, attempt: job.attemptsStarted }, 'run went back to the queue');
    throw new WaitingError();
  }
}
