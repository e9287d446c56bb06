/**
 * Delimited text within values: each text has its own header and rows.
 *
 * The columns of a reference are looked up in the header of each text, so a column that is missing there rejects the record.
 */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { toBytes } from '../../core/text.ts';
import type { Accessor } from '../../core/value.ts';
import type { CsvOptions, NestedRecords, OpenTexts } from '../source.ts';
import { type TextOf, textFault, textReader } from '../text-faults.ts';
import { columnOf } from './columns.ts';
import { CsvScanner, type Row } from './scanner.ts';

/** Opens texts by the dialect of `options.csv`. The items are rows; an iterator is ignored, as it is for documents. */
export const openCsvTexts: OpenTexts<CsvOptions> = async (options) => ({
  records: (_iterator, expression) => new CsvTextRecords(options, expression),
});

/** A row, and by reference the index of its cell or why there is none. */
interface Item {
  readonly row: Row;
  readonly slots: readonly (number | Fault)[];
}

class CsvTextRecords implements NestedRecords {
  readonly #options: CsvOptions;
  readonly #place: FaultPlace;
  readonly #textOf: TextOf;
  readonly #nulls: ReadonlySet<string>;
  readonly #references: string[] = [];

  constructor(options: CsvOptions, expression: string | undefined) {
    this.#options = options;
    this.#place = { input: options.name, ...(expression === undefined ? {} : { expression }) };
    this.#textOf = textReader(options, this.#place);
    this.#nulls = new Set(options.nulls.map(toBytes));
  }

  readonly items = (node: unknown): readonly unknown[] => {
    const text = this.#textOf(node);
    if (text === undefined) return [];
    const scanner = new CsvScanner(text, this.#options);
    try {
      scanner.readHeaderOfText();
      const slots = this.#references.map((reference) => this.#slot(reference, scanner, text));
      return scanner.takeRows(Number.POSITIVE_INFINITY).map((row): Item => ({ row, slots }));
    } catch (error) {
      throw error instanceof Fault ? textFault(error, 'CSV', text, this.#place, error.place.byte) : error;
    }
  };

  accessor(reference: string): Accessor {
    let index = this.#references.indexOf(reference);
    if (index < 0) index = this.#references.push(reference) - 1;
    const nulls = this.#nulls;
    return (item) => {
      const { row, slots } = item as Item;
      const slot = slots[index];
      if (slot === undefined) throw new Fault('internal/error', `The reference ${JSON.stringify(reference)} was requested too late`);
      if (slot instanceof Fault) throw slot;
      const cell = row[slot] as string | null;
      return cell === null || nulls.has(cell) ? null : cell;
    };
  }

  #slot(reference: string, scanner: CsvScanner, text: string): number | Fault {
    const place = { ...this.#place, expression: reference };
    try {
      return scanner.slot(columnOf(reference, scanner.header, this.#options.csv ?? {}, place));
    } catch (error) {
      if (error instanceof Fault) return textFault(error, 'CSV', text, place);
      throw error;
    }
  }

  /** A missing column has already been reported by the accessor. */
  unmatched(): readonly string[] {
    return [];
  }
}
