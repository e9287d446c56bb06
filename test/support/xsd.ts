/**
 * Lexical spaces of datatypes of XML Schema, as the specification writes them: the productions of XML Schema 1.1 Part 2, and bounds and days by
 * arithmetic. It shares nothing with `src/core/input/lexical-form.ts`, which random tests compare with it.
 *
 * @see https://www.w3.org/TR/xmlschema11-2/
 */
export const XSD = 'http://www.w3.org/2001/XMLSchema#';

/** §3.3.3, §3.3.4, §3.3.5: decimalLexicalRep, floatRep. */
const DECIMAL = '(\\+|-)?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)';
const FLOAT = '(\\+|-)?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([Ee](\\+|-)?[0-9]+)?|(\\+|-)?INF|NaN';
/** §D.3: fragments of dates and times. */
const YEAR = '-?([1-9][0-9]{3,}|0[0-9]{3})';
const MONTH = '(0[1-9]|1[0-2])';
const DAY = '(0[1-9]|[12][0-9]|3[01])';
const TIME = '((([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?)|24:00:00(\\.0+)?)';
const ZONE = '(Z|(\\+|-)((0[0-9]|1[0-3]):[0-5][0-9]|14:00))';
/** §3.3.6.2: the expression that the specification gives as the intersection of three. */
const DAYS = '([0-9]+D)';
const OF_TIME = '(T(([0-9]+H)([0-9]+M)?([0-9]+(\\.[0-9]+)?S)?|([0-9]+M)([0-9]+(\\.[0-9]+)?S)?|([0-9]+(\\.[0-9]+)?S)))';
const MONTHS = '(([0-9]+Y)([0-9]+M)?|([0-9]+M))';
/** §3.3.16: Base64 with optional spaces. */
const B64 = '[A-Za-z0-9+/] ?';
const B16 = '[AEIMQUYcgkosw048] ?';
const B04 = '[AQgw] ?';

/** By local name: a regular expression of the whole text. */
export const XSD_PATTERNS: Readonly<Record<string, string>> = {
  boolean: 'true|false|1|0',
  decimal: DECIMAL,
  double: FLOAT,
  float: FLOAT,
  integer: '[\\-+]?[0-9]+',
  byte: '[\\-+]?[0-9]+',
  int: '[\\-+]?[0-9]+',
  unsignedByte: '[\\-+]?[0-9]+',
  nonNegativeInteger: '[\\-+]?[0-9]+',
  positiveInteger: '[\\-+]?[0-9]+',
  negativeInteger: '[\\-+]?[0-9]+',
  date: `${YEAR}-${MONTH}-${DAY}${ZONE}?`,
  dateTime: `${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}?`,
  dateTimeStamp: `${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}`,
  time: `${TIME}${ZONE}?`,
  gYear: `${YEAR}${ZONE}?`,
  gYearMonth: `${YEAR}-${MONTH}${ZONE}?`,
  duration: `-?P((${MONTHS}${DAYS}?|${DAYS})${OF_TIME}?|${OF_TIME})`,
  hexBinary: '([0-9a-fA-F]{2})*',
  base64Binary: `(((${B64}){4})*((${B64}){3}[A-Za-z0-9+/]|(${B64}){2}${B16}=|${B64}${B04}= ?=))?`,
  language: '[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*',
  token: '([^\\t\\n\\r ]+( [^\\t\\n\\r ]+)*)?',
  string: '[^]*',
};

/** §3.4.13 to §3.4.25: minInclusive and maxInclusive. */
const BOUNDS: Readonly<Record<string, readonly [least: bigint | undefined, most: bigint | undefined]>> = {
  byte: [-128n, 127n],
  int: [-2147483648n, 2147483647n],
  unsignedByte: [0n, 255n],
  nonNegativeInteger: [0n, undefined],
  positiveInteger: [1n, undefined],
  negativeInteger: [undefined, -1n],
};

/** Every text is a form of a datatype that is not known here. @param datatype an IRI */
export function isXsdForm(text: string, datatype: string): boolean {
  const name = datatype.startsWith(XSD) ? datatype.slice(XSD.length) : '';
  const pattern = XSD_PATTERNS[name];
  if (pattern === undefined) return true;
  if (!new RegExp(`^(?:${pattern})$`, 'u').test(text)) return false;
  const [least, most] = BOUNDS[name] ?? [];
  if (least !== undefined && BigInt(text.replace('+', '')) < least) return false;
  if (most !== undefined && BigInt(text.replace('+', '')) > most) return false;
  // §D.2.1, constraint: day-of-month values.
  const date = /^-?(\d{4,})-(\d\d)-(\d\d)/.exec(text);
  if (date === null || !name.startsWith('date')) return true;
  const [year, month, day] = date.slice(1).map(Number) as [number, number, number];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= ([31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number);
}
