/** Statements that no table of a run could decide: they go to files, and each is given once at the end. */
import type { MemoryBudget } from '../../spill/budget.ts';
import { KNOWN, NEW, UNDECIDED } from '../../spill/key-table.ts';
import { drain, eachOnce, LINES, type Pair, Partitions } from '../../spill/partitions.ts';
import type { SpillSpace } from '../../spill/space.ts';

/** Lines that no table could decide, including their line feeds. */
export class LineSpill extends Partitions<string> {
  constructor(space: SpillSpace, seed: number) {
    super(space, seed, LINES, LINES.textOf);
  }

  /** Every distinct line, in batches. */
  async *drain(budget: MemoryBudget): AsyncIterable<readonly string[]> {
    yield* drain<[Partitions<string>], readonly string[]>([this], eachOnce(budget));
    await this.remove();
  }
}

/** Statements of records whose subject no table could decide; only lines of repeated subjects are compared. */
export class SubjectSpill {
  readonly #pairs: Partitions<Pair>;

  constructor(space: SpillSpace, seed: number) {
    this.#pairs = Partitions.ofPairs(space, seed);
  }

  /** Adds the lines of one record, which must be distinct. */
  add(subject: string, lines: string): void {
    this.#pairs.add([subject, lines]);
  }

  /** Every distinct line, in batches; lines that the budget leaves undecided go to `lines`. */
  async *drain(budget: MemoryBudget, lines: LineSpill): AsyncIterable<readonly string[]> {
    const pairs = this.#pairs;
    yield* drain([pairs], async function* (partition) {
      const [subjects, repeated, seen] = [pairs.tableFor(budget), pairs.tableFor(budget), pairs.tableFor(budget)];
      for await (const batch of pairs.read(partition)) {
        for (const [subject] of batch) if (subjects.add(subject) === KNOWN) repeated.add(subject);
      }
      for await (const batch of pairs.read(partition)) {
        const fresh: string[] = [];
        for (const [subject, text] of batch) {
          if (subjects.has(subject) && !repeated.has(subject) && !repeated.full) fresh.push(text);
          else {
            for (const line of LINES.entriesIn(text).entries) {
              const verdict = seen.add(line);
              if (verdict === NEW) fresh.push(line);
              else if (verdict === UNDECIDED) lines.add(line);
            }
          }
        }
        await lines.flush();
        yield fresh;
      }
      for (const set of [subjects, repeated, seen]) set.drop();
      return undefined;
    });
    await pairs.remove();
  }
}
