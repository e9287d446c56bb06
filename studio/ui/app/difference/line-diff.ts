/** The difference of two texts, line by line. */

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  /** From 1; undefined: the text does not have the line. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** A table of this many cells is made at most; between texts that differ in more, everything is removed and added. */
const MOST_CELLS = 4_000_000;

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let same = 0;
  while (same < a.length - start && same < b.length - start && a[a.length - 1 - same] === b[b.length - 1 - same]) same++;
  const lines: DiffLine[] = [];
  const keep = (i: number, j: number): void => void lines.push({ kind: 'same', text: a[i] as string, before: i + 1, after: j + 1 });
  for (let i = 0; i < start; i++) keep(i, i);
  const [endA, endB] = [a.length - same, b.length - same];
  const longest = (endA - start) * (endB - start) > MOST_CELLS ? () => 0 : commonLengths(a, b, start, endA, endB);
  let [i, j] = [start, start];
  while (i < endA || j < endB) {
    if (i < endA && j < endB && a[i] === b[j]) keep(i++, j++);
    else if (j >= endB || (i < endA && longest(i + 1, j) >= longest(i, j + 1)))
      lines.push({ kind: 'removed', text: a[i] as string, before: ++i, after: undefined });
    else lines.push({ kind: 'added', text: b[j] as string, before: undefined, after: ++j });
  }
  for (let k = 0; k < same; k++) keep(endA + k, endB + k);
  return lines;
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** How many lines the rests from `i` and `j` have in common at most. */
function commonLengths(
  a: readonly string[],
  b: readonly string[],
  start: number,
  endA: number,
  endB: number,
): (i: number, j: number) => number {
  const width = endB - start + 1;
  const table = new Uint32Array((endA - start + 1) * width);
  for (let i = endA - 1; i >= start; i--) {
    for (let j = endB - 1; j >= start; j--) {
      const at = (i - start) * width + (j - start);
      table[at] = a[i] === b[j] ? (table[at + width + 1] as number) + 1 : Math.max(table[at + width] as number, table[at + 1] as number);
    }
  }
  return (i, j) => table[(i - start) * width + (j - start)] as number;
}

/** Only what differs, with a few lines around it. */
export function around(lines: readonly DiffLine[], margin = 3): readonly (DiffLine | 'gap')[] {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - margin), i + margin + 1).some(({ kind }) => kind !== 'same'));
  return lines.flatMap((line, i): readonly (DiffLine | 'gap')[] => (near[i] ? [line] : near[i - 1] || i === 0 ? ['gap'] : []));
}
