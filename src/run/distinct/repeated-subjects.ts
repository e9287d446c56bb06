/**
 * Finds the subjects that occur in more than one slice of a document.
 *
 * Each slice makes distinct statements. Equal statements have equal subjects, so a statement can repeat only if its subject occurs in two
 * slices. Usually none does, because the records of a document have a key: then the parts are published as they are. Otherwise only the
 * statements of these subjects are compared (`repetition-filter.ts`).
 *
 * Subjects are compared by 64-bit hashes. Two subjects with the same hash cost a needless comparison, never a statement.
 */
import { hashInto } from '../../core/hash.ts';
import { HashNumbers } from './hash-numbers.ts';
import { BLOCK_WORDS, SHARES, SUBJECT_SEED, SubjectFileReader } from './subject-file.ts';

/** The subjects that occur in more than one slice; every subject, once they take more than `limitBytes`. */
export class RepeatedSubjects {
  /** Positions of the slices that have such a subject. */
  readonly slices = new Set<number>();
  readonly #numbers = new HashNumbers(0);
  readonly #limitBytes: number;
  readonly #hash = new Uint32Array(2);
  #overflowed = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Whether the subject may occur in more than one slice. False is certain. */
  has(subject: string): boolean {
    if (this.#overflowed) return true;
    hashInto(subject, SUBJECT_SEED, this.#hash, 0);
    return this.#numbers.get(this.#hash[0] as number, this.#hash[1] as number) !== 0;
  }

  /** Adds the subject with the hash `a`, `b`, which occurs in these slices. */
  add(a: number, b: number, slices: readonly number[]): void {
    for (const slice of slices) this.slices.add(slice);
    if (this.#overflowed) return;
    if (this.#numbers.hasPlace(this.#limitBytes)) this.#numbers.set(a, b, 1);
    else this.#overflowed = true;
  }

  /** Adds every subject of every slice. */
  addAll(slices: number): void {
    for (let slice = 0; slice < slices; slice++) this.slices.add(slice);
    this.#overflowed = true;
  }
}

/**
 * Compares the subjects of slices.
 *
 * Memory: the hashes of one share, and those that repeat, each within half of `budgetBytes`. If either needs more, every subject counts as
 * repeated.
 *
 * @param files what `SubjectFile` wrote for each slice, in the order of the slices
 * @throws Fault sink/failed — a file cannot be read; the reason of `signal`, within one share
 */
export async function findRepeated(files: readonly string[], budgetBytes: number, signal: AbortSignal): Promise<RepeatedSubjects> {
  const repeated = new RepeatedSubjects(budgetBytes / 2);
  const readers: SubjectFileReader[] = [];
  try {
    for (const path of files) readers.push(await SubjectFileReader.open(path));
    const block = new Uint32Array(BLOCK_WORDS);
    for (let share = 0; share < SHARES; share++) {
      // `signal` can only change while the event loop runs.
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      const hashes = readers.reduce((sum, reader) => sum + reader.blocksOf(share).length, 0) * (BLOCK_WORDS / 2);
      if (HashNumbers.bytesFor(hashes) > budgetBytes / 2) {
        repeated.addAll(files.length);
        return repeated;
      }
      /** By hash: the first slice that has it, counted from 1. */
      const first = new HashNumbers(hashes);
      for (const [slice, reader] of readers.entries()) {
        for (const position of reader.blocksOf(share)) {
          reader.read(position, block);
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
    for (const reader of readers) await reader.close();
  }
}
