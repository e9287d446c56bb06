import { describe, expect, test } from '@jest/globals';
import { DistinctValues } from '../../../../src/sources/parquet/distinct-values.ts';
import { isKey } from '../../../../src/sources/parquet/keys.ts';
import { Random } from '../../../support/random.ts';
import { READING } from './reading.ts';
import { type Column, parquet } from './writing.ts';

const allNew = (values: readonly (number | bigint | string)[], memoryBytes = 0): boolean => {
  const distinct = new DistinctValues(memoryBytes);
  return values.every((value) => distinct.add(value));
};

const isKeyOf = (reference: string, columns: readonly Column[], rowGroupSize = 100): Promise<boolean> => {
  const bytes = parquet(columns, { rowGroupSize });
  const ranges = { sizeBytes: bytes.length, read: async (from: number, to: number) => Buffer.from(bytes.subarray(from, to)) };
  return isKey(reference, { ...READING, ranges }, 0, new AbortController().signal);
};

const column = (type: string, data: readonly unknown[]): Column => ({ name: 'c', type: type as NonNullable<Column['type']>, data });

describe('values that are all different', () => {
  test.each<[name: string, values: readonly (number | bigint | string)[], expected: boolean]>([
    ['ascending', [-5, 0, 3, 70_000], true],
    ['in any order', [70_000, -5, 3, 0, -70_000], true],
    ['one twice', [3, 70_000, -5, 3], false],
    ['far apart and ascending', Array.from({ length: 2_000 }, (_, i) => i * 1_000_000), true],
    ['far apart in any order', Array.from({ length: 2_000 }, (_, i) => ((i * 7) % 2_000) * 1_000_000), false],
    ['one twice after too many far apart', [...Array.from({ length: 2_000 }, (_, i) => i * 1_000_000), 5_000_000], false],
    ['one twice before too many far apart', [5, 5, 1_000_000], false],
    ['beyond what a double holds', [1, 2n ** 60n, 2n ** 60n + 1n], true],
    ['equal beyond what a double holds', [1, 2n ** 60n, 2n ** 60n], false],
    ['negative after a large one', [-1, 2n ** 60n, 5], false],
    ['ascending texts', ['a', 'ab', 'b'], true],
    ['equal texts', ['a', 'a'], false],
    ['texts that do not ascend', ['b', 'a'], false],
  ])('%s', (_, values, expected) => {
    expect(allNew(values)).toBe(expected);
  });

  test('texts in any order, as far as their hashes fit in memory', () => {
    const texts = Array.from({ length: 10_000 }, (_, i) => `n${(i * 7919) % 10_000}`);
    expect(allNew(texts, 2 ** 20)).toBe(true);
    expect(allNew([...texts, 'n5'], 2 ** 20)).toBe(false);
    expect(allNew([...texts, 'm'], 2 ** 17)).toBe(false);
    expect(allNew([...texts].sort(), 2 ** 17)).toBe(true);
    expect(allNew([...[...texts].sort(), 'a'], 2 ** 17)).toBe(false);
  });

  test('never calls numbers different that are not', () => {
    const random = new Random(61);
    for (let run = 0; run < 300; run++) {
      const step = random.pick([1, 1, 500, 1_000_000]);
      const values = Array.from({ length: random.between(1, 900) }, (_, i) => (random.chance(0.999) ? i : random.between(0, i)) * step);
      if (random.chance(0.3)) values.reverse();
      if (allNew(values)) expect(new Set(values).size).toBe(values.length);
      else if (step < 1_000_000) expect(new Set(values).size).toBeLessThan(values.length);
    }
  });
});

describe('keys of a file', () => {
  const ids = Array.from({ length: 250 }, (_, i) => i);

  test.each<[name: string, column: Column, expected: boolean]>([
    ['integers over several row groups', column('INT32', ids), true],
    ['with nulls', column('INT32', [null, ...ids, null]), true],
    ['one of another row group again', column('INT32', [...ids, 3]), false],
    ['texts', column('STRING', ['a', 'ä', 'ö']), true],
    ['texts in another order', column('STRING', ['b', 'a']), false],
    ['integers of 64 bits', column('INT64', [5n, 2n ** 60n]), true],
    ['doubles, of which two may be written alike', column('DOUBLE', [1, 2]), false],
    ['booleans', column('BOOLEAN', [true, false]), false],
  ])('%s', async (_, one, expected) => {
    expect(await isKeyOf('c', [one])).toBe(expected);
  });

  test('one column of several', async () => {
    const columns = [
      { name: 'a', type: 'INT32' as const, data: [1, 1] },
      { name: 'b', type: 'INT32' as const, data: [2, 1] },
    ];
    expect(await isKeyOf('b', columns)).toBe(true);
    expect(await isKeyOf('a', columns)).toBe(false);
  });
});
