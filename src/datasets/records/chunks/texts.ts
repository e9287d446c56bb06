/** The chunks of inputs that a dataset keeps: a table of them, and their texts in packed files, which do not change once they are complete. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Fault } from '../../../core/fault.ts';
import { h1, h2, h3, h4, hashBytes } from '../../../core/hash.ts';
import { writeFault } from '../../../sinks/descriptor.ts';

/** Words of 32 bits: four of the digest, scan, length, file, two of the place of its block in the file, length of the block, place in its text. */
const WORDS = 11;
const [SCAN, LENGTH, FILE, LOW, HIGH, PACKED, OFFSET] = [4, 5, 6, 7, 8, 9, 10];
const WORD = 2 ** 32;
const FIRST_CHUNKS = 1024;
/** Rows of so many are written together. */
const SAVED_CHUNKS = 1 << 12;
/** Texts of about so many bytes are packed together. */
const BLOCK_BYTES = 1 << 14;
const LEVEL = 1;
/** Most blocks are unpacked into one buffer of so many bytes. */
const UNPACKED_BYTES = BLOCK_BYTES * 2;

/** A chunk is known by its number. Its digest is that of `hashChunk`. */
export class ChunkTable {
  count = 0;
  /** Rows of chunks. */
  #words: Uint32Array;
  #used = 0;
  readonly #base: ChunkTable | undefined;
  /** With a base, the row of each chunk: one of the base, or behind all of these an own one. Most chunks stay, so their rows are not there twice. */
  #rows: Uint32Array;

  /**
   * @param chunks for so many there is room at first
   * @param base a table that was loaded, and has some of the chunks
   */
  constructor(chunks = FIRST_CHUNKS, base?: ChunkTable) {
    this.#base = base;
    this.#words = new Uint32Array(chunks * WORDS);
    this.#rows = new Uint32Array(base === undefined ? 0 : base.count + chunks);
  }

  /** @throws Fault source/unreadable — it is not what `save` has written */
  static load(path: string, digest: string): ChunkTable {
    const table = new ChunkTable(0);
    const bytes = tried(path, () => readFileSync(path));
    if (createHash('sha256').update(bytes).digest('hex') !== digest) throw damaged(path);
    // A small file may be read into a part of a buffer that is not aligned.
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
    table.#words = new Uint32Array(buffer, byteOffset, bytes.length / 4);
    table.#used = table.#words.length / WORDS;
    table.count = table.#used;
    return table;
  }

  /** @returns the digest of the file @throws Fault sink/failed */
  save(path: string): string {
    const digest = createHash('sha256');
    const words = new Uint32Array(SAVED_CHUNKS * WORDS);
    try {
      const descriptor = openSync(path, 'w', 0o600);
      for (let from = 0; from < this.count; from += SAVED_CHUNKS) {
        const to = Math.min(this.count, from + SAVED_CHUNKS);
        for (let chunk = from; chunk < to; chunk++) words.set(this.#row(chunk), (chunk - from) * WORDS);
        const bytes = new Uint8Array(words.buffer, 0, (to - from) * WORDS * 4);
        digest.update(bytes);
        writeFileSync(descriptor, bytes);
      }
      fsyncSync(descriptor);
      closeSync(descriptor);
    } catch (error) {
      throw writeFault(path, error);
    }
    return digest.digest('hex');
  }

  scan(chunk: number): number {
    return this.#word(chunk, SCAN);
  }

  length(chunk: number): number {
    return this.#word(chunk, LENGTH);
  }

  /** 32 bits of the digest: `h2`. */
  hash(chunk: number): number {
    return this.#word(chunk, 1);
  }

  /** Whether the chunk has the digest that `hashChunk` has left. */
  isHashed(chunk: number): boolean {
    const word = (i: number): number => this.#word(chunk, i);
    return word(0) === h1 >>> 0 && word(1) === h2 >>> 0 && word(2) === h3 >>> 0 && word(3) === h4 >>> 0;
  }

  place(chunk: number): { readonly file: number; readonly position: number; readonly packed: number; readonly offset: number } {
    const word = (i: number): number => this.#word(chunk, i);
    return { file: word(FILE), position: word(LOW) + word(HIGH) * WORD, packed: word(PACKED), offset: word(OFFSET) };
  }

  /** The chunk that was hashed last. @returns its number */
  add(scan: number, length: number): number {
    const row = this.#ownRow(this.count);
    this.#words.set([h1, h2, h3, h4, scan, length], row * WORDS);
    return this.count++;
  }

  /** A chunk of the base. @returns its number */
  keep(chunk: number): number {
    this.#setRow(this.count, chunk);
    return this.count++;
  }

  put(chunk: number, file: number, position: number, packed: number, offset: number): void {
    const { words, at } = this.#placeOf(chunk);
    let own = at;
    if (words !== this.#words) {
      own = this.#ownRow(chunk) * WORDS;
      this.#words.set(words.subarray(at, at + WORDS), own);
    }
    this.#words.set([file, position % WORD, Math.floor(position / WORD), packed, offset], own + FILE);
  }

  #word(chunk: number, i: number): number {
    const base = this.#base;
    if (base === undefined) return this.#words[chunk * WORDS + i] as number;
    const row = this.#rows[chunk] as number;
    return (row < base.count ? base.#words[row * WORDS + i] : this.#words[(row - base.count) * WORDS + i]) as number;
  }

  #row(chunk: number): Uint32Array {
    const { words, at } = this.#placeOf(chunk);
    return words.subarray(at, at + WORDS);
  }

  #placeOf(chunk: number): { readonly words: Uint32Array; readonly at: number } {
    const base = this.#base;
    if (base === undefined) return { words: this.#words, at: chunk * WORDS };
    const row = this.#rows[chunk] as number;
    return row < base.count ? { words: base.#words, at: row * WORDS } : { words: this.#words, at: (row - base.count) * WORDS };
  }

  /** Gives a chunk a row among the own ones. */
  #ownRow(chunk: number): number {
    if ((this.#used + 1) * WORDS > this.#words.length) {
      const larger = new Uint32Array(this.#words.length * 2 + WORDS);
      larger.set(this.#words);
      this.#words = larger;
    }
    if (this.#base !== undefined) this.#setRow(chunk, this.#base.count + this.#used);
    return this.#used++;
  }

  #setRow(chunk: number, row: number): void {
    if (chunk >= this.#rows.length) {
      const larger = new Uint32Array(this.#rows.length * 2 + 1);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    this.#rows[chunk] = row;
  }
}

/** Finds chunks of a table by their digests. */
export class DigestIndex {
  readonly #table: ChunkTable;
  /** Numbers of chunks, plus one; 0: free. */
  #slots: Int32Array;
  #used = 0;

  /** @param chunks for so many there is room at first */
  constructor(table: ChunkTable, chunks = FIRST_CHUNKS) {
    this.#table = table;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * chunks + 2)));
  }

  /** The chunk that has the digest that `hashChunk` has left; undefined: there is none. */
  find(): number | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = h2 & mask; ; slot = (slot + 1) & mask) {
      const chunk = (this.#slots[slot] as number) - 1;
      if (chunk < 0) return undefined;
      if (this.#table.isHashed(chunk)) return chunk;
    }
  }

  add(chunk: number): void {
    this.#used++;
    if (this.#used * 2 > this.#slots.length) {
      const before = this.#slots;
      this.#slots = new Int32Array(before.length * 2);
      for (const one of before) if (one > 0) this.#put(one);
    }
    this.#put(chunk + 1);
  }

  #put(number: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#table.hash(number - 1) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = number;
  }
}

/**
 * Hashes the text of a chunk into `h1…h4` (`core/hash.ts`).
 *
 * @param seed of the dataset, which is private: a person who makes the data cannot find texts with equal hashes
 */
export function hashChunk(text: Uint8Array, scan: number, seed: number): void {
  hashPart(viewOf(text), 0, text.length, scan, seed);
}

/** The same for a part of a text: a view of all of it costs less than one of each part. */
export const hashPart = (text: DataView, from: number, to: number, scan: number, seed: number): void =>
  hashBytes(text, from, to, seed + scan);

export const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length);

export const textsName = (file: number): string => `texts-${file}`;

/** Writes the texts of chunks to a file. The caller ends it with `finish` or `close`. */
export class TextWriter {
  bytes = 0;
  readonly #table: ChunkTable;
  readonly #file: number;
  readonly #path: string;
  readonly #descriptor: number;
  #block: Buffer[] = [];
  #chunks: number[] = [];
  #used = 0;

  /** @throws Fault sink/failed */
  constructor(directory: string, file: number, table: ChunkTable) {
    this.#table = table;
    this.#file = file;
    this.#path = join(directory, textsName(file));
    this.#descriptor = this.#tried(() => openSync(this.#path, 'w', 0o600));
  }

  add(chunk: number, text: Buffer): void {
    this.#block.push(text);
    this.#chunks.push(chunk);
    this.#used += text.length;
    if (this.#used >= BLOCK_BYTES) this.#pack();
  }

  #pack(): void {
    const packed = deflateRawSync(Buffer.concat(this.#block, this.#used), { level: LEVEL });
    this.#tried(() => {
      for (let from = 0; from < packed.length; ) from += writeSync(this.#descriptor, packed, from);
    });
    let offset = 0;
    for (const [i, chunk] of this.#chunks.entries()) {
      this.#table.put(chunk, this.#file, this.bytes, packed.length, offset);
      offset += (this.#block[i] as Buffer).length;
    }
    this.bytes += packed.length;
    this.#block = [];
    this.#chunks = [];
    this.#used = 0;
  }

  /** @throws Fault sink/failed */
  finish(): void {
    if (this.#used > 0) this.#pack();
    this.#tried(() => fsyncSync(this.#descriptor));
    this.close();
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #tried<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw writeFault(this.#path, error);
    }
  }
}

/** Reads the texts of chunks; in the order of their numbers, each block is unpacked once. The caller closes it. */
export class TextReader {
  readonly #directory: string;
  readonly #table: ChunkTable;
  readonly #seed: number;
  readonly #descriptors = new Map<number, number>();
  #block: { readonly file: number; readonly position: number; readonly text: Buffer } | undefined;

  constructor(directory: string, table: ChunkTable, seed: number) {
    this.#directory = directory;
    this.#table = table;
    this.#seed = seed;
  }

  /** @throws Fault source/unreadable — a file is missing, or has another text */
  read(chunk: number): Buffer {
    const { file, position, packed, offset } = this.#table.place(chunk);
    const path = join(this.#directory, textsName(file));
    if (this.#block?.file !== file || this.#block.position !== position) {
      const text = tried(path, () => {
        const descriptor = this.#descriptors.get(file) ?? openSync(path, 'r');
        this.#descriptors.set(file, descriptor);
        const bytes = Buffer.allocUnsafe(packed);
        for (let read = 0; read < packed; ) {
          const got = readSync(descriptor, bytes, read, packed - read, position + read);
          if (got === 0) throw new Error('the file is cut off');
          read += got;
        }
        return inflateRawSync(bytes, { chunkSize: UNPACKED_BYTES });
      });
      this.#block = { file, position, text };
    }
    const text = this.#block.text.subarray(offset, offset + this.#table.length(chunk));
    hashChunk(text, this.#table.scan(chunk), this.#seed);
    if (!this.#table.isHashed(chunk)) throw damaged(path);
    return text;
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }
}

function tried<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new Fault('source/unreadable', `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const damaged = (path: string): Fault => new Fault('source/unreadable', `${path} is damaged`);
