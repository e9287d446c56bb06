/** What the records of a scan feed: triples maps, build sides of joins, checks, and the pipelines to these. */
import { XSD } from '../../core/value.ts';
import type { Check, Project } from '../../plan/algebra.ts';
import { nameOf } from '../../plan/expressions.ts';
import type { IterationPlan, Plan } from '../../plan/plan.ts';
import type { Batch, Identity, NestedRecords, OpenedScan, TextFormat } from '../../sources/source.ts';
import type { Multimap } from '../../spill/multimap.ts';
import { compileHeads } from '../../terms/collections.ts';
import type { Accessors, ValuesOf } from '../../terms/evaluate.ts';
import { isReportedElsewhere as isMapReportedElsewhere } from '../compile/flaws.ts';
import { MapProgram } from '../compile/program.ts';
import type { JoinCount } from '../join/counts.ts';

import { type CheckState, RowCheck } from '../nodes/check/row-check.ts';
import { sortable } from '../nodes/order.ts';
import { BuildSide } from '../nodes/project.ts';
import type { RunRequest } from '../request.ts';
import { nestedIn, Pipeline, type RecordAccess } from './pipeline.ts';
import type { FirstRecords } from './preview.ts';
import { positionValue } from './steps.ts';
import type { TextFormats } from './text-formats.ts';

/** What rows feed: a triples map with the build sides of joins of which it is the parent, build sides alone, or checks alone. */
export interface Consumer {
  readonly program: MapProgram | undefined;
  readonly buildSides: readonly BuildSide[];
  /** What views promise of the rows. */
  readonly checks: readonly RowCheck[];
}

/** What the records of an iteration feed: consumers of the records as they are, and pipelines to other rows. */
export interface Consumers {
  /** The batch that they map. */
  readonly batch: { records: readonly unknown[]; first: number; identityOf: Batch['identityOf'] };
  readonly records: readonly Consumer[];
  readonly pipelines: readonly PipelineRun[];
}

export interface PipelineRun {
  readonly pipeline: Pipeline;
  readonly consumers: readonly Consumer[];
  /** See `FirstRecords.goesOn`. */
  readonly pairs: boolean;
}

/** A document or table of which the records are read. */
export interface OpenedDocument extends Pick<OpenedScan, 'name' | 'scan' | 'typed'> {
  readonly labels: Accessors['labels'];
  /** As in `Accessors`. */
  readonly part: string;
  readonly texts: TextFormats;
  /** Index, if the source has several. */
  readonly document: number | undefined;
}

export interface RunContext {
  readonly request: RunRequest;
  readonly plan: Plan;
  readonly first: FirstRecords;
  readonly state: CheckState;
  readonly startedAt: number;
}

/** Compiles what an iteration of a scan feeds. @param index of the iteration in its scan */
export function compileConsumers(
  iteration: IterationPlan,
  index: number,
  { name, scan, typed, labels, part, texts, document }: OpenedDocument,
  { request, plan: whole, first, state, startedAt }: RunContext,
): Consumers {
  const { scan: operator, namesRows, pipelines } = iteration;
  const known = new Map<string, ValuesOf>();
  const batch: Consumers['batch'] = { records: [], first: 0, identityOf: undefined };
  const identity = (position: number): string => identityText(batch.identityOf?.(position) ?? position);
  const access: RecordAccess = {
    batch,
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
      const reference = nameOf(leaf);
      const found = known.get(reference) ?? scan.accessor(index, reference);
      known.set(reference, found);
      return found;
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
    nested: (iterator, step) =>
      nestedIn(scan.nested === undefined ? undefined : { nested: (one) => scan.nested?.(index, one) as NestedRecords }, iterator, step),
    texts: ({ items }) => texts.get(items.of === 'records' ? items.formulation : undefined) as TextFormat,
  };
  const { joins, checks } = whole;
  const isChecked = (check: number): boolean => first.tells(checks[check] as Check);
  const records: Consumer[] = [];
  const others: PipelineRun[] = [];
  for (const plan of pipelines) {
    if (plan.steps.length > 0) {
      const pipeline = new Pipeline(plan, access, whole, state);
      const checks = pipeline.checks.filter((_, at) => isChecked(plan.checks[at] as number));
      others.push({
        pipeline,
        consumers: consumersOf(pipeline.programs, pipeline.buildSides, checks),
        pairs: first.goesOn(plan, iteration),
      });
      continue;
    }
    const programs = plan.maps.map((map) => new MapProgram(map, access, state));
    const sides = plan.buildSides.map(
      (join) => new BuildSide(joins[join] as Project, state.joinIndexes[join] as Multimap, access, state.datatypeCheck),
    );
    const own = plan.checks
      .filter((at) => isChecked(at))
      .map((at) => new RowCheck(checks[at] as Check, access, access.input, state.keys[at]));
    records.push(...consumersOf(programs, sides, own));
  }
  return { batch, records, pipelines: others };
}

const identityText = (identity: Identity): string => (typeof identity === 'object' ? identity.join('_') : String(identity));

/** The build side of a join belongs to the triples map that is its parent: a record that this map rejects is left out of both. */
function consumersOf(programs: readonly MapProgram[], sides: readonly BuildSide[], checks: readonly RowCheck[]): readonly Consumer[] {
  const own = programs.map(
    (program): Consumer => ({ program, buildSides: sides.filter(({ parent }) => parent === program.triplesMap), checks: [] }),
  );
  const taken = new Set(own.flatMap(({ buildSides }) => buildSides));
  const others = sides.filter((side) => !taken.has(side));
  const consumers = [...own, ...others.map((side): Consumer => ({ program: undefined, buildSides: [side], checks: [] }))];
  return checks.length === 0 ? consumers : [...consumers, { program: undefined, buildSides: [], checks }];
}

/** The triples maps among consumers. */
export const programsOf = ({ records, pipelines }: Consumers): readonly MapProgram[] =>
  [...records, ...pipelines.flatMap(({ consumers }) => consumers)].flatMap(({ program }) => program ?? []);

/** The joins of triples maps, and those that give them their rows. */
export const joinsOf = (consumers: Consumers): readonly JoinCount[] => [
  ...programsOf(consumers).flatMap(({ joins }) => joins),
  ...consumers.pipelines.flatMap(({ pipeline }) => pipeline.joins),
];

/**
 * Whether an invalid term is reported where the records of the triples map are read: not for pairs that a database has joined, nor for rows
 * that are joined for quoted triples, nor for the parents of such rows.
 */
export const isReportedElsewhere = ({ program, buildSides, checks }: Consumer): boolean =>
  program === undefined
    ? checks.length === 0 && buildSides.every(({ parent }) => parent !== undefined)
    : isMapReportedElsewhere(program.triplesMap);

/** Adds a record or row to build sides; one without a valid key for one of them adds nothing. What has very many entries is returned. */
export function addToBuildSides(buildSides: readonly BuildSide[], record: unknown, position: number): Iterable<''>[] | undefined {
  for (const side of buildSides) side.read(record, position);
  let long: Iterable<''>[] | undefined;
  for (const side of buildSides) {
    const pieces = side.keep();
    if (pieces !== undefined) (long ??= []).push(pieces);
  }
  return long;
}
