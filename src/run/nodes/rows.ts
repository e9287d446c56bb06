/** The rows of a pipeline: a slot for every column, and access to the cells. What keeps a row packs it, since all rows are one array. */
import { TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import { formatOrigin } from '../../mapping/model/model.ts';
import type { Column, Scan as ScanOperator, Unnest } from '../../plan/algebra.ts';
import type { NestedRecords, TextFormat } from '../../sources/source.ts';
import { compileHeads } from '../../terms/collections.ts';
import type { Accessors, Text } from '../../terms/evaluate.ts';
import type { Cell } from '../join/packed-row.ts';
import { IDENTITY, POSITION, RECORD, type Row } from './operator.ts';

/** Access to the records that a pipeline begins with. */
export interface RecordAccess extends Accessors {
  /** Name of the document, for faults. */
  readonly input: string;
  readonly scan: ScanOperator;
  /** Of the record at a position of the batch that is mapped; undefined: nothing reads it. */
  readonly identity: ((position: number) => string) | undefined;
  /** The items of an iterator within a record; undefined: the format has none. */
  nested(iterator: string): NestedRecords | undefined;
  texts(step: Unnest): TextFormat;
}

/** The items of an unnest. */
interface Nested {
  readonly records: NestedRecords;
  /** The iterators that lead to them from the record; undefined: they are in a text. */
  readonly chain: readonly string[] | undefined;
}

export class Rows {
  readonly records: RecordAccess;
  readonly row: Row = [null, null, null];
  readonly access: Accessors;
  /** By the column of items. */
  readonly nested = new Map<Column, Nested>();
  /** Where a row is among those of its pipeline, as text that sorts: set by the last join in which rows wait. */
  place: () => string = () => '';
  readonly #slots = new Map<Column, number>();
  /** By the column of items and a reference: where the mapping has it. */
  readonly #places = new Map<Column, Map<string, string>>();

  constructor(records: RecordAccess) {
    this.records = records;
    this.#slots.set(records.scan.index, POSITION);
    this.#slots.set(records.scan.identity, IDENTITY);
    const cell = (column: Column): ((row: unknown) => Cell) => {
      const slot = this.slotOf(column);
      return (row) => cellOf((row as Row)[slot]);
    };
    const { scan } = records;
    this.access = {
      ...records,
      areRecords: false,
      typed: true,
      order: (position) => `${records.order(0)}${this.place()}/${sortable(position)}`,
      heads: (collection) => compileHeads(collection, this.access),
      accessor: (leaf) => {
        if (leaf.kind === 'cell') return cell(leaf.column);
        if (scan.records.includes(leaf.record)) {
          const read = records.accessor(leaf);
          return (row, position) => read((row as Row)[RECORD], position);
        }
        const slot = this.slotOf(leaf.record);
        const read = (this.nested.get(leaf.record) as Nested).records.accessor(leaf.reference);
        this.placesOf(leaf.record).set(leaf.reference, formatOrigin(leaf.field ?? leaf.origin));
        return (row) => {
          const node = (row as Row)[slot];
          return node === null ? null : read(node);
        };
      },
      encoded: (column) => cell(column) as (row: unknown) => Text,
      datatype: (leaf) => (leaf.kind === 'read' && scan.records.includes(leaf.record) ? records.datatype(leaf) : undefined),
    };
  }

  /** The row of a record. */
  of(record: unknown, position: number): Row {
    const { row } = this;
    row[RECORD] = record;
    row[POSITION] = position;
    if (this.records.identity !== undefined) row[IDENTITY] = this.records.identity(position);
    return row;
  }

  /** The slot of a column that a step gives. */
  add(column: Column): number {
    const slot = this.#slots.get(column) ?? this.row.push(null) - 1;
    this.#slots.set(column, slot);
    return slot;
  }

  /** Whether a step behind which this is called gives the column. */
  has(column: Column): boolean {
    return this.#slots.has(column);
  }

  slotOf(column: Column): number {
    const slot = this.#slots.get(column);
    if (slot === undefined) throw new Error(`no step gives the column ${column.name}`);
    return slot;
  }

  /** References of items: where the mapping has each of them. */
  placesOf(item: Column): Map<string, string> {
    const places = this.#places.get(item) ?? new Map<string, string>();
    this.#places.set(item, places);
    return places;
  }
}

const INTEGER = `${XSD}integer`;

/** A position is an integer of its natural datatype. */
export const cellOf = (cell: unknown): Cell => (typeof cell === 'number' ? positionValue(cell) : (cell as Cell));

/** A position as the value of an index key (`#`). */
export const positionValue = (position: number): Value => new TypedValue(String(position), INTEGER);

export const valuesIn = (values: Values): readonly Value[] => (values === null ? [] : Array.isArray(values) ? values : [values as Value]);

/** Numbers as text that sorts as they do: the number of digits, as a digit of base 36, and the digits. */
export function sortable(number: number): string {
  const digits = String(number);
  return digits.length.toString(36) + digits;
}
