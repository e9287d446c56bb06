import { describe, expect, test } from '@jest/globals';
import { beginOf, type Growing } from '../../../../src/streams/polling/watermark.ts';

describe('a read begins below the largest value', () => {
  test.each<[string, Growing, number, string | undefined]>([
    ['17', 'number', 0, '17'],
    ['3', 'number', 5, '-2'],
    ['-3', 'number', 5, '-8'],
    ['1.05', 'number', 1, '0.05'],
    ['0.05', 'number', 1, '-0.95'],
    ['12345678901234567890.000000001', 'number', 1, '12345678901234567889.000000001'],
    ['2026-03-01', 'date', 60, '2026-02-28'],
    ['2026-03-01', 'date', 0, '2026-03-01'],
    ['2026-03-01 00:00:30.123456', 'time', 60, '2026-02-28 23:59:30.123456'],
    ['2026-03-01T00:00:30Z', 'time', 60, '2026-02-28T23:59:30Z'],
    ['2026-03-01 02:00:00+02', 'time', 7200, '2026-03-01 00:00:00+02'],
    ['2026-03-01 10:00', 'time', 30, '2026-03-01 09:59'],
    ['0001-01-01 00:00:00', 'time', 60, undefined],
  ])('%s, %s less %d: %s', (largest, growing, overlap, begin) => expect(beginOf(largest, growing, overlap, 'c')).toBe(begin));

  test.each<[string, Growing]>([
    ['infinity', 'time'],
    ['0000-00-00 00:00:00', 'time'],
    ['2026-02-30', 'time'],
    ['0044-03-15 00:00:00 BC', 'time'],
    ['\0i1700000000', 'time'],
    ['NaN', 'number'],
    ['\0tx', 'number'],
    ['1e+21', 'number'],
  ])('%j is refused', (largest, growing) =>
    expect(() => beginOf(largest, growing, 0, 'c')).toThrow(expect.objectContaining({ code: 'database/query', hint: expect.any(String) })),
  );
});
