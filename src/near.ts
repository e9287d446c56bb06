/** Names near a misspelt one, for `did you mean`. */

/** At most `count` of `candidates` within about a third of the word's length, nearest first; case differences count little. */
export function nearNames(word: string, candidates: Iterable<string>, count = 3): readonly string[] {
  const limit = Math.max(1, Math.ceil(word.length / 3));
  const found: { name: string; distance: number }[] = [];
  for (const name of new Set(candidates)) {
    if (name === word || Math.abs(name.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance <= limit) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return found.slice(0, count).map((entry) => entry.name);
}

/** `did you mean a, b or c?`; undefined when there is nothing near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const names = nearNames(word, candidates);
  if (names.length === 0) return undefined;
  const last = names[names.length - 1];
  return `did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. Rows of the usual table, three at a time. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((above[j] as number) + 1, (row[j - 1] as number) + 1, (above[j - 1] as number) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] as number) + 1);
      row.push(cost);
    }
    before = above;
    above = row;
  }
  return above[b.length] as number;
}
