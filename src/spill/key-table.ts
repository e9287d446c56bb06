/**
 * Hash tables of keys that are not kept: a key is a hash of 128 bits with a random seed per run, so a collision is out of reach. Tables are
 * typed arrays and share one memory budget. When it is used up they are frozen: a key that they do not contain is *undecided*.
 */
import { h1, h2, h3, h4, hash, hashPair, setHash } from '../core/hash.ts';
import { MemoryBudget } from './budget.ts';

export const KNOWN = 0;
export const NEW = 1;
/** The table is full and does not contain the key: it may be new, or an earlier undecided one. */
export const UNDECIDED = 2;
export type Verdict = typeof KNOWN | typeof NEW | typeof UNDECIDED;

export const KEY_WORDS = 4;
export const CHUNK_ROWS = 1024;
const FIRST_SLOTS = 2048;
const MAX_LOAD = 0.75;
/** An index entry has row + 1 in its low bits and five bits of the key above; 0 is a free slot. */
const ROW_BITS = 27;
const ROW_MASK = 2 ** ROW_BITS - 1;

/** Where a table gets its words from. All are zero. */
export interface TableMemory {
  /** undefined: nothing is left. */
  chunk(words: number): Uint32Array | undefined;
  /** For an index that is larger than the one in use, which is not needed any more. undefined: nothing is left. */
  index(slots: number): Uint32Array | undefined;
  /** Takes everything back. */
  release(): void;
}

/** Memory of this thread. The first chunk is not taken from the budget. */
class OwnMemory implements TableMemory {
  readonly #budget: MemoryBudget;
  #isEmpty = true;
  #takenBytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  chunk(words: number): Uint32Array | undefined {
    if (!this.#isEmpty && !this.#take(words * 4)) return undefined;
    this.#isEmpty = false;
    return new Uint32Array(words);
  }

  /** The index in use stays in the account until the table is dropped: it has half of the slots. */
  index(slots: number): Uint32Array | undefined {
    return this.#take(slots * 2) ? new Uint32Array(slots) : undefined;
  }

  release(): void {
    this.#budget.give(this.#takenBytes);
    this.#takenBytes = 0;
    this.#isEmpty = true;
  }

  #take(bytes: number): boolean {
    if (!this.#budget.take(bytes)) return false;
    this.#takenBytes += bytes;
    return true;
  }
}

/**
 * 128-bit keys in rows, stored consecutively in chunks, and an open-addressing index of rows. When no memory is left, the table is frozen.
 * The index grows by doubling; rows never move. Rows that were added by `append` enter the index before the next search.
 */
export class KeyTable {
  protected readonly seed: number;
  protected readonly rowWords: number;
  protected chunks: Uint32Array[] = [];
  protected count = 0;
  readonly #memory: TableMemory;
  /** Always has slots for all rows. */
  #index: Uint32Array = new Uint32Array(FIRST_SLOTS);
  /** Number of rows, from the first, that are in the index. */
  #indexed = 0;
  #frozen = false;

  constructor(memory: MemoryBudget | TableMemory, seed: number, extraWords: number) {
    this.#memory = memory instanceof MemoryBudget ? new OwnMemory(memory) : memory;
    this.seed = seed;
    this.rowWords = KEY_WORDS + extraWords;
  }

  /** Whether a key may have been left out. */
  get full(): boolean {
    return this.#frozen;
  }

  /** Number of keys. */
  get rows(): number {
    return this.count;
  }

  get chunkWords(): number {
    return CHUNK_ROWS * this.rowWords;
  }

  /** Number of keys, from the first, that are in the index. */
  get indexed(): number {
    return this.#indexed;
  }

  /** Replaces what the table consists of: another thread has changed it. */
  load(chunks: Uint32Array[], index: Uint32Array, count: number, indexed: number, frozen: boolean): void {
    this.chunks = chunks;
    this.#index = index;
    this.#indexed = indexed;
    this.count = count;
    this.#frozen = frozen;
  }

  /** Frees the memory; the table is empty and usable afterwards. */
  drop(): void {
    this.#memory.release();
    this.load([], new Uint32Array(FIRST_SLOTS), 0, 0, false);
  }

  /** The row of the key in `h1…h4`, or `-1 - slot` of the free slot for it. */
  protected find(): number {
    if (this.#indexed < this.count) this.#indexRows();
    const index = this.#index;
    const { chunks, rowWords } = this;
    const mask = index.length - 1;
    const tag = h2 >>> ROW_BITS;
    let slot = h1 & mask;
    while (true) {
      const entry = index[slot] as number;
      if (entry === 0) return -1 - slot;
      if (entry >>> ROW_BITS === tag) {
        const row = (entry & ROW_MASK) - 1;
        const chunk = chunks[(row / CHUNK_ROWS) | 0] as Uint32Array;
        const at = (row % CHUNK_ROWS) * rowWords;
        if (chunk[at] === h1 >>> 0 && chunk[at + 1] === h2 >>> 0 && chunk[at + 2] === h3 >>> 0 && chunk[at + 3] === h4 >>> 0) return row;
      }
      slot = (slot + 1) & mask;
    }
  }

  /** Adds the key in `h1…h4` at the free slot from `find`. Returns its row, or -1 if the table is full. */
  protected put(freeSlot: number): number {
    const row = this.#add();
    if (row < 0) return row;
    this.#index[freeSlot] = (h2 & ~ROW_MASK) | (row + 1);
    this.#indexed = this.count;
    this.#growIfFull();
    return row;
  }

  /** Adds the key in `h1…h4`, which the table does not have, without a search. Returns its row, or -1 if the table is full. */
  protected append(): number {
    const row = this.#add();
    if (row >= 0) this.#growIfFull();
    return row;
  }

  #add(): number {
    const row = this.count;
    if (this.#frozen || !this.#reserveChunk(row)) {
      this.#frozen = true;
      return -1;
    }
    const chunk = this.chunks[(row / CHUNK_ROWS) | 0] as Uint32Array;
    const at = (row % CHUNK_ROWS) * this.rowWords;
    chunk[at] = h1;
    chunk[at + 1] = h2;
    chunk[at + 2] = h3;
    chunk[at + 3] = h4;
    this.count = row + 1;
    return row;
  }

  /** A full index would make the next search endless, so the first refused growth freezes the table. */
  #growIfFull(): void {
    if (this.count >= this.#index.length * MAX_LOAD && !this.#growIndex()) this.#frozen = true;
  }

  /** Where the words of a row behind its key stand. */
  protected extraOf(row: number): readonly [chunk: Uint32Array, at: number] {
    return [this.chunks[(row / CHUNK_ROWS) | 0] as Uint32Array, (row % CHUNK_ROWS) * this.rowWords + KEY_WORDS];
  }

  #reserveChunk(row: number): boolean {
    if (row % CHUNK_ROWS !== 0) return true;
    const chunk = row >= ROW_MASK - CHUNK_ROWS ? undefined : this.#memory.chunk(this.chunkWords);
    if (chunk !== undefined) this.chunks.push(chunk);
    return chunk !== undefined;
  }

  #growIndex(): boolean {
    const slots = this.#index.length * 2;
    const index = this.#memory.index(slots);
    if (index === undefined) return false;
    const isIndexed = this.#indexed === this.count;
    this.#index = index;
    this.#indexed = 0;
    // The slots take no memory of the machine until they are written.
    if (isIndexed) this.#indexRows();
    return true;
  }

  #indexRows(): void {
    const index = this.#index;
    const mask = index.length - 1;
    for (let row = this.#indexed; row < this.count; row++) {
      const chunk = this.chunks[(row / CHUNK_ROWS) | 0] as Uint32Array;
      const at = (row % CHUNK_ROWS) * this.rowWords;
      let slot = (chunk[at] as number) & mask;
      while (index[slot] !== 0) slot = (slot + 1) & mask;
      index[slot] = ((chunk[at + 1] as number) & ~ROW_MASK) | (row + 1);
    }
    this.#indexed = this.count;
  }
}

/** A set of texts, by hash. */
export class HashSet extends KeyTable {
  constructor(memory: MemoryBudget | TableMemory, seed: number) {
    super(memory, seed, 0);
  }

  /** Adds the text. */
  add(text: string): Verdict {
    hash(text, this.seed);
    return this.addHashed();
  }

  /** Adds two texts as one key. */
  addPair(first: string, second: string): Verdict {
    hashPair(first, second, this.seed);
    return this.addHashed();
  }

  /** Adds a text by the four words of its hash, which another copy of the hash's module may have made. */
  addWords(word1: number, word2: number, word3: number, word4: number): Verdict {
    setHash(word1, word2, word3, word4);
    return this.addHashed();
  }

  has(text: string): boolean {
    hash(text, this.seed);
    return this.find() >= 0;
  }

  /** As `has`, for a text by the four words of its hash. */
  hasWords(word1: number, word2: number, word3: number, word4: number): boolean {
    setHash(word1, word2, word3, word4);
    return this.find() >= 0;
  }

  /** Adds the hash in `h1…h4`. */
  addHashed(): Verdict {
    const found = this.find();
    if (found >= 0) return KNOWN;
    return this.put(-1 - found) >= 0 ? NEW : UNDECIDED;
  }

  /** Adds the hash in `h1…h4`, which the set does not have. */
  appendHashed(): Verdict {
    return this.append() >= 0 ? NEW : UNDECIDED;
  }
}
