/** Executes some scans of a plan in this thread. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { h1, hash } from '../../core/hash.ts';
import { redact } from '../../core/redact.ts';
import type { Scan as ScanOperator } from '../../plan/algebra.ts';
import { uniqueRules } from '../../plan/physical/keys.ts';
import { isReified, type ScanPlan } from '../../plan/plan.ts';
import type { OpenedScan } from '../../sources/source.ts';
import { MemoryBudget } from '../../spill/budget.ts';
import { HashSet } from '../../spill/key-table.ts';
import { Multimap } from '../../spill/multimap.ts';
import { SpillSpace, spillName } from '../../spill/space.ts';
import { type OutputPattern, writerOf } from '../compile/output.ts';
import type { RunState } from '../compile/program.ts';
import type { Databases } from '../databases/databases.ts';
import { SubjectTable } from '../distinct/distinct.ts';
import { Occurrences } from '../distinct/occurrences.ts';
import { LineSpill, type RuleWriter, SubjectSpill } from '../distinct/spill.ts';
import { KeySet } from '../nodes/check/key-set.ts';
import type { CheckState } from '../nodes/check/row-check.ts';
import { CollectProgram, type CollectState } from '../nodes/gather/gather.ts';
import { Numbering } from '../nodes/gather/numbering.ts';
import { ReifiedLines } from '../nodes/reify.ts';
import { Rejections } from '../nodes/rejections.ts';
import type { DocumentPlace } from '../prepare/documents/inputs.ts';
import { openFileScan, openTopicScan } from '../prepare/documents/open-scan.ts';
import { labelsOfScan } from '../prepare/labels.ts';
import type { PreparedRun } from '../prepare/open.ts';
import { reportsOf } from '../report.ts';
import type { ByteSlice, KeyRange, RunHooks, RunReport, RunRequest, SliceScan } from '../request.ts';
import { Execution } from './execute.ts';
import { openTexts, type StatementSink } from './outputs.ts';
import { FirstRecords, withDeadline } from './preview.ts';
import { Writer } from './writer.ts';

const NEVER = new AbortController().signal;

export type ScansResult = Pick<
  RunReport,
  'records' | 'quads' | 'rejected' | 'bytesRead' | 'bytesSpilled' | 'triplesMaps' | 'joins' | 'warnings' | 'cut' | 'unmatched' | 'flaws'
> & {
  /** Statements by output. */
  readonly statements: readonly number[];
};

/** The same one for each run that has the same labels. */
function labelSeed(labels: string): number {
  hash(labels, 0);
  return h1;
}

/** What scans have in common with those that other threads, or this one before, execute. */
export interface Shared {
  readonly budget: MemoryBudget;
  /** Tables of all threads that execute scans of a group. */
  readonly tables?: SharedTables | undefined;
  /** Join indexes that are filled before. */
  readonly joins?: Pick<RunState, 'joinIndexes'> | undefined;
}

export interface SharedTables extends Pick<RunState, 'seed' | 'overlapping' | 'openSubjects' | 'openStatements'> {
  /** Where undecided statements go, which may wait for the next flush of `space`. */
  undecided(space: SpillSpace): Pick<RunState, 'undecided' | 'undecidedRule' | 'undecidedSubject'>;
}

/**
 * @param wanted scans of the plan, ascending: whole groups, or a slice
 * @param shared undefined: nothing
 */
export async function executeScans(
  request: RunRequest,
  prepared: Pick<PreparedRun, 'plan' | 'physical' | 'places' | 'databases' | 'functions' | 'labels'>,
  wanted: readonly SliceScan[],
  sink: StatementSink,
  hooks: RunHooks,
  shared?: Shared,
): Promise<ScansResult> {
  const { plan, physical, places, databases, functions, labels } = prepared;
  const budget = shared?.budget ?? new MemoryBudget(request.memoryBudgetBytes);
  const seed = shared?.tables?.seed ?? randomInt(2 ** 31);
  const space = new SpillSpace(
    join(request.spillDirectory, spillName(request.runId, `${request.slice?.index ?? 0}-${wanted[0]?.position ?? 0}-${threadId}`)),
  );
  const lines = new LineSpill(space, seed ^ 0x3c6ef372);
  const subjects = new SubjectSpill(space, seed ^ 0x2545f491);
  const writers: RuleWriter[] = [];
  const { undecided, ...tables }: Partial<SharedTables> = shared?.tables ?? {};
  const openMultimap = () => new Multimap(budget, space, seed ^ 0x1b873593);
  const of = { distinct: request.distinct, seed, budget, subject: hooks.subject, trace: hooks.trace };
  const reified = isReified(plan) ? new ReifiedLines(of, space) : undefined;
  const unique = uniqueRules(physical);
  const state: CheckState = {
    ...of,
    isUnique: ({ index }, rule) => unique.get(index)?.has(rule) === true,
    functions,
    occurrencesOf: request.dataset === undefined ? undefined : occurrencesIn(budget),
    datatypeCheck: request.datatypeCheck,
    onError: request.onError,
    outputs: await openTexts(sink.forms, plan.targets.length, reified),
    overlapping: new HashSet(budget, seed),
    openSubjects: (_, width) => new SubjectTable(budget, seed, width),
    openStatements: () => new HashSet(budget, seed),
    joinIndexes: plan.joins.map(openMultimap),
    keys: plan.checks.map(({ kind }, index) => (kind === 'unique' ? new KeySet(budget, space, seed + index) : undefined)),
    openMultimap,
    openCollects: (map, rows, owner) => new CollectProgram(map, rows, collected, owner),
    endings: [],
    undecided: (line: string) => lines.add(line),
    undecidedRule: (rule: number, pattern: OutputPattern) => {
      writers[rule] = writerOf(pattern);
    },
    undecidedSubject: (subject: string, values: string) => subjects.add(subject, values),
    ...tables,
    ...undecided?.(space),
    ...shared?.joins,
  };
  // Lists of different outputs share no node.
  const numberings = state.outputs.map(
    ({ mark }) => new Numbering(space, budget, labels.values, labelSeed(mark + labels.values), seed ^ 0x68e31da4),
  );
  const collected: CollectState = { ...state, space, numberings };
  const first = new FirstRecords(physical, request.firstRecords);
  const writer = new Writer({ outputs: state.outputs, sink, space, limits: request.limits, hooks });
  const rejections = new Rejections(request, hooks);
  const opened = { state, first, numberings, space, subjects, writers, lines, reified, writer, rejections };
  const execution = new Execution({ ...opened, request, plan, sink, hooks, startedAt: request.startedAt ?? Date.now() });
  const limit = hooks.limit && {
    ...hooks.limit,
    onTimeout: (input: string): void => {
      execution.cut.add(input);
      hooks.limit?.onTimeout(input);
    },
  };
  try {
    for (const [i, { position, range }] of wanted.entries()) {
      const scan = plan.scans[position] as ScanPlan;
      const { source } = scan;
      const place = places[position] as DocumentPlace;
      const spill = { afterBytes: request.memoryBudgetBytes, open: () => space.text() };
      const open = (signal: AbortSignal): OpenedScan | Promise<OpenedScan> =>
        source.kind === 'file'
          ? source.request?.kind === 'topic'
            ? openTopicScan(scan, source, request, hooks.openTopic)
            : openFileScan(scan, source, place, request, signal, range as ByteSlice | undefined, spill, hooks.document?.(position))
          : (databases as Databases).openScan(scan, source, range as KeyRange | undefined, rowsOf(scan, first));
      const name = source.kind === 'file' ? redact(place.url) : 'the database';
      limit?.step?.(`reading ${name}`);
      const scanned = await (limit === undefined
        ? open(hooks.signal ?? NEVER)
        : withDeadline(open, name, wanted.length - i, limit, hooks.signal));
      await execution.scan(scan, labelsOfScan(labels, position), hooks.scan?.(position, scanned) ?? scanned);
    }
    limit?.step?.('making the joins');
    await execution.finish();
  } finally {
    await space.remove();
  }
  const { programs, warnings, cut, unmatched } = execution;
  const { records, quads, bytesRead } = writer;
  const { rejected } = rejections;
  const report = { records, quads, rejected, bytesRead, bytesSpilled: space.bytes, cut: [...cut] };
  const flaws = programs.flatMap(({ flaws: of }) => of.found());
  const statements = state.outputs.map((output) => output.statements);
  return { ...report, statements, triplesMaps: reportsOf(programs), joins: execution.joins, warnings, unmatched, flaws };
}

/** Documents of one source share a count: they have the same operator. */
function occurrencesIn(budget: MemoryBudget): (scan: ScanOperator) => Occurrences {
  const opened = new Map<ScanOperator, Occurrences>();
  return (scan) => {
    const known = opened.get(scan) ?? new Occurrences(budget);
    opened.set(scan, known);
    return known;
  };
}

/** Rows to ask a database for: one more than are read tells whether there are more. */
const rowsOf = ({ iterations }: ScanPlan, first: FirstRecords): number | undefined =>
  first.count < Number.POSITIVE_INFINITY ? Math.max(...iterations.map((iteration) => first.read(iteration))) + 1 : undefined;
