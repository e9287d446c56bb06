/**
 * A run: mapping files and inputs in, statements out to a sink. The one way in for the command line, the workers and the tests.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { formatDiagnostic } from '../mapping/diagnostics.ts';
import { planMapping } from '../plan/plan.ts';
import type { QuadSink } from '../sinks/sink.ts';
import { toBytes } from '../text.ts';
import { HashSet, MemoryBudget } from './distinct.ts';
import { Execution } from './execute.ts';
import { locateInputs } from './inputs.ts';
import { KeyedTexts } from './join.ts';
import { loadMapping } from './load.ts';
import { explainEmpty } from './report.ts';
import { DEFAULT_BASE, type RunHooks, type RunReport, type RunRequest } from './request.ts';
import { LineSpill, SpillSpace } from './spill.ts';

/**
 * Carries out a run. Writes to `sink`, and leaves it to the caller to commit it when this returns or to abort it when this throws.
 *
 * Memory: `memoryBudgetBytes` for de-duplication, the parents of joins, and a few megabytes for each open document.
 *
 * @throws Fault of every kind that `fault.ts` lists under mapping, source, record, limit, sink and run
 */
export async function executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport> {
  const started = performance.now();
  const base = request.base ?? DEFAULT_BASE;
  const { mapping, warnings, documents } = await loadMapping(request.mappings, base, request.workingDirectory);
  const plan = planMapping(mapping, base);
  const urls = locateInputs(plan.scans, request.inputs, request.workingDirectory);
  const budget = new MemoryBudget(request.memoryBudgetBytes);
  const seed = randomInt(2 ** 31);
  const space = new SpillSpace(join(request.spillDirectory, `quadmill-${request.runId}`));
  const spill = new LineSpill(space, seed ^ 0x3c6ef372);
  const keyedTexts = () => new KeyedTexts(budget, space, seed ^ 0x1b873593);
  const execution = new Execution(
    request,
    plan,
    {
      base: toBytes(base),
      distinct: request.distinct,
      seed,
      budget,
      shared: new HashSet(budget, seed),
      parents: plan.joins.map(keyedTexts),
      keyedTexts,
      deferred: [],
      undecided: (line) => spill.add(line),
    },
    space,
    spill,
    sink,
    hooks,
  );
  try {
    for (const [index, scan] of plan.scans.entries()) await execution.scan(scan, urls[index] as string);
    await execution.finish();
  } finally {
    await space.remove();
  }
  const programs = execution.programs;
  return {
    records: execution.records,
    quads: execution.quads,
    rejected: execution.rejected,
    bytesRead: execution.bytesRead,
    bytesWritten: execution.bytesWritten,
    seconds: (performance.now() - started) / 1000,
    triplesMaps: programs.map(explainEmpty),
    warnings: [...warnings.map(formatDiagnostic), ...execution.warnings],
    mappings: documents,
  };
}
