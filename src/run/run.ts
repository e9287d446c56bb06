/**
 * A run: mapping files and inputs in, statements out to a sink. The one way in for the command line, the workers and the tests.
 */
import { formatDiagnostic } from '../mapping/diagnostics.ts';
import { type Plan, planMapping } from '../plan/plan.ts';
import type { QuadSink } from '../sinks/sink.ts';
import { locateInputs } from './inputs.ts';
import { type LoadedMapping, loadMapping } from './load.ts';
import { DEFAULT_BASE, type RunHooks, type RunReport, type RunRequest } from './request.ts';
import { executeScans, type ScansResult } from './scans.ts';
import { executeInThreads } from './threads.ts';

/**
 * Carries out a run. Writes to `sink`, and leaves it to the caller to commit it when this returns or to abort it when this throws.
 *
 * Memory: `memoryBudgetBytes` for de-duplication and joins, and a few megabytes for each open document. With several threads,
 * groups of scans that have nothing to do with each other run at the same time and share the budget.
 *
 * @throws Fault of every kind that `fault.ts` lists under mapping, source, record, limit, sink and run
 */
export async function executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport> {
  const started = performance.now();
  const { plan, urls, warnings, documents } = await prepareRun(request);
  const threads = Math.min(request.threads, plan.groups.length);
  const results =
    threads > 1
      ? await executeInThreads(request, plan, threads, sink, hooks)
      : [await executeScans(request, plan, urls, plan.scans.keys(), sink, hooks)];
  const sum = (of: (result: ScansResult) => number): number => results.reduce((total, result) => total + of(result), 0);
  return {
    records: sum((result) => result.records),
    quads: sum((result) => result.quads),
    rejected: sum((result) => result.rejected),
    bytesRead: sum((result) => result.bytesRead),
    bytesWritten: sum((result) => result.bytesWritten),
    seconds: (performance.now() - started) / 1000,
    triplesMaps: results.flatMap((result) => result.triplesMaps),
    warnings: [...warnings.map(formatDiagnostic), ...results.flatMap((result) => result.warnings)],
    mappings: documents,
  };
}

/** Mapping and plan of a request, and the document of each scan. The same in every thread. */
export async function prepareRun(
  request: RunRequest,
): Promise<{ readonly plan: Plan; readonly urls: readonly string[] } & Pick<LoadedMapping, 'warnings' | 'documents'>> {
  const base = request.base ?? DEFAULT_BASE;
  const { mapping, warnings, documents } = await loadMapping(request.mappings, base, request.workingDirectory);
  const plan = planMapping(mapping, base);
  return { plan, urls: locateInputs(plan.scans, request.inputs, request.workingDirectory), warnings, documents };
}
