/**
 * Reads a sheet of a workbook of Excel 97–2003 (XLS): records in a stream of a compound file. The file is in memory, twice.
 *
 * @see [MS-XLS]
 */
import { Fault } from '../../../core/fault.ts';
import type { WorkbookOptions } from '../../source.ts';
import { damaged, encryptedFault } from '../package/archive.ts';
import { choiceOf, type NamedRange, type Sheet } from '../table/choice.ts';
import { remarks, type SheetReader } from '../table/reader.ts';
import { SheetTable } from '../table/table.ts';
import { type Shown, shownByBuiltIn, shownByCode } from '../values/number-format.ts';
import { SharedStrings } from '../xlsx/strings.ts';
import { BinaryCells } from './cells.ts';
import { CompoundFile, olderFault } from './compound-file.ts';
import { longTexts } from './long-texts.ts';
import { characters, type RecordHandler, Records, rkNumber } from './records.ts';
import { rangeText, type SheetReference } from './references.ts';

const STREAM = 'Workbook';
/** That of Excel 5 and 95. */
const OLDER_STREAM = 'Book';
const BIFF8 = 0x0600;
/** Of records; they have 16 bits for their size. */
const MAX_BYTES = 2 ** 16;
const WINDOW_BYTES = 2 ** 16;

/** Types of records. @see [MS-XLS] 2.3 */
const TYPE = {
  formula: 0x06,
  end: 0x0a,
  externalSheets: 0x17,
  name: 0x18,
  date1904: 0x22,
  encrypted: 0x2f,
  continued: 0x3c,
  columns: 0x7d,
  sheet: 0x85,
  numbers: 0xbd,
  richText: 0xd6,
  cellFormat: 0xe0,
  merged: 0xe5,
  sharedTexts: 0xfc,
  shared: 0xfd,
  book: 0x01ae,
  number: 0x0203,
  text: 0x0204,
  booleanOrError: 0x0205,
  formulaText: 0x0207,
  row: 0x0208,
  rk: 0x027e,
  format: 0x041e,
  begin: 0x0809,
} as const;

/** @throws Fault source/missing — no such sheet; source/malformed, source/type, source/refused, limit/exceeded */
export async function openXls(bytes: AsyncIterable<Uint8Array>, options: WorkbookOptions): Promise<SheetReader> {
  const { name: input, maxRecordBytes } = options;
  const file = await CompoundFile.open(bytes, options);
  checkStreams(file, input);
  const stream = file.read(STREAM);
  const open = (from: number, handler: RecordHandler): Records => new Records(windowsOf(stream, from), 'biff8', handler, input, MAX_BYTES);
  const book = new BookReader(input, maxRecordBytes);
  const strings = await SharedStrings.collect((add) => {
    book.add = add;
    return open(0, book);
  }, options);
  try {
    const { sheet, area } = choiceOf(
      options,
      book.sheets.filter(({ hasCells }) => hasCells),
      book.names(),
    );
    const table = new SheetTable(sheet.name, area, options);
    const cells = new BinaryCells({ table, strings, shown: book.shown(), date1904: book.date1904, input });
    const records = open(sheet.at, new RowReader(cells, input, maxRecordBytes));
    return {
      table,
      bytesRead: file.sizeBytes,
      fill: () => records.next(),
      warnings: () => [...remarks(table, cells.hiddenRows, cells.merged, cells.firstMerged), ...cells.formulas.warnings()],
      close: () => strings.close(),
    };
  } catch (error) {
    await strings.close();
    throw error;
  }
}

async function* windowsOf(stream: Buffer, from: number): AsyncGenerator<Buffer, void, undefined> {
  for (let at = from; at < stream.length; at += WINDOW_BYTES) yield stream.subarray(at, at + WINDOW_BYTES);
}

function checkStreams(file: CompoundFile, input: string): void {
  if (file.has('EncryptedPackage')) throw encryptedFault(input);
  if (file.has(STREAM)) return;
  if (file.has(OLDER_STREAM)) throw olderFault(input);
  throw new Fault('source/type', 'The input is a compound file, and no workbook', {
    place: { input },
    hint: 'Give a spreadsheet, not a text or a presentation of Office 97–2003',
  });
}

interface XlsSheet extends Sheet {
  /** Where its records begin in the stream. */
  readonly at: number;
  /** False: a chart, or a module of macros. */
  readonly hasCells: boolean;
}

/** The first records of the stream: sheets, names, formats and shared texts. */
class BookReader implements RecordHandler {
  ended = false;
  date1904 = false;
  readonly sheets: XlsSheet[] = [];
  /** Takes the shared texts. */
  add: (text: string) => void = () => {};
  readonly #input: string;
  readonly #maxBytes: number;
  readonly #codes = new Map<number, Shown>();
  /** By the number of a cell's format: the number of its code. */
  readonly #formats: number[] = [];
  readonly #names: { readonly name: string; readonly formula: Buffer }[] = [];
  /** Of each workbook that formulas refer to: whether it is this one. */
  readonly #isOwn: boolean[] = [];
  #references: { readonly book: number; readonly first: number; readonly last: number }[] = [];
  #first = true;
  /** The records of the shared texts, and the number of texts. */
  readonly #texts: Buffer[] = [];
  #count = 0;

  constructor(input: string, maxBytes: number) {
    this.#input = input;
    this.#maxBytes = maxBytes;
  }

  shown(): readonly Shown[] {
    return this.#formats.map((code) => this.#codes.get(code) ?? shownByBuiltIn(code));
  }

  names(): readonly NamedRange[] {
    const references = this.#references.map(
      ({ book, first, last }): SheetReference => (this.#isOwn[book] === true ? { first, last } : NONE),
    );
    const sheets = this.sheets.map(({ name }) => name);
    return this.#names.map(({ name, formula }) => ({ name, refersTo: rangeText(formula, 2, references, sheets) }));
  }

  record(type: number, bytes: Buffer): boolean {
    if (this.#first) {
      this.#first = false;
      checkBegin(type, bytes, this.#input);
    }
    if (this.#texts.length > 0) {
      if (type === TYPE.continued) this.#texts.push(Buffer.from(bytes));
      else for (const text of longTexts(this.#texts.splice(0), this.#count, this.#input, this.#maxBytes)) this.add(text);
    }
    switch (type) {
      case TYPE.encrypted:
        throw encryptedFault(this.#input);
      case TYPE.date1904:
        this.date1904 = bytes.readUInt16LE(0) === 1;
        break;
      case TYPE.sheet:
        this.sheets.push({
          at: bytes.readUInt32LE(0),
          hidden: (bytes.readUInt8(4) & 3) !== 0,
          hasCells: bytes.readUInt8(5) === 0,
          name: characters(bytes, 8, bytes.readUInt8(6), (bytes.readUInt8(7) & 1) === 1),
        });
        break;
      case TYPE.format:
        this.#codes.set(bytes.readUInt16LE(0), shownByCode(shortText(bytes, 2)));
        break;
      case TYPE.cellFormat:
        this.#formats.push(bytes.readUInt16LE(2));
        break;
      case TYPE.book:
        this.#isOwn.push(bytes.length === 4 && bytes.readUInt16LE(2) === 0x0401);
        break;
      case TYPE.externalSheets:
        this.#addReferences(bytes);
        break;
      case TYPE.name:
        this.#addName(bytes);
        break;
      case TYPE.sharedTexts:
        this.#count = bytes.readUInt32LE(4);
        this.#texts.push(Buffer.from(bytes.subarray(8)));
        break;
      case TYPE.end:
        this.ended = true;
    }
    return true;
  }

  #addReferences(bytes: Buffer): void {
    const count = Math.min(bytes.readUInt16LE(0), Math.floor((bytes.length - 2) / 6));
    for (let at = 2; at < 2 + 6 * count; at += 6)
      this.#references.push({ book: bytes.readUInt16LE(at), first: bytes.readInt16LE(at + 2), last: bytes.readInt16LE(at + 4) });
  }

  #addName(bytes: Buffer): void {
    // Names that Excel gives, such as that of the print area, are numbers.
    if ((bytes.readUInt16LE(0) & 0x20) !== 0) return;
    const length = bytes.readUInt8(3);
    const wide = (bytes.readUInt8(14) & 1) === 1;
    const at = 15 + (wide ? 2 * length : length);
    const formula = Buffer.from(bytes.subarray(at, at + bytes.readUInt16LE(4)));
    this.#names.push({ name: characters(bytes, 15, length, wide), formula });
  }
}

const NONE: SheetReference = { first: -1, last: -1 };
/** Flags of a formula: to be calculated with the next calculation, and when the file is opened. Some libraries set the second alone. */
const DUE = 3;

function checkBegin(type: number, bytes: Buffer, input: string): void {
  if (type !== TYPE.begin) throw damaged(input, 'its records do not begin where they should');
  if (bytes.readUInt16LE(0) !== BIFF8) throw olderFault(input);
}

/** A text with the number of its characters in 16 bits. */
const shortText = (bytes: Buffer, at: number): string =>
  characters(bytes, at + 3, bytes.readUInt16LE(at), (bytes.readUInt8(at + 2) & 1) === 1);

/** There is no such record: where bytes are zero, the file was not written to the end. */
const NO_TYPE = 0;

/** The upper bytes of all types of records. Behind damaged bytes, others come up soon. @see [MS-XLS] 2.3 */
const TYPE_GROUPS: ReadonlySet<number> = new Set([0x00, 0x01, 0x02, 0x04, 0x08, 0x10]);

class RowReader implements RecordHandler {
  ended = false;
  /** The sheet has ended. */
  mayEnd = false;
  readonly #cells: BinaryCells;
  readonly #input: string;
  readonly #maxBytes: number;
  #first = true;
  /** Charts within a sheet have separate records. */
  #depth = 0;
  /** The formula before has a text, which comes in another record. */
  #wantsText = false;
  /** A text that goes on in other records. */
  readonly #text: Buffer[] = [];

  constructor(cells: BinaryCells, input: string, maxBytes: number) {
    this.#cells = cells;
    this.#input = input;
    this.#maxBytes = maxBytes;
  }

  record(type: number, bytes: Buffer): boolean {
    if (this.#first) {
      this.#first = false;
      checkBegin(type, bytes, this.#input);
    }
    if (this.mayEnd) {
      // Where bytes are damaged, a record seems to begin anywhere, and may look like an end.
      if (type !== TYPE.begin && type !== NO_TYPE) throw damaged(this.#input, 'its sheet seems to end within its records');
      this.ended = true;
      return true;
    }
    if (type === NO_TYPE) throw damaged(this.#input, 'bytes between its records are zero');
    if (!TYPE_GROUPS.has(type >> 8)) throw damaged(this.#input, `a record has the type ${type}, which there is not`);
    if (this.#text.length > 0) {
      if (type === TYPE.continued) this.#text.push(Buffer.from(bytes));
      else for (const text of longTexts(this.#text.splice(0), 1, this.#input, this.#maxBytes)) this.#cells.utf8(text);
    }
    if (type === TYPE.begin) this.#depth++;
    else if (type === TYPE.end) {
      if (--this.#depth === 0) {
        this.#cells.end();
        this.mayEnd = true;
      }
    } else if (this.#depth === 1) return this.#inSheet(type, bytes);
    return true;
  }

  #inSheet(type: number, bytes: Buffer): boolean {
    const cells = this.#cells;
    switch (type) {
      case TYPE.row:
        if ((bytes.readUInt16LE(12) & 0x20) !== 0) cells.hiddenRows++;
        return true;
      case TYPE.columns:
        if ((bytes.readUInt16LE(8) & 1) !== 0) cells.hide(bytes.readUInt16LE(0), bytes.readUInt16LE(2));
        return true;
      case TYPE.number:
        return this.#cell(bytes, () => cells.number(bytes.readDoubleLE(6), bytes.readUInt16LE(4)));
      case TYPE.rk:
        return this.#cell(bytes, () => cells.number(rkNumber(bytes.readInt32LE(6)), bytes.readUInt16LE(4)));
      case TYPE.numbers:
        return this.#numbers(bytes);
      case TYPE.shared:
        return this.#cell(bytes, () => cells.shared(bytes.readUInt32LE(6)));
      case TYPE.text:
      case TYPE.richText:
        return this.#cell(bytes, () => cells.text(shortText(bytes, 6)));
      case TYPE.booleanOrError:
        return this.#cell(bytes, () => (bytes.readUInt8(7) === 0 ? cells.boolean(bytes.readUInt8(6)) : cells.error(bytes.readUInt8(6))));
      case TYPE.formula:
        this.#wantsText = false;
        return this.#cell(bytes, () => this.#formula(bytes));
      case TYPE.formulaText:
        if (this.#wantsText) this.#text.push(Buffer.from(bytes));
        this.#wantsText = false;
        return true;
      case TYPE.merged:
        for (let at = 2; at + 8 <= Math.min(bytes.length, 2 + 8 * bytes.readUInt16LE(0)); at += 8)
          cells.merge(bytes.readUInt16LE(at), bytes.readUInt16LE(at + 4), bytes.readUInt16LE(at + 2), bytes.readUInt16LE(at + 6));
    }
    return true;
  }

  /** False: the record must be repeated. */
  #cell(bytes: Buffer, read: () => void): boolean {
    const wanted = this.#cells.at(bytes.readUInt16LE(0), bytes.readUInt16LE(2));
    if (wanted === true) read();
    return wanted !== undefined;
  }

  #numbers(bytes: Buffer): boolean {
    const row = bytes.readUInt16LE(0);
    const first = bytes.readUInt16LE(2);
    const count = Math.floor((bytes.length - 6) / 6);
    for (let i = 0; i < count; i++) {
      const wanted = this.#cells.at(row, first + i);
      // Only the first cell can begin a row.
      if (wanted === undefined) return false;
      if (wanted) this.#cells.number(rkNumber(bytes.readInt32LE(6 + 6 * i)), bytes.readUInt16LE(4 + 6 * i));
    }
    return true;
  }

  /** The value that the formula had when the file was saved. @see [MS-XLS] 2.5.133 */
  #formula(bytes: Buffer): void {
    const cells = this.#cells;
    if (bytes.readUInt16LE(12) !== 0xffff) {
      cells.formulaNumber(bytes.readDoubleLE(6), bytes.readUInt16LE(4), (bytes.readUInt16LE(14) & DUE) !== 0);
      return;
    }
    cells.formulas.other();
    if (bytes[6] === 0) this.#wantsText = true;
    else if (bytes[6] === 1) cells.boolean(bytes.readUInt8(8));
    else if (bytes[6] === 2) cells.error(bytes.readUInt8(8));
  }
}
