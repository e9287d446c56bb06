/** What a follower announces: its versions as success messages, as those of runs, and rejected messages as dead letters. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FailureMessage, Transformer } from '../../queues/jobs.ts';
import { completedOutcome, failureMessage } from '../../queues/runs/outcome.ts';
import { Fault } from '../../src/core/fault.ts';
import type { RejectedMessage } from '../../src/streams/events.ts';
import type { PublishOutcome } from '../jobs/run-end.ts';
import type { RunResult } from '../task.ts';

export interface FollowerAnnouncements {
  readonly publish: PublishOutcome;
  /** Sends a dead letter with what was rejected. @throws Fault service/unavailable */
  rejected(service: Transformer, failure: FailureMessage, message: RejectedMessage): Promise<void>;
}

const RETRY_MS = 500;

/** Repeats what the queue does not take now. The queue recognises repetitions by their ids. @throws Fault — others; the last one, once `signal` is aborted */
async function untilTaken(signal: AbortSignal, add: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await add();
    } catch (error) {
      if (signal.aborted || !(error instanceof Fault) || !error.retriable) throw error;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** @returns whether somewhere a message is waited for */
export async function announceVersion(
  { publish }: FollowerAnnouncements,
  service: Transformer,
  runId: string,
  result: RunResult,
  signal: AbortSignal,
): Promise<boolean> {
  const run = { runId, service, inputs: [] };
  const outcome = completedOutcome(run, { ...result, milliseconds: Math.round(result.report.seconds * 1000) });
  if (!publish.has(run, outcome)) return false;
  await untilTaken(signal, () => publish.add(run, outcome));
  return true;
}

/** A message that comes a second time has the id of the first one. */
export async function announceRejected(
  announcements: FollowerAnnouncements,
  service: Transformer,
  dataset: string,
  message: RejectedMessage,
  signal: AbortSignal,
): Promise<void> {
  const { place, reason } = message;
  const digest = createHash('sha256')
    .update(JSON.stringify([dataset, place, reason]))
    .digest('hex');
  const fault = new Fault('source/malformed', `${place}: ${reason}`, { place: { input: place } });
  const failure = failureMessage({ runId: `rejected-${digest.slice(0, 32)}`, service, inputs: [] }, fault, new Date());
  await untilTaken(signal, () => announcements.rejected(service, failure, message));
}
