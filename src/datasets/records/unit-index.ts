/**
 * An index: which chunks make statements of a subject, or have rows with a join key.
 *
 * An entry has 32 bits of the hash of the text and the number of a chunk. Texts with equal bits share their entries. A chunk may have an entry for a
 * text that it does not have, and lacks none for one that it has.
 */
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../core/fault.ts';
import { h1, hash } from '../../core/hash.ts';
import { writeFault } from '../../sinks/descriptor.ts';

const PARTITION_BITS = 6;
const PARTITIONS = 2 ** PARTITION_BITS;
/** An entry is a number: the bits of the hash that do not name the partition, and behind them this many for the chunk. */
const CHUNK_BITS = 27;
const CHUNKS = 2 ** CHUNK_BITS;
const ENTRY_BYTES = 8;
const BUFFER_ENTRIES = 2048;
const HEADER_BYTES = PARTITIONS * 8;

/** The bits of a text by which entries are found. */
export function bitsOf(text: string, seed: number): number {
  hash(text, seed);
  return h1 >>> 0;
}

const entryOf = (bits: number, chunk: number): number => (bits >>> PARTITION_BITS) * CHUNKS + chunk;

/** Adds entries to an index. The caller ends it with `finish` or `abort`. */
export class IndexWriter {
  readonly #directory: string;
  readonly #name: string;
  readonly #buffers: Float64Array[] = [];
  readonly #used: number[] = new Array(PARTITIONS).fill(0);
  readonly #files: (number | undefined)[] = new Array(PARTITIONS).fill(undefined);
  readonly #counts: number[] = new Array(PARTITIONS).fill(0);

  /** @param name of its file */
  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#name = name;
  }

  /** @param bits of a text @throws Fault sink/failed */
  add(bits: number, chunk: number): void {
    const partition = bits % PARTITIONS;
    this.#buffers[partition] ??= new Float64Array(BUFFER_ENTRIES);
    const buffer = this.#buffers[partition] as Float64Array;
    const used = this.#used[partition] as number;
    const entry = entryOf(bits, chunk);
    if (used > 0 && buffer[used - 1] === entry) return;
    buffer[used] = entry;
    this.#used[partition] = used + 1;
    if (used + 1 < BUFFER_ENTRIES) return;
    this.#files[partition] ??= this.#tried(() => openSync(join(this.#directory, `${this.#name}-${partition}`), 'w+', 0o600));
    this.#tried(() => writeWhole(this.#files[partition] as number, buffer));
    this.#counts[partition] = (this.#counts[partition] as number) + BUFFER_ENTRIES;
    this.#used[partition] = 0;
  }

  /**
   * Completes the index.
   *
   * @param old an index whose entries stay, and the new numbers of its chunks; -1: the chunk is gone
   * @throws Fault sink/failed, source/unreadable
   */
  async finish(old?: { readonly index: IndexReader; readonly numbers: Int32Array }): Promise<void> {
    const counts = new Float64Array(PARTITIONS);
    const merged = new Scratch();
    const file = this.#tried(() => openSync(join(this.#directory, this.#name), 'w', 0o600));
    try {
      this.#tried(() => writeWhole(file, counts));
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const entries = mergedWith(old && renumbered(old.index.partition(partition), old.numbers), this.#entries(partition).sort(), merged);
        counts[partition] = entries.length;
        this.#tried(() => writeWhole(file, entries));
      }
      this.#tried(() => {
        writeSync(file, new Uint8Array(counts.buffer), 0, HEADER_BYTES, 0);
        fsyncSync(file);
      });
    } finally {
      closeSync(file);
    }
    await this.abort();
  }

  #entries(partition: number): Float64Array {
    const count = this.#counts[partition] as number;
    const used = this.#used[partition] as number;
    const entries = new Float64Array(count + used);
    const file = this.#files[partition];
    if (file !== undefined) readWhole(file, entries.subarray(0, count), 0, join(this.#directory, this.#name));
    if (used > 0) entries.set((this.#buffers[partition] as Float64Array).subarray(0, used), count);
    return entries;
  }

  /** Removes temporary files. */
  async abort(): Promise<void> {
    for (const [partition, file] of this.#files.entries()) {
      if (file === undefined) continue;
      closeSync(file);
      this.#files[partition] = undefined;
      await rm(join(this.#directory, `${this.#name}-${partition}`), { force: true });
    }
  }

  #tried<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw error instanceof Fault ? error : writeFault(join(this.#directory, this.#name), error);
    }
  }
}

/** Memory that is used again: new memory for each partition would be freed late. */
class Scratch {
  #numbers = new Float64Array(0);

  /** Valid until the next call; has any content. */
  take(length: number): Float64Array {
    if (length > this.#numbers.length) this.#numbers = new Float64Array(Math.ceil(length * 1.25));
    return this.#numbers.subarray(0, length);
  }
}

/** The entries of chunks that are left, in place; they ascend. */
function renumbered(entries: Float64Array, numbers: Int32Array): Float64Array {
  let kept = 0;
  let ascends = true;
  let last = 0;
  // Without iterators and quotients, which take four times as long.
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] as number;
    const old = (entry | 0) & (CHUNKS - 1);
    const number = numbers[old] as number;
    if (number < 0) continue;
    const renewed = entry - old + number;
    if (renewed < last) ascends = false;
    last = renewed;
    entries[kept++] = renewed;
  }
  const left = entries.subarray(0, kept);
  return ascends ? left : left.sort();
}

/** Both together, each entry once, ascending as both do. In `merged`. */
function mergedWith(old: Float64Array | undefined, sorted: Float64Array, merged: Scratch): Float64Array {
  const count = old?.length ?? 0;
  const both = merged.take(count + sorted.length);
  let [i, j, used, last] = [0, 0, 0, -1];
  while (i < count || j < sorted.length) {
    const ofOld = i < count ? ((old as Float64Array)[i] as number) : Number.POSITIVE_INFINITY;
    const ofSorted = j < sorted.length ? (sorted[j] as number) : Number.POSITIVE_INFINITY;
    const entry = Math.min(ofOld, ofSorted);
    if (ofOld <= ofSorted) i++;
    else j++;
    if (entry !== last) both[used++] = entry;
    last = entry;
  }
  return both.subarray(0, used);
}

/** Reads an index. The caller closes it. */
export class IndexReader {
  readonly #file: number;
  readonly #path: string;
  readonly #counts = new Float64Array(PARTITIONS);
  readonly #entries = new Scratch();

  /** @throws Fault source/unreadable */
  constructor(directory: string, name: string) {
    this.#path = join(directory, name);
    try {
      this.#file = openSync(this.#path, 'r');
    } catch (error) {
      throw unreadable(this.#path, (error as Error).message);
    }
    readWhole(this.#file, this.#counts, 0, this.#path);
  }

  /** The entries of a partition, valid until the next call. @throws Fault source/unreadable */
  partition(partition: number): Float64Array {
    const before = this.#counts.subarray(0, partition).reduce((sum, count) => sum + count, 0);
    const entries = this.#entries.take(this.#counts[partition] as number);
    readWhole(this.#file, entries, HEADER_BYTES + before * ENTRY_BYTES, this.#path);
    return entries;
  }

  /** Calls `take` with the chunks of each text that has some. @param bits of the texts, each once */
  chunksOf(bits: Iterable<number>, take: (chunks: readonly number[]) => void): void {
    const wanted: number[][] = Array.from({ length: PARTITIONS }, () => []);
    for (const one of bits) wanted[one % PARTITIONS]?.push(one);
    for (const [partition, texts] of wanted.entries()) {
      if (texts.length === 0) continue;
      const entries = this.partition(partition);
      for (const text of texts) {
        const [from, to] = [entryOf(text, 0), entryOf(text, CHUNKS)];
        const chunks: number[] = [];
        for (let at = lowerBound(entries, from); at < entries.length && (entries[at] as number) < to; at++)
          chunks.push((entries[at] as number) - from);
        if (chunks.length > 0) take(chunks);
      }
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The first entry that is not below `from`. */
function lowerBound(entries: Float64Array, from: number): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] as number) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

const bytesOf = (numbers: Float64Array): Uint8Array => new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

function writeWhole(file: number, numbers: Float64Array): void {
  const bytes = bytesOf(numbers);
  for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from);
}

function readWhole(file: number, numbers: Float64Array, position: number, path: string): void {
  const bytes = bytesOf(numbers);
  for (let read = 0; read < bytes.length; ) {
    let got = 0;
    try {
      got = readSync(file, bytes, read, bytes.length - read, position + read);
    } catch (error) {
      throw unreadable(path, (error as Error).message);
    }
    if (got === 0) throw unreadable(path, 'it is cut off');
    read += got;
  }
}

const unreadable = (path: string, reason: string): Fault => new Fault('source/unreadable', `The index ${path} cannot be read: ${reason}`);
