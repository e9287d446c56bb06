/** Texts with keys, in partitions by the hash of the key. A partition that does not fit into memory is partitioned again. */
import { partitionOf } from '../core/hash.ts';
import type { PartitionedFile } from '../storage/local/partitioned-file.ts';
import type { MemoryBudget } from './budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED, type Verdict } from './key-table.ts';
import { PARTITIONS, type SpillSpace } from './space.ts';

/** The seed of the next level: a partition that does not fit in memory is partitioned by other bits. */
export const nextSeed = (seed: number): number => (Math.imul(seed, 31) + 7) | 0;

/** A table for data that is read back; its seed is independent of that of the partitions. */
export const tableFor = (budget: MemoryBudget, seed: number): HashSet => new HashSet(budget, seed ^ 0x5bd1e995);

/** The new entries, in batches; undecided ones go to `overflow`. */
export async function* eachOnce<T>(
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
