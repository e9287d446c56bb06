/**
 * Spilling: data that does not fit in memory goes to files, partitioned by hash, and is processed one partition at a time.
 *
 * All files of a run are in one private directory that is removed with the run. Adding is synchronous and buffered; `SpillSpace.flush`
 * writes full buffers and is called once per batch.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { partitionOf } from '../../core/hash.ts';
import type { SpilledText } from '../../sources/source.ts';
import { PartitionedFile } from '../../storage/local/partitioned-file.ts';
import { HashSet, KNOWN, type MemoryBudget, NEW, UNDECIDED, type Verdict } from './distinct.ts';

const PARTITIONS = 32;
/** Buffer size per partition; smaller once there are many files. */
const BUFFER_CHARACTERS = 1 << 16;
const LEAST_BUFFER_CHARACTERS = 1 << 12;
/** For all files of a run: the most that is added without a flush. */
const DUE_CHARACTERS = 1 << 22;

/** The name of a directory of spill files: those of one run begin alike. */
export const spillName = (runId: string, part: string): string => `quadmill-${runId}-${part}`;

/** The spill files of one run. */
export class SpillSpace {
  readonly #directory: string;
  readonly #files = new Set<PartitionedFile>();
  #opened = 0;
  #waitingCharacters = 0;
  #moves: (() => Promise<void>)[] = [];
  bytes = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  partitioned(): PartitionedFile {
    const buffer = Math.max(LEAST_BUFFER_CHARACTERS, BUFFER_CHARACTERS >> (this.#files.size >> 3));
    const count = (bytes: number): void => {
      this.bytes += bytes;
    };
    const file = new PartitionedFile(join(this.#directory, String(this.#opened++)), PARTITIONS, count, buffer);
    this.#files.add(file);
    return file;
  }

  /** A single text, which a source writes and reads. */
  text(): SpilledText {
    const file = this.partitioned();
    return {
      add: async (text) => {
        file.add(0, text);
        if (file.full) await file.flush();
      },
      read: () => file.read(0),
      clear: () => file.drop(0),
    };
  }

  /** Adds text to a partition of one of the files. */
  add(file: PartitionedFile, partition: number, text: string): void {
    file.add(partition, text);
    this.#waitingCharacters += text.length;
  }

  /** Whether enough is buffered that it should be flushed before more is added. */
  get due(): boolean {
    return this.#waitingCharacters >= DUE_CHARACTERS || this.#moves.length > 0;
  }

  /** Registers `move`, which moves data to files during the next flush and flushes on the way. */
  moveLater(move: () => Promise<void>): void {
    this.#moves.push(move);
  }

  /** Writes the full buffers. @throws Fault sink/failed */
  async flush(): Promise<void> {
    const moves = this.#moves;
    this.#moves = [];
    for (const move of moves) await move();
    this.#waitingCharacters = 0;
    for (const file of this.#files) if (file.full) await file.flush();
  }

  /** Removes a file of the space, which must not be used afterwards. */
  async release(file: PartitionedFile): Promise<void> {
    this.#files.delete(file);
    await file.remove();
  }

  async remove(): Promise<void> {
    for (const file of this.#files) await file.close();
    // Most runs spill nothing, and looking for what is to be removed takes several turns of the event loop.
    if (existsSync(this.#directory)) await rm(this.#directory, { recursive: true, force: true });
  }
}

/** The seed of the next level: a partition that does not fit in memory is partitioned by other bits. */
export const nextSeed = (seed: number): number => (Math.imul(seed, 31) + 7) | 0;

/** A table for data that is read back; its seed is independent of that of the partitions. */
const tableFor = (budget: MemoryBudget, seed: number): HashSet => new HashSet(budget, seed ^ 0x5bd1e995);

/** The new entries, in batches; undecided ones go to `overflow`. */
async function* eachOnce<T>(
  batches: AsyncIterable<readonly T[]>,
  verdictOf: (entry: T) => Verdict,
  overflow: (entry: T) => void,
  space: SpillSpace,
): AsyncIterable<readonly T[]> {
  for await (const batch of batches) {
    const fresh: T[] = [];
    for (const entry of batch) {
      const verdict = verdictOf(entry);
      if (verdict === NEW) fresh.push(entry);
      else if (verdict === UNDECIDED) overflow(entry);
    }
    await space.flush();
    yield fresh;
  }
}

// ---------------------------------------------------------------- lines

/** Statements that no table could decide; de-duplicated at the end. */
export class LineSpill {
  readonly #space: SpillSpace;
  readonly #seed: number;
  #file: PartitionedFile | undefined;

  constructor(space: SpillSpace, seed: number) {
    this.#space = space;
    this.#seed = seed;
  }

  /** Adds a line, including its line feed. */
  add(line: string): void {
    this.#file ??= this.#space.partitioned();
    this.#space.add(this.#file, partitionOf(line, this.#seed, PARTITIONS), line);
  }

  /** Every distinct line, in batches. A partition that does not fit in `budget` is partitioned again, by other bits. */
  async *drain(budget: MemoryBudget): AsyncIterable<readonly string[]> {
    const file = this.#file;
    if (file === undefined) return;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (file.isEmpty(partition)) continue;
      const seen = tableFor(budget, this.#seed);
      const overflow = new LineSpill(this.#space, nextSeed(this.#seed));
      const lines = readLines(file, partition);
      yield* eachOnce(
        lines,
        (line) => seen.add(line),
        (line) => overflow.add(line),
        this.#space,
      );
      seen.drop();
      // Before the next level opens its own files: neither files nor descriptors accumulate.
      await file.drop(partition);
      yield* overflow.drain(budget);
    }
    this.#file = undefined;
    await this.#space.release(file);
  }
}

/** Lines of a partition, including their line feeds, in batches. */
export async function* readLines(file: PartitionedFile, partition: number): AsyncIterable<readonly string[]> {
  let rest = '';
  for await (const piece of file.read(partition)) {
    const end = piece.lastIndexOf('\n') + 1;
    if (end > 0) yield linesOf(rest + piece.slice(0, end));
    rest = end === 0 ? rest + piece : piece.slice(end);
  }
}

/** Lines, including their line feeds. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = text.indexOf('\n', from) + 1;
    lines.push(text.slice(from, to));
    from = to;
  }
  return lines;
}

// ---------------------------------------------------------------- pairs

export type Pair = readonly [key: string, text: string];

/** A pair as text that may stand before another one. */
export const pairText = (key: string, text: string): string => `${key.length}:${text.length}:${key}${text}`;

/** The pairs at the beginning of a text that are complete, and where they end. */
export function pairsIn(text: string): { readonly pairs: readonly Pair[]; readonly end: number } {
  const pairs: Pair[] = [];
  let at = 0;
  while (true) {
    const first = text.indexOf(':', at);
    const second = first < 0 ? -1 : text.indexOf(':', first + 1);
    if (second < 0) break;
    const keyEnd = second + 1 + Number(text.slice(at, first));
    const end = keyEnd + Number(text.slice(first + 1, second));
    if (end > text.length) break;
    pairs.push([text.slice(second + 1, keyEnd), text.slice(keyEnd, end)]);
    at = end;
  }
  return { pairs, end: at };
}

/** Texts with a key: one side of a join. Equal keys are in the same partition on both sides. */
export class PairSpill {
  static readonly partitions = PARTITIONS;

  readonly seed: number;
  readonly #space: SpillSpace;
  /** Partitions by key; otherwise by key and text. */
  readonly #byKey: boolean;
  #file: PartitionedFile | undefined;

  constructor(space: SpillSpace, seed: number, byKey = true) {
    this.#space = space;
    this.seed = seed;
    this.#byKey = byKey;
  }

  add(key: string, text: string): void {
    this.#file ??= this.#space.partitioned();
    const partition = this.#byKey ? this.partitionOf(key) : partitionOf(key + text, this.seed, PARTITIONS);
    this.#space.add(this.#file, partition, pairText(key, text));
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.seed, PARTITIONS);
  }

  isEmpty(partition: number): boolean {
    return this.#file?.isEmpty(partition) ?? true;
  }

  async drop(partition: number): Promise<void> {
    await this.#file?.drop(partition);
  }

  /** Removes everything that was added. */
  async remove(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) await this.#space.release(file);
  }

  /** All pairs of a partition, in batches. */
  async *read(partition: number): AsyncIterable<readonly Pair[]> {
    if (this.#file === undefined) return;
    let rest = '';
    for await (const piece of this.#file.read(partition)) {
      rest += piece;
      const { pairs, end } = pairsIn(rest);
      rest = rest.slice(end);
      if (pairs.length > 0) yield pairs;
    }
  }

  /**
   * The distinct pairs of a partition whose key is wanted, in batches. The partition is removed.
   *
   * @param each called with every pair of the partition
   */
  async *takeDistinct(
    partition: number,
    budget: MemoryBudget,
    wanted: (key: string) => boolean,
    each?: (key: string, text: string) => void,
  ): AsyncIterable<readonly Pair[]> {
    if (this.isEmpty(partition)) return;
    const seen = tableFor(budget, this.seed);
    const overflow = new PairSpill(this.#space, nextSeed(this.seed), false);
    yield* eachOnce(
      this.read(partition),
      ([key, text]) => {
        each?.(key, text);
        return wanted(key) ? seen.addPair(key, text) : KNOWN;
      },
      ([key, text]) => overflow.add(key, text),
      this.#space,
    );
    seen.drop();
    await this.drop(partition);
    for (let part = 0; part < PARTITIONS; part++) yield* overflow.takeDistinct(part, budget, wanted);
    await overflow.remove();
  }
}

// ---------------------------------------------------------------- subjects

/** Statements of records whose subject no table could decide; only lines of repeated subjects are compared. */
export class SubjectSpill {
  readonly #space: SpillSpace;
  readonly #seed: number;
  #pairs: PairSpill | undefined;

  constructor(space: SpillSpace, seed: number) {
    this.#space = space;
    this.#seed = seed;
  }

  /** Adds the lines of one record, which must be distinct. */
  add(subject: string, lines: string): void {
    this.#pairs ??= new PairSpill(this.#space, this.#seed);
    this.#pairs.add(subject, lines);
  }

  /** Every distinct line, in batches; lines that the budget leaves undecided go to `lines`. */
  async *drain(budget: MemoryBudget, lines: LineSpill): AsyncIterable<readonly string[]> {
    const pairs = this.#pairs;
    if (pairs === undefined) return;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      if (pairs.isEmpty(partition)) continue;
      const subjects = tableFor(budget, this.#seed);
      const repeated = tableFor(budget, this.#seed);
      for await (const batch of pairs.read(partition)) {
        for (const [subject] of batch) if (subjects.add(subject) === KNOWN) repeated.add(subject);
      }
      const seen = new HashSet(budget, this.#seed ^ 0x7f4a7c15);
      for await (const batch of pairs.read(partition)) {
        const fresh: string[] = [];
        for (const [subject, text] of batch) {
          if (subjects.has(subject) && !repeated.has(subject) && !repeated.full) fresh.push(text);
          else {
            for (const line of linesOf(text)) {
              const verdict = seen.add(line);
              if (verdict === NEW) fresh.push(line);
              else if (verdict === UNDECIDED) lines.add(line);
            }
          }
        }
        await this.#space.flush();
        yield fresh;
      }
      for (const set of [subjects, repeated, seen]) set.drop();
      await pairs.drop(partition);
    }
    await pairs.remove();
  }
}
