/**
 * Scatter and gather: a transform job creates a job for each slice of its run, waits for all of them, and removes them.
 *
 * It polls the queue instead of listening to events: one answer contains state, progress, result and reason, and a lost event cannot block
 * a run.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, JobsOptions, Queue } from 'bullmq';
import { bandOf, type FairQueueing, prioritiesFrom, urgencyOf } from '../../queues/backend/fair-queueing.ts';
import { whileAway } from '../../queues/backend/refusals.ts';
import type { Outcome, SlicePayload, SliceResult, TransformPayload } from '../../queues/jobs.ts';
import { decodeFault } from '../../queues/runs/outcome.ts';
import { atMost, LinkedAbort } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { checkCounts } from '../../src/core/limits.ts';
import { sumOfProgress } from '../../src/run/report.ts';
import type { Progress, RunSlice } from '../../src/run/request.ts';
import { removeAttempt } from '../output/output.ts';
import type { Task } from '../task.ts';
import type { AttemptContext } from './attempts.ts';

type SliceQueue = Queue<SlicePayload, SliceResult>;
type SliceJob = Job<SlicePayload, SliceResult>;

/** The longest delay between the end of the last slice and that of the run. */
const POLL_MS = 200;
/** Slices polled at once. They are taken in order: if none of the first ones has ended, later ones are unlikely to have. */
const POLL_COUNT = 32;
const ADD_COUNT = 200;
/** A queue that is away must not delay the end of an attempt. */
const END_MS = 5_000;
/**
 * Retries of a slice. The run occupies a worker while its slice waits, so the delay is short; longer waits are left to the retry of the
 * run, which occupies no worker.
 */
const SLICE_ATTEMPTS = 3;
const MAX_RETRY_DELAY_MS = 500;
/** Only for slices of a transform job that died; other slices are removed by their job. */
const RETENTION = { age: 24 * 3600 };

export class ScatterGather {
  private readonly queue: SliceQueue;
  private readonly fairQueueing: FairQueueing;
  private readonly job: Job<TransformPayload, Outcome>;
  private readonly task: Task;
  private readonly context: AttemptContext;
  /** Also aborted by `end`: the thread may be gone while slices are still running. */
  private readonly stop: LinkedAbort;
  private ids: readonly string[] = [];
  private work: Promise<readonly SliceResult[]> | undefined;

  /** @param job the transform job, with its current attempt */
  constructor(queue: SliceQueue, fairQueueing: FairQueueing, job: Job<TransformPayload, Outcome>, task: Task, context: AttemptContext) {
    this.queue = queue;
    this.fairQueueing = fairQueueing;
    this.job = job;
    this.task = task;
    this.context = context;
    this.stop = new LinkedAbort([context.signal]);
  }

  /**
   * Resolves to the results of all slices, in order.
   *
   * @throws Fault — that of the first slice that failed for good; record/limit if the slices together rejected too many records;
   *   limit/exceeded if they read or produced too much; run/lost if the queue has lost a slice; the reason of the signal
   */
  resultsOf(slices: readonly RunSlice[]): Promise<readonly SliceResult[]> {
    this.work = this.scatter(slices);
    return this.work;
  }

  /** Cancels running slices, and removes all slice jobs and their temporary files. Never throws. */
  async end(): Promise<void> {
    if (this.work === undefined) return this.stop.release();
    this.stop.abort(new Fault('run/cancelled', 'The attempt of the run has ended'));
    await this.work.catch(() => undefined);
    await atMost(
      END_MS,
      inGroups(this.ids, POLL_COUNT, (id) => this.removeSlice(id)),
    );
    // The marks are set already: a slice that has not seen its mark yet removes its files itself.
    const { name, attempt } = this.task.output;
    await removeAttempt(this.task.output, name, attempt).catch(() => undefined);
  }

  private async scatter(slices: readonly RunSlice[]): Promise<readonly SliceResult[]> {
    const { id, data, opts, attemptsStarted: attempt } = this.job;
    // Includes the time of submission: an earlier run with the same idempotency key has the same id.
    const start = `${id}-${Date.parse(data.submittedAt).toString(36)}-${attempt}`;
    this.ids = slices.map(({ index }) => `${start}-${index}`);
    const backoff = { type: 'exponential', delay: Math.min(MAX_RETRY_DELAY_MS, retryMsOf(opts)) };
    const options = {
      attempts: Math.min(SLICE_ATTEMPTS, opts.attempts ?? 1),
      backoff,
      removeOnComplete: RETENTION,
      removeOnFail: RETENTION,
    };
    const band = bandOf(this.queue.name, urgencyOf(opts.priority ?? 0));
    const { signal } = this.stop;
    const first = await whileAway(signal, () => this.fairQueueing.nextStartTag(band, undefined)).catch(notQueued);
    const priorities = prioritiesFrom(band, first, slices.length);
    const jobs = slices.map((slice, i) => ({
      name: 'slice',
      data: { ...data, slice, attempt },
      opts: { ...options, jobId: this.ids[i] as string, priority: priorities[i] as number },
    }));
    for (let from = 0; from < jobs.length; from += ADD_COUNT) {
      signal.throwIfAborted();
      await whileAway(signal, () => this.queue.addBulk(jobs.slice(from, from + ADD_COUNT))).catch(notQueued);
    }
    return this.gather();
  }

  private async gather(): Promise<readonly SliceResult[]> {
    const { signal } = this.stop;
    const results = new Map<number, SliceResult>();
    const progress = new Map<number, Progress>();
    let pending = [...this.ids.keys()];
    while (pending.length > 0) {
      const waiting: SliceJob[] = [];
      await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      for (let from = 0; from < pending.length; from += POLL_COUNT) {
        const polled = pending.slice(from, from + POLL_COUNT);
        const before = results.size;
        const jobs = await Promise.all(polled.map((i) => this.queue.getJob(this.ids[i] as string))).catch(() => undefined);
        // The queue is away and its connection reports that; the job's lock expires soon after.
        if (jobs === undefined) break;
        for (const [at, i] of polled.entries()) {
          const result = resultOf(jobs[at] as SliceJob | undefined, i);
          if (result !== undefined) results.set(i, result);
          const now = jobs[at]?.progress;
          if (typeof now === 'object') progress.set(i, now as Progress);
          if (waitsLong(jobs[at])) waiting.push(jobs[at] as SliceJob);
        }
        if (results.size === before && waiting.length < from + polled.length) break;
      }
      // All remaining slices wait for a retry: fail the attempt, so that others can use the worker until the retry.
      if (waiting.length === pending.length) throw decodeFault(waiting[0]?.failedReason);
      pending = pending.filter((i) => !results.has(i));
      this.checkRejected([...results.values()]);
      const sum = sumOfProgress([...this.ids.keys()].flatMap((i) => results.get(i)?.report ?? progress.get(i) ?? []));
      // Slices of files may produce the same statement, so only the published total is known.
      const quads = this.job.data.service === 'sql-transformer' ? sum.quads : 0;
      checkCounts(this.task.request.limits, { records: sum.records, quads });
      this.context.progress(sum);
    }
    return [...this.ids.keys()].map((i) => results.get(i) as SliceResult);
  }

  private checkRejected(results: readonly SliceResult[]): void {
    const { maxRejected } = this.task.request;
    const rejected = results.reduce((sum, { report }) => sum + report.rejected, 0);
    if (rejected <= maxRejected) return;
    const last = results.flatMap((result) => result.rejected).at(-1);
    throw new Fault('record/limit', `More than ${maxRejected} records were rejected${last === undefined ? '' : `; one of them: ${last}`}`, {
      limit: 'MAX_REJECTED',
    });
  }

  private async removeSlice(id: string): Promise<void> {
    const job = await this.queue.getJob(id);
    if (job === undefined) return;
    // Set the mark first: any worker that takes the job from here on will see it.
    if (job.finishedOn === undefined) await job.updateData({ ...job.data, cancelled: true });
    // Fails for an active job, which its mark cancels.
    await job.remove().catch(() => undefined);
  }
}

function notQueued(error: Error): never {
  throw new Fault('run/lost', `The slices of the run could not be queued: ${error.message}`, { cause: error });
}

/** undefined: still running. @throws Fault — the slice failed for good, or is gone */
function resultOf(job: SliceJob | undefined, index: number): SliceResult | undefined {
  if (job === undefined) throw new Fault('run/lost', `The queue has lost slice ${index} of the run`);
  if (job.finishedOn === undefined) return undefined;
  if (job.returnvalue === null || typeof job.returnvalue !== 'object') throw decodeFault(job.failedReason);
  return job.returnvalue;
}

/** Whether it failed and waits for a retry longer than `MAX_RETRY_DELAY_MS`. */
const waitsLong = (job: SliceJob | undefined): boolean =>
  job?.finishedOn === undefined && !!job?.failedReason && job.delay > MAX_RETRY_DELAY_MS;

const retryMsOf = ({ backoff }: JobsOptions): number => (typeof backoff === 'number' ? backoff : (backoff?.delay ?? 0));

async function inGroups<T>(all: readonly T[], count: number, act: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += count) await Promise.allSettled(all.slice(from, from + count).map(act));
}
