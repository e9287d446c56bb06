/**
 * Reads a sheet of a workbook as records: XLSX and ODS, which are archives of XML, XLSB, an archive of binary records, and XLS.
 *
 * The rows are read in one pass, as they stand in the sheet. A record is an array of cells by slot; a cell
 * without a value (an error, a formula that was never calculated) rejects the record that reads it. Memory: one window of text, a batch of
 * records and, for XLSX, the shared texts (xlsx/strings.ts); for XLS the file.
 *
 * Numbers, booleans, dates and times have natural datatypes, as in JSON and SQL. csvw:datatype gives a column another one.
 */
import { excerpt, Fault } from '../../core/fault.ts';
import type { CsvColumn } from '../../core/input/csv-dialect.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { type Accessor, TypedValue, type Values } from '../../core/value.ts';
import { columnOf } from '../csv/columns.ts';
import { descriptionOf, valueOf } from '../csv/described.ts';
import type { Batch, IterationRequest, OpenScan, Scan, WorkbookOptions } from '../source.ts';
import { openXls } from './binary/xls.ts';
import { openXlsb } from './binary/xlsb.ts';
import { openOds } from './ods/ods.ts';
import { Archive } from './package/archive.ts';
import type { SheetReader } from './table/reader.ts';
import type { SheetRow } from './table/table.ts';
import type { CellValue } from './values/cell-value.ts';
import { openXlsx } from './xlsx/xlsx.ts';

const BATCH_ROWS = 512;

const ofArchive =
  (openReader: (archive: Archive, options: WorkbookOptions) => Promise<SheetReader>): OpenScan<WorkbookOptions> =>
  async (bytes, iterations, options) => {
    const archive = await Archive.open(bytes, options);
    try {
      const reader = await openReader(archive, options);
      return await openRows(reader, iterations, options);
    } catch (error) {
      await archive.close();
      throw error;
    }
  };

export const openXlsxScan = ofArchive(openXlsx);
export const openXlsbScan = ofArchive(openXlsb);
export const openOdsScan = ofArchive(openOds);
export const openXlsScan: OpenScan<WorkbookOptions> = async (bytes, iterations, options) =>
  openRows(await openXls(bytes, options), iterations, options);

/** Reads up to the header. The scan closes the reader. */
export async function openRows(reader: SheetReader, iterations: readonly IterationRequest[], options: WorkbookOptions): Promise<Scan> {
  try {
    while (reader.table.header === undefined) if (!(await reader.fill())) throw reader.table.headless();
    return new SheetScan(reader, iterations, options);
  } catch (error) {
    await reader.close();
    throw error;
  }
}

class SheetScan implements Scan {
  readonly #reader: SheetReader;
  readonly #iterations: readonly IterationRequest[];
  readonly #options: WorkbookOptions;
  readonly #columns = new Map<string, number>();
  readonly #warnings = new Set<string>();

  constructor(reader: SheetReader, iterations: readonly IterationRequest[], options: WorkbookOptions) {
    this.#reader = reader;
    this.#iterations = iterations;
    this.#options = options;
  }

  accessor(iteration: number, reference: string): Accessor {
    const { table } = this.#reader;
    const header = table.header as readonly string[];
    const { name, csv = {}, nulls, naturalDatatypes } = this.#options;
    const origin = this.#iterations[iteration]?.origin;
    const place = { input: name, expression: reference, ...(origin === undefined ? {} : { mapping: origin }) };
    const column = columnOf(reference, header, csv, place, this.#options.dialect === 'legacy' ? this.#warnings : undefined);
    this.#columns.set(reference, column);
    const slot = table.slot(column);
    const description = descriptionOf(column, header, csv);
    const isNull = new Set((description?.nulls ?? nulls).map(toBytes));
    const plain = (cell: string): Values => (isNull.has(cell) ? null : cell);
    const read = description === undefined ? plain : valueOf(description, nulls, place);
    // Cells of numbers and dates are not written in a format.
    const readTyped = description?.format === undefined ? read : valueOf(withoutFormat(description), nulls, place);
    const keepsDatatype = naturalDatatypes === true && description?.datatype === undefined;
    return (record) => {
      const cell = (record as SheetRow)[slot] as CellValue | null;
      if (typeof cell === 'string') return read(cell);
      if (cell instanceof TypedValue) {
        if (!keepsDatatype) return readTyped(cell.written);
        return isNull.size > 0 && isNull.has(cell.written) ? null : cell;
      }
      if (cell === null || (cell.text !== '' && isNull.has(cell.text))) return null;
      const at = table.cellOf(record as SheetRow, column);
      throw new Fault('record/term', `The cell ${at} ${fromBytes(cell.message)}`, {
        place: { ...place, cell: at, ...(cell.text === '' ? {} : { value: excerpt(fromBytes(cell.text)) }) },
        hint: cell.hint,
      });
    };
  }

  cellOf(record: unknown, reference: string): string | undefined {
    const column = this.#columns.get(reference);
    return column === undefined ? undefined : this.#reader.table.cellOf(record as SheetRow, column);
  }

  async *batches(signal: AbortSignal): AsyncIterable<Batch> {
    const reader = this.#reader;
    let first = 0;
    try {
      for (let more = true; more; ) {
        const records = reader.table.take(BATCH_ROWS);
        if (records.length > 0) {
          for (let iteration = 0; iteration < this.#iterations.length; iteration++)
            yield { iteration, records, first, bytes: reader.bytesRead };
          first += records.length;
        } else more = await reader.fill();
        if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
      }
    } finally {
      await reader.close();
    }
  }

  columns(): readonly string[] {
    return (this.#reader.table.header ?? []).map(fromBytes);
  }

  warnings(): readonly string[] {
    const { table } = this.#reader;
    const { longRows, firstLongRow, header = [] } = table;
    const long = `${longRows === 1 ? 'A row has' : `${longRows} rows have`} cells beyond the ${header.length} columns that the header names; these were not read`;
    const all = [...(longRows === 0 ? [] : [`${long} (first row ${firstLongRow + 1})`]), ...this.#reader.warnings()];
    return [...this.#warnings, ...all.map((message) => `${message} (input ${this.#options.name}, sheet ${table.sheet})`)];
  }

  /** A column that is missing in the header has already been reported by `accessor`. */
  unmatched(): readonly string[] {
    return [];
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}

const withoutFormat = ({ format: _, ...column }: CsvColumn): CsvColumn => column;
