/** What kind of values a field has: the narrowest datatype that all of them have. */
import { XSD } from '../core/value.ts';

export const KINDS = ['integer', 'decimal', 'double', 'boolean', 'date', 'dateTime'] as const;
/** A datatype of XML Schema; `text`: none of these. */
export type Kind = (typeof KINDS)[number] | 'text';

/** More digits are rather an identifier than a number. */
const MAX_DIGITS = 18;

/** A number with a leading zero is none: `007` and `01/2024` are written so on purpose. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00)?$/;

/** The kind of one text. */
export function kindOf(text: string): Kind {
  const number = NUMBER.exec(text);
  if (number !== null) {
    if (text.replace(/\D/g, '').length > MAX_DIGITS) return 'text';
    return number[3] !== undefined ? 'double' : number[2] !== undefined ? 'decimal' : 'integer';
  }
  if (text === 'true' || text === 'false') return 'boolean';
  if (isDate(text)) return 'date';
  const [, day, hours, minutes, seconds] = DATE_TIME.exec(text) ?? [];
  if (day !== undefined && isDate(day) && Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60) return 'dateTime';
  return 'text';
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined || year === 0) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** The kind that has the values of both. */
export function commonKind(a: Kind, b: Kind): Kind {
  if (a === b) return a;
  const numbers: readonly Kind[] = ['integer', 'decimal', 'double'];
  const [left, right] = [numbers.indexOf(a), numbers.indexOf(b)];
  return left >= 0 && right >= 0 ? (numbers[Math.max(left, right)] as Kind) : 'text';
}

export const datatypeOf = (kind: Kind): string => `${XSD}${kind}`;

/** The kind of a datatype; undefined: none of ours. */
export const kindOfDatatype = (datatype: string): Kind | undefined =>
  datatype.startsWith(XSD) ? KINDS.find((kind) => kind === datatype.slice(XSD.length)) : undefined;
