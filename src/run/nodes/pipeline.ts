/** From the records of a scan to rows, by a chain of operators, and from there to what reads the rows. */
import type { Check, Project } from '../../plan/algebra.ts';
import { type Leaf, leavesOfCheck, leavesOfColumn, leavesOfStep, nameOf } from '../../plan/expressions.ts';
import { leavesOfMap, type PipelinePlan, type Plan, type StepPlan } from '../../plan/plan.ts';
import type { Multimap } from '../../spill/multimap.ts';
import type { Accessors } from '../../terms/evaluate.ts';
import { checked } from '../compile/flaws.ts';
import type { Made } from '../compile/program.ts';
import { JoinCount } from '../join/counts.ts';
import type { PairingMemory } from '../join/join.ts';
import type { CheckState } from './check/row-check.ts';
import type { Consumer } from './consumer.ts';
import { Extend } from './extend.ts';
import { JoinStep } from './join.ts';
import { NumberStep } from './number.ts';
import { guarded, type Operator, pushEach, type Step } from './operator.ts';
import { type RecordAccess, Rows } from './rows.ts';
import { type Unmatched, Unnest } from './unnest.ts';

type Whole = Pick<Plan, 'joins' | 'checks'>;

/** Lets what consumes it write. */
const PAUSE: Iterable<''> = [''];

export class Pipeline implements Operator {
  readonly consumers: readonly Consumer[];
  /** Of the joins among its steps; none where the rows are checked alone, since checks say what they miss. */
  readonly joins: JoinCount[] = [];
  readonly #plan: PipelinePlan;
  readonly #records: number;
  readonly #rows: Rows;
  readonly #steps: readonly Step[];
  readonly #joinSteps: readonly JoinStep[];
  readonly #state: CheckState;
  /** Number of rows so far. */
  #serial = 0;

  /**
   * @param count of the records that it takes: the first ones
   * @param consumersOf what reads the rows
   * @param isDue whether something must be written before the next row
   */
  constructor(
    plan: PipelinePlan,
    count: number,
    records: RecordAccess,
    whole: Whole,
    state: CheckState,
    consumersOf: (rows: Accessors) => readonly Consumer[],
    isDue: () => boolean,
  ) {
    this.#plan = plan;
    this.#records = count;
    this.#state = state;
    const rows = new Rows(records);
    this.#rows = rows;
    // Terms that are made before a join are counted by the triples maps to which they belong.
    const owners = [...plan.maps.map(({ map }) => map), ...plan.buildSides.flatMap((join) => whole.joins[join]?.map ?? [])];
    const check = owners.map((map) => checked(map, state.datatypeCheck)).find(({ illTyped }) => illTyped !== undefined);
    const access: Accessors = { ...rows.access, ...check };
    this.#steps = plan.steps.map((step, at) => this.#compile(step, access, readAfter(plan, at, whole)));
    this.#joinSteps = this.#steps.filter((step) => step instanceof JoinStep);
    this.consumers = consumersOf(this.#joinSteps.some(({ waits }) => waits) ? { ...rows.access, unordered: true } : rows.access);
    for (const { program } of this.consumers) if (program !== undefined) program.before = this.joins;
    for (const [i, step] of this.#steps.entries()) step.next = this.#steps[i + 1] ?? { push: (row) => this.#read(row, isDue) };
  }

  push(record: unknown, position: number): Made {
    if (position >= this.#records) return undefined;
    try {
      const made = (this.#steps[0] as Step).push(this.#rows.of(record, position), position);
      return made && guarded(made, (error) => this.#reject(error));
    } catch (error) {
      this.#reject(error);
      return undefined;
    }
  }

  /** After the last record: whether rows wait for a join. What reads the rows is complete only behind `end`. */
  hold(): boolean {
    const holds = this.#joinSteps.some(({ probe }) => probe.hasStored);
    if (holds) for (const { buildSides } of this.consumers) for (const { index } of buildSides) index.unfinished++;
    return holds;
  }

  /** Whether the build sides of all joins are complete. */
  get canEnd(): boolean {
    return this.#joinSteps.every(({ probe }) => probe.build.unfinished === 0);
  }

  /** Makes the rows that `hold` has found waiting. */
  async *end(memory: PairingMemory): AsyncIterable<''> {
    for (const step of this.#joinSteps) yield* step.end(memory);
    for (const { buildSides } of this.consumers) for (const { index } of buildSides) index.unfinished--;
    this.finish();
  }

  /** After the last row. */
  finish(): void {
    for (const { program } of this.consumers) program?.finish();
  }

  /** After all records: iterators of fields that found nothing, and references of fields for which no item had a node, with their places. */
  get unmatched(): readonly Unmatched[] {
    return this.#steps.flatMap((step) => (step instanceof Unnest ? step.unmatched : []));
  }

  /** Gives a row, with its number as position, to what reads the rows. */
  #read(row: unknown, isDue: () => boolean): Made {
    const { consumers } = this;
    const position = this.#serial++;
    const made = pushEach(consumers.length, (i) => (consumers[i] as Consumer).push(row, position));
    return isDue() ? (made ?? PAUSE) : made;
  }

  #reject(error: unknown): void {
    const reporter = this.consumers.find(({ isReportedElsewhere }) => !isReportedElsewhere) ?? (this.consumers[0] as Consumer);
    reporter.reject(error);
  }

  #compile(step: StepPlan, access: Accessors, after: readonly Leaf[]): Step {
    const rows = this.#rows;
    switch (step.kind) {
      case 'unnest':
        return new Unnest(step.operator, rows, access);
      case 'extend':
        return new Extend(step.operator, rows, access);
      case 'number':
        return new NumberStep(step.operator, rows);
      case 'join': {
        const kept = after.map((leaf) => {
          if (leaf.kind === 'cell' && !rows.records.scan.records.includes(leaf.column)) return leaf.column;
          throw new Error(`a join does not keep ${leaf.kind === 'read' ? nameOf(leaf) : 'the record'}`);
        });
        const left = [...new Set(kept)].filter((column) => rows.has(column));
        return new JoinStep(step, rows, access, left, this.#state, this.#countOf(step));
      }
    }
  }

  #countOf({ operator, join }: Extract<StepPlan, { kind: 'join' }>): JoinCount | undefined {
    const { maps, buildSides } = this.#plan;
    if (operator.on.length === 0 || maps.length + buildSides.length === 0) return undefined;
    const count = new JoinCount(operator, maps[0]?.map.name ?? '', this.#state.joinIndexes[join] as Multimap);
    this.joins.push(count);
    return count;
  }
}

/** What is read of the rows behind a step. */
function readAfter({ steps, maps, buildSides, checks: own }: PipelinePlan, at: number, { joins, checks }: Whole): readonly Leaf[] {
  const ofSides = buildSides.map((join) => joins[join] as Project).flatMap(({ keys, columns }) => [...keys, ...columns]);
  return [
    ...steps.slice(at + 1).flatMap(({ operator }) => leavesOfStep(operator)),
    ...maps.flatMap(leavesOfMap),
    ...ofSides.flatMap(leavesOfColumn),
    ...own.flatMap((index) => leavesOfCheck(checks[index] as Check)),
  ];
}
