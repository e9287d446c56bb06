/** Formats of numbers, booleans, dates and times, as CSVW writes them. */
import { describe, expect, test } from '@jest/globals';
import { booleanFormatOf, compileFormat, type NumberFormat, partsOfDate } from '../../../../src/core/input/csv-format.ts';

describe('numbers', () => {
  test.each<[Omit<NumberFormat, 'kind'>, string, string | undefined]>([
    [{}, '12', '12'],
    [{}, '-1.50', '-1.50'],
    [{}, '+.5', '0.5'],
    [{}, '1e3', '1E3'],
    [{}, '50%', '0.50'],
    [{}, '5‰', '0.005'],
    [{}, 'INF', 'INF'],
    [{}, '1,000', undefined],
    [{}, '', undefined],
    [{}, '.', undefined],
    [{}, '1 2', undefined],
    [{ decimalChar: ',', groupChar: '.' }, '1.234.567,89', '1234567.89'],
    [{ decimalChar: ',' }, '1.5', undefined],
    [{ groupChar: ' ' }, '1  000', undefined],
    [{ pattern: '#,##0.00' }, '1,234.50', '1234.50'],
    [{ pattern: '#,##0.00' }, '0.50', '0.50'],
    [{ pattern: '#,##0.00' }, '.50', undefined],
    [{ pattern: '#,##0.00' }, '1234.50', undefined],
    [{ pattern: '#,##0.00' }, '1,234.5', undefined],
    [{ pattern: '#,##0.00' }, '12,34.50', undefined],
    [{ pattern: '#,##0.00', decimalChar: ',', groupChar: '.' }, '1.234,50', '1234.50'],
    [{ pattern: '000' }, '007', '007'],
    [{ pattern: '000' }, '07', undefined],
    [{ pattern: '0.##' }, '3', '3'],
    [{ pattern: '0.##' }, '3.141', undefined],
    [{ pattern: '0.###E0' }, '1.5E3', '1.5E3'],
    [{ pattern: '0%' }, '7%', '0.07'],
    [{ pattern: '0%' }, '7', undefined],
  ])('%j of %s', (format, text, lexical) => {
    expect(compileFormat({ kind: 'number', ...format })?.(text)).toBe(lexical);
  });

  test.each(['', 'abc', '#,', ',##0', '#,,##0', '0.0.0', '0#', '0 %'])('a pattern that is none: %s', (pattern) => {
    expect(compileFormat({ kind: 'number', pattern })).toBeUndefined();
  });

  test('one character cannot be both', () => {
    expect(compileFormat({ kind: 'number', decimalChar: ',', groupChar: ',' })).toBeUndefined();
  });
});

describe('dates and times', () => {
  test.each([
    ['yyyy-MM-dd', '2026-11-22', '2026-11-22'],
    ['yyyyMMdd', '20261122', '2026-11-22'],
    ['d.M.yyyy', '1.2.2026', '2026-02-01'],
    ['dd.MM.yyyy', '1.2.2026', undefined],
    ['M/d/yyyy', '2/1/2026', '2026-02-01'],
    ['d.M.yyyy', '29.2.2024', '2024-02-29'],
    ['d.M.yyyy', '29.2.1900', undefined],
    ['d.M.yyyy', '31.4.2026', undefined],
    ['d.M.yyyy', '1.13.2026', undefined],
    ['d.M.yyyy', '1x2x2026', undefined],
    ['HH:mm', '09:30', '09:30:00'],
    ['HHmmss', '093015', '09:30:15'],
    ['HH:mm', '24:00', undefined],
    ['HH:mm:ss.SSS', '09:30:15.25', '09:30:15.25'],
    ['HH:mm:ss.S', '09:30:15.25', undefined],
    ['yyyy-MM-ddTHH:mm', '2026-11-22T09:30', '2026-11-22T09:30:00'],
    ['d.M.yyyy HH:mm', '22.11.2026 09:30', '2026-11-22T09:30:00'],
    ['yyyy-MM-ddX', '2026-11-22+01', '2026-11-22+01:00'],
    ['yyyy-MM-dd XXX', '2026-11-22 Z', '2026-11-22Z'],
    ['yyyy-MM-ddTHH:mm:ssXX', '2026-11-22T09:30:15-0130', '2026-11-22T09:30:15-01:30'],
    ['yyyy-MM-ddTHH:mm:ssxxx', '2026-11-22T09:30:15Z', undefined],
  ])('%s of %s', (pattern, text, lexical) => {
    expect(compileFormat({ kind: 'date', pattern })?.(text)).toBe(lexical);
  });

  test.each(['yy-MM-dd', 'dd.MM', 'yyyy-MM-dd HH', 'EEE', '', 'yyyy-MM-ddXx', 'HH:mm yyyy-MM-dd'])(
    'a pattern that is none: %s',
    (pattern) => {
      expect([partsOfDate(pattern), compileFormat({ kind: 'date', pattern })]).toEqual([undefined, undefined]);
    },
  );
});

test('booleans have two texts', () => {
  const format = booleanFormatOf('J|N');
  expect(format && ['J', 'N', 'j', ''].map(compileFormat(format) as (text: string) => string | undefined)).toEqual([
    'true',
    'false',
    undefined,
    undefined,
  ]);
  expect(['J', 'J|', '|N', 'J|J', 'J|N|?'].map(booleanFormatOf)).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
