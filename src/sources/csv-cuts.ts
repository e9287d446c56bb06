/**
 * Finds where a CSV document can be cut: just behind a line feed that ends a row.
 *
 * Follows quotes from the first row on, by the rules of the reader (csv.ts): a line feed may stand in a quoted cell, and a quote in an
 * unquoted one is a character. Chunks without a quote are passed over at the speed of a search; others cost about a nanosecond a byte.
 * A cell that is malformed ends nothing here: the reader of its slice will say so.
 */
import type { CsvDialect } from './source.ts';

const LF = 10;
const CR = 13;

/** At the beginning of a row; of a cell; within an unquoted cell; a quoted one; behind a quote in that; in a comment. */
const ROW = 0;
const CELL = 1;
const PLAIN = 2;
const QUOTED = 3;
const QUOTE = 4;
const COMMENT = 5;

export class CsvCuts {
  /** Offsets of rows: for each target, the first one at or behind it. */
  readonly cuts: number[] = [];
  readonly #targets: readonly number[];
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #doubleQuote: boolean;
  readonly #comment: number;
  #state = ROW;
  #at: number;
  #next = 0;

  /**
   * @param at offset of the first chunk, where a row begins
   * @param targets ascending offsets
   */
  constructor(dialect: CsvDialect, at: number, targets: readonly number[]) {
    this.#delimiter = (dialect.delimiter ?? ',').charCodeAt(0);
    this.#quote = dialect.quoteChar === null ? -1 : (dialect.quoteChar ?? '"').charCodeAt(0);
    this.#doubleQuote = dialect.doubleQuote ?? true;
    this.#comment = dialect.commentPrefix == null ? -1 : dialect.commentPrefix.charCodeAt(0);
    this.#at = at;
    this.#targets = targets;
  }

  /** Whether the last target is still to be passed. */
  get wanted(): boolean {
    return this.#next < this.#targets.length;
  }

  feed(chunk: Buffer): void {
    if (this.#comment < 0 && this.#state < QUOTED && (this.#quote < 0 || chunk.indexOf(this.#quote) < 0)) this.#pass(chunk);
    else this.#follow(chunk);
    this.#at += chunk.length;
  }

  /** A chunk without quotes: each line feed ends a row. */
  #pass(chunk: Buffer): void {
    while (this.wanted) {
      const from = Math.max(0, (this.#targets[this.#next] as number) - this.#at - 1);
      const feed = from >= chunk.length ? -1 : chunk.indexOf(LF, from);
      if (feed < 0) break;
      this.#cut(this.#at + feed + 1);
    }
    if (chunk.length > 0) this.#state = this.#behind(chunk[chunk.length - 1] as number);
  }

  #follow(chunk: Buffer): void {
    const quote = this.#quote;
    const delimiter = this.#delimiter;
    const comment = this.#comment;
    const end = chunk.length;
    let state = this.#state;
    let target = (this.#targets[this.#next] ?? Number.POSITIVE_INFINITY) - this.#at;
    for (let i = 0; i < end; i++) {
      const c = chunk[i] as number;
      if (state === QUOTED) {
        if (c === quote) state = QUOTE;
        continue;
      }
      if (state === QUOTE && c === quote && this.#doubleQuote) {
        state = QUOTED;
        continue;
      }
      if (state === COMMENT) {
        if (c !== LF) continue;
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
      } else state = c === delimiter ? CELL : c === CR ? ROW : PLAIN;
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
