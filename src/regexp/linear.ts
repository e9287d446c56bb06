/**
 * Regular expressions whose time is bounded, whatever the pattern and the text.
 *
 * The engine of JavaScript backtracks, and is fast where there is little to go back to. `stepsOf` says before a match how long it could take. Where
 * that is too long, RE2's algorithm takes over, whose time is linear in the text. Both give the same: what RE2 has not, or has with another
 * meaning, is never given to it (`translated`).
 *
 * @see https://tc39.es/ecma262/#sec-regexp-regular-expression-objects and https://github.com/google/re2/wiki/Syntax
 */
import type { RE2JS } from 're2js';
import { shortestOf, stepsOf } from './steps.ts';
import { type CharacterSet, complement, merged, type Node, parseRegExp, type Range } from './syntax.ts';

/** Steps of the backtracking engine: some milliseconds. */
const FEW_STEPS = 1e6;
/** A few seconds at worst, for patterns that have no other engine. The bound is hardly ever reached. */
const MANY_STEPS = 1e9;

let re2: typeof RE2JS | undefined;

/** Loads the engine of linear time, for this thread. Reading a mapping with regular expressions does it; most mappings have none. */
export async function loadLinearEngine(): Promise<void> {
  re2 ??= (await import('re2js')).RE2JS;
}

/** A regular expression of which nothing bounds the time. */
export class UnboundedRegExp extends Error {
  override readonly name = 'UnboundedRegExp';
}

/** One pattern, with the engines that it has. */
export class BoundedRegExp {
  readonly #native: RegExp;
  readonly #pattern: Node;
  readonly #flags: string;
  readonly #decides: boolean;
  /** Up to this length of text the native engine takes few steps. */
  readonly #short: number;
  #linear: LinearRegExp | 'none' | undefined;

  /**
   * @param flags any of `i`, `m` and `s`
   * @param decides only whether there is a match matters, neither where nor with which groups
   * @throws SyntaxError
   */
  constructor(source: string, flags: string, decides: boolean) {
    this.#native = new RegExp(source, `gu${flags}`);
    this.#pattern = parseRegExp(source, flags);
    this.#flags = flags;
    this.#decides = decides;
    this.#short = this.#longest(FEW_STEPS);
  }

  /**
   * The global regular expression for a text, at its beginning.
   *
   * @throws UnboundedRegExp
   */
  for(text: string): RegExp {
    const made = text.length <= this.#short ? this.#native : this.#slow(text);
    made.lastIndex = 0;
    return made;
  }

  /** Whether some texts have no engine: none of the pattern's runs in linear time, and nothing bounds the other. */
  get isUnbounded(): boolean {
    return stepsOf(this.#pattern, this.#flags, 100) > MANY_STEPS && translated(this.#pattern, this.#flags, this.#decides) === undefined;
  }

  /** The engine of linear time; undefined: there is none. Not before `loadLinearEngine` has ended. */
  get linear(): RegExp | undefined {
    const linear = this.#linearEngine();
    return linear === 'none' ? undefined : linear;
  }

  #slow(text: string): RegExp {
    const { linear } = this;
    if (linear !== undefined) return linear;
    if (stepsOf(this.#pattern, this.#flags, text.length) <= MANY_STEPS) return this.#native;
    throw new UnboundedRegExp(`a text of ${text.length} characters could take it hours`);
  }

  #linearEngine(): LinearRegExp | 'none' {
    if (this.#linear === undefined) {
      const source = translated(this.#pattern, this.#flags, this.#decides);
      const engine = source === undefined ? undefined : compiled(source);
      this.#linear = engine === undefined ? 'none' : new LinearRegExp(engine);
    }
    return this.#linear;
  }

  /** The bound grows with the length: bisection. */
  #longest(steps: number): number {
    let [low, high] = [-1, 2 ** 29];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (stepsOf(this.#pattern, this.#flags, middle) <= steps) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** undefined: RE2 has a limit that the pattern exceeds. */
function compiled(source: string): RE2JS | undefined {
  if (re2 === undefined) throw new Error('the engine of regular expressions is not loaded');
  try {
    return re2.compile(source);
  } catch {
    return undefined;
  }
}

/** Global, and used as a `RegExp`: the methods of texts call `exec`. */
class LinearRegExp extends RegExp {
  readonly #engine: RE2JS;

  constructor(of: RE2JS | LinearRegExp) {
    super('', 'gu');
    this.#engine = of instanceof LinearRegExp ? of.#engine : of;
  }

  override exec(text: string): RegExpExecArray | null {
    const matcher = this.#engine.matcher(text);
    const from = this.lastIndex;
    if (from > text.length || !matcher.find(from)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? undefined);
    return Object.assign(groups, { index: matcher.start(), input: text, groups: undefined }) as unknown as RegExpExecArray;
  }

  override [Symbol.split](text: string): string[] {
    const parts: string[] = [];
    let from = 0;
    this.lastIndex = 0;
    if (text === '') return this.exec(text) === null ? [''] : [];
    for (const match of text.matchAll(this)) {
      const [found, ...groups] = match;
      const at = match.index;
      // As the standard has it: an empty match at the beginning or end, or behind a match, separates nothing.
      if (found === '' && (at === from || at >= text.length)) continue;
      parts.push(text.slice(from, at), ...groups);
      from = at + found.length;
    }
    return [...parts, text.slice(from)];
  }
}

// ---------------------------------------------------------------- translation

/** The pattern for RE2; undefined: it would mean something else there, or nothing. */
function translated(pattern: Node, flags: string, decides: boolean): string | undefined {
  const has = (flag: string): boolean => flags.includes(flag);
  const translate = (node: Node): string => {
    switch (node.kind) {
      case 'set':
        return setText(node, has('i'));
      case 'assertion':
        // Ends of lines are others in RE2, and so are letters of words that differ in case.
        if (node.of === 'start' || node.of === 'end') return has('m') ? fail() : node.of === 'start' ? '\\A' : '\\z';
        return has('i') ? fail() : node.of === 'boundary' ? '\\b' : '\\B';
      case 'sequence':
        return node.items.map(translate).join('');
      case 'choice':
        return `(?:${node.options.map(translate).join('|')})`;
      case 'group':
        return `(${node.captures ? '' : '?:'}${translate(node.body)})`;
      case 'repeat': {
        const { body, min, max, lazy } = node;
        const mayDiffer = max > 1 || (min === 0 && shortestOf(body) === 0);
        if (!decides && mayDiffer && !isSameRepeated(body)) return fail();
        const bounds = max === min ? `{${min}}` : `{${min},${max === Number.POSITIVE_INFINITY ? '' : max}}`;
        return `(?:${translate(body)})${bounds}${lazy ? '?' : ''}`;
      }
      default:
        return fail();
    }
  };
  try {
    return (has('i') ? '(?i)' : '') + translate(pattern);
  } catch (error) {
    if (error instanceof Untranslatable) return undefined;
    throw error;
  }
}

class Untranslatable extends Error {}
function fail(): never {
  throw new Untranslatable();
}

/**
 * Whether RE2 finds the same when this is repeated. JavaScript forgets the groups of earlier repetitions, and refuses one that matches the
 * empty text, which may make it try another alternative. So each repetition sets all groups; and if one may be empty, that is what it tries
 * last, as repetitions within it do that are greedy.
 */
function isSameRepeated(body: Node): boolean {
  const all = [...nodesIn(body)];
  const captures = all.some((node) => node.kind === 'group' && node.captures);
  const chooses = all.some((node) => node.kind === 'choice');
  if (shortestOf(body) > 0)
    return !captures || (!chooses && all.every((node) => node.kind !== 'repeat' || node.min > 0 || !hasCapture(node)));
  return !captures && !chooses && all.every((node) => node.kind !== 'repeat' || !node.lazy);
}

const hasCapture = (node: Node): boolean => [...nodesIn(node)].some((one) => one.kind === 'group' && one.captures);

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  if (node.kind === 'sequence') for (const item of node.items) yield* nodesIn(item);
  else if (node.kind === 'choice') for (const option of node.options) yield* nodesIn(option);
  else if (node.kind === 'group' || node.kind === 'repeat' || node.kind === 'look') yield* nodesIn(node.body);
}

/** RE2 adds other cases to a class before it negates it, as JavaScript does: only negations within a class are another matter. */
function setText({ ranges, properties, negated }: CharacterSet, ignoresCase: boolean): string {
  if (ignoresCase && (properties.length > 0 || ranges.some(isLong))) fail();
  const all = merged([...ranges, ...properties.flatMap(rangesOfProperty)]);
  if (all.length === 0) return negated ? '(?s:.)' : '[^\\x00-\\x{10FFFF}]';
  const hex = (point: number): string => `\\x{${point.toString(16)}}`;
  return `[${negated ? '^' : ''}${all.map(([first, last]) => `${hex(first)}-${hex(last)}`).join('')}]`;
}

/** Of a negation within a class, which RE2 would add other cases to. */
const isLong = ([first, last]: Range): boolean => last > 0x7f && last - first > 64;

const properties = new Map<string, readonly Range[]>();

/** The characters that have a property in JavaScript: its tables may be of another version of Unicode than those of RE2. */
function rangesOfProperty(name: string): readonly Range[] {
  const known = properties.get(name);
  if (known !== undefined) return known;
  const ranges: Range[] = [];
  const one = new RegExp(`^\\p${name.slice(1)}$`, 'u');
  let from = -1;
  for (let point = 0; point <= 0x110000; point++) {
    const isIn = point <= 0x10ffff && !(point >= 0xd800 && point < 0xe000) && one.test(String.fromCodePoint(point));
    if (isIn && from < 0) from = point;
    if (!isIn && from >= 0) {
      ranges.push([from, point - 1]);
      from = -1;
    }
  }
  const found = name.startsWith('P') ? complement(ranges) : ranges;
  properties.set(name, found);
  return found;
}
