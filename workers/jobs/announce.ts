/** The announce job: computes the outcome of a run, once, from the result of its transform or write job. */
import type { Job } from 'bullmq';
import type { Outcome, RunPayload, TransformResult, WriteResult } from '../../queues/jobs.ts';
import { cancelledFault, completedOutcome, decodeFault, failedOutcome, withProvenance, writtenOutcome } from '../../queues/runs/outcome.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { traceRun } from '../../src/core/telemetry/trace.ts';

/** Stores the messages of an outcome safely. */
export type PublishOutcome = (run: RunPayload, outcome: Outcome) => Promise<void>;

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

interface AnnounceHooks {
  readonly recordProvenance: RecordProvenance;
  readonly publish: PublishOutcome | undefined;
  readonly cleanUp: CleanUp;
  readonly deleteSources: DeleteSources;
}

/**
 * The outcome counts as announced once this resolves; its messages are in the outbox by then (without `publish` there are none). All files
 * of a run that did not complete are removed: a worker may have been killed after it published, without another attempt.
 *
 * @throws the error of the queue's client library when the queue is away; the job is retried
 */
export async function announce(
  job: Job<RunPayload, Outcome>,
  { recordProvenance, publish, cleanUp, deleteSources }: AnnounceHooks,
  logger: Logger,
): Promise<Outcome> {
  traceRun({ run: job.data.runId });
  const result = await findResult(job);
  const found = result === undefined ? await findFailure(job) : completed(job.data, result);
  if (found.state !== 'completed') await cleanUp(job.data);
  const provenance = await recordProvenance(job.data, found, result);
  const outcome = provenance === undefined ? found : withProvenance(found, provenance);
  await publish?.(job.data, outcome);
  if (outcome.state === 'completed') await deleteSources(job.data, result?.startedAt);
  recordOutcome(job.data, outcome, logger);
  return outcome;
}

/** Undefined: the run did not complete. */
async function findResult(job: Job<RunPayload, Outcome>): Promise<TransformResult | WriteResult | undefined> {
  return Object.values(await job.getChildrenValues<TransformResult | WriteResult>())[0];
}

function completed(run: RunPayload, result: TransformResult | WriteResult): Outcome {
  return run.service === 'graph-writer' ? writtenOutcome(run, result as WriteResult) : completedOutcome(run, result as TransformResult);
}

async function findFailure(job: Job<RunPayload, Outcome>): Promise<Outcome> {
  const [reason] = Object.values(await job.getIgnoredChildrenFailures());
  // Neither: the job was removed from the queue before it started.
  const fault = reason === undefined && job.data.cancelled === true ? cancelledFault() : decodeFault(reason);
  return failedOutcome(job.data, fault, new Date());
}

function recordOutcome({ runId, service, submittedAt }: RunPayload, outcome: Outcome, logger: Logger): void {
  METRICS.runs.inc({ service, state: outcome.state });
  if (outcome.state === 'completed') {
    const { records, quads, rejectedRecords, processingTime } = outcome.report;
    if (service === 'graph-writer') {
      METRICS.statementsWritten.inc(quads);
      METRICS.statementsRejected.inc(rejectedRecords);
    } else {
      METRICS.records.inc(records);
      METRICS.quads.inc(quads);
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
