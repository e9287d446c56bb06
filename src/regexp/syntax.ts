/**
 * The syntax of regular expressions of ECMAScript with Unicode rules, as far as it is needed to bound how long one may take and to write it for
 * an engine of linear time. `regexpp` parses; classes and escapes become sets of code points here.
 *
 * @see https://tc39.es/ecma262/#sec-patterns
 */
import { type AST, RegExpParser } from '@eslint-community/regexpp';

/** First and last code point, both included. */
export type Range = readonly [first: number, last: number];

/** One character: any of the ranges and properties (`p{L}`, `P{Lu}`), or any other. */
export interface CharacterSet {
  readonly kind: 'set';
  readonly ranges: readonly Range[];
  readonly properties: readonly string[];
  readonly negated: boolean;
}

export type Node =
  | CharacterSet
  | { readonly kind: 'assertion'; readonly of: 'start' | 'end' | 'boundary' | 'no boundary' }
  | { readonly kind: 'look'; readonly body: Node }
  | { readonly kind: 'reference' }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'group'; readonly captures: boolean; readonly body: Node }
  | { readonly kind: 'repeat'; readonly body: Node; readonly min: number; readonly max: number; readonly lazy: boolean };

export const LAST = 0x10ffff;
const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [...DIGITS, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** Sorted, and apart from each other. */
export function merged(ranges: readonly Range[]): readonly Range[] {
  const all: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = all.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else all.push([first, last]);
  }
  return all;
}

export function complement(ranges: readonly Range[]): readonly Range[] {
  const gaps: Range[] = [];
  let next = 0;
  for (const [first, last] of merged(ranges)) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  return next > LAST ? gaps : [...gaps, [next, LAST]];
}

const parser = new RegExpParser();

/** @throws SyntaxError, also for a group that changes the flags */
export function parseRegExp(source: string, flags: string): Node {
  const { alternatives } = parser.parsePattern(source, 0, source.length, { unicode: true });
  return choiceOf(alternatives, flags.includes('s'));
}

function choiceOf(alternatives: readonly AST.Alternative[], dotAll: boolean): Node {
  const options = alternatives.map(({ elements }): Node => {
    const items = elements.map((element) => nodeOf(element, dotAll));
    return items.length === 1 ? (items[0] as Node) : { kind: 'sequence', items };
  });
  return options.length === 1 ? (options[0] as Node) : { kind: 'choice', options };
}

function nodeOf(element: AST.Element, dotAll: boolean): Node {
  switch (element.type) {
    case 'Assertion':
      if (element.kind === 'lookahead' || element.kind === 'lookbehind')
        return { kind: 'look', body: choiceOf(element.alternatives, dotAll) };
      if (element.kind === 'word') return { kind: 'assertion', of: element.negate ? 'no boundary' : 'boundary' };
      return { kind: 'assertion', of: element.kind };
    case 'Quantifier':
      return { kind: 'repeat', body: nodeOf(element.element, dotAll), min: element.min, max: element.max, lazy: !element.greedy };
    case 'Group':
      if (element.modifiers !== null) throw new SyntaxError('a group that changes the flags is not read');
      return { kind: 'group', captures: false, body: choiceOf(element.alternatives, dotAll) };
    case 'CapturingGroup':
      return { kind: 'group', captures: true, body: choiceOf(element.alternatives, dotAll) };
    case 'Backreference':
      return { kind: 'reference' };
    case 'CharacterClass':
      return classOf(element);
    case 'CharacterSet':
      if (element.kind === 'any') return set(dotAll ? [] : LINE_ENDS, true);
      return setOf(element);
    case 'Character':
      return setOf(element);
    default:
      throw new Error(`a part of the type ${element.type}`);
  }
}

function classOf({ elements, negate }: AST.CharacterClass): CharacterSet {
  const members = elements.map(setOf);
  return {
    kind: 'set',
    ranges: members.flatMap(({ ranges, negated }) => (negated ? complement(ranges) : ranges)),
    properties: members.flatMap(({ properties }) => properties),
    negated: negate,
  };
}

function setOf(member: AST.CharacterClassElement | AST.CharacterSet): CharacterSet {
  if (member.type === 'Character') return set([[member.value, member.value]]);
  if (member.type === 'CharacterClassRange') return set([[member.min.value, member.max.value]]);
  if (member.type !== 'CharacterSet' || member.kind === 'any') throw new Error(`a member of the type ${member.type}`);
  if (member.kind === 'property') return { kind: 'set', ranges: [], properties: [member.raw.slice(1)], negated: false };
  return set({ digit: DIGITS, space: SPACE, word: WORD }[member.kind], member.negate);
}

const set = (ranges: readonly Range[], negated = false): CharacterSet => ({ kind: 'set', ranges, properties: [], negated });
