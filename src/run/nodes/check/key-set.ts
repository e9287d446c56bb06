/**
 * The keys of rows that a view promises to be unique: a key that repeats is found, whatever the number of keys.
 *
 * Memory holds 128-bit hashes of keys. Once the budget is used up, further keys go to partitioned files with the place of their row, and
 * these are searched at the end, one partition at a time. A partition that does not fit is partitioned again.
 */

import { type MemoryBudget, ReservedBudget } from '../../../spill/budget.ts';
import { HashSet, KNOWN, NEW } from '../../../spill/key-table.ts';
import { drain, type Pair, Partitions, type Pass } from '../../../spill/partitions.ts';
import type { SpillSpace } from '../../../spill/space.ts';

/** For the search of a partition when the budget is used up. */
const RESERVE_BYTES = 1 << 22;

/** A key that repeats. */
export interface Repetition {
  readonly key: string;
  /** Of its later row, as it was given to `add`. */
  readonly place: string;
}

export class KeySet {
  readonly #budget: MemoryBudget;
  readonly #keys: HashSet;
  readonly #spill: Partitions<Pair>;

  constructor(budget: MemoryBudget, space: SpillSpace, seed: number) {
    this.#budget = budget;
    this.#keys = new HashSet(budget, seed ^ 0x632be5ab);
    this.#spill = Partitions.ofPairs(space, seed);
  }

  /**
   * Whether the key is known to have come before. If false, `repetition` may still find it.
   *
   * @param place of the row, for `repetition`
   */
  add(key: string, place: string): boolean {
    const verdict = this.#keys.add(key);
    if (verdict === KNOWN) return true;
    if (verdict !== NEW) this.#spill.add([key, place]);
    return false;
  }

  /** After the last key: one that came again and was not found by `add`. Frees everything. @throws Fault sink/failed */
  async repetition(): Promise<Repetition | undefined> {
    this.#keys.drop();
    await this.#spill.flush();
    const budget = this.#budget;
    const pass: Pass<[Partitions<Pair>], Repetition> = async function* (partition, [pairs]) {
      const keys = pairs.tableFor(new ReservedBudget(RESERVE_BYTES, budget));
      const left = pairs.next();
      for await (const batch of pairs.read(partition)) {
        for (const pair of batch) {
          const [key, place] = pair;
          const verdict = keys.add(key);
          if (verdict === KNOWN) yield { key, place };
          else if (verdict !== NEW) left.add(pair);
        }
        await left.flush();
      }
      keys.drop();
      return [left];
    };
    try {
      for await (const found of drain([this.#spill], pass)) return found;
      return undefined;
    } finally {
      await this.#spill.remove();
    }
  }
}
