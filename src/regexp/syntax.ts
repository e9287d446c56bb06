/**
 * The syntax of regular expressions of ECMAScript with Unicode rules, as far as it is needed to tell how long one may take and to write it for
 * an engine of linear time.
 *
 * @see https://tc39.es/ecma262/#sec-patterns
 */

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
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

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

/** @param source one that `new RegExp(source, 'u' + flags)` accepts */
export function parseRegExp(source: string, flags: string): Node {
  return new Parser(source, flags.includes('s')).choice();
}

const set = (ranges: readonly Range[], negated = false): CharacterSet => ({ kind: 'set', ranges, properties: [], negated });

class Parser {
  readonly #characters: readonly string[];
  readonly #dotAll: boolean;
  #at = 0;

  constructor(source: string, dotAll: boolean) {
    this.#characters = [...source];
    this.#dotAll = dotAll;
  }

  choice(): Node {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as Node) : { kind: 'choice', options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (let c = this.#peek(); c !== undefined && c !== '|' && c !== ')'; c = this.#peek()) items.push(this.#repeated(this.#atom()));
    return items.length === 1 ? (items[0] as Node) : { kind: 'sequence', items };
  }

  #repeated(body: Node): Node {
    const bounds = this.#bounds();
    if (bounds === undefined) return body;
    const [min, max] = bounds;
    return { kind: 'repeat', body, min, max, lazy: this.#take('?') };
  }

  #bounds(): Range | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    if (!this.#take('{')) return undefined;
    const [min = '0', max] = this.#until('}').split(',');
    return [Number(min), max === undefined ? Number(min) : max === '' ? Number.POSITIVE_INFINITY : Number(max)];
  }

  #atom(): Node {
    const c = this.#next();
    if (c === '^') return { kind: 'assertion', of: 'start' };
    if (c === '$') return { kind: 'assertion', of: 'end' };
    if (c === '.') return this.#dotAll ? set([], true) : set(LINE_ENDS, true);
    if (c === '[') return this.#class();
    if (c === '(') return this.#group();
    if (c !== '\\') return set([single(c)]);
    const letter = this.#peek() as string;
    if (letter === 'b' || letter === 'B') {
      this.#at++;
      return { kind: 'assertion', of: letter === 'b' ? 'boundary' : 'no boundary' };
    }
    if (/[1-9k]/.test(letter)) {
      this.#at++;
      if (letter === 'k') this.#until('>');
      else while (/[0-9]/.test(this.#peek() ?? '')) this.#at++;
      return { kind: 'reference' };
    }
    return this.#escape();
  }

  #group(): Node {
    let captures = true;
    let looks = false;
    if (this.#take('?')) {
      captures = false;
      if (this.#take('<')) {
        if (this.#take('=') || this.#take('!')) looks = true;
        else {
          this.#until('>');
          captures = true;
        }
      } else if (this.#take('=') || this.#take('!')) looks = true;
      else if (!this.#take(':')) throw new Error('a group of a kind that is not known');
    }
    const body = this.choice();
    this.#at++;
    return looks ? { kind: 'look', body } : { kind: 'group', captures, body };
  }

  #class(): CharacterSet {
    const negated = this.#take('^');
    const ranges: Range[] = [];
    const properties: string[] = [];
    while (!this.#take(']')) {
      const first = this.#member();
      if (this.#peek() === '-' && this.#characters[this.#at + 1] !== ']' && isSingle(first)) {
        this.#at++;
        const last = this.#member();
        ranges.push([first.ranges[0]?.[0] as number, last.ranges[0]?.[0] as number]);
      } else {
        ranges.push(...(first.negated ? complement(first.ranges) : first.ranges));
        properties.push(...first.properties);
      }
    }
    return { kind: 'set', ranges, properties, negated };
  }

  #member(): CharacterSet {
    const c = this.#next();
    if (c !== '\\') return set([single(c)]);
    if (!this.#take('b')) return this.#escape();
    return set([[8, 8]]);
  }

  /** What stands behind a backslash. */
  #escape(): CharacterSet {
    const c = this.#next();
    switch (c) {
      case 'd':
      case 'D':
        return set(DIGITS, c === 'D');
      case 'w':
      case 'W':
        return set(WORD, c === 'W');
      case 's':
      case 'S':
        return set(SPACE, c === 'S');
      case 'p':
      case 'P':
        return { kind: 'set', ranges: [], properties: [`${c}${this.#until('}')}}`], negated: false };
      case 'c':
        return set([code((this.#next().codePointAt(0) as number) % 32)]);
      case 'x':
        return set([code(Number.parseInt(this.#next() + this.#next(), 16))]);
      case 'u':
        return set([code(this.#unicode())]);
      default:
        return set([CONTROLS[c] === undefined ? single(c) : code(CONTROLS[c])]);
    }
  }

  #unicode(): number {
    if (this.#take('{')) return Number.parseInt(this.#until('}'), 16);
    const unit = (at: number): number => Number.parseInt(this.#characters.slice(at, at + 4).join(''), 16);
    const first = unit(this.#at);
    this.#at += 4;
    const isPair = first >= 0xd800 && first < 0xdc00 && this.#characters.slice(this.#at, this.#at + 2).join('') === '\\u';
    const second = isPair ? unit(this.#at + 2) : Number.NaN;
    if (!(second >= 0xdc00 && second < 0xe000)) return first;
    this.#at += 6;
    return 0x10000 + (first - 0xd800) * 0x400 + (second - 0xdc00);
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string {
    return this.#characters[this.#at++] as string;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #until(end: string): string {
    const from = this.#at;
    while (this.#peek() !== end) this.#at++;
    return this.#characters.slice(from, this.#at++).join('');
  }
}

const code = (point: number): Range => [point, point];
const single = (character: string): Range => code(character.codePointAt(0) as number);
const isSingle = ({ ranges, properties, negated }: CharacterSet): boolean =>
  !negated && properties.length === 0 && ranges.length === 1 && ranges[0]?.[0] === ranges[0]?.[1];
