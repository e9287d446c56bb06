/**
 * Regular expressions of ECMAScript → those that mean the same in Java and RE2, with the same groups.
 *
 * Characters are ranges of code points. What the engines have with another meaning is refused: look-around, references, boundaries of words, properties of Unicode,
 * groups that repeat, and repetitions of what may be empty. Java tries repetitions of more than a character by recursion, so their number has a bound.
 */
import { shortestOf } from '../../regexp/steps.ts';
import { type Node, parseRegExp } from '../../regexp/syntax.ts';
import { NotInSql } from './arguments.ts';

export interface Pattern {
  readonly source: string;
  /** Of each group: whether each match has it. */
  readonly groups: readonly boolean[];
  readonly mayBeEmpty: boolean;
}

const MOST_REPEATED = 1000;
const MOST_GROUPS_REPEATED = 32;

/** @param flags as the function takes them @throws NotInSql */
export function patternOf(source: string, flags: string | undefined): Pattern {
  if (flags !== undefined && /[^s]/.test(flags)) throw new NotInSql(`the flags ${flags} of a regular expression`);
  const node = parseRegExp(source, flags ?? '');
  const groups: boolean[] = [];
  const made = translated(node, groups, true);
  return { source: made, groups, mayBeEmpty: shortestOf(node) === 0 };
}

const refuse = (what: string): never => {
  throw new NotInSql(`${what} in a regular expression`);
};

/** @param isCertain whether each match goes through the node */
function translated(node: Node, groups: boolean[], isCertain: boolean): string {
  switch (node.kind) {
    case 'set':
      return setOf(node);
    case 'assertion':
      if (node.of === 'start') return '\\A';
      return node.of === 'end' ? '\\z' : refuse('a boundary of a word');
    case 'sequence':
      return node.items.map((item) => translated(item, groups, isCertain)).join('');
    case 'choice':
      return `(?:${node.options.map((option) => translated(option, groups, false)).join('|')})`;
    case 'group':
      if (node.captures) groups.push(isCertain);
      return `(${node.captures ? '' : '?:'}${translated(node.body, groups, isCertain)})`;
    case 'repeat':
      return repeated(node, groups, isCertain);
    case 'look':
      return refuse('a look-around');
    case 'reference':
      return refuse('a reference to a group');
  }
}

function repeated({ body, min, max, lazy }: Extract<Node, { kind: 'repeat' }>, groups: boolean[], isCertain: boolean): string {
  const before = groups.length;
  const inner = translated(body, groups, isCertain && min > 0);
  if (body.kind !== 'set') {
    if (shortestOf(body) === 0) refuse('a repetition of what may be empty');
    if (max > 1 && groups.length > before) refuse('a group that repeats');
    if (max > MOST_GROUPS_REPEATED) refuse(`more than ${MOST_GROUPS_REPEATED} repetitions of several characters`);
  }
  if (Math.max(min, max === Number.POSITIVE_INFINITY ? 0 : max) > MOST_REPEATED) refuse(`more than ${MOST_REPEATED} repetitions`);
  const bounds = max === min ? `{${min}}` : `{${min},${max === Number.POSITIVE_INFINITY ? '' : max}}`;
  return `(?:${inner})${bounds}${lazy ? '?' : ''}`;
}

function setOf({ ranges, properties, negated }: Extract<Node, { kind: 'set' }>): string {
  if (properties.length > 0) refuse('a property of Unicode');
  const isSurrogate = (point: number): boolean => point >= 0xd800 && point < 0xe000;
  if (ranges.some((range) => range.some(isSurrogate))) refuse('half of a surrogate pair');
  if (ranges.length === 0) return negated ? '[\\x{0}-\\x{10FFFF}]' : refuse('an empty class');
  const hex = (point: number): string => `\\x{${point.toString(16)}}`;
  return `[${negated ? '^' : ''}${ranges.map(([first, last]) => `${hex(first)}-${hex(last)}`).join('')}]`;
}
