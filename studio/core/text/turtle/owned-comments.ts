/**
 * Which comments belong to what stands in a list: one on the line where an item ends to that item, and others to the item behind them. So an item
 * is taken out of a list of objects, or of properties, with its comments, and the comments of its neighbours stay.
 */
import type { Anchor } from '../../document.ts';
import { tokensOf } from '../places.ts';

export interface Owned {
  /** Before the item, each on a separate line. */
  readonly above: readonly Anchor[];
  /** At the end of its last line, also behind the separator. */
  readonly behind: Anchor | undefined;
}

/** What stands between two items, or behind the last one. */
interface Gap {
  /** Of the comma or semicolon; undefined: there is none. */
  readonly separator: number | undefined;
  readonly behind: Anchor | undefined;
  readonly rest: readonly Anchor[];
}

/**
 * @param start where the list begins, behind its verb or bracket
 * @param items in the order of the text
 * @returns of each item
 */
export function ownedBy(text: string, start: number, items: readonly Anchor[], separator: ',' | ';'): readonly Owned[] {
  const gaps = gapsOf(text, start, items, separator);
  return items.map((_, i) => ({ above: gaps[i]?.rest ?? [], behind: gaps[i + 1]?.behind }));
}

/** What goes when some objects of a property are taken out with their comments, and at least one stays. */
export function rangesOfOwned(text: string, start: number, items: readonly Anchor[], taken: ReadonlySet<Anchor>): readonly Anchor[] {
  const gaps = gapsOf(text, start, items, ',');
  const isKept = (one: Anchor): boolean => !taken.has(one);
  const [firstKept, lastKept] = [items.findIndex(isKept), items.findLastIndex(isKept)];
  /** Where an item ends, with its comma and comment. */
  const endOf = (i: number): number => {
    const { separator, behind } = gaps[i + 1] as Gap;
    return Math.max((items[i] as Anchor).to, separator === undefined ? 0 : separator + 1, behind?.to ?? 0);
  };
  const startOf = (i: number): number => gaps[i]?.rest[0]?.from ?? (items[i] as Anchor).from;
  /** Where what goes behind an item begins: what stays on the last line of that must not become a part of the comment before it. */
  const fromOf = (i: number): number => {
    const from = endOf(i - 1);
    if (taken.has(items[i - 1] as Anchor) || gaps[i]?.behind === undefined) return from;
    const next = items.findIndex((one, at) => at > i && isKept(one));
    const end = next < 0 ? items.length - 1 : next - 1;
    const { behind } = gaps[end + 1] as Gap;
    const to = (items[end] as Anchor).to;
    const left =
      next >= 0 ? text.slice(endOf(end)) : behind === undefined ? text.slice(to) : text.slice(to, behind.from) + text.slice(behind.to);
    return /^[ \t]*\r?\n/.test(left) ? from : from + (/^\s*/.exec(text.slice(from))?.[0].length ?? 0);
  };
  return items.flatMap((item, i): readonly Anchor[] => {
    const { separator, behind } = gaps[i + 1] as Gap;
    // The last that stays has no comma any more.
    if (isKept(item)) return i === lastKept && separator !== undefined ? [{ from: separator, to: separator + 1 }] : [];
    if (i < firstKept) return [{ from: startOf(i), to: startOf(i + 1) }];
    const from = fromOf(i);
    if (i < items.length - 1) return [{ from, to: endOf(i) }];
    return [{ from, to: item.to }, ...(behind === undefined ? [] : [withSpace(text, behind)])];
  });
}

/** Comments with the space before them. */
export const withSpace = (text: string, { from, to }: Anchor): Anchor => ({ from: text.slice(0, from).trimEnd().length, to });

/** Ranges that touch or overlap become one. */
export function merged(ranges: readonly Anchor[]): readonly Anchor[] {
  const all: Anchor[] = [];
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last.to) all[all.length - 1] = { from: last.from, to: Math.max(last.to, to) };
    else all.push({ from, to });
  }
  return all;
}

function gapsOf(text: string, start: number, items: readonly Anchor[], separator: ',' | ';'): readonly Gap[] {
  const between = items.map((item, i) => gapAt(text, items[i - 1]?.to ?? start, item.from, separator));
  return [...between, lastGap(text, items.at(-1)?.to ?? start)];
}

function gapAt(text: string, from: number, to: number, separator: ',' | ';'): Gap {
  const tokens = tokensOf(text.slice(from, to)).map((token) => ({ ...token, from: from + token.from, to: from + token.to }));
  const comments = tokens.filter(({ kind }) => kind === 'comment');
  const [first] = comments;
  const isBehind = first !== undefined && !text.slice(from, first.from).includes('\n');
  return {
    separator: tokens.find((token) => token.kind !== 'comment' && text.slice(token.from, token.to) === separator)?.from,
    behind: isBehind ? first : undefined,
    rest: isBehind ? comments.slice(1) : comments,
  };
}

/** Behind the last item, what closes the list begins: only a comment on its line belongs to the item. */
function lastGap(text: string, from: number): Gap {
  const [found, before = ''] = /^([ \t]*[,;]?[ \t]*)#[^\r\n]*/.exec(text.slice(from)) ?? [];
  const behind = found === undefined ? undefined : { from: from + before.length, to: from + found.length };
  return { separator: undefined, behind, rest: [] };
}
