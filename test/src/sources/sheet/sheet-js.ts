/** Workbooks that SheetJS writes, for tests. */
import * as sheetJs from 'xlsx';

/** A value, or a cell with its format. */
export type Cell = sheetJs.CellObject | string | number | boolean | null;

export interface Book {
  /** By the name of the sheet; a name that begins with `!` is that of a hidden sheet. */
  readonly sheets: Readonly<Record<string, readonly (readonly Cell[])[]>>;
  readonly date1904?: boolean;
  /** Texts stand in the table of shared texts. */
  readonly shared?: boolean;
  /** Ranges by name, as formulas write them. */
  readonly names?: Readonly<Record<string, string>>;
  readonly change?: (sheet: sheetJs.WorkSheet) => void;
}

export function write(
  { sheets, date1904 = false, shared = false, names = {}, change }: Book,
  format: 'xls' | 'xlsb' | 'xlsx' | 'ods',
): Buffer {
  const book = sheetJs.utils.book_new();
  for (const [name, rows] of Object.entries(sheets)) {
    const sheet = sheetJs.utils.aoa_to_sheet(rows as unknown[][]);
    change?.(sheet);
    sheetJs.utils.book_append_sheet(book, sheet, name.replace(/^!/, ''));
  }
  book.Workbook = {
    WBProps: { date1904 },
    Names: Object.entries(names).map(([Name, Ref]) => ({ Name, Ref })),
    Sheets: Object.keys(sheets).map((name) => ({ Hidden: name.startsWith('!') ? 1 : 0 })),
  };
  return sheetJs.write(book, { type: 'buffer', bookType: format === 'xls' ? 'biff8' : format, bookSST: shared, compression: true });
}

export const number = (v: number, z: string): Cell => ({ t: 'n', v, z });

/** A record of XLS. */
export function xlsRecord(type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(content.length, 2);
  return Buffer.concat([head, content]);
}

/** XLS with other records: `change` gets each of them, and gives what takes its place. Of one sheet, whose records come last. */
export function changeXls(bytes: Buffer, change: (type: number, content: Buffer) => Buffer | undefined): Buffer {
  const file = sheetJs.CFB.read(bytes, { type: 'buffer' });
  const entry = sheetJs.CFB.find(file, '/Workbook');
  if (entry === null) throw new Error('the workbook has no stream of records');
  const stream = Buffer.from(entry.content as Uint8Array).subarray(0, entry.size);
  const records: Buffer[] = [];
  for (let at = 0; at + 4 <= stream.length; ) {
    const end = at + 4 + stream.readUInt16LE(at + 2);
    records.push(change(stream.readUInt16LE(at), stream.subarray(at + 4, end)) ?? stream.subarray(at, end));
    at = end;
  }
  return compoundFile('/Workbook', Buffer.concat(records));
}

/** A compound file with one stream. */
export function compoundFile(name: string, content: Buffer): Buffer {
  const file = sheetJs.CFB.utils.cfb_new();
  sheetJs.CFB.utils.cfb_add(file, name, content);
  return Buffer.from(sheetJs.CFB.write(file, { type: 'buffer' }) as Uint8Array);
}
