/**
 * Tells whether values are all different: integers are marked, and of texts the hashes are kept. Where hashes differ, texts do, so what is called
 * different is; two texts with one hash only cost the find.
 */
import { h1, h2, hash } from '../../core/hash.ts';

export type KeyValue = number | bigint | string;

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
