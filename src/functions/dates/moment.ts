/** A date, perhaps with a time and an offset from UTC, in the proleptic Gregorian calendar. */
import { excerpt } from '../../core/fault.ts';
import { DataError } from '../definition.ts';

export interface Moment {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Digits behind the second, without zeros at the end. */
  readonly fraction: string;
  /** Minutes east of UTC; undefined: a local time. */
  readonly offset: number | undefined;
  readonly hasTime: boolean;
}

export const MIDNIGHT = { hour: 0, minute: 0, second: 0, fraction: '', offset: undefined } as const;

export const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
export const daysIn = (year: number, month: number): number => (month === 2 && isLeap(year) ? 29 : (DAYS[month - 1] ?? 0));

/** Milliseconds since 1970 of the moment as if it were in UTC: without its offset. */
export function localMs({ year, month, day, hour, minute, second, fraction }: Moment): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3).padEnd(3, '0')));
  return date.getTime();
}

/** Milliseconds since 1970; a moment without offset counts as UTC. */
export const epochMs = (moment: Moment): number => localMs(moment) - (moment.offset ?? 0) * 60_000;

/** The moment at `ms` since 1970, as clocks with `offset` minutes show it. @throws DataError — beyond the years that there are */
export function momentAt(ms: number, offset: number | undefined): Moment {
  const date = new Date(ms + (offset ?? 0) * 60_000);
  if (Number.isNaN(date.getTime())) throw new DataError(`${ms} milliseconds since 1970 is no time`);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    fraction: trimmed(String(date.getUTCMilliseconds()).padStart(3, '0')),
    offset,
    hasTime: true,
  };
}

export const trimmed = (fraction: string): string => fraction.replace(/0+$/, '');

/** @throws DataError — a field out of its range, such as the 30th of February */
export function checked(moment: Moment, text: string): Moment {
  const { year, month, day, hour, minute, second, offset = 0 } = moment;
  const isWithin = (field: number, low: number, high: number): boolean => field >= low && field <= high;
  const fits =
    isWithin(month, 1, 12) &&
    isWithin(day, 1, daysIn(year, month)) &&
    isWithin(hour, 0, 23) &&
    isWithin(minute, 0, 59) &&
    isWithin(second, 0, 59) &&
    isWithin(offset, -18 * 60, 18 * 60) &&
    isWithin(year, -200_000, 200_000);
  if (!fits) throw new DataError(`${excerpt(text)} has a field out of its range`);
  return moment;
}

const ISO = /^([+-]?\d{4,6})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * Reads an `xsd:date` or `xsd:dateTime`, also with a space for the `T` and without seconds.
 *
 * @throws DataError
 */
export function readIso(text: string): Moment {
  const match = ISO.exec(text.trim());
  if (match === null)
    throw new DataError(`${excerpt(text)} is not a date`, 'Expected a form such as 2024-12-31 or 2024-12-31T23:59:59+01:00.');
  const [, year, month, day, hour, minute = '0', second = '0', fraction = '', zone] = match;
  const isEnd = hour === '24' && Number(minute) === 0 && Number(second) === 0 && /^0*$/.test(fraction);
  const moment: Moment = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: isEnd ? 0 : Number(hour ?? '0'),
    minute: Number(minute),
    second: Number(second),
    fraction: trimmed(fraction),
    offset: zone === undefined ? undefined : readOffset(zone),
    hasTime: hour !== undefined,
  };
  checked(moment, text);
  return isEnd ? { ...momentAt(localMs(moment) + 86_400_000, undefined), offset: moment.offset } : moment;
}

/** Minutes of `Z`, `+02`, `+0200`, `+02:00` or `+02:00:00`. */
export function readOffset(text: string): number {
  const match = /^([+-])(\d\d?)(?::?(\d\d))?(?::?\d\d)?$/.exec(text);
  if (match === null) return 0;
  const [, sign, hours, minutes = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

const two = (number: number): string => String(number).padStart(2, '0');

export function yearText(year: number): string {
  return (year < 0 ? '-' : '') + String(Math.abs(year)).padStart(4, '0');
}

/** `+02:00`, and `Z` for none. */
export function offsetText(offset: number, separator = ':'): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${separator}${two(minutes % 60)}`;
}

/** `xsd:date` without an offset. */
export const dateText = ({ year, month, day }: Moment): string => `${yearText(year)}-${two(month)}-${two(day)}`;

/** `xsd:time` without an offset. */
export const timeText = ({ hour, minute, second, fraction }: Moment): string =>
  `${two(hour)}:${two(minute)}:${two(second)}${fraction === '' ? '' : `.${fraction}`}`;

/** `xsd:dateTime`, with the offset if there is one. */
export const dateTimeText = (moment: Moment): string =>
  `${dateText(moment)}T${timeText(moment)}${moment.offset === undefined ? '' : offsetText(moment.offset)}`;

/** In the form in which it was given: a date stays a date. */
export const isoText = (moment: Moment): string =>
  moment.hasTime ? dateTimeText(moment) : dateText(moment) + (moment.offset === undefined ? '' : offsetText(moment.offset));

// ---------------------------------------------------------------- sums

const MS: Readonly<Record<string, number>> = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
};
const UNITS = ['years', 'months', ...Object.keys(MS)];

/** `day`, `Days` and `DAYS` are the unit `days`. @throws DataError */
export function unitOf(text: string): string {
  const lower = text.trim().toLowerCase();
  const unit =
    UNITS.find((known) => known === lower || known === `${lower}s`) ?? (lower === 'millis' || lower === 'ms' ? 'milliseconds' : undefined);
  if (unit === undefined) throw new DataError(`${excerpt(text)} is not a unit of time`, `Expected one of ${UNITS.join(', ')}.`);
  return unit;
}

/** Years and months keep the day, or take the last day of a shorter month. @throws DataError */
export function plus(moment: Moment, count: number, unitText: string): Moment {
  const unit = unitOf(unitText);
  const ms = MS[unit];
  if (ms === undefined) {
    const months = moment.year * 12 + moment.month - 1 + Math.trunc(count) * (unit === 'years' ? 12 : 1);
    const year = Math.floor(months / 12);
    const month = months - year * 12 + 1;
    return checked({ ...moment, year, month, day: Math.min(moment.day, daysIn(year, month)) }, dateText(moment));
  }
  const { year, month, day, hour, minute, second, fraction, hasTime } = momentAt(localMs(moment) + Math.round(count * ms), undefined);
  // Digits beyond milliseconds stay.
  const finer = unit === 'milliseconds' ? fraction : moment.fraction;
  return {
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction: Number.isInteger(count) ? finer : fraction,
    offset: moment.offset,
    hasTime: moment.hasTime || (hasTime && ms < 86_400_000),
  };
}

/** Whole units from `b` to `a`. @throws DataError */
export function difference(a: Moment, b: Moment, unitText: string): number {
  const unit = unitOf(unitText);
  const ms = MS[unit];
  if (ms !== undefined) return Math.trunc((epochMs(a) - epochMs(b)) / ms);
  const [later, earlier, sign] = epochMs(a) >= epochMs(b) ? [a, b, 1] : [b, a, -1];
  const [to, from] = [momentAt(epochMs(later), 0), momentAt(epochMs(earlier), 0)];
  const within = (moment: Moment): number => localMs({ ...moment, year: 2000, month: 1 });
  const months = (to.year - from.year) * 12 + to.month - from.month - (within(to) < within(from) ? 1 : 0);
  return sign * (unit === 'years' ? Math.trunc(months / 12) : months) || 0;
}
