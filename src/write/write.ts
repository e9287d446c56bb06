/** A write: N-Quads files in, their statements in the store. The one way in for the command line, the workers and the tests. */
import { rm } from 'node:fs/promises';
import { Fault } from '../core/fault.ts';
import { secondsFault } from '../core/limits.ts';
import { openTarget } from '../targets/open.ts';
import { isPropertyGraphTarget } from '../targets/property-graph.ts';
import type { GraphTarget, TargetAddress } from '../targets/target.ts';
import { examineInputs, versionOf } from './inputs.ts';
import { insertInputs } from './insert.ts';
import { checkGraphs, type WriteHooks, type WriteReport, type WriteRequest } from './request.ts';
import { openWriteRun, type WriteRun } from './run.ts';
import { updateTarget } from './update/update.ts';

/**
 * Writes the inputs of `request` to its target.
 *
 * Memory: `memoryBudgetBytes` for grouping (update), and the batches that are under way. When this throws, what `hooks.progress` said last is
 * where another attempt goes on.
 *
 * @throws Fault of every kind that `fault.ts` lists under source, target, record, limit, config and run
 */
export async function executeWrite(request: WriteRequest, hooks: WriteHooks): Promise<WriteReport> {
  const { target: address, ...rest } = request;
  const target = await openTarget(address);
  try {
    return await write(target, rest, hooks, nameOf(address));
  } finally {
    await target.close();
  }
}

/** What a position belongs to. The embedded store of a process has a URL of its own after each start. */
const nameOf = ({ type, endpoint, database }: TargetAddress): string =>
  JSON.stringify([type, type === 'embedded' && /^https?:/i.test(endpoint) ? '' : endpoint, database]);

/** As `executeWrite`, to a target that the caller closes. */
export const writeTo = (target: GraphTarget, request: Omit<WriteRequest, 'target'>, hooks: WriteHooks): Promise<WriteReport> =>
  write(target, request, hooks, target.describe());

function write(target: GraphTarget, request: Omit<WriteRequest, 'target'>, hooks: WriteHooks, targetName: string): Promise<WriteReport> {
  const examine = async (signal: AbortSignal): Promise<Pick<WriteRun, 'inputs'> & { readonly version: string | undefined }> => {
    checkBlankNodes(target, request);
    checkGraphs(request);
    const inputs = await examineInputs(request, signal, request.mode === 'insert' && isPropertyGraphTarget(target));
    return { inputs, version: versionOf(inputs, request, targetName) };
  };
  return withWriteRun(target, request, hooks, examine, async (run) => {
    // An update reads everything before it writes, and should not do that for a store that never lets it.
    if (request.mode === 'update') await run.retryPolicy.attempt((signal) => target.probe(signal));
    await run.retryPolicy.attempt((signal) => target.prepare(signal));
    await (request.mode === 'insert' ? insertInputs(run) : updateTarget(run));
  });
}

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

/** @throws Fault config/invalid */
function checkBlankNodes(target: GraphTarget, { blankNodes, mode }: Pick<WriteRequest, 'blankNodes' | 'mode'>): void {
  if (blankNodes !== 'keep') return;
  if (mode === 'update') {
    throw new Fault('config/invalid', 'Blank nodes cannot be kept by an update: the next one would not find them again', {
      hint: 'Set BLANK_NODES=skolem, or WRITE_MODE=insert',
    });
  }
  if (target.takesBlankNodes) return;
  throw new Fault('config/invalid', `Blank nodes cannot be kept: ${target.describe()} does not take whole files`, {
    hint: 'Set BLANK_NODES=skolem',
  });
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
