/**
 * The end of a run: computes its outcome, once, from the result of its last attempt or the fault that ended it.
 *
 * The outcome becomes the result of the job, or the reason why it failed, with which the queue informs all who wait. Where something is done
 * before that may not be followed by another end, such as a message, the end is stored in the job first, by the holder of its lock. The next
 * holder goes on from there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, UnrecoverableError, type Worker } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { lockOf } from '../../queues/backend/jobs/changes.ts';
import { whileAway } from '../../queues/backend/refusals.ts';
import {
  lineOf,
  type Outcome,
  type RunPayload,
  SERVICE_QUEUES,
  type StoredEnd,
  type SuccessReport,
  type TransformResult,
  type WriteResult,
  type WriterReport,
} from '../../queues/jobs.ts';
import { next } from '../../queues/runs/life.ts';
import { completedOutcome, encodeFault, encodeOutcome, failedOutcome, withProvenance, writtenOutcome } from '../../queues/runs/outcome.ts';
import { atMost } from '../../src/core/abort.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS, observeVersion, observeWritten } from '../../src/core/telemetry/observe.ts';
import { type AttemptEnd, LOST } from './attempts.ts';

/** What an outcome is that of: a run, or a version that a follower has made without one. */
export type Announced = Pick<RunPayload, 'runId' | 'service' | 'source'>;

/** Stores the messages of an outcome safely. */
export interface PublishOutcome {
  /** Whether there are any at present. */
  has(run: Announced, outcome: Outcome): boolean;
  add(run: Announced, outcome: Outcome): Promise<void>;
}

/** Removes all files of a run that did not complete. */
export type CleanUp = (run: RunPayload) => Promise<void>;

/** Deletes the inputs of a completed run if it was asked to. @param startedAt Unix time in milliseconds */
export type DeleteSources = (run: RunPayload, startedAt: number | undefined) => Promise<void>;

/**
 * Records the provenance of a run, if it was asked to, and resolves to its URL; undefined: there is none. What keeps it from being recorded does
 * not fail the run.
 */
export type RecordProvenance = (
  run: RunPayload,
  outcome: Outcome,
  result: TransformResult | WriteResult | undefined,
) => Promise<string | undefined>;

export interface RunEndHooks {
  readonly recordProvenance: RecordProvenance;
  /** Undefined: there are no messages. */
  readonly publish: PublishOutcome | undefined;
  readonly cleanUp: CleanUp;
  readonly deleteSources: DeleteSources;
  /** Notes the version that the target has. What keeps it from being noted does not fail the run: the next one notes it. */
  readonly noteTarget: (run: RunPayload, outcome: Outcome) => Promise<void>;
  /** Lets the next run of its line begin. */
  readonly leave: (run: RunPayload) => Promise<void>;
}

type RunResult = TransformResult | WriteResult;
type RunJob = Job<RunPayload, Outcome>;

/** What follows an end fails only if the queue or the disk does; it is retried for about a quarter of an hour. */
const MAX_FAILURES = 10;
const RETRY_MS = 1_000;

/** How often the queue is asked for an outcome that it did not confirm. */
const ASK_MS = 1_000;

export class RunEnd {
  readonly #backend: Pick<QueueBackend, 'jobChanges' | 'queue'>;
  readonly #hooks: RunEndHooks;
  readonly #logger: Logger;
  /** Outcomes that were given to the queue, which has not said yet that it has them. */
  readonly #given = new Map<RunJob, Outcome>();
  #asking: Promise<unknown> = Promise.resolve();
  readonly #stopped = new AbortController();

  constructor(backend: Pick<QueueBackend, 'jobChanges' | 'queue'>, hooks: RunEndHooks, logger: Logger) {
    this.#backend = backend;
    this.#hooks = hooks;
    this.#logger = logger;
  }

  /**
   * Goes on from the end that is stored; if there is none, from `end`. Resolves to the outcome of a completed run; its messages are in the outbox
   * by then. All files of a run that did not complete are removed: a worker may have been killed after it published, without another attempt.
   *
   * @throws UnrecoverableError — the run did not complete; its message holds the outcome. DelayedError — what follows is retried later. Error —
   *   `token` does not hold the lock any more
   */
  async process(job: RunJob, token: string, end: AttemptEnd<RunResult>): Promise<Outcome> {
    const { data } = job;
    const stored = data.ended ?? storedOf(end);
    const found = outcomeOf(data, stored);
    const publish = this.#hooks.publish?.has(data, found) === true ? this.#hooks.publish : undefined;
    if (data.ended === undefined && (publish !== undefined || hasConsequences(data, found))) await this.#store(job, token, stored);
    let outcome: Outcome;
    try {
      if (found.state !== 'completed') await this.#hooks.cleanUp(data);
      const provenance = await this.#hooks.recordProvenance(data, found, stored.result);
      outcome = provenance === undefined ? found : withProvenance(found, provenance);
      if (publish !== undefined) await whileAway(this.#stopped.signal, () => publish.add(data, outcome));
      if (outcome.state === 'completed') await this.#hooks.deleteSources(data, stored.result?.startedAt);
    } catch (error) {
      return this.#failed(job, token, { ...stored, failures: stored.failures + 1 }, Fault.of(error));
    }
    await this.#hooks.noteTarget(data, outcome).catch(() => undefined);
    // Where that fails, the next run finds out that this one has ended.
    await this.#hooks.leave(data).catch(() => undefined);
    this.#given.set(job, outcome);
    if (outcome.state === 'completed') return outcome;
    throw new UnrecoverableError(encodeOutcome(outcome));
  }

  /** Counts and logs the outcomes that a worker has given to the queue: each once, however often the end of its run was repeated. */
  watch(worker: Worker<RunPayload, Outcome>): void {
    worker.on('completed', (job) => this.#record(job));
    worker.on('failed', (job, error) => {
      // An attempt that is retried has no outcome.
      if (job !== undefined && error instanceof UnrecoverableError) this.#record(job);
    });
  }

  /**
   * Call when the end of a job was given to the queue, with or without an answer. Without one, the queue is asked until it answers: it may have
   * the outcome although the connection broke before it could say so.
   */
  afterwards = (job: RunJob): void => {
    if (this.#given.has(job)) this.#asking = Promise.all([this.#asking, this.#ask(job)]);
  };

  /** As BullMQ does for a worker's job: fails a run that was taken otherwise, with the outcome that `process` has thrown. */
  async fail(job: RunJob, token: string, error: UnrecoverableError): Promise<void> {
    try {
      await whileAway(this.#stopped.signal, () => job.moveToFailed(error, token));
      this.#record(job);
    } finally {
      this.afterwards(job);
    }
  }

  /** Resolves when the queue has been asked for all outcomes, at the latest after `waitMs`. */
  async close(waitMs: number): Promise<void> {
    await atMost(waitMs, this.#asking);
    this.#stopped.abort();
  }

  #record(job: RunJob): void {
    const outcome = this.#given.get(job);
    this.#given.delete(job);
    if (outcome !== undefined) recordOutcome(job.data, outcome, this.#logger);
  }

  async #ask(job: RunJob): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        const now = await this.#backend.queue(SERVICE_QUEUES[job.data.service].work).getJob(job.id as string);
        // A worker that takes the job after it was lost changes these numbers.
        const isOwn = now?.attemptsStarted === job.attemptsStarted && now.stalledCounter === job.stalledCounter;
        if (isOwn && now.finishedOn !== undefined) this.#record(job);
        break;
      } catch {
        // The queue is away and its connection reports that.
        await sleep(ASK_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
    this.#given.delete(job);
  }

  async #store(job: RunJob, token: string, stored: StoredEnd): Promise<void> {
    const { work } = SERVICE_QUEUES[job.data.service];
    const amend = (): Promise<boolean> => this.#backend.jobChanges.amend(work, job.id as string, { ended: stored }, lockOf(job, token));
    // A queue that is away is waited for: the run is not made again.
    if (!(await whileAway(this.#stopped.signal, amend))) throw new Error(encodeFault(LOST));
  }

  /** What follows the end has failed. */
  async #failed(job: RunJob, token: string, stored: StoredEnd, fault: Fault): Promise<never> {
    const { failures } = stored;
    const fields = { run: job.data.runId, code: fault.code, reason: fault.message, failures };
    if (next('announcing', failures < MAX_FAILURES ? 'retry' : 'fault').effect === 'give up') {
      this.#logger.error(fields, 'run not ended');
      throw new UnrecoverableError(encodeFault(fault));
    }
    this.#logger.warn(fields, 'end of a run retried');
    try {
      await this.#store(job, token, stored);
      await whileAway(this.#stopped.signal, () => job.moveToDelayed(Date.now() + RETRY_MS * 2 ** (failures - 1), token));
    } catch {
      // The queue is away, or the job has another holder. Left alone, its lock expires, and it is taken again.
    }
    throw new DelayedError();
  }
}

const storedOf = ({ result, fault }: AttemptEnd<RunResult>): StoredEnd => ({
  at: Date.now(),
  failures: 0,
  ...(fault === undefined ? { result } : { fault: fault.toJSON() }),
});

function outcomeOf(run: RunPayload, { result, fault, at }: StoredEnd): Outcome {
  if (result === undefined) return failedOutcome(run, fault === undefined ? LOST : Fault.from(fault), new Date(at));
  return run.service === 'graph-writer' ? writtenOutcome(run, result as WriteResult) : completedOutcome(run, result as TransformResult);
}

/** Whether something follows this end, beside messages, that may not be followed by another one. */
function hasConsequences(run: RunPayload, { state }: Outcome): boolean {
  if (state !== 'completed' || run.deleteSource === true) return true;
  // The next run of its line may begin.
  if (lineOf(run) !== undefined) return true;
  // JSON has no undefined: the value is absent or null.
  return run.service !== 'graph-writer' && run.provenance != null;
}

function recordOutcome({ runId, service, submittedAt }: RunPayload, outcome: Outcome, logger: Logger): void {
  METRICS.runs.inc({ service, state: outcome.state });
  if (outcome.state === 'completed') {
    const { records, quads, rejectedRecords, processingTime } = outcome.report;
    if (service === 'graph-writer') {
      METRICS.statementsWritten.inc(quads);
      METRICS.statementsRejected.inc(rejectedRecords);
      const { dataset, version } = outcome.report;
      if (dataset !== undefined && version !== undefined) observeWritten(dataset, version);
    } else {
      METRICS.records.inc(records);
      METRICS.quads.inc(recordVersion(outcome.report) ?? quads);
      METRICS.rejected.inc(rejectedRecords);
    }
    METRICS.runSeconds.observe({ service, state: outcome.state }, processingTime / 1000);
    logger.info({ run: runId, service, records, quads, rejected: rejectedRecords, seconds: processingTime / 1000 }, 'run completed');
    return;
  }
  const { code, detail } = outcome.failure;
  if (code === 'limit/exceeded' || code === 'record/limit') METRICS.limitsHit.inc({ limit: detail.limit ?? 'none' });
  const seconds = (Date.now() - Date.parse(submittedAt)) / 1000;
  METRICS.faults.inc({ code });
  METRICS.runSeconds.observe({ service, state: outcome.state }, seconds);
  if (outcome.state === 'cancelled') logger.info({ run: runId, service }, 'run cancelled');
  else logger.warn({ run: runId, service, code, reason: detail.message, seconds }, 'run failed');
}

/** Counts a new version of a dataset. Returns the statements that were written for it; undefined: the run has no dataset. */
function recordVersion(report: SuccessReport | WriterReport): number | undefined {
  if (!('outputFileLocations' in report) || report.dataset === undefined) return undefined;
  const { dataset, version = 0, previousVersion = 0, added = 0, removed = 0 } = report;
  observeVersion(dataset, version, version > previousVersion ? { added, removed } : undefined);
  return added + removed;
}
