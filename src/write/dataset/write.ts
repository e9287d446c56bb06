/** A write of a dataset: the versions that a store lacks, in order. The one way in for the command line, the workers and the tests. */
import { Fault } from '../../core/fault.ts';
import { openTarget } from '../../targets/open.ts';
import { type DatasetPosition, type GraphTarget, NO_POSITION, type VersionTarget } from '../../targets/target.ts';
import { withWriteRun } from '../carry-out.ts';
import { tripleSupportOf } from '../inputs.ts';
import type { WriteHooks } from '../request.ts';
import type { WriteRun } from '../run.ts';
import { type DatasetWriteReport, type DatasetWriteRequest, graphTerm } from './request.ts';
import { differences, everything, type Resync, sharedDifferences } from './resync.ts';
import { type Sending, type StoredBefore, sendVersion } from './send.ts';
import { VersionStatements } from './statements.ts';
import { type StoredPosition, stepsFrom } from './steps.ts';

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
  const { skolemBase, memoryBudgetBytes, resume, shared = false } = request;
  if (shared && versions.shared === undefined)
    throw new Fault('request/invalid', `${target.describe()} cannot share statements between datasets`, {
      hint: 'Leave out --shared (SHARE_STATEMENTS)',
    });
  const form = `graph ${request.graph ?? 'default'}, blank nodes ${skolemBase}${shared ? SHARED : ''}`;
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

/** At the end of the form of a dataset that shares. */
const SHARED = ', shared';

/** @returns the version that the store had */
async function carryOut(
  run: WriteRun,
  versions: VersionTarget,
  request: Omit<DatasetWriteRequest, 'target'>,
  form: string,
): Promise<number> {
  const { target, retryPolicy, counts } = run;
  const { dataset, resync } = request;
  const isShared = request.shared === true;
  const sending: Sending = { run, versions, dataset: dataset.description, isShared };
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
  const prepare = async (): Promise<void> => {
    await retryPolicy.attempt((signal) => target.prepare(signal));
    if (isShared) await retryPolicy.attempt(async (signal) => versions.shared?.prepare(signal));
  };
  let from: StoredBefore = own ?? NO_POSITION;
  if (resync !== undefined) {
    await prepare();
    const graphs = await statements.graphNames();
    await sendEqual(sending, { run, request, compare: resync, versions, statements, graphs }, positions, from, at(dataset.current));
    await confirm(sending, at(dataset.current));
    return previous;
  }
  const { graph, changes } = await stepsFrom(positions, dataset, form);
  if (graph === undefined && changes.length === 0) return previous;
  await prepare();
  // Of an earlier attempt that this store has seen.
  const doneOf = (version: number): number => (own !== undefined && run.resume?.input === version ? run.resume.done : 0);
  if (graph !== undefined) {
    const opening = own === undefined ? at(graph, false) : undefined;
    await sendVersion(sending, {
      statements: statements.graph(graph),
      whole: false,
      from,
      opening,
      position: at(graph),
      done: doneOf(graph),
    });
    from = at(graph);
  }
  // What the store keeps of shared statements has those that stay.
  const whole = versions.takesKept && !isShared;
  for (const version of changes) {
    const changed = whole ? statements.changesBySubject(version) : statements.changes(version);
    await sendVersion(sending, {
      statements: changed,
      whole,
      from,
      opening: undefined,
      position: at(version),
      done: whole ? 0 : doneOf(version),
    });
    from = at(version);
  }
  await confirm(sending, at(dataset.current));
  return previous;
}

/**
 * Checks that the store has the position. It has not where another write has stored one meanwhile, or where it does not find the positions that changes
 * depend on: then changes were without effect.
 *
 * @throws Fault request/conflict
 */
async function confirm({ run, versions, dataset }: Sending, position: DatasetPosition): Promise<void> {
  const positions = (await run.retryPolicy.attempt((signal) => versions.positions(signal))) ?? [];
  const found = positions.find(({ id }) => id === dataset.id);
  if (found !== undefined && isEqual(found, position)) return;
  const has = found === undefined ? 'nothing of it' : `${found.complete ? '' : 'a part of '}version ${found.version}`;
  throw new Fault(
    'request/conflict',
    `Version ${position.version} of the dataset ${dataset.name} was written, and ${run.target.describe()} has ${has}`,
    {
      hint: 'Another write of the dataset may have been at work: run one at a time, and write again',
    },
  );
}

/** Makes what the store has of the dataset equal to the newest version. */
async function sendEqual(
  sending: Sending,
  resync: Resync,
  positions: readonly StoredPosition[],
  from: StoredBefore,
  position: DatasetPosition,
): Promise<void> {
  const { versions, dataset, isShared, run } = sending;
  const { shared, elements } = versions;
  const sent = { from, opening: undefined, position, done: 0, whole: false };
  if (isShared && from !== NO_POSITION && !from.form.endsWith(SHARED) && !isEqual({ ...from, form: `${from.form}${SHARED}` }, position))
    throw new Fault('request/conflict', `The target has the dataset ${dataset.name} in another form: ${from.form}`, {
      hint: 'Write its newest version in that form first: then it is known what the target has',
    });
  // Another dataset of this name, or this one, may have shared what it does not share from here on.
  for (const one of positions)
    if (shared !== undefined && one.form.endsWith(SHARED) && (one.id === dataset.id ? !isShared : one.name === dataset.name)) {
      const { id, name, ...was } = one;
      await sendVersion(
        { ...sending, dataset: { id, name }, isShared: true },
        { ...sent, statements: everything(shared, one, run.signal), from: was, position: was },
      );
    }
  if (isShared && shared !== undefined) await sendVersion(sending, { ...sent, statements: sharedDifferences(resync, shared) });
  else if (elements === undefined) await sendVersion(sending, { ...sent, statements: differences(resync, positions) });
  else await sendVersion(sending, { ...sent, statements: differences(resync, positions), whole: true, within: resync.graphs });
}

const isEqual = (one: DatasetPosition, other: DatasetPosition): boolean =>
  one.version === other.version && one.complete === other.complete && one.form === other.form;
