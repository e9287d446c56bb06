/**
 * Distinct statements over the slices of a file.
 *
 * Each slice is distinct in itself. Equal statements have equal subjects, so each slice writes down the hashes of its subjects, eight
 * bytes for each, and whoever publishes the slices looks which of them occur in two. Usually there are none, since the records of a file
 * have a key: the parts are published as they are. Otherwise only statements of those subjects are looked at again. Two subjects with
 * the same hash cost a look, and never a statement.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Fault } from '../../core/fault.ts';
import { hashInto } from '../../core/hash.ts';
import { subjectAt } from '../../nquads/terms.ts';
import { HashSet, KNOWN, MemoryBudget, NEW } from './distinct.ts';
import type { LineSpill } from './spill.ts';

/** The same in all processes. */
const SEED = 0x2f6e2b1;

/**
 * A file of subjects: blocks of hashes that have their first eight bits in common, padded with repetitions, and behind them a byte with
 * those bits for each block. So slices can be compared share by share, and a share of any reasonable file fits into the processor's cache.
 */
const SHARES = 256;
const BLOCK_BYTES = 4096;
const BLOCK_WORDS = BLOCK_BYTES / 4;

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

/** Hashes with a number each; 0 is no number. */
class Numbers {
  #slots: Uint32Array;
  #count = 0;

  /** For at most `count` hashes. */
  constructor(count: number) {
    this.#slots = new Uint32Array(slotsFor(count) * 3);
  }

  /** The number of the hash, 0 where it has none. */
  get(a: number, b: number): number {
    return this.#slots[this.#find(a, b) + 2] as number;
  }

  set(a: number, b: number, number: number): void {
    const at = this.#find(a, b);
    if (this.#slots[at + 2] === 0) this.#count++;
    this.#slots[at] = a;
    this.#slots[at + 1] = b;
    this.#slots[at + 2] = number;
  }

  /** Makes place for one more, as long as all of it takes no more than `limitBytes`. */
  hasPlace(limitBytes: number): boolean {
    const old = this.#slots;
    if ((this.#count + 1) * 3 <= old.length * MAX_LOAD) return true;
    if (old.length * 8 > limitBytes) return false;
    this.#slots = new Uint32Array(old.length * 2);
    this.#count = 0;
    for (let at = 0; at < old.length; at += 3) {
      if (old[at + 2] !== 0) this.set(old[at] as number, old[at + 1] as number, old[at + 2] as number);
    }
    return true;
  }

  #find(a: number, b: number): number {
    const slots = this.#slots;
    const mask = slots.length / 3 - 1;
    for (let slot = b & mask; ; slot = (slot + 1) & mask) {
      const at = slot * 3;
      if (slots[at + 2] === 0 || (slots[at] === a && slots[at + 1] === b)) return at;
    }
  }
}

const MAX_LOAD = 0.7;
const slotsFor = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1024, count / MAX_LOAD + 1)));

/** Subjects that occur in more than one slice. */
export class RepeatedSubjects {
  /** Positions of the slices that have some. */
  readonly slices = new Set<number>();
  readonly #numbers = new Numbers(0);
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
      const first = new Numbers(hashes);
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

/** Not through the thread pool: that would take longer than the reading. */
function readBlock(descriptor: number, at: number, bytes: Uint8Array, path: string): void {
  try {
    if (readSync(descriptor, bytes, 0, BLOCK_BYTES, at * BLOCK_BYTES) !== BLOCK_BYTES) throw new Error('it ends too early');
  } catch (error) {
    throw fileFault(path, error, 'read');
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

const reading = <T>(path: string, work: Promise<T>): Promise<T> =>
  work.catch((error) => {
    throw fileFault(path, error, 'read');
  });

/** Lets lines of slices through, in their order, but for those that an earlier one had. */
export class RepetitionFilter {
  readonly #repeated: RepeatedSubjects;
  readonly #seen: HashSet;
  readonly #undecided: LineSpill;
  /** Lines left out, or left to the spill. */
  left = 0;
  #subject = '';
  #isRepeated = false;
  #rest = '';

  /** @param undecided takes lines that memory cannot decide: whoever drains it at the end has each of them once */
  constructor(repeated: RepeatedSubjects, budgetBytes: number, seed: number, undecided: LineSpill) {
    this.#repeated = repeated;
    this.#seen = new HashSet(new MemoryBudget(budgetBytes), seed);
    this.#undecided = undecided;
  }

  /** The lines of the next piece of text that are to stay. A line that is not complete waits for the next piece. */
  pass(piece: string): string {
    const end = piece.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.#rest += piece;
      return '';
    }
    const lines = this.#rest + piece.slice(0, end);
    this.#rest = piece.slice(end);
    let kept = '';
    let from = 0;
    for (let at = 0; at < lines.length; ) {
      const next = lines.indexOf('\n', at) + 1;
      if (this.#concerns(lines, at) && !this.#isNew(lines.slice(at, next))) {
        kept += lines.slice(from, at);
        from = next;
        this.left++;
      }
      at = next;
    }
    return from === 0 ? lines : kept + lines.slice(from);
  }

  /** Lines of a subject stand together. */
  #concerns(lines: string, at: number): boolean {
    if (this.#subject !== '' && lines.startsWith(this.#subject, at)) return this.#isRepeated;
    const subject = subjectAt(lines, at);
    this.#subject = `${subject} `;
    this.#isRepeated = this.#repeated.has(subject);
    return this.#isRepeated;
  }

  #isNew(line: string): boolean {
    const verdict = this.#seen.add(line);
    if (verdict !== NEW && verdict !== KNOWN) this.#undecided.add(line);
    return verdict === NEW;
  }
}
