/** Random regular expressions with what ECMAScript replaces by them. */
import { NotInSql } from '../../../src/transpile/functions/arguments.ts';
import { type Pattern, patternOf } from '../../../src/transpile/functions/patterns.ts';
import { Random } from '../../support/random.ts';

export interface Replacing {
  readonly source: string;
  readonly pattern: Pattern;
  readonly text: string;
  readonly replacement: string;
  readonly replaced: string;
}

function randomSource(random: Random, depth: number): string {
  const one = (): string =>
    random.pick([
      ...'abAé-',
      '\\.',
      '\\\\',
      '.',
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '[a-b]',
      '[^a]',
      '[^\\w-]',
      '[\\]&&~^-]',
      '\\u{1F600}',
      '$',
      '^',
    ]);
  const count = (): string => random.pick(['', '', '', '?', '*', '+', '{2}', '{1,3}', '*?', '+?', '??', '{0,2}?']);
  const part = (): string => {
    if (depth === 0 || random.between(0, 2) > 0) {
      const made = one();
      return /^[$^]$/.test(made) ? made : made + count();
    }
    return `(${random.pick(['', '?:'])}${randomSource(random, depth - 1)})${count()}`;
  };
  const sequence = (): string => Array.from({ length: random.between(1, 3) }, part).join('');
  return random.between(0, 3) === 0 ? `${sequence()}|${sequence()}` : sequence();
}

/** @returns those that jobs take */
export function randomReplacing(seed: number, count: number): readonly Replacing[] {
  const random = new Random(seed);
  const all: Replacing[] = [];
  for (let tries = 0; all.length < count && tries < count * 50; tries++) {
    const source = randomSource(random, 2);
    let pattern: Pattern;
    try {
      pattern = patternOf(source, undefined);
    } catch (error) {
      if (error instanceof NotInSql) continue;
      throw error;
    }
    if (pattern.mayBeEmpty) continue;
    const replacement = pattern.groups.length === 0 ? '<>' : '<$1>';
    const text = Array.from({ length: random.between(1, 12) }, () =>
      random.pick([...'aabbA1 .-\\]&~^é\n\r', '😀', '\u2028', '\u00a0', '\u0301']),
    ).join('');
    all.push({ source, pattern, text, replacement, replaced: text.replace(new RegExp(source, 'gu'), replacement) });
  }
  return all;
}
