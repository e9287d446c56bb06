/** Reads the rows of a sheet of an XLSX workbook. @see ECMA-376 part 1, 18.3.1 */
import { Fault } from '../../../core/fault.ts';
import type { WorkbookOptions } from '../../source.ts';
import type { TagHandler, Tokens } from '../package/tokens.ts';
import { cellName, MAX_COLUMNS, MAX_ROWS } from '../table/choice.ts';
import type { SheetTable } from '../table/table.ts';
import { booleanCell, type CellValue, errorCell, UNCALCULATED, wrongCell } from '../values/cell-value.ts';
import { dateCell } from '../values/dates.ts';
import type { Shown } from '../values/number-format.ts';
import { numberCell, serialCell } from '../values/numbers.ts';
import { type SharedStrings, unescaped } from './strings.ts';
import { isTrue } from './workbook.ts';

export class XlsxRows implements TagHandler {
  wantsText = false;
  /** Rows that the sheet hides, and ranges of cells that it merges. */
  hiddenRows = 0;
  merged = 0;
  firstMerged: string | undefined;

  readonly #table: SheetTable;
  readonly #strings: SharedStrings;
  readonly #shown: readonly Shown[];
  readonly #date1904: boolean;
  readonly #input: string;
  #tokens: Tokens | undefined;
  #row = -1;
  /** Its number in references. */
  #number = '';
  #column = -1;
  /** By column: the 1-based row in which it had a cell last. */
  readonly #lastRows = new Uint32Array(MAX_COLUMNS);
  /** Of the current cell. */
  #type: string | undefined;
  #style = 0;
  #text = '';
  #hasValue = false;
  #hasFormula = false;
  #wanted = false;
  /** Within a phonetic hint or an extension: what stands there is no value. */
  #isBeside = false;
  /** Within `sheetData`: other elements of the part have rows and texts, too. */
  #inData = false;

  constructor(table: SheetTable, strings: SharedStrings, shown: readonly Shown[], date1904: boolean, { name }: WorkbookOptions) {
    this.#table = table;
    this.#strings = strings;
    this.#shown = shown;
    this.#date1904 = date1904;
    this.#input = name;
  }

  open(name: string, tokens: Tokens): void {
    if (!this.#inData) {
      this.#openOutside(name, tokens);
      return;
    }
    switch (name) {
      case 'c':
        this.#openCell(tokens);
        return;
      case 'v':
      case 't':
        if (this.#isBeside) return;
        this.#hasValue = true;
        this.wantsText = this.#wanted;
        return;
      case 'f':
        this.#hasFormula = true;
        return;
      case 'rPh':
      case 'extLst':
        this.#isBeside = true;
        return;
      case 'row':
        this.#openRow(tokens);
    }
  }

  text(text: string): void {
    this.#text = this.#text === '' ? text : this.#text + text;
  }

  close(name: string): void {
    if (!this.#inData) return;
    switch (name) {
      case 'v':
      case 't':
        this.wantsText = false;
        return;
      case 'c':
        if (this.#wanted) this.#table.cell(this.#column, this.#value());
        return;
      case 'rPh':
      case 'extLst':
        this.#isBeside = false;
        return;
      case 'row':
        if (this.#table.end()) (this.#tokens as Tokens).paused = true;
        return;
      case 'sheetData':
        this.#inData = false;
    }
  }

  #openOutside(name: string, tokens: Tokens): void {
    if (name === 'sheetData') {
      this.#inData = true;
      this.#tokens = tokens;
    } else if (name === 'col') {
      if (isTrue(tokens.attribute('hidden'))) this.#table.hide(Number(tokens.attribute('min')) - 1, Number(tokens.attribute('max')) - 1);
    } else if (name === 'mergeCell') {
      this.merged++;
      this.firstMerged ??= tokens.attribute('ref');
    }
  }

  #openRow(tokens: Tokens): void {
    const number = tokens.attribute('r');
    const row = number === undefined ? this.#row + 1 : Number(number) - 1;
    if (!(Number.isInteger(row) && row >= 0 && row < MAX_ROWS))
      tokens.fail(`There is a row ${number ?? row + 1} in the sheet ${this.#table.sheet}, which cannot be`);
    if (row <= this.#row) {
      const order = row === this.#row ? `two rows ${row + 1}` : `a row ${row + 1} behind row ${this.#row + 1}`;
      tokens.fail(`There ${row === this.#row ? 'are' : 'is'} ${order} in the sheet ${this.#table.sheet}`, undefined, SORT_ROWS);
    }
    if (isTrue(tokens.attribute('hidden'))) this.hiddenRows++;
    this.#row = row;
    this.#number = String(row + 1);
    this.#column = -1;
    this.#table.begin(row);
  }

  /** Cells of a row may come in any order. */
  #openCell(tokens: Tokens): void {
    const reference = tokens.attribute('r');
    const column = reference === undefined ? this.#column + 1 : this.#columnOf(reference);
    if (!(column >= 0 && column < MAX_COLUMNS)) {
      const shown = reference ?? `in column ${column + 1}`;
      tokens.fail(`There is a cell ${shown} in row ${this.#row + 1} of the sheet ${this.#table.sheet}, where no such cell can be`);
    }
    if (this.#lastRows[column] === this.#row + 1)
      tokens.fail(
        `The cell ${cellName(this.#table.sheet, this.#row, column)} is there twice`,
        undefined,
        'Delete one of them, or write the workbook again',
      );
    this.#lastRows[column] = this.#row + 1;
    this.#column = column;
    this.#wanted = this.#table.wants(column);
    this.#hasValue = false;
    this.#hasFormula = false;
    if (!this.#wanted) return;
    this.#type = tokens.attribute('t');
    this.#style = Number(tokens.attribute('s') ?? 0);
    this.#text = '';
  }

  /** 0-based, of a reference such as `AB12`; NaN: it is none of the row. */
  #columnOf(reference: string): number {
    let column = 0;
    let i = 0;
    for (; i < reference.length; i++) {
      const letter = reference.charCodeAt(i) & ~32;
      if (letter < 65 || letter > 90) break;
      column = column * 26 + letter - 64;
    }
    const isOfRow = reference.length === i + this.#number.length && reference.endsWith(this.#number);
    return i === 0 || i > 3 || !isOfRow ? Number.NaN : column - 1;
  }

  #value(): CellValue {
    const text = this.#text;
    // Some programs write an empty value for an empty cell.
    if (!this.#hasValue || (text === '' && !MAY_BE_EMPTY.has(this.#type ?? 'n'))) return this.#hasFormula ? UNCALCULATED : '';
    switch (this.#type) {
      case 's':
        return this.#shared(text);
      case undefined:
      case 'n': {
        const shown = this.#shown[this.#style];
        return shown === undefined || shown === 'number' ? numberCell(text) : serialCell(text, shown, this.#date1904);
      }
      case 'str':
      case 'inlineStr':
        return unescaped(text);
      case 'b':
        return booleanCell(text);
      case 'e':
        return errorCell(text);
      case 'd':
        return dateCell(text, this.#shown[this.#style]);
      default:
        return wrongCell(text, `has the unknown type ${JSON.stringify(this.#type)}`);
    }
  }

  #shared(text: string): CellValue {
    const index = indexOf(text);
    if (index < this.#strings.count) return this.#strings.get(index);
    throw new Fault(
      'source/malformed',
      `The cell names the shared text ${JSON.stringify(text)}, and the workbook has ${this.#strings.count} of them`,
      {
        place: { input: this.#input, cell: cellName(this.#table.sheet, this.#row, this.#column) },
        hint: 'Save the workbook again in a spreadsheet program',
      },
    );
  }
}

/** Types of cells whose value may be an empty text: texts, and an error without its name. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['str', 'inlineStr', 'e']);

/** Infinite, if the text is no whole number. */
function indexOf(text: string): number {
  let index = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return /^\s*\d+\s*$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
    index = index * 10 + digit;
  }
  return text === '' ? Number.POSITIVE_INFINITY : index;
}

/** The rows of a sheet are read one at a time, and are records in the order of their numbers. */
const SORT_ROWS =
  'Rows are read as they come, so they must ascend: open the workbook in a spreadsheet program and save it again, which sorts them, or write its rows in order';
