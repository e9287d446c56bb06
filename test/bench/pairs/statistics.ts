/** Medians, and ratios of pairs. */

export function median(numbers: readonly number[]): number {
  if (numbers.length === 0) throw new RangeError('no numbers have no median');
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/**
 * The ratios of what was measured together: what slows the machine down for a while slows both of a pair.
 *
 * @throws RangeError — the lists are not of one length
 */
export function ratios(ours: readonly number[], theirs: readonly number[]): number[] {
  if (ours.length !== theirs.length) throw new RangeError(`${ours.length} and ${theirs.length} measurements are no pairs`);
  return ours.map((one, i) => one / (theirs[i] as number));
}

/** `0.42 (0.40–0.47)`: the median, the smallest and the largest. */
export function spread(numbers: readonly number[]): string {
  return `${median(numbers).toFixed(2)} (${Math.min(...numbers).toFixed(2)}–${Math.max(...numbers).toFixed(2)})`;
}
