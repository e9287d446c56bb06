/** Column types of Oracle: how their values are asked for, natural datatypes, canonical forms. */
import { excerpt, Fault } from '../../../core/fault.ts';
import { fromBytes, toBytes } from '../../../core/text.ts';
import type { Column, Family } from '../../database.ts';
import { canonicalDecimal, canonicalDouble, shortestSingle } from '../../numbers.ts';
import { type Natural, naturalColumn } from '../../result/natural.ts';
import type { Driver, DriverColumn, DriverValue } from './driver.ts';

interface TypeRow extends Natural {
  /** The text of a value as SQL; absent: the driver gives it. */
  readonly sql?: (column: string) => string;
  /** The class as which the driver gives the value; absent: its own. */
  readonly fetch?: 'STRING' | 'BUFFER';
  /** A value may be so large that few rows are read at once. */
  readonly large?: true;
}

const DAY = 'SYYYY-MM-DD"T"HH24:MI:SS';
const written = (format: string) => (column: string) => `TO_CHAR(${column}, '${format}')`;

const typed = (family: Family, datatype: string, exact: boolean, rest: Partial<TypeRow> = {}): TypeRow => ({
  family,
  datatype,
  exact,
  ...rest,
});

/**
 * Oracle's `=` pads CHAR, and compares by the collation of its columns, of the session, or of the database. So texts are of the family that is never
 * compared there: joins on them are made by the engine, which compares what is written. A unique key of texts holds: what the server distinguishes differs.
 */
const TEXT: TypeRow = { family: 'other', exact: true };
const LARGE_TEXT: TypeRow = { family: 'other', exact: false, fetch: 'STRING', large: true };

/** By the driver's name of the type. @see https://www.w3.org/TR/r2rml/#natural-mapping */
const TYPES: Readonly<Record<string, TypeRow>> = {
  NUMBER: typed('number', 'decimal', true, { canonical: decimalOf, fetch: 'STRING' }),
  'BINARY INTEGER': typed('number', 'integer', true),
  BINARY_INTEGER: typed('number', 'integer', true),
  BINARY_FLOAT: typed('other', 'double', false, { canonical: doubleOf }),
  BINARY_DOUBLE: typed('other', 'double', false, { canonical: doubleOf }),
  BOOLEAN: typed('boolean', 'boolean', true),
  // Oracle's DATE has a time.
  DATE: typed('timestamp', 'dateTime', true, { canonical: dateTimeOf, partial: true, sql: written(DAY) }),
  TIMESTAMP: typed('timestamp', 'dateTime', true, { canonical: dateTimeOf, partial: true, sql: written(`${DAY}.FF9`) }),
  'TIMESTAMP WITH TIME ZONE': typed('other', 'dateTime', false, {
    canonical: dateTimeOf,
    partial: true,
    sql: written(`${DAY}.FF9TZH:TZM`),
  }),
  // In the time zone of the session, which is UTC.
  'TIMESTAMP WITH LOCAL TIME ZONE': typed('other', 'dateTime', false, {
    canonical: (text) => `${dateTimeOf(text)}Z`,
    partial: true,
    sql: written(`${DAY}.FF9`),
  }),
  'INTERVAL DAY TO SECOND': typed('other', 'duration', false, { canonical: durationOf, sql: (column) => `TO_CHAR(${column})` }),
  'INTERVAL YEAR TO MONTH': typed('other', 'duration', false, { canonical: durationOf, sql: (column) => `TO_CHAR(${column})` }),
  CHAR: TEXT,
  NCHAR: TEXT,
  VARCHAR: TEXT,
  VARCHAR2: TEXT,
  NVARCHAR: TEXT,
  NVARCHAR2: TEXT,
  ROWID: TEXT,
  UROWID: TEXT,
  LONG: { ...LARGE_TEXT, large: true },
  CLOB: LARGE_TEXT,
  NCLOB: LARGE_TEXT,
  XMLTYPE: { ...LARGE_TEXT, sql: (column) => `XMLSERIALIZE(CONTENT ${column} AS CLOB)` },
  JSON: { ...LARGE_TEXT, sql: (column) => `JSON_SERIALIZE(${column} RETURNING CLOB)` },
  RAW: typed('other', 'hexBinary', true),
  'LONG RAW': typed('other', 'hexBinary', false, { large: true }),
  BLOB: typed('other', 'hexBinary', false, { fetch: 'BUFFER', large: true }),
};

const rowOf = ({ dbTypeName = '', scale, precision }: DriverColumn): TypeRow | undefined => {
  const name = dbTypeName.replace(/^DB_TYPE_/, '').toUpperCase();
  if (name === 'NUMBER' && scale === 0 && precision !== undefined && precision > 0)
    return typed('number', 'integer', true, { canonical: decimalOf, fetch: 'STRING' });
  return TYPES[name];
};

export function columnOf(column: DriverColumn): Column {
  return naturalColumn(column.name, typeName(column), rowOf(column) ?? unreadable(column));
}

function typeName({ dbTypeName = '', precision = 0, scale = 0, byteSize }: DriverColumn): string {
  const name = dbTypeName.replace(/^DB_TYPE_/, '').toLowerCase();
  if (name === 'number' && precision > 0) return scale === 0 ? `number(${precision})` : `number(${precision},${scale})`;
  return /char/.test(name) && byteSize !== undefined ? `${name}(${byteSize})` : name;
}

/** Whether one value may be many megabytes. */
export const isLarge = (column: DriverColumn): boolean => rowOf(column)?.large === true;

/**
 * The query, or one around it that asks for dates, intervals, JSON and XML as text: the driver makes Dates of them, in the time zone of this machine.
 *
 * The names of a derived table are those of its columns; where two are the same, the query is named with names of ours.
 */
export function asTexts(sql: string, columns: readonly DriverColumn[]): string {
  if (!columns.some((column) => rowOf(column)?.sql !== undefined)) return sql;
  const names = columns.map(({ name }) => name);
  const isPlain = new Set(names).size === names.length && !names.some((name) => name.includes('"'));
  const own = isPlain ? names.map((name) => `"${name}"`) : names.map((_, i) => `C${i + 1}`);
  const shown = columns.map((column, i) => rowOf(column)?.sql?.(`q.${own[i]}`) ?? `q.${own[i]}`);
  return isPlain
    ? `SELECT ${shown.join(', ')} FROM (${sql}\n) q`
    : `WITH q (${own.join(', ')}) AS (${sql}\n) SELECT ${shown.join(', ')} FROM q`;
}

/** For the driver: numbers and LOBs as texts. @param columns those of the query, which `asTexts` may have changed */
export function fetchAs(driver: Driver, column: DriverColumn): { readonly type: unknown } | undefined {
  const as = rowOf(column)?.fetch;
  return as === undefined ? undefined : { type: driver[as] };
}

/** The text of a value of the driver, as one-byte UTF-8. */
export function textOf(value: DriverValue, column: DriverColumn): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return toBytes(value);
  if (Buffer.isBuffer(value)) return value.toString('hex').toUpperCase();
  if (typeof value === 'number') return /FLOAT$/i.test(column.dbTypeName ?? '') ? shortestSingle(value) : String(value);
  return typeof value === 'boolean' ? String(value) : `a ${column.dbTypeName ?? 'value'}`;
}

/** Digits, perhaps with an exponent: `1.5E+100`. No digit is lost. */
function decimalOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', power] = /^([+-]?)(\d*)(?:\.(\d*))?E([+-]?\d+)$/i.exec(text) ?? [];
  if (power === undefined) return canonicalDecimal(text);
  const digits = whole + fraction;
  const point = whole.length + Number(power);
  if (point <= 0) return canonicalDecimal(`${sign}0.${'0'.repeat(-point)}${digits}`);
  return canonicalDecimal(
    point >= digits.length ? sign + digits + '0'.repeat(point - digits.length) : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`,
  );
}

function doubleOf(text: string): string {
  if (text === 'Infinity') return 'INF';
  if (text === '-Infinity') return '-INF';
  return canonicalDouble(text) ?? text;
}

/** ` 2024-05-31T12:30:00.500000000+02:00` → `2024-05-31T12:30:00.5+02:00`. A year before Christ is no value: Oracle has no year 0, and XML Schema has. */
function dateTimeOf(text: string): string {
  const [, instant, fraction = '', zone = ''] = /^\s?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d*))?([+-]\d\d:\d\d)?$/.exec(text) ?? [];
  if (instant === undefined) {
    const value = excerpt(fromBytes(text));
    throw new Fault('record/term', `${value} is no date of our era`, {
      place: { value },
      hint: "Write TO_CHAR(…, 'SYYYY-MM-DD') in a query to keep it as text",
    });
  }
  const rest = fraction.replace(/0+$/, '');
  return `${instant}${rest === '' ? '' : `.${rest}`}${/^[+-]00:00$/.test(zone) ? 'Z' : zone}`;
}

/** `+02 10:00:05.500000000` → `P2DT10H5.5S`, `-01-06` → `-P1Y6M`. */
function durationOf(text: string): string {
  const [, sign, years, months] = /^([+-])0*(\d+)-0*(\d+)$/.exec(text) ?? [];
  if (years !== undefined) return signed(sign, years === '0' && months === '0' ? 'P0M' : `P${part(years, 'Y')}${part(months, 'M')}`);
  const found = /^([+-])0*(\d+) 0*(\d+):0*(\d+):0*(\d+)(?:\.(\d*?)0*)?$/.exec(text);
  if (found === null) return text;
  const [, minus, days, hours, minutes, seconds, fraction] = found;
  const time = `${part(hours, 'H')}${part(minutes, 'M')}${part(fraction ? `${seconds}.${fraction}` : seconds, 'S')}`;
  const all = `${part(days, 'D')}${time === '' ? '' : `T${time}`}`;
  return all === '' ? 'PT0S' : signed(minus, `P${all}`);
}

const part = (digits: string | undefined, unit: string): string => (digits === '0' || digits === undefined ? '' : digits + unit);
const signed = (sign: string | undefined, duration: string): string => (sign === '-' && /[1-9]/.test(duration) ? `-${duration}` : duration);

/** Objects, collections, cursors, vectors, files outside of the database. */
function unreadable(column: DriverColumn): TypeRow {
  const canonical = (): string => {
    throw new Fault('record/term', `Values of the type ${typeName(column)} cannot be read as text`, {
      place: { value: typeName(column) },
      hint: `Read a part of the column ${column.name} in a query, such as an attribute of the object`,
    });
  };
  return { family: 'other', canonical, exact: false, partial: true };
}
