/** Reads the rows of one table of an OpenDocument spreadsheet. @see https://docs.oasis-open.org/office/OpenDocument/v1.3/ */

import type { Archive } from '../package/archive.ts';
import type { TagHandler, Tokens } from '../package/tokens.ts';
import { cellName, MAX_COLUMNS, MAX_ROWS } from '../table/choice.ts';
import type { SheetTable } from '../table/table.ts';
import { booleanCell, type CellValue, errorCell, textOf, UNCALCULATED, wrongCell } from '../values/cell-value.ts';
import { dateCell, timeOfDuration } from '../values/dates.ts';
import type { Shown } from '../values/number-format.ts';
import { numberCell } from '../values/numbers.ts';
import type { OdsStyles } from './styles.ts';

/** Depth of the tables that are sheets: tables stand in other places, too. */
export const SHEET_DEPTH = 4;
/** A row that is repeated gives so many records at a time. */
const REPEATED_ROWS = 512;

interface RepeatedRow {
  readonly cells: readonly (readonly [column: number, value: CellValue])[];
  left: number;
}

export class OdsRows implements TagHandler {
  wantsText = false;
  hiddenRows = 0;
  merged = 0;
  firstMerged: string | undefined;

  readonly #table: SheetTable;
  readonly #styles: OdsStyles;
  readonly #archive: Archive;
  /** Number of the table among those of the document, from 0. */
  readonly #wantedTable: number;
  #tokens: Tokens | undefined;
  #depth = 0;
  #tables = 0;
  #inTable = false;
  /** The default styles of columns: each holds from the column behind the one before up to `until`. */
  readonly #columns: { readonly until: number; readonly style: string | undefined }[] = [];
  #row = 0;
  #rowRepeat = 1;
  #rowStyle: string | undefined;
  #collected: [number, CellValue][] | undefined;
  #repeated: RepeatedRow | undefined;
  #column = 0;
  /** Depth of the current cell; 0: there is none. */
  #cellDepth = 0;
  #columnRepeat = 1;
  #wanted = false;
  #value: CellValue | undefined;
  #isError = false;
  #text = '';
  #paragraphs = 0;
  /** Depth of an element within a cell whose texts are no value: a comment, a drawing. */
  #skippedDepth = 0;

  constructor(table: SheetTable, styles: OdsStyles, archive: Archive, wantedTable: number) {
    this.#table = table;
    this.#styles = styles;
    this.#archive = archive;
    this.#wantedTable = wantedTable;
  }

  open(name: string, tokens: Tokens): void {
    const depth = ++this.#depth;
    if (!this.#inTable) {
      if (name === 'table:table' && depth === SHEET_DEPTH) {
        this.#tokens = tokens;
        this.#inTable = this.#tables++ === this.#wantedTable;
      } else if (this.#tables === 0) this.#styles.open(name, tokens);
      return;
    }
    if (this.#cellDepth > 0) {
      if (this.#skippedDepth === 0) this.#openInCell(name, tokens);
      return;
    }
    switch (name) {
      case 'table:table-cell':
      case 'table:covered-table-cell':
        this.#openCell(tokens);
        return;
      case 'table:table-row':
        this.#openRow(tokens);
        return;
      case 'table:table-column': {
        const from = this.#columns.at(-1)?.until ?? 0;
        const until = from + count(tokens, 'table:number-columns-repeated');
        if (isHidden(tokens)) this.#table.hide(from, until - 1);
        this.#columns.push({ until, style: tokens.attribute('table:default-cell-style-name') });
      }
    }
  }

  text(text: string): void {
    // White space is one space, as in a page; more of it is written as text:s.
    const words = text.replace(/[ \t\n\r]+/g, ' ');
    this.#text += this.#text === '' || /[\n ]$/.test(this.#text) ? words.replace(/^ /, '') : words;
    this.#checkLength();
  }

  close(name: string): void {
    const depth = this.#depth--;
    if (!this.#inTable) return;
    if (this.#cellDepth > 0) {
      if (depth === this.#cellDepth) this.#closeCell();
      else if (depth === this.#skippedDepth) {
        this.#skippedDepth = 0;
        this.wantsText = depth > this.#cellDepth + 1;
      } else if (name === 'text:p' && depth === this.#cellDepth + 1) this.wantsText = false;
    } else if (name === 'table:table-row') this.#closeRow();
    else if (name === 'table:table' && depth === SHEET_DEPTH) this.#inTable = false;
  }

  /** The records of a row that is repeated, some at a time. False: no such row waits. */
  repeat(): boolean {
    const row = this.#repeated;
    if (row === undefined) return false;
    for (let i = 0; i < REPEATED_ROWS && row.left > 0; i++) {
      row.left--;
      this.#table.begin(this.#row++);
      let bytes = 0;
      for (const [column, value] of row.cells) {
        this.#table.cell(column, value);
        bytes += textOf(value).length;
      }
      this.#archive.charge(bytes + row.cells.length);
      if (this.#table.end()) break;
    }
    if (row.left === 0) this.#repeated = undefined;
    return true;
  }

  #openRow(tokens: Tokens): void {
    this.#rowRepeat = count(tokens, 'table:number-rows-repeated');
    this.#rowStyle = tokens.attribute('table:default-cell-style-name');
    if (isHidden(tokens)) this.hiddenRows += this.#rowRepeat;
    this.#column = 0;
    // Up to the header, it does not matter which columns are read.
    this.#collected = this.#rowRepeat > 1 ? [] : undefined;
    if (this.#row >= MAX_ROWS) tokens.fail(`The sheet ${this.#table.sheet} has more than ${MAX_ROWS} rows`);
    if (this.#collected === undefined) this.#table.begin(this.#row);
  }

  #closeRow(): void {
    const cells = this.#collected;
    if (cells === undefined) {
      this.#row++;
      if (this.#table.end()) (this.#tokens as Tokens).paused = true;
      return;
    }
    if (cells.length === 0) {
      // Programs fill a sheet up with empty rows.
      this.#row = Math.min(this.#row + this.#rowRepeat, MAX_ROWS);
      return;
    }
    if (this.#row + this.#rowRepeat > MAX_ROWS)
      (this.#tokens as Tokens).fail(
        `Row ${this.#row + 1} of the sheet ${this.#table.sheet} is repeated ${this.#rowRepeat} times, and a sheet has ${MAX_ROWS} rows`,
      );
    this.#repeated = { cells, left: this.#rowRepeat };
    (this.#tokens as Tokens).paused = true;
  }

  #openCell(tokens: Tokens): void {
    this.#cellDepth = this.#depth;
    this.#columnRepeat = count(tokens, 'table:number-columns-repeated');
    this.#wanted = this.#collected !== undefined || this.#columnRepeat > 1 || this.#table.wants(this.#column);
    this.#value = undefined;
    this.#isError = false;
    this.#text = '';
    this.#paragraphs = 0;
    if (tokens.attribute('table:number-columns-spanned') !== undefined || tokens.attribute('table:number-rows-spanned') !== undefined)
      this.#openMerged(tokens);
    if (!this.#wanted) return;
    this.#isError = tokens.attribute('calcext:value-type') === 'error';
    this.#value = this.#valueOf(tokens);
  }

  #openMerged(tokens: Tokens): void {
    if (count(tokens, 'table:number-columns-spanned') * count(tokens, 'table:number-rows-spanned') === 1) return;
    this.merged++;
    this.firstMerged ??= cellName(this.#table.sheet, this.#row, this.#column);
  }

  /** undefined: the paragraphs of the cell are its value. */
  #valueOf(tokens: Tokens): CellValue | undefined {
    const type = tokens.attribute('office:value-type');
    const value = (name: string): string => tokens.attribute(name) ?? '';
    switch (type) {
      case undefined:
        return tokens.attribute('table:formula') === undefined ? undefined : UNCALCULATED;
      case 'float':
      case 'currency':
      case 'percentage':
        return numberCell(value('office:value'));
      case 'boolean':
        return booleanCell(value('office:boolean-value'));
      case 'date':
        return dateCell(value('office:date-value'), this.#shown(tokens));
      case 'time':
        return timeOfDuration(value('office:time-value'), this.#shown(tokens));
      case 'void':
        return '';
      case 'string':
        return this.#isError ? undefined : tokens.attribute('office:string-value');
      default:
        return wrongCell(type, `has the unknown type ${JSON.stringify(type)}`);
    }
  }

  #shown(tokens: Tokens): Shown | undefined {
    const style = tokens.attribute('table:style-name') ?? this.#rowStyle ?? this.#columns.find(({ until }) => this.#column < until)?.style;
    return style === undefined ? undefined : this.#styles.shown(style);
  }

  #openInCell(name: string, tokens: Tokens): void {
    const isParagraph = name === 'text:p' && this.#depth === this.#cellDepth + 1;
    if (isParagraph) {
      if (this.#paragraphs++ > 0) this.#text += '\n';
      this.wantsText = this.#wanted && (this.#value === undefined || this.#isError);
    } else if (
      !this.wantsText ||
      name === 'office:annotation' ||
      name === 'text:note' ||
      name === 'text:ruby-text' ||
      name.startsWith('draw:')
    ) {
      if (this.#depth === this.#cellDepth + 1 || this.wantsText) {
        this.#skippedDepth = this.#depth;
        this.wantsText = false;
      }
    } else if (name === 'text:s') this.#text += ' '.repeat(Math.min(count(tokens, 'text:c'), this.#table.maxBytes + 1));
    else if (name === 'text:tab') this.#text += '\t';
    else if (name === 'text:line-break') this.#text += '\n';
    this.#checkLength();
  }

  #checkLength(): void {
    if (this.#text.length > this.#table.maxBytes) throw this.#table.tooLong(this.#row);
  }

  #closeCell(): void {
    const repeat = this.#columnRepeat;
    const first = this.#column;
    this.#cellDepth = 0;
    this.#column += repeat;
    this.wantsText = false;
    if (!this.#wanted) return;
    const value = this.#isError ? errorCell(this.#text) : (this.#value ?? this.#text);
    if (value === '') return;
    if (first + repeat > MAX_COLUMNS)
      (this.#tokens as Tokens).fail(`Row ${this.#row + 1} of the sheet ${this.#table.sheet} has more than ${MAX_COLUMNS} columns`);
    for (let column = first; column < first + repeat; column++) {
      if (this.#collected === undefined) this.#table.cell(column, value);
      else this.#collected.push([column, value]);
    }
    if (repeat > 1) this.#archive.charge(repeat * textOf(value).length);
  }
}

/** Of a row or of columns. */
const isHidden = (tokens: Tokens): boolean => ['collapse', 'filter'].includes(tokens.attribute('table:visibility') ?? '');

/** How often, at least once. */
function count(tokens: Tokens, attribute: string): number {
  const text = tokens.attribute(attribute);
  if (text === undefined) return 1;
  if (!/^\d{1,9}$/.test(text)) tokens.fail(`${attribute} should be a number, and is ${JSON.stringify(text)}`);
  return Math.max(1, Number(text));
}
