/**
 * What rows feed: a triples map with the build sides of joins of which it is the parent, build sides alone, or checks alone. A fault of one of
 * them leaves out the row for all of them.
 */
import { isReportedElsewhere } from '../compile/flaws.ts';
import type { OutputText } from '../compile/output.ts';
import type { Made, MapProgram } from '../compile/program.ts';
import type { RunHooks } from '../request.ts';
import type { RowCheck } from './check/row-check.ts';
import { guarded, type Operator, pushEach } from './operator.ts';
import type { BuildSide } from './project.ts';
import type { Reading, Rejections } from './rejections.ts';

export interface ConsumerContext {
  readonly reading: Reading;
  readonly rejections: Rejections;
  /** Records beyond them are parents of joins alone. */
  readonly firstRecords: number;
  readonly outputs: readonly OutputText[];
  readonly observe: RunHooks['row'];
  readonly trace: RunHooks['trace'];
}

/** `checks`: what views promise of the rows. */
export type Feeds = Partial<Pick<Consumer, 'program' | 'buildSides' | 'checks'>>;

export class Consumer implements Operator {
  readonly program: MapProgram | undefined;
  readonly buildSides: readonly BuildSide[];
  readonly checks: readonly RowCheck[];
  readonly #context: ConsumerContext;
  readonly #areRecords: boolean;

  /** @param areRecords whether the rows are the records as they are */
  constructor({ program, buildSides = [], checks = [] }: Feeds, context: ConsumerContext, areRecords: boolean) {
    this.program = program;
    this.buildSides = buildSides;
    this.checks = checks;
    this.#context = context;
    this.#areRecords = areRecords;
  }

  push(row: unknown, position: number): Made {
    try {
      const made = this.buildSides.length > 0 ? this.#addAndMap(row, position) : this.#map(row, position);
      return made && guarded(made, (error) => this.reject(error));
    } catch (error) {
      this.reject(error);
      return undefined;
    }
  }

  /**
   * Whether an invalid term is reported where the records of the triples map are read: not for pairs that a database has joined, nor for rows
   * that are joined for quoted triples, nor for the parents of such rows.
   */
  get isReportedElsewhere(): boolean {
    return this.program === undefined
      ? this.checks.length === 0 && this.buildSides.every(({ parent }) => parent !== undefined)
      : isReportedElsewhere(this.program.triplesMap);
  }

  /** Leaves out the current row. @throws Fault the fault of the row under the strict policy; record/limit */
  reject(error: unknown): void {
    const { rejections, reading } = this.#context;
    rejections.reject(error, this, reading, this.#areRecords);
  }

  #map(row: unknown, position: number): Made {
    const { program } = this;
    const { reading, rejections, firstRecords, observe, outputs, trace } = this.#context;
    if (reading.position !== undefined && reading.position >= firstRecords) return undefined;
    for (const check of this.checks) check.see(row, position);
    if (program === undefined || trace?.maps() === false) return undefined;
    const made = program.map(row, position);
    if (program.flaws.areOpen) rejections.settle(program, reading, this.#areRecords);
    if (observe === undefined) return made;
    const input = reading.position === undefined ? undefined : reading.input;
    observe(program.triplesMap, made === undefined ? takeAll(outputs) : takeEach(outputs, made), input, reading.position);
    return undefined;
  }

  /** A row without a valid key for one of the build sides adds nothing. */
  #addAndMap(row: unknown, position: number): Made {
    const sides = this.buildSides;
    for (const side of sides) side.read(row, position);
    return pushEach(sides.length + 1, (i) => (i < sides.length ? (sides[i] as BuildSide).keep() : this.#map(row, position)));
  }
}

const takeAll = (outputs: readonly OutputText[]): readonly string[] => outputs.map((output) => output.take());

function* takeEach(outputs: readonly OutputText[], made: Iterable<''>): Generator<string> {
  for (const _ of made) yield* takeAll(outputs);
  yield* takeAll(outputs);
}
