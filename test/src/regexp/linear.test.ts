/** Bounded regular expressions: the same results as JavaScript's own, in a time that has a bound. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BoundedRegExp, loadLinearEngine, UnboundedRegExp } from '../../../src/regexp/linear.ts';
import { stepsOf } from '../../../src/regexp/steps.ts';
import { parseRegExp } from '../../../src/regexp/syntax.ts';
import { Random } from '../../support/random.ts';

beforeAll(loadLinearEngine);

/** Makes a text long without another match. */
const PADDING = '\n'.repeat(3_000_000);

interface Found {
  readonly matches: readonly (readonly [number, ...(string | undefined)[]])[];
  readonly replaced: string;
  readonly split: readonly (string | undefined)[];
}

function found(regexp: RegExp, text: string): Found {
  regexp.lastIndex = 0;
  const matches = [...text.matchAll(regexp)].map((match) => [match.index, ...match] as const);
  return { matches, replaced: text.replace(regexp, '<$&|$1>'), split: text.split(regexp) };
}

/** What the linear engine gives; undefined: the pattern has none. */
function linear(source: string, flags: string, text: string): Found | undefined {
  const bounded = new BoundedRegExp(source, flags, false);
  const engine = bounded.linear;
  return engine === undefined ? undefined : found(engine, text);
}

describe('the linear engine finds what JavaScript finds', () => {
  test.each([
    ['(\\d+)-(\\d+)', '', '2022-01 and 1-2'],
    ['(a+)+$', '', 'aaab aaa'],
    ['a|ab', '', 'abab'],
    ['\\ba\\b', '', 'a ba a-b'],
    ['^a', '', 'aa'],
    ['a$', '', 'aa\n'],
    ['.', '', 'a\n\r\u2028é😀'],
    ['.', 's', 'a\né'],
    ['\\s+', '', 'a \u00a0\u3000b\ufeffc'],
    ['\\p{L}+', '', 'été 😀 日本1'],
    ['\\P{L}+', '', 'été 😀 日本1'],
    ['[^\\p{Lu}\\d]', '', 'Aé1b'],
    ['[\\w-]+@[\\w.]+', '', 'a-b@c.d x'],
    ['k', 'i', 'kK\u212a'],
    ['[^k]', 'i', 'kK\u212ax'],
    ['\\w', 'i', 'ſé'],
    ['x*', '', 'axxb'],
    ['(?:a?b?)*c', '', 'abbac'],
    ['(?<year>\\d{4})', '', 'in 2024'],
    ['\\u{1f600}|\\ud83d\\ude01', '', '😀😁'],
    ['[\\]\\-a\\\\]', '', ']-a\\b'],
    ['a{2,3}?', '', 'aaaaa'],
    ['[]', '', 'a'],
    ['[^]', '', 'a\n'],
    ['(?:)', '', 'aé'],
    ['\\x41\\cJ\\0', '', 'A\n\0'],
    ['😀+', '', 'a😀😀b'],
  ])('%s %s', (source, flags, text) => {
    expect(linear(source, flags, text)).toEqual(found(new RegExp(source, `gu${flags}`), text));
  });

  test('random patterns', () => {
    const random = new Random(7);
    const below = (n: number): number => random.between(0, n - 1);
    const atom = (): string => random.pick(['a', 'b', '.', '[ab]', '[^a]', '\\w', '\\s', '\\b', '^', '$', '\\d', 'é']);
    const pattern = (depth: number): string => {
      if (depth === 0) return atom();
      const inner = (): string => pattern(depth - 1);
      return random.pick<() => string>([
        atom,
        () => inner() + inner(),
        () => `(?:${inner()}|${inner()})`,
        () => `(${inner()})`,
        () => `(?:${inner()})${random.pick(['*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,3}?'])}`,
        () => `(${inner()})${random.pick(['*', '+', '?'])}`,
      ])();
    };
    let translated = 0;
    for (let i = 0; i < 3000; i++) {
      const source = pattern(1 + below(4));
      const flags = random.pick(['', '', 'i', 's']);
      const text = Array.from({ length: below(8) }, () => random.pick(['a', 'b', 'A', ' ', '1', '\n', 'é'])).join('');
      const actual = linear(source, flags, text);
      if (actual === undefined) continue;
      translated++;
      expect([source, flags, text, actual]).toEqual([source, flags, text, found(new RegExp(source, `gu${flags}`), text)]);
    }
    expect(translated).toBeGreaterThan(1500);
  });
});

test('the parser takes the patterns that JavaScript takes, and no others', () => {
  const PIECES =
    'a b | ( (?: (?= (?! (?<= (?<! (?<n> (?<m> ) ) ) ) [ [^ ] ] - ^ $ . * + ? { } {2} {1,} {3,1} \\d \\W \\s \\p{L} \\P{Script=Greek} \\p{Foo} \\b \\B \\1 \\2 \\k<n> \\x41 \\x4 \\u0041 \\u{1f600} \\u{110000} \\ud83d\\ude00 \\ud83d \\cJ \\0 \\01 \\- \\/ \\q \\ 😀 \ud83d && / \n'.split(
      ' ',
    );
  const random = new Random(11);
  const accepts = (parse: () => unknown): boolean => {
    try {
      parse();
      return true;
    } catch (error) {
      // Those of Node are of another realm than those of Jest.
      if ((error as Error).name !== 'SyntaxError') throw error;
      return false;
    }
  };
  let accepted = 0;
  for (let i = 0; i < 30_000; i++) {
    const source = Array.from({ length: random.between(1, 7) }, () => random.pick(PIECES)).join('');
    const isPattern = accepts(() => new RegExp(source, 'u'));
    if (isPattern) accepted++;
    expect([source, accepts(() => parseRegExp(source, ''))]).toEqual([source, isPattern]);
  }
  expect(accepted).toBeGreaterThan(3000);
});

describe('time', () => {
  const seconds = (run: () => unknown): number => {
    const start = performance.now();
    run();
    return (performance.now() - start) / 1000;
  };

  test.each([
    ['(a+)+$', `${'a'.repeat(200_000)}!`],
    ['(?:a|aa)+$', `${'a'.repeat(200_000)}!`],
    ['(\\w+\\s?)+:', 'word '.repeat(20_000)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(50_000)],
    ['(x+x+)+y', 'x'.repeat(50_000)],
    ['\\d+\\d+\\d+x', '1'.repeat(50_000)],
    ['\\s+$', `${' '.repeat(100_000)}x`],
    ['([a-zA-Z0-9]+)*$', `${'a'.repeat(50_000)}!`],
  ])('%s', (source, text) => {
    const bounded = new BoundedRegExp(source, '', true);
    expect(seconds(() => bounded.for(text).test(text))).toBeLessThan(10);
  });

  test('of many matches in a long text', () => {
    const text = 'ab '.repeat(20_000);
    const engine = new BoundedRegExp('(\\w)\\w', '', false).linear as RegExp;
    expect(seconds(() => expect(text.replace(engine, '$1')).toHaveLength(40_000))).toBeLessThan(10);
  });

  test('a pattern without a linear engine is not tried on what could take hours', () => {
    const bounded = new BoundedRegExp('(?=(a+)+$)b', '', true);
    expect(bounded.isUnbounded).toBe(true);
    expect(() => bounded.for('a'.repeat(100))).toThrow(UnboundedRegExp);
    const quick = new BoundedRegExp('(?<=\\d)(?:px|em)', '', true);
    expect([quick.isUnbounded, quick.for(`12px${PADDING}`).test(`12px${PADDING}`)]).toEqual([false, true]);
  });
});

describe('the bound of steps', () => {
  test.each([
    ['\\d+x', 10_000, false],
    ['^(\\w+)\\s+(\\w+)\\s+(\\w+)$', 10_000, false],
    ['\\d+\\d+x', 10_000, true],
    ['(a|b)+', 100, true],
    ['(a+)+', 50, true],
    ['.*x', 10_000, true],
    ['(?<=\\d)(?:px|em)', 10_000_000, false],
    ['(?=.*\\d)(?=.*[a-z]).{8,20}', 100, false],
  ])('%s for %d characters: many %s', (source, length, many) => {
    expect(stepsOf(parseRegExp(source, ''), '', length) > 1e9).toBe(many);
  });
});
