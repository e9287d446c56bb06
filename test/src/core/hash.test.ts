/** Hashes: texts that differ in few places, wherever these are, have different hashes. */
import { describe, expect, test } from '@jest/globals';
import { h1, h2, h3, h4, hash, hashPair, TextFilter } from '../../../src/core/hash.ts';

const SEED = 0x2f6b1c05;

/** How many of the texts have the hash of an earlier one. */
function collisions(texts: Iterable<string>, seed: number = SEED): number {
  const seen = new Set<number>();
  let count = 0;
  for (const text of texts) {
    hash(text, seed);
    // 53 of the 128 bits: a set of numbers is several times faster than one of texts.
    seen.add((h1 >>> 0) * 2 ** 21 + ((h3 ^ h4) >>> 11));
    count++;
  }
  return count - seen.size;
}

const number = (n: number): string => String(n).padStart(4, '0');

describe('texts that differ in two words of four characters', () => {
  // With odds of 2^-32 for a pair, 300 by 300 texts would have about one collision.
  const DISTANCES = [4, 8, 12, 16, 20, 24, 28, 32, 36, 48];

  test.each(Array.from({ length: 16 }, (_, offset) => offset))('%d characters into a line', (offset) => {
    for (const distance of DISTANCES) {
      const count = distance === 16 ? 300 : 40;
      const lines = function* (): Generator<string> {
        for (let s = 0; s < count; s++)
          for (let o = 0; o < count; o++) yield `${'<'.repeat(offset)}${number(s)}${'-'.repeat(distance - 4)}${number(o)}`;
      };
      expect(`${distance}: ${collisions(lines())}`).toBe(`${distance}: 0`);
    }
  });

  test('in statements of a few subjects, predicates and many objects, with any seed', () => {
    const lines = function* (): Generator<string> {
      for (let s = 10; s < 40; s++)
        for (let p = 0; p < 9; p++) for (let o = 100; o < 600; o++) yield `<http://e/t${s}> <http://e/t${p}> <http://e/t${o}> .\n`;
    };
    for (let seed = 0; seed < 2; seed++) expect(collisions(lines(), Math.imul(seed, 0x9e3779b1))).toBe(0);
  });
});

test('padding differs from characters of a text', () => {
  const texts = Array.from({ length: 64 }, (_, length) => 'x'.repeat(length)).flatMap((text) => [text, `${text}\0`, `${text}\0\0`]);
  expect(collisions(texts)).toBe(0);
});

test('the parts of a pair are distinguished', () => {
  const seen = new Set<string>();
  for (const [first, second] of [
    ['ab', 'c'],
    ['a', 'bc'],
    ['', 'abc'],
    ['abc', ''],
    ['c', 'ab'],
  ]) {
    hashPair(first as string, second as string, SEED);
    seen.add(`${h1} ${h2} ${h3} ${h4}`);
  }
  expect(seen.size).toBe(5);
});

test('a filter has what was added, and hardly anything else', () => {
  const filter = new TextFilter();
  expect(filter.isEmpty).toBe(true);
  for (let i = 0; i < 100_000; i++) filter.add(`<http://example.org/${i}>`);
  expect(filter.isEmpty).toBe(false);
  let others = 0;
  for (let i = 0; i < 100_000; i++) {
    if (!filter.has(`<http://example.org/${i}>`)) throw new Error(`${i} is missing`);
    if (filter.has(`<http://example.org/x${i}>`)) others++;
  }
  expect(others).toBeLessThan(200);
});
