/** The comparison of the subjects of slices. */
import { type FileHandle, open } from 'node:fs/promises';
import { hashInto } from '../../core/hash.ts';
import { HashNumbers, slotsFor } from './hash-numbers.ts';
import { BLOCK_WORDS, blocksByShare, readBlock, reading, SEED, SHARES } from './subject-file.ts';

/** Subjects that occur in more than one slice. */
export class RepeatedSubjects {
  /** Positions of the slices that have some. */
  readonly slices = new Set<number>();
  readonly #numbers = new HashNumbers(0);
  readonly #limitBytes: number;
  readonly #hash = new Uint32Array(2);
  #overflowed = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** True also of some that occur once, when there are too many to be kept. */
  has(subject: string): boolean {
    if (this.#overflowed) return true;
    hashInto(subject, SEED, this.#hash, 0);
    return this.#numbers.get(this.#hash[0] as number, this.#hash[1] as number) !== 0;
  }

  add(a: number, b: number, slices: readonly number[]): void {
    for (const slice of slices) this.slices.add(slice);
    if (this.#overflowed) return;
    if (this.#numbers.hasPlace(this.#limitBytes)) this.#numbers.set(a, b, 1);
    else this.#overflowed = true;
  }

  /** All of them may occur in more than one. */
  addAll(slices: number): void {
    for (let slice = 0; slice < slices; slice++) this.slices.add(slice);
    this.#overflowed = true;
  }
}

/**
 * Compares the subjects of slices. Memory: a share of the hashes at a time, and those that repeat; where that is more than
 * `budgetBytes`, every subject counts as repeated.
 *
 * @param files of the slices, in their order
 * @throws Fault sink/failed — a file cannot be read; the reason of `signal`
 */
export async function findRepeated(files: readonly string[], budgetBytes: number, signal: AbortSignal): Promise<RepeatedSubjects> {
  const repeated = new RepeatedSubjects(budgetBytes / 2);
  const handles: FileHandle[] = [];
  try {
    const blocks: (readonly number[])[][] = [];
    for (const path of files) {
      const handle = await reading(path, open(path, 'r'));
      handles.push(handle);
      blocks.push(await reading(path, blocksByShare(handle)));
    }
    const block = new Uint32Array(BLOCK_WORDS);
    const bytes = new Uint8Array(block.buffer);
    for (let share = 0; share < SHARES; share++) {
      // Whoever aborts is heard between two turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      const hashes = blocks.reduce((sum, shares) => sum + (shares[share]?.length ?? 0), 0) * (BLOCK_WORDS / 2);
      if (slotsFor(hashes) * 12 > budgetBytes / 2) {
        repeated.addAll(files.length);
        return repeated;
      }
      const first = new HashNumbers(hashes);
      for (const [slice, handle] of handles.entries()) {
        for (const at of blocks[slice]?.[share] ?? []) {
          readBlock(handle.fd, at, bytes, files[slice] as string);
          for (let i = 0; i < BLOCK_WORDS; i += 2) {
            const a = block[i] as number;
            const b = block[i + 1] as number;
            const known = first.get(a, b);
            if (known === 0) first.set(a, b, slice + 1);
            else if (known !== slice + 1) repeated.add(a, b, [known - 1, slice]);
          }
        }
      }
    }
    return repeated;
  } finally {
    for (const handle of handles) await handle.close();
  }
}
