/** A version by all statements that a run makes. */
import { Fault } from '../../core/fault.ts';
import { uniqueRules } from '../../plan/physical/keys.ts';
import { lower } from '../../plan/physical/lower.ts';
import { mapsOf } from '../../plan/plan.ts';
import type { PreparedRun } from '../../run/prepare/open.ts';
import type { RunHooks, RunReport, RunRequest } from '../../run/request.ts';
import { executeRun } from '../../run/run.ts';
import type { QuadSink } from '../../sinks/sink.ts';
import type { Dataset } from '../dataset.ts';
import { compareGraphs } from '../graphs/compare.ts';
import { hasLosses } from '../records/changes.ts';
import { Recording } from '../records/chunks/recording.ts';
import { quotes } from '../records/reasons.ts';
import { NotByRecord } from '../records/units.ts';
import { madeBy, type Records } from './by-record.ts';
import type { DatasetReport, Statements, VersionRun } from './contract.ts';
import { changesOf, type OutputChanges } from './output-changes.ts';
import { publish } from './publish.ts';
import { graphsOf, newSeed, type State, StateDraft } from './state.ts';

interface Mapped {
  readonly report: RunReport;
  /** Of the output, and of each logical target. */
  readonly made: readonly OutputChanges[];
}

/** @param records what may be compared in later versions; a text: nothing @param reason why the changes are found by output */
export async function findByOutput(
  run: VersionRun,
  kept: State | undefined,
  records: Records | string,
  reason: string,
): Promise<DatasetReport> {
  const { dataset, stateDirectory, request, finding, prepared } = run;
  const draft = new StateDraft(stateDirectory, kept?.record.seed ?? newSeed(), request.memoryBudgetBytes);
  const recording =
    typeof records === 'string' || 'record' in records
      ? undefined
      : new Recording(prepared.plan, records, draft.recordsDirectory, draft.seed, finding.chunks);
  try {
    const keeping = keepingOf(run, records, reason);
    const hooks = keeping.hooks ?? recording?.hooks;
    const isFirst = dataset.current === 0 && (hooks === undefined || notesAll(prepared));
    const { report, made } = isFirst ? await mapFirst(run, draft, hooks) : await mapAndCompare(run, kept, draft, hooks);
    const isLossy = hasLosses(report);
    const isKept = keeping.hooks !== undefined;
    if (isLossy && isKept) finding.keeper?.forget('records were rejected, or have lost statements');
    const info = isLossy ? undefined : await recording?.finish();
    const keepsState = !isKept || isLossy;
    if (isFirst && hooks !== undefined && keepsState && info === undefined) await fillGraphs(draft, made);
    await draft.keep(info);
    return await publish(run, keepsState ? draft : undefined, made, report, keeping.reason);
  } finally {
    await recording?.abort();
    await draft.abort();
  }
}

/** Lets units be kept of what is mapped. @returns without hooks: they are not, and the reason may be another one */
function keepingOf(
  { finding, prepared, seen }: VersionRun,
  records: Records | string,
  reason: string,
): { readonly hooks?: Partial<RunHooks>; readonly reason: string } {
  if (typeof records !== 'string' && !('record' in records)) return { reason };
  let left = reason;
  try {
    if (typeof records !== 'string') return { hooks: records.record(prepared, madeBy(seen)), reason };
  } catch (error) {
    if (!(error instanceof NotByRecord)) throw error;
    left = error.message;
  }
  finding.keeper?.forget(left);
  return { reason: left };
}

/** Maps into the draft, and compares its graphs with those of the version before. Statements may be made several times: the comparison finds them. */
async function mapAndCompare(
  run: VersionRun,
  kept: State | undefined,
  draft: StateDraft,
  recording: Partial<RunHooks> | undefined,
): Promise<Mapped> {
  const { dataset, stateDirectory, folding } = run;
  const report = await map(run, run.request, (target) => draft.writer(target), run.prepared, recording);
  // The graph of a target that the mapping has no more is empty.
  for (const target of await targetsWithStatements(dataset)) draft.writer(target);
  await draft.finish();
  const hasGraphs = kept !== undefined && kept.record.records === undefined;
  const state = hasGraphs || dataset.current === 0 ? kept : await graphsOf(dataset, stateDirectory, draft.seed, folding);
  return { report, made: await compare(run, state, draft) };
}

/**
 * Maps the first version into files of what is added.
 *
 * **Claim.** They have what the version adds, each statement once. **Proof.** The graph before is empty: all statements are added. A run that is asked for
 * distinct statements writes each of them once to each of its outputs.
 */
async function mapFirst(run: VersionRun, draft: StateDraft, recording: Partial<RunHooks> | undefined): Promise<Mapped> {
  const { request, outputs, prepared } = run;
  const made: OutputChanges[] = [];
  const write = (target: string | undefined): Statements => {
    const changes = changesOf(run, target, made.length);
    const graph = draft.writer(target);
    const whole = outputs.of(target);
    made.push(changes);
    return {
      async write(lines) {
        await changes.writeAdded(lines);
        await whole?.write(lines);
        if (recording === undefined) await graph.write(lines);
      },
    };
  };
  try {
    const distinct = { ...prepared, physical: lower(prepared.plan, true) };
    const report = await map(run, { ...request, distinct: true }, write, distinct, recording);
    const { quads, targets = [] } = report;
    for (const [number, changes] of made.entries()) {
      changes.added = number === 0 ? targets.reduce((left, target) => left - target.quads, quads) : (targets[number - 1]?.quads ?? 0);
      await changes.finish();
    }
    return { report, made };
  } catch (error) {
    for (const changes of made) await changes.abort();
    throw error;
  }
}

/** @param write opens an output */
async function map(
  { hooks, outputs }: VersionRun,
  request: RunRequest,
  write: (target: string | undefined) => Statements,
  prepared: PreparedRun,
  recording: Partial<RunHooks> | undefined,
): Promise<RunReport> {
  const main = write(undefined);
  const sink: QuadSink = {
    write: (lines) => main.write(lines),
    commit: async () => [],
    abort: async () => undefined,
  };
  const openTarget: RunHooks['openTarget'] = async (target) => {
    await outputs.openTarget?.(target);
    return write(target.path);
  };
  const report = await executeRun(request, sink, { ...hooks, ...recording, openTarget }, prepared);
  if (hooks.signal?.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
  return report;
}

async function compare(run: VersionRun, state: State | undefined, draft: StateDraft): Promise<readonly OutputChanges[]> {
  const { outputs, folding, hooks } = run;
  const made: OutputChanges[] = [];
  for (const [number, target] of [undefined, ...draft.targets].entries()) {
    const before = state?.open(target);
    const after = draft.open(target);
    const changes = changesOf(run, target, number);
    const whole = outputs.of(target);
    try {
      await compareGraphs(before, after, changes.sink(whole), { ...folding, signal: hooks.signal });
      await changes.finish();
    } finally {
      before?.close();
      after.close();
    }
    made.push(changes);
  }
  return made;
}

/**
 * Whether a run that is asked for distinct statements notes what each record makes.
 *
 * **Claim.** It does where no statement is compared by subject, and nothing is joined, quoted or gathered. **Proof.** A triples map without such a comparison has no
 * table of subjects (`run/compile/program.ts`), and each record notes its subjects before its statements are looked for. With a table the records of a known
 * subject do not, and of joins, quoted triples and lists the repeated ones do not. Contents that name blank nodes, and keys that a view promises to be unique, are noted
 * row by row, before any of this.
 */
function notesAll({ plan }: PreparedRun): boolean {
  const unique = uniqueRules(lower(plan, true));
  const maps = plan.scans.flatMap(({ iterations }) => iterations.flatMap(mapsOf));
  const isCompared = maps.some(({ index, rules }) =>
    rules.some(({ distinct }, at) => distinct !== 'overlapping' && unique.get(index)?.has(at) !== true),
  );
  return !isCompared && plan.joins.length === 0 && !quotes(plan) && maps.every(({ collects }) => collects.length === 0);
}

/** The graphs of a first version, of which records were to be kept, and some cannot be. */
async function fillGraphs(draft: StateDraft, made: readonly OutputChanges[]): Promise<void> {
  for (const changes of made) for await (const { lines } of changes.read()) await draft.writer(changes.target).write(lines);
}

async function targetsWithStatements(dataset: Dataset): Promise<readonly string[]> {
  if (dataset.current === 0) return [];
  const { targets = {} } = await dataset.manifest(dataset.current);
  return Object.entries(targets).flatMap(([target, { statements }]) => (statements > 0 ? [target] : []));
}
