/**
 * References into JSON records → accessors, and the RDF values of JSON values.
 *
 * @see https://www.w3.org/TR/r2rml/#natural-mapping for the natural datatypes, which RML-Core adopts for JSON
 */
import { excerpt, Fault, type FaultPlace } from '../../core/fault.ts';
import { fromBytes, toBytes } from '../../core/text.ts';
import { type Accessor, TypedValue, type Value, type Values, XSD } from '../../core/value.ts';
import { isSingular, type Query } from '../../paths/json/model.ts';
import { fromRecord } from '../../paths/json/parse.ts';
import { compileSegments } from './path/query.ts';
import { compileSingular } from './path/singular.ts';
import type { Slot } from './slots/plan.ts';
import { ForeignValue, foreignValue, IllFormedText, illFormedPart, Numeral, writtenNumber } from './text.ts';

const INTEGER = `${XSD}integer`;
const DOUBLE = `${XSD}double`;
const BOOLEAN = `${XSD}boolean`;
const TRUE = new TypedValue('true', BOOLEAN);
const FALSE = new TypedValue('false', BOOLEAN);

/** An accessor that remembers whether any record had a node for it. */
export interface TrackedReader {
  readonly read: Accessor;
  /** True also where no record was asked. */
  readonly matched: () => boolean;
  readonly asked: () => boolean;
}

/** How values of a reference are converted. */
export interface ValueRules {
  readonly dialect: 'rml' | 'legacy';
  /** Lexical values that mean null, as ordinary text. */
  readonly nulls: readonly string[];
  /** Input and expression, for faults. */
  readonly place: FaultPlace;
}

/**
 * The accessor of a reference. Text is returned as it is. In the current dialect, a number is an xsd:integer or xsd:double and a boolean an
 * xsd:boolean; in the legacy dialect both are returned as written. JSON null is no value. In the legacy dialect an array stands for its
 * members.
 *
 * The accessor throws Fault record/term for an object, for text that is not valid Unicode, and in the current dialect for an array.
 */
export function compileReference(query: Query, rules: ValueRules): TrackedReader {
  const convert = compileConvert(rules);
  let matched = false;
  let missed = false;
  if (isSingular(query)) {
    const find = compileSingular({ absolute: false, segments: query.segments });
    const read: Accessor = (record) => {
      const node = find(record, record);
      if (node === undefined) {
        missed = true;
        return null;
      }
      matched = true;
      return convert(node);
    };
    return { read, matched: () => matched || !missed, asked: () => matched || missed };
  }
  const find = compileSegments(query.segments);
  const read: Accessor = (record) => {
    const nodes: unknown[] = [];
    find(record, record, nodes);
    if (nodes.length === 0) {
      missed = true;
      return null;
    }
    matched = true;
    return convertAll(nodes, convert);
  };
  return { read, matched: () => matched || !missed, asked: () => matched || missed };
}

/**
 * The accessor of a reference that was read into a slot, and the same for its values as written: without a natural datatype, for terms that do
 * not ask for it.
 */
export function slotReference({ index, several }: Slot, rules: ValueRules): TrackedReader {
  let matched = false;
  let missed = false;
  const readerWith =
    <Read extends Values>(convert: (node: unknown) => Read): ((record: unknown) => Read | null) =>
    (record) => {
      const node = (record as readonly unknown[])[index];
      if (node === undefined) {
        missed = true;
        return null;
      }
      matched = true;
      return several ? (convertAll(node as readonly unknown[], convert) as Read) : convert(node);
    };
  const read: Accessor = readerWith(compileConvert(rules));
  // A null may equal the text or the spelling, so both are needed.
  if (rules.nulls.length === 0)
    read.written = readerWith(compileConvert(rules, false) as (node: unknown) => null | string | readonly string[]);
  return { read, matched: () => matched || !missed, asked: () => matched || missed };
}

function convertAll(nodes: readonly unknown[], convert: Convert): Values {
  if (nodes.length === 1) return convert(nodes[0]);
  const values: Value[] = [];
  for (const node of nodes) append(values, convert(node));
  return values;
}

function append(values: Value[], more: Values): void {
  if (more === null) return;
  if (typeof more === 'string' || more instanceof TypedValue) values.push(more);
  // No spread: the number of call arguments is limited, the length of an array is not.
  else for (const value of more) values.push(value);
}

type Convert = (node: unknown) => Values;

/** @param typed whether values have natural datatypes */
function compileConvert(rules: ValueRules, typed = rules.dialect === 'rml'): Convert {
  const number = typed ? naturalNumber : writtenNumber;
  const convert = (node: unknown, items: string): Values => {
    if (typeof node === 'string') return node;
    if (typeof node === 'number' || node instanceof Numeral) return number(node);
    if (typeof node === 'boolean') return typed ? (node ? TRUE : FALSE) : String(node);
    if (node === null) return null;
    if (node instanceof IllFormedText) throw illFormed(node, rules.place);
    if (node instanceof ForeignValue) return foreign(node, rules);
    if (!Array.isArray(node))
      throw notScalar('an object', memberHint(node as object, `${recordPath(rules.place.expression)}${items}`), rules.place);
    if (rules.dialect === 'rml') throw notScalar('an array', `Its elements are ${rules.place.expression}[*]`, rules.place);
    const values: Value[] = [];
    const inner = `${items}[*]`;
    for (const member of node) append(values, convert(member, inner));
    return values;
  };
  const scalar: Convert = (node) => convert(node, '');
  if (rules.nulls.length === 0) return scalar;
  const nulls = new Set(rules.nulls.map(toBytes));
  const present = (value: Value): boolean =>
    typeof value === 'string' ? !nulls.has(value) : !nulls.has(value.text) && !nulls.has(value.written);
  return (node) => {
    const values = scalar(node);
    if (values === null) return null;
    if (typeof values === 'string' || values instanceof TypedValue) return present(values) ? values : null;
    return values.filter(present);
  };
}

/** The expression as JSONPath writes it: legacy mappings also write `@` and `.` for the record. */
const recordPath = (expression = '$'): string => fromRecord(expression.trim()) ?? expression;

/** @param expression finds the object */
function memberHint(node: object, expression: string): string {
  const [first] = Object.keys(node);
  if (first === undefined) return 'It has no members';
  const member = fromBytes(first);
  return `Name a member of it: ${expression}${/^[\p{L}_][\p{L}\p{N}_]*$/u.test(member) ? `.${member}` : `[${JSON.stringify(member)}]`}`;
}

const notScalar = (what: string, hint: string, place: FaultPlace): Fault =>
  new Fault('record/term', `The reference points at ${what}, which has no text`, { place, hint });

function foreign(node: ForeignValue, { dialect, place }: ValueRules): Value {
  const value = foreignValue(node);
  if (value instanceof TypedValue) return dialect === 'rml' ? value : value.written;
  throw new Fault('record/term', value.message, { place: { ...place, value: value.value } });
}

function illFormed(text: IllFormedText, place: FaultPlace): Fault {
  const { escape, around } = illFormedPart(text);
  return new Fault('record/term', `The text has the escape ${escape}, half of a surrogate pair, which stands for no character`, {
    place: { ...place, value: excerpt(around).replaceAll('\\\\', '\\') },
    hint: 'A character beyond U+FFFF is two escapes, such as \\ud83d\\ude00; whatever wrote the document has lost or cut off the other one',
  });
}

/**
 * A number with digits only is an integer and keeps every digit; any other number is a double in canonical form. Both keep their original
 * spelling.
 */
export function naturalNumber(value: number | Numeral): TypedValue {
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) return new TypedValue(String(value), INTEGER);
    if (!Number.isInteger(value)) return doubleValue(value);
  }
  const written = writtenNumber(value);
  // The spelling decides: 1e+21 is a double, and so is 1e3.
  if (/^-?[0-9]+$/.test(written)) return new TypedValue(written === '-0' ? '0' : written, INTEGER, written);
  const double = Number(written);
  const short = Number.isInteger(double) ? undefined : shortDecimal(double);
  return new TypedValue(short?.text ?? canonicalDouble(double), DOUBLE, written);
}

/** An xsd:double, written as JavaScript writes it: `30.5`, `30`, `1e+21`, `INF`. */
export function doubleValue(value: number): TypedValue {
  if (!Number.isFinite(value)) return new TypedValue(canonicalDouble(value), DOUBLE);
  if (Number.isInteger(value)) return new TypedValue(canonicalDouble(value), DOUBLE, Object.is(value, -0) ? '-0' : String(value));
  return shortDecimal(value) ?? new TypedValue(canonicalDouble(value), DOUBLE, String(value));
}

/**
 * A fast path for decimals from 1 to 10^9 with one to three fraction digits, such as prices and measures; undefined for others.
 *
 * Up to 15 digits, a decimal and its nearest double determine each other. So if an integer divided by a power of ten equals the double, the
 * digits of the integer are those of the double. Writing an integer is several times faster than `String` of a fraction.
 */
function shortDecimal(value: number): TypedValue | undefined {
  if (!(value >= 1 && value < 1e9)) return undefined;
  let scale = 10;
  for (let places = 1; places <= 3; places++, scale *= 10) {
    const scaled = Math.round(value * scale);
    if (scaled / scale !== value) continue;
    const digits = String(scaled);
    const point = digits.length - places;
    return new TypedValue(`${digits[0]}.${digits.slice(1)}E${point - 1}`, DOUBLE, `${digits.slice(0, point)}.${digits.slice(point)}`);
  }
  return undefined;
}

/**
 * One digit, a point, at least one digit, `E`, the exponent: `30.5` becomes `3.05E1`.
 *
 * @see https://www.w3.org/TR/xmlschema-2/#double-canonical-representation
 */
export function canonicalDouble(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : value < 0 ? '-INF' : 'NaN';
  if (value === 0) return Object.is(value, -0) ? '-0.0E0' : '0.0E0';
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}E${exponent.startsWith('+') ? exponent.slice(1) : exponent}`;
}
