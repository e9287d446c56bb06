/** Numbers from the first to the last one. */
export const seeds = (first: number, last: number): readonly number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i);
