/**
 * The keys of rows that a view promises to be unique: a key that repeats is found, whatever the number of keys.
 *
 * Memory holds 128-bit hashes of keys. Once the budget is used up, further keys go to partitioned files with the place of their row, and
 * these are searched at the end, one partition at a time. A partition that does not fit is partitioned again.
 */

import { type MemoryBudget, ReservedBudget } from '../../spill/budget.ts';
import { HashSet, KNOWN, NEW } from '../../spill/key-table.ts';
import { nextSeed, PairSpill } from '../../spill/pairs.ts';
import type { SpillSpace } from '../../spill/space.ts';

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
  readonly #space: SpillSpace;
  readonly #seed: number;
  readonly #keys: HashSet;
  #spill: PairSpill | undefined;

  constructor(budget: MemoryBudget, space: SpillSpace, seed: number) {
    this.#budget = budget;
    this.#space = space;
    this.#seed = seed;
    this.#keys = new HashSet(budget, seed ^ 0x632be5ab);
  }

  /**
   * Whether the key is known to have come before. If false, `repetition` may still find it.
   *
   * @param place of the row, for `repetition`
   */
  add(key: string, place: string): boolean {
    const verdict = this.#keys.add(key);
    if (verdict === KNOWN) return true;
    if (verdict === NEW) return false;
    this.#spill ??= new PairSpill(this.#space, this.#seed);
    this.#spill.add(key, place);
    return false;
  }

  /** After the last key: one that came again and was not found by `add`. Frees everything. @throws Fault sink/failed */
  async repetition(): Promise<Repetition | undefined> {
    this.#keys.drop();
    const spill = this.#spill;
    this.#spill = undefined;
    if (spill === undefined) return undefined;
    await this.#space.flush();
    const found = await this.#find(spill);
    await spill.remove();
    return found;
  }

  async #find(spill: PairSpill): Promise<Repetition | undefined> {
    for (let partition = 0; partition < PairSpill.partitions; partition++) {
      if (spill.isEmpty(partition)) continue;
      const keys = new HashSet(new ReservedBudget(RESERVE_BYTES, this.#budget), spill.seed ^ 0x2c1b3c6d);
      const overflow = new PairSpill(this.#space, nextSeed(spill.seed));
      for await (const pairs of spill.read(partition)) {
        for (const [key, place] of pairs) {
          const verdict = keys.add(key);
          if (verdict === KNOWN) return { key, place };
          if (verdict !== NEW) overflow.add(key, place);
        }
        await this.#space.flush();
      }
      keys.drop();
      await spill.drop(partition);
      const found = await this.#find(overflow);
      await overflow.remove();
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
