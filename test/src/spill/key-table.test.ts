import { describe, expect, test } from '@jest/globals';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED } from '../../../src/spill/key-table.ts';

const wide = () => new MemoryBudget(2 ** 30);

describe('HashSet', () => {
  test('knows what was added, through many growths', () => {
    const set = new HashSet(wide(), 7);
    // An expectation for each text would take a hundred times as long as the set.
    const said = (): Set<unknown> => new Set(Array.from({ length: 50_000 }, (_, i) => set.add(`text ${i}`)));
    expect(said()).toEqual(new Set([NEW]));
    expect(said()).toEqual(new Set([KNOWN]));
  });

  test('tells texts apart that differ little', () => {
    const set = new HashSet(wide(), 1);
    const texts = [
      '',
      '\0',
      '\0\0',
      'a',
      'a\0',
      'b',
      'ab',
      'ba',
      'x'.repeat(16),
      'x'.repeat(17),
      `${'x'.repeat(15)}y`,
      `y${'x'.repeat(15)}`,
    ];
    for (const text of texts) expect(set.add(text)).toBe(NEW);
  });

  test('a set without room keeps what it knows and decides nothing else', () => {
    const set = new HashSet(new MemoryBudget(0), 3);
    let known = 0;
    while (set.add(`text ${known}`) === NEW) known++;
    expect(known).toBeGreaterThan(100);
    expect(set.add('text 0')).toBe(KNOWN);
    expect(set.add('never seen')).toBe(UNDECIDED);
  });

  test('dropping gives the memory back', () => {
    const budget = wide();
    const set = new HashSet(budget, 3);
    for (let i = 0; i < 10_000; i++) set.add(String(i));
    expect(budget.usedBytes).toBeGreaterThan(0);
    set.drop();
    expect(budget.usedBytes).toBe(0);
    expect(set.add('0')).toBe(NEW);
  });
});
