/** Patterns, zones, and sums of dates. */
import { describe, expect, test } from '@jest/globals';
import { dateTimeText, difference, isoText, plus, readIso } from '../../../src/functions/dates/moment.ts';
import { readByPattern, writeByPattern } from '../../../src/functions/dates/pattern.ts';
import { inZone, offsetAt, toZone } from '../../../src/functions/dates/zone.ts';

describe('reading by a pattern', () => {
  test.each([
    ['20220124', 'yyyyMMdd', '2022-01-24T00:00:00'],
    ['2022-1-4', 'y-M-d', '2022-01-04T00:00:00'],
    ['01-Apr-20', 'dd-MMM-yy', '2020-04-01T00:00:00'],
    ['Sept. 5, 2020', "MMM'.' d, yyyy", undefined],
    ['SEP 5, 2020', 'MMM d, yyyy', '2020-09-05T00:00:00'],
    ['Mon, 3 Feb 2020 11:05:30 GMT', 'EEE, d MMM yyyy HH:mm:ss z', '2020-02-03T11:05:30Z'],
    ['2020-02-03T11:05:30.125+02:00', "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", '2020-02-03T11:05:30.125+02:00'],
    ['2020-02-03 11:05:30.1234567', 'yyyy-MM-dd HH:mm:ss.SSSSSSS', '2020-02-03T11:05:30.1234567'],
    ['12:30 PM 1/2/2020', 'hh:mm a d/M/yyyy', '2020-02-01T12:30:00'],
    ['12:30 a.m. 1/2/2020', 'hh:mm a d/M/yyyy', '2020-02-01T00:30:00'],
    ['24:05 1/2/2020', 'kk:mm d/M/yyyy', '2020-02-01T00:05:00'],
    ["5 o'clock 2020", "H 'o''clock' yyyy", '2020-01-01T05:00:00'],
    ['2020.366', 'yyyy.DDD', '2020-12-31T00:00:00'],
    ['2019.366', 'yyyy.DDD', undefined],
    ['2020-02-03', 'yyyy-MM-dd[ HH:mm]', '2020-02-03T00:00:00'],
    ['2020-02-03 10:20', 'yyyy-MM-dd[ HH:mm]', '2020-02-03T10:20:00'],
    ['3.2.2020 (a+b)', "d.M.yyyy '(a+b)'", '2020-02-03T00:00:00'],
    ['2020-02-30', 'yyyy-MM-dd', undefined],
    ['2020-02-03 24:00', 'yyyy-MM-dd HH:mm', undefined],
    ['2020-2-3', 'yyyy-MM-dd', undefined],
    ['03/Feb/2020:11:05:30 -0700', 'dd/MMM/yyyy:HH:mm:ss Z', '2020-02-03T11:05:30-07:00'],
    ['3/2/2020 9:05', '%d/%m/%Y %H:%M', '2020-02-03T09:05:00'],
    ['Feb 03 2020 100%', '%b %d %Y 100%%', '2020-02-03T00:00:00'],
  ])('%s as %s', (text, pattern, expected) => {
    if (expected === undefined) expect(() => readByPattern(text, pattern)).toThrow();
    else expect(dateTimeText(readByPattern(text, pattern))).toBe(expected);
  });

  test.each([
    ['3. März 2021', 'd. MMMM yyyy', 'de', '2021-03-03'],
    ['3 déc. 2021', 'd MMM yyyy', 'fr', '2021-12-03'],
    ['3 dec 2021', 'd MMM yyyy', 'nl-BE', '2021-12-03'],
    ['lunes 6 de enero de 2020', "EEEE d 'de' MMMM 'de' yyyy", 'es', '2020-01-06'],
    ['Май 2020', 'LLLL yyyy', 'ru', '2020-05-01'],
    ['2020年2月3日', 'yyyy年M月d日', 'ja', '2020-02-03'],
  ])('%s as %s in %s', (text, pattern, language, expected) => {
    expect(dateTimeText(readByPattern(text, pattern, language)).slice(0, 10)).toBe(expected);
  });

  test.each(['yyyy-MM-dd[', 'yyyy b', 'yyyy W'])('the pattern %s is refused', (pattern) => {
    expect(() => readByPattern('2020-01-01', pattern)).toThrow(/pattern/i);
  });
});

describe('writing by a pattern gives what was read', () => {
  test.each([
    'yyyyMMdd HHmmss',
    'EEEE, d MMMM yyyy hh:mm:ss a',
    'D yyyy kk:mm:ss',
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    'dd/MMM/yy HH:mm:ss Z',
    'EEE MMM dd HH:mm:ss XX uuuu',
  ])('%s', (pattern) => {
    const moment = readIso('2024-02-29T15:04:05+05:30');
    const again = readByPattern(writeByPattern(moment, pattern), pattern);
    expect(dateTimeText({ ...again, offset: moment.offset })).toBe('2024-02-29T15:04:05+05:30');
    if (/[XZ]/.test(pattern)) expect(again.offset).toBe(330);
  });
});

describe('ISO 8601', () => {
  test.each([
    ['2024-02-29', '2024-02-29'],
    ['2024-02-29Z', '2024-02-29Z'],
    ['2024-02-29 10:20', '2024-02-29T10:20:00'],
    ['2024-02-29T10:20:30.5000-0300', '2024-02-29T10:20:30.5-03:00'],
    ['2024-12-31T24:00:00', '2025-01-01T00:00:00'],
    ['-0044-03-15', '-0044-03-15'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ])('%s is read as %s', (text, expected) => expect(isoText(readIso(text))).toBe(expected));

  test.each(['2023-02-29', '2024-13-01', '2024-01-01T25:00:00', '2024-01-01T10:60', '24-01-01', 'today', '2024-01-01T10:00+19:00'])(
    '%s is refused',
    (text) => {
      expect(() => readIso(text)).toThrow();
    },
  );
});

describe('zones', () => {
  test.each([
    ['Europe/Brussels', '2023-07-01T00:00:00Z', 120],
    ['Europe/Brussels', '2023-01-01T00:00:00Z', 60],
    ['America/St_Johns', '2023-01-01T00:00:00Z', -210],
    ['Asia/Kathmandu', '2023-01-01T00:00:00Z', 345],
    ['UTC', '2023-01-01T00:00:00Z', 0],
    ['Z', '2023-01-01T00:00:00Z', 0],
    ['GMT+2', '2023-01-01T00:00:00Z', 120],
    ['-03:30', '2023-01-01T00:00:00Z', -210],
  ])('%s at %s', (zone, instant, minutes) => expect(offsetAt(zone, Date.parse(instant))).toBe(minutes));

  test.each([
    ['2023-03-26T01:59:00', 60],
    ['2023-03-26T02:30:00', 60],
    ['2023-03-26T03:00:00', 120],
    ['2023-10-29T01:59:00', 120],
    ['2023-10-29T02:30:00', 120],
    ['2023-10-29T03:00:00', 60],
  ])('%s in Brussels', (local, minutes) => {
    expect(inZone(readIso(local), 'Europe/Brussels').offset).toBe(minutes);
  });

  test('the same instant in another zone', () => {
    expect(dateTimeText(toZone(readIso('2024-02-29T23:30:00.123456Z'), 'Asia/Tokyo'))).toBe('2024-03-01T08:30:00.123456+09:00');
  });
});

describe('sums', () => {
  test.each([
    ['2024-01-31', 1, 'months', '2024-02-29'],
    ['2024-01-31', -2, 'months', '2023-11-30'],
    ['2024-02-29', 4, 'years', '2028-02-29'],
    ['2024-12-31', 1, 'day', '2025-01-01'],
    ['2024-01-01', 36, 'hours', '2024-01-02T12:00:00'],
    ['2024-01-01T00:00:00.123456Z', 1, 'seconds', '2024-01-01T00:00:01.123456Z'],
    ['2024-01-01T00:00:00Z', 1.5, 'MINUTES', '2024-01-01T00:01:30Z'],
    ['2024-01-01T00:00:00Z', -1, 'ms', '2023-12-31T23:59:59.999Z'],
  ])('%s + %d %s', (text, count, unit, expected) => expect(isoText(plus(readIso(text), count, unit))).toBe(expected));

  test.each([
    ['2024-03-31', '2024-02-29', 'months', 1],
    ['2024-02-29', '2024-01-31', 'months', 0],
    ['2024-01-31', '2024-03-01', 'months', -1],
    ['2024-01-01T00:00:00Z', '2023-12-31T23:59:59.5Z', 'seconds', 0],
    ['2024-01-08', '2024-01-01', 'weeks', 1],
    ['2024-01-01T00:00:00+01:00', '2023-12-31T23:00:00Z', 'milliseconds', 0],
  ])('from %s back to %s in %s', (a, b, unit, expected) => expect(difference(readIso(a), readIso(b), unit)).toBe(expected));
});
