/**
 * Reads a sheet of a binary workbook (XLSB): the archive of XLSX with parts of records. Memory is that of XLSX.
 *
 * @see [MS-XLSB]
 */
import { toBytes } from '../../../core/text.ts';
import type { WorkbookOptions } from '../../source.ts';
import type { Archive } from '../package/archive.ts';
import { choiceOf, type NamedRange } from '../table/choice.ts';
import { remarks, type SheetReader } from '../table/reader.ts';
import { SheetTable } from '../table/table.ts';
import { type Shown, shownByBuiltIn, shownByCode } from '../values/number-format.ts';
import { SharedStrings } from '../xlsx/strings.ts';
import { partsOf, wrongKind, type XlsxSheet } from '../xlsx/workbook.ts';
import { BinaryCells } from './cells.ts';
import { type RecordHandler, Records, rkNumber, wideText } from './records.ts';
import { rangeText, type SheetReference } from './references.ts';

/** Types of records. @see [MS-XLSB] 2.3.2 */
const BRT = {
  rowHeader: 0,
  blank: 1,
  rk: 2,
  error: 3,
  boolean: 4,
  real: 5,
  text: 6,
  shared: 7,
  formulaText: 8,
  formulaNumber: 9,
  formulaBoolean: 10,
  formulaError: 11,
  shortBlank: 12,
  shortShared: 18,
  sharedText: 19,
  name: 39,
  format: 44,
  cellFormat: 47,
  columns: 60,
  richText: 62,
  endSheet: 130,
  endBook: 132,
  endData: 146,
  bookProperties: 153,
  sheet: 156,
  endSharedTexts: 160,
  merged: 176,
  endStyles: 279,
  ownSheets: 357,
  ownSheet: 358,
  otherBook: 355,
  addIn: 667,
  externalSheets: 362,
  beginCellFormats: 617,
  endCellFormats: 618,
} as const;

/** @throws Fault source/missing — no such sheet; source/malformed, source/type, source/refused, limit/exceeded */
export async function openXlsb(archive: Archive, options: WorkbookOptions): Promise<SheetReader> {
  const { name: input, maxRecordBytes } = options;
  const { part, relationships, partOf } = await partsOf(archive, options);
  if (!/\.bin$/i.test(part)) throw wrongKind(input, 'XLSX', '.xlsx', 'XLSB');
  const open = (name: string, handler: RecordHandler): Records => new Records(archive.read(name), 'biff12', handler, input, maxRecordBytes);
  const book = new BookReader();
  await open(part, book).read();
  const sheets = book.sheets.flatMap(({ name, id, hidden }): XlsxSheet[] => {
    const found = relationships.get(id);
    if (found !== undefined && found.type !== 'worksheet') return [];
    if (found === undefined || !archive.has(found.target)) throw archive.missing(found?.target ?? id, `the sheet ${name}`);
    return [{ name, hidden, part: found.target }];
  });
  const { sheet, area } = choiceOf(options, sheets, book.names());
  const styles = new StyleReader();
  const stylesPart = partOf('styles');
  if (stylesPart !== undefined) await open(stylesPart, styles).read();
  const stringsPart = partOf('sharedStrings');
  const strings =
    stringsPart === undefined
      ? await SharedStrings.read(archive, undefined, options)
      : await SharedStrings.collect((add) => open(stringsPart, new StringReader(add)), options);
  const table = new SheetTable(sheet.name, area, options);
  const cells = new BinaryCells({ table, strings, shown: styles.shown, date1904: book.date1904, input });
  const records = open(sheet.part, new RowReader(cells));
  return {
    table,
    get bytesRead() {
      return archive.bytesRead;
    },
    fill: () => records.next(),
    warnings: () => [...remarks(table, cells.hiddenRows, cells.merged, cells.firstMerged), ...cells.formulas.warnings()],
    async close() {
      await records.close();
      await strings.close();
      await archive.close();
    },
  };
}

class BookReader implements RecordHandler {
  ended = false;
  date1904 = false;
  readonly sheets: { readonly name: string; readonly id: string; readonly hidden: boolean }[] = [];
  readonly #names: { readonly name: string; readonly formula: Buffer }[] = [];
  /** Of each workbook that formulas refer to: whether it is this one. */
  readonly #isOwn: boolean[] = [];
  #references: { readonly book: number; readonly first: number; readonly last: number }[] = [];

  record(type: number, bytes: Buffer): boolean {
    switch (type) {
      case BRT.bookProperties:
        this.date1904 = (bytes.readUInt32LE(0) & 1) === 1;
        break;
      case BRT.sheet: {
        const [id, end] = wideText(bytes, 8);
        this.sheets.push({ id, name: wideText(bytes, end)[0], hidden: bytes.readUInt32LE(0) !== 0 });
        break;
      }
      case BRT.name: {
        const [name, end] = wideText(bytes, 9);
        const length = bytes.readUInt32LE(end);
        this.#names.push({ name, formula: Buffer.from(bytes.subarray(end + 4, end + 4 + length)) });
        break;
      }
      case BRT.ownSheets:
        this.#isOwn.push(true);
        break;
      case BRT.ownSheet:
      case BRT.otherBook:
      case BRT.addIn:
        this.#isOwn.push(false);
        break;
      case BRT.externalSheets:
        this.#references = Array.from({ length: Math.min(bytes.readUInt32LE(0), Math.floor((bytes.length - 4) / 12)) }, (_, i) => ({
          book: bytes.readUInt32LE(4 + 12 * i),
          first: bytes.readInt32LE(8 + 12 * i),
          last: bytes.readInt32LE(12 + 12 * i),
        }));
        break;
      case BRT.endBook:
        this.ended = true;
    }
    return true;
  }

  names(): readonly NamedRange[] {
    const references = this.#references.map(
      ({ book, first, last }): SheetReference => (this.#isOwn[book] === true ? { first, last } : NONE),
    );
    const sheets = this.sheets.map(({ name }) => name);
    return this.#names.map(({ name, formula }) => ({ name, refersTo: rangeText(formula, 4, references, sheets) }));
  }
}

const NONE: SheetReference = { first: -1, last: -1 };

class StyleReader implements RecordHandler {
  ended = false;
  /** By the number of a cell's format. */
  readonly shown: Shown[] = [];
  readonly #codes = new Map<number, Shown>();
  #inCells = false;

  record(type: number, bytes: Buffer): boolean {
    if (type === BRT.format) this.#codes.set(bytes.readUInt16LE(0), shownByCode(wideText(bytes, 2)[0]));
    else if (type === BRT.beginCellFormats) this.#inCells = true;
    else if (type === BRT.endCellFormats) this.#inCells = false;
    else if (type === BRT.cellFormat && this.#inCells) {
      const id = bytes.readUInt16LE(2);
      this.shown.push(this.#codes.get(id) ?? shownByBuiltIn(id));
    } else if (type === BRT.endStyles) this.ended = true;
    return true;
  }
}

class StringReader implements RecordHandler {
  ended = false;
  readonly #add: (text: string) => void;

  constructor(add: (text: string) => void) {
    this.#add = add;
  }

  record(type: number, bytes: Buffer): boolean {
    if (type === BRT.sharedText) this.#add(toBytes(wideText(bytes, 1)[0]));
    else if (type === BRT.endSharedTexts) this.ended = true;
    return true;
  }
}

/** Where the value of a cell begins: behind its column and its format. */
const VALUE = 8;
/** Types of cells that stand right of the one before, and so lack the column, are greater by so much. */
const SHORT = BRT.shortBlank - BRT.blank;
/** The flag of a formula that is to be calculated with the next calculation. @see [MS-XLSB] 2.5.97.51 */
const DUE = 2;

class RowReader implements RecordHandler {
  ended = false;
  readonly #cells: BinaryCells;
  #row = 0;
  #column = -1;
  #inData = true;

  constructor(cells: BinaryCells) {
    this.#cells = cells;
  }

  record(type: number, bytes: Buffer): boolean {
    if (type > BRT.shortShared && type !== BRT.richText) {
      this.#other(type, bytes);
      return true;
    }
    if (!this.#inData) return true;
    if (type === BRT.rowHeader) {
      this.#row = bytes.readUInt32LE(0);
      this.#column = -1;
      if (((bytes[11] ?? 0) & 0x10) !== 0) this.#cells.hiddenRows++;
      return true;
    }
    const isShort = type >= BRT.shortBlank && type <= BRT.shortShared;
    const kind = isShort ? type - SHORT : type;
    const column = isShort ? this.#column + 1 : bytes.readUInt32LE(0);
    if (kind !== BRT.blank) {
      const wanted = this.#cells.at(this.#row, column);
      if (wanted === undefined) return false;
      if (wanted) this.#value(kind, bytes, isShort ? VALUE - 4 : VALUE);
    }
    this.#column = column;
    return true;
  }

  #value(type: number, bytes: Buffer, at: number): void {
    const cells = this.#cells;
    const format = bytes.readUIntLE(at - 4, 3);
    if (type === BRT.formulaText || type === BRT.formulaBoolean || type === BRT.formulaError) cells.formulas.other();
    switch (type) {
      case BRT.rk:
        cells.number(rkNumber(bytes.readInt32LE(at)), format);
        break;
      case BRT.real:
        cells.number(bytes.readDoubleLE(at), format);
        break;
      case BRT.formulaNumber:
        cells.formulaNumber(bytes.readDoubleLE(at), format, (bytes.readUInt16LE(at + 8) & DUE) !== 0);
        break;
      case BRT.shared:
        cells.shared(bytes.readUInt32LE(at));
        break;
      case BRT.text:
      case BRT.formulaText:
        cells.text(wideText(bytes, at)[0]);
        break;
      case BRT.richText:
        cells.text(wideText(bytes, at + 1)[0]);
        break;
      case BRT.boolean:
      case BRT.formulaBoolean:
        cells.boolean(bytes.readUInt8(at));
        break;
      case BRT.error:
      case BRT.formulaError:
        cells.error(bytes.readUInt8(at));
        break;
    }
  }

  #other(type: number, bytes: Buffer): void {
    if (type === BRT.endData) {
      this.#inData = false;
      this.#cells.end();
    } else if (type === BRT.columns) {
      if ((bytes.readUInt16LE(16) & 1) !== 0) this.#cells.hide(bytes.readUInt32LE(0), bytes.readUInt32LE(4));
    } else if (type === BRT.merged)
      this.#cells.merge(bytes.readUInt32LE(0), bytes.readUInt32LE(8), bytes.readUInt32LE(4), bytes.readUInt32LE(12));
    else if (type === BRT.endSheet) {
      this.#cells.end();
      this.ended = true;
    }
  }
}
