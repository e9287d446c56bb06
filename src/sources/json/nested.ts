/** Iterators within JSON values: their items are nodes of the value. */
import { Fault } from '../../core/fault.ts';
import type { Accessor } from '../../core/value.ts';
import { isSingular, type Query } from '../../paths/json/model.ts';
import { hasAncestor } from '../../paths/json/parse.ts';
import type { CommonOptions, NestedRecords } from '../source.ts';
import { parseExpression, parseRecordReference } from './expression.ts';
import { ancestorOf, type Linked } from './path/parents.ts';
import { compileSegments } from './path/query.ts';
import { compileSingular } from './path/singular.ts';
import { compileReference, slotReference, type TrackedReader } from './references.ts';
import type { Slots } from './slots/plan.ts';

const NONE: readonly unknown[] = [];

/** The items within one value. `$` in a filter is that value. */
export type FindItems = (node: unknown) => readonly unknown[];

export function compileItems(query: Query): FindItems {
  const { segments } = query;
  if (isSingular(query)) {
    const find = compileSingular({ absolute: false, segments });
    return (node) => {
      const item = find(node, node);
      return item === undefined ? NONE : [item];
    };
  }
  const find = compileSegments(segments);
  return (node) => {
    const items: unknown[] = [];
    find(node, node, items);
    return items;
  };
}

export class JsonItems implements NestedRecords {
  readonly items: FindItems;
  readonly #options: CommonOptions;
  readonly #readers = new Map<string, TrackedReader>();
  readonly #nested = new Map<string, JsonItems>();
  #found = false;

  constructor(find: FindItems, options: CommonOptions) {
    this.#options = options;
    this.items = (node) => {
      if (node === null || node === undefined) return NONE;
      const items = find(node);
      if (items.length > 0) this.#found = true;
      return items;
    };
  }

  accessor(reference: string): Accessor {
    return readerOf(reference, this.#readers, this.#options).read;
  }

  nested(iterator: string): NestedRecords {
    return itemsOf(iterator, this.#nested, this.#options);
  }

  unmatched(): readonly string[] {
    return this.#found ? unmatchedOf(this.#readers) : [];
  }
}

/** The reader of a reference, made when it is not in `known`. @throws Fault mapping/reference */
export function readerOf(reference: string, known: Map<string, TrackedReader>, options: CommonOptions): TrackedReader {
  let reader = known.get(reference);
  if (reader === undefined) {
    const { dialect, nulls, name } = options;
    const query = parseExpression(reference, options, {});
    reader = compileReference(query, { dialect, nulls, place: { input: name, expression: reference } });
    known.set(reference, reader);
  }
  return reader;
}

/** The reader of a reference over records that are slots, made when it is not in `known`. @throws Fault internal/error — it was not announced */
export function slotReaderOf(reference: string, slots: Slots, known: Map<string, TrackedReader>, options: CommonOptions): TrackedReader {
  let reader = known.get(reference);
  if (reader === undefined) {
    const slot = slots.get(reference);
    if (slot === undefined) throw new Fault('internal/error', `The reference ${JSON.stringify(reference)} was not announced`);
    const { dialect, nulls, name } = options;
    reader = slotReference(slot, { dialect, nulls, place: { input: name, expression: reference } });
    known.set(reference, reader);
  }
  return reader;
}

/**
 * The reader of a reference over `Linked` records of an iterator, made when it is not in `known`. `$` in a filter is the ancestor on which the
 * reference is evaluated.
 *
 * @throws Fault mapping/reference
 */
export function linkedReaderOf(
  reference: string,
  iterator: Query,
  known: Map<string, TrackedReader>,
  options: CommonOptions,
): TrackedReader {
  const { dialect, nulls, name } = options;
  const { ups, query } = parseRecordReference(reference, options);
  const place = { input: name, expression: reference };
  if (!hasAncestor(iterator, ups)) throw new Fault('mapping/reference', `${reference} leads above the document`, { place });
  let reader = known.get(reference);
  if (reader === undefined) {
    const { read, matched } = compileReference(query, { dialect, nulls, place });
    let asked = false;
    let above = false;
    const readAncestor: Accessor = (record) => {
      const ancestor = ancestorOf(record, ups);
      if (ancestor === undefined) {
        above = true;
        return null;
      }
      asked = true;
      return read(ancestor.value);
    };
    reader = { read: readAncestor, matched: () => (asked || !above) && matched(), asked: () => asked || above };
    known.set(reference, reader);
  }
  return reader;
}

/** The items within `Linked` records. Their own references do not lead out of them. */
export const ofLinked = (items: JsonItems): NestedRecords => ({
  items: (record) => items.items((record as Linked).value),
  accessor: (reference) => items.accessor(reference),
  nested: (iterator) => items.nested(iterator),
  unmatched: () => items.unmatched(),
});

/** The items of an iterator, made when they are not in `known`. @throws Fault mapping/reference */
export function itemsOf(iterator: string, known: Map<string, JsonItems>, options: CommonOptions): JsonItems {
  let items = known.get(iterator);
  if (items === undefined) {
    items = new JsonItems(compileItems(parseExpression(iterator, options, {})), options);
    known.set(iterator, items);
  }
  return items;
}

/** References for which no record had a node. */
export const unmatchedOf = (readers: ReadonlyMap<string, TrackedReader>): string[] =>
  [...readers].filter(([, reader]) => !reader.matched()).map(([reference]) => reference);
