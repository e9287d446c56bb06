/**
 * Makes records of the cells of a sheet, as they come: the header row names the columns, each later row is a record.
 *
 * The dialect of a table (csvw:dialect) says where the header is and which rows are none, as for CSV. Rows without any text are skipped
 * unless it says otherwise. Memory: the records that were not taken yet.
 */
import { Fault, type FaultPlace } from '../../../core/fault.ts';
import type { WorkbookOptions } from '../../source.ts';
import { type CellValue, textOf } from '../values/cell-value.ts';
import { type Area, cellName, MAX_COLUMNS } from './choice.ts';

/** Cells by slot, then the 0-based row of the sheet. null: an empty cell, in the legacy dialect. */
export type SheetRow = (CellValue | number | null)[];

/** Usage: `begin`, `cell` and `end` for each row; once there is a header, `slot` for each column that is read; `take` for records. */
export class SheetTable {
  /** Names of the columns from the left edge of the area on, as one-byte UTF-8. undefined: it was not read yet. */
  header: readonly string[] | undefined;
  /** Number of rows with text beyond the last column of the header, and the first of them, 0-based. */
  longRows = 0;
  firstLongRow = 0;
  readonly sheet: string;
  readonly area: Area;

  readonly #options: WorkbookOptions;
  readonly #emptyCell: '' | null;
  readonly #headerRows: number;
  readonly #firstRow: number;
  readonly #skipsBlank: boolean;
  readonly #trim: (text: string) => string;
  readonly #head: (readonly CellValue[])[] = [];
  /** By column: the slot of its cell in a record, or -1. */
  #slots: Int32Array = new Int32Array(0);
  #blank: SheetRow = [];
  #rows: SheetRow[] = [];
  /** Without a header row, the first row gives the number of columns, and is a record, too. */
  #first: { readonly row: number; readonly cells: readonly CellValue[] } | undefined;

  #row = -1;
  #next: number;
  #open: SheetRow | undefined;
  #headCells: CellValue[] | undefined;
  #hasText = false;
  #surplus = false;
  #bytes = 0;
  /** By column of the sheet: 1 where it is hidden. */
  #hidden: Uint8Array | undefined;

  constructor(sheet: string, area: Area, options: WorkbookOptions) {
    const { headerRows = 1, skipRows = 0, skipBlankRows, trim = 'none' } = options.csv ?? {};
    this.sheet = sheet;
    this.area = area;
    this.#options = options;
    this.#emptyCell = options.dialect === 'legacy' ? null : '';
    this.#headerRows = headerRows;
    this.#firstRow = area.top + skipRows;
    this.#next = this.#firstRow;
    this.#skipsBlank = skipBlankRows !== false;
    this.#trim = TRIMS[trim];
  }

  /** Whether records wait to be taken. */
  get hasRows(): boolean {
    return this.#rows.length > 0;
  }

  /** Says that columns of the sheet are hidden, 0-based and inclusive. */
  hide(first: number, last: number): void {
    this.#hidden ??= new Uint8Array(MAX_COLUMNS);
    this.#hidden.fill(1, first, last + 1);
  }

  /** How many columns that the header has are hidden. */
  get hiddenColumns(): number {
    const { left } = this.area;
    const shown = this.#hidden?.subarray(left, left + (this.header?.length ?? 0));
    return shown?.reduce((sum, one) => sum + one, 0) ?? 0;
  }

  /** The index in a record of the cell of `column`. Call it for all columns before the first `take`. */
  slot(column: number): number {
    const known = this.#slots[column] as number;
    if (known >= 0) return known;
    const slot = this.#blank.length;
    this.#slots[column] = slot;
    this.#blank.push(this.#emptyCell);
    return slot;
  }

  /** The name of the cell of a record, `Sheet1!C17`. */
  cellOf(record: SheetRow, column: number): string {
    return cellName(this.sheet, record[record.length - 1] as number, this.area.left + column);
  }

  /** The records that were read so far, at most `limit`. */
  take(limit: number): SheetRow[] {
    if (this.#first !== undefined) {
      const { row, cells } = this.#first;
      this.#first = undefined;
      const record = [...this.#blank, row];
      for (const [column, value] of cells.entries()) this.#put(record, column, value);
      this.#rows.unshift(record);
    }
    if (this.#rows.length <= limit) {
      const all = this.#rows;
      this.#rows = [];
      return all;
    }
    return this.#rows.splice(0, limit);
  }

  /** Whether the value of a cell of the current row matters. @param column of the sheet, 0-based */
  wants(column: number): boolean {
    if (this.#headCells !== undefined) return column >= this.area.left && column <= this.area.right;
    if (this.#open === undefined) return false;
    const at = column - this.area.left;
    // Beyond the header and in unread columns it matters only whether there is a text.
    return at >= 0 && column <= this.area.right && (at >= this.#slots.length || (this.#slots[at] as number) >= 0 || !this.#hasText);
  }

  /** Begins a row of the sheet. @param row 0-based, greater than that of the row before */
  begin(row: number): void {
    this.#row = row;
    this.#hasText = false;
    this.#surplus = false;
    this.#bytes = 0;
    this.#open = undefined;
    this.#headCells = undefined;
    if (row < this.#firstRow || row > this.area.bottom) return;
    if (this.header === undefined) {
      this.#headCells = [];
      return;
    }
    if (!this.#skipsBlank) this.#fillGap(row);
    this.#open = this.#blank.slice();
  }

  /** @param column of the sheet, 0-based */
  cell(column: number, value: CellValue): void {
    if (value === '' || column < this.area.left || column > this.area.right) return;
    this.#bytes += textOf(value).length;
    if (this.#bytes > this.#options.maxRecordBytes) throw this.tooLong(this.#row);
    const at = column - this.area.left;
    if (this.#headCells !== undefined) {
      this.#headCells[at] = typeof value === 'string' ? this.#trim(value) : value;
      this.#hasText = true;
    } else if (this.#open !== undefined) {
      this.#hasText = true;
      if (at >= this.#slots.length) this.#surplus = true;
      else this.#put(this.#open, at, value);
    }
  }

  #put(record: SheetRow, column: number, value: CellValue): void {
    const slot = this.#slots[column] as number;
    if (slot < 0) return;
    const trimmed = typeof value === 'string' ? this.#trim(value) : value;
    record[slot] = trimmed === '' ? this.#emptyCell : trimmed;
  }

  /** Ends the row. True: the header is complete now. */
  end(): boolean {
    const head = this.#headCells;
    if (head !== undefined) {
      this.#headCells = undefined;
      return this.#hasText && this.#endHeaderRow(Array.from(head, (cell) => cell ?? ''));
    }
    const row = this.#open;
    if (row === undefined) return false;
    this.#open = undefined;
    if (!this.#hasText && this.#skipsBlank) return false;
    if (this.#surplus && this.longRows++ === 0) this.firstLongRow = this.#row;
    row.push(this.#row);
    this.#rows.push(row);
    this.#next = this.#row + 1;
    return false;
  }

  #endHeaderRow(cells: readonly CellValue[]): boolean {
    this.#head.push(cells);
    if (this.#head.length < Math.max(1, this.#headerRows)) return false;
    const width = Math.max(...this.#head.map((row) => row.length));
    if (this.#headerRows === 0) {
      this.header = Array.from({ length: width }, (_, column) => String(column + 1));
      this.#first = { row: this.#row, cells };
    } else {
      const texts = this.#head.map((row) => row.map(textOf));
      this.header = Array.from({ length: width }, (_, column) => texts.map((row) => row[column]).find((text) => text) ?? '');
    }
    this.#slots = new Int32Array(width).fill(-1);
    this.#next = this.#row + 1;
    return true;
  }

  #fillGap(row: number): void {
    for (; this.#next < row; this.#next++) this.#rows.push([...this.#blank, this.#next]);
  }

  /** The fault for a sheet that ended without a header. */
  headless(): Fault {
    const has = this.#head.length;
    const found =
      has === 0
        ? this.#firstRow === 0
          ? 'it is empty'
          : `nothing is in row ${this.#firstRow + 1} or below`
        : `it has ${has} of the ${this.#headerRows} header rows`;
    return new Fault('source/malformed', `There is no header row with the names of the columns in the sheet ${this.sheet}: ${found}`, {
      place: { input: this.#options.name },
      hint: 'Name another sheet behind # in the path (people.xlsx#Sheet2), or the row of the header by csvw:skipRows',
    });
  }

  get maxBytes(): number {
    return this.#options.maxRecordBytes;
  }

  /** @param row 0-based */
  tooLong(row: number): Fault {
    const { name, maxRecordBytes } = this.#options;
    const place: FaultPlace = { input: name, cell: cellName(this.sheet, row, this.area.left) };
    return new Fault('limit/exceeded', `A row is longer than the ${maxRecordBytes} bytes that are allowed`, {
      place,
      limit: 'MAX_RECORD_BYTES',
      hint: 'Raise MAX_RECORD_BYTES (--max-record-mb)',
    });
  }
}

const TRIMS: Readonly<Record<'none' | 'start' | 'end' | 'both', (text: string) => string>> = {
  none: (text) => text,
  start: (text) => text.replace(/^[\t-\r ]+/, ''),
  end: (text) => text.replace(/[\t-\r ]+$/, ''),
  both: (text) => text.replace(/^[\t-\r ]+|[\t-\r ]+$/g, ''),
};
