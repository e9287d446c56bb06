/**
 * Scans the bytes of delimited text: cuts rows, and within a row only the cells of the columns that have a slot.
 *
 * The first row is the header unless the dialect says otherwise (`core/input/csv-dialect.ts`). Rows end at LF, CRLF or CR. Rows without any
 * character are skipped by default. A quote inside an unquoted cell is an ordinary character.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4180 and https://www.w3.org/TR/tabular-data-model/#parsing
 */

import { Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import type { CsvOptions } from '../source.ts';
import { byteDialect } from './dialect.ts';
import { CsvWindow, WITHOUT_QUOTES } from './window.ts';

/** Cells by slot, as one-byte UTF-8. null: the row has no such cell, or an empty unquoted one in the legacy dialect. */
export type Row = (string | null)[];

const LF = 10;
const CR = 13;
const TAB = 9;
const SPACE = 32;

/** Slots for the header, whose columns are all read: each of up to 65,536 columns is its own slot. Never written to. */
const EVERY_COLUMN = new Int32Array(65_536);
// A small run would notice the time of Int32Array.from.
for (let column = 0; column < EVERY_COLUMN.length; column++) EVERY_COLUMN[column] = column;

export const MAX_ROWS = 512;

/** Usage: `readHeader`, then `slot` for each column that is read, then `takeRows` and, when it returns no rows, `fill`. */
export class CsvScanner extends CsvWindow {
  /** Names of the columns, as one-byte UTF-8. */
  header: readonly string[] = [];
  /** Number of rows with text beyond the last column of the header, and where the first is. */
  longRows = 0;
  firstLongRow: FaultPlace | undefined;
  /** The first cell that begins with a quote which the dialect does not declare. */
  undeclaredQuoteAt: FaultPlace | undefined;

  readonly #delimiter: number;
  readonly #quote: number;
  readonly #undeclaredQuote: number;
  readonly #doubleQuote: boolean;
  readonly #escape: number;
  readonly #comment: string;
  readonly #trimStart: boolean;
  readonly #trimEnd: boolean;
  readonly #skipBlankRows: boolean | undefined;
  readonly #emptyIsNull: boolean;
  /** 0-based position of the next row, for messages; the header does not count. */
  #row = 0;
  /** By column: the slot of its cell in a record, or -1. */
  #slots: Int32Array = new Int32Array(0);
  /** A record without any cell: null for each slot. */
  #blank: Row = [];
  /** Where the rows that `takeRows` has returned last begin, by index. */
  readonly #starts = new Int32Array(MAX_ROWS);

  constructor(document: AsyncIterable<Uint8Array> | string, options: CsvOptions) {
    super(document, options);
    const dialect = byteDialect(options);
    this.#delimiter = dialect.delimiter;
    this.#quote = dialect.quote;
    this.#undeclaredQuote = dialect.undeclaredQuote;
    this.#doubleQuote = dialect.doubleQuote;
    this.#escape = dialect.escape;
    this.#comment = dialect.comment;
    this.#trimStart = dialect.trimStart;
    this.#trimEnd = dialect.trimEnd;
    this.#skipBlankRows = dialect.skipBlankRows;
    this.#emptyIsNull = options.dialect === 'legacy';
  }

  /** The index in a record of the cell of `column`. Call it for all columns before the first `takeRows`. */
  slot(column: number): number {
    const known = this.#slots[column] as number;
    if (known >= 0) return known;
    const slot = this.#blank.length;
    this.#slots[column] = slot;
    this.#blank.push(null);
    return slot;
  }

  /** The 1-based line on which a row begins, by its index in what `takeRows` has returned last. */
  lineOf(index: number): number {
    return this.lineAt(this.#starts[index] as number);
  }

  /** Reads the header and everything before it. @throws Fault source/malformed — there is no header, or a malformed row */
  async readHeader(): Promise<void> {
    for (const _ of this.#header()) await this.fill();
  }

  /** `readHeader` for a document that was given as a string. */
  readHeaderOfText(): void {
    for (const _ of this.#header()) throw new Fault('internal/error', 'A text has no more bytes than it was given with');
  }

  /** Yields whenever the window must be filled. */
  *#header(): Generator<void> {
    const { skipRows = 0, headerRows = 1 } = this.options.csv ?? {};
    for (let skipped = 0; skipped < skipRows; skipped++) {
      while (!this.#skipRow()) {
        if (this.ended) throw this.#headless(`it ends within the ${skipRows} rows that are skipped`);
        yield;
      }
    }
    this.#slots = EVERY_COLUMN;
    const rows: Row[] = [];
    let at = this.at;
    while (rows.length < Math.max(1, headerRows)) {
      at = this.at;
      const [row] = this.takeRows(1);
      if (row !== undefined) rows.push(row);
      else if (this.ended) break;
      else yield;
    }
    const [first] = rows;
    if (first === undefined) throw this.#headless(skipRows === 0 ? undefined : `nothing is behind the ${skipRows} rows that are skipped`);
    if (rows.length < headerRows) throw this.#headless(`it has ${rows.length} of the ${headerRows} header rows`);
    if (headerRows === 0) {
      this.header = first.map((_, column) => String(column + 1));
      this.at = at;
    } else {
      const width = Math.max(...rows.map((row) => row.length));
      this.header = Array.from({ length: width }, (_, column) => rows.map((row) => row[column]).find((cell) => cell) ?? '');
    }
    this.#row = 0;
    this.#slots = new Int32Array(this.header.length).fill(-1);
    this.#blank = [];
  }

  #headless(found = 'it is empty'): Fault {
    const { headerRows } = this.options.csv ?? {};
    const what = headerRows === 0 ? 'no row' : 'no header row with the names of the columns';
    return new Fault('source/malformed', `There is ${what} in the input: ${found}`, {
      place: { input: this.options.name },
      hint: headerRows === 0 ? 'Check what writes the file' : 'Check what writes the file: a table without rows has a header all the same',
    });
  }

  /** Skips a row, which need not be well-formed. False: the window holds only a part of it, or nothing. */
  #skipRow(): boolean {
    const buffer = this.buffer;
    const end = buffer.length;
    let opens = true;
    for (let at = this.at; at < end; ) {
      const c = buffer[at++] as number;
      if (c === LF || c === CR) {
        if (c === CR && at === end && !this.ended) return false;
        this.at = c === CR && buffer[at] === LF ? at + 1 : at;
        return true;
      }
      if (opens && c === this.#quote) {
        const close = this.#closingQuote(at);
        if (close < 0) return false;
        at = close + 1;
      } else if (c === this.#escape) at++;
      opens = c === this.#delimiter;
    }
    if (!this.ended || this.at === end) return false;
    this.at = end;
    return true;
  }

  /**
   * Up to `limit` complete rows, at most `MAX_ROWS`, from the window; none if it holds only a partial row.
   *
   * @throws Fault source/malformed — a malformed quoted cell; limit/exceeded — a row is too long
   */
  takeRows(limit: number): Row[] {
    const buffer = this.buffer;
    const text = this.text;
    const end = buffer.length;
    const delimiter = this.#delimiter;
    const quote = this.#quote;
    const undeclared = this.#undeclaredQuote;
    const escape = this.#escape;
    const trimStart = this.#trimStart;
    const slots = this.#slots;
    const width = slots.length;
    const longest = this.options.maxRecordBytes;
    const skipsBlank = this.#skipBlankRows !== false;
    const comment = this.#comment === '' ? -1 : this.#comment.charCodeAt(0);
    const header = this.header.length === 0;
    const plain = escape < 0 && !trimStart && !this.#trimEnd;
    const emptyCell = this.#emptyIsNull && !header ? null : '';
    const rows: Row[] = [];
    let at = this.at;
    while (rows.length < limit && at < end) {
      const first = buffer[at] as number;
      if ((first === LF || first === CR) && skipsBlank) {
        at++;
        this.at = at;
        continue;
      }
      if (first === comment) {
        const next = this.#pastComment(at);
        if (next < 0) break;
        if (next > at) {
          at = next;
          this.at = at;
          continue;
        }
      }
      const row: Row = header ? [] : this.#blank.slice();
      let column = 0;
      let complete = false;
      let surplus = false;
      while (true) {
        const slot = column < width ? (slots[column] as number) : -1;
        let c = -1;
        if (trimStart) at = this.#atQuote(at);
        if (at < end && buffer[at] === quote) {
          const close = this.#closingQuote(at + 1);
          if (close < 0) break;
          if (slot >= 0) row[slot] = this.#unquote(at + 1, close);
          else if (column >= width) surplus = true;
          at = this.#trimEnd ? this.#pastSpace(close + 1) : close + 1;
          if (at < end) c = buffer[at] as number;
          if (c !== -1 && c !== delimiter && c !== LF && c !== CR) throw this.#malformedQuote(at, column);
        } else {
          const start = at;
          if (undeclared >= 0 && buffer[at] === undeclared) this.undeclaredQuoteAt ??= this.placeOf(at);
          if (escape >= 0) at = this.#endOfEscaped(at);
          while (at < end) {
            c = buffer[at] as number;
            if (c === delimiter || c === LF || c === CR) break;
            at++;
          }
          if (at === end) c = -1;
          if (slot >= 0) row[slot] = at === start ? emptyCell : plain ? text.slice(start, at) : this.#cell(start, at) || emptyCell;
          else if (column >= width && at > start) surplus = true;
        }
        if (c === delimiter) {
          at++;
          column++;
          continue;
        }
        if (c === -1) {
          // The end of the window: the row is complete only if this is also the end of the input.
          if (this.ended) complete = true;
          break;
        }
        if (c === CR && at + 1 === end && !this.ended) break;
        at += c === CR && buffer[at + 1] === LF ? 2 : 1;
        complete = true;
        break;
      }
      if (!complete) break;
      if (at - this.at > longest) throw this.tooLong();
      if (this.#skipBlankRows === true && this.#isBlank(this.at, at)) {
        this.at = at;
        continue;
      }
      if (surplus) {
        if (this.longRows++ === 0) this.firstLongRow = this.placeOf(this.at);
      }
      this.#starts[rows.length] = this.at;
      rows.push(row);
      this.at = at;
      this.#row++;
    }
    return rows;
  }

  /** Position after the comment line that begins at `at`; `at` itself if no comment begins there; -1 if the window ends before either is known. */
  #pastComment(at: number): number {
    const buffer = this.buffer;
    const end = buffer.length;
    // If the window cuts the prefix off, the row is partial and is scanned again.
    if (!this.text.startsWith(this.#comment, at)) return at;
    let next = at;
    while (next < end && buffer[next] !== LF && buffer[next] !== CR) next++;
    if (next + 1 >= end) return this.ended ? end : -1;
    return buffer[next] === CR && buffer[next + 1] === LF ? next + 2 : next + 1;
  }

  /** Position of the quote that closes the cell whose text begins at `from`; -1 if the window ends before it. @throws Fault source/malformed */
  #closingQuote(from: number): number {
    const buffer = this.buffer;
    let at = from;
    while (true) {
      at = this.#escape < 0 ? buffer.indexOf(this.#quote, at) : this.#quoteBehindEscapes(at);
      if (at < 0 || (at + 1 === buffer.length && !this.ended)) {
        if (!this.ended) return -1;
        throw new Fault('source/malformed', 'A quoted cell is never closed', {
          place: this.placeOf(from),
          hint: `Close the quote, or ${this.#doubleQuote ? 'double' : 'put a backslash before'} a quote that belongs to the text. ${WITHOUT_QUOTES}`,
        });
      }
      if (this.#doubleQuote && buffer[at + 1] === this.#quote) at += 2;
      else return at;
    }
  }

  /** Position of the next quote that is not escaped, or -1. */
  #quoteBehindEscapes(from: number): number {
    const buffer = this.buffer;
    for (let at = from; at < buffer.length; at++) {
      if (buffer[at] === this.#quote) return at;
      if (buffer[at] === this.#escape) at++;
    }
    return -1;
  }

  /** Position after the last escaped character of the unquoted cell at `from`; `from` if it has none. */
  #endOfEscaped(from: number): number {
    const buffer = this.buffer;
    let behind = from;
    for (let at = from; at < buffer.length; at++) {
      const c = buffer[at] as number;
      if (c === this.#delimiter || c === LF || c === CR) break;
      if (c === this.#escape) behind = Math.min(++at + 1, buffer.length);
    }
    return behind;
  }

  /** The position of a quote that only white space separates from `at`; otherwise, `at`. */
  #atQuote(at: number): number {
    const next = this.#pastSpace(at);
    return this.buffer[next] === this.#quote ? next : at;
  }

  /** Position after the spaces and tabs at `from`, unless one of them is the delimiter. */
  #pastSpace(from: number): number {
    const buffer = this.buffer;
    let at = from;
    while (at < buffer.length && buffer[at] !== this.#delimiter && (buffer[at] === SPACE || buffer[at] === TAB)) at++;
    return at;
  }

  /** The text between the quotes of a cell, without escapes. */
  #unquote(from: number, to: number): string {
    if (!this.#doubleQuote) return this.#cell(from, to);
    const cell = this.#cell(from, to);
    const quote = String.fromCharCode(this.#quote);
    return cell.includes(quote) ? cell.replaceAll(quote + quote, quote) : cell;
  }

  /** The text of a cell, trimmed and unescaped as the dialect says. Only ASCII white space is trimmed: other bytes belong to UTF-8 characters. */
  #cell(from: number, to: number): string {
    const buffer = this.buffer;
    let [start, end] = [from, to];
    while (this.#trimStart && start < end && isSpace(buffer[start] as number)) start++;
    while (this.#trimEnd && end > start && isSpace(buffer[end - 1] as number)) end--;
    const cell = this.text.slice(start, end);
    return this.#escape < 0 ? cell : cell.replace(/\\([^])/g, '$1');
  }

  /** Whether the row between the positions has only empty cells. */
  #isBlank(from: number, to: number): boolean {
    const buffer = this.buffer;
    const ends = (at: number): boolean => at >= to || [this.#delimiter, LF, CR].includes(buffer[at] as number);
    for (let at = from; at < to; at++) {
      if (ends(at) || (this.#trimStart && this.#trimEnd && isSpace(buffer[at] as number))) continue;
      if (buffer[at] !== this.#quote || buffer[at + 1] !== this.#quote || !ends(at + 2)) return false;
      at++;
    }
    return true;
  }

  #malformedQuote(at: number, column: number): Fault {
    return new Fault('source/malformed', 'A quoted cell is followed by something other than a delimiter or the end of the row', {
      place: { ...this.placeOf(at), expression: fromBytes(this.header[column] ?? `column ${column + 1}`) },
      hint: `${this.#doubleQuote ? 'Double' : 'Put a backslash before'} a quote that belongs to the text. ${WITHOUT_QUOTES}`,
    });
  }

  protected override context(): FaultPlace {
    return { input: this.options.name, ...(this.header.length === 0 ? {} : { record: this.#row }) };
  }
}

const isSpace = (c: number): boolean => c === SPACE || (c >= TAB && c <= CR);
