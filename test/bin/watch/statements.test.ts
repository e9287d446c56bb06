/** What two runs differ in: statements in order, with blank nodes told apart by what is stated of them. */
import { describe, expect, test } from '@jest/globals';
import { differenceOf, MAX_STATEMENTS, Statements } from '../../../bin/watch/statements.ts';
import { Fault } from '../../../src/core/fault.ts';
import { Random } from '../../support/random.ts';

const sorted = (...lines: readonly string[]): readonly string[] => {
  const statements = new Statements();
  if (lines.length > 0) statements.add(`${lines.join('\n')}\n`);
  return statements.sorted();
};

const changes = (before: readonly string[], after: readonly string[]): readonly string[] =>
  differenceOf(sorted(...before), sorted(...after), 100).lines;

test('statements that came and went stand beside each other, in order', () => {
  const [a, b, c] = ['<a> <p> "1" .', '<b> <p> "1" .', '<c> <p> "1" .'] as const;
  expect(changes([a, b], [c, b])).toEqual([`- ${a}`, `+ ${c}`]);
  expect(changes([a], [a])).toEqual([]);
  expect(changes([], [])).toEqual([]);
});

test('lines beyond the bound are counted alone', () => {
  const all = sorted('<a> <p> "1" .', '<a> <p> "2" .', '<a> <p> "3" .');
  expect(differenceOf([], all, 2)).toEqual({ lines: ['+ <a> <p> "1" .', '+ <a> <p> "2" .'], added: 3, removed: 0 });
});

test('text is shown as characters', () => {
  const bytes = Buffer.from('<a> <p> "Zürich" .').toString('latin1');
  expect(changes([], [bytes])).toEqual(['+ <a> <p> "Zürich" .']);
});

describe('blank nodes', () => {
  test.each<[name: string, before: readonly string[], after: readonly string[], changed: number]>([
    ['other labels', ['_:f_r0 <p> "1" .', '<a> <q> _:f_r0 .'], ['_:f_r7 <p> "1" .', '<a> <q> _:f_r7 .'], 0],
    [
      'a record in front shifts all labels',
      ['_:r0 <p> "b" .', '_:r1 <p> "c" .'],
      ['_:r0 <p> "a" .', '_:r1 <p> "b" .', '_:r2 <p> "c" .'],
      1,
    ],
    ['swapped values', ['_:x <p> "1" .', '_:x <q> "2" .'], ['_:x <p> "2" .', '_:x <q> "1" .'], 4],
    ['one of two alike goes', ['_:x <p> "1" .', '_:y <p> "1" .'], ['_:x <p> "1" .'], 1],
    ['graphs', ['<a> <p> "1" _:g .'], ['<a> <p> "1" _:h .'], 0],
    ['quoted triples', ['<< _:x <p> "1" >> <q> _:x .'], ['<< _:y <p> "1" >> <q> _:y .'], 0],
    ['quoted triples about another node', ['<< _:x <p> "1" >> <q> _:x .'], ['<< _:y <p> "1" >> <q> _:z .'], 2],
    ['a label within a literal is text', ['<a> <p> "_:x" .'], ['<a> <p> "_:y" .'], 2],
    [
      'which of two a node leads to',
      ['<a> <p> _:x .', '_:x <q> _:y .', '_:y <r> "1" .', '_:z <r> "2" .'],
      ['<a> <p> _:x .', '_:x <q> _:z .', '_:y <r> "1" .', '_:z <r> "2" .'],
      8,
    ],
  ])('%s', (_, before, after, changed) => {
    expect(changes(before, after)).toHaveLength(changed);
  });

  test('random graphs with other labels, in another order, are the same', () => {
    for (let seed = 0; seed < 50; seed++) {
      const random = new Random(seed);
      const nodes = Array.from({ length: random.between(1, 8) }, (_, i) => `_:n${i}`);
      const lines = Array.from({ length: random.between(1, 25) }, () => {
        const object = random.chance(0.5) ? random.pick(nodes) : `"${random.between(0, 3)}"`;
        return `${random.chance(0.8) ? random.pick(nodes) : '<a>'} <p${random.between(0, 2)}> ${object} .`;
      });
      const shuffled = lines.map((line) => ({ line, at: random.next() })).sort((a, b) => a.at - b.at);
      const other = shuffled.map(({ line }) => line.replace(/_:n(\d)/g, (_, n: string) => `_:m${(Number(n) * 7 + 3) % 11}`));
      expect(changes(lines, other)).toEqual([]);
      expect(changes([...lines, '_:n0 <new> "x" .'], other).length).toBeGreaterThan(0);
    }
  });
});

test('more than can be compared is refused', () => {
  const statements = new Statements();
  const many = Array.from({ length: MAX_STATEMENTS + 1 }, (_, i) => `<${i}> <p> "1" .\n`).join('');
  expect(() => statements.add(many)).toThrow(Fault);
});
