/** Reads the rows of a sheet of an XLSX workbook. @see ECMA-376 part 1, 18.3.1 */
import { Fault } from '../../../core/fault.ts';
import type { ReadOptions } from '../../source.ts';
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
  #column = -1;
  /** Of the current cell. */
  #type: string | undefined;
  #style = 0;
  #text = '';
  #hasValue = false;
  #hasFormula = false;
  #wanted = false;
  #inHint = false;
  /** Within `sheetData`: other elements of the part have rows and texts, too. */
  #inData = false;

  constructor(table: SheetTable, strings: SharedStrings, shown: readonly Shown[], date1904: boolean, { name }: ReadOptions) {
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
        this.#hasValue = true;
        this.wantsText = this.#wanted && !this.#inHint;
        return;
      case 'f':
        this.#hasFormula = true;
        return;
      case 'rPh':
        this.#inHint = true;
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
        this.#inHint = false;
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
    if (!(row > this.#row && row < MAX_ROWS)) tokens.fail(`There is a row ${number ?? row + 1} behind row ${this.#row + 1}`);
    if (isTrue(tokens.attribute('hidden'))) this.hiddenRows++;
    this.#row = row;
    this.#column = -1;
    this.#table.begin(row);
  }

  #openCell(tokens: Tokens): void {
    const reference = tokens.attribute('r');
    const column = reference === undefined ? this.#column + 1 : columnOf(reference);
    if (!(column > this.#column && column < MAX_COLUMNS)) {
      const shown = reference ?? `in column ${column + 1}`;
      tokens.fail(`There is a cell ${shown} in row ${this.#row + 1} of the sheet ${this.#table.sheet}, where no such cell can be`);
    }
    this.#column = column;
    this.#wanted = this.#table.wants(column);
    this.#hasValue = false;
    this.#hasFormula = false;
    if (!this.#wanted) return;
    this.#type = tokens.attribute('t');
    this.#style = Number(tokens.attribute('s') ?? 0);
    this.#text = '';
  }

  #value(): CellValue {
    const text = this.#text;
    if (!this.#hasValue) return this.#hasFormula ? UNCALCULATED : '';
    switch (this.#type) {
      case 's':
        return this.#shared(text);
      case undefined:
      case 'n': {
        if (text === '') return this.#hasFormula ? UNCALCULATED : '';
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

/** 0-based, of a reference such as `AB12`; NaN: none. */
function columnOf(reference: string): number {
  let column = 0;
  let i = 0;
  for (; i < reference.length; i++) {
    const letter = reference.charCodeAt(i) & ~32;
    if (letter < 65 || letter > 90) break;
    column = column * 26 + letter - 64;
  }
  return i === 0 || i > 3 ? Number.NaN : column - 1;
}
