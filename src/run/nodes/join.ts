/** A join of rows: the cells of the build side, or no values, beside those of the probe side. */
import type { Column } from '../../plan/algebra.ts';
import { isTerm } from '../../plan/expressions.ts';
import type { Accessors } from '../../terms/evaluate.ts';
import { type JoinState, orderOf, type PlannedJoin, ProbeSide } from '../compile/probe-side.ts';
import type { Made } from '../compile/program.ts';
import { listOf } from '../compile/texts.ts';
import type { JoinCount } from '../join/counts.ts';
import type { PairingMemory } from '../join/join.ts';
import { type Cell, packRow, unpackRow } from '../join/packed-row.ts';
import type { RowTrace } from '../request.ts';
import { NOTHING, pushEach, RECORD, type Row, Step } from './operator.ts';
import { cellOf, type Rows, sortable } from './rows.ts';

export class JoinStep extends Step {
  readonly probe: ProbeSide;
  /** Whether rows wait here for the end, so that those behind come in another order. */
  readonly waits: boolean;
  readonly #isOuter: boolean;
  readonly #rows: Rows;
  /** Slots of the probe side that are read later. */
  readonly #left: readonly number[];
  readonly #right: readonly number[];
  /** Whether the row of the build side is the text of its only column, without what is around it. */
  readonly #isTerm: boolean;
  readonly #counts: boolean;
  readonly #ordinal: number | undefined;
  readonly #count: JoinCount | undefined;
  /** Of the rows before this join. */
  readonly #placeBefore: () => string;
  #place = '';
  readonly #trace: RowTrace | undefined;
  #passed = 0;

  /**
   * @param access to the rows, with the checks of their terms
   * @param left columns of the probe side that are read later
   * @param count of the rows of the probe side that match none; undefined: they are not counted
   */
  constructor(
    planned: PlannedJoin,
    rows: Rows,
    access: Accessors,
    left: readonly Column[],
    state: JoinState,
    count: JoinCount | undefined,
  ) {
    super();
    const { type, right, columns, ordinal } = planned.operator;
    this.probe = new ProbeSide(planned, access, state, count);
    this.waits = this.probe.waits;
    this.#count = count;
    this.#trace = state.trace;
    this.#isOuter = type === 'left';
    this.#rows = rows;
    this.#left = left.map((column) => rows.slotOf(column));
    this.#right = columns.map((column) => rows.add(column));
    const [only] = right.columns;
    this.#isTerm = right.columns.length === 1 && only !== undefined && isTerm(only.value) && !right.counts;
    this.#counts = right.counts;
    this.#ordinal = ordinal === undefined ? undefined : rows.add(ordinal);
    this.#placeBefore = rows.place;
    if (this.waits) rows.place = () => this.#place;
  }

  push(row: Row, position: number): Made {
    const { probe } = this;
    const keys = probe.keys(row, position);
    if (this.#count !== undefined) this.#count.rows++;
    if (!this.waits) {
      const found = probe.find(keys);
      this.#count?.settle();
      return this.#pushPairs(row, position, found === null ? [] : listOf(found), 0);
    }
    const place = `${this.#placeBefore()}/${sortable(this.#passed++)}`;
    if (keys === null) {
      this.#place = place;
      return this.#pushPairs(row, position, [], 0);
    }
    // The place keeps each row apart from all others: they may be counted.
    probe.store(keys, packRow([place, this.#trace?.origin() ?? null, ...this.#left.map((slot) => cellOf(row[slot]))]));
    return undefined;
  }

  /** Gives on the pairs of the rows that wait. */
  async *end(memory: PairingMemory): AsyncIterable<''> {
    const { row } = this.#rows;
    row[RECORD] = null;
    for await (const [left, rights, from] of this.probe.pairs(memory, this.#isOuter)) {
      const [place, origin, ...cells] = unpackRow(left);
      if (origin !== null) this.#trace?.resume(origin as string);
      for (const [at, slot] of this.#left.entries()) row[slot] = cells[at] as Cell;
      yield* this.#pushPairs(row, 0, this.probe.inOrder(rights), from, place as string) ?? NOTHING;
    }
  }

  /**
   * @param texts the rows of the build side; none: the row is given on alone, if at all
   * @param place of the row, if it has waited
   */
  #pushPairs(row: Row, position: number, texts: readonly string[], from: number, place?: string): Made {
    if (texts.length === 0 && !this.#isOuter) return undefined;
    return pushEach(Math.max(1, texts.length), (i) => {
      const text = texts[i];
      if (place !== undefined) this.#place = `${place}/${this.#counts && text !== undefined ? orderOf(text) : sortable(from + i)}`;
      this.#setRight(row, text);
      if (this.#ordinal !== undefined) row[this.#ordinal] = text === undefined ? null : from + i;
      return this.next.push(row, position);
    });
  }

  #setRight(row: Row, text: string | undefined): void {
    const right = this.#right;
    if (text !== undefined && this.#isTerm) {
      const { before, after } = this.probe.build.affixes;
      row[right[0] as number] = before + text + after;
      return;
    }
    const cells = text === undefined ? undefined : unpackRow(text);
    for (let at = 0; at < right.length; at++) row[right[at] as number] = cells?.[at] ?? null;
  }
}
