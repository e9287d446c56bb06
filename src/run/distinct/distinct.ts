/**
 * De-duplication: statements are distinct, at a cost only where duplicates can occur.
 *
 * A rule that is disjoint from all others (plan/overlaps.ts) repeats a statement only for records with the same subject. So a triples map
 * has a `SubjectTable`: each subject, with a hash of each rule's object in the first record of that subject. A new subject needs no further
 * check. For a known subject, an object equal to the first is a repetition; any other object is looked up in the `HashSet` of statements.
 * Overlapping rules always use the set.
 *
 * What is known to be new is not looked up: a subject that is greater than all before it, and a further statement of a new subject. It gets a
 * row, and its place in the index when something else is looked up. In a document in the order of its subjects, that is never.
 *
 * Hashes have 128 bits and a random seed per run, so a collision that would lose a statement is out of reach. Tables are typed arrays and
 * share one memory budget. When it is used up they are frozen: a statement that they do not contain is *undecided* and goes to the `spill`.
 */

import { h1, h2, h3, h4, hash, hashPair, mixIn, setHash } from '../../core/hash.ts';
import { Ascent } from './ascent.ts';

/** The memory in bytes that all tables of a run may use together. */
export class MemoryBudget {
  readonly limitBytes: number;
  usedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Returns false, and takes nothing, if fewer than `bytes` are left. */
  take(bytes: number): boolean {
    if (this.usedBytes + bytes > this.limitBytes) return false;
    this.usedBytes += bytes;
    return true;
  }

  give(bytes: number): void {
    this.usedBytes -= bytes;
  }
}

/** A budget that several threads take from. */
export class SharedBudget extends MemoryBudget {
  readonly #used: BigInt64Array;

  /** @param buffer of `SharedBudget.open`; the same in all threads */
  constructor(limitBytes: number, buffer: SharedArrayBuffer) {
    super(limitBytes);
    this.#used = new BigInt64Array(buffer);
  }

  static open(): SharedArrayBuffer {
    return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  }

  override take(bytes: number): boolean {
    const before = Atomics.add(this.#used, 0, BigInt(bytes));
    if (Number(before) + bytes <= this.limitBytes) return true;
    Atomics.sub(this.#used, 0, BigInt(bytes));
    return false;
  }

  override give(bytes: number): void {
    Atomics.sub(this.#used, 0, BigInt(bytes));
  }
}

/** A budget with a reserve, for work that must continue when the main budget is used up. */
export class ReservedBudget extends MemoryBudget {
  readonly #rest: MemoryBudget;
  #borrowedBytes = 0;

  constructor(reserveBytes: number, rest: MemoryBudget) {
    super(reserveBytes);
    this.#rest = rest;
  }

  override take(bytes: number): boolean {
    if (super.take(bytes)) return true;
    if (!this.#rest.take(bytes)) return false;
    this.#borrowedBytes += bytes;
    return true;
  }

  override give(bytes: number): void {
    const borrowed = Math.min(bytes, this.#borrowedBytes);
    this.#borrowedBytes -= borrowed;
    this.#rest.give(borrowed);
    super.give(bytes - borrowed);
  }

  /** Gives back all that it has borrowed: nothing uses it any more. */
  release(): void {
    this.#rest.give(this.#borrowedBytes);
    this.#borrowedBytes = 0;
  }
}

// ---------------------------------------------------------------- tables

export const KNOWN = 0;
export const NEW = 1;
/** The table is full and does not contain the key: it may be new, or an earlier undecided one. */
export const UNDECIDED = 2;
export type Verdict = typeof KNOWN | typeof NEW | typeof UNDECIDED;

const KEY_WORDS = 4;
const CHUNK_ROWS = 1024;
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
    // Nobody has touched the slots: they take no memory of the machine until then.
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

/** The set of statements of a run, or of the rules of a triples map. */
export interface StatementSet {
  /** Adds the text. */
  add(text: string): Verdict;
  /** Adds the hash in `h1…h4`. */
  addHashed(): Verdict;
  /** Adds the hash in `h1…h4`, which the set does not have. */
  appendHashed(): Verdict;
  drop(): void;
}

/** A set of texts, by hash. */
export class HashSet extends KeyTable implements StatementSet {
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

/** The subjects of a triples map. Between `enter` and `leave`, what is remembered of the current subject is this record's alone. */
export type Subjects = Pick<
  SubjectTable,
  'enter' | 'leave' | 'remember' | 'firstHad' | 'rememberNumber' | 'rememberedNumber' | 'addStatement' | 'appendStatement' | 'drop'
>;

/** Subjects, each with a 64-bit hash of every remembered rule's object in the subject's first record. */
export class SubjectTable extends KeyTable {
  /** Offset of the hashes of the current subject. */
  #chunk: Uint32Array = new Uint32Array(0);
  #at = 0;
  /** Key words of the current subject. */
  #s1 = 0;
  #s2 = 0;
  #s3 = 0;
  #s4 = 0;
  /** Of the subjects that were entered as texts. */
  readonly #ascent = new Ascent();

  /** @param width number of hashes remembered per subject */
  constructor(memory: MemoryBudget | TableMemory, seed: number, width: number) {
    super(memory, seed, width * 2);
  }

  /** Looks the subject up, adds it if it is new, and makes it the current subject for the methods below. */
  enter(subject: string): Verdict {
    hash(subject, this.seed);
    // Greater than all subjects before it, so it is none of them.
    if (this.#ascent.add(subject)) return this.#makeCurrent(this.append(), NEW);
    return this.enterHashed();
  }

  /** The same for the subject whose hash is in `h1…h4`. */
  enterHashed(): Verdict {
    const found = this.find();
    return found >= 0 ? this.#makeCurrent(found, KNOWN) : this.#makeCurrent(this.put(-1 - found), NEW);
  }

  /** @param row -1: the table is full */
  #makeCurrent(row: number, verdict: typeof KNOWN | typeof NEW): Verdict {
    this.#s1 = h1;
    this.#s2 = h2;
    this.#s3 = h3;
    this.#s4 = h4;
    if (row < 0) return UNDECIDED;
    this.#chunk = this.chunks[(row / CHUNK_ROWS) | 0] as Uint32Array;
    this.#at = (row % CHUNK_ROWS) * this.rowWords + KEY_WORDS;
    return verdict;
  }

  /** The statements of the current subject have been made. */
  leave(): void {}

  /** Remembers the object of a rule for a subject that `enter` found new. */
  remember(rule: number, object: string): void {
    hash(object, this.seed);
    this.#chunk[this.#at + rule * 2] = h1;
    this.#chunk[this.#at + rule * 2 + 1] = h4;
  }

  /** Whether the subject's first record had this object. Leaves the object's hash for `addStatement`. */
  firstHad(rule: number, object: string): boolean {
    hash(object, this.seed);
    return this.#chunk[this.#at + rule * 2] === h1 >>> 0 && this.#chunk[this.#at + rule * 2 + 1] === h4 >>> 0;
  }

  /** Remembers a number, in place of an object hash, for a subject that `enter` found new. */
  rememberNumber(rule: number, number: number): void {
    this.#chunk[this.#at + rule * 2] = number;
  }

  /** The number that `rememberNumber` stored for the subject; 0 if none. */
  rememberedNumber(rule: number): number {
    return this.#chunk[this.#at + rule * 2] as number;
  }

  /** Adds the statement of the current subject, the rule and the object that was hashed last to a set. */
  addStatement(rule: number, statements: StatementSet): Verdict {
    mixIn(this.#s1, this.#s2, this.#s3, this.#s4, rule + 1);
    return statements.addHashed();
  }

  /**
   * Adds a statement of the current subject, which `enter` found new, to a set. The rule has not given the object to the subject before.
   *
   * The set does not have it: all that it has of this subject was added since `enter`, by other rules or with other objects.
   */
  appendStatement(rule: number, object: string, statements: StatementSet): Verdict {
    hash(object, this.seed);
    mixIn(this.#s1, this.#s2, this.#s3, this.#s4, rule + 1);
    return statements.appendHashed();
  }
}
