/** The lists of a join index have each text once, in whatever order texts come. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { Multimap } from '../../../src/spill/multimap.ts';
import { SpillSpace } from '../../../src/spill/space.ts';

const open = (budget = new MemoryBudget(2 ** 30)): Multimap =>
  new Multimap(budget, new SpillSpace(join(tmpdir(), 'quadmill-never-written')), 7);

describe('a multimap', () => {
  test.each([
    ['one text', ['a'], 'a'],
    ['a text that is repeated', ['a', 'a', 'a'], 'a'],
    ['texts in order', ['1', '2', '9', '10', '11', '100'], ['1', '2', '9', '10', '11', '100']],
    ['texts in order, each repeated', ['1', '1', '2', '2', '10', '10'], ['1', '2', '10']],
    ['the first one again, after others', ['1', '2', '3', '1'], ['1', '2', '3']],
    ['one in the middle again, after others', ['1', '2', '3', '2'], ['1', '2', '3']],
    ['a longer one before a shorter one', ['10', '9', '10', '9', '8'], ['10', '9', '8']],
    ['order that ends, and begins again', ['1', '5', '3', '4', '5', '6', '3', '1'], ['1', '5', '3', '4', '6']],
    ['an empty text', ['', 'a', ''], ['', 'a']],
    ['bytes beyond ASCII', ['\xc3\xa9', 'zz', '\xc3\xa9'], ['\xc3\xa9', 'zz']],
  ])('keeps each text once: %s', (_, texts, expected) => {
    const map = open();
    for (const text of texts) map.add('key', text);
    expect(map.get('key')).toEqual(expected);
  });

  test('agrees with sets, for keys whose texts are in order or not', () => {
    const map = open();
    const truth = new Map<string, Set<string>>();
    let random = 1;
    const below = (n: number): number => {
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      return Math.floor((random / 2 ** 32) * n);
    };
    for (let i = 0; i < 20_000; i++) {
      const key = `k${below(50)}`;
      // Of every third key, most texts come in order.
      const text = String(Number(key.slice(1)) % 3 === 0 && below(200) > 0 ? i >> 2 : below(500));
      map.add(key, text);
      truth.set(key, (truth.get(key) ?? new Set<string>()).add(text));
    }
    for (const [key, texts] of truth) expect(map.get(key)).toEqual([...texts]);
    const lists = [...truth.keys()].map((key) => map.get(key) as readonly string[]);
    expect(lists.map((list) => map.list(map.numberOf(list)))).toEqual(lists);
  });

  test('takes memory for a set only where texts are out of order', () => {
    const fill = (texts: readonly number[]): number => {
      const budget = new MemoryBudget(2 ** 30);
      const map = open(budget);
      for (const text of texts) map.add('key', String(text));
      const { usedBytes } = budget;
      map.clear();
      expect(budget.usedBytes).toBe(0);
      return usedBytes;
    };
    const ascending = Array.from({ length: 50_000 }, (_, i) => i);
    expect(fill(ascending.toReversed())).toBeGreaterThan(fill(ascending) + 50_000 * 16);
  });
});
