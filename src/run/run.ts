/** A run: mapping files and inputs in, statements out to a sink. The only entry point for the command line, the workers and the tests. */
import { randomInt } from 'node:crypto';
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { checkCounts, secondsFault } from '../core/limits.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { QuadSink } from '../sinks/sink.ts';
import { MemoryBudget } from '../spill/budget.ts';
import { type FoundKey, findKeys, withKeys } from './execute/key-finder.ts';
import { type Outputs, openOutputs } from './execute/outputs.ts';
import { executeScans } from './execute/scans.ts';
import { fillSides, mapsAlone } from './execute/sides.ts';
import { prepareWithDeadline } from './prepare/deadline.ts';
import type { PreparedRun } from './prepare/open.ts';
import type { PartReport } from './report.ts';
import { type RunHooks, type RunReport, type RunRequest, type SliceScan, TABLE_SHARE, type TargetReport } from './request.ts';
import { mergeReports } from './slices/merge-reports.ts';
import { type RunThreads, startThreads, type ThreadPart } from './threads/threads.ts';

export { sliceRun } from './slices/slices.ts';

/**
 * Executes a run, or one slice of it. Writes to `sink`; the caller commits the sink when this returns and aborts it when this throws.
 *
 * Memory: `memoryBudgetBytes` for de-duplication and joins, and a few megabytes per open document or database. Several threads share the
 * budget; statements come in no particular order then.
 *
 * @param prepared what `sliceRun` has prepared; closed in any case. undefined: the run is prepared here
 * @throws Fault any code of `fault.ts` under mapping, source, database, record, limit, sink and run
 */
export async function executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks, prepared?: PreparedRun): Promise<RunReport> {
  const { seconds } = request.limits;
  if (seconds === 0) return mapRun(request, sink, hooks, prepared);
  const limit = new LinkedAbort([hooks.signal], seconds * 1000);
  try {
    return await mapRun(request, sink, { ...hooks, signal: limit.signal }, prepared);
  } catch (error) {
    throw limit.timedOut ? secondsFault(seconds) : error;
  } finally {
    limit.release();
  }
}

async function mapRun(request: RunRequest, sink: QuadSink, hooks: RunHooks, given: PreparedRun | undefined): Promise<RunReport> {
  const started = performance.now();
  const { slice } = request;
  const prepared = given ?? (await prepareWithDeadline(request, hooks, slice?.snapshots));
  let threads: RunThreads | undefined;
  try {
    if (slice !== undefined && slice.digest !== prepared.digest) {
      throw new Fault('run/lost', 'The mapping or the tables that it reads have changed since the run was cut into slices');
    }
    threads = await threadsOf(request, prepared, hooks);
    const wanted: readonly SliceScan[] = slice?.scans ?? prepared.plan.scans.map((_, position) => ({ position, range: undefined }));
    const look = (signal: AbortSignal): Promise<readonly FoundKey[]> => findKeys(prepared, wanted, request, signal);
    const keys = threads?.mapsMeanwhile ? undefined : await look(hooks.signal ?? new AbortController().signal);
    const outputs = await openOutputs(sink, prepared.plan.targets, hooks);
    const parts =
      threads === undefined
        ? [await executeHere(request, withKeys(prepared, keys ?? []), wanted, outputs, hooks)]
        : await threads.execute(keys === undefined ? look : async () => keys, outputs);
    const targets = prepared.plan.targets.map(
      ({ id, path, origin }, i): TargetReport => ({
        id,
        path,
        origin: formatOrigin(origin),
        quads: parts.reduce((sum, { statements }) => sum + (statements[i + 1] as number), 0),
      }),
    );
    const { statements: _, cut, ...part } = parts[0] as ThreadPart;
    const { warnings } = prepared;
    const report: PartReport =
      slice === undefined
        ? mergeReports(parts, { onError: request.onError, warnings })
        : // Other slices may have other rows, and find the same.
          { ...part, warnings: [...warnings, ...part.warnings] };
    // The limits of the run apply to each thread.
    checkCounts(request.limits, report);
    return {
      ...report,
      bytesWritten: outputs.bytes,
      seconds: (performance.now() - started) / 1000,
      ...(targets.length === 0 ? {} : { targets }),
      // One thread alone.
      ...(request.firstRecords === undefined ? {} : { cut: cut ?? [] }),
      mappings: prepared.documents,
    };
  } finally {
    await threads?.end();
    await prepared.close();
  }
}

/** In this thread: the build sides of a slice first. */
async function executeHere(
  request: RunRequest,
  prepared: PreparedRun,
  wanted: readonly SliceScan[],
  outputs: Outputs,
  hooks: RunHooks,
): Promise<ThreadPart> {
  const { slice, memoryBudgetBytes } = request;
  if (slice?.sides === undefined) return executeScans(request, prepared, wanted, outputs, hooks);
  const budget = new MemoryBudget(memoryBudgetBytes);
  const sides = await fillSides(
    request,
    prepared,
    slice.sides,
    String(slice.index),
    budget,
    randomInt(2 ** 31),
    hooks.signal === undefined ? {} : { signal: hooks.signal },
  );
  try {
    const plan = mapsAlone(prepared.plan);
    const result = await executeScans(request, { ...prepared, plan }, wanted, outputs, hooks, { budget, joins: sides.joins });
    const { joins, unmatched } = sides.result;
    return { ...result, sides: { ...(joins === undefined ? {} : { joins }), unmatched } };
  } finally {
    await sides.remove();
  }
}

/** undefined: this thread executes the run. */
async function threadsOf(request: RunRequest, prepared: PreparedRun, hooks: RunHooks): Promise<RunThreads | undefined> {
  const { slice, firstRecords, rowsPerPart } = request;
  const threads = threadsFor(request, prepared.tables?.bytes ?? 0);
  // What these ask for depends on the order of records, or is open in this thread alone.
  const { row, subject, document, scan, trace, openSession, openTopic } = hooks;
  const isOrdered = [firstRecords, rowsPerPart, row, subject, document, scan, trace, openSession, openTopic].some(
    (one) => one !== undefined,
  );
  // Equal rows are counted in one place.
  const countsRows =
    request.dataset !== undefined && prepared.plan.scans.some(({ iterations }) => iterations.some(({ namesRows }) => namesRows));
  return slice === undefined && threads > 1 && !isOrdered && !countsRows
    ? startThreads({ ...request, threads }, prepared, hooks)
    : undefined;
}

/** Each thread holds the tables in which functions look values up: there are as many threads as have room for them in a quarter of the memory. */
const threadsFor = ({ threads, memoryBudgetBytes }: RunRequest, tableBytes: number): number =>
  tableBytes === 0 ? threads : Math.max(1, Math.min(threads, Math.floor((memoryBudgetBytes * TABLE_SHARE) / tableBytes)));
