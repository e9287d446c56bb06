/**
 * An upper bound for the steps of an engine that backtracks.
 *
 * The bound is the number of starts, times the number of ways through the pattern, times the steps of a way. A way is a choice at each
 * alternative and each count of a repetition. A repetition of single characters followed by a character that cannot be one of them has one
 * way: of all its counts, the next character fits behind the largest alone, and the others fail there at once.
 */
import { type CharacterSet, complement, merged, type Node, type Range } from './syntax.ts';

/** @param length of the text; the bound may be infinite */
export function stepsOf(pattern: Node, flags: string, length: number): number {
  const looks: number[] = [];
  const size = sizeOf(pattern);
  const ways = waysOf(pattern, undefined, { length, flags, looks });
  const ofLooks = looks.reduce((sum, steps) => sum + steps, 0);
  const starts = startsOnce(pattern) && !flags.includes('m') ? 1 : length + 1;
  return starts * ways * (size * (Math.min(longestOf(pattern), length) + 1) + ofLooks);
}

interface Bounds {
  readonly length: number;
  readonly flags: string;
  /** The steps of each look-around: it has one way, since nothing goes back into it. */
  readonly looks: number[];
}

/** What must come next: characters, or the end of the text. undefined: not known. */
type Follow = CharacterSet | 'end' | undefined;

function waysOf(node: Node, follow: Follow, bounds: Bounds): number {
  switch (node.kind) {
    case 'set':
    case 'assertion':
      return 1;
    case 'reference':
      // No choice, but as many characters to compare.
      return bounds.length + 1;
    case 'look':
      bounds.looks.push((Math.min(longestOf(node.body), bounds.length) + 1) * sizeOf(node.body) * waysOf(node.body, undefined, bounds));
      return 1;
    case 'group':
      return waysOf(node.body, follow, bounds);
    case 'choice':
      return node.options.reduce((sum, option) => sum + waysOf(option, follow, bounds), 0);
    case 'sequence':
      return node.items.reduce((product, item, i) => {
        const next = node.items[i + 1];
        return product * waysOf(item, next === undefined ? follow : firstOf(next), bounds);
      }, 1);
    case 'repeat':
      return waysToRepeat(node, follow, bounds);
  }
}

function waysToRepeat({ body, min, max }: Extract<Node, { kind: 'repeat' }>, follow: Follow, bounds: Bounds): number {
  const ways = waysOf(body, undefined, bounds);
  const isEmpty = shortestOf(body) === 0;
  // Nothing bounds the steps of a way that repeats the empty text.
  if (isEmpty && max > MOST_EMPTY) return Number.POSITIVE_INFINITY;
  const counts = Math.min(max, isEmpty ? max : Math.max(min, bounds.length)) - min + 1;
  if (ways > 1) return max === Number.POSITIVE_INFINITY ? max : ways ** max * counts;
  return body.kind === 'set' && isApart(body, follow, bounds) ? 1 : counts;
}

const MOST_EMPTY = 10;

function isApart(a: CharacterSet, b: Follow, { flags }: Bounds): boolean {
  if (b === 'end') return !flags.includes('m');
  if (b === undefined || flags.includes('i') || a.properties.length + b.properties.length > 0) return false;
  const [left, right] = [rangesOf(a), rangesOf(b)];
  return left.every(([first, last]) => right.every(([from, to]) => last < from || to < first));
}

const rangesOf = ({ ranges, negated }: CharacterSet): readonly Range[] => (negated ? complement(ranges) : merged(ranges));

function firstOf(node: Node): Follow {
  switch (node.kind) {
    case 'set':
      return node;
    case 'assertion':
      return node.of === 'end' ? 'end' : undefined;
    case 'group':
      return firstOf(node.body);
    case 'sequence':
      return node.items[0] === undefined ? undefined : firstOf(node.items[0]);
    case 'repeat':
      return node.min > 0 ? firstOf(node.body) : undefined;
    default:
      return undefined;
  }
}

/** The characters of the shortest text that matches, or fewer. */
export function shortestOf(node: Node): number {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'assertion':
    case 'reference':
    case 'look':
      return 0;
    case 'group':
      return shortestOf(node.body);
    case 'choice':
      return Math.min(...node.options.map(shortestOf));
    case 'sequence':
      return node.items.reduce((sum, item) => sum + shortestOf(item), 0);
    case 'repeat':
      return node.min === 0 ? 0 : node.min * shortestOf(node.body);
  }
}

/** The characters of the longest text that matches, or more. */
function longestOf(node: Node): number {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'assertion':
    case 'look':
      return 0;
    case 'reference':
      return Number.POSITIVE_INFINITY;
    case 'group':
      return longestOf(node.body);
    case 'choice':
      return Math.max(...node.options.map(longestOf));
    case 'sequence':
      return node.items.reduce((sum, item) => sum + longestOf(item), 0);
    case 'repeat': {
      const longest = longestOf(node.body);
      return longest === 0 ? 0 : node.max * longest;
    }
  }
}

function sizeOf(node: Node): number {
  switch (node.kind) {
    case 'group':
    case 'look':
      return 1 + sizeOf(node.body);
    case 'repeat':
      return (1 + sizeOf(node.body)) * (shortestOf(node.body) === 0 ? Math.min(node.max, MOST_EMPTY) + 1 : Math.max(1, node.min));
    case 'choice':
      return node.options.reduce((sum, option) => sum + sizeOf(option), 1);
    case 'sequence':
      return node.items.reduce((sum, item) => sum + sizeOf(item), 1);
    default:
      return 1;
  }
}

/** Whether the pattern begins with `^`: at other places it fails at once. */
function startsOnce(node: Node): boolean {
  if (node.kind === 'sequence') return node.items[0]?.kind === 'assertion' && node.items[0].of === 'start';
  return node.kind === 'assertion' && node.of === 'start';
}
