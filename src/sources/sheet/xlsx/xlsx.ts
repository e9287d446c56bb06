/** Opens a sheet of an XLSX workbook (Office Open XML). @see https://ecma-international.org/publications-and-standards/standards/ecma-376/ */
import type { WorkbookOptions } from '../../source.ts';
import type { Archive } from '../package/archive.ts';
import { Part } from '../package/part.ts';
import { choiceOf } from '../table/choice.ts';
import { remarks, type SheetReader } from '../table/reader.ts';
import { SheetTable } from '../table/table.ts';
import { XlsxRows } from './rows.ts';
import { SharedStrings } from './strings.ts';
import { NAMESPACES, readShown, readWorkbook } from './workbook.ts';

/** @throws Fault source/missing — no such sheet; source/malformed, source/type, source/refused, limit/exceeded */
export async function openXlsx(archive: Archive, options: WorkbookOptions): Promise<SheetReader> {
  const workbook = await readWorkbook(archive, options);
  const { sheet, area } = choiceOf(options, workbook.sheets, workbook.names);
  const shown = await readShown(archive, workbook.styles, options);
  const strings = await SharedStrings.read(archive, workbook.strings, options);
  const table = new SheetTable(sheet.name, area, options);
  const rows = new XlsxRows(table, strings, shown, workbook.date1904, options);
  const part = new Part(archive, sheet.part, rows, NAMESPACES, options);
  return {
    table,
    get bytesRead() {
      return archive.bytesRead;
    },
    fill: () => part.next(),
    warnings: () => remarks(table, rows.hiddenRows, rows.merged, rows.firstMerged),
    async close() {
      await part.close();
      await strings.close();
      await archive.close();
    },
  };
}
