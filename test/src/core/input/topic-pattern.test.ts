import { describe, expect, test } from '@jest/globals';
import { matchesTopic } from '../../../../src/core/input/topic-pattern.ts';
import { Random } from '../../../support/random.ts';

describe('patterns of topics', () => {
  test.each([
    ['orders', 'orders', true],
    ['orders', 'orders2', false],
    ['orders*', 'orders', true],
    ['*.orders', 'shop.orders', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*', '__consumer_offsets', false],
    ['__*', '__consumer_offsets', true],
    ['a**b', 'ab', true],
  ])('%s and %s: %s', (pattern, topic, expected) => expect(matchesTopic(pattern, topic)).toBe(expected));

  test('match as regular expressions do', () => {
    const random = new Random(11);
    const text = (letters: string): string => Array.from({ length: random.between(0, 7) }, () => random.pick([...letters])).join('');
    for (let i = 0; i < 20_000; i++) {
      const [pattern, topic] = [text('ab*'), text('ab')];
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(topic);
      expect([pattern, topic, matchesTopic(pattern, topic)]).toEqual([pattern, topic, expected]);
    }
  });
});
