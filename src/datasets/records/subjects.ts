/**
 * An index: which chunks make statements of a subject.
 *
 * An entry has 32 bits of the subject's hash and the number of a chunk. Subjects with equal bits share their entries. A chunk may have an entry for a
 * subject of which it makes no statement, and lacks none for one of which it does.
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
const NAME = 'subjects';

/** The bits of a subject by which entries are found. */
export function subjectBits(subject: string, seed: number): number {
  hash(subject, seed);
  return h1 >>> 0;
}

const entryOf = (bits: number, chunk: number): number => (bits >>> PARTITION_BITS) * CHUNKS + chunk;

/** Adds entries to an index. The caller ends it with `finish` or `abort`. */
export class SubjectWriter {
  readonly #directory: string;
  readonly #seed: number;
  readonly #buffers: Float64Array[] = [];
  readonly #used: number[] = new Array(PARTITIONS).fill(0);
  readonly #files: (number | undefined)[] = new Array(PARTITIONS).fill(undefined);
  readonly #counts: number[] = new Array(PARTITIONS).fill(0);

  constructor(directory: string, seed: number) {
    this.#directory = directory;
    this.#seed = seed;
  }

  /** @throws Fault sink/failed */
  add(subject: string, chunk: number): void {
    const bits = subjectBits(subject, this.#seed);
    const partition = bits % PARTITIONS;
    this.#buffers[partition] ??= new Float64Array(BUFFER_ENTRIES);
    const buffer = this.#buffers[partition] as Float64Array;
    const used = this.#used[partition] as number;
    const entry = entryOf(bits, chunk);
    if (used > 0 && buffer[used - 1] === entry) return;
    buffer[used] = entry;
    this.#used[partition] = used + 1;
    if (used + 1 < BUFFER_ENTRIES) return;
    this.#files[partition] ??= this.#tried(() => openSync(join(this.#directory, `${NAME}-${partition}`), 'w+', 0o600));
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
  async finish(old?: { readonly subjects: SubjectReader; readonly numbers: Int32Array }): Promise<void> {
    const counts = new Float64Array(PARTITIONS);
    const file = this.#tried(() => openSync(join(this.#directory, NAME), 'w', 0o600));
    try {
      this.#tried(() => writeWhole(file, counts));
      for (let partition = 0; partition < PARTITIONS; partition++) {
        const entries = mergedWith(old && renumbered(old.subjects.partition(partition), old.numbers), this.#entries(partition).sort());
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
    if (file !== undefined) readWhole(file, entries.subarray(0, count), 0, this.#directory);
    if (used > 0) entries.set((this.#buffers[partition] as Float64Array).subarray(0, used), count);
    return entries;
  }

  /** Removes temporary files. */
  async abort(): Promise<void> {
    for (const [partition, file] of this.#files.entries()) {
      if (file === undefined) continue;
      closeSync(file);
      this.#files[partition] = undefined;
      await rm(join(this.#directory, `${NAME}-${partition}`), { force: true });
    }
  }

  #tried<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw error instanceof Fault ? error : writeFault(join(this.#directory, NAME), error);
    }
  }
}

/** The entries of chunks that are left, in place; those of a subject stay together. */
function renumbered(entries: Float64Array, numbers: Int32Array): Float64Array {
  let kept = 0;
  for (const entry of entries) {
    // The remainder takes several times as long.
    const old = entry - Math.floor(entry / CHUNKS) * CHUNKS;
    const number = numbers[old] as number;
    if (number >= 0) entries[kept++] = entry - old + number;
  }
  return entries.subarray(0, kept);
}

/** Both together, each entry once. Those of a subject are together in each, and subjects ascend: so they are in the result. */
function mergedWith(old: Float64Array | undefined, sorted: Float64Array): Float64Array {
  const both = new Float64Array((old?.length ?? 0) + sorted.length);
  let [i, used] = [0, 0];
  for (let at = 0; at < sorted.length; at++) {
    const entry = sorted[at] as number;
    if (at > 0 && sorted[at - 1] === entry) continue;
    while (old !== undefined && i < old.length && (old[i] as number) <= entry) both[used++] = old[i++] as number;
    both[used++] = entry;
  }
  while (old !== undefined && i < old.length) both[used++] = old[i++] as number;
  return both.subarray(0, used);
}

/** Reads an index. The caller closes it. */
export class SubjectReader {
  readonly #file: number;
  readonly #directory: string;
  readonly #counts = new Float64Array(PARTITIONS);

  /** @throws Fault source/unreadable */
  constructor(directory: string) {
    this.#directory = directory;
    try {
      this.#file = openSync(join(directory, NAME), 'r');
    } catch (error) {
      throw unreadable(directory, (error as Error).message);
    }
    readWhole(this.#file, this.#counts, 0, directory);
  }

  /** The entries of a partition. @throws Fault source/unreadable */
  partition(partition: number): Float64Array {
    const before = this.#counts.subarray(0, partition).reduce((sum, count) => sum + count, 0);
    const entries = new Float64Array(this.#counts[partition] as number);
    readWhole(this.#file, entries, HEADER_BYTES + before * ENTRY_BYTES, this.#directory);
    return entries;
  }

  /** Calls `take` with the chunks of each subject. @param bits of the subjects, each once */
  chunksOf(bits: Iterable<number>, take: (chunks: readonly number[]) => void): void {
    const wanted: number[][] = Array.from({ length: PARTITIONS }, () => []);
    for (const one of bits) wanted[one % PARTITIONS]?.push(one);
    for (const [partition, subjects] of wanted.entries()) {
      if (subjects.length === 0) continue;
      const entries = this.partition(partition);
      for (const subject of subjects) {
        const [from, to] = [entryOf(subject, 0), entryOf(subject, CHUNKS)];
        const chunks: number[] = [];
        for (let at = lowerBound(entries, from); at < entries.length && (entries[at] as number) < to; at++)
          chunks.push((entries[at] as number) - from);
        take(chunks);
      }
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** The first entry that is not below `from`: entries of different subjects ascend. */
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

function readWhole(file: number, numbers: Float64Array, position: number, directory: string): void {
  const bytes = bytesOf(numbers);
  for (let read = 0; read < bytes.length; ) {
    let got = 0;
    try {
      got = readSync(file, bytes, read, bytes.length - read, position + read);
    } catch (error) {
      throw unreadable(directory, (error as Error).message);
    }
    if (got === 0) throw unreadable(directory, 'it is cut off');
    read += got;
  }
}

const unreadable = (directory: string, reason: string): Fault =>
  new Fault('source/unreadable', `The index of subjects in ${directory} cannot be read: ${reason}`);
