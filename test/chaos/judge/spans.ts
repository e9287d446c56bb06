/** Spans of time: subtraction, coverage and overlap. */

/** Milliseconds since 1970; `to` is Infinity for a span that has not ended. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const spanOf = (from: number, to: number): Span => ({ from, to });

/** `spans` without `holes`. */
export function minus(spans: readonly Span[], holes: readonly Span[]): readonly Span[] {
  let left = spans;
  for (const hole of holes) {
    left = left.flatMap(({ from, to }) =>
      [spanOf(from, Math.min(to, hole.from)), spanOf(Math.max(from, hole.to), to)].filter((span) => span.from < span.to),
    );
  }
  return left;
}

/** Milliseconds of `within` that are covered by at least one of `spans`. */
export function coveredMs(within: Span, spans: readonly Span[]): number {
  let sum = 0;
  let upTo = within.from;
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const begin = Math.max(from, upTo);
    const end = Math.min(to, within.to);
    if (end <= begin) continue;
    sum += end - begin;
    upTo = end;
  }
  return sum;
}

/** Spans in which at least `count` of `spans` overlap. */
export function overlaps(spans: readonly Span[], count: number): readonly Span[] {
  const steps = spans.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  const found: Span[] = [];
  let open = 0;
  let since = 0;
  for (const { at, by } of steps) {
    if (by === 1 && open === count - 1) since = at;
    if (by === -1 && open === count && at > since) found.push(spanOf(since, at));
    open += by;
  }
  return found;
}
