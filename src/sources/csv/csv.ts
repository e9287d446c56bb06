/**
 * Reads delimited text as records, in file order, by the scanner of csv/scanner.ts.
 *
 * A record is an array of cells by slot: `null` where the row has no such cell (or, in the legacy dialect, an empty
 * unquoted one). Memory: one chunk, one batch and one partial row.
 */

import { Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import type { Accessor } from '../../core/value.ts';
import { toUtf8 } from '../encoding.ts';
import type { Batch, CsvOptions, IterationRequest, OpenScan, Scan } from '../source.ts';
import { columnOf } from './columns.ts';
import { descriptionOf, valueOf } from './described.ts';
import { CsvScanner, MAX_ROWS, type Row } from './scanner.ts';

const UNDECLARED_QUOTE =
  'Cells begin with a quote, and tab-separated text has no quotes: they belong to the values. If this file has quotes, declare them by --quote \'"\' on the command line, or csvw:dialect [ csvw:quoteChar "\\"" ] in the mapping';

const positionOf = ({ input, line, record }: FaultPlace = {}): string =>
  ` (input ${input}, line ${line}${record === undefined ? '' : `, record ${record}`})`;

export const openCsv: OpenScan<CsvOptions> = async (bytes, iterations, options) => {
  const scanner = new CsvScanner(toUtf8(bytes, options.encoding, undefined, options.name, 'CSV', options.served), options);
  try {
    await scanner.readHeader();
  } catch (error) {
    await scanner.close();
    throw error;
  }
  return new CsvScan(scanner, iterations, options);
};

/**
 * Length in bytes of the header and everything before it, without a byte order mark: the first record begins there.
 *
 * @throws Fault those of `openCsv`
 */
export async function csvHeadBytes(bytes: AsyncIterable<Uint8Array>, options: CsvOptions): Promise<number> {
  const scanner = new CsvScanner(toUtf8(bytes, options.encoding, undefined, options.name, 'CSV', options.served), options);
  try {
    await scanner.readHeader();
    return scanner.byte;
  } finally {
    await scanner.close();
  }
}

class CsvScan implements Scan {
  readonly #scanner: CsvScanner;
  readonly #iterations: readonly IterationRequest[];
  readonly #options: CsvOptions;
  readonly #warnings = new Set<string>();

  constructor(scanner: CsvScanner, iterations: readonly IterationRequest[], options: CsvOptions) {
    this.#scanner = scanner;
    this.#iterations = iterations;
    this.#options = options;
  }

  accessor(iteration: number, reference: string): Accessor {
    const origin = this.#iterations[iteration]?.origin;
    const place = { input: this.#options.name, expression: reference, ...(origin === undefined ? {} : { mapping: origin }) };
    const isLegacy = this.#options.dialect === 'legacy';
    const column = columnOf(reference, this.#scanner.header, this.#options.csv ?? {}, place, isLegacy ? this.#warnings : undefined);
    const slot = this.#scanner.slot(column);
    const description = descriptionOf(column, this.#scanner.header, this.#options.csv ?? {});
    if (description !== undefined) {
      const read = valueOf(description, this.#options.nulls, place);
      return (record) => {
        const cell = (record as Row)[slot] as string | null;
        return cell === null ? null : read(cell);
      };
    }
    const nulls = new Set(this.#options.nulls.map(toBytes));
    if (nulls.size === 0) return (record) => (record as Row)[slot] as string | null;
    return (record) => {
      const cell = (record as Row)[slot] as string | null;
      return cell === null || nulls.has(cell) ? null : cell;
    };
  }

  async *batches(signal: AbortSignal): AsyncIterable<Batch> {
    const scanner = this.#scanner;
    const lineOf = (index: number): number => scanner.lineOf(index);
    let first = 0;
    try {
      while (true) {
        const records = scanner.takeRows(MAX_ROWS);
        if (records.length > 0) {
          for (let iteration = 0; iteration < this.#iterations.length; iteration++)
            yield { iteration, records, first, bytes: scanner.bytesRead, lineOf };
          first += records.length;
        } else if (!(await scanner.fill())) return;
        if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
      }
    } finally {
      await scanner.close();
    }
  }

  columns(): readonly string[] {
    return this.#scanner.header.map(fromBytes);
  }

  warnings(): readonly string[] {
    const { longRows, firstLongRow, undeclaredQuoteAt, header } = this.#scanner;
    const rows = longRows === 1 ? 'A row has' : `${longRows} rows have`;
    const long = `${rows} more cells than the header names (${header.length}); what is beyond was not read. Often a cell with a delimiter lacks its quotes`;
    return [
      ...this.#warnings,
      ...(longRows === 0 ? [] : [long + positionOf(firstLongRow)]),
      ...(undeclaredQuoteAt === undefined ? [] : [UNDECLARED_QUOTE + positionOf(undeclaredQuoteAt)]),
    ];
  }

  /** A column that is missing in the header has already been reported by `accessor`. */
  unmatched(): readonly string[] {
    return [];
  }
}
