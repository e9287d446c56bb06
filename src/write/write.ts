/** A write: N-Quads files in, their statements in the store. The one way in for the command line, the workers and the tests. */
import { Fault } from '../core/fault.ts';
import { openTarget } from '../targets/open.ts';
import { isPropertyGraphTarget } from '../targets/property-graph.ts';
import type { GraphTarget, TargetAddress } from '../targets/target.ts';
import { withWriteRun } from './carry-out.ts';
import { examineInputs, versionOf } from './inputs.ts';
import { insertInputs } from './insert.ts';
import { checkGraphs, type WriteHooks, type WriteReport, type WriteRequest } from './request.ts';
import type { WriteRun } from './run.ts';
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

/** What a position belongs to. The embedded store of a process has another URL after each start. */
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
