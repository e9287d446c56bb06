/** Columns of SQLite: natural datatypes by declared type, and canonical forms of values by storage class. */
import { excerpt, Fault } from '../../../core/fault.ts';
import { fromBytes } from '../../../core/text.ts';
import { TypedValue, type Value, XSD } from '../../../core/value.ts';
import type { Column, Family } from '../../database.ts';
import { canonicalDecimal, canonicalDouble, padded } from '../../numbers.ts';
import type { EngineColumn } from '../engine.ts';
import { EXPECTED, type Kind, kindOf, MARK, type StorageClass } from './kinds.ts';

interface KindRow {
  readonly family: Family;
  readonly datatype: string | undefined;
  /** The canonical form; undefined: the datatype has no such value. */
  read(text: string, storage: StorageClass): string | undefined;
  /** Whether different values have different texts, and SQL compares them as we compare texts. */
  readonly exact: boolean;
  /** How a value of another kind is kept. */
  readonly hint: string;
}

const AS_TEXT = 'Write CAST({} AS TEXT) in a query to keep it as text';
const AS_DATE = "A date is text such as 2024-05-31; for seconds since 1970 write date({}, 'unixepoch') in a query";

const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?$/;

const doubleOf = (text: string, storage: StorageClass): string | undefined => {
  if (storage !== 'i' && storage !== 'r') return undefined;
  return /^-?INF$/.test(text) ? text : canonicalDouble(text);
};

const KINDS: Readonly<Record<Kind, KindRow>> = {
  text: { family: 'text', datatype: undefined, read: (text, storage) => (storage === 'b' ? undefined : text), exact: true, hint: AS_TEXT },
  integer: {
    family: 'number',
    datatype: 'integer',
    read: (text, storage) => (storage === 'i' ? text : undefined),
    exact: true,
    hint: AS_TEXT,
  },
  double: { family: 'number', datatype: 'double', read: doubleOf, exact: true, hint: AS_TEXT },
  decimal: { family: 'number', datatype: 'decimal', read: decimalOf, exact: true, hint: AS_TEXT },
  boolean: {
    family: 'boolean',
    datatype: 'boolean',
    read: (text, storage) => (storage === 'i' && (text === '0' || text === '1') ? (text === '1' ? 'true' : 'false') : undefined),
    exact: true,
    hint: AS_TEXT,
  },
  date: {
    family: 'date',
    datatype: 'date',
    read: (text, storage) => (storage === 't' && DATE.test(text) ? text : undefined),
    exact: true,
    hint: AS_DATE,
  },
  time: {
    family: 'other',
    datatype: 'time',
    read: (text, storage) => (storage === 't' ? timeOf(text) : undefined),
    exact: false,
    hint: AS_TEXT,
  },
  dateTime: {
    family: 'other',
    datatype: 'dateTime',
    read: (text, storage) => (storage === 't' ? dateTimeOf(text) : undefined),
    exact: false,
    hint: "A time is text such as 2024-05-31 12:30:00; for seconds since 1970 write datetime({}, 'unixepoch') in a query",
  },
  blob: {
    family: 'binary',
    datatype: 'hexBinary',
    read: (text, storage) => (storage === 'b' ? text : undefined),
    exact: true,
    hint: AS_TEXT,
  },
  any: { family: 'other', datatype: undefined, read: (text) => text, exact: false, hint: AS_TEXT },
};

/** @see https://www.w3.org/TR/r2rml/#natural-mapping */
export function columnOf({ name, type }: EngineColumn): Column {
  const kind = kindOf(type);
  const { family, datatype, exact } = KINDS[kind];
  const value = kind === 'any' ? valueOfAny : kind === 'double' ? doubleValue(name) : undefined;
  return {
    name,
    type: type?.toLowerCase() ?? 'any',
    family,
    datatype: datatype === undefined ? undefined : XSD + datatype,
    canonical: withPadding(canonicalOf(kind, name), type),
    ...(value === undefined ? {} : { value }),
    partial: kind !== 'any',
    elements: undefined,
    exact,
  };
}

/** The value of a CHAR(n) has its n characters, as on every product. */
function withPadding(canonical: (text: string) => string, type: string | undefined): (text: string) => string {
  const length = Number(/^\s*CHAR(?:ACTER)?\s*\(\s*(\d{1,9})\s*\)/i.exec(type ?? '')?.[1] ?? 0);
  return length === 0 ? canonical : (text) => padded(canonical(text), length);
}

/** The text and the storage class of a value, without the mark. */
function split(text: string, usual: StorageClass): readonly [text: string, storage: StorageClass] {
  return text.charCodeAt(0) === 0 ? [text.slice(2), text[1] as StorageClass] : [text, usual];
}

function canonicalOf(kind: Kind, name: string): (text: string) => string {
  const { read, hint } = KINDS[kind];
  const usual = EXPECTED[kind][0] as StorageClass;
  // Only a column of these kinds has values that need no look at all.
  const asItIs = kind === 'text' || kind === 'any' || kind === 'integer' || kind === 'blob';
  return (text) => {
    if (asItIs && text.charCodeAt(0) !== 0) return text;
    const [plain, storage] = split(text, usual);
    const found = read(plain, storage);
    if (found !== undefined) return found;
    const value = storage === 'b' ? `a BLOB of ${plain.length / 2} bytes` : excerpt(fromBytes(plain));
    const message = `${value} is no ${KINDS[kind].datatype ?? 'text'}, as which a column of its type is read`;
    throw new Fault('record/term', message, { place: { value }, hint: hint.replace('{}', name) });
  };
}

const CLASSES: Readonly<Record<'i' | 'r' | 'b', string>> = { i: 'integer', r: 'double', b: 'hexBinary' };

/** Each value of a column without declared type, such as an expression, has the datatype of its storage class. */
function valueOfAny(text: string): Value {
  const [plain, storage] = split(text, 't');
  if (storage === 't') return plain;
  return new TypedValue(storage === 'r' ? (doubleOf(plain, 'r') ?? plain) : plain, XSD + CLASSES[storage], plain);
}

/** A double stands in its canonical form only in a literal of its natural datatype. */
const doubleValue = (name: string): ((text: string) => Value) => {
  const canonical = canonicalOf('double', name);
  return (text) => new TypedValue(canonical(text), `${XSD}double`, text.startsWith(MARK) ? text.slice(2) : text);
};

/** A real as JavaScript writes it, perhaps with an exponent. */
function decimalOf(text: string, storage: StorageClass): string | undefined {
  if (storage !== 'i' && storage !== 'r') return undefined;
  const [, sign, whole, fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  if (power === undefined) return canonicalDecimal(text);
  const shift = Number(power);
  const digits = whole + fraction;
  const point = whole.length + shift;
  const plain =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : point >= digits.length
        ? digits + '0'.repeat(point - digits.length)
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return canonicalDecimal(sign + plain);
}

function timeOf(text: string): string | undefined {
  if (!TIME.test(text)) return undefined;
  const time = text.length === 5 ? `${text}:00` : text;
  return time.includes('.') ? time.replace(/\.?0+$/, '') : time;
}

function dateTimeOf(text: string): string | undefined {
  const [, date = '', time = '', zone = ''] = /^(\S{10})[ T](\S*?)(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const canonical = timeOf(time);
  return DATE.test(date) && canonical !== undefined ? `${date}T${canonical}${zone}` : undefined;
}
