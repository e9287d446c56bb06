/** The cells of a binary workbook, as records give them, for the table of the sheet: what XLS and XLSB have in common. */
import { Fault } from '../../../core/fault.ts';
import { toBytes } from '../../../core/text.ts';
import { damaged } from '../package/archive.ts';
import { cellName, MAX_COLUMNS, MAX_ROWS } from '../table/choice.ts';
import type { SheetTable } from '../table/table.ts';
import { booleanCell, type CellValue, errorCell } from '../values/cell-value.ts';
import type { Shown } from '../values/number-format.ts';
import { numberCell, serialCell } from '../values/numbers.ts';
import type { SharedStrings } from '../xlsx/strings.ts';
import { FormulaValues } from './formulas.ts';

/** What cells refer to. */
export interface CellContext {
  readonly table: SheetTable;
  readonly strings: SharedStrings;
  /** By the number of a format. */
  readonly shown: readonly Shown[];
  readonly date1904: boolean;
  readonly input: string;
}

/** Usage: `at` for each cell, and where it is true, one of the others; `end` behind the last cell. */
export class BinaryCells {
  hiddenRows = 0;
  merged = 0;
  firstMerged: string | undefined;
  readonly formulas: FormulaValues;

  readonly #context: CellContext;
  #row = -1;
  #column = -1;
  #isOpen = false;

  constructor(context: CellContext) {
    this.#context = context;
    this.formulas = new FormulaValues((row, column) => cellName(context.table.sheet, row, column));
  }

  /**
   * Whether the value of this cell matters. undefined: the row before it was the header, so the cell must be repeated when the columns are known.
   *
   * @throws Fault source/malformed — cells do not come in their order
   */
  at(row: number, column: number): boolean | undefined {
    const { table } = this.#context;
    if (row !== this.#row) {
      if (this.#isOpen) {
        this.#isOpen = false;
        if (table.end()) return undefined;
      }
      if (row < this.#row || row >= MAX_ROWS) throw this.#disorder(row, column);
      this.#row = row;
      this.#column = -1;
      this.#isOpen = true;
      table.begin(row);
    }
    if (column <= this.#column || column >= MAX_COLUMNS) throw this.#disorder(row, column);
    this.#column = column;
    return table.wants(column);
  }

  number(value: number, format: number): void {
    const { shown: all, date1904 } = this.#context;
    const shown = all[format];
    const text = String(value);
    this.#put(shown === undefined || shown === 'number' ? numberCell(text) : serialCell(text, shown, date1904));
  }

  /**
   * The number that a formula had when the file was saved.
   *
   * @param isDue the file says that it is to be calculated when the workbook is opened
   */
  formulaNumber(value: number, format: number, isDue: boolean): void {
    this.formulas.number(value, isDue, this.#row, this.#column);
    this.number(value, format);
  }

  /** @param text characters */
  text(text: string): void {
    this.#put(toBytes(text));
  }

  /** @param text one-byte UTF-8 */
  utf8(text: string): void {
    this.#put(text);
  }

  boolean(value: number): void {
    this.#put(booleanCell(String(value)));
  }

  error(code: number): void {
    this.#put(errorCell(ERRORS[code] ?? `error ${code}`));
  }

  /** @throws Fault source/malformed — there is no such text */
  shared(index: number): void {
    const { strings, input, table } = this.#context;
    if (index >= strings.count)
      throw new Fault('source/malformed', `The cell names the shared text ${index}, and the workbook has ${strings.count} of them`, {
        place: { input, cell: cellName(table.sheet, this.#row, this.#column) },
        hint: 'Save the workbook again in a spreadsheet program',
      });
    this.#put(strings.get(index));
  }

  merge(top: number, left: number, bottom: number, right: number): void {
    this.merged++;
    this.firstMerged ??= `${cellName('', top, left).slice(1)}:${cellName('', bottom, right).slice(1)}`;
  }

  /** Columns, 0-based and inclusive. */
  hide(first: number, last: number): void {
    this.#context.table.hide(first, last);
  }

  end(): void {
    if (this.#isOpen) this.#context.table.end();
    this.#isOpen = false;
  }

  #put(value: CellValue): void {
    this.#context.table.cell(this.#column, value);
  }

  #disorder(row: number, column: number): Fault {
    const { table, input } = this.#context;
    const before = this.#row < 0 ? '' : `, behind ${cellName(table.sheet, this.#row, Math.max(0, this.#column))}`;
    return damaged(input, `there is the cell ${cellName(table.sheet, row, column)}${before}, where no such cell can be`);
  }
}

/** @see [MS-XLS] 2.5.10 */
const ERRORS: Readonly<Record<number, string>> = {
  0: '#NULL!',
  7: '#DIV/0!',
  15: '#VALUE!',
  23: '#REF!',
  29: '#NAME?',
  36: '#NUM!',
  42: '#N/A',
  43: '#GETTING_DATA',
};
