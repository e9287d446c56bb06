/**
 * Finds where a CSV document can be cut: after a line feed that ends a row.
 *
 * Follows quotes from the first row on, by the rules of the reader (csv.ts): a quoted cell may contain line feeds, and a quote in an
 * unquoted cell is a character. Text between quotes is skipped at the speed of a search, unless there are many quotes. A malformed cell is
 * not reported here: the reader of its slice reports it.
 */
import { type CsvDialect, DEFAULT_DELIMITER, quoteIn } from '../../core/input/csv-dialect.ts';
import { type Cut, cutAt, cutsIn, type FindCuts, markOf, namesRows } from '../cuts.ts';
import type { CsvOptions } from '../source.ts';
import { csvHeadBytes } from './csv.ts';

const LF = 10;
const CR = 13;

/**
 * A search for the next quote costs as much as examining this many bytes; after this many close quotes, searching is given up for the
 * chunk.
 */
const NEAR_BYTES = 64;
const MAX_NEAR = 8;

/**
 * At the beginning of a row; at the beginning of a cell; in an unquoted cell; in a quoted cell; after a quote in a quoted cell; in a
 * comment.
 */
const ROW = 0;
const CELL = 1;
const PLAIN = 2;
const QUOTED = 3;
const QUOTE = 4;
const COMMENT = 5;

export const findCsvCuts: FindCuts<CsvOptions> = async (document, iterations, options, targets) => {
  const { csv = {}, encoding } = options;
  const mark = await markOf(document, encoding);
  const counts = namesRows(iterations);
  if (mark === undefined || !canBeCut(csv) || (counts && !canBeCounted(csv))) return undefined;
  const head = mark + (await csvHeadBytes(document.bytes(0), options));
  const wanted = targets.filter((target) => target > head);
  return { head, found: cutsIn(document, head, new CsvCuts(csv, head, wanted, counts)) };
};

/**
 * Whether documents of a dialect can be cut. Without a header, the first row gives the number of columns, so every slice would have to read
 * it without mapping it. Escapes, quotes after white space and long comment prefixes are handled only by the reader.
 */
export const canBeCut = ({ headerRows, doubleQuote, trim = 'none', commentPrefix }: CsvDialect): boolean =>
  headerRows !== 0 && doubleQuote !== false && trim === 'none' && Buffer.byteLength(commentPrefix ?? '') < 2;

/** Whether rows can be counted without reading cells: a row that counts is one with any character. */
const canBeCounted = ({ skipBlankRows }: CsvDialect): boolean => skipBlankRows !== true;

/** For dialects for which `canBeCut` holds. */
export class CsvCuts {
  /** Row offsets: for each target, the first row at or after it. */
  readonly cuts: Cut[] = [];
  readonly #targets: readonly number[];
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #comment: number;
  #state = ROW;
  #at: number;
  #next = 0;
  readonly #counts: boolean;
  readonly #skipsBlankRows: boolean;
  #rows = 0;
  /** The last byte was the carriage return of an end of row. */
  #returned = false;

  /**
   * @param at offset of the first chunk, which must be the beginning of a row
   * @param targets ascending offsets
   * @param counts whether rows are counted: then `canBeCounted` holds, and each byte is examined
   */
  constructor(dialect: CsvDialect, at: number, targets: readonly number[], counts = false) {
    this.#counts = counts;
    this.#skipsBlankRows = dialect.skipBlankRows !== false;
    this.#delimiter = (dialect.delimiter ?? DEFAULT_DELIMITER).charCodeAt(0);
    this.#quote = quoteIn(dialect)?.charCodeAt(0) ?? -1;
    this.#comment = dialect.commentPrefix ? dialect.commentPrefix.charCodeAt(0) : -1;
    this.#at = at;
    this.#targets = targets;
  }

  /** Whether the last target has not been reached yet. */
  get wanted(): boolean {
    return this.#next < this.#targets.length;
  }

  feed(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const rest = this.#comment < 0 && !this.#counts ? this.#jump(chunk) : 0;
    if (rest < chunk.length) this.#follow(chunk, rest);
    this.#at += chunk.length;
  }

  /** Jumps from quote to quote while they are not close together. Returns the position from which each byte must be examined. */
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

  /** Without a quote in between, each line feed ends a row. */
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
    const counts = this.#counts;
    const end = chunk.length;
    let state = this.#state;
    let target = (this.#targets[this.#next] ?? Number.POSITIVE_INFINITY) - this.#at;
    for (let i = start; i < end; i++) {
      let c = chunk[i] as number;
      if (counts && state === ROW) this.#countRow(c);
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
      else if (c === CR) {
        state = ROW;
        this.#returned = true;
      } else {
        state = PLAIN;
        for (; i + 1 < end; i++) {
          c = chunk[i + 1] as number;
          if (c === delimiter || c === LF || c === CR) break;
        }
      }
    }
    this.#state = state;
  }

  /** Counts the row of which `byte` is the first, unless it is none: a comment, an empty row that is skipped, the rest of the end of a row. */
  #countRow(byte: number): void {
    const isRest = byte === LF && this.#returned;
    this.#returned = false;
    if (isRest || byte === this.#comment) return;
    if ((byte === LF || byte === CR) && this.#skipsBlankRows) return;
    this.#rows++;
  }

  /** Several targets may be in one row. */
  #cut(at: number): void {
    this.cuts.push(cutAt(at, this.#counts ? this.#rows : undefined));
    while (this.wanted && (this.#targets[this.#next] as number) <= at) this.#next++;
  }

  #behind(byte: number): number {
    return byte === LF || byte === CR ? ROW : byte === this.#delimiter ? CELL : PLAIN;
  }
}
