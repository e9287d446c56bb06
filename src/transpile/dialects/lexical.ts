/** Lexical spaces of XML Schema as regular expressions that RE2 and Java read alike: those of `src/core/input/lexical-form.ts`, as far as one can say them. */
import { lexicalSpace } from '../../core/input/lexical-form.ts';
import { XSD } from '../../core/value.ts';

const D = '[0-9]';
const ZONE = '(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))';
const YEAR = '-?(?:[1-9][0-9]{3,}|0[0-9]{3})';
const MONTH = '(?:0[1-9]|1[0-2])';
const TIME = '(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?|24:00:00(?:\\.0+)?)';

/** Years of February 29: the last two digits are a multiple of four and not 00, or those before 00 are. */
const FOURS = '(?:0[48]|[2468][048]|[13579][26])';
const LEAP = `-?(?:(?:[1-9][0-9]*)?[0-9]{2}${FOURS}|(?:[1-9][0-9]*)?(?:${FOURS}|00)00)`;
/** A year of two digits before the last two has no leading digit: `0096`. */
export const DATE = `(?:${YEAR}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|${LEAP}-02-29)`;

const INTEGER = '[+-]?[0-9]+';
const DECIMAL = '[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)';
const FLOAT = `(?:${DECIMAL}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN)`;

/** Digits of a number up to a bound, leading zeros aside. */
function upTo(bound: string): string {
  const greater = [...bound].flatMap((digit, at) => {
    const rest = bound.length - at - 1;
    return digit === '0' ? [] : [`${bound.slice(0, at)}[0-${Number(digit) - 1}]${rest === 0 ? '' : `${D}{${rest}}`}`];
  });
  const shorter = bound.length === 1 ? [] : [`${D}{1,${bound.length - 1}}`];
  return `0*(?:${[...shorter, ...greater, bound].join('|')})`;
}

const signed = (bits: bigint): string => `(?:\\+?${upTo(String(2n ** (bits - 1n) - 1n))}|-${upTo(String(2n ** (bits - 1n)))})`;
const unsigned = (bits: bigint): string => `(?:\\+?${upTo(String(2n ** bits - 1n))}|-0+)`;

const TIME_OF_DURATION = 'T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+(?:\\.[0-9]+)?S)?|[0-9]+M(?:[0-9]+(?:\\.[0-9]+)?S)?|[0-9]+(?:\\.[0-9]+)?S)';
const YEARS_MONTHS = '(?:[0-9]+Y(?:[0-9]+M)?|[0-9]+M)';
const DAYS_TIME = `(?:[0-9]+D(?:${TIME_OF_DURATION})?|${TIME_OF_DURATION})`;

const PATTERNS: Readonly<Record<string, string>> = {
  boolean: '(?:true|false|1|0)',
  integer: INTEGER,
  nonNegativeInteger: '(?:\\+?[0-9]+|-0+)',
  positiveInteger: '\\+?0*[1-9][0-9]*',
  nonPositiveInteger: '(?:-[0-9]+|\\+?0+)',
  negativeInteger: '-0*[1-9][0-9]*',
  long: signed(64n),
  int: signed(32n),
  short: signed(16n),
  byte: signed(8n),
  unsignedLong: unsigned(64n),
  unsignedInt: unsigned(32n),
  unsignedShort: unsigned(16n),
  unsignedByte: unsigned(8n),
  decimal: DECIMAL,
  double: FLOAT,
  float: FLOAT,
  date: `${DATE}${ZONE}?`,
  dateTime: `${DATE}T${TIME}${ZONE}?`,
  dateTimeStamp: `${DATE}T${TIME}${ZONE}`,
  time: `${TIME}${ZONE}?`,
  gYear: `${YEAR}${ZONE}?`,
  gYearMonth: `${YEAR}-${MONTH}${ZONE}?`,
  duration: `-?P(?:${YEARS_MONTHS}${DAYS_TIME}?|${DAYS_TIME})`,
  yearMonthDuration: `-?P${YEARS_MONTHS}`,
  dayTimeDuration: `-?P${DAYS_TIME}`,
  hexBinary: '(?:[0-9a-fA-F]{2})*',
  normalizedString: '[^\\t\\n\\r]*',
  language: '[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*',
};

/** The datatypes whose lexical space has a pattern here. */
export const WITH_PATTERN: readonly string[] = Object.keys(PATTERNS).map((name) => XSD + name);

/**
 * The pattern of whole texts in the lexical space of a datatype.
 *
 * @returns undefined: every text is in it; null: no pattern here says which
 */
export function lexicalPattern(datatype: string): string | undefined | null {
  if (lexicalSpace(datatype) === undefined) return undefined;
  const pattern = datatype.startsWith(XSD) ? PATTERNS[datatype.slice(XSD.length)] : undefined;
  return pattern === undefined ? null : `^(?:${pattern})\\z`;
}
