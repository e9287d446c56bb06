/** Dates, times and durations → their lexical forms in XSD. @see https://www.w3.org/TR/xmlschema11-2/ */
import type { TimeUnit } from '../file/metadata.ts';

const two = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** @param days since 1970-01-01, in the proleptic Gregorian calendar @see https://howardhinnant.github.io/date_algorithms.html */
export function dateOf(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const digits = String(Math.abs(year)).padStart(4, '0');
  return `${year < 0 ? '-' : ''}${digits}-${two(month)}-${two(day)}`;
}

const SECONDS_A_DAY = 86_400;

/** @param value of the day, in `unit` parts of a second; below 24 hours */
export function timeOf(value: number, unit: TimeUnit): string {
  const seconds = Math.floor(value / unit);
  const fraction = value - seconds * unit;
  const minutes = Math.floor(seconds / 60);
  const clock = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return fraction === 0 ? clock : `${clock}.${fractionOf(fraction, unit)}`;
}

const fractionOf = (value: number, unit: TimeUnit): string => String(value).padStart(Math.log10(unit), '0').replace(/0+$/, '');

/** @param value since 1970-01-01T00:00:00, in `unit` parts of a second */
export function dateTimeOf(value: number | bigint, unit: TimeUnit): string {
  if (typeof value === 'number') {
    const perDay = SECONDS_A_DAY * unit;
    const days = Math.floor(value / perDay);
    return `${dateOf(days)}T${timeOf(value - days * perDay, unit)}`;
  }
  const perDay = BigInt(SECONDS_A_DAY * unit);
  const within = ((value % perDay) + perDay) % perDay;
  return `${dateOf(Number((value - within) / perDay))}T${timeOf(Number(within), unit)}`;
}

const JULIAN_DAY_OF_EPOCH = 2_440_588;

/** Nanoseconds of the day and the Julian day. undefined: the time is not within a day. */
export function int96Of(bytes: Buffer, at: number): string | undefined {
  const nanoseconds = Number(bytes.readBigInt64LE(at));
  if (nanoseconds < 0 || nanoseconds >= SECONDS_A_DAY * 1e9) return undefined;
  return `${dateOf(bytes.readUInt32LE(at + 8) - JULIAN_DAY_OF_EPOCH)}T${timeOf(nanoseconds, 1_000_000_000)}`;
}

/** Months, days and milliseconds, each of 32 bits. */
export function durationOf(bytes: Buffer): string {
  const [months, days, milliseconds] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(8)];
  const seconds =
    milliseconds % 1_000 === 0
      ? String(milliseconds / 1_000)
      : String(Math.floor(milliseconds / 1_000)).concat(`.${fractionOf(milliseconds % 1_000, 1_000)}`);
  const date = `${months === 0 ? '' : `${months}M`}${days === 0 ? '' : `${days}D`}`;
  const time = milliseconds === 0 ? '' : `T${seconds}S`;
  return date + time === '' ? 'PT0S' : `P${date}${time}`;
}
