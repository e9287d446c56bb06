/**
 * Whether a text is a value of a datatype of XML Schema.
 *
 * @see https://www.w3.org/TR/xmlschema11-2/#built-in-datatypes and https://www.w3.org/TR/rdf12-concepts/#xsd-datatypes
 */
import { XSD } from '../../core/value.ts';

const INTEGER = /^[+-]?\d+$/;
const DECIMAL = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const FLOAT = new RegExp(`^(?:[+-]?${DECIMAL}(?:[eE][+-]?\\d+)?|[+-]?INF|NaN)$`);
const ZONE = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))?';
const YEAR = '-?(?:[1-9]\\d{3,}|0\\d{3})';
const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12]\\d|3[01])';
const TIME = '(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?|24:00:00(?:\\.0+)?)';

const matching = (pattern: string): ((text: string) => boolean) => {
  const whole = new RegExp(`^${pattern}$`);
  return (text) => whole.test(text);
};

/** Integers from `least` to `most`, both included. */
const between =
  (least: bigint | undefined, most: bigint | undefined) =>
  (text: string): boolean => {
    if (!INTEGER.test(text)) return false;
    const value = BigInt(text.replace(/^\+/, ''));
    return (least === undefined || value >= least) && (most === undefined || value <= most);
  };
const signed = (bits: number) => between(-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n);
const unsigned = (bits: number) => between(0n, 2n ** BigInt(bits) - 1n);

/** Of texts that match, whether the month has the day. */
const withDay =
  (matches: (text: string) => boolean) =>
  (text: string): boolean => {
    if (!matches(text)) return false;
    const [, year, month, day] = /^(-?\d+)-(\d\d)-(\d\d)/.exec(text) as RegExpExecArray;
    return Number(day) <= daysOf(BigInt(year as string), Number(month));
  };

const daysOf = (year: bigint, month: number): number =>
  month === 2 ? (year % 4n === 0n && (year % 100n !== 0n || year % 400n === 0n) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** By the local name of the datatype. Of the others every text is a value. */
const LEXICAL: Readonly<Record<string, (text: string) => boolean>> = {
  boolean: matching('(?:true|false|1|0)'),
  integer: between(undefined, undefined),
  nonNegativeInteger: between(0n, undefined),
  positiveInteger: between(1n, undefined),
  nonPositiveInteger: between(undefined, 0n),
  negativeInteger: between(undefined, -1n),
  long: signed(64),
  int: signed(32),
  short: signed(16),
  byte: signed(8),
  unsignedLong: unsigned(64),
  unsignedInt: unsigned(32),
  unsignedShort: unsigned(16),
  unsignedByte: unsigned(8),
  decimal: matching(`[+-]?${DECIMAL}`),
  double: (text) => FLOAT.test(text),
  float: (text) => FLOAT.test(text),
  date: withDay(matching(`${YEAR}-${MONTH}-${DAY}${ZONE}`)),
  dateTime: withDay(matching(`${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}`)),
  dateTimeStamp: withDay(matching(`${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE.slice(0, -1)}`)),
  time: matching(`${TIME}${ZONE}`),
  gYear: matching(`${YEAR}${ZONE}`),
  gYearMonth: matching(`${YEAR}-${MONTH}${ZONE}`),
  gMonth: matching(`--${MONTH}${ZONE}`),
  gMonthDay: matching(`--(?:${MONTH}-(?:0[1-9]|1\\d|2\\d)|(?:0[13-9]|1[0-2])-30|(?:0[13578]|1[02])-31)${ZONE}`),
  gDay: matching(`---${DAY}${ZONE}`),
  duration: matching('-?P(?=.)(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?(?:T(?=.)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?'),
  yearMonthDuration: matching('-?P(?=.)(?:\\d+Y)?(?:\\d+M)?'),
  dayTimeDuration: matching('-?P(?=.)(?:\\d+D)?(?:T(?=.)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?'),
  hexBinary: matching('(?:[0-9a-fA-F]{2})*'),
  base64Binary: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replace(/[ \t\r\n]/g, '')),
};

/** Whether a text is a value of a datatype, white space around it aside; true for every text of a datatype that is not known here. */
export function isLexicalForm(text: string, datatype: string): boolean {
  const name = datatype.startsWith(XSD) ? datatype.slice(XSD.length) : '';
  if (!Object.hasOwn(LEXICAL, name)) return true;
  return (LEXICAL[name] as (text: string) => boolean)(text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''));
}
