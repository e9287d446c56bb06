/**
 * Formats of numbers, booleans, dates, times and other values in cells, as CSVW writes them.
 *
 * @see https://www.w3.org/TR/tabular-data-model/#parsing-cells
 */

/** How the values of a column are written. */
export type CsvFormat = ConvertedFormat | PatternFormat;

/** How values are written whose lexical form is another one. */
export type ConvertedFormat = NumberFormat | BooleanFormat | DateFormat;

export interface NumberFormat {
  readonly kind: 'number';
  /** Of Unicode UTS 35, such as `#,##0.00`; undefined: any number of digits. */
  readonly pattern?: string;
  /** By default a point. */
  readonly decimalChar?: string;
  /** Between groups of digits. undefined: a comma if the pattern has groups, else nothing. */
  readonly groupChar?: string;
}

export interface BooleanFormat {
  readonly kind: 'boolean';
  readonly yes: string;
  readonly no: string;
}

export interface DateFormat {
  readonly kind: 'date';
  /** Such as `d.M.yyyy` or `yyyy-MM-ddTHH:mm:ss.SSS XXX`. */
  readonly pattern: string;
}

/** Texts, durations and other values, which are kept as they are written. */
export interface PatternFormat {
  readonly kind: 'pattern';
  /** A regular expression of ECMAScript with Unicode rules, which matches somewhere in the cell. */
  readonly source: string;
}

/** Gives the lexical form of XML Schema; undefined: the text is not written so. */
export type Reformat = (text: string) => string | undefined;

/** @returns undefined if the format is not valid */
export function compileFormat(format: ConvertedFormat): Reformat | undefined {
  switch (format.kind) {
    case 'number':
      return compileNumber(format);
    case 'boolean':
      return (text) => (text === format.yes ? 'true' : text === format.no ? 'false' : undefined);
    case 'date':
      return compileDate(format.pattern);
  }
}

/** Parses `Y|N`; undefined: there are not two different texts. */
export function booleanFormatOf(text: string): BooleanFormat | undefined {
  const [yes, no, ...more] = text.split('|');
  return !yes || !no || yes === no || more.length > 0 ? undefined : { kind: 'boolean', yes, no };
}

const SIGN = '(?<sign>[+-]?)';
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

function compileNumber({ pattern, decimalChar = '.', groupChar }: NumberFormat): Reformat | undefined {
  const [decimal, group] = [escaped(decimalChar), groupChar === undefined ? undefined : escaped(groupChar)];
  if (decimalChar === '' || groupChar === '' || decimalChar === groupChar) return undefined;
  const body = pattern === undefined ? anyNumber(decimal, group) : numberOf(pattern, decimal, group ?? ',');
  if (body === undefined) return undefined;
  const whole = new RegExp(`^${SIGN}${body}$`, 'u');
  return (text) => {
    if (/^(?:-?INF|NaN)$/.test(text)) return text;
    const found = whole.exec(text)?.groups;
    if (found === undefined) return undefined;
    const { sign, integer = '', fraction = '', exponent, scale } = found;
    const digits = integer.replace(/\D/g, '');
    if (digits === '' && fraction === '') return undefined;
    const shifted = shift(digits, fraction, scale === '%' ? 2 : scale === '‰' ? 3 : 0);
    return (sign === '-' ? '-' : '') + shifted + (exponent === undefined ? '' : `E${exponent}`);
  };
}

/** Without a pattern: digits, which groups may part. */
const anyNumber = (decimal: string, group: string | undefined): string =>
  `(?<integer>${group === undefined ? '\\d*' : `\\d*(?:${group}\\d+)*`})(?:${decimal}(?<fraction>\\d*))?(?:[eE](?<exponent>[+-]?\\d+))?(?<scale>[%‰]?)`;

/** A pattern in which `,` and `.` stand for the characters of the format, as in UTS 35. */
function numberOf(pattern: string, decimal: string, group: string): string | undefined {
  const parts = /^[+-]?([#,]*[0,]*)(?:\.(0*)(#*))?(?:E([+-]?)(0+))?([%‰]?)$/.exec(pattern);
  if (parts === null) return undefined;
  const [, written = '', zeros = '', hashes = '', exponentSign = '', exponent, scale = ''] = parts;
  if (/,$|,,|^,/.test(written) || written + zeros + hashes === '') return undefined;
  const least = written.replace(/[^0]/g, '').length;
  const groups = written.split(',');
  const size = groups.length > 1 ? (groups.at(-1) as string).length : 0;
  const integer = size === 0 ? `\\d{${least},}` : `(?=(?:${group}?\\d){${least}})\\d{0,${size}}(?:${group}\\d{${size}})*`;
  const [fewest, most] = [zeros.length, zeros.length + hashes.length];
  const fraction = most === 0 ? '' : `(?:${decimal}(?<fraction>\\d{${Math.max(1, fewest)},${most}}))${fewest === 0 ? '?' : ''}`;
  const power = exponent === undefined ? '' : `[eE](?<exponent>${exponentSign === '+' ? '[+-]' : '-?'}\\d{${exponent.length},})`;
  return `(?<integer>${integer})${fraction}${power}${scale === '' ? '' : `(?<scale>${scale})`}`;
}

/** Moves the decimal point to the left. */
function shift(integer: string, fraction: string, places: number): string {
  const padded = integer.padStart(places + 1, '0');
  const at = padded.length - places;
  const behind = padded.slice(at) + fraction;
  return padded.slice(0, at) + (behind === '' ? '' : `.${behind}`);
}

const DATES =
  /^(?:yyyy-MM-dd|yyyyMMdd|dd-MM-yyyy|d-M-yyyy|MM-dd-yyyy|M-d-yyyy|dd\/MM\/yyyy|d\/M\/yyyy|MM\/dd\/yyyy|M\/d\/yyyy|dd\.MM\.yyyy|d\.M\.yyyy|MM\.dd\.yyyy|M\.d\.yyyy)$/;
const TIMES = /^(?:HH:mm:ss(?:\.S+)?|HHmmss(?:\.S+)?|HH:mm|HHmm)$/;
const FIELDS: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  MM: '(?<month>\\d\\d)',
  M: '(?<month>\\d\\d?)',
  dd: '(?<day>\\d\\d)',
  d: '(?<day>\\d\\d?)',
  HH: '(?<hour>\\d\\d)',
  mm: '(?<minute>\\d\\d)',
  ss: '(?<second>\\d\\d)',
};
const ZONES: Readonly<Record<string, string>> = { X: '[+-]\\d\\d(?:\\d\\d)?', XX: '[+-]\\d{4}', XXX: '[+-]\\d\\d:\\d\\d' };

/** What a pattern of dates and times has; undefined: it is none that CSVW knows. */
export function partsOfDate(pattern: string): { readonly date: boolean; readonly time: boolean } | undefined {
  const [, whole = '', marker] = /^(.*?)(?: ?([Xx]{1,3}))?$/.exec(pattern) ?? [];
  if (marker !== undefined && !(marker in ZONES || marker.toUpperCase() in ZONES)) return undefined;
  if (marker !== undefined && marker !== marker.toUpperCase() && marker !== marker.toLowerCase()) return undefined;
  if (DATES.test(whole)) return { date: true, time: false };
  if (TIMES.test(whole)) return { date: false, time: true };
  const [, date = '', time = ''] = /^([^T ]+)[T ](.+)$/.exec(whole) ?? [];
  return DATES.test(date) && TIMES.test(time) ? { date: true, time: true } : undefined;
}

function compileDate(pattern: string): Reformat | undefined {
  const parts = partsOfDate(pattern);
  if (parts === undefined) return undefined;
  const source = pattern.replace(/yyyy|MM?|dd?|HH|mm|ss|\.S+|X{1,3}|x{1,3}|[./]/g, (token) => {
    if (token.startsWith('.S')) return `(?:\\.(?<fraction>\\d{1,${token.length - 1}}))?`;
    if (/^X/.test(token)) return `(?<zone>Z|${ZONES[token]})`;
    if (/^x/.test(token)) return `(?<zone>${ZONES[token.toUpperCase()]})`;
    return FIELDS[token] ?? `\\${token}`;
  });
  const whole = new RegExp(`^${source}$`);
  return (text) => {
    const found = whole.exec(text)?.groups;
    if (found === undefined) return undefined;
    const { year = '2000', month = '1', day = '1', hour = '00', minute = '00', second = '00', fraction, zone = '' } = found;
    const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month));
    if (!isDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    const time = `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`;
    return (parts.date ? date : '') + (parts.date && parts.time ? 'T' : '') + (parts.time ? time : '') + zoneOf(zone);
  };
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const daysIn = (year: number, month: number): number => (month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);

/** `+01`, `+0100` → `+01:00`. */
const zoneOf = (zone: string): string => (/^[+-]/.test(zone) ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}` : zone);
