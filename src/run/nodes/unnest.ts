/** One row for each item; a row without items stays, with nulls. */
import { Fault } from '../../core/fault.ts';
import type { Value } from '../../core/value.ts';
import { formatOrigin } from '../../mapping/model/model.ts';
import { pathsInCall } from '../../paths/xml/path.ts';
import type { Unnest as UnnestOperator } from '../../plan/algebra.ts';
import type { NestedRecords } from '../../sources/source.ts';
import { type Accessors, compileValues } from '../../terms/evaluate.ts';
import type { Made } from '../compile/program.ts';
import { pushEach, RECORD, type Row, Step } from './operator.ts';
import { cellOf, type Rows, valuesIn } from './rows.ts';

/** A reference within records that matched nothing, or an iterator there. */
export interface Unmatched {
  readonly expression: string;
  /** `document:line:column`. */
  readonly mapping: string;
  /** The iterators that lead to it from the record; undefined: it reads a text. */
  readonly within?: readonly string[] | undefined;
}

export class Unnest extends Step {
  readonly #operator: UnnestOperator;
  readonly #rows: Rows;
  readonly #item: number;
  readonly #index: number;
  readonly #itemsOf: (row: Row) => readonly unknown[];
  /** undefined: the items are values. */
  readonly #nested: NestedRecords | undefined;
  #state: 'unread' | 'empty' | 'found' = 'unread';

  /** @param access to the rows, with the checks of their terms */
  constructor(operator: UnnestOperator, rows: Rows, access: Accessors) {
    super();
    this.#operator = operator;
    this.#rows = rows;
    this.#item = rows.add(operator.item);
    this.#index = rows.add(operator.index);
    const { items } = operator;
    if (items.of === 'values') {
      const values = compileValues(items.expression, access);
      this.#itemsOf = (row) => valuesIn(values(row, 0));
      return;
    }
    const { within, formulation, iterator } = items;
    const { records } = rows;
    const isRecord = records.scan.records.includes(within);
    const slot = isRecord ? RECORD : rows.slotOf(within);
    if (formulation !== undefined) {
      this.#nested = records.texts(operator).records(iterator, within.name);
      rows.nested.set(operator.item, { records: this.#nested, chain: undefined });
      this.#itemsOf = (row) => valuesIn(cellOf(row[slot])).flatMap((text) => this.#itemsOfText(text));
      return;
    }
    const expression = iterator ?? '';
    const outer = isRecord ? { records, chain: [] } : rows.nested.get(within);
    const nested = outer?.records.nested?.(expression);
    if (nested === undefined) throw noRecords(operator, expression);
    this.#nested = nested;
    rows.nested.set(operator.item, { records: nested, chain: outer?.chain && [...outer.chain, expression] });
    this.#itemsOf = (row) => (row[slot] === null ? [] : this.#itemsIn(row[slot]));
  }

  push(row: Row, position: number): Made {
    const items = this.#itemsOf(row);
    if (items.length === 0) return this.#give(row, position, null, null);
    return pushEach(items.length, (i) => this.#give(row, position, items[i], i));
  }

  #give(row: Row, position: number, item: unknown, index: number | null): Made {
    row[this.#item] = item;
    row[this.#index] = index;
    return this.next.push(row, position);
  }

  #itemsIn(node: unknown): readonly unknown[] {
    const items = (this.#nested as NestedRecords).items(node);
    if (items.length > 0) this.#state = 'found';
    else if (this.#state === 'unread') this.#state = 'empty';
    return items;
  }

  #itemsOfText(text: Value): readonly unknown[] {
    try {
      return this.#itemsIn(text);
    } catch (error) {
      const mapping = formatOrigin(this.#operator.origin);
      throw error instanceof Fault ? error.with({ place: { mapping, ...error.place } }) : error;
    }
  }

  /** After all records: the iterator if it found nothing, or references for which no item had a node. */
  get unmatched(): readonly Unmatched[] {
    const { item, origin, items } = this.#operator;
    if (items.of === 'values' || this.#state === 'unread') return [];
    const within = this.#rows.nested.get(item)?.chain;
    if (this.#state === 'empty') {
      const expression = items.iterator ?? (items.formulation === undefined ? '' : items.within.name);
      return [{ expression, mapping: formatOrigin(origin), within: within?.slice(0, -1) }];
    }
    // Pipelines share the records: each reports what it reads itself.
    const read = [...this.#rows.placesOf(item)];
    return (this.#nested as NestedRecords)
      .unmatched()
      .flatMap((expression) =>
        read.filter(([written]) => reads(written, expression)).map(([, mapping]) => ({ expression, mapping, within })),
      );
  }
}

/** Whether the reference is this one, or gives it to a function. */
export const reads = (written: string, reference: string): boolean => written === reference || pathsInCall(written).includes(reference);

const noRecords = ({ origin }: UnnestOperator, expression: string): Fault =>
  new Fault('mapping/invalid', 'An iterator within a record is for JSON and XML, and this record is a row', {
    place: { expression, mapping: formatOrigin(origin) },
    hint: 'Make a field of the value first, and within it an rml:IterableField with an rml:referenceFormulation for that text',
  });
