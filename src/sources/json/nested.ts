/** Iterators within JSON values: their items are nodes of the value. */
import type { Accessor } from '../../core/value.ts';
import { isSingular, type Query } from '../../paths/json/model.ts';
import type { NestedRecords, ReadOptions } from '../source.ts';
import { parseExpression } from './expression.ts';
import { compileSegments } from './path/query.ts';
import { compileSingular } from './path/singular.ts';
import { compileReference, type TrackedReader } from './references.ts';

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
  readonly #options: ReadOptions;
  readonly #readers = new Map<string, TrackedReader>();
  readonly #nested = new Map<string, JsonItems>();
  #found = false;

  constructor(find: FindItems, options: ReadOptions) {
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
export function readerOf(reference: string, known: Map<string, TrackedReader>, options: ReadOptions): TrackedReader {
  let reader = known.get(reference);
  if (reader === undefined) {
    const { dialect, nulls, name } = options;
    const query = parseExpression(reference, options, {});
    reader = compileReference(query, { dialect, nulls, place: { input: name, expression: reference } });
    known.set(reference, reader);
  }
  return reader;
}

/** The items of an iterator, made when they are not in `known`. @throws Fault mapping/reference */
export function itemsOf(iterator: string, known: Map<string, JsonItems>, options: ReadOptions): JsonItems {
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
