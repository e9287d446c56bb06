/** The steps of a pipeline: unnest, extend, number, join. Each sets the slots of its columns in the row that all of them share. */
import { TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import type { Column } from '../../plan/algebra.ts';
import { isTerm } from '../../plan/expressions.ts';
import type { StepPlan } from '../../plan/plan.ts';
import type { Accessors, Text, TextOf, ValuesOf } from '../../terms/evaluate.ts';
import { sortable } from '../collect/order.ts';
import type { RunState } from '../compile/program.ts';
import { compileKeys } from '../compile/rule.ts';
import { distinct, listOf } from '../compile/texts.ts';
import type { JoinCount } from '../join/counts.ts';
import { type Match, type Multimap, type PairingMemory, pairTexts } from '../join/join.ts';
import { type Cell, packRow, unpackRow } from '../join/packed-row.ts';
import { unitedByRow } from './several-keys.ts';

/** One array for all rows of a pipeline: the record, its position and identity, and a slot for every column. */
export type Row = unknown[];

/** Slots of the record, and of its position and identity. */
export const RECORD = 0;
export const POSITION = 1;
export const IDENTITY = 2;

/** Rows that wait until the right side of a join is complete. */
export interface Waiting {
  readonly join: number;
  readonly left: Multimap;
  /** Those that have several keys; undefined: there are none. */
  several: Multimap | undefined;
}

/** One step: sets the slots of its columns, once for each row that comes of `row`. */
export interface Step {
  run(row: Row): Iterable<undefined>;
  /** Whether rows wait here for the end, so that those behind come in another order. */
  readonly waits?: boolean;
  /** Rows that wait. */
  readonly waiting?: Waiting | undefined;
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

export class JoinStep implements Step {
  waiting: Waiting | undefined;
  readonly outer: boolean;
  readonly #join: number;
  readonly #keys: TextOf;
  /** Slots of the left side that are read later. */
  readonly #left: readonly number[];
  readonly #right: readonly number[];
  /** Whether the row of the right side is the text of its only column, without what is around it. */
  readonly #isTerm: boolean;
  /** Whether right rows say where they stand among the others: somebody counts them. */
  readonly #counts: boolean;
  /** Lists of the index by what the index has. */
  readonly #sorted = new WeakMap<readonly string[], readonly string[]>();
  readonly #ordinal: number | undefined;
  readonly #index: Multimap;
  readonly #state: RunState;
  readonly #probes: boolean;
  readonly #place: Place;
  readonly #count: JoinCount | undefined;
  #passed = 0;

  /** @param count of the rows of the left side that match none; undefined: they are not counted */
  constructor(
    { operator: { type, on, right, columns, ordinal }, join, deferred }: Extract<StepPlan, { kind: 'join' }>,
    left: readonly number[],
    slotOf: (column: Column) => number,
    rows: Accessors,
    state: RunState,
    place: Place,
    count: JoinCount | undefined,
  ) {
    this.#place = place;
    this.#count = count;
    this.outer = type === 'left';
    this.#join = join;
    this.#state = state;
    this.#index = state.joinIndexes[join] as Multimap;
    this.#left = left;
    this.#right = columns.map(slotOf);
    const [only] = right.columns;
    this.#isTerm = right.columns.length === 1 && only !== undefined && isTerm(only.value) && !right.counts;
    this.#counts = right.counts;
    this.#ordinal = ordinal === undefined ? undefined : slotOf(ordinal);
    this.#keys = compileKeys(
      on.map((condition) => condition.left),
      rows,
    );
    this.#probes = !deferred && state.complete.has(join) && !this.#index.spilled;
  }

  get waits(): boolean {
    return !this.#probes;
  }

  *run(row: Row): Iterable<undefined> {
    const keys = this.#keys(row, row[POSITION] as number);
    if (this.#count !== undefined) this.#count.rows++;
    if (this.#probes) {
      if (keys !== null) yield* this.#probe(row, keys);
      else if (this.outer) yield* this.#unmatched(row);
      return;
    }
    const before = this.#place.text;
    const place = `${before}/${sortable(this.#passed++)}`;
    if (keys !== null) this.#store(row, keys, place);
    else if (this.outer) {
      this.#place.text = place;
      yield* this.#unmatched(row);
      this.#place.text = before;
    }
  }

  *#probe(row: Row, keys: string | readonly string[]): Iterable<undefined> {
    const found = typeof keys === 'string' ? this.#index.get(keys) : this.#union(keys);
    this.#count?.see(keys, found);
    if (found === null) {
      this.#count?.settle();
      if (this.outer) yield* this.#unmatched(row);
      return;
    }
    yield* this.#matched(row, this.#inOrder(listOf(found)), 0);
  }

  #union(keys: readonly string[]): Text {
    const found = new Set(keys.flatMap((key) => listOf(this.#index.get(key) ?? [])));
    return found.size === 0 ? null : [...found];
  }

  /** The right rows in the order of their view: what it has joined itself may have come in another one. */
  #inOrder(texts: readonly string[]): readonly string[] {
    if (!this.#counts || texts.length < 2) return texts;
    const known = this.#sorted.get(texts);
    if (known !== undefined) return known;
    let last = '';
    const isSorted = texts.every((text) => {
      const before = last;
      last = orderOf(text);
      return before <= last;
    });
    const sorted = isSorted ? texts : texts.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    this.#sorted.set(texts, sorted);
    return sorted;
  }

  *#matched(row: Row, texts: readonly string[], from: number): Iterable<undefined> {
    const { before, after } = this.#index.around;
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

  /** A row that waits is kept apart from all others: somebody may count rows. */
  #store(row: Row, keys: string | readonly string[], place: string): void {
    this.waiting ??= { join: this.#join, left: this.#state.openMultimap(), several: undefined };
    const text = packRow([place, ...this.#left.map((slot) => cellOf(row[slot]))]);
    const each = distinct(keys) as string | readonly string[];
    if (typeof each === 'string') this.waiting.left.add(each, text);
    else {
      this.waiting.several ??= this.#state.openMultimap();
      for (const key of each) this.waiting.several.add(key, text);
    }
  }

  /** The matches of the rows that wait, once the right side is complete. Consumes them. */
  async *matches({ left, several }: Waiting, memory: PairingMemory): AsyncIterable<Match> {
    const count = this.#count;
    const found = (match: Match): Match => {
      if (count !== undefined && match[1].length > 0) count.found = true;
      return match;
    };
    for await (const match of pairTexts(left, this.#index, memory, this.outer, count && ((key) => count.add(key, 1)))) yield found(match);
    if (several === undefined) return;
    const order = this.#counts ? orderOf : () => '';
    const all = this.outer || count !== undefined;
    const pairs = pairTexts(several, this.#index, memory, all, count && ((key) => count.add(key, 0)));
    for await (const match of unitedByRow(pairs, order, memory)) {
      if (match[1].length === 0) count?.add(undefined, 1);
      if (match[1].length > 0 || this.outer) yield found(match);
    }
  }

  /** The rows of a stored left row and some right rows. */
  *paired(row: Row, [left, rights, from]: Match): Iterable<undefined> {
    const [place, ...cells] = unpackRow(left);
    for (const [at, slot] of this.#left.entries()) row[slot] = cells[at] as Cell;
    const texts = this.#inOrder(rights);
    let at = 0;
    for (const _ of texts.length === 0 ? this.#unmatched(row) : this.#matched(row, texts, from)) {
      const order = this.#counts && texts.length > 0 ? orderOf(texts[at] as string) : sortable(from + at);
      this.#place.text = `${place as string}/${order}`;
      at++;
      yield;
    }
  }
}

/** Where a row of a right side that counts stands among the others: its last cell. */
const orderOf = (text: string): string => unpackRow(text).at(-1) as string;

// ---------------------------------------------------------------- cells

const INTEGER = `${XSD}integer`;

/** A position is an integer of its natural datatype. */
export const cellOf = (cell: unknown): Cell => (typeof cell === 'number' ? positionValue(cell) : (cell as Cell));

/** A position as the value of an index key (`#`). */
export const positionValue = (position: number): Value => new TypedValue(String(position), INTEGER);

export const valuesIn = (values: Values): readonly Value[] => (values === null ? [] : Array.isArray(values) ? values : [values as Value]);
