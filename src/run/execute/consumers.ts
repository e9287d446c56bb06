/** What the records of a scan feed: triples maps, build sides of joins, checks, and the pipelines to these. */
import { TypedValue, type Values, XSD } from '../../core/value.ts';
import type { Check, Project } from '../../plan/algebra.ts';
import { nameOf } from '../../plan/expressions.ts';
import type { IterationPlan, PipelinePlan, Plan } from '../../plan/plan.ts';
import type { Identity, OpenedScan, TextFormat } from '../../sources/source.ts';
import type { Multimap } from '../../spill/multimap.ts';
import { compileHeads } from '../../terms/collections.ts';
import type { Accessors, ValuesOf } from '../../terms/evaluate.ts';
import { MapProgram } from '../compile/program.ts';
import type { Occurrences } from '../distinct/occurrences.ts';
import type { JoinCount } from '../join/counts.ts';
import { type CheckState, RowCheck } from '../nodes/check/row-check.ts';
import { Consumer, type ConsumerContext, type Feeds } from '../nodes/consumer.ts';
import { Pipeline } from '../nodes/pipeline.ts';
import { BuildSide } from '../nodes/project.ts';
import type { Reading, Rejections } from '../nodes/rejections.ts';
import { positionValue, type RecordAccess, sortable } from '../nodes/rows.ts';
import type { RunHooks, RunRequest } from '../request.ts';
import type { FirstRecords } from './preview.ts';
import type { TextFormats } from './text-formats.ts';
import type { Writer } from './writer.ts';

/** What the records of an iteration feed: consumers of the records as they are, and pipelines to other rows. */
export interface Consumers {
  readonly reading: Reading;
  readonly records: readonly Consumer[];
  readonly pipelines: readonly Pipeline[];
}

/** A document or table of which the records are read. */
export interface OpenedDocument extends Pick<OpenedScan, 'name' | 'scan' | 'typed' | 'recordsFrom'> {
  readonly labels: Accessors['labels'];
  /** As in `Accessors`. */
  readonly part: string;
  readonly texts: TextFormats;
  /** Index, if the source has several. */
  readonly document: number | undefined;
}

/** What the scans of a run have in common. */
export interface RunContext {
  readonly request: RunRequest;
  readonly plan: Plan;
  readonly first: FirstRecords;
  readonly state: CheckState;
  readonly startedAt: number;
  readonly hooks: RunHooks;
  readonly rejections: Rejections;
  readonly writer: Writer;
}

/** Compiles what an iteration of a scan feeds. @param index of the iteration in its scan */
export function compileConsumers(
  iteration: IterationPlan,
  index: number,
  { name, scan, typed, recordsFrom, labels, part, texts, document }: OpenedDocument,
  { request, plan: whole, first, state, startedAt, hooks, rejections, writer }: RunContext,
): Consumers {
  const { scan: operator, namesRows, pipelines } = iteration;
  const known = new Map<string, ValuesOf>();
  const reading: Reading = {
    input: name,
    recordsFrom,
    cellOf: (record, reference) => scan.cellOf?.(record, reference),
    records: [],
    first: 0,
    lineOf: undefined,
    identityOf: undefined,
    page: undefined,
    position: undefined,
  };
  const accessorOf = (reference: string): ValuesOf => {
    const found = known.get(reference) ?? scan.accessor(index, reference);
    known.set(reference, found);
    return found;
  };
  const occurrences = namesRows ? state.occurrencesOf?.(operator) : undefined;
  const place = (position: number): string => identityText(reading.identityOf?.(position) ?? position);
  const named = hooks.trace && ((content: string, isRepeated: boolean) => hooks.trace?.named(operator, content, isRepeated));
  const identity = occurrences === undefined ? place : identityByContent(occurrences, iteration, reading, accessorOf, place, named);
  const access: RecordAccess = {
    batch: reading,
    identity: namesRows ? identity : undefined,
    functions: state.functions,
    scan: operator,
    input: name,
    accessor: (leaf) => {
      if (leaf.kind === 'cell') {
        if (leaf.column === operator.identity) return (_, position) => identity(position);
        if (leaf.column !== operator.index) throw new Error(`a record has no column ${leaf.column.name}`);
        return (_, position) => positionValue(position);
      }
      return accessorOf(nameOf(leaf));
    },
    encoded: (column) => {
      throw new Error(`a record has no column ${column.name}`);
    },
    typed,
    // A cell is the position of the record.
    datatype: (leaf) => (leaf.kind === 'read' ? scan.datatype?.(index, nameOf(leaf)) : `${XSD}integer`),
    labels,
    part,
    areRecords: true,
    order: (position) => `${document === undefined ? '' : `${sortable(document)}.`}${sortable(position)}`,
    heads: (collection) => compileHeads(collection, access),
    run: request.runId,
    startedAt,
    nested: (iterator) => scan.nested?.(index, iterator),
    texts: ({ items }) => texts.get(items.of === 'records' ? items.formulation : undefined) as TextFormat,
  };
  const { joins, checks } = whole;
  const context: ConsumerContext = {
    reading,
    rejections,
    firstRecords: first.count,
    outputs: state.outputs,
    observe: hooks.row,
    trace: hooks.trace,
  };
  const consumersOf = ({ maps, buildSides, checks: own }: PipelinePlan, rows: Accessors, areRecords: boolean): readonly Consumer[] => {
    const programs = maps.map((map) => new MapProgram(map, rows, state));
    const sides = buildSides.map((join) => new BuildSide(joins[join] as Project, state.joinIndexes[join] as Multimap, rows, state));
    const told = own.filter((at) => first.tells(checks[at] as Check));
    const rowChecks = told.map((at) => new RowCheck(checks[at] as Check, rows, name, state.keys[at], state.trace));
    return feedsOf(programs, sides, rowChecks).map((feeds) => new Consumer(feeds, context, areRecords));
  };
  const isDue = (): boolean => {
    writer.cut();
    return writer.isDue;
  };
  const ofRecords = pipelines.flatMap((plan) => (plan.steps.length > 0 ? [] : consumersOf(plan, access, true)));
  const ofRows = pipelines.flatMap((plan) => {
    if (plan.steps.length === 0) return [];
    const count = first.goesOn(plan, iteration) ? Number.POSITIVE_INFINITY : first.count;
    return new Pipeline(plan, count, access, whole, state, (rows) => consumersOf(plan, rows, false), isDue);
  });
  return { reading, records: ofRecords, pipelines: ofRows };
}

/**
 * The identity of a row by what the plan reads of it, and its number among the rows of which that is equal. A table with a key names its rows by
 * that. Each row is asked for once: a batch keeps the identities of its rows.
 *
 * @param place the identity by key or position
 */
function identityByContent(
  occurrences: Occurrences,
  { scan: { source }, references }: IterationPlan,
  reading: Reading,
  accessorOf: (reference: string) => ValuesOf,
  place: (position: number) => string,
  named: Parameters<Occurrences['identityOf']>[1],
): (position: number) => string {
  let records: readonly unknown[] | undefined;
  let identities: (string | undefined)[] = [];
  let accessors: readonly ValuesOf[] | undefined;
  return (position) => {
    if (source.kind !== 'file' && reading.identityOf !== undefined) return place(position);
    if (reading.records !== records) {
      records = reading.records;
      identities = new Array(records.length).fill(undefined);
    }
    const at = position - reading.first;
    const found = identities[at];
    if (found !== undefined) return found;
    accessors ??= references.map(accessorOf);
    const content = accessors.map((read) => contentOf(read(reading.records[at], position))).join('');
    const identity = occurrences.identityOf(content, named);
    identities[at] = identity;
    return identity;
  };
}

/** Different values have different texts, and none is the beginning of another one. */
function contentOf(values: Values): string {
  if (values === null) return '-';
  if (typeof values === 'string') return `${values.length}:${values}`;
  if (values instanceof TypedValue) return `t${contentOf(values.written)}${contentOf(values.datatype)}`;
  return `[${values.length}:${values.map(contentOf).join('')}`;
}

const identityText = (identity: Identity): string => (typeof identity === 'object' ? identity.join('_') : String(identity));

/** The build side of a join belongs to the triples map that is its parent: a record that this map rejects is left out of both. */
function feedsOf(programs: readonly MapProgram[], sides: readonly BuildSide[], checks: readonly RowCheck[]): readonly Feeds[] {
  const own = programs.map((program) => ({ program, buildSides: sides.filter(({ parent }) => parent === program.triplesMap) }));
  const taken = new Set(own.flatMap(({ buildSides }) => buildSides));
  const others = sides.filter((side) => !taken.has(side)).map((side) => ({ buildSides: [side] }));
  return [...own, ...others, ...(checks.length === 0 ? [] : [{ checks }])];
}

/** The triples maps among consumers. */
export const programsOf = ({ records, pipelines }: Consumers): readonly MapProgram[] =>
  [...records, ...pipelines.flatMap(({ consumers }) => consumers)].flatMap(({ program }) => program ?? []);

/** The joins of triples maps, and those that give them their rows. */
export const joinsOf = (consumers: Consumers): readonly JoinCount[] => [
  ...programsOf(consumers).flatMap(({ joins }) => joins),
  ...consumers.pipelines.flatMap(({ joins }) => joins),
];
