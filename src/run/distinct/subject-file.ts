/**
 * Distinct statements over the slices of a file.
 *
 * Each slice is distinct in itself. Equal statements have equal subjects, so each slice writes down the hashes of its subjects, eight
 * bytes for each, and whoever publishes the slices looks which of them occur in two. Usually there are none, since the records of a file
 * have a key: the parts are published as they are. Otherwise only statements of those subjects are looked at again. Two subjects with
 * the same hash cost a look, and never a statement.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Fault } from '../../core/fault.ts';
import { hashInto } from '../../core/hash.ts';
import { subjectAt } from '../../nquads/terms.ts';

/** The same in all processes. */
export const SEED = 0x2f6e2b1;

/**
 * A file of subjects: blocks of hashes that have their first eight bits in common, padded with repetitions, and behind them a byte with
 * those bits for each block. So slices can be compared share by share, and a share of any reasonable file fits into the processor's cache.
 */
export const SHARES = 256;
export const BLOCK_BYTES = 4096;
export const BLOCK_WORDS = BLOCK_BYTES / 4;

/** What a slice writes: hashes of 64 bits, some of them more than once. */
export class SubjectFile {
  readonly #path: string;
  #descriptor: number | undefined;
  readonly #words = new Uint32Array(SHARES * BLOCK_WORDS);
  readonly #lengths = new Uint32Array(SHARES);
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

  /** @throws Fault sink/failed */
  add(token: string): void {
    if (token === this.#last) return;
    this.#last = token;
    hashInto(subjectAt(token, 0), SEED, this.#hash, 0);
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

  /** Does no harm when repeated. */
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

function fileFault(path: string, error: unknown, what: 'read' | 'written'): Fault {
  const hint =
    what === 'read' ? { hint: 'OUTPUT_DIR_URL must name a directory that all workers share; with SLICE_BYTES=0 no file is cut' } : {};
  return new Fault('sink/failed', `${path} cannot be ${what}: ${(error as Error).message}`, { cause: error, ...hint });
}

/** Not through the thread pool: that would take longer than the reading. */
export function readBlock(descriptor: number, at: number, bytes: Uint8Array, path: string): void {
  try {
    if (readSync(descriptor, bytes, 0, BLOCK_BYTES, at * BLOCK_BYTES) !== BLOCK_BYTES) throw new Error('it ends too early');
  } catch (error) {
    throw fileFault(path, error, 'read');
  }
}

export async function blocksByShare(handle: FileHandle): Promise<(readonly number[])[]> {
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

export const reading = <T>(path: string, work: Promise<T>): Promise<T> =>
  work.catch((error) => {
    throw fileFault(path, error, 'read');
  });
