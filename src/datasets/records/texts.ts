/** The chunks of inputs that a dataset keeps: a table of them, and their texts in packed files, which do not change once they are complete. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Fault } from '../../core/fault.ts';
import { h1, h2, h3, h4, hashBytes } from '../../core/hash.ts';
import { writeFault } from '../../sinks/descriptor.ts';

/** Words of 32 bits: four of the digest, scan, length, file, two of the place of its block in the file, length of the block, place in its text. */
const WORDS = 11;
const [SCAN, LENGTH, FILE, LOW, HIGH, PACKED, OFFSET] = [4, 5, 6, 7, 8, 9, 10];
const WORD = 2 ** 32;
const FIRST_CHUNKS = 1024;
/** Texts of about so many bytes are packed together. */
const BLOCK_BYTES = 1 << 15;
const LEVEL = 1;
const LF = 10;

/** A chunk is known by its number. Its digest is that of `hashChunk`. */
export class ChunkTable {
  count = 0;
  #words: Uint32Array = new Uint32Array(FIRST_CHUNKS * WORDS);

  /** @throws Fault source/unreadable — it is not what `save` has written */
  static load(path: string, digest: string): ChunkTable {
    const table = new ChunkTable();
    const bytes = tried(path, () => readFileSync(path));
    if (createHash('sha256').update(bytes).digest('hex') !== digest) throw damaged(path);
    table.#words = new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    table.count = table.#words.length / WORDS;
    return table;
  }

  /** @returns the digest of the file @throws Fault sink/failed */
  save(path: string): string {
    const bytes = new Uint8Array(this.#words.buffer, 0, this.count * WORDS * 4);
    try {
      const descriptor = openSync(path, 'w', 0o600);
      writeFileSync(descriptor, bytes);
      fsyncSync(descriptor);
      closeSync(descriptor);
    } catch (error) {
      throw writeFault(path, error);
    }
    return createHash('sha256').update(bytes).digest('hex');
  }

  scan(chunk: number): number {
    return this.#words[chunk * WORDS + SCAN] as number;
  }

  length(chunk: number): number {
    return this.#words[chunk * WORDS + LENGTH] as number;
  }

  /** 53 bits of the digest. */
  key(chunk: number): number {
    return keyOf(this.#words[chunk * WORDS] as number, this.#words[chunk * WORDS + 1] as number);
  }

  /** Whether the chunk has the digest that `hashChunk` has left. */
  isHashed(chunk: number): boolean {
    const [words, at] = [this.#words, chunk * WORDS];
    return words[at] === h1 >>> 0 && words[at + 1] === h2 >>> 0 && words[at + 2] === h3 >>> 0 && words[at + 3] === h4 >>> 0;
  }

  place(chunk: number): { readonly file: number; readonly position: number; readonly packed: number; readonly offset: number } {
    const at = chunk * WORDS;
    const word = (i: number): number => this.#words[at + i] as number;
    return { file: word(FILE), position: word(LOW) + word(HIGH) * WORD, packed: word(PACKED), offset: word(OFFSET) };
  }

  /** The chunk that was hashed last. @returns its number */
  add(scan: number, length: number): number {
    const chunk = this.#next();
    this.#words.set([h1, h2, h3, h4, scan, length], chunk * WORDS);
    return chunk;
  }

  copy(from: ChunkTable, chunk: number): number {
    const own = this.#next();
    this.#words.set(from.#words.subarray(chunk * WORDS, (chunk + 1) * WORDS), own * WORDS);
    return own;
  }

  put(chunk: number, file: number, position: number, packed: number, offset: number): void {
    this.#words.set([file, position % WORD, Math.floor(position / WORD), packed, offset], chunk * WORDS + FILE);
  }

  #next(): number {
    if ((this.count + 1) * WORDS > this.#words.length) {
      const larger = new Uint32Array(this.#words.length * 2 + WORDS);
      larger.set(this.#words);
      this.#words = larger;
    }
    return this.count++;
  }
}

/**
 * Hashes the text of a chunk into `h1…h4` (`core/hash.ts`), and gives 53 bits of that.
 *
 * @param seed of the dataset, which is private: a person who makes the data cannot find texts with equal hashes
 */
export function hashChunk(text: Uint8Array, scan: number, seed: number): number {
  hashBytes(new DataView(text.buffer, text.byteOffset, text.length), 0, text.length, seed + scan);
  return keyOf(h1 >>> 0, h2 >>> 0);
}

const keyOf = (one: number, two: number): number => one * 2 ** 21 + (two >>> 11);

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
        return inflateRawSync(bytes);
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

/** The text of a chunk that others may follow: the last one of a document may lack the end of its last line. */
export const ended = (text: Buffer): Buffer => (text[text.length - 1] === LF ? text : Buffer.concat([text, Buffer.of(LF)]));

function tried<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new Fault('source/unreadable', `${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

const damaged = (path: string): Fault => new Fault('source/unreadable', `${path} is damaged`);
