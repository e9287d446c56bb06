/** The steps of a pipeline: unnest, extend, number, join. Each sets the slots of its columns in the row that all of them share. */
import { TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import type { Column } from '../../plan/algebra.ts';
import { isTerm } from '../../plan/expressions.ts';
import type { Accessors, ValuesOf } from '../../terms/evaluate.ts';
import { type JoinState, orderOf, type PlannedJoin, ProbeSide } from '../compile/probe-side.ts';
import { listOf } from '../compile/texts.ts';
import type { JoinCount } from '../join/counts.ts';
import type { Match, PairingMemory } from '../join/join.ts';
import { type Cell, packRow, unpackRow } from '../join/packed-row.ts';
import { sortable } from '../nodes/order.ts';

/** One array for all rows of a pipeline: the record, its position and identity, and a slot for every column. */
export type Row = unknown[];

/** Slots of the record, and of its position and identity. */
export const RECORD = 0;
export const POSITION = 1;
export const IDENTITY = 2;

/** One step: sets the slots of its columns, once for each row that comes of `row`. */
export interface Step {
  run(row: Row): Iterable<undefined>;
  /** Whether rows wait here for the end, so that those behind come in another order. */
  readonly waits?: boolean;
}

export function* unnest(row: Row, items: readonly unknown[], itemSlot: number, indexSlot: number): Iterable<undefined> {
  if (items.length === 0) {
    row[itemSlot] = null;
    row[indexSlot] = null;
    yield;
    return;
  }
  for (let i = 0; i < items.length; i++) {
    row[itemSlot] = items[i];
    row[indexSlot] = i;
    yield;
  }
}

export function* extend(row: Row, cells: readonly { readonly slot: number; readonly values: ValuesOf }[]): Iterable<undefined> {
  for (const { slot, values } of cells) row[slot] = values(row, row[POSITION] as number);
  yield;
}

export function numbering(slot: number): Step {
  let next = 0;
  return {
    *run(row) {
      row[slot] = next++;
      yield;
    },
  };
}

/** Where the current row stands among those of its pipeline, as text that sorts; only what has waited for a join has one. */
export interface Place {
  text: string;
}

/** A join of rows: the cells of the right side, or no values, beside those of the left side. */
export class JoinStep implements Step {
  readonly probe: ProbeSide;
  readonly #isOuter: boolean;
  /** Slots of the left side that are read later. */
  readonly #left: readonly number[];
  readonly #right: readonly number[];
  /** Whether the row of the right side is the text of its only column, without what is around it. */
  readonly #isTerm: boolean;
  readonly #counts: boolean;
  readonly #ordinal: number | undefined;
  readonly #place: Place;
  readonly #count: JoinCount | undefined;
  #passed = 0;

  /** @param count of the rows of the left side that match none; undefined: they are not counted */
  constructor(
    planned: PlannedJoin,
    left: readonly number[],
    slotOf: (column: Column) => number,
    rows: Accessors,
    state: JoinState,
    place: Place,
    count: JoinCount | undefined,
  ) {
    const { type, right, columns, ordinal } = planned.operator;
    this.probe = new ProbeSide(planned, rows, state, count);
    this.#place = place;
    this.#count = count;
    this.#isOuter = type === 'left';
    this.#left = left;
    this.#right = columns.map(slotOf);
    const [only] = right.columns;
    this.#isTerm = right.columns.length === 1 && only !== undefined && isTerm(only.value) && !right.counts;
    this.#counts = right.counts;
    this.#ordinal = ordinal === undefined ? undefined : slotOf(ordinal);
  }

  get waits(): boolean {
    return this.probe.waits;
  }

  *run(row: Row): Iterable<undefined> {
    const { probe } = this;
    const keys = probe.keys(row, row[POSITION] as number);
    if (this.#count !== undefined) this.#count.rows++;
    if (!probe.waits) {
      const found = probe.find(keys);
      this.#count?.settle();
      if (found !== null) yield* this.#matched(row, listOf(found), 0);
      else if (this.#isOuter) yield* this.#unmatched(row);
      return;
    }
    const before = this.#place.text;
    const place = `${before}/${sortable(this.#passed++)}`;
    // The place keeps each row apart from all others: they may be counted.
    if (keys !== null) probe.store(keys, packRow([place, ...this.#left.map((slot) => cellOf(row[slot]))]));
    else if (this.#isOuter) {
      this.#place.text = place;
      yield* this.#unmatched(row);
      this.#place.text = before;
    }
  }

  *#matched(row: Row, texts: readonly string[], from: number): Iterable<undefined> {
    const { before, after } = this.probe.build.affixes;
    for (const [i, text] of texts.entries()) {
      if (this.#isTerm) row[this.#right[0] as number] = before + text + after;
      else {
        const cells = unpackRow(text);
        for (const [at, slot] of this.#right.entries()) row[slot] = cells[at] as Cell;
      }
      if (this.#ordinal !== undefined) row[this.#ordinal] = from + i;
      yield;
    }
  }

  *#unmatched(row: Row): Iterable<undefined> {
    for (const slot of this.#right) row[slot] = null;
    if (this.#ordinal !== undefined) row[this.#ordinal] = null;
    yield;
  }

  /** The stored rows with their matches, once the right side is complete. */
  matches(memory: PairingMemory): AsyncIterable<Match> {
    return this.probe.pairs(memory, this.#isOuter);
  }

  /** The rows of a stored left row and some right rows. */
  *paired(row: Row, [left, rights, from]: Match): Iterable<undefined> {
    const [place, ...cells] = unpackRow(left);
    for (const [at, slot] of this.#left.entries()) row[slot] = cells[at] as Cell;
    const texts = this.probe.inOrder(rights);
    let at = 0;
    for (const _ of texts.length === 0 ? this.#unmatched(row) : this.#matched(row, texts, from)) {
      const order = this.#counts && texts.length > 0 ? orderOf(texts[at] as string) : sortable(from + at);
      this.#place.text = `${place as string}/${order}`;
      at++;
      yield;
    }
  }
}

// ---------------------------------------------------------------- cells

const INTEGER = `${XSD}integer`;

/** A position is an integer of its natural datatype. */
export const cellOf = (cell: unknown): Cell => (typeof cell === 'number' ? positionValue(cell) : (cell as Cell));

/** A position as the value of an index key (`#`). */
export const positionValue = (position: number): Value => new TypedValue(String(position), INTEGER);

export const valuesIn = (values: Values): readonly Value[] => (values === null ? [] : Array.isArray(values) ? values : [values as Value]);
