/**
 * Finds rows that come again, before they are cut into cells.
 *
 * **Claim.** If `past` tells that a row is repeated, an earlier row of this scan had the same cells in all columns that are read.
 *
 * **Why.** A row is looked at only if it has no quote, and the dialect has no escapes: then each delimiter ends a cell, and the first line end
 * ends the row. Columns that are read and stand side by side form a group. The bytes from the beginning of its first cell to the end of its last
 * one, with the delimiters within, are cut in the same way in each row, so equal bytes are equal cells, and a group that ends early has the same
 * cells missing. What is compared is a hash of the bytes of all groups that the row reaches, each with its number. They are reached in their
 * order, so a row that reaches fewer has another hash. 64 bits of it are compared with those of one earlier row, which other bits choose: a row
 * is taken for a different one with odds of 2^-64.
 *
 * The table has one row a slot, the latest, so a row that comes again may be missed. It is looked for only while that pays.
 */
import { h1, h2, h3, h4, hashPart, mixIn } from '../../core/hash.ts';
import type { RepeatSearch } from '../source.ts';
import type { ByteDialect } from './dialect.ts';

const LF = 10;
const CR = 13;
const SLOTS = 1 << 19;
/** Where the memory for `SLOTS` is refused. */
const FEW_SLOTS = 1 << 12;
/** Rows that are looked at before it is judged whether that pays: it does if at least one of `PAYS` comes again. */
const WINDOW_ROWS = 1 << 17;
const PAYS = 8;
/** Calls of `look` that are ignored after a window that did not pay; twice as many after each further one. */
const IGNORED = 16;

export class RepeatedRows implements RepeatSearch {
  readonly #delimiter: number;
  readonly #quote: number;
  /** The greatest byte that ends a cell or forbids to look: those above it are passed over. */
  readonly #letters: number;
  /** By column: the 0-based group that it begins or belongs to, or -1. */
  readonly #groups: Int32Array;
  readonly #starts: number[];
  readonly #ends: number[];
  readonly #longest: number;
  readonly #seed: number;
  readonly #take: (bytes: number) => boolean;
  /** Two words a slot. Zeros are free: a row whose hash is zero is as rare as two rows with one hash. */
  #table: Uint32Array | undefined;
  /** Whether the table has rows. */
  #remembers = false;
  /** Rows that are still to be looked at. */
  #left = 0;
  #found = 0;
  #ignore = 0;
  #nextIgnored = IGNORED;

  /**
   * @param slots by column: at least 0 if it is read
   * @param longest length of a row in bytes that is allowed
   * @param take asks for memory
   */
  constructor({ delimiter, quote }: ByteDialect, slots: Int32Array, longest: number, seed: number, take: (bytes: number) => boolean) {
    this.#delimiter = delimiter;
    this.#quote = quote;
    this.#letters = Math.max(delimiter, quote, CR);
    this.#groups = new Int32Array(slots.length).fill(-1);
    let groups = 0;
    for (let column = 0; column < slots.length; column++) {
      if ((slots[column] as number) < 0) continue;
      if (column === 0 || (slots[column - 1] as number) < 0) groups++;
      this.#groups[column] = groups - 1;
    }
    this.#starts = new Array<number>(groups).fill(0);
    this.#ends = new Array<number>(groups).fill(0);
    this.#longest = longest;
    this.#seed = seed;
    this.#take = take;
  }

  /** Whether rows of a dialect can be found. */
  static canRead({ escape, skipBlankRows }: ByteDialect): boolean {
    // A blank row that is skipped must not be remembered.
    return escape < 0 && skipBlankRows !== true;
  }

  look(): void {
    if (this.#left > 0) return;
    if (this.#ignore > 0) {
      this.#ignore--;
      return;
    }
    this.#table ??= new Uint32Array(2 * (this.#take(8 * SLOTS) ? SLOTS : FEW_SLOTS));
    this.#begin();
  }

  forget(): void {
    if (!this.#remembers) return;
    this.#table?.fill(0);
    this.#remembers = false;
    this.#pause();
  }

  get looks(): boolean {
    return this.#left > 0;
  }

  /**
   * The position behind the row at `at` if it is repeated. -1: it is new, or not to be told, and is remembered if it can be.
   *
   * @param text the bytes of `buffer`
   */
  past(buffer: Buffer, text: string, at: number): number {
    const groups = this.#groups;
    const starts = this.#starts;
    const ends = this.#ends;
    const letters = this.#letters;
    const delimiter = this.#delimiter;
    const quote = this.#quote;
    const size = buffer.length;
    let column = 0;
    let group = groups[0] as number;
    let reached = 0;
    if (group >= 0) {
      starts[0] = at;
      reached = 1;
    }
    let to = at;
    for (; to < size; to++) {
      const c = buffer[to] as number;
      if (c > letters) continue;
      if (c === LF || c === CR) break;
      if (c === quote) return -1;
      if (c !== delimiter) continue;
      if (group >= 0) ends[group] = to;
      column++;
      // The row is longer than the header, which has to be told.
      if (column === groups.length) return -1;
      group = groups[column] as number;
      if (group === reached) {
        starts[group] = to + 1;
        reached++;
      }
    }
    if (to === size || to - at >= this.#longest) return -1;
    let next = to + 1;
    if (buffer[to] === CR) {
      if (next === size) return -1;
      if (buffer[next] === LF) next++;
    }
    if (group >= 0) ends[group] = to;
    this.#hash(text, reached);
    return this.#isKnown() ? next : -1;
  }

  #hash(text: string, reached: number): void {
    const seed = this.#seed;
    if (reached === 0) {
      // Not that of a group that is empty.
      hashPart('', 0, 0, ~seed);
      return;
    }
    hashPart(text, this.#starts[0] as number, this.#ends[0] as number, seed);
    for (let group = 1; group < reached; group++) {
      const [a, b, c, d] = [h1, h2, h3, h4];
      hashPart(text, this.#starts[group] as number, this.#ends[group] as number, seed);
      mixIn(a, b, c, d, group);
    }
  }

  /** Whether the row whose hash is in `h1…h4` is in the table, which has it afterwards. */
  #isKnown(): boolean {
    const table = this.#table as Uint32Array;
    const slot = (h2 << 1) & (table.length - 1);
    const known = table[slot] === h1 >>> 0 && table[slot + 1] === h4 >>> 0;
    if (known) this.#found++;
    else {
      table[slot] = h1;
      table[slot + 1] = h4;
    }
    if (--this.#left === 0) this.#judge();
    return known;
  }

  #judge(): void {
    if (this.#found * PAYS >= WINDOW_ROWS) this.#begin();
    else this.#pause();
  }

  #pause(): void {
    this.#left = 0;
    this.#ignore = this.#nextIgnored;
    this.#nextIgnored *= 2;
  }

  #begin(): void {
    this.#remembers = true;
    this.#left = WINDOW_ROWS;
    this.#found = 0;
  }
}
