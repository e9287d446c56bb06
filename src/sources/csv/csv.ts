/**
 * Reads delimited text as records, in file order, by the scanner of csv/scanner.ts.
 *
 * A record is an array of cells by slot: `null` where the row has no such cell (or, in the legacy dialect, an empty
 * unquoted one). Memory: one chunk, one batch and one partial row.
 */

import { Fault } from '../../core/fault.ts';
import { type CsvDialect, DEFAULT_DELIMITER } from '../../core/input/csv-dialect.ts';
import { nearest } from '../../core/nearest.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import type { Accessor } from '../../core/value.ts';
import { toUtf8 } from '../encoding.ts';
import type { Batch, IterationRequest, OpenScan, ReadOptions, Scan } from '../source.ts';
import { CsvScanner, type Row } from './scanner.ts';

const BATCH_ROWS = 512;

export const openCsv: OpenScan = async (bytes, iterations, options) => {
  const scanner = new CsvScanner(toUtf8(bytes, options.encoding, undefined, options.name), options);
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
export async function csvHeadBytes(bytes: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<number> {
  const scanner = new CsvScanner(toUtf8(bytes, options.encoding, undefined, options.name), options);
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
  readonly #options: ReadOptions;

  constructor(scanner: CsvScanner, iterations: readonly IterationRequest[], options: ReadOptions) {
    this.#scanner = scanner;
    this.#iterations = iterations;
    this.#options = options;
  }

  accessor(iteration: number, reference: string): Accessor {
    const name = toBytes(reference);
    const header = this.#scanner.header;
    const column = this.#column(name);
    const origin = this.#iterations[iteration]?.origin;
    const place = { input: this.#options.name, expression: reference, ...(origin === undefined ? {} : { mapping: origin }) };
    if (column < 0) {
      const hint = columnHint(reference, header.map(fromBytes), this.#options.csv ?? {});
      throw new Fault('mapping/reference', `There is no column ${JSON.stringify(reference)}`, { place, hint });
    }
    if (header.indexOf(name, column + 1) >= 0) {
      throw new Fault('mapping/reference', `The header names the column ${JSON.stringify(reference)} twice`, {
        place,
        hint: 'Rename one of them in the file.',
      });
    }
    const slot = this.#scanner.slot(column);
    const nulls = new Set(this.#options.nulls.map(toBytes));
    if (nulls.size === 0) return (record) => (record as Row)[slot] as string | null;
    return (record) => {
      const cell = (record as Row)[slot] as string | null;
      return cell === null || nulls.has(cell) ? null : cell;
    };
  }

  /** Index of a column, or -1. Without a header, `_col.2` (the CSVW name) is an alias of `2`. */
  #column(name: string): number {
    const { header } = this.#scanner;
    const column = header.indexOf(name);
    if (column >= 0 || this.#options.csv?.headerRows !== 0) return column;
    return header.indexOf(/^_col\.(\d+)$/.exec(name)?.[1] ?? '');
  }

  async *batches(signal: AbortSignal): AsyncIterable<Batch> {
    const scanner = this.#scanner;
    let first = 0;
    try {
      while (true) {
        const records = scanner.takeRows(BATCH_ROWS);
        if (records.length > 0) {
          for (let iteration = 0; iteration < this.#iterations.length; iteration++)
            yield { iteration, records, first, bytes: scanner.bytesRead };
          first += records.length;
        } else if (!(await scanner.fill())) return;
        if (signal.aborted) throw new Fault('run/cancelled', 'The run was cancelled');
      }
    } finally {
      await scanner.close();
    }
  }

  warnings(): readonly string[] {
    const { longRows, firstLongRow, header } = this.#scanner;
    if (longRows === 0) return [];
    const rows = longRows === 1 ? 'A row has' : `${longRows} rows have`;
    return [
      `${rows} more cells than the header names (${header.length}); what is beyond was not read. Often a cell with a delimiter lacks its quotes (input ${this.#options.name}, record ${firstLongRow})`,
    ];
  }

  /** A column that is missing in the header has already been reported by `accessor`. */
  unmatched(): readonly string[] {
    return [];
  }
}

/** A hint for a column that is missing in the header: usually the file has another delimiter, or the name is misspelt. */
function columnHint(reference: string, names: readonly string[], dialect: CsvDialect): string {
  const delimiter = dialect.delimiter ?? DEFAULT_DELIMITER;
  for (const other of [';', '\t', '|', ',', ':', ' ']) {
    const whole = other === delimiter ? undefined : names.find((name) => name.includes(other) && cellsOf(name, other).includes(reference));
    if (whole === undefined) continue;
    const written = JSON.stringify(other);
    const found = names.length === 1 ? 'The header has one column,' : 'The header has the column';
    return `${found} ${quoted(whole)}: the separator looks like ${written}. Use --delimiter '${other === '\t' ? '\\t' : other}' on the command line, or csvw:dialect [ csvw:delimiter ${written} ] in the mapping`;
  }
  for (const quote of ["'", '"']) {
    if (!names.includes(quote + reference + quote)) continue;
    const option = quote === "'" ? `--quote "'"` : `--quote '"'`;
    return `The header has ${quote}${reference}${quote}, with its quotes. Use ${option} on the command line, or csvw:dialect [ csvw:quoteChar ${JSON.stringify(quote)} ] in the mapping`;
  }
  const near = nearest(reference, names);
  return near.length > 0 ? `Did you mean ${near.map(quoted).join(' or ')}?` : `The columns are ${names.map(quoted).join(', ')}.`;
}

const cellsOf = (name: string, delimiter: string): string[] =>
  name.split(delimiter).map((cell) => cell.trim().replace(/^(["'])(.*)\1$/, '$2'));

const quoted = (name: string): string => JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
