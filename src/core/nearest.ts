/** Did-you-mean: the candidates that a mistyped word most likely means. */

/**
 * At most `most` candidates within a third of the word's length (at least one edit), nearest first, ties in the given order. Candidates
 * more than one edit farther than the nearest are left out.
 *
 * Case does not count as an edit, so `termtype` finds `termType`. Cost: word length times the total length of the candidates.
 *
 * @param part the part of each candidate to compare: a common prefix of two long IRIs says nothing
 */
export function nearest(word: string, candidates: Iterable<string>, most = 3, part = (name: string): string => name): string[] {
  const wanted = part(word).toLowerCase();
  const bound = Math.max(1, Math.floor(wanted.length / 3));
  const found: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const compared = part(candidate).toLowerCase();
    if (candidate === word || Math.abs(compared.length - wanted.length) > bound) continue;
    const distance = editDistance(wanted, compared);
    if (distance <= bound) found.push({ candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance);
  return found
    .filter(({ distance }) => distance <= (found[0]?.distance ?? 0) + 1)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** `did you mean a, b or c?`, or undefined when nothing is near. */
export function didYouMean(word: string, candidates: Iterable<string>, part?: (name: string) => string): string | undefined {
  const names = nearest(word, candidates, undefined, part);
  const last = names.pop();
  if (last === undefined) return undefined;
  return `did you mean ${names.length > 0 ? `${names.join(', ')} or ` : ''}${last}?`;
}

/** For a column in the brackets that a template has around it, such as `{n}`, `(n)` or `%(n)`: how to write it. */
export function withoutBrackets(reference: string, columns: readonly string[]): string | undefined {
  const name = /^[$%]?(?:\{(.*)\}|\((.*)\))$/s
    .exec(reference)
    ?.slice(1)
    .find((one) => one !== undefined);
  return name !== undefined && columns.includes(name) ? `Write ${name}, without brackets around it` : undefined;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] as number) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
