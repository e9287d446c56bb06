/**
 * The lexical spaces of the datatypes of XML Schema that RDF takes: one table for the literals of runs, constants of mappings, and files that are
 * written to a store.
 *
 * White space around a value belongs to no lexical space: parsers of XML remove it before they look, and RDF does not.
 *
 * @see https://www.w3.org/TR/xmlschema11-2/#built-in-datatypes and https://www.w3.org/TR/rdf12-concepts/#xsd-datatypes
 */
import { fromBytes, toBytes } from '../text.ts';
import { XSD } from '../value.ts';

/** The lexical space of a datatype. */
export interface LexicalSpace {
  /** `xsd:date` */
  readonly name: string;
  /** For people: a text of the space. */
  readonly example: string;
  /** Whether a one-byte text is in the space. */
  readonly has: (text: string) => boolean;
  /** Whether no text of the space needs an escape in N-Quads. */
  readonly isPlain: boolean;
}

const ZERO = 48;
const NINE = 57;
const DASH = 45;
const POINT = 46;
const COLON = 58;

const ZONE = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))?';
const YEAR = '-?(?:[1-9]\\d{3,}|0\\d{3})';
const MONTH = '(?:0[1-9]|1[0-2])';
const DAY = '(?:0[1-9]|[12]\\d|3[01])';
const TIME = '(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?|24:00:00(?:\\.0+)?)';
const TIME_OF_DURATION = '(?:T(?=.)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?';

type Test = (text: string) => boolean;

function matching(pattern: string): Test {
  const whole = new RegExp(`^${pattern}$`);
  return (text) => whole.test(text);
}

/** Where the number behind a sign begins. */
function signEnd(text: string): number {
  const first = text.charCodeAt(0);
  return first === DASH || first === 43 ? 1 : 0;
}

function isInteger(text: string): boolean {
  const { length } = text;
  const from = signEnd(text);
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) return false;
  }
  return length > from;
}

function isDecimal(text: string): boolean {
  const { length } = text;
  const from = signEnd(text);
  let hasPoint = false;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === POINT && !hasPoint) hasPoint = true;
    else if (code < ZERO || code > NINE) return false;
  }
  return length - from > (hasPoint ? 1 : 0);
}

const anyFloat = matching('(?:[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?|[+-]?INF|NaN)');
const isFloat: Test = (text) => isDecimal(text) || anyFloat(text);

/**
 * Integers up to bounds, which are digits.
 *
 * @param above the greatest one; empty: there is no bound; undefined: none is above zero
 * @param below the least one, without its sign, likewise
 */
const within =
  (hasZero: boolean, above: string | undefined, below: string | undefined): Test =>
  (text) => {
    if (!isInteger(text)) return false;
    let from = signEnd(text);
    while (text.charCodeAt(from) === ZERO) from++;
    if (from === text.length) return hasZero;
    const bound = text.charCodeAt(0) === DASH ? below : above;
    if (bound === undefined || bound === '') return bound === '';
    const length = text.length - from;
    return length < bound.length || (length === bound.length && text.slice(from) <= bound);
  };

/** @param bits of a signed integer */
const signed = (bits: bigint): Test => within(true, String(2n ** (bits - 1n) - 1n), String(2n ** (bits - 1n)));
const unsigned = (bits: bigint): Test => within(true, String(2n ** bits - 1n), undefined);

/** The number that two digits are; NaN: they are none. */
function two(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Whether a text begins with a date whose year has four digits, as nearly all do. */
function beginsWithDate(text: string): boolean {
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return false;
  const year = two(text, 0) * 100 + two(text, 2);
  const month = two(text, 5);
  const day = two(text, 8);
  return year >= 0 && month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysOf(year, month));
}

const daysOf = (year: number, month: number): number =>
  month === 2 ? (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Of texts that match, whether the month has the day. */
function withDay(pattern: string): Test {
  const matches = matching(pattern);
  return (text) => {
    if (!matches(text)) return false;
    const [, year, month, day] = /^(-?\d+)-(\d\d)-(\d\d)/.exec(text) as RegExpExecArray;
    // Years repeat after 400, and they may have any number of digits.
    return Number(day) <= daysOf(Number(BigInt(year as string) % 400n), Number(month));
  };
}

/** Whether there are hours, minutes and seconds at `at`, and nothing behind them. */
const isTimeAt = (text: string, at: number): boolean =>
  text.length === at + 8 &&
  two(text, at) <= 23 &&
  text.charCodeAt(at + 2) === COLON &&
  two(text, at + 3) <= 59 &&
  text.charCodeAt(at + 5) === COLON &&
  two(text, at + 6) <= 59;

const anyDate = withDay(`${YEAR}-${MONTH}-${DAY}${ZONE}`);
const anyDateTime = withDay(`${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE}`);
const anyTime = matching(`${TIME}${ZONE}`);

const isDate: Test = (text) => (text.length === 10 && beginsWithDate(text)) || anyDate(text);
const isDateTime: Test = (text) => (text.charCodeAt(10) === 84 && isTimeAt(text, 11) && beginsWithDate(text)) || anyDateTime(text);

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A space may stand between two characters. Bits of the last letter that belong to no byte are zero. A loop: the text may have megabytes. */
function isBase64(text: string): boolean {
  let letters = 0;
  let padding = 0;
  let last = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '=') padding++;
    else if (character !== ' ') {
      if (padding > 0 || !LETTERS.includes(character)) return false;
      letters++;
      last = character;
    } else if (at === 0 || at === text.length - 1 || text[at - 1] === ' ') return false;
  }
  if ((letters + padding) % 4 !== 0 || padding > 2) return false;
  const spare = padding === 2 ? 16 : padding === 1 ? 4 : 1;
  return padding === 0 || LETTERS.indexOf(last) % spare === 0;
}

const NAME_START =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `${NAME_START}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}`;

/** Names of XML, which are made of characters. */
function named(pattern: string): Test {
  const whole = new RegExp(`^${pattern}$`, 'u');
  return (text) => whole.test(fromBytes(text));
}

const withoutColon = (set: string): string => set.replace(':', '');

const row = (example: string, has: Test, isPlain = true) => ({ example, has, isPlain });

/** By the local name of the datatype. Every text is one of xsd:string and xsd:anyURI, and of datatypes that RDF does not take. */
const SPACES: Readonly<Record<string, Omit<LexicalSpace, 'name'>>> = {
  boolean: row('true', (text) => text === 'true' || text === 'false' || text === '1' || text === '0'),
  integer: row('42', isInteger),
  nonNegativeInteger: row('42', within(true, '', undefined)),
  positiveInteger: row('42', within(false, '', undefined)),
  nonPositiveInteger: row('-42', within(true, undefined, '')),
  negativeInteger: row('-42', within(false, undefined, '')),
  long: row('42', signed(64n)),
  int: row('42', signed(32n)),
  short: row('42', signed(16n)),
  byte: row('42', signed(8n)),
  unsignedLong: row('42', unsigned(64n)),
  unsignedInt: row('42', unsigned(32n)),
  unsignedShort: row('42', unsigned(16n)),
  unsignedByte: row('42', unsigned(8n)),
  decimal: row('1.5', isDecimal),
  double: row('1.5E0', isFloat),
  float: row('1.5E0', isFloat),
  date: row('2024-02-28', isDate),
  dateTime: row('2024-02-28T13:30:00', isDateTime),
  dateTimeStamp: row('2024-02-28T13:30:00Z', withDay(`${YEAR}-${MONTH}-${DAY}T${TIME}${ZONE.slice(0, -1)}`)),
  time: row('13:30:00', (text) => isTimeAt(text, 0) || anyTime(text)),
  gYear: row('2024', matching(`${YEAR}${ZONE}`)),
  gYearMonth: row('2024-02', matching(`${YEAR}-${MONTH}${ZONE}`)),
  gMonth: row('--02', matching(`--${MONTH}${ZONE}`)),
  gMonthDay: row('--02-28', matching(`--(?:${MONTH}-(?:0[1-9]|1\\d|2\\d)|(?:0[13-9]|1[0-2])-30|(?:0[13578]|1[02])-31)${ZONE}`)),
  gDay: row('---28', matching(`---${DAY}${ZONE}`)),
  duration: row('P1DT12H', matching(`-?P(?=.)(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?${TIME_OF_DURATION}`)),
  yearMonthDuration: row('P1Y6M', matching('-?P(?=.)(?:\\d+Y)?(?:\\d+M)?')),
  dayTimeDuration: row('P1DT12H', matching(`-?P(?=.)(?:\\d+D)?${TIME_OF_DURATION}`)),
  hexBinary: row('0FB7', (text) => text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text)),
  base64Binary: row('D7c=', isBase64),
  normalizedString: row('one line', (text) => !/[\t\n\r]/.test(text), false),
  token: row('one line', (text) => !/[\t\n\r]|^ | $| {2}/.test(text), false),
  language: row('en-GB', matching('[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*')),
  NMTOKEN: row('a-1', named(`[${NAME}]+`), false),
  Name: row('a:b', named(`[${NAME_START}][${NAME}]*`), false),
  NCName: row('a-1', named(`[${withoutColon(NAME_START)}][${withoutColon(NAME)}]*`), false),
};

const KNOWN: ReadonlyMap<string, LexicalSpace> = new Map(
  Object.entries(SPACES).map(([name, space]) => [XSD + name, { ...space, name: `xsd:${name}` }]),
);

/** undefined: every text is in the lexical space of the datatype, or nothing is known of it. @param datatype an IRI */
export const lexicalSpace = (datatype: string): LexicalSpace | undefined => KNOWN.get(datatype);

/** Whether an ordinary text is in the lexical space of a datatype; true for every text of a datatype that is not known here. */
export const isLexicalForm = (text: string, datatype: string): boolean => KNOWN.get(datatype)?.has(toBytes(text)) ?? true;

/** By datatype: others whose lexical space has all of its canonical forms. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  integer: ['decimal', 'double', 'float'],
  decimal: ['double', 'float'],
  double: ['float'],
};

/** Whether each canonical form of a datatype is in the lexical space of another one. */
export function isWithin(datatype: string, other: string): boolean {
  if (datatype === other) return true;
  const local = (iri: string): string => (iri.startsWith(XSD) ? iri.slice(XSD.length) : '');
  return WIDER[local(datatype)]?.includes(local(other)) ?? false;
}
