/**
 * Tables that the threads of a run share, so that a statement is written once whichever threads make it.
 *
 * A table is cut into shards by hash. A shard is a `KeyTable` whose rows and index stand in shared memory, with a lock: a thread
 * holds the lock of its subject's shard from the look-up until all statements of the record are made. So for a subject, records follow one
 * another as they do in one thread: the first one remembers its objects before another thread can compare its own with them. A shard without
 * memory is frozen for all threads, and for good: a key that it does not have is undecided from then on.
 *
 * **No deadlock.** A lock has one of three ranks: that of a subject's shard, that of a shard of statements, that of the free indexes. A thread takes
 * a lock while it holds locks of lower ranks alone: subjects are entered one at a time, each is left before the next one is entered, and the
 * other locks are taken and released within one call. So locks alone form no circle. The holder of a subject waits for one thing that is no lock: the
 * lines of a record with very many statements are written while they are made, so its thread waits until the writing thread has given a buffer
 * back, or has stored undecided statements. The writing thread takes no lock, so it gets there. If a thread ends while it holds a lock,
 * the writing thread receives the event and terminates the threads that wait.
 *
 * All memory is written and read under locks, which order it.
 */
import { h3, hash } from '../../core/hash.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { HashSet, type KeyTable, type TableMemory, type Verdict } from '../../spill/key-table.ts';
import { type StatementSet, type Subjects, SubjectTable } from './distinct.ts';

/** With a few threads, two are seldom in one shard. A shard takes 100 kB for its first rows. */
const SHARDS = 16;
/** Words of a shard that describe it: a cache line, so that threads do not wait for each other's locks of other shards. */
const HEADER_WORDS = 16;
const LOCK = 0;
const ROWS = 1;
const INDEX_AT = 2;
const INDEX_SLOTS = 3;
const FROZEN = 4;
const CHUNKS = 5;
/** Where the positions of the chunks stand, and how many there is place for. */
const CHUNKS_AT = 6;
const CHUNKS_PLACES = 7;
/** Rows that are in the index. */
const INDEXED = 8;

const FIRST_SLOTS = 2048;
const FIRST_PLACES = 64;
/** A lock is held for a microsecond, except for a record with very many statements. */
const SPINS = 2000;
const WAIT_MS = 1;

/** The number of the next free word of the memory. */
const NEXT = 0;
/** The number of the first word that was handed out. */
const FIRST = 1;
/** Where free indexes begin, by the logarithm of their slots; the first word of one tells the next. */
const FREE = 2;
const FREE_LOCK = 40;
/** A multiple of a cache line. */
const FIRST_WORD = 48;
/** More than this would have to be reserved for nothing: positions are numbers of 32 bits. */
const MOST_BYTES = 2 ** 33;

/**
 * Memory of all threads, handed out from the front. What is handed out is taken from the budget until all of it is released. The
 * operating system does not commit untouched pages.
 */
export class SharedMemory {
  readonly words: Uint32Array;
  readonly #waits: Int32Array;
  readonly #budget: MemoryBudget;

  /**
   * @param buffer of `reserve`; the same in all threads
   * @param budget one from which all threads take
   */
  constructor(buffer: SharedArrayBuffer, budget: MemoryBudget) {
    this.words = new Uint32Array(buffer);
    this.#waits = new Int32Array(buffer);
    this.#budget = budget;
  }

  /** @param tables number of tables that will be opened in it, at most */
  static reserve(bytes: number, tables: number): SharedArrayBuffer {
    const head = FIRST_WORD + tables * SHARDS * HEADER_WORDS;
    const buffer = new SharedArrayBuffer((head + Math.floor(Math.min(bytes, MOST_BYTES) / 4)) * 4);
    const words = new Uint32Array(buffer);
    words[FIRST] = head;
    words[NEXT] = head;
    return buffer;
  }

  /** Where so many words begin that no other caller has; -1: there are not so many. */
  take(words: number): number {
    if (!this.#budget.take(words * 4)) return -1;
    for (;;) {
      const at = Atomics.load(this.words, NEXT);
      if (at + words > this.words.length) {
        this.#budget.give(words * 4);
        return -1;
      }
      if (Atomics.compareExchange(this.words, NEXT, at, at + words) === at) return at;
    }
  }

  /** As `take`, for an index: one that was freed, if there is one. */
  takeIndex(slots: number): number {
    const { words } = this;
    const free = FREE + 31 - Math.clz32(slots);
    this.lock(FREE_LOCK);
    const found = words[free] as number;
    if (found !== 0) words[free] = words[found] as number;
    this.unlock(FREE_LOCK);
    if (found === 0) return this.take(slots);
    words.fill(0, found, found + slots);
    return found;
  }

  /** Lets others have an index that grew out of use: all shards grow through the same sizes. It stays in the account. */
  freeIndex(at: number, slots: number): void {
    const free = FREE + 31 - Math.clz32(slots);
    this.lock(FREE_LOCK);
    this.words[at] = this.words[free] as number;
    this.words[free] = at;
    this.unlock(FREE_LOCK);
  }

  /** What was handed out. The rest takes no memory of the machine. */
  get usedBytes(): number {
    return Atomics.load(this.words, NEXT) * 4;
  }

  /** Gives everything back to the budget: no thread uses the memory any more. */
  release(): void {
    const next = this.words[NEXT] as number;
    this.#budget.give((next - (this.words[FIRST] as number)) * 4);
    this.words[FIRST] = next;
  }

  lock(at: number): void {
    for (let spins = 0; Atomics.compareExchange(this.words, at, 0, 1) !== 0; spins++) {
      if (spins >= SPINS) Atomics.wait(this.#waits, at, 1, WAIT_MS);
    }
  }

  unlock(at: number): void {
    Atomics.store(this.words, at, 0);
  }
}

/** Where the header of a table's first shard stands. */
const headerOf = (table: number): number => FIRST_WORD + table * SHARDS * HEADER_WORDS;
/** The first word of a hash finds the slot in an index, the second one is compared there. */
const shardOf = (): number => h3 & (SHARDS - 1);

class Shard<T extends KeyTable> implements TableMemory {
  readonly table: T;
  readonly #memory: SharedMemory;
  readonly #words: Uint32Array;
  /** Position of the header. */
  readonly #at: number;
  readonly #chunks: Uint32Array[] = [];
  #index: Uint32Array = new Uint32Array(1);
  #indexAt = 0;

  constructor(memory: SharedMemory, at: number, open: (memory: TableMemory) => T) {
    this.#memory = memory;
    this.#words = memory.words;
    this.#at = at;
    this.table = open(this);
  }

  /** Locks the shard and sees what other threads have changed. */
  lock(): T {
    const { table } = this;
    const words = this.#words;
    const at = this.#at;
    this.#memory.lock(at + LOCK);
    if (words[at + INDEX_AT] === 0 && words[at + FROZEN] === 0 && this.index(FIRST_SLOTS) === undefined) words[at + FROZEN] = 1;
    const indexAt = words[at + INDEX_AT] as number;
    if (indexAt !== this.#indexAt) {
      this.#index = words.subarray(indexAt, indexAt + (words[at + INDEX_SLOTS] as number));
      this.#indexAt = indexAt;
    }
    for (let chunk = this.#chunks.length; chunk < (words[at + CHUNKS] as number); chunk++) {
      const from = words[(words[at + CHUNKS_AT] as number) + chunk] as number;
      this.#chunks.push(words.subarray(from, from + table.chunkWords));
    }
    table.load(this.#chunks, this.#index, words[at + ROWS] as number, words[at + INDEXED] as number, words[at + FROZEN] === 1);
    return table;
  }

  unlock(): void {
    const words = this.#words;
    words[this.#at + ROWS] = this.table.rows;
    words[this.#at + INDEXED] = this.table.indexed;
    words[this.#at + FROZEN] = this.table.full ? 1 : 0;
    this.#memory.unlock(this.#at + LOCK);
  }

  /** The table keeps the chunk in `#chunks`. */
  chunk(size: number): Uint32Array | undefined {
    const words = this.#words;
    const at = this.#at;
    const chunks = words[at + CHUNKS] as number;
    if (chunks === words[at + CHUNKS_PLACES]) {
      const places = Math.max(FIRST_PLACES, chunks * 2);
      const moved = this.#memory.take(places);
      if (moved < 0) return undefined;
      const before = words[at + CHUNKS_AT] as number;
      words.copyWithin(moved, before, before + chunks);
      words[at + CHUNKS_AT] = moved;
      words[at + CHUNKS_PLACES] = places;
    }
    const from = this.#memory.take(size);
    if (from < 0) return undefined;
    words[(words[at + CHUNKS_AT] as number) + chunks] = from;
    words[at + CHUNKS] = chunks + 1;
    return words.subarray(from, from + size);
  }

  index(slots: number): Uint32Array | undefined {
    const from = this.#memory.takeIndex(slots);
    if (from < 0) return undefined;
    const words = this.#words;
    const before = words[this.#at + INDEX_AT] as number;
    // Threads look at an index under the lock of its shard alone, so no thread reads the old one.
    if (before !== 0) this.#memory.freeIndex(before, words[this.#at + INDEX_SLOTS] as number);
    words[this.#at + INDEX_AT] = from;
    words[this.#at + INDEX_SLOTS] = slots;
    this.#indexAt = from;
    this.#index = this.#words.subarray(from, from + slots);
    return this.#index;
  }

  release(): void {
    throw new Error('other threads use the table');
  }
}

/** @param table number of the table in the memory, from 0; the same in all threads, and of no other table */
const shardsOf = <T extends KeyTable>(memory: SharedMemory, table: number, open: (memory: TableMemory) => T): readonly Shard<T>[] =>
  Array.from({ length: SHARDS }, (_, i) => new Shard(memory, headerOf(table) + i * HEADER_WORDS, open));

export class SharedHashSet implements StatementSet {
  readonly #seed: number;
  readonly #shards: readonly Shard<HashSet>[];

  /** @param seed the same in all threads */
  constructor(memory: SharedMemory, table: number, seed: number) {
    this.#seed = seed;
    this.#shards = shardsOf(memory, table, (own) => new HashSet(own, seed));
  }

  add(text: string): Verdict {
    hash(text, this.#seed);
    return this.addHashed();
  }

  addHashed(): Verdict {
    const shard = this.#shards[shardOf()] as Shard<HashSet>;
    const verdict = shard.lock().addHashed();
    shard.unlock();
    return verdict;
  }

  appendHashed(): Verdict {
    const shard = this.#shards[shardOf()] as Shard<HashSet>;
    const verdict = shard.lock().appendHashed();
    shard.unlock();
    return verdict;
  }

  /** The memory is that of the run. */
  drop(): void {}
}

export class SharedSubjectTable implements Subjects {
  readonly #seed: number;
  readonly #shards: readonly Shard<SubjectTable>[];
  #shard: Shard<SubjectTable> | undefined;
  #table: SubjectTable;

  /** @param width number of hashes remembered per subject */
  constructor(memory: SharedMemory, table: number, seed: number, width: number) {
    this.#seed = seed;
    this.#shards = shardsOf(memory, table, (own) => new SubjectTable(own, seed, width));
    this.#table = (this.#shards[0] as Shard<SubjectTable>).table;
  }

  enter(subject: string): Verdict {
    hash(subject, this.#seed);
    const shard = this.#shards[shardOf()] as Shard<SubjectTable>;
    this.#shard = shard;
    this.#table = shard.lock();
    return this.#table.enterHashed();
  }

  leave(): void {
    this.#shard?.unlock();
    this.#shard = undefined;
  }

  remember(rule: number, object: string): void {
    this.#table.remember(rule, object);
  }

  firstHad(rule: number, object: string): boolean {
    return this.#table.firstHad(rule, object);
  }

  rememberNumber(rule: number, number: number): void {
    this.#table.rememberNumber(rule, number);
  }

  rememberedNumber(rule: number): number {
    return this.#table.rememberedNumber(rule);
  }

  addStatement(rule: number, statements: StatementSet): Verdict {
    return this.#table.addStatement(rule, statements);
  }

  appendStatement(rule: number, object: string, statements: StatementSet): Verdict {
    return this.#table.appendStatement(rule, object, statements);
  }

  /** The memory is that of the run. */
  drop(): void {}
}
