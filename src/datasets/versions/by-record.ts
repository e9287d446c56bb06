/** A version by the records that came and went. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../core/fault.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunRequest } from '../../run/request.ts';
import { type ChangedLines, netChanges } from '../changes.ts';
import { changesOfUnits, type UnitChanges, type UnitsRun } from '../records/changes.ts';
import { changesByRecord, type RecordChanges } from '../records/chunks/chunk-units.ts';
import type { RecordInput } from '../records/chunks/input.ts';
import { openRecords } from '../records/chunks/inputs.ts';
import { reasonAgainstAll } from '../records/reasons.ts';
import { NotByRecord, type UnitKeeper } from '../records/units.ts';
import type { DatasetReport, Finding, VersionRun } from './contract.ts';
import { changesOf, type OutputChanges } from './output-changes.ts';
import { publish } from './publish.ts';
import { type Seen, type State, StateDraft, TEMPORARY } from './state.ts';

/** What has the records of the inputs. */
export type Records = readonly RecordInput[] | UnitKeeper;

/** What statements depend on beside the records. */
export const madeBy = ({ digest, run }: Seen): string => JSON.stringify([digest, run]);

/**
 * What has the records that may be compared.
 *
 * @returns a text: why they are not compared
 * @throws Fault request/invalid — they are to be compared
 */
export async function recordsOf(
  request: RunRequest,
  { by, keeper }: Finding,
  prepared: PreparedRun,
  signal: AbortSignal | undefined,
): Promise<Records | string> {
  const { plan, physical, places } = prepared;
  const reason = by === 'output' ? 'as asked' : reasonAgainstAll(plan, physical, (scan) => places[scan]?.url, request);
  const records = reason ?? keeper ?? (await openRecords(prepared, request, signal));
  if (typeof records !== 'string' || by !== 'record') return records;
  throw new Fault('request/invalid', `The changes cannot be found by record: ${records}`, { hint: 'Leave out --changes-by' });
}

/** @param state of the newest version; undefined: it is lost, or there is no version @returns a text: why the changes are to be found by output */
export async function findByRecord(run: VersionRun, state: State | undefined, records: Records): Promise<DatasetReport | string> {
  return 'changed' in records ? findByUnits(run, records) : findByChunks(run, state, records);
}

async function findByChunks(run: VersionRun, state: State | undefined, inputs: readonly RecordInput[]): Promise<DatasetReport | string> {
  const { dataset, stateDirectory, request, seen } = run;
  const last = state?.record;
  if (state === undefined || last?.records === undefined || last.seen === undefined)
    return dataset.current === 0 ? 'it is the first version' : 'there is no state by record of the last version';
  if (!isDeepStrictEqual([seen.digest, seen.run], [last.seen.digest, last.seen.run])) return 'the mapping or an option has changed';
  const draft = new StateDraft(stateDirectory, last.seed, request.memoryBudgetBytes);
  try {
    const recordsRun = { ...unitsRun(run), inputs, seed: last.seed, directory: draft.recordsDirectory };
    let made: readonly OutputChanges[];
    let found: RecordChanges | string;
    try {
      found = await changesByRecord(recordsRun, state.recordsDirectory, last.records, run.finding.by === 'record');
      if (typeof found === 'string') return found;
      made = await write(run, found);
      await draft.keep(found.info, found.targets);
    } catch (error) {
      // A damaged state is rebuilt.
      if (error instanceof Fault && error.code === 'source/unreadable') return error.message;
      throw error;
    }
    return await publish(run, draft, made, found.report, undefined);
  } finally {
    await draft.abort();
  }
}

/** The same where units are kept elsewhere. */
async function findByUnits(run: VersionRun, keeper: UnitKeeper): Promise<DatasetReport | string> {
  const { dataset, prepared, seen } = run;
  if (dataset.current === 0) return 'it is the first version';
  const { runId } = await dataset.manifest(dataset.current);
  try {
    const { units, seed } = keeper.changed(prepared, dataset.current, runId, madeBy(seen));
    const found = await changesOfUnits({ ...unitsRun(run), seed }, units, run.finding.by === 'record');
    return typeof found === 'string' ? found : await publish(run, undefined, await write(run, found), found.report, undefined);
  } catch (error) {
    if (error instanceof NotByRecord) return error.message;
    throw error;
  }
}

function unitsRun({ stateDirectory, request, prepared, hooks, folding }: VersionRun): Omit<UnitsRun, 'seed'> {
  const { signal, progress, openTopic } = hooks;
  return {
    request,
    prepared,
    hooks: { ...(signal && { signal }), ...(progress && { progress }), ...(openTopic && { openTopic }) },
    temporary: join(stateDirectory, TEMPORARY, 'compared'),
    folding: { ...folding, signal },
  };
}

/** Writes what was found by record. */
async function write(run: VersionRun, found: UnitChanges): Promise<readonly OutputChanges[]> {
  try {
    for (const target of run.prepared.plan.targets) await run.outputs.openTarget?.(target);
    const made: OutputChanges[] = [];
    for (const [number, target] of [undefined, ...found.targets].entries()) {
      const changes = changesOf(run, target, number);
      await found.write(target, changes.sink(undefined));
      await changes.finish();
      await writeWhole(run, changes);
      made.push(changes);
    }
    return made;
  } finally {
    found.close();
  }
}

/** The whole graph of an output, of that before and its changes. */
async function writeWhole({ dataset, outputs, folding }: VersionRun, changes: OutputChanges): Promise<void> {
  const { target } = changes;
  const whole = outputs.of(target);
  if (whole === undefined) return;
  const { current } = dataset;
  const isNew = current === 0 || (target !== undefined && !(await dataset.hasTarget(target, current)));
  const all = async function* (): AsyncGenerator<ChangedLines> {
    const before = isNew ? [] : dataset.graph(current, target, { ...folding, directory: join(folding.directory, 'before') });
    for await (const lines of before) yield { kind: 'added', lines };
    yield* changes.read();
  };
  for await (const { lines } of netChanges(all(), folding)) await whole.write(lines);
}
