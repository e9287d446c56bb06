/**
 * The probe side of a join: of the objects of a rule, of the rows of a view, or of the members of a collection.
 *
 * Where the build side is complete and in memory, each row is looked up (`find`). Else rows wait: they are stored as text by key (`store`), and
 * `pairs` gives their matches when the build side is complete.
 */
import type { Join } from '../../plan/algebra.ts';
import type { Multimap } from '../../spill/multimap.ts';
import type { Accessors, Text, TextOf } from '../../terms/evaluate.ts';
import { type JoinCount, RepeatedRows } from '../join/counts.ts';
import { type Match, type PairingMemory, pairTexts } from '../join/join.ts';
import { unpackRow } from '../join/packed-row.ts';
import { unitedByRow } from '../join/several-keys.ts';
import type { RowTrace } from '../request.ts';
import { compileKeys, tracedKeys } from './keys.ts';
import { distinct, listOf } from './texts.ts';

/** A join of the plan. */
export interface PlannedJoin {
  readonly operator: Join;
  /** Index of its build side among `Plan.joins`. */
  readonly join: number;
  readonly deferred: boolean;
}

export interface JoinState {
  /** By index of the build side. */
  readonly joinIndexes: readonly Multimap[];
  readonly openMultimap: () => Multimap;
  readonly trace: RowTrace | undefined;
}

/** Whether rows cannot be looked up: the build side is not complete yet, or it is in files. */
export function mustWait({ join, deferred }: PlannedJoin, { joinIndexes }: JoinState): boolean {
  const build = joinIndexes[join] as Multimap;
  return deferred || build.unfinished > 0 || build.spilled;
}

export class ProbeSide {
  readonly build: Multimap;
  readonly waits: boolean;
  /** The join keys of a row. @throws Fault record/term */
  readonly keys: TextOf;
  readonly #count: JoinCount | undefined;
  readonly #openMultimap: () => Multimap;
  /** Where a row of the build side stands among the others; undefined: their order is of no interest. */
  readonly #orderOf: ((row: string) => string) | undefined;
  /** Lists of the build side in their order, by what the build side has. */
  readonly #sorted = new WeakMap<readonly string[], readonly string[]>();
  /** Stored rows by their only key. */
  #single: Multimap | undefined;
  /** Stored rows by each of their keys. */
  #several: Multimap | undefined;
  #repeated: RepeatedRows | undefined;

  /**
   * @param rows the rows of the probe side
   * @param count of its rows that match none; undefined: they are not counted
   * @param waits may be true where `mustWait` is false, and not the other way round
   */
  constructor(planned: PlannedJoin, rows: Accessors, state: JoinState, count: JoinCount | undefined, waits = mustWait(planned, state)) {
    const { on, right } = planned.operator;
    this.build = state.joinIndexes[planned.join] as Multimap;
    this.waits = waits;
    const keys = on.map(({ left }) => left);
    this.keys = tracedKeys(compileKeys(keys, rows), planned.operator, state.trace);
    this.#count = count;
    this.#openMultimap = state.openMultimap;
    this.#orderOf = right.counts ? orderOf : undefined;
  }

  /** The rows of the build side with some keys, each once. A row that finds none is counted by `JoinCount.settle`. */
  find(keys: Text): Text {
    const found = keys === null ? null : typeof keys === 'string' ? this.build.get(keys) : this.#union(keys);
    this.#count?.see(keys, found);
    return found === null || typeof found === 'string' ? found : this.inOrder(found);
  }

  #union(keys: readonly string[]): Text {
    const found = new Set(keys.flatMap((key) => listOf(this.build.get(key) ?? [])));
    return found.size === 0 ? null : [...found];
  }

  /** Rows of the build side in the order of its input: what a join has made may come in another one. */
  inOrder(rows: readonly string[]): readonly string[] {
    const order = this.#orderOf;
    if (order === undefined || rows.length < 2) return rows;
    const known = this.#sorted.get(rows);
    if (known !== undefined) return known;
    const orders = new Map(rows.map((row) => [row, order(row)]));
    const compare = (a: string, b: string): number => ((orders.get(a) as string) < (orders.get(b) as string) ? -1 : 1);
    const sorted = rows.every((row, i) => i === 0 || compare(rows[i - 1] as string, row) < 0) ? rows : rows.toSorted(compare);
    this.#sorted.set(rows, sorted);
    return sorted;
  }

  /**
   * Stores a row that waits. Rows with one key and one text may repeat: they are stored once, and counted as often as they come. A row with several
   * keys has a text that no other row has.
   */
  store(keys: string | readonly string[], row: string): void {
    const each = distinct(keys) as string | readonly string[];
    if (typeof each === 'string') {
      this.#single ??= this.#openMultimap();
      if (!this.#single.add(each, row)) this.repeat(each);
    } else for (const _ of this.storeInPieces(each, row));
  }

  /** As `store`, for a row with very many keys, each once. */
  *storeInPieces(keys: readonly string[], row: string): Iterable<''> {
    this.#several ??= this.#openMultimap();
    for (const key of keys) {
      this.#several.add(key, row);
      yield '';
    }
  }

  /** Counts a row with a key and a text that are stored already. */
  repeat(key: string): void {
    if (this.#count === undefined) return;
    this.#repeated ??= new RepeatedRows(this.#openMultimap);
    this.#repeated.add(key);
  }

  /** Whether rows are stored. */
  get hasStored(): boolean {
    return this.#single !== undefined || this.#several !== undefined;
  }

  /**
   * The matches of the stored rows, which this consumes: of each row each partner once, in some number of batches. The build side is complete.
   *
   * @param outer also rows that match none
   */
  async *pairs(memory: PairingMemory, outer = false): AsyncIterable<Match> {
    const count = this.#count;
    const [single, several] = [this.#single, this.#several];
    this.#single = undefined;
    this.#several = undefined;
    const seen = (match: Match): Match => {
      if (count !== undefined && match[1].length > 0) count.found = true;
      return match;
    };
    if (single !== undefined)
      for await (const match of pairTexts(single, this.build, memory, outer, count && ((key) => count.add(key, 1)))) yield seen(match);
    if (count !== undefined) await this.#repeated?.countMisses(count, this.build, memory);
    if (several === undefined) return;
    const pairs = pairTexts(several, this.build, memory, outer || count !== undefined, count && ((key) => count.add(key, 0)));
    for await (const match of unitedByRow(pairs, this.#orderOf ?? (() => ''), memory)) {
      if (match[1].length === 0) count?.add(undefined, 1);
      if (match[1].length > 0 || outer) yield seen(match);
    }
  }
}

/** The last cell of a row whose build side counts rows. */
export const orderOf = (row: string): string => unpackRow(row).at(-1) as string;
