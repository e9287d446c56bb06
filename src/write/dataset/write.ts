/** A write of a dataset: the versions that a store lacks, in order. The one way in for the command line, the workers and the tests. */
import { Fault } from '../../core/fault.ts';
import { openTarget } from '../../targets/open.ts';
import type { DatasetPosition, GraphTarget, VersionTarget } from '../../targets/target.ts';
import { withWriteRun } from '../carry-out.ts';
import { tripleSupportOf } from '../inputs.ts';
import type { WriteHooks } from '../request.ts';
import type { WriteRun } from '../run.ts';
import { type DatasetWriteReport, type DatasetWriteRequest, graphTerm } from './request.ts';
import { differences } from './resync.ts';
import { type Sending, sendVersion } from './send.ts';
import { VersionStatements } from './statements.ts';
import { stepsFrom } from './steps.ts';

/**
 * Writes the versions of a dataset that the target does not have.
 *
 * A version is complete in the store when its position is. After an interruption the version that was being written is sent again, from
 * `request.resume` on if it is given.
 *
 * Memory: `memoryBudgetBytes`, and the batches that are under way.
 *
 * @throws Fault request/invalid — the target keeps no versions; request/conflict — see `stepsFrom`; those of `executeWrite`
 */
export async function executeDatasetWrite(request: DatasetWriteRequest, hooks: WriteHooks): Promise<DatasetWriteReport> {
  const target = await openTarget(request.target);
  try {
    return await writeDatasetTo(target, request, hooks);
  } finally {
    await target.close();
  }
}

/** As `executeDatasetWrite`, to a target that the caller closes. */
export async function writeDatasetTo(
  target: GraphTarget,
  request: Omit<DatasetWriteRequest, 'target'>,
  hooks: WriteHooks,
): Promise<DatasetWriteReport> {
  const { versions } = target;
  if (versions === undefined)
    throw new Fault('request/invalid', `${target.describe()} cannot keep versions of datasets`, { hint: 'Write its exported graph' });
  const { description, current } = request.dataset;
  const { skolemBase, memoryBudgetBytes, resume } = request;
  const form = `graph ${request.graph ?? 'default'}, blank nodes ${skolemBase}`;
  // Of what the order of the statements depends on.
  const version = JSON.stringify([target.describe(), description.id, form, memoryBudgetBytes]);
  let previousVersion = 0;
  const report = await withWriteRun(
    target,
    request,
    hooks,
    async () => ({ inputs: [], version }),
    async (run) => {
      previousVersion = await carryOut(run, versions, request, form);
    },
  );
  const quadsWritten = report.statements - report.rejected + (resume?.version === version ? resume.rejected : 0);
  return { ...report, quadsWritten, dataset: description.name, version: current, previousVersion };
}

/** @returns the version that the store had */
async function carryOut(
  run: WriteRun,
  versions: VersionTarget,
  request: Omit<DatasetWriteRequest, 'target'>,
  form: string,
): Promise<number> {
  const { target, retryPolicy, counts } = run;
  const { dataset, resync } = request;
  const sending: Sending = { run, versions, dataset: dataset.description };
  const statements = new VersionStatements(request, {
    triples: tripleSupportOf(target),
    graph: graphTerm(request.graph),
    reject(rejected) {
      counts.statements++;
      run.reject(rejected);
    },
  });
  const positions = (await retryPolicy.attempt((signal) => versions.positions(signal))) ?? [];
  const own = positions.find(({ id }) => id === dataset.description.id);
  const previous = own?.complete === true ? own.version : 0;
  const at = (version: number, complete = true): DatasetPosition => ({ version, complete, form });
  if (resync !== undefined) {
    await retryPolicy.attempt((signal) => target.prepare(signal));
    const changed = differences(request, resync, statements, versions, positions, target.describe(), run.signal);
    await sendVersion(sending, { statements: changed, whole: false, opening: undefined, position: at(dataset.current), done: 0 });
    return previous;
  }
  const { graph, changes } = await stepsFrom(positions, dataset, form);
  if (graph === undefined && changes.length === 0) return previous;
  await retryPolicy.attempt((signal) => target.prepare(signal));
  // Of an earlier attempt that this store has seen.
  const doneOf = (version: number): number => (own !== undefined && run.resume?.input === version ? run.resume.done : 0);
  if (graph !== undefined) {
    const opening = own === undefined ? at(graph, false) : undefined;
    await sendVersion(sending, { statements: statements.graph(graph), whole: false, opening, position: at(graph), done: doneOf(graph) });
  }
  for (const version of changes) {
    const changed = versions.takesKept ? statements.changesBySubject(version) : statements.changes(version);
    const sent = { statements: changed, whole: versions.takesKept, opening: undefined, position: at(version), done: doneOf(version) };
    await sendVersion(sending, versions.takesKept ? { ...sent, done: 0 } : sent);
  }
  return previous;
}
