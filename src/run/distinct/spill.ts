/** Statements that no table of a run could decide: they go to files, and each is given once at the end. */
import { partitionOf } from '../../core/hash.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED } from '../../spill/key-table.ts';
import { linesOf, readLines } from '../../spill/lines.ts';
import { eachOnce, nextSeed, PairSpill, tableFor } from '../../spill/pairs.ts';
import { PARTITIONS, type SpillSpace } from '../../spill/space.ts';
import type { PartitionedFile } from '../../storage/local/partitioned-file.ts';

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
