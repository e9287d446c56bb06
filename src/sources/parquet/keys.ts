/**
 * Finds the columns of a file whose values are all different, by reading these columns alone: integers that have been read are marked, and of texts
 * the hashes are kept. Where hashes differ, texts do, so what is called different is; two texts with one hash only cost the find.
 */
import { h1, h2, hash } from '../../core/hash.ts';
import type { Query } from '../../paths/json/model.ts';
import { parseExpression } from '../json/expression.ts';
import type { IsKey, ParquetOptions } from '../source.ts';
import { FlatColumn } from './columns/flat.ts';
import { targetOf } from './columns/references.ts';
import { buildSchema, type LeafNode, MAX_DEPTH } from './columns/schema.ts';
import { parquetFault } from './faults.ts';
import { readRowGroup } from './file/metadata.ts';
import { type OpenedFooter, openFooter } from './file/open.ts';
import { NO_BYTES, RandomAccess } from './file/random-access.ts';
import { ChunkPages } from './pages/chunk.ts';
import type { LeafValues } from './pages/values.ts';

const BLOCK_ROWS = 4096;

type KeyValue = number | bigint | string;

/**
 * Of columns of integers and texts.
 *
 * @param options with `ranges`
 * @param memoryBytes for the hashes of texts; those of a column with more must ascend
 */
export const isKey: IsKey<ParquetOptions> = async (reference, options, memoryBytes, signal) => {
  try {
    const file = await RandomAccess.open(NO_BYTES, options);
    const footer = await openFooter(file, options.name);
    const schema = buildSchema(footer.elements, Math.min(MAX_DEPTH, options.maxDepth ?? MAX_DEPTH));
    const place = { input: options.name, expression: reference };
    const parse = (text: string): Query => parseExpression(text, { ...options, dialect: 'rml' }, place);
    const target = targetOf(reference, schema, place, parse);
    if (target.kind !== 'value' || !mayBeKey(target.leaf)) return false;
    return await areDistinct(file, footer, target.leaf, new DistinctValues(memoryBytes), options.maxRecordBytes, signal);
  } catch (error) {
    throw parquetFault(error, { input: options.name }, options.maxRecordBytes);
  }
};

/** Whether different values have different texts, and are read as numbers or texts. */
function mayBeKey({ leaf: { physical, annotation } }: LeafNode): boolean {
  if (physical === 'BYTE_ARRAY') return annotation.kind === 'text';
  return (physical === 'INT32' || physical === 'INT64') && (annotation.kind === 'none' || annotation.kind === 'integer');
}

async function areDistinct(
  file: RandomAccess,
  footer: OpenedFooter,
  node: LeafNode,
  values: DistinctValues,
  maxBytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { physical, length } = node.leaf;
  const column = new FlatColumn<KeyValue>(node.definition);
  for (const group of footer.rowGroups) {
    const place = readRowGroup(footer.bytes, group, new Set([node.first])).get(node.first);
    if (place === undefined) return false;
    column.start(new ChunkPages(file, place, { physical, length, maxBytes }, node, AS_THEY_ARE));
    for (await column.load(); column.available > 0; await column.load()) {
      if (signal.aborted) return false;
      for (const value of column.take(Math.min(BLOCK_ROWS, column.available)) as (KeyValue | null)[])
        if (value !== null && !values.add(value)) return false;
    }
  }
  return true;
}

const other = (): never => {
  throw new Error('a column of integers or texts has other values');
};

const AS_THEY_ARE: LeafValues<KeyValue> = {
  ofBoolean: other,
  ofInteger: (value) => value,
  ofLong: (value) => value,
  ofFloat: other,
  ofInt96: other,
  ofText: (text) => text,
  ofBytes: other,
};

const PAGE_BITS = 1 << 16;
/** 4 MB of marks: numbers that lie within some 33 million of each other fit, in any order. */
const MAX_PAGES = 512;

/** Tells whether values are all different. */
export class DistinctValues {
  #last: KeyValue | undefined;
  #ascending = true;
  /** One bit for each number, by the number of its page. undefined: not all values are marked, so that all must ascend. */
  #pages: Map<number, Uint32Array> | undefined = new Map();
  /** undefined: not all texts are in it, so that all must ascend. */
  #hashes: HashTable | undefined;
  #page: Uint32Array = new Uint32Array(0);
  #pageNumber = Number.NaN;

  /** @param memoryBytes for the hashes of texts */
  constructor(memoryBytes: number) {
    this.#hashes = new HashTable(memoryBytes);
  }

  /** False: it may have been added before. */
  add(value: KeyValue): boolean {
    this.#ascending &&= this.#last === undefined || value > this.#last;
    this.#last = value;
    const isNew = typeof value === 'string' ? this.#hashes?.add(value) : this.#addNumber(value);
    if (isNew !== undefined) return isNew;
    this.#pages = undefined;
    this.#hashes = undefined;
    return this.#ascending;
  }

  #addNumber(value: number | bigint): boolean | undefined {
    return typeof value === 'number' && this.#pages !== undefined ? this.#mark(value, this.#pages) : undefined;
  }

  /** Whether the number had no mark. undefined: there are too many pages. */
  #mark(value: number, pages: Map<number, Uint32Array>): boolean | undefined {
    const number = Math.floor(value / PAGE_BITS);
    if (number !== this.#pageNumber) {
      const page = pages.get(number) ?? new Uint32Array(PAGE_BITS / 32);
      if (!pages.has(number) && pages.size >= MAX_PAGES) return undefined;
      pages.set(number, page);
      this.#page = page;
      this.#pageNumber = number;
    }
    const at = value - number * PAGE_BITS;
    const word = this.#page[at >>> 5] as number;
    const bit = 1 << (at & 31);
    if ((word & bit) !== 0) return false;
    this.#page[at >>> 5] = word | bit;
    return true;
  }
}

const FIRST_SLOTS = 1 << 12;
const SLOT_BYTES = 8;

/** Hashes of 64 bits in open addressing, at most three quarters full; two zeros are an empty slot. */
class HashTable {
  readonly #memoryBytes: number;
  #slots: Uint32Array;
  #count = 0;

  constructor(memoryBytes: number) {
    this.#memoryBytes = memoryBytes;
    this.#slots = new Uint32Array(memoryBytes < FIRST_SLOTS * SLOT_BYTES ? 0 : 2 * FIRST_SLOTS);
  }

  /** Whether no text with its hash has been added. undefined: there is no room for it. */
  add(text: string): boolean | undefined {
    if (8 * this.#count >= 3 * this.#slots.length && !this.#grow()) return undefined;
    hash(text, 0);
    if (!put(this.#slots, h1 >>> 0, h2 >>> 0 || 1)) return false;
    this.#count++;
    return true;
  }

  /** False: twice as many slots, beside those that there are, take too much memory. */
  #grow(): boolean {
    const old = this.#slots;
    if (old.length === 0 || 3 * old.byteLength > this.#memoryBytes) return false;
    const slots = new Uint32Array(2 * old.length);
    for (let i = 0; i < old.length; i += 2) if (old[i + 1] !== 0) put(slots, old[i] as number, old[i + 1] as number);
    this.#slots = slots;
    return true;
  }
}

/** @param second not zero @returns false: it is there */
function put(slots: Uint32Array, first: number, second: number): boolean {
  const mask = slots.length - 2;
  let at = (first * 2) & mask;
  while (slots[at + 1] !== 0) {
    if (slots[at] === first && slots[at + 1] === second) return false;
    at = (at + 2) & mask;
  }
  slots[at] = first;
  slots[at + 1] = second;
  return true;
}
