/**
 * From the records of a scan to rows, one row at a time, by the steps of `steps.ts`.
 *
 * A row is one array that is reused for all rows of the pipeline. Whoever keeps a row packs it.
 */
import { Fault } from '../../core/fault.ts';
import type { Value } from '../../core/value.ts';
import { formatOrigin } from '../../mapping/model/model.ts';
import type { Check, Column, Project, Scan as ScanOperator, Unnest } from '../../plan/algebra.ts';
import { isTerm, type Leaf, leavesOf, leavesOfTerm, nameOf } from '../../plan/expressions.ts';
import { leavesOfMap, type PipelinePlan, type Plan, type StepPlan } from '../../plan/plan.ts';
import type { NestedRecords, TextFormat } from '../../sources/source.ts';
import type { Multimap } from '../../spill/multimap.ts';
import { compileHeads } from '../../terms/collections.ts';
import { compileWhole } from '../../terms/encode.ts';
import { type Accessors, compileValues, type Text } from '../../terms/evaluate.ts';
import { checked } from '../compile/flaws.ts';
import { MapProgram } from '../compile/program.ts';
import { JoinCount } from '../join/counts.ts';
import type { PairingMemory } from '../join/join.ts';
import type { Cell } from '../join/packed-row.ts';
import { type CheckState, RowCheck } from '../nodes/check/row-check.ts';
import { sortable } from '../nodes/order.ts';
import { BuildSide } from '../nodes/project.ts';
import {
  cellOf,
  extend,
  IDENTITY,
  JoinStep,
  numbering,
  type Place,
  POSITION,
  RECORD,
  type Row,
  type Step,
  unnest,
  valuesIn,
} from './steps.ts';
import { reads, type Unmatched } from './unmatched.ts';

/** Access to the records that a pipeline begins with. */
export interface RecordAccess extends Accessors {
  /** Name of the document, for faults. */
  readonly input: string;
  readonly scan: ScanOperator;
  /** Of the record at a position of the batch that is mapped; undefined: nothing reads it. */
  readonly identity: ((position: number) => string) | undefined;
  /** @throws Fault mapping/invalid — the format has no nested records */
  nested(iterator: string, step: Unnest): NestedRecords;
  texts(step: Unnest): TextFormat;
}

export class Pipeline {
  readonly programs: readonly MapProgram[];
  readonly buildSides: readonly BuildSide[];
  readonly checks: readonly RowCheck[];
  /** Of the joins among its steps; none where the rows are checked alone, since checks say what they miss. */
  readonly joins: JoinCount[] = [];
  readonly #slots = new Map<Column, number>();
  readonly #watches: (() => readonly Unmatched[])[] = [];
  /** By the column of items and a reference: where the mapping has it. */
  readonly #places = new Map<string, string>();
  /** By the column of items: the iterators that lead to them from the record. */
  readonly #within = new Map<Column, readonly string[]>();
  readonly #steps: readonly Step[];
  readonly #row: Row;
  readonly #state: CheckState;
  readonly #identity: RecordAccess['identity'];
  readonly #place: Place = { text: '' };
  #serial = 0;

  constructor(plan: PipelinePlan, records: RecordAccess, { joins: projects, checks }: Pick<Plan, 'joins' | 'checks'>, state: CheckState) {
    this.#state = state;
    this.#slots.set(records.scan.index, POSITION);
    this.#slots.set(records.scan.identity, IDENTITY);
    this.#identity = records.identity;
    for (const step of plan.steps)
      for (const column of columnsOf(step)) if (!this.#slots.has(column)) this.#slots.set(column, this.#slots.size + 1);
    this.#row = new Array(this.#slots.size + 1).fill(null);
    const nested = new Map<Column, NestedRecords>();
    const rows = this.#accessors(records, nested);
    // Terms that are made before a join are counted by the triples maps to which they belong.
    const owners = [...plan.maps.map(({ map }) => map), ...plan.buildSides.flatMap((join) => projects[join]?.map ?? [])];
    const check = owners.map((map) => checked(map, state.datatypeCheck)).find(({ illTyped }) => illTyped !== undefined);
    const inSteps: Accessors = { ...rows, ...check };
    this.#steps = plan.steps.map((step, at) => this.#compile(step, plan, inSteps, records, nested, readAfter(plan, at, projects, checks)));
    const access: Accessors = this.#steps.some(({ waits }) => waits) ? { ...rows, unordered: true } : rows;
    this.programs = plan.maps.map((map) => new MapProgram(map, access, state));
    for (const program of this.programs) program.before = this.joins;
    this.buildSides = plan.buildSides.map(
      (join) => new BuildSide(projects[join] as Project, state.joinIndexes[join] as Multimap, rows, state.datatypeCheck),
    );
    this.checks = plan.checks.map((index) => new RowCheck(checks[index] as Check, rows, records.input, state.keys[index]));
  }

  /** After all records: iterators of fields that found nothing, and references of fields for which no item had a node, with their places. */
  get unmatched(): readonly Unmatched[] {
    return this.#watches.flatMap((unmatched) => unmatched());
  }

  /** Number of rows so far: the position of the next one. */
  get serial(): number {
    return this.#serial++;
  }

  /** The rows of a record: the same array each time. @throws Fault record/term — a text that is no document of its format */
  rows(record: unknown, position: number): Iterable<Row> {
    const row = this.#row;
    row[RECORD] = record;
    row[POSITION] = position;
    if (this.#identity !== undefined) row[IDENTITY] = this.#identity(position);
    return this.#from(0, row);
  }

  /** The first of its joins with rows that wait. */
  get waiting(): JoinStep | undefined {
    return this.#steps.find((step) => step instanceof JoinStep && step.probe.hasStored) as JoinStep | undefined;
  }

  /** The rows that come of the rows that wait for a join, once its right side is complete. */
  async *resume(step: JoinStep, memory: PairingMemory): AsyncIterable<Row> {
    const at = this.#steps.indexOf(step);
    const row = this.#row;
    row[RECORD] = null;
    for await (const match of step.matches(memory)) for (const _ of step.paired(row, match)) yield* this.#from(at + 1, row);
  }

  *#from(at: number, row: Row): Iterable<Row> {
    const step = this.#steps[at];
    if (step === undefined) yield row;
    else for (const _ of step.run(row)) yield* this.#from(at + 1, row);
  }

  #accessors(records: RecordAccess, nested: ReadonlyMap<Column, NestedRecords>): Accessors {
    const cell = (column: Column): ((row: unknown) => Cell) => {
      const slot = this.#slotOf(column);
      return (row) => cellOf((row as Row)[slot]);
    };
    const access: Accessors = {
      ...records,
      areRecords: false,
      typed: true,
      order: (position) => `${records.order(0)}${this.#place.text}/${sortable(position)}`,
      heads: (collection) => compileHeads(collection, access),
      accessor: (leaf) => {
        if (leaf.kind === 'cell') return cell(leaf.column);
        if (records.scan.records.includes(leaf.record)) {
          const read = records.accessor(leaf);
          return (row, position) => read((row as Row)[RECORD], position);
        }
        const slot = this.#slotOf(leaf.record);
        const read = (nested.get(leaf.record) as NestedRecords).accessor(leaf.reference);
        this.#places.set(`${leaf.record.id} ${leaf.reference}`, formatOrigin(leaf.field ?? leaf.origin));
        return (row) => {
          const node = (row as Row)[slot];
          return node === null ? null : read(node);
        };
      },
      encoded: (column) => cell(column) as (row: unknown) => Text,
      datatype: (leaf) => (leaf.kind === 'read' && records.scan.records.includes(leaf.record) ? records.datatype(leaf) : undefined),
    };
    return access;
  }

  #slotOf(column: Column): number {
    const slot = this.#slots.get(column);
    if (slot === undefined) throw new Error(`no step gives the column ${column.name}`);
    return slot;
  }

  #countOf({ operator, join }: Extract<StepPlan, { kind: 'join' }>, { maps, buildSides }: PipelinePlan): JoinCount | undefined {
    if (operator.on.length === 0 || maps.length + buildSides.length === 0) return undefined;
    const count = new JoinCount(operator, maps[0]?.map.name ?? '', this.#state.joinIndexes[join] as Multimap);
    this.joins.push(count);
    return count;
  }

  #compile(
    step: StepPlan,
    plan: PipelinePlan,
    rows: Accessors,
    records: RecordAccess,
    nested: Map<Column, NestedRecords>,
    after: readonly Leaf[],
  ): Step {
    switch (step.kind) {
      case 'unnest':
        return this.#compileUnnest(step.operator, rows, records, nested);
      case 'extend': {
        const cells = step.operator.columns.map(({ column, value }) => ({
          slot: this.#slotOf(column),
          values: isTerm(value) ? compileWhole(value, rows) : compileValues(value, rows),
        }));
        return { run: (row) => extend(row, cells) };
      }
      case 'number':
        return numbering(this.#slotOf(step.operator.column));
      case 'join': {
        const kept = [...new Set(after.flatMap((leaf) => (leaf.kind === 'cell' ? [leaf.column] : [])))];
        const given = new Set(columnsOf(step));
        const lost = after.find((leaf) => leaf.kind === 'read');
        if (lost !== undefined) throw new Error(`a join does not keep ${lost.kind === 'read' ? nameOf(lost) : ''}`);
        const left = kept.filter((column) => !given.has(column)).map((column) => this.#slotOf(column));
        return new JoinStep(step, left, (column) => this.#slotOf(column), rows, this.#state, this.#place, this.#countOf(step, plan));
      }
    }
  }

  /** The same, and notes whether anything is ever found. @param within the iterators that lead to the items; undefined: items of a text */
  #watched(
    records: NestedRecords,
    expression: string,
    { item, origin }: Pick<Unnest, 'item' | 'origin'>,
    within: readonly string[] | undefined,
  ): NestedRecords {
    const mapping = formatOrigin(origin);
    let state: 'unread' | 'empty' | 'found' = 'unread';
    this.#watches.push(() => {
      if (state === 'unread') return [];
      if (state === 'empty') return [{ expression, mapping, within: within?.slice(0, -1) }];
      // Pipelines share the records: each reports what it reads itself.
      const ofItem = `${item.id} `;
      const places = [...this.#places].filter(([key]) => key.startsWith(ofItem));
      return records.unmatched().flatMap((reference) => {
        const read = places.filter(([key]) => reads(key.slice(ofItem.length), reference));
        return read.map(([, mapping]) => ({ expression: reference, mapping, within }));
      });
    });
    return {
      accessor: (reference) => records.accessor(reference),
      ...(records.nested === undefined ? {} : { nested: (iterator: string) => nestedIn(records, iterator, { origin }) }),
      unmatched: () => records.unmatched(),
      items: (node) => {
        const items = records.items(node);
        if (items.length > 0) state = 'found';
        else if (state === 'unread') state = 'empty';
        return items;
      },
    };
  }

  #compileUnnest(
    { item, index, items, ...rest }: Unnest,
    rows: Accessors,
    records: RecordAccess,
    nested: Map<Column, NestedRecords>,
  ): Step {
    const [itemSlot, indexSlot] = [this.#slotOf(item), this.#slotOf(index)];
    if (items.of === 'values') {
      const values = compileValues(items.expression, rows);
      return { run: (row) => unnest(row, valuesIn(values(row, 0)), itemSlot, indexSlot) };
    }
    const step: Unnest = { item, index, items, ...rest };
    const { within, formulation, iterator } = items;
    if (formulation !== undefined) {
      const slot = this.#slotOf(within);
      const found = this.#watched(records.texts(step).records(iterator, within.name), iterator ?? within.name, step, undefined);
      nested.set(item, found);
      const mapping = formatOrigin(step.origin);
      const itemsOf = (text: Value): readonly unknown[] => {
        try {
          return found.items(text);
        } catch (error) {
          throw error instanceof Fault ? error.with({ place: { mapping, ...error.place } }) : error;
        }
      };
      return { run: (row) => unnest(row, valuesIn(cellOf(row[slot])).flatMap(itemsOf), itemSlot, indexSlot) };
    }
    const isRecord = records.scan.records.includes(within);
    const slot = isRecord ? RECORD : this.#slotOf(within);
    const inner = isRecord ? records.nested(iterator ?? '', step) : nestedIn(nested.get(within), iterator ?? '', step);
    const before = isRecord ? [] : this.#within.get(within);
    const chain = before && [...before, iterator ?? ''];
    if (chain !== undefined) this.#within.set(item, chain);
    const found = this.#watched(inner, iterator ?? '', step, chain);
    nested.set(item, found);
    return { run: (row) => unnest(row, row[slot] === null ? [] : found.items(row[slot]), itemSlot, indexSlot) };
  }
}

/** @throws Fault mapping/invalid — the format has no records within its records */
export function nestedIn(
  records: { nested?(iterator: string): NestedRecords } | undefined,
  iterator: string,
  { origin }: Pick<Unnest, 'origin'>,
): NestedRecords {
  const found = records?.nested?.(iterator);
  if (found !== undefined) return found;
  throw new Fault('mapping/invalid', 'An iterator within a record is for JSON and XML, and this record is a row', {
    place: { expression: iterator, mapping: formatOrigin(origin) },
    hint: 'Make a field of the value first, and within it an rml:IterableField with an rml:referenceFormulation for that text',
  });
}

function columnsOf(step: StepPlan): readonly Column[] {
  switch (step.kind) {
    case 'unnest':
      return [step.operator.item, step.operator.index];
    case 'extend':
      return step.operator.columns.map(({ column }) => column);
    case 'number':
      return [step.operator.column];
    case 'join': {
      const { columns, ordinal } = step.operator;
      return [...columns, ...(ordinal === undefined ? [] : [ordinal])];
    }
  }
}

/** What is read of the rows after a step. */
function readAfter(
  { steps, maps, buildSides, checks: own }: PipelinePlan,
  at: number,
  projects: readonly Project[],
  checks: readonly Check[],
): readonly Leaf[] {
  const later = steps.slice(at + 1).flatMap(leavesOfStep);
  const ofMaps = maps.flatMap(leavesOfMap);
  const ofSides = buildSides.flatMap((join) => {
    const { keys, columns } = projects[join] as Project;
    return [
      ...keys.flatMap(({ value }) => leavesOf(value)),
      ...columns.flatMap(({ value }) => (isTerm(value) ? leavesOfTerm(value) : leavesOf(value))),
    ];
  });
  const ofChecks = own.flatMap((index) => {
    const { fields, origin, position, target } = checks[index] as Check;
    const columns = target === undefined ? [position] : [position, target.found];
    return [...fields.flatMap(({ value }) => leavesOf(value)), ...columns.map((column): Leaf => ({ kind: 'cell', origin, column }))];
  });
  return [...later, ...ofMaps, ...ofSides, ...ofChecks];
}

function leavesOfStep(step: StepPlan): readonly Leaf[] {
  switch (step.kind) {
    case 'unnest': {
      const { items, origin } = step.operator;
      return items.of === 'values' ? leavesOf(items.expression) : [{ kind: 'cell', origin, column: items.within }];
    }
    case 'extend':
      return step.operator.columns.flatMap(({ value }) => (isTerm(value) ? leavesOfTerm(value) : leavesOf(value)));
    case 'number':
      return [];
    case 'join':
      return step.operator.on.flatMap(({ left }) => leavesOf(left));
  }
}
