import { describe, expect, test } from '@jest/globals';
import { countRepeated } from '../../../../src/run/report.ts';

const many = (count: number, of: (i: number) => string): readonly string[] => Array.from({ length: count }, (_, i) => of(i));

describe('warnings of a run', () => {
  test.each<[name: string, given: readonly string[], expected: readonly string[]]>([
    ['stay as they are where none is repeated', ['a.ttl:1:2: warning: one', 'two', 'a.ttl:1:2: warning: three\n    hint'], []],
    [
      'that say the same at other places are counted in front of the hint',
      many(3, (i) => `dir/a b.ttl:${i + 1}:2: warning: rr:class has no effect\n    remove it`),
      ['dir/a b.ttl:1:2: warning: rr:class has no effect (3 times)\n    remove it'],
    ],
    [
      'of one kind are ten, whatever they name, and the others are counted',
      ['first of all', ...many(14, (i) => `m.ttl:${i}:1: person${i} gave no statement: it is empty`), 'last of all'],
      [
        'first of all',
        ...many(10, (i) => `m.ttl:${i}:1: person${i} gave no statement: it is empty`),
        '… and 4 more like these',
        'last of all',
      ],
    ],
    [
      'name other references and paths and are one kind',
      many(11, (i) => `m.ttl:1:${i}: warning: $.a[${i}] is no field of "x${i}" (record ${i})`),
      [...many(10, (i) => `m.ttl:1:${i}: warning: $.a[${i}] is no field of "x${i}" (record ${i})`), '… and 1 more like these'],
    ],
  ])('%s', (_, given, expected) => {
    const counted = countRepeated(given);
    expect(counted).toEqual(expected.length === 0 ? given : expected);
    expect(countRepeated(counted)).toEqual(counted);
  });
});
