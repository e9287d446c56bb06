/** Dates, times and durations of XML Schema, as far as graph databases support them. */

/** Those with `local` have no time zone. */
export type TemporalKind = 'date' | 'localDateTime' | 'dateTime' | 'localTime' | 'time' | 'duration';

export interface Temporal {
  readonly kind: TemporalKind;
  /** One form per value: `2026-01-31T12:00:00.5+01:00`, `P1Y2M3DT4H5M6.7S`. */
  readonly text: string;
  /**
   * Year, month, day; hour, minute, second, nanosecond; offset of the zone from UTC in seconds: the fields of the kind, in this order. For
   * a duration: months, days, seconds, nanoseconds; nanoseconds are never negative, even if seconds are.
   */
  readonly fields: readonly number[];
}

/** Datatypes whose values these are. */
export type TemporalDatatype = 'date' | 'dateTime' | 'time' | 'duration';

const DATE = '(-?(?:[1-9][0-9]{4,8}|[0-9]{4}))-([0-9]{2})-([0-9]{2})';
const TIME = '([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?';
const FORMS = {
  date: new RegExp(`^${DATE}$`),
  dateTime: new RegExp(`^${DATE}T${TIME}$`),
  time: new RegExp(`^${TIME}$`),
  duration:
    /^(-)?P(?=.)(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})D)?(?:T(?=.)(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})(?:\.([0-9]+))?S)?)?$/,
} as const;

/** Undefined: not a lexical form of the datatype, or a value that databases do not support (24:00:00, a date with a time zone, picoseconds). */
export function parseTemporal(text: string, datatype: TemporalDatatype): Temporal | undefined {
  const parts = FORMS[datatype].exec(text);
  if (parts === null) return undefined;
  switch (datatype) {
    case 'date': {
      const date = dateOf(parts);
      return date && temporal('date', date);
    }
    case 'time': {
      const time = timeOf(parts, 1);
      return time && temporal(time.length === 5 ? 'time' : 'localTime', time);
    }
    case 'dateTime': {
      const [date, time] = [dateOf(parts), timeOf(parts, 4)];
      return date && time && temporal(time.length === 5 ? 'dateTime' : 'localDateTime', [...date, ...time]);
    }
    case 'duration':
      return durationOf(parts);
  }
}

/** The value of these fields. */
export function temporal(kind: TemporalKind, fields: readonly number[]): Temporal {
  return { kind, fields, text: WRITERS[kind](fields) };
}

function dateOf(parts: RegExpExecArray): readonly number[] | undefined {
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month) ? [year, month, day] : undefined;
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Four fields without a zone, five with one. */
function timeOf(parts: RegExpExecArray, at: number): readonly number[] | undefined {
  const [hour, minute, second] = [Number(parts[at]), Number(parts[at + 1]), Number(parts[at + 2])];
  const nanosecond = nanosecondsOf(parts[at + 3]);
  if (hour > 23 || minute > 59 || second > 59 || nanosecond === undefined) return undefined;
  const zone = parts[at + 4];
  if (zone === undefined) return [hour, minute, second, nanosecond];
  const offset = offsetOf(zone);
  return offset === undefined ? undefined : [hour, minute, second, nanosecond, offset];
}

/** XML Schema ends at 14 hours. */
function offsetOf(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(4));
  const total = Number(zone.slice(1, 3)) * 60 + minutes;
  if (minutes > 59 || total > 14 * 60) return undefined;
  return zone.startsWith('-') ? 0 - total * 60 : total * 60;
}

function nanosecondsOf(fraction: string | undefined): number | undefined {
  if (fraction === undefined) return 0;
  const digits = fraction.replace(/0+$/, '');
  return digits.length > 9 ? undefined : Number(digits.padEnd(9, '0'));
}

function durationOf(parts: RegExpExecArray): Temporal | undefined {
  const [years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(2, 8).map((part) => Number(part ?? 0));
  const nanoseconds = nanosecondsOf(parts[8]);
  if (nanoseconds === undefined) return undefined;
  const whole = hours * 3600 + minutes * 60 + seconds;
  if (parts[1] === undefined) return temporal('duration', [years * 12 + months, days, whole, nanoseconds]);
  const borrowed = nanoseconds > 0 ? 1 : 0;
  // Starts from 0 to avoid minus zero.
  return temporal('duration', [0 - years * 12 - months, 0 - days, 0 - whole - borrowed, borrowed * 1e9 - nanoseconds]);
}

const WRITERS: Readonly<Record<TemporalKind, (fields: readonly number[]) => string>> = {
  date: dateText,
  localTime: timeText,
  time: timeText,
  localDateTime: (fields) => `${dateText(fields)}T${timeText(fields.slice(3))}`,
  dateTime: (fields) => `${dateText(fields)}T${timeText(fields.slice(3))}`,
  duration: durationText,
};

const two = (value: number): string => String(value).padStart(2, '0');

function dateText([year = 0, month = 0, day = 0]: readonly number[]): string {
  return `${year < 0 ? '-' : ''}${String(Math.abs(year)).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

function timeText([hour = 0, minute = 0, second = 0, nanosecond = 0, offset]: readonly number[]): string {
  return `${two(hour)}:${two(minute)}:${two(second)}${fractionText(nanosecond)}${offset === undefined ? '' : zoneText(offset)}`;
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offset) / 60);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const fractionText = (nanosecond: number): string => (nanosecond === 0 ? '' : `.${String(nanosecond).padStart(9, '0').replace(/0+$/, '')}`);

/** In XML Schema form, if the signs agree. */
function durationText(fields: readonly number[]): string {
  const negative = fields.some((field) => field < 0);
  const [months = 0, days = 0, seconds = 0, nanoseconds = 0] = negative ? negated(fields) : fields;
  const part = (value: number, letter: string): string => (value === 0 ? '' : `${value}${letter}`);
  const date = part(Math.trunc(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D');
  const rest = seconds % 60;
  const last = rest === 0 && nanoseconds === 0 ? '' : `${rest}${fractionText(nanoseconds)}S`;
  const time = part(Math.trunc(seconds / 3600), 'H') + part(Math.trunc((seconds % 3600) / 60), 'M') + last;
  return `${negative ? '-' : ''}P${date}${time === '' ? (date === '' ? 'T0S' : '') : `T${time}`}`;
}

function negated([months = 0, days = 0, seconds = 0, nanoseconds = 0]: readonly number[]): readonly number[] {
  const borrowed = nanoseconds > 0 ? 1 : 0;
  return [0 - months, 0 - days, 0 - seconds - borrowed, borrowed * 1e9 - nanoseconds];
}
