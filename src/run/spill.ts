/**
 * What does not fit in memory goes to files, partitioned by hash, and is worked off one partition at a time.
 *
 * All files of a run live in one private directory that is removed with it. Adding is synchronous and buffers; `SpillSpace.flush`
 * writes what is full, once a batch.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { partitionOf } from '../hash.ts';
import { PartitionedFile } from '../storage/partitioned-file.ts';
import { HashSet, KNOWN, type MemoryBudget, NEW, UNDECIDED } from './distinct.ts';

const PARTITIONS = 32;

/** The spill files of one run. */
export class SpillSpace {
  readonly #directory: string;
  readonly #files: PartitionedFile[] = [];
  bytes = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  partitioned(): PartitionedFile {
    const file = new PartitionedFile(join(this.#directory, String(this.#files.length)), PARTITIONS, (bytes) => {
      this.bytes += bytes;
    });
    this.#files.push(file);
    return file;
  }

  /** Writes the buffers that are full. @throws Fault sink/failed */
  async flush(): Promise<void> {
    for (const file of this.#files) if (file.full) await file.flush();
  }

  async remove(): Promise<void> {
    for (const file of this.#files) await file.close();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

// ---------------------------------------------------------------- lines

/** Statements that no table could decide: de-duplicated at the end. */
export class LineSpill {
  readonly #space: SpillSpace;
  readonly #seed: number;
  #file: PartitionedFile | undefined;

  constructor(space: SpillSpace, seed: number) {
    this.#space = space;
    this.#seed = seed;
  }

  /** Takes a line with its line feed. */
  add(line: string): void {
    this.#file ??= this.#space.partitioned();
    this.#file.add(partitionOf(line, this.#seed, PARTITIONS), line);
  }

  /** Every distinct line, in batches. A partition that does not fit into `budget` is partitioned again, by other bits. */
  async *drain(budget: MemoryBudget): AsyncIterable<readonly string[]> {
    if (this.#file === undefined) return;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const seen = new HashSet(budget, this.#seed ^ 0x5bd1e995);
      const overflow = new LineSpill(this.#space, (Math.imul(this.#seed, 31) + 7) | 0);
      let rest = '';
      for await (const piece of this.#file.read(partition)) {
        const end = piece.lastIndexOf('\n') + 1;
        const fresh = newLines(rest + piece.slice(0, end), seen, overflow);
        rest = end === 0 ? rest + piece : piece.slice(end);
        await this.#space.flush();
        yield fresh;
      }
      seen.drop();
      // Before the next level opens its own: neither files nor descriptors pile up.
      await this.#file.drop(partition);
      yield* overflow.drain(budget);
    }
  }
}

// ---------------------------------------------------------------- pairs

/** Texts with a key: one side of a join. Equal keys share a partition, whichever side they are on. */
export class PairSpill {
  readonly #file: PartitionedFile;
  readonly #seed: number;

  constructor(space: SpillSpace, seed: number) {
    this.#file = space.partitioned();
    this.#seed = seed;
  }

  static readonly partitions = PARTITIONS;

  add(key: string, text: string): void {
    this.#file.add(partitionOf(key, this.#seed, PARTITIONS), `${key.length}:${text.length}:${key}${text}`);
  }

  drop(partition: number): Promise<void> {
    return this.#file.drop(partition);
  }

  async *read(partition: number): AsyncIterable<readonly [key: string, text: string]> {
    let rest = '';
    for await (const piece of this.#file.read(partition)) {
      rest += piece;
      let at = 0;
      while (true) {
        const first = rest.indexOf(':', at);
        const second = first < 0 ? -1 : rest.indexOf(':', first + 1);
        if (second < 0) break;
        const keyEnd = second + 1 + Number(rest.slice(at, first));
        const end = keyEnd + Number(rest.slice(first + 1, second));
        if (end > rest.length) break;
        yield [rest.slice(second + 1, keyEnd), rest.slice(keyEnd, end)];
        at = end;
      }
      rest = rest.slice(at);
    }
  }
}

// ---------------------------------------------------------------- subjects

/** Statements of records whose subject no table could decide: only subjects that come again are looked at line by line. */
export class SubjectSpill {
  readonly #space: SpillSpace;
  readonly #seed: number;
  #pairs: PairSpill | undefined;

  constructor(space: SpillSpace, seed: number) {
    this.#space = space;
    this.#seed = seed;
  }

  /** Takes the lines of one record, distinct among themselves. */
  add(subject: string, lines: string): void {
    this.#pairs ??= new PairSpill(this.#space, this.#seed);
    this.#pairs.add(subject, lines);
  }

  /** Every distinct line, in batches; what the budget leaves undecided goes to `lines`. */
  async *drain(budget: MemoryBudget, lines: LineSpill): AsyncIterable<readonly string[]> {
    if (this.#pairs === undefined) return;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const subjects = new HashSet(budget, this.#seed ^ 0x5bd1e995);
      const repeated = new HashSet(budget, this.#seed ^ 0x5bd1e995);
      for await (const [subject] of this.#pairs.read(partition)) if (subjects.add(subject) === KNOWN) repeated.add(subject);
      const seen = new HashSet(budget, this.#seed ^ 0x7f4a7c15);
      for await (const [subject, text] of this.#pairs.read(partition)) {
        if (subjects.has(subject) && !repeated.has(subject) && !repeated.full) {
          yield [text];
          continue;
        }
        const fresh = newLines(text, seen, lines);
        await this.#space.flush();
        yield fresh;
      }
      for (const set of [subjects, repeated, seen]) set.drop();
      await this.#pairs.drop(partition);
    }
  }
}

/** The lines of `text`, with their line feeds, that `seen` had not; those that it cannot decide go to `undecided`. */
function newLines(text: string, seen: HashSet, undecided: LineSpill): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = text.indexOf('\n', from) + 1;
    const line = text.slice(from, to);
    const verdict = seen.add(line);
    if (verdict === NEW) lines.push(line);
    else if (verdict === UNDECIDED) undecided.add(line);
    from = to;
  }
  return lines;
}
