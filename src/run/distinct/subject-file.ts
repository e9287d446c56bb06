/**
 * The file in which a slice of a document records the subjects of its statements, for `repeated-subjects.ts`.
 *
 * A subject is stored as a 64-bit hash, some of them more than once. The hashes are divided into 256 *shares* by their first eight bits.
 * So slices can be compared share by share, and the share of a file of any reasonable size fits in the processor's cache.
 *
 * Format: blocks of 4096 bytes, then one byte per block with its share. A block holds 512 hashes of one share, each as two 32-bit words in
 * the byte order of the machine. The last block of a share is padded with copies of its first hash.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Fault } from '../../core/fault.ts';
import { hashInto } from '../../core/hash.ts';
import { subjectAt } from '../../nquads/terms.ts';

/** The seed of the hashes; the same in all processes, which compare each other's files. */
export const SUBJECT_SEED = 0x2f6e2b1;

export const SHARES = 256;
const BLOCK_BYTES = 4096;
/** 32-bit words in a block: two per hash. */
export const BLOCK_WORDS = BLOCK_BYTES / 4;

/** Writes a file of subjects. Memory: one block per share, 1 MiB. The caller calls `finish` or `close`. */
export class SubjectFile {
  readonly #path: string;
  #descriptor: number | undefined;
  readonly #words = new Uint32Array(SHARES * BLOCK_WORDS);
  /** By share: words in its block. */
  readonly #lengths = new Uint32Array(SHARES);
  /** By block that was written: its share. */
  readonly #shares: number[] = [];
  readonly #hash = new Uint32Array(2);
  #last = '';

  /** @throws Fault sink/failed */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#descriptor = openSync(path, 'w');
    } catch (error) {
      throw fileFault(path, error, 'written');
    }
  }

  /**
   * @param token a subject as N-Quads text; text after it is ignored
   * @throws Fault sink/failed
   */
  add(token: string): void {
    if (token === this.#last) return;
    this.#last = token;
    hashInto(subjectAt(token, 0), SUBJECT_SEED, this.#hash, 0);
    const first = this.#hash[0] as number;
    const share = first >>> 24;
    const length = this.#lengths[share] as number;
    this.#words[share * BLOCK_WORDS + length] = first;
    this.#words[share * BLOCK_WORDS + length + 1] = this.#hash[1] as number;
    this.#lengths[share] = length + 2;
    if (length + 2 === BLOCK_WORDS) this.#flush(share);
  }

  /** Completes the file and closes it. @throws Fault sink/failed */
  finish(): void {
    for (const [share, length] of this.#lengths.entries()) {
      if (length === 0) continue;
      const block = this.#words.subarray(share * BLOCK_WORDS, (share + 1) * BLOCK_WORDS);
      for (let at = length; at < BLOCK_WORDS; at += 2) block.copyWithin(at, 0, 2);
      this.#flush(share);
    }
    this.#write(Uint8Array.from(this.#shares));
    this.close();
  }

  /** May be called more than once. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #flush(share: number): void {
    this.#write(new Uint8Array(this.#words.buffer, share * BLOCK_BYTES, BLOCK_BYTES));
    this.#shares.push(share);
    this.#lengths[share] = 0;
  }

  #write(bytes: Uint8Array): void {
    try {
      for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor as number, bytes, from);
    } catch (error) {
      throw fileFault(this.#path, error, 'written');
    }
  }
}

/** Reads a file that `SubjectFile` has finished. The caller closes it. */
export class SubjectFileReader {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #blocks: readonly (readonly number[])[];

  private constructor(path: string, handle: FileHandle, blocks: readonly (readonly number[])[]) {
    this.#path = path;
    this.#handle = handle;
    this.#blocks = blocks;
  }

  /** @throws Fault sink/failed — the file is missing, incomplete or unreadable */
  static async open(path: string): Promise<SubjectFileReader> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, 'r');
      return new SubjectFileReader(path, handle, await blocksByShare(handle));
    } catch (error) {
      await handle?.close();
      throw fileFault(path, error, 'read');
    }
  }

  /** The positions of the blocks of a share, for `read`. */
  blocksOf(share: number): readonly number[] {
    return this.#blocks[share] ?? [];
  }

  /**
   * Reads one block. Synchronous: the thread pool would take longer than the reading.
   *
   * @param words receives the block; `BLOCK_WORDS` long
   * @throws Fault sink/failed
   */
  read(position: number, words: Uint32Array): void {
    try {
      if (readSync(this.#handle.fd, words, 0, BLOCK_BYTES, position * BLOCK_BYTES) !== BLOCK_BYTES) throw new Error('it ends too early');
    } catch (error) {
      throw fileFault(this.#path, error, 'read');
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function blocksByShare(handle: FileHandle): Promise<(readonly number[])[]> {
  const { size } = await handle.stat();
  const count = size / (BLOCK_BYTES + 1);
  if (!Number.isInteger(count)) throw new Error('it is not complete');
  const shares = new Uint8Array(count);
  const { bytesRead } = await handle.read(shares, 0, count, count * BLOCK_BYTES);
  if (bytesRead !== count) throw new Error('it is not complete');
  const found: number[][] = Array.from({ length: SHARES }, () => []);
  for (const [at, share] of shares.entries()) found[share]?.push(at);
  return found;
}

function fileFault(path: string, error: unknown, what: 'read' | 'written'): Fault {
  const hint =
    what === 'read' ? { hint: 'OUTPUT_DIR_URL must name a directory that all workers share; with SLICE_BYTES=0 no file is cut' } : {};
  return new Fault('sink/failed', `${path} cannot be ${what}: ${(error as Error).message}`, { cause: error, ...hint });
}
