/**
 * Finds where a CSV document can be cut: just behind a line feed that ends a row.
 *
 * Follows quotes from the first row on, by the rules of the reader (csv.ts): a line feed may stand in a quoted cell, and a quote in an
 * unquoted one is a character. What lies between quotes is passed over at the speed of a search, unless there are many.
 * A cell that is malformed ends nothing here: the reader of its slice will say so.
 */
import { type CsvDialect, DEFAULT_DELIMITER, DEFAULT_QUOTE } from '../../core/csv-dialect.ts';

const LF = 10;
const CR = 13;

/** Searching for the next quote costs as much as looking at so many bytes; after so many close ones, it is given up for a chunk. */
const NEAR_BYTES = 64;
const MAX_NEAR = 8;

/** At the beginning of a row; of a cell; within an unquoted cell; a quoted one; behind a quote in that; in a comment. */
const ROW = 0;
const CELL = 1;
const PLAIN = 2;
const QUOTED = 3;
const QUOTE = 4;
const COMMENT = 5;

/**
 * Whether documents of a dialect can be cut. Without a header, the first row says how many columns there are: every slice would have to
 * read, but not map, it. Escapes, quotes behind white space and long comment signs are followed by the reader alone.
 */
export const canBeCut = ({ headerRows, doubleQuote, trim = 'none', commentPrefix }: CsvDialect): boolean =>
  headerRows !== 0 && doubleQuote !== false && trim === 'none' && Buffer.byteLength(commentPrefix ?? '') < 2;

/** For dialects that `canBeCut`. */
export class CsvCuts {
  /** Offsets of rows: for each target, the first one at or behind it. */
  readonly cuts: number[] = [];
  readonly #targets: readonly number[];
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #comment: number;
  #state = ROW;
  #at: number;
  #next = 0;

  /**
   * @param at offset of the first chunk, where a row begins
   * @param targets ascending offsets
   */
  constructor(dialect: CsvDialect, at: number, targets: readonly number[]) {
    this.#delimiter = (dialect.delimiter ?? DEFAULT_DELIMITER).charCodeAt(0);
    this.#quote = dialect.quoteChar === null ? -1 : (dialect.quoteChar ?? DEFAULT_QUOTE).charCodeAt(0);
    this.#comment = dialect.commentPrefix ? dialect.commentPrefix.charCodeAt(0) : -1;
    this.#at = at;
    this.#targets = targets;
  }

  /** Whether the last target is still to be passed. */
  get wanted(): boolean {
    return this.#next < this.#targets.length;
  }

  feed(chunk: Buffer): void {
    const rest = this.#comment < 0 ? this.#jump(chunk) : 0;
    if (rest < chunk.length) this.#follow(chunk, rest);
    this.#at += chunk.length;
  }

  /** From quote to quote, as long as they are not close together; gives the position from which on each byte is to be looked at. */
  #jump(chunk: Buffer): number {
    const quote = this.#quote;
    const end = chunk.length;
    let state = this.#state;
    let near = 0;
    let i = 0;
    while (i < end && near < MAX_NEAR) {
      if (state === QUOTED) {
        const close = chunk.indexOf(quote, i);
        state = close < 0 ? QUOTED : QUOTE;
        i = close < 0 ? end : close + 1;
        continue;
      }
      if (state === QUOTE && chunk[i] === quote) {
        state = QUOTED;
        i++;
        continue;
      }
      const found = quote < 0 ? -1 : chunk.indexOf(quote, i);
      const stop = found < 0 ? end : found;
      near = stop - i < NEAR_BYTES ? near + 1 : 0;
      this.#cutBetween(chunk, i, stop);
      if (stop > i) state = this.#behind(chunk[stop - 1] as number);
      else if (state === QUOTE) state = PLAIN;
      if (found >= 0) state = state < PLAIN ? QUOTED : PLAIN;
      i = stop + 1;
    }
    this.#state = state;
    return i;
  }

  /** Without a quote between, each line feed ends a row. */
  #cutBetween(chunk: Buffer, start: number, stop: number): void {
    while (this.wanted) {
      const from = Math.max(start, (this.#targets[this.#next] as number) - this.#at - 1);
      const feed = from >= stop ? -1 : chunk.indexOf(LF, from);
      if (feed < 0 || feed >= stop) return;
      this.#cut(this.#at + feed + 1);
    }
  }

  #follow(chunk: Buffer, start: number): void {
    const quote = this.#quote;
    const delimiter = this.#delimiter;
    const comment = this.#comment;
    const end = chunk.length;
    let state = this.#state;
    let target = (this.#targets[this.#next] ?? Number.POSITIVE_INFINITY) - this.#at;
    for (let i = start; i < end; i++) {
      let c = chunk[i] as number;
      if (state === QUOTED) {
        while (c !== quote && ++i < end) c = chunk[i] as number;
        if (i < end) state = QUOTE;
        continue;
      }
      if (state === QUOTE && c === quote) {
        state = QUOTED;
        continue;
      }
      if (state === COMMENT) {
        if (c !== LF && c !== CR) continue;
      } else if (state < PLAIN && c === quote) {
        state = QUOTED;
        continue;
      } else if (state === ROW && c === comment) {
        state = COMMENT;
        continue;
      }
      if (c === LF) {
        state = ROW;
        if (i + 1 < target) continue;
        this.#cut(this.#at + i + 1);
        target = (this.#targets[this.#next] ?? Number.POSITIVE_INFINITY) - this.#at;
      } else if (c === delimiter) state = CELL;
      else if (c === CR) state = ROW;
      else {
        state = PLAIN;
        for (; i + 1 < end; i++) {
          c = chunk[i + 1] as number;
          if (c === delimiter || c === LF || c === CR) break;
        }
      }
    }
    this.#state = state;
  }

  /** Several targets may lie in one row. */
  #cut(offset: number): void {
    this.cuts.push(offset);
    while (this.wanted && (this.#targets[this.#next] as number) <= offset) this.#next++;
  }

  #behind(byte: number): number {
    return byte === LF || byte === CR ? ROW : byte === this.#delimiter ? CELL : PLAIN;
  }
}
