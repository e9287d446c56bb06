/** Sorts lines, however many there are: sorted runs go to files, which are merged when they are read. */
import { detach } from '../core/text.ts';
import type { PartitionedFile } from '../storage/local/partitioned-file.ts';
import type { MemoryBudget } from './budget.ts';
import { entriesOf, LINES } from './partitions.ts';
import type { SpillSpace } from './space.ts';

/** Memory is taken from the budget in steps of this size; the first one is always there. */
const STEP_BYTES = 1 << 20;
/** Approximate overhead of a line, without its characters. */
const LINE_BYTES = 40;
/** So many files are merged into one. */
const FAN_IN = 16;
/** Lines that are handed on together. */
const BATCH_LINES = 1024;

export class LineSorter {
  readonly #budget: MemoryBudget;
  readonly #space: SpillSpace;
  #lines: string[] = [];
  #bytes = 0;
  #takenBytes = 0;
  /** Sorted runs; those of a level are made of `FAN_IN` of the level below it. */
  readonly #runs: PartitionedFile[][] = [];
  #moving = false;

  constructor(budget: MemoryBudget, space: SpillSpace) {
    this.#budget = budget;
    this.#space = space;
  }

  /** Adds a line, including its line feed. */
  add(line: string): void {
    this.#lines.push(detach(line));
    this.#bytes += line.length + LINE_BYTES;
    if (this.#moving || this.#bytes <= STEP_BYTES + this.#takenBytes) return;
    if (this.#budget.take(STEP_BYTES)) {
      this.#takenBytes += STEP_BYTES;
      return;
    }
    this.#moving = true;
    this.#space.moveLater(() => this.#writeRun());
  }

  /** Every line, in order and in batches. The sorter is empty afterwards. */
  async *sorted(): AsyncIterable<readonly string[]> {
    // What was to be moved is read now.
    this.#moving = false;
    const runs = this.#runs.flat();
    const last = this.#lines.sort();
    if (runs.length === 0) {
      for (let from = 0; from < last.length; from += BATCH_LINES) yield last.slice(from, from + BATCH_LINES);
    } else yield* merge([...runs.map((run) => linesOf(run)), batchesOf(last)]);
    for (const run of runs) await this.#space.release(run);
    this.#runs.length = 0;
    this.#forget();
  }

  async #writeRun(): Promise<void> {
    if (!this.#moving) return;
    const lines = this.#lines.sort();
    const run = this.#space.partitioned(1);
    for (const line of lines) await this.#put(run, line);
    this.#forget();
    this.#moving = false;
    await this.#keep(run, 0);
  }

  async #keep(run: PartitionedFile, level: number): Promise<void> {
    this.#runs[level] ??= [];
    const runs = this.#runs[level];
    runs.push(run);
    if (runs.length < FAN_IN) return;
    const merged = this.#space.partitioned(1);
    for await (const batch of merge(runs.map((one) => linesOf(one)))) for (const line of batch) await this.#put(merged, line);
    for (const one of runs) await this.#space.release(one);
    this.#runs[level] = [];
    await this.#keep(merged, level + 1);
  }

  async #put(run: PartitionedFile, line: string): Promise<void> {
    this.#space.add(run, 0, line);
    if (run.full) await run.flush();
  }

  #forget(): void {
    this.#lines = [];
    this.#bytes = 0;
    this.#budget.give(this.#takenBytes);
    this.#takenBytes = 0;
  }
}

const linesOf = (run: PartitionedFile): AsyncIterable<readonly string[]> => entriesOf(run.read(0), LINES);

async function* batchesOf(lines: readonly string[]): AsyncIterable<readonly string[]> {
  yield lines;
}

interface Head {
  readonly rest: AsyncIterator<readonly string[]>;
  batch: readonly string[];
  at: number;
}

/** The lines of sorted runs, in order. */
async function* merge(runs: readonly AsyncIterable<readonly string[]>[]): AsyncIterable<readonly string[]> {
  const heads: Head[] = [];
  for (const run of runs) {
    const head: Head = { rest: run[Symbol.asyncIterator](), batch: [], at: 0 };
    if (await advance(head)) heads.push(head);
  }
  let batch: string[] = [];
  while (heads.length > 0) {
    let least = 0;
    for (let i = 1; i < heads.length; i++) if (lineOf(heads[i] as Head) < lineOf(heads[least] as Head)) least = i;
    const head = heads[least] as Head;
    batch.push(lineOf(head));
    head.at++;
    if (head.at === head.batch.length && !(await advance(head))) heads.splice(least, 1);
    if (batch.length < BATCH_LINES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const lineOf = ({ batch, at }: Head): string => batch[at] as string;

/** The next batch that has lines. */
async function advance(head: Head): Promise<boolean> {
  head.at = 0;
  while (true) {
    const next = await head.rest.next();
    if (next.done === true) return false;
    head.batch = next.value;
    if (head.batch.length > 0) return true;
  }
}
