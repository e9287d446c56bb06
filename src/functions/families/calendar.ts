/** Sums, differences, parts and comparisons of dates and times, which are read as `xsd:date` and `xsd:dateTime`. */
import { excerpt } from '../../core/fault.ts';
import { difference, epochMs, isoText, type Moment, momentAt, offsetText, plus, readIso } from '../dates/moment.ts';
import { dates } from '../dates/parameters.ts';
import { writeByPattern } from '../dates/pattern.ts';
import { define } from '../define.ts';
import { DataError, type FunctionDefinition } from '../definition.ts';
import { checked, gives, grel, optional, qm } from '../names.ts';

const PARTS: Readonly<Record<string, (moment: Moment) => number | string | null>> = {
  year: ({ year }) => year,
  month: ({ month }) => month,
  day: ({ day }) => day,
  hour: ({ hour }) => hour,
  minute: ({ minute }) => minute,
  second: ({ second }) => second,
  millisecond: ({ fraction }) => Number(fraction.slice(0, 3).padEnd(3, '0')),
  week: weekOfYear,
  weekday: (moment) => writeByPattern(moment, 'EEEE'),
  quarter: ({ month }) => Math.ceil(month / 3),
  dayofyear: (moment) => Number(writeByPattern(moment, 'D')),
  offset: ({ offset }) => (offset === undefined ? null : offsetText(offset)),
  time: (moment) => epochMs(moment),
};

/** Names of other engines for the same parts. */
const ALSO: Readonly<Record<string, string>> = {
  years: 'year',
  months: 'month',
  days: 'day',
  d: 'day',
  hours: 'hour',
  h: 'hour',
  minutes: 'minute',
  min: 'minute',
  seconds: 'second',
  sec: 'second',
  s: 'second',
  milliseconds: 'millisecond',
  ms: 'millisecond',
  weeks: 'week',
  w: 'week',
};

/** ISO 8601: the first week has the first Thursday. */
function weekOfYear(moment: Moment): number {
  const day = new Date(epochMs({ ...moment, offset: undefined, hour: 12 }));
  const thursday = new Date(day.getTime() + (4 - (day.getUTCDay() || 7)) * 86_400_000);
  return Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 604_800_000) + 1;
}

function readerOf(unit: string): (moment: Moment) => number | string | null {
  const name = unit.trim().toLowerCase();
  const known = ALSO[name] ?? name;
  const reader = Object.hasOwn(PARTS, known) ? PARTS[known] : undefined;
  if (reader === undefined)
    throw new DataError(`${excerpt(unit)} is not a part of a date`, `Expected one of ${Object.keys(PARTS).join(', ')}.`);
  return reader;
}

function isIso(text: string): boolean {
  try {
    readIso(text);
    return true;
  } catch {
    return false;
  }
}

export const CALENDAR: readonly FunctionDefinition[] = [
  define({
    names: ['grel:date_diff'],
    does: 'The number of whole units from the second date to the first: years, months, weeks, days, hours, minutes, seconds or milliseconds.',
    takes: [dates.dateTime, dates.dateTime2, dates.timeUnit],
    gives: gives.grelString,
    fails: true,
    call: (a, b, unit) => difference(readIso(a), readIso(b), unit),
    examples: [
      [['2024-03-01', '2024-02-01', 'days'], '29'],
      [['2024-01-31', '2024-02-29', 'months'], '0'],
      [['2024-01-01T00:00:00Z', '2024-01-01T02:30:00+01:00', 'hours'], '-1'],
      [['2020-02-29', '2000-03-01', 'years'], '19'],
      [['2020', '2000-03-01', 'years'], { fails: '"2020" is not a date' }],
      [['2020-01-01', '2000-03-01', 'eons'], { fails: '"eons" is not a unit' }],
    ],
  }),
  define({
    names: ['grel:date_inc'],
    does: 'A date or time moved by `n` units. Months and years keep the day, or take the last of the month.',
    takes: [dates.date, grel.number, dates.unit],
    gives: gives.grelDate,
    call: (text, count, unit) => isoText(plus(readIso(text), count, unit)),
    examples: [
      [['2024-01-31', 1, 'months'], '2024-02-29'],
      [['2024-02-29', -1, 'year'], '2023-02-28'],
      [['2024-12-31T23:30:00+01:00', 45, 'minutes'], '2025-01-01T00:15:00+01:00'],
      [['2024-12-31', 2, 'weeks'], '2025-01-14'],
      [['2024-12-31', 1, 'eon'], { fails: '"eon" is not a unit' }],
    ],
  }),
  define({
    names: ['grel:date_datePart'],
    does: `A part of a date or time: ${Object.keys(PARTS).join(', ')}.`,
    takes: [dates.date, checked(grel.unit, readerOf)],
    gives: gives.grelAny,
    fails: true,
    call: (text, unit) => readerOf(unit)(readIso(text)),
    examples: [
      [['2024-02-29T13:05:00Z', 'month'], '2'],
      [['2024-12-30', 'week'], '1'],
      [['2024-02-29', 'weekday'], 'Thursday'],
      [['2024-02-29', 'offset'], null],
      [['2024-02-29', 'x'], { fails: '"x" is not a part' }],
    ],
  }),
  define({
    names: ['qm:isDate'],
    does: 'Whether the text is an `xsd:date` or `xsd:dateTime`.',
    takes: [qm.value],
    gives: gives.boolean,
    call: isIso,
    examples: [
      [['2024-02-29'], 'true'],
      [['2023-02-29'], 'false'],
      [['é'], 'false'],
    ],
  }),
  define({
    names: ['qm:isBefore'],
    does: 'Whether the first date or time is earlier than the second. Without an offset it is one of UTC.',
    takes: [qm.value, qm.other],
    gives: gives.boolean,
    fails: true,
    call: (a, b) => epochMs(readIso(a)) < epochMs(readIso(b)),
    examples: [
      [['2024-01-01', '2024-01-02'], 'true'],
      [['2024-01-01T01:00:00+02:00', '2023-12-31T23:00:00Z'], 'false'],
      [['x', '2024-01-02'], { fails: 'not a date' }],
    ],
  }),
  define({
    names: ['qm:isAfter'],
    does: 'Whether the first date or time is later than the second. Without an offset it is one of UTC.',
    takes: [qm.value, qm.other],
    gives: gives.boolean,
    fails: true,
    call: (a, b) => epochMs(readIso(a)) > epochMs(readIso(b)),
    examples: [
      [['2024-01-02', '2024-01-01'], 'true'],
      [['2024-01-01', '2024-01-01'], 'false'],
    ],
  }),
  define({
    names: ['qm:age'],
    does: 'The number of whole years from a date to another; to the start of the run if that is left out.',
    takes: [qm.value, optional(qm.other)],
    gives: gives.integer,
    random: true,
    fails: true,
    call: (from, to, chance) => difference(to === undefined ? momentAt(chance.startedAt, 0) : readIso(to), readIso(from), 'years'),
    examples: [
      [['2000-01-03', '2024-01-02'], '23'],
      [['2000-01-01'], '24'],
    ],
  }),
];
