/**
 * The values of a column by its physical type and annotation: texts, which are canonical where the column has a natural datatype; of
 * decimals and doubles, which are not written in their canonical form, values with both. What stands where a value cannot be read is an
 * `UnreadableValue`: only a record that needs it is rejected.
 *
 * @see https://github.com/apache/parquet-format/blob/master/LogicalTypes.md
 */
import { isUtf8 } from 'node:buffer';
import { excerpt } from '../../../core/fault.ts';
import { TypedValue, XSD } from '../../../core/value.ts';
import { canonicalDecimal } from '../../../sql/numbers.ts';
import { doubleValue } from '../../json/references.ts';
import { ForeignValue, UnreadableValue } from '../../json/text.ts';
import type { Annotation, Physical, TimeUnit } from '../file/metadata.ts';
import { BrokenParquet } from '../file/thrift.ts';
import type { LeafValues } from '../pages/values.ts';
import { dateOf, dateTimeOf, durationOf, int96Of, timeOf } from './times.ts';

export type LeafValue = string | TypedValue | UnreadableValue;

const BOOLEAN = `${XSD}boolean`;
const INTEGER = `${XSD}integer`;
const DECIMAL = `${XSD}decimal`;
const DATE = `${XSD}date`;
const TIME = `${XSD}time`;
const DATE_TIME = `${XSD}dateTime`;
const DURATION = `${XSD}duration`;
const HEX = `${XSD}hexBinary`;

export interface Leaf {
  readonly physical: Physical;
  readonly length: number;
  readonly annotation: Annotation;
}

/** The natural datatype of the plain texts of a column. undefined: they have none, or values carry it themselves. */
export function datatypeOf({ physical, annotation }: Leaf): string | undefined {
  switch (annotation.kind) {
    case 'text':
    case 'uuid':
    case 'decimal':
    case 'float16':
      return undefined;
    case 'date':
      return DATE;
    case 'time':
      return TIME;
    case 'timestamp':
      return DATE_TIME;
    case 'interval':
      return DURATION;
    default:
      break;
  }
  switch (physical) {
    case 'BOOLEAN':
      return BOOLEAN;
    case 'INT32':
    case 'INT64':
      return INTEGER;
    case 'INT96':
      return DATE_TIME;
    case 'FLOAT':
    case 'DOUBLE':
      return undefined;
    default:
      return HEX;
  }
}

/** Whether the values of a column are texts, and none has a datatype. */
export const hasNoDatatype = ({ annotation: { kind } }: Leaf): boolean => kind === 'text' || kind === 'uuid';

/** @throws BrokenParquet — the annotation does not fit the physical type */
export const leafValues = (leaf: Leaf): LeafValues<LeafValue> => valuesOf(leaf, TYPED);

/** The same values as they are written, without datatypes. @throws BrokenParquet as `leafValues` */
export const writtenValues = (leaf: Leaf): LeafValues<string | UnreadableValue> => valuesOf(leaf, WRITTEN);

/** What numbers become that are not written in their canonical form. */
interface NumberForms<T> {
  double(value: number): T;
  /** @param digits of the unscaled value, with its sign */
  decimal(digits: string, scale: number): T;
}

function valuesOf<T>(leaf: Leaf, forms: NumberForms<T>): LeafValues<T | string | UnreadableValue> {
  const { physical, annotation } = leaf;
  const isInteger = physical === 'INT32' || physical === 'INT64';
  const isBytes = physical === 'BYTE_ARRAY' || physical === 'FIXED_LEN_BYTE_ARRAY';
  const fits = ((): boolean => {
    switch (annotation.kind) {
      case 'none':
      case 'null':
        return true;
      case 'text':
      case 'binary':
        return isBytes;
      case 'decimal':
        return (isInteger || isBytes) && annotation.scale >= 0 && annotation.scale <= 10_000;
      case 'date':
        return physical === 'INT32';
      case 'time':
      case 'timestamp':
      case 'integer':
        return isInteger;
      case 'uuid':
        return physical === 'FIXED_LEN_BYTE_ARRAY' && leaf.length === 16;
      case 'float16':
        return physical === 'FIXED_LEN_BYTE_ARRAY' && leaf.length === 2;
      case 'interval':
        return physical === 'FIXED_LEN_BYTE_ARRAY' && leaf.length === 12;
      default:
        return false;
    }
  })();
  if (!fits) throw new BrokenParquet(`a column of ${physical} is annotated as ${annotation.kind}`);
  const integer = integersOf(leaf, forms);
  return {
    ofBoolean: (value) => (value ? 'true' : 'false'),
    ofInteger: integer,
    ofLong: integer,
    ofFloat: (value, bits) => forms.double(bits === 32 ? shortestSingle(value) : value),
    ofInt96: (bytes, at) =>
      int96Of(bytes, at) ?? new UnreadableValue('The timestamp has a time beyond 24 hours', bytes.toString('hex', at, at + 12)),
    ofText: annotation.kind === 'text' ? text : undefined,
    ofBytes: bytesOf(annotation, forms),
  };
}

const NOT_ASCII = /[^\x00-\x7f]/;

const text = (value: string, ascii: boolean): string | UnreadableValue =>
  ascii || !NOT_ASCII.test(value) || isUtf8(Buffer.from(value, 'latin1'))
    ? value
    : new UnreadableValue('The text is not valid UTF-8', excerpt(JSON.stringify(value)));

function integersOf<T>({ annotation }: Leaf, forms: NumberForms<T>): (value: number | bigint) => T | string | UnreadableValue {
  switch (annotation.kind) {
    case 'decimal': {
      const { scale } = annotation;
      return (value) => forms.decimal(integerText(value), scale);
    }
    case 'date':
      return (value) => dateOf(Number(value));
    case 'time': {
      const { unit, utc } = annotation;
      return (value) =>
        value < 0 || value >= 86_400 * unit
          ? new UnreadableValue('The time is beyond 24 hours', String(value))
          : timeOf(Number(value), unit) + (utc ? 'Z' : '');
    }
    case 'timestamp':
      return timestamp(annotation.unit, annotation.utc);
    case 'integer':
      if (annotation.signed) return integerText;
      if (annotation.bits === 64) return (value) => String(value < 0 ? BigInt.asUintN(64, BigInt(value)) : value);
      return (value) => String(value < 0 ? Number(value) + 2 ** 32 : value);
    default:
      return integerText;
  }
}

const THREE_DIGITS = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(3, '0'));
const UP_TO_THREE = Array.from({ length: 1_000 }, (_, i) => String(i));

/** As `String`, but without V8's cache of the texts of numbers, through which each of many different numbers outlives its batch. */
function integerText(value: number | bigint): string {
  if (typeof value === 'bigint' || value < 0 || value >= 1e9) return String(value);
  if (value < 1e3) return UP_TO_THREE[value] as string;
  const high = Math.floor(value / 1e3);
  const low = THREE_DIGITS[value - high * 1e3] as string;
  if (high < 1e3) return (UP_TO_THREE[high] as string) + low;
  const highest = Math.floor(high / 1e3);
  return (UP_TO_THREE[highest] as string) + (THREE_DIGITS[high - highest * 1e3] as string) + low;
}

function timestamp(unit: TimeUnit, utc: boolean): (value: number | bigint) => string {
  const zone = utc ? 'Z' : '';
  return (value) => dateTimeOf(value, unit) + zone;
}

function bytesOf<T>(annotation: Annotation, forms: NumberForms<T>): (bytes: Buffer) => T | string {
  switch (annotation.kind) {
    case 'decimal': {
      const { scale } = annotation;
      return (bytes) => forms.decimal(bigEndian(bytes), scale);
    }
    case 'uuid':
      return (bytes) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    case 'float16':
      return (bytes) => forms.double(half(bytes.readUInt16LE(0)));
    case 'interval':
      return durationOf;
    default:
      return (bytes) => bytes.toString('hex').toUpperCase();
  }
}

function writtenDecimal(digits: string, scale: number): string {
  if (scale === 0) return digits;
  const minus = digits.startsWith('-') ? '-' : '';
  const all = (minus === '' ? digits : digits.slice(1)).padStart(scale + 1, '0');
  return `${minus}${all.slice(0, -scale)}.${all.slice(-scale)}`;
}

const TYPED: NumberForms<TypedValue> = {
  double: doubleValue,
  decimal(digits, scale) {
    const written = writtenDecimal(digits, scale);
    return new TypedValue(scale === 0 ? written : canonicalDecimal(written), DECIMAL, written);
  },
};

const WRITTEN: NumberForms<string> = {
  double: (value) => doubleValue(value).written,
  decimal: writtenDecimal,
};

/** Digits of a number in two's complement. */
function bigEndian(bytes: Buffer): string {
  if (bytes.length === 0) return '0';
  if (bytes.length <= 6) return String(bytes.readIntBE(0, bytes.length));
  return String(BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`)));
}

/** The number of 64 bits with the fewest digits that is the same number of 32 bits: 0.1 instead of 0.10000000149011612. */
function shortestSingle(value: number): number {
  if (Number.isInteger(value)) return value;
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** @see IEEE 754 binary16 */
function half(bits: number): number {
  const sign = bits >> 15 === 1 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** The same values, as `convert` makes them. */
export function converted<T>(values: LeafValues<LeafValue>, convert: (value: LeafValue) => T): LeafValues<T> {
  const { ofText } = values;
  return {
    ofBoolean: (value) => convert(values.ofBoolean(value)),
    ofInteger: (value) => convert(values.ofInteger(value)),
    ofLong: (value) => convert(values.ofLong(value)),
    ofFloat: (value, bits) => convert(values.ofFloat(value, bits)),
    ofInt96: (bytes, at) => convert(values.ofInt96(bytes, at)),
    ofText: ofText === undefined ? undefined : (value, ascii) => convert(ofText(value, ascii)),
    ofBytes: (bytes) => convert(values.ofBytes(bytes)),
  };
}

/** Values as nodes of JSON, for paths. @param datatype of plain texts */
export function nodesOf(datatype: string | undefined): (value: LeafValue) => unknown {
  return (value) => {
    if (typeof value !== 'string') return new ForeignValue(value);
    if (datatype === undefined) return value;
    if (datatype === BOOLEAN) return value === 'true';
    // JSON's rules give these numbers the same text and datatype.
    if (datatype === INTEGER && value.length < 16) return Number(value);
    return new ForeignValue(new TypedValue(value, datatype));
  };
}
