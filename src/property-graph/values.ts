/** RDF literals as property values of a graph database. */
import { fromBytes } from '../core/text.ts';
import { XSD } from '../core/value.ts';
import { parseTemporal, type Temporal, type TemporalDatatype } from './temporal.ts';

/**
 * A string is characters, a bigint a 64-bit integer, a number a 64-bit float (also `NaN` and infinities), an object a point in time or a
 * duration.
 */
export type PropertyValue = string | bigint | number | boolean | Temporal;

/** Several values are distinct, of one type, and unordered. One value is never a list. */
export type Property = PropertyValue | readonly PropertyValue[];

export interface Literal {
  readonly value: PropertyValue;
  /** As written in the statement. */
  readonly language: string | undefined;
}

type Family = 'integer' | 'decimal' | 'double' | 'boolean' | TemporalDatatype;

const INTEGERS = [
  'integer',
  'long',
  'int',
  'short',
  'byte',
  'nonNegativeInteger',
  'positiveInteger',
  'nonPositiveInteger',
  'negativeInteger',
  'unsignedLong',
  'unsignedInt',
  'unsignedShort',
  'unsignedByte',
];

/** By the end of a literal, after its closing quote. Any other datatype is text. */
const FAMILIES: ReadonlyMap<string, Family> = new Map<string, Family>(
  (
    [
      ...INTEGERS.map((name) => [name, 'integer'] as const),
      ['decimal', 'decimal'],
      ['double', 'double'],
      ['float', 'double'],
      ['boolean', 'boolean'],
      ['date', 'date'],
      ['dateTime', 'dateTime'],
      ['dateTimeStamp', 'dateTime'],
      ['time', 'time'],
      ['duration', 'duration'],
      ['dayTimeDuration', 'duration'],
      ['yearMonthDuration', 'duration'],
    ] as const
  ).map(([name, family]) => [`^^<${XSD}${name}>`, family]),
);

/**
 * The value of a literal in the form of `Statement`.
 *
 * A value that the native type cannot represent exactly stays text: an integer beyond 64 bits, a decimal with more than 15 digits, an
 * invalid lexical form, a date with a time zone, fractions of a second beyond nanoseconds.
 */
export function literalOf(term: string): Literal {
  const close = term.lastIndexOf('"');
  const text = unescape(fromBytes(term.slice(1, close)));
  if (close === term.length - 1) return { value: text, language: undefined };
  if (term.charCodeAt(close + 1) === 64) return { value: text, language: term.slice(close + 2) };
  const family = FAMILIES.get(term.slice(close + 1));
  return { value: family === undefined ? text : nativeValue(text, family), language: undefined };
}

const INTEGER = /^[+-]?[0-9]+$/;
const DECIMAL = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/;
const DOUBLE = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['INF', Number.POSITIVE_INFINITY],
  ['+INF', Number.POSITIVE_INFINITY],
  ['-INF', Number.NEGATIVE_INFINITY],
  ['NaN', Number.NaN],
]);
/** Number of digits of a decimal that survive conversion to a double and back. */
const EXACT_DIGITS = 15;

function nativeValue(text: string, family: Family): PropertyValue {
  switch (family) {
    case 'integer':
      return INTEGER.test(text) ? integerOf(text) : text;
    case 'decimal':
      return DECIMAL.test(text) && digitsOf(text) <= EXACT_DIGITS ? Number(text) : text;
    case 'double':
      return DOUBLE.test(text) ? Number(text) : (SPECIAL.get(text) ?? text);
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text;
    default:
      return parseTemporal(text, family) ?? text;
  }
}

function integerOf(text: string): PropertyValue {
  if (text.length < 16) return BigInt(Number(text));
  // `BigInt` takes quadratic time in the length.
  if (digitsOf(text) > 19) return text;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : text;
}

/** Digits without insignificant zeros at either end. */
const digitsOf = (text: string): number =>
  text.length <= EXACT_DIGITS
    ? text.length
    : (text.includes('.') ? text.replace(/0+$/, '') : text).replace(/^[+-]?0*\.?0*/, '').replace('.', '').length;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '"': '"', '\\': '\\' };

const unescape = (text: string): string =>
  text.includes('\\')
    ? text.replace(/\\(?:u([0-9A-Fa-f]{4})|(.))/g, (_, code: string | undefined, letter: string) =>
        code === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

/** A value as text, for properties with values of several types. Different values of one type have different texts. */
export function textOf(value: PropertyValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return value.text;
  return Object.is(value, -0) ? '-0' : String(value);
}

/**
 * The property with these values. A list has one type: integers with floats become floats if nothing is lost, any other mixture becomes
 * text. Combining a combined property with more values gives the same result as combining all values at once.
 */
export function combine(values: readonly PropertyValue[]): Property {
  if (values.length === 1) return values[0] as PropertyValue;
  const uniform = uniformOf(values);
  const distinct = [...new Map(uniform.map((value) => [textOf(value), value])).values()];
  return distinct.length === 1 ? (distinct[0] as PropertyValue) : distinct;
}

function uniformOf(values: readonly PropertyValue[]): readonly PropertyValue[] {
  const kinds = new Set(values.map(kindOf));
  if (kinds.size === 1) return values;
  const numbers = kinds.size === 2 && kinds.has('bigint') && kinds.has('number');
  if (numbers && values.every((value) => typeof value === 'number' || Number.isSafeInteger(Number(value)))) return values.map(Number);
  return values.map(textOf);
}

const kindOf = (value: PropertyValue): string => (typeof value === 'object' ? value.kind : typeof value);

/** The values of a property. */
export const valuesOf = (property: Property): readonly PropertyValue[] =>
  Array.isArray(property) ? property : [property as PropertyValue];
