/**
 * Days and parts of seconds since 1970, and ISO 8601 → the texts that servers write. All calculation is exact: BigInt, and days in the proleptic
 * Gregorian calendar with a year 0.
 *
 * @see https://howardhinnant.github.io/date_algorithms.html
 */

/** A point of a calendar without a zone: days since 1970-01-01, and nanoseconds of the day. */
export interface Moment {
  readonly days: number;
  readonly nanos: bigint;
}

const NANOS_PER_DAY = 86_400_000_000_000n;

/** @param unit nanoseconds in one part */
export function momentOf(parts: bigint, unit: bigint): Moment {
  const nanos = parts * unit;
  const inDay = ((nanos % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;
  return { days: Number((nanos - inDay) / NANOS_PER_DAY), nanos: inDay };
}

export const microsOf = ({ days, nanos }: Moment): bigint => (BigInt(days) * NANOS_PER_DAY + nanos) / 1000n;

const ISO = /^([+-]?\d{4,})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?$/;

/** `2024-02-29Z`, `-4712-01-01T00:00:00.5Z`: in UTC. undefined: the text is no such date. */
export function readIso(text: string): Moment | undefined {
  const [, year, month, day, hours = '0', minutes = '0', seconds = '0', fraction = '', zone = 'Z'] = ISO.exec(text) ?? [];
  if (year === undefined) return undefined;
  const east = zone === 'Z' ? 0 : (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)));
  const inDay =
    BigInt((Number(hours) * 60 + Number(minutes) - east) * 60 + Number(seconds)) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
  const days = daysOf(Number(year), Number(month), Number(day));
  return momentOf(BigInt(days) * NANOS_PER_DAY + inDay, 1n);
}

function daysOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const inYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const inEra = y - era * 400;
  return era * 146_097 + inEra * 365 + Math.floor(inEra / 4) - Math.floor(inEra / 100) + inYear - 719_468;
}

/** Year (0 is 1 BC), month and day. */
function dateOf(days: number): readonly [number, number, number] {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const inEra = z - era * 146_097;
  const yearInEra = Math.floor((inEra - Math.floor(inEra / 1460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365);
  const inYear = inEra - (365 * yearInEra + Math.floor(yearInEra / 4) - Math.floor(yearInEra / 100));
  const shifted = Math.floor((5 * inYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return [yearInEra + era * 400 + (month <= 2 ? 1 : 0), month, inYear - Math.floor((153 * shifted + 2) / 5) + 1];
}

/** `2024-02-29`, and whether it is before Christ. The year has at least four digits. */
export function dateText(days: number): { readonly text: string; readonly isBc: boolean } {
  const [year, month, day] = dateOf(days);
  const isBc = year < 1;
  const two = (part: number): string => String(part).padStart(2, '0');
  return { text: `${String(isBc ? 1 - year : year).padStart(4, '0')}-${two(month)}-${two(day)}`, isBc };
}

/** `12:34:56.5`: hours may be more than 23, the fraction has no zeros at its end. */
export function timeText(nanos: bigint): string {
  const two = (part: bigint): string => String(part).padStart(2, '0');
  const seconds = nanos / 1_000_000_000n;
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  const clock = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  return fraction === '' ? clock : `${clock}.${fraction}`;
}

/** PostgreSQL's infinity as days since 1970: its own largest and smallest number of days since 2000, plus 10,957, in 32 bits. */
const INFINITE_DAYS: ReadonlyMap<number, string> = new Map([
  [-2_147_472_692, 'infinity'],
  [-2_147_472_691, '-infinity'],
]);
/** As microseconds, from Java's milliseconds of the driver. */
const INFINITE_MICROS: ReadonlyMap<bigint, string> = new Map([
  [9_223_372_036_825_200_000n, 'infinity'],
  [-9_223_372_036_832_400_000n, '-infinity'],
]);

/** undefined: it is none that PostgreSQL has for an infinite date or timestamp. */
export const infinityOf = (moment: Moment): string | undefined =>
  (moment.nanos === 0n ? INFINITE_DAYS.get(moment.days) : undefined) ?? INFINITE_MICROS.get(microsOf(moment));

export const isInfinite = (moment: Moment): boolean => infinityOf(moment) !== undefined;

/** As XML Schema writes a date: year 0 is 1 BC. */
export function isoDate(days: number): string {
  const [year, month, day] = dateOf(days);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}-${two(month)}-${two(day)}`;
}
