/** The announce job: computes the outcome of a run, once, from what its transform or write job left. */
import type { Job } from 'bullmq';
import type { Outcome, RunPayload, TransformResult, WriteResult } from '../../queues/jobs.ts';
import { cancelledFault, completedOutcome, decodeFault, failedOutcome, writtenOutcome } from '../../queues/runs/outcome.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { traceRun } from '../../src/core/telemetry/trace.ts';

/** Keeps the messages of an outcome in safe hands. */
export type PublishOutcome = (run: RunPayload, outcome: Outcome) => Promise<void>;

/** Removes what a run that has not completed left, if anything. */
export type CleanUp = (run: RunPayload) => Promise<void>;

/**
 * The outcome counts as announced once this resolves; its messages are in the outbox by then, without `say` there is no message queue.
 * Nothing is left of a run that has not completed: a worker may have been killed when it had published, and nobody started the run again.
 *
 * @throws whatever the queue throws when it is away; the job is tried again
 */
export async function announce(
  job: Job<RunPayload, Outcome>,
  { publish, cleanUp }: { readonly publish: PublishOutcome | undefined; readonly cleanUp: CleanUp },
  logger: Logger,
): Promise<Outcome> {
  traceRun({ run: job.data.runId });
  const outcome = await findOutcome(job);
  if (outcome.state !== 'completed') await cleanUp(job.data);
  await publish?.(job.data, outcome);
  recordOutcome(job.data, outcome, logger);
  return outcome;
}

async function findOutcome(job: Job<RunPayload, Outcome>): Promise<Outcome> {
  const [result] = Object.values(await job.getChildrenValues<TransformResult | WriteResult>());
  if (result !== undefined) {
    if (job.data.service === 'graph-writer') return writtenOutcome(job.data, result as WriteResult);
    return completedOutcome(job.data, result as TransformResult);
  }
  const [reason] = Object.values(await job.getIgnoredChildrenFailures());
  // Without either, that job was taken out of the queue before it began.
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
