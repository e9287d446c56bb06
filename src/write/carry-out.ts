/** One write from its inputs to its report: its end by the caller or by time, and its progress. */
import { rm } from 'node:fs/promises';
import { Fault } from '../core/fault.ts';
import { secondsFault } from '../core/limits.ts';
import type { GraphTarget } from '../targets/target.ts';
import type { WriteHooks, WriteReport, WriteRequest } from './request.ts';
import { openWriteRun, type WriteRun } from './run.ts';

/**
 * Opens a run, carries it out, and reports.
 *
 * @param examine its inputs, and their version, to which a position to go on from must belong
 * @throws Fault what has ended the run
 */
export async function withWriteRun(
  target: GraphTarget,
  request: Omit<WriteRequest, 'target'>,
  hooks: WriteHooks,
  examine: (signal: AbortSignal) => Promise<Pick<WriteRun, 'inputs'> & { readonly version: string | undefined }>,
  act: (run: WriteRun) => Promise<void>,
): Promise<WriteReport> {
  const started = performance.now();
  const ending = new AbortController();
  const stopListening = listen(ending, hooks.signal, request.limits.seconds);
  try {
    const { inputs, version } = await examine(ending.signal);
    const resume = request.resume?.version === version ? request.resume : undefined;
    const run = openWriteRun({ target, request, inputs, resume, version, hooks, ending });
    await carryOut(run, hooks, act);
    return reportOf(run, started);
  } catch (error) {
    throw ending.signal.aborted ? ending.signal.reason : error;
  } finally {
    stopListening();
    await rm(request.spillDirectory, { recursive: true, force: true });
  }
}

const TELL_MS = 100;

async function carryOut(run: WriteRun, { progress }: WriteHooks, act: (run: WriteRun) => Promise<void>): Promise<void> {
  const { counts, checkpoints } = run;
  const tell = (): void =>
    progress?.({
      statements: counts.statements,
      quadsWritten: checkpoints.quadsWritten,
      bytesRead: counts.bytesRead,
      position: checkpoints.position,
    });
  const telling = setInterval(tell, TELL_MS);
  try {
    await act(run);
  } catch (error) {
    run.stop(error);
    throw error;
  } finally {
    await run.settled();
    clearInterval(telling);
    tell();
  }
}

function reportOf(run: WriteRun, started: number): WriteReport {
  const { target, counts, checkpoints, retryPolicy, warnings, request } = run;
  const repeated = counts.statements - checkpoints.quadsWritten - counts.rejected;
  if (request.blankNodes === 'keep') warnings.push('Blank nodes are kept: writing the same file again adds them again');
  if (repeated > 0) warnings.push(`${repeated} statements stand in the input more than once`);
  return {
    target: target.describe(),
    statements: counts.statements,
    quadsWritten: checkpoints.quadsWritten,
    rejected: counts.rejected,
    batches: checkpoints.batches,
    bytesRead: counts.bytesRead,
    bytesSpilled: counts.bytesSpilled,
    retries: retryPolicy.retries,
    seconds: (performance.now() - started) / 1000,
    warnings: [...warnings, ...run.illTyped.warnings(), ...(target.warnings?.() ?? [])],
  };
}

/** Ends the run when the caller says so, or when it takes too long. Returns how to stop that. */
function listen(ending: AbortController, signal: AbortSignal, seconds: number): () => void {
  const cancel = (): void => ending.abort(signal.reason instanceof Fault ? signal.reason : cancelledFault(signal.reason));
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const timer = seconds === 0 ? undefined : setTimeout(() => ending.abort(secondsFault(seconds)), seconds * 1000);
  return () => {
    signal.removeEventListener('abort', cancel);
    clearTimeout(timer);
  };
}

const cancelledFault = (cause: unknown): Fault => new Fault('run/cancelled', 'The write was cancelled', { cause });
