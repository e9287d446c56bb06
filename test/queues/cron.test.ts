/** Cron expressions: both forms, days of the week, refusals, changes of summer time. */
import { describe, expect, test } from '@jest/globals';
import { cronOfOptions, nextTick, parseCron } from '../../queues/cron.ts';
import { parseOption } from '../../src/config/parse.ts';
import type { Fault } from '../../src/core/fault.ts';

const NEW_YEAR = new Date('2098-01-01T00:00:00Z');
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const next = (text: string, count = 3, zone = 'UTC', after = new Date(NEW_YEAR.getTime() - 1)): string[] =>
  parseCron(text, zone)
    .next(count, after)
    .map((time) => time.toISOString().replace('.000Z', ''));

describe('ticks at', () => {
  test.each<[string, string[]]>([
    ['* * * * *', ['2098-01-01T00:00:00', '2098-01-01T00:01:00', '2098-01-01T00:02:00']],
    ['30 2 * * *', ['2098-01-01T02:30:00', '2098-01-02T02:30:00', '2098-01-03T02:30:00']],
    ['*/20 8-9 * * *', ['2098-01-01T08:00:00', '2098-01-01T08:20:00', '2098-01-01T08:40:00']],
    ['0 12 1 jan,JUL *', ['2098-01-01T12:00:00', '2098-07-01T12:00:00', '2099-01-01T12:00:00']],
    ['* * * * * ?', ['2098-01-01T00:00:00', '2098-01-01T00:00:01', '2098-01-01T00:00:02']],
    ['* * * * * *', ['2098-01-01T00:00:00', '2098-01-01T00:00:01', '2098-01-01T00:00:02']],
    ['  0   0/15 10 * * ?  ', ['2098-01-01T10:00:00', '2098-01-01T10:15:00', '2098-01-01T10:30:00']],
    ['0 0 12 L * ?', ['2098-01-31T12:00:00', '2098-02-28T12:00:00', '2098-03-31T12:00:00']],
    ['0 0 12 1 1 ? 2099', ['2099-01-01T12:00:00']],
    ['0 0 12 1 1 ? 2098-2099', ['2098-01-01T12:00:00', '2099-01-01T12:00:00']],
    ['0 0 22-1 1 1 ?', ['2098-01-01T00:00:00', '2098-01-01T01:00:00', '2098-01-01T22:00:00']],
  ])('%s', (text, times) => {
    expect(next(text)).toEqual(times);
  });

  test.each<[string, string[]]>([
    ['0 0 * * 0', ['SUN']],
    ['0 0 * * 7', ['SUN']],
    ['0 0 * * 1-5', ['MON', 'TUE', 'WED', 'THU', 'FRI']],
    ['0 0 * * MON-FRI', ['MON', 'TUE', 'WED', 'THU', 'FRI']],
    ['0 0 * * FRI-SUN', ['FRI', 'SAT', 'SUN']],
    ['0 0 0 ? * 1', ['SUN']],
    ['0 0 0 ? * 7', ['SAT']],
    ['0 0 0 ? * L', ['SAT']],
    ['0 0 0 ? * 2-6', ['MON', 'TUE', 'WED', 'THU', 'FRI']],
    ['0 0 0 ? * mon-fri', ['MON', 'TUE', 'WED', 'THU', 'FRI']],
    ['0 0 0 ? * FRI-MON', ['FRI', 'SAT', 'SUN', 'MON']],
    ['0 0 0 ? * MON-SUN', DAYS],
    ['0 0 0 ? * SUN,3', ['SUN', 'TUE']],
    ['0 0 0 ? * 6L', ['FRI']],
    ['0 0 0 ? * 6#3', ['FRI']],
    ['0 0 0 ? * TUE#1', ['TUE']],
  ])('%s is on %j', (text, days) => {
    const found = new Set(
      parseCron(text, 'UTC')
        .next(21, NEW_YEAR)
        .map((time) => DAYS[time.getUTCDay()]),
    );
    expect([...found].sort()).toEqual([...days].sort());
  });

  test.each<[string, (date: Date) => boolean]>([
    ['0 0 0 ? * 6L', (date) => date.getUTCDate() > 21],
    ['0 0 0 ? * 6#3', (date) => date.getUTCDate() > 14 && date.getUTCDate() <= 21],
    ['0 0 0 LW * ?', (date) => ![0, 6].includes(date.getUTCDay()) && date.getUTCDate() >= 26],
    ['0 0 0 15W * ?', (date) => ![0, 6].includes(date.getUTCDay()) && Math.abs(date.getUTCDate() - 15) <= 1],
  ])('%s is there each month', (text, holds) => {
    const times = parseCron(text, 'UTC').next(24, NEW_YEAR);
    expect(new Set(times.map((time) => time.toISOString().slice(0, 7))).size).toBe(24);
    expect(times.filter((time) => !holds(time))).toEqual([]);
  });

  test('Unix matches either of two fields that both choose days', () => {
    const times = parseCron('0 0 13 * 5', 'UTC').next(10, NEW_YEAR);
    expect(times.filter((time) => time.getUTCDate() !== 13 && time.getUTCDay() !== 5)).toEqual([]);
    expect(times.some((time) => time.getUTCDate() === 13 && time.getUTCDay() !== 5)).toBe(true);
  });

  test.each<[string, string, string, string[]]>([
    [
      'a time that a change to summer time skips comes right after the change',
      '0 30 2 * * ?',
      '2027-03-27T12:00:00Z',
      ['2027-03-28T01:00:00', '2027-03-29T00:30:00'],
    ],
    ['a time that comes twice ticks once', '0 30 2 * * ?', '2027-10-30T12:00:00Z', ['2027-10-31T00:30:00', '2027-11-01T01:30:00']],
    ['the hour is that of the zone', '0 12 * * *', '2027-01-01T00:00:00Z', ['2027-01-01T11:00:00', '2027-01-02T11:00:00']],
  ])('%s', (_, text, after, times) => {
    expect(next(text, 2, 'Europe/Zurich', new Date(after))).toEqual(times);
  });
});

describe('refuses', () => {
  test.each<[string, RegExp]>([
    ['', /0 fields/],
    ['* * * *', /has 4 fields: expected are 5 \(Unix\) or 6 or 7 \(Quartz\)/],
    ['* * * * * * * *', /8 fields/],
    ['@daily', /1 field:/],
    ['60 * * * *', /field 1 \(minutes\) is "60", expected are 0 to 59/],
    ['0 24 * * *', /field 2 \(hours\)/],
    ['0 0 * 13 *', /field 4 \(month\)/],
    ['0 0 * * 8', /field 5 \(day of week\) is "8", expected are 0 to 7/],
    ['61 0 0 * * ?', /field 1 \(seconds\)/],
    ['0 0 25 * * ?', /field 3 \(hours\) is "25", expected are 0 to 23/],
    ['0 0 0 32 * ?', /field 4 \(day of month\)/],
    ['0 0 0 L-3 * ?', /field 4 \(day of month\) is "L-3"/],
    ['0 0 0 1 JANUARY ?', /field 5 \(month\) is "JANUARY"/],
    ['0 0 0 ? * 0', /field 6 \(day of week\) is "0", expected are 1 to 7 \(1 is Sunday\)/],
    ['0 0 0 ? * 8', /field 6 \(day of week\)/],
    ['0 0 0 ? * FRY', /field 6 \(day of week\)/],
    ['0 0 0 ? * 2#6', /field 6 \(day of week\)/],
    ['? 0 0 1 * ?', /field 1 \(seconds\)/],
    ['0 0/0 0 * * ?', /field 2 \(minutes\)/],
    ['0 0 0 1 1 ? 1969', /field 7 \(year\)/],
    ['0 0 0 13 * 6', /fields 4 \(day of month\) and 6 \(day of week\) both choose days/],
    ['0 0 0 31 2 ?', /never/],
    ['0 0 31 2 *', /never/],
    ['0 0 0 1 1 ? 2020', /never/],
  ])('%j', (text, message) => {
    expect(() => parseCron(text, 'UTC')).toThrow(message);
    try {
      parseCron(text, 'UTC');
    } catch (error) {
      expect((error as Fault).code).toBe('request/invalid');
    }
  });

  test('a CRON or CRON_TIMEZONE that is wrong, as an option', () => {
    expect(() => cronOfOptions({ CRON: 'daily', CRON_TIMEZONE: undefined })).toThrow(expect.objectContaining({ code: 'config/invalid' }));
    expect(() => parseOption('CRON_TIMEZONE', 'Europe/Atlantis')).toThrow(/CRON_TIMEZONE.*"Europe\/Atlantis".*IANA/);
    expect(parseOption('CRON_TIMEZONE', 'Europe/Zurich')).toBe('Europe/Zurich');
    expect(cronOfOptions({ CRON: '0 2 * * *', CRON_TIMEZONE: 'Europe/Zurich' })).toEqual({ cron: '0 2 * * *', timezone: 'Europe/Zurich' });
    expect(cronOfOptions({ CRON: undefined, CRON_TIMEZONE: undefined })).toBeUndefined();
  });
});

test('the tick after a tick is a later one, and after the last year there is none', () => {
  const second = { pattern: '* * * * * ?', tz: 'UTC' };
  expect(nextTick(NEW_YEAR.getTime(), second)).toBe(NEW_YEAR.getTime() + 1_000);
  expect(nextTick(NEW_YEAR.getTime() - 1, second)).toBe(NEW_YEAR.getTime());
  expect(nextTick(Date.parse('2099-12-31T23:59:59Z'), { pattern: '0 0 0 1 1 ? 2099', tz: 'UTC' })).toBeUndefined();
});
