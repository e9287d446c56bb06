/** Seeded random numbers (mulberry32): the same seed gives the same faults and the same load. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws for an empty list */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('there is nothing to pick');
    return list[this.between(0, list.length - 1)] as T;
  }

  /** A key of `weights`, with a probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const rows = Object.entries(weights) as [K, number][];
    let left = this.next() * rows.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of rows) {
      left -= weight;
      if (left < 0) return key;
    }
    return this.pick(rows)[0];
  }

  shuffle<T>(list: readonly T[]): T[] {
    const rest = [...list];
    return list.map(() => rest.splice(this.between(0, rest.length - 1), 1)[0] as T);
  }
}
/** Numbers from the first to the last one. */
export const seeds = (first: number, last: number): readonly number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Those of `RANDOM_SEEDS=<first>-<last>`, if it is set: for long runs, and to repeat one. */
export function soakSeeds(first: number, last: number): readonly number[] {
  const [from = first, to = last] = (process.env.RANDOM_SEEDS ?? '').split('-').filter(Boolean).map(Number);
  return seeds(from, to);
}
