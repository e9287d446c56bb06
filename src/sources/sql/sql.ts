/** Rows of a query as records: a record is the array of its columns' texts. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import { blankLabel, toBytes } from '../../core/text.ts';
import { type Accessor, TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import type { Column, SqlSession, TableScan } from '../../sql/database.ts';
import type { Batch, Scan } from '../source.ts';

export interface SqlReadOptions {
  readonly session: SqlSession;
  readonly sql: string;
  /** The columns of the result, in order. */
  readonly columns: readonly Column[];
  /** The table that the query reads, if it is no more than that. */
  readonly table?: TableScan | undefined;
  /** The index of the column of a reference. @throws Fault mapping/reference */
  readonly position: (reference: string) => number;
  /** Indexes of the columns of a key, which name rows; none: positions do. */
  readonly key?: readonly number[];
  /** Texts that mean null (rml:null). */
  readonly nulls: readonly string[];
  /** `document:line:column` of the table or query, for faults of values. */
  readonly origin: string;
}

/**
 * A double is written as `6.5556E2` only as a literal of its natural datatype: in an IRI, a key or a literal of another datatype it stays
 * `655.56`. Its values carry both.
 */
const hasOwnForms = ({ datatype }: Column): boolean => datatype === `${XSD}double`;

type Row = readonly (string | null)[];

/** Opens a query as a scan with one iteration. Memory: one batch of rows. */
export function openSql({ session, sql, columns, table, position, key = [], nulls, origin }: SqlReadOptions): Scan {
  const noValue = new Set(nulls.map(toBytes));
  const identity = key.length === 0 ? undefined : (record: unknown): string => textOfKey(record as Row, key);
  return {
    kept: { layout: JSON.stringify([columns.map(({ name }) => name), key]), identity },
    accessor(_, reference) {
      const index = position(reference);
      const read = columnReader(columns[index] as Column, index, { expression: reference, mapping: origin });
      return noValue.size === 0 ? read : withoutNulls(read, noValue);
    },
    datatype(_, reference) {
      const column = columns[position(reference)] as Column;
      if (hasOwnForms(column)) return undefined;
      return column.datatype ?? (column.value === undefined ? null : undefined);
    },
    async *batches(): AsyncGenerator<Batch> {
      let first = 0;
      for await (const { rows, bytes } of session.rows(sql, columns.length, table)) {
        const from = first;
        yield { iteration: 0, records: rows, first, bytes, ...(identity && { identityOf: (at: number) => identity(rows[at - from]) }) };
        first += rows.length;
      }
    },
    // Whether a column exists is known before the first row.
    unmatched: () => [],
  };
}

/** Different for different keys. Each value ends with `_`, so that nothing behind the text can be taken for a part of it. */
const textOfKey = (row: Row, key: readonly number[]): string => key.map((index) => `${blankLabel(row[index] as string)}_`).join('_');

function columnReader(column: Column, index: number, place: FaultPlace): Accessor {
  const { canonical, datatype, elements, value } = column;
  const checked = canonical === undefined ? undefined : located(canonical, place);
  const convert: ((text: string) => Value) | undefined =
    value !== undefined
      ? located(value, place)
      : checked === undefined || !hasOwnForms(column)
        ? checked
        : (text) => new TypedValue(checked(text), datatype as string, text);
  if (elements !== undefined) {
    return (record) => {
      const text = (record as Row)[index] as string | null;
      if (text === null) return null;
      const texts = elements(text);
      if (texts === undefined) return convert === undefined ? text : convert(text);
      return convert === undefined ? texts : texts.map(convert);
    };
  }
  if (convert === undefined) return (record) => (record as Row)[index] as string | null;
  return (record) => {
    const text = (record as Row)[index] as string | null;
    return text === null ? null : convert(text);
  };
}

/** For a value without a canonical form, adds the reference and its table or query to the fault. */
function located<T>(canonical: (text: string) => T, of: FaultPlace): (text: string) => T {
  return (text) => {
    try {
      return canonical(text);
    } catch (error) {
      throw error instanceof Fault ? error.with({ place: of }) : error;
    }
  };
}

function withoutNulls(read: Accessor, nulls: ReadonlySet<string>): Accessor {
  const isNull = (value: Values): boolean => nulls.has(value instanceof TypedValue ? value.written : (value as string));
  return (record): Values => {
    const values = read(record);
    if (Array.isArray(values)) return values.filter((value) => !isNull(value));
    return isNull(values) ? null : values;
  };
}
