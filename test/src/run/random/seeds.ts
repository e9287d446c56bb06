/** Numbers from the first to the last one. */
export const seeds = (first: number, last: number): readonly number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Those of `RANDOM_SEEDS=<first>-<last>`, if it is set: for long runs, and to repeat one. */
export function soakSeeds(first: number, last: number): readonly number[] {
  const [from = first, to = last] = (process.env.RANDOM_SEEDS ?? '').split('-').filter(Boolean).map(Number);
  return seeds(from, to);
}
