/** A run: mapping files and inputs in, statements out to a sink. The only entry point for the command line, the workers and the tests. */
import { LinkedAbort } from '../core/abort.ts';
import { Fault } from '../core/fault.ts';
import { checkCounts, secondsFault } from '../core/limits.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { QuadSink } from '../sinks/sink.ts';
import { type FoundKey, findKeys, withKeys } from './execute/key-finder.ts';
import { openOutputs } from './execute/outputs.ts';
import { executeScans, type ScansResult } from './execute/scans.ts';
import { incompleteJoins, joinWarnings, mergeJoins } from './join/reports.ts';
import { prepareInTime } from './prepare/in-time.ts';
import type { PreparedRun } from './prepare/prepare.ts';
import { countRepeated, flawWarnings, mergeFlaws, mergeMaps } from './report.ts';
import {
  type JoinReport,
  type RunHooks,
  type RunReport,
  type RunRequest,
  type SliceScan,
  TABLE_SHARE,
  type TargetReport,
} from './request.ts';
import { type RunThreads, startThreads } from './threads/threads.ts';

export { sliceRun } from './slices/slices.ts';

/**
 * Executes a run, or one slice of it. Writes to `sink`; the caller commits the sink when this returns and aborts it when this throws.
 *
 * Memory: `memoryBudgetBytes` for de-duplication and joins, and a few megabytes per open document or database. Several threads share the
 * budget; statements come in no particular order then.
 *
 * @throws Fault any code of `fault.ts` under mapping, source, database, record, limit, sink and run
 */
export async function executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport> {
  const { seconds } = request.limits;
  if (seconds === 0) return mapRun(request, sink, hooks);
  const limit = new LinkedAbort([hooks.signal], seconds * 1000);
  try {
    return await mapRun(request, sink, { ...hooks, signal: limit.signal });
  } catch (error) {
    throw limit.timedOut ? secondsFault(seconds) : error;
  } finally {
    limit.release();
  }
}

async function mapRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport> {
  const started = performance.now();
  const { slice } = request;
  const prepared = await prepareInTime(request, hooks, slice?.snapshots);
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
    const results =
      threads === undefined
        ? [await executeScans(request, withKeys(prepared, keys ?? []), wanted, outputs, hooks)]
        : await threads.execute(keys === undefined ? look : async () => keys, outputs);
    const sum = (of: (result: ScansResult) => number): number => results.reduce((total, result) => total + of(result), 0);
    const targets = prepared.plan.targets.map(
      ({ id, path, origin }, i): TargetReport => ({
        id,
        path,
        origin: formatOrigin(origin),
        quads: sum(({ statements }) => statements[i + 1] as number),
      }),
    );
    const flaws = results.flatMap((result) => result.flaws ?? []);
    const counts = { records: sum((result) => result.records), quads: sum((result) => result.quads) };
    // The limits of the run apply to each thread.
    checkCounts(request.limits, counts);
    const joins = mergeJoins(results.flatMap((result) => result.joins ?? []));
    return {
      ...counts,
      rejected: sum((result) => result.rejected),
      bytesRead: sum((result) => result.bytesRead),
      bytesWritten: outputs.bytes,
      bytesSpilled: sum((result) => result.bytesSpilled ?? 0),
      seconds: (performance.now() - started) / 1000,
      triplesMaps: mergeMaps(results.flatMap((result) => result.triplesMaps)),
      ...joinsIn(slice === undefined ? incompleteJoins(joins) : joins),
      ...(targets.length === 0 ? {} : { targets }),
      warnings:
        slice === undefined
          ? countRepeated([
              ...prepared.warnings,
              ...results.flatMap((result) => result.warnings),
              ...joinWarnings(joins),
              ...flawWarnings(flaws),
            ])
          : // Other slices may have other rows, and find the same.
            [...prepared.warnings, ...results.flatMap((result) => result.warnings)],
      ...(request.firstRecords === undefined ? {} : { cut: [...new Set(results.flatMap((result) => result.cut ?? []))] }),
      ...(flaws.length === 0 ? {} : { flaws: mergeFlaws(flaws) }),
      unmatched: results.find((result) => result.unmatched !== undefined)?.unmatched,
      mappings: prepared.documents,
    };
  } finally {
    await threads?.end();
    await prepared.close();
  }
}

const joinsIn = (joins: readonly JoinReport[]): Pick<RunReport, 'joins'> => (joins.length === 0 ? {} : { joins });

/** undefined: this thread executes the run. */
async function threadsOf(request: RunRequest, prepared: PreparedRun, hooks: RunHooks): Promise<RunThreads | undefined> {
  const { slice, firstRecords, rowsPerPart } = request;
  const threads = threadsFor(request, prepared.tableBytes);
  // What these ask for depends on the order of records.
  const isOrdered = [firstRecords, rowsPerPart, hooks.row, hooks.subject].some((one) => one !== undefined);
  return slice === undefined && threads > 1 && !isOrdered ? startThreads({ ...request, threads }, prepared, hooks) : undefined;
}

/** Each thread holds the tables in which functions look values up: there are as many threads as have room for them in a quarter of the memory. */
const threadsFor = ({ threads, memoryBudgetBytes }: RunRequest, tableBytes: number): number =>
  tableBytes === 0 ? threads : Math.max(1, Math.min(threads, Math.floor((memoryBudgetBytes * TABLE_SHARE) / tableBytes)));
