/**
 * Values of messages → the texts that a SELECT of the table gives, by their semantic types, so that a stream and a table that is read directly make
 * the same statements. PostgreSQL's texts are those of a session of `src/sql/postgresql`: DateStyle ISO, IntervalStyle iso_8601, UTC.
 *
 * Bytes are `\x` and hexadecimal digits on every product, since a text of an event has characters. MySQL's BIT(n) is bytes.
 *
 * What a message does not have cannot be given back, and is another text than that of the table: the spaces of MySQL's CHAR, zeros at the end of the
 * fraction of MySQL's times, the leading zeros of PostgreSQL's BIT VARYING, the zone of a TIMETZ, the currency of MONEY, the second dimension of an
 * array. `docs/debezium.md` lists them.
 *
 * @see https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-data-types and the same page for MariaDB
 */
import { createHash } from 'node:crypto';
import { shortestSingle } from '../../sql/numbers.ts';
import { type ColumnKind, type FeedColumn, type RowValue, UNREADABLE } from '../events.ts';
import { isObject, type Json, JsonNumber, type JsonObject, printJson } from './json.ts';
import type { Schema } from './schema.ts';
import { dateText, infinityOf, type Moment, microsOf, momentOf, readIso, timeText } from './times.ts';

/** Name of the connector in `source.connector`. Others than MySQL's and MariaDB's are written as PostgreSQL writes. */
export type Connector = string;

/** A value that has no exact text. The message is rejected. */
export class Undecodable extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

interface SemanticType {
  readonly kind: ColumnKind;
  readonly text: (value: Json, schema: Schema, connector: Connector) => string;
}

const isMysql = (connector: Connector): boolean => connector === 'mysql' || connector === 'mariadb';

export function columnOf(name: string, schema: Schema, connector: Connector): FeedColumn {
  if (schema.type === 'array' && schema.items !== undefined) return { name, kind: kindOf(schema.items, connector), isArray: true };
  return { name, kind: kindOf(schema, connector) };
}

function kindOf(schema: Schema, connector: Connector): ColumnKind {
  const { kind } = typeOf(schema);
  if (!isMysql(connector)) return kind;
  // TIMESTAMP has no zone when it is read, BIT(n) and geometries are bytes, and BIGINT UNSIGNED in the mode `precise` is a decimal without precision.
  if (schema.name === `${TIME}ZonedTimestamp`) return 'timestamp';
  if (schema.name === `${DATA}Bits` || schema.name?.startsWith(GEOMETRY)) return 'binary';
  return kind === 'decimal' && schema.parameters.scale === '0' && schema.parameters[PRECISION] === undefined ? 'integer' : kind;
}

/**
 * The text of a value; null: SQL's NULL.
 *
 * @throws Undecodable — the message does not have what the text needs; says which setting of the connector mends it
 */
export function textOf(value: Json | undefined, schema: Schema, connector: Connector): string | null {
  if (value === null || value === undefined) return null;
  if (schema.type === 'array') return arrayText(value, (item) => textOf(item, schema.items as Schema, connector));
  return typeOf(schema).text(value, schema, connector);
}

/** Without a schema: a text is what it is. */
export function untypedValue(value: Json | undefined, connector: Connector): RowValue {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null;
  if (value instanceof JsonNumber) return { json: value.text };
  if (typeof value === 'boolean') return { json: String(value) };
  if (Array.isArray(value)) return { json: `[${value.map((item) => itemText(untypedValue(item, connector))).join(',')}]` };
  if (isObject(value) && value.scale instanceof JsonNumber && typeof value.value === 'string') return { json: variableDecimal(value) };
  if (isObject(value) && typeof value.wkb === 'string') return geometry(value, connector);
  return printJson(value);
}

const itemText = (value: RowValue): string => (typeof value === 'object' && value !== null ? value.json : JSON.stringify(value));

/** The text of a part of a key. */
export const plainText = (value: RowValue): string | null => (typeof value === 'object' && value !== null ? value.json : value);

/** Stands for a value that is stored apart (TOAST) and has not changed. */
export const UNAVAILABLE = '__debezium_unavailable_value';
const UNAVAILABLE_BASE64 = Buffer.from(UNAVAILABLE).toString('base64');
const UNAVAILABLE_CODES = [...Buffer.from(UNAVAILABLE)].join();
/** What Java's `UUID.nameUUIDFromBytes` makes of it. */
const UNAVAILABLE_UUID = uuidOf(UNAVAILABLE);

/** Whether a value of a message may stand for one that has not changed. A column can hold that text by itself: see `message.ts`. */
export function mayBeUnavailable(value: Json | undefined, schema: Schema | undefined): boolean {
  if (typeof value === 'string') return value === UNAVAILABLE || (value === UNAVAILABLE_BASE64 && (schema?.type ?? 'bytes') === 'bytes');
  if (Array.isArray(value)) {
    const [only] = value;
    if (value.length === 1) return only === UNAVAILABLE || only === UNAVAILABLE_BASE64 || only === UNAVAILABLE_UUID;
    return value.length === UNAVAILABLE.length && value.map(printJson).join() === UNAVAILABLE_CODES;
  }
  return isObject(value) && value[UNAVAILABLE] === UNAVAILABLE;
}

function uuidOf(name: string): string {
  const bytes = createHash('md5').update(name).digest();
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x30;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const TIME = 'io.debezium.time.';
const DATA = 'io.debezium.data.';
const GEOMETRY = 'io.debezium.data.geometry.';
const CONNECT = 'org.apache.kafka.connect.data.';
const PRECISION = 'connect.decimal.precision';

const text: SemanticType = { kind: 'text', text: (value) => (typeof value === 'string' ? value : printJson(value)) };
const integer: SemanticType = { kind: 'integer', text: digits };

const PLAIN: Readonly<Record<Schema['type'], SemanticType>> = {
  int8: integer,
  int16: integer,
  int32: integer,
  int64: integer,
  float: { kind: 'double', text: (value, _, connector) => floatText(value, connector, true) },
  double: { kind: 'double', text: (value, _, connector) => floatText(value, connector, false) },
  boolean: {
    kind: 'boolean',
    text: (value, _, connector) => (isMysql(connector) ? (value === true ? '1' : '0') : value === true ? 't' : 'f'),
  },
  string: text,
  bytes: { kind: 'binary', text: (value) => `\\x${bytesOf(value).toString('hex')}` },
  array: text,
  map: { kind: 'text', text: hstoreText },
  struct: text,
};

const date = (days: (value: Json) => number): SemanticType => ({
  kind: 'date',
  text: (value, _, connector) => dateOf(days(value), connector),
});

const time = (unit: bigint): SemanticType => ({ kind: 'time', text: (value) => signedTime(BigInt(digits(value)) * unit) });

const timestamp = (moment: (value: Json) => Moment): SemanticType => ({
  kind: 'timestamp',
  text: (value, _, connector) => timestampOf(moment(value), connector),
});

const parts = (unit: bigint) => (value: Json) => momentOf(BigInt(digits(value)), unit);
const MILLI = 1_000_000n;
const MICRO = 1_000n;

const SEMANTIC: ReadonlyMap<string, SemanticType> = new Map([
  [`${CONNECT}Decimal`, { kind: 'decimal', text: decimal }],
  [`${DATA}VariableScaleDecimal`, { kind: 'decimal', text: (value) => variableDecimal(objectOf(value)) }],
  [`${CONNECT}Date`, date((value) => Number(digits(value)))],
  [`${TIME}Date`, date((value) => Number(digits(value)))],
  [`${TIME}IsoDate`, date((value) => iso(value).days)],
  [`${CONNECT}Time`, time(MILLI)],
  [`${TIME}Time`, time(MILLI)],
  [`${TIME}MicroTime`, time(MICRO)],
  [`${TIME}NanoTime`, time(1n)],
  [`${TIME}IsoTime`, { kind: 'time', text: (value) => shortFraction(stringOf(value).replace(/Z$/, '')) }],
  [`${TIME}ZonedTime`, { kind: 'time with time zone', text: zonedTime }],
  [`${CONNECT}Timestamp`, timestamp(parts(MILLI))],
  [`${TIME}Timestamp`, timestamp(parts(MILLI))],
  [`${TIME}MicroTimestamp`, timestamp(parts(MICRO))],
  [`${TIME}NanoTimestamp`, timestamp(parts(1n))],
  [`${TIME}IsoTimestamp`, timestamp(iso)],
  [`${TIME}ZonedTimestamp`, { kind: 'timestamp with time zone', text: zonedTimestamp }],
  [`${TIME}Interval`, { kind: 'interval', text: (value) => intervalText(stringOf(value)) }],
  [`${TIME}MicroDuration`, { kind: 'interval', text: (value) => durationText(BigInt(digits(value)) * MICRO) }],
  [`${TIME}NanoDuration`, { kind: 'interval', text: (value) => durationText(BigInt(digits(value))) }],
  [`${TIME}Year`, { kind: 'year', text: yearText }],
  [`${DATA}Bits`, { kind: 'text', text: bits }],
  [`${DATA}Enum`, { kind: 'text', text: enumText }],
  [`${GEOMETRY}Point`, { kind: 'text', text: (value, _, connector) => geometry(objectOf(value), connector) }],
  [`${GEOMETRY}Geometry`, { kind: 'text', text: (value, _, connector) => geometry(objectOf(value), connector) }],
  [`${GEOMETRY}Geography`, { kind: 'text', text: (value, _, connector) => geometry(objectOf(value), connector) }],
]);

const typeOf = ({ name, type }: Schema): SemanticType => (name === undefined ? undefined : SEMANTIC.get(name)) ?? PLAIN[type];

function digits(value: Json): string {
  if (value instanceof JsonNumber && /^-?\d+$/.test(value.text)) return value.text;
  throw new Undecodable(`${printJson(value)} is no integer, as its schema says`);
}

function stringOf(value: Json): string {
  if (typeof value === 'string') return value;
  throw new Undecodable(`${printJson(value)} is no string, as its schema says`);
}

function objectOf(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw new Undecodable(`${printJson(value)} is no object, as its schema says`);
}

function iso(value: Json): Moment {
  const moment = readIso(stringOf(value));
  if (moment !== undefined) return moment;
  throw new Undecodable(`${printJson(value)} is no date of ISO 8601, as its schema says`);
}

const bytesOf = (value: Json): Buffer => Buffer.from(stringOf(value), 'base64');

/** Big-endian two's complement, as Java's `BigInteger.toByteArray` writes it. */
function unscaled(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`));
}

/** `decimal.format` is BASE64, or NUMERIC. */
function decimal(value: Json, { parameters }: Schema): string {
  if (value instanceof JsonNumber) return plainDecimal(value.text);
  return scaled(unscaled(bytesOf(value)), Number(parameters.scale ?? 0));
}

const variableDecimal = (value: JsonObject): string => scaled(unscaled(bytesOf(value.value ?? null)), Number(digits(value.scale ?? null)));

/** PostgreSQL's numeric has 16,383 digits after the point, and 131,072 before it. */
const MOST_SCALE = 131_072;

/** All digits of the scale are written, as servers do. */
function scaled(value: bigint, scale: number): string {
  if (!(Math.abs(scale) <= MOST_SCALE)) throw new Undecodable(`a decimal with the scale ${scale} is none that a database holds`);
  if (scale <= 0) return String(value * 10n ** BigInt(-scale));
  const all = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  return `${value < 0n ? '-' : ''}${all.slice(0, -scale)}.${all.slice(-scale)}`;
}

/** `1.5E+3` → `1500`: Java writes numbers with a large scale with an exponent. */
function plainDecimal(number: string): string {
  const [, sign = '', whole = '', fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  return power === undefined ? number : scaled(BigInt(sign + whole + fraction), fraction.length - Number(power));
}

const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/** The shortest digits that read as the same number, with an exponent where the server writes one. */
function floatText(value: Json, connector: Connector, isSingle: boolean): string {
  if (typeof value === 'string' && NOT_FINITE.has(value)) return value;
  if (!(value instanceof JsonNumber)) throw new Undecodable(`${printJson(value)} is no number, as its schema says`);
  const number = Number(value.text);
  // MySQL shows six digits of a FLOAT.
  if (isMysql(connector)) return String(isSingle ? Number(number.toPrecision(6)) : number).replace('e+', 'e');
  const shortest = isSingle ? shortestSingle(Math.fround(number)) : String(number);
  if (number === 0) return Object.is(number, -0) ? '-0' : '0';
  const [mantissa = '', power = '0'] = Number(shortest).toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= (isSingle ? 6 : 15))
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  return scaled(BigInt(mantissa.replace('.', '')), (mantissa.split('.')[1]?.length ?? 0) - exponent);
}

/** What PostgreSQL holds: from 4713 BC to 5874897 as a date, to 294276 as a timestamp. */
const FIRST_DAY = -2_440_588;
const LAST_DAY = 2_145_042_905;

function dateOf(days: number, connector: Connector): string {
  const infinite = infinityOf({ days, nanos: 0n });
  if (infinite !== undefined && !isMysql(connector)) return infinite;
  if (days < FIRST_DAY || days > LAST_DAY) return outside(`${days} days since 1970`);
  const { text, isBc } = dateText(days);
  return isBc ? `${text} BC` : text;
}

function timestampOf(moment: Moment, connector: Connector): string {
  const infinite = infinityOf(moment);
  if (infinite !== undefined && !isMysql(connector)) return infinite;
  if (moment.days < FIRST_DAY || moment.days > 106_751_991) return outside(`${microsOf(moment)} microseconds since 1970`);
  const { text, isBc } = dateText(moment.days);
  return `${text} ${timeText(moment.nanos)}${isBc ? ' BC' : ''}`;
}

const outside = (what: string): string =>
  `${UNREADABLE}${what} are no date that the database holds. Set time.precision.mode=isostring at the connector`;

/** MySQL's TIME is a duration of up to 838 hours. */
const signedTime = (nanos: bigint): string => (nanos < 0n ? `-${timeText(-nanos)}` : timeText(nanos));

/** `10:00:00Z` → `10:00:00+00`. */
function zonedTime(value: Json): string {
  const [, clock, zone = ''] = /^(.*?)(Z|[+-].*)$/.exec(stringOf(value)) ?? [];
  if (clock === undefined) throw new Undecodable(`${printJson(value)} is no time with a zone, as its schema says`);
  return shortFraction(clock) + (zone === 'Z' ? '+00' : zone.replace(/:00$/, ''));
}

const shortFraction = (clock: string): string => (clock.includes('.') ? clock.replace(/\.?0+$/, '') : clock);

function zonedTimestamp(value: Json, _: Schema, connector: Connector): string {
  if (value === 'infinity' || value === '-infinity') return value;
  const moment = iso(value);
  const { text, isBc } = dateText(moment.days);
  return `${text} ${timeText(moment.nanos)}${isMysql(connector) ? '' : '+00'}${isBc ? ' BC' : ''}`;
}

/** `P0Y0M1DT0H0M0S` → `P1D`. */
function intervalText(interval: string): string {
  const [, day = '', clock = ''] = /^P([^T]*)(?:T(.*))?$/.exec(interval) ?? [];
  const kept = (all: string): string =>
    (all.match(/-?\d+(?:\.\d+)?[YMDHS]/g) ?? [])
      .map((part) => (part.includes('.') ? part.replace(/\.?0+(?=S$)/, '') : part))
      .filter((part) => /[1-9]/.test(part))
      .join('');
  const [days, times] = [kept(day), kept(clock)];
  return days + times === '' ? 'PT0S' : `P${days}${times === '' ? '' : `T${times}`}`;
}

/** The length that Debezium gives a month: 30.4375 days. */
const NANOS_PER_MONTH = 2_629_800_000_000_000n;

/**
 * Claim: a duration that is shorter than a month has no months. Proof: Debezium adds 30.4375 days for each, and PostgreSQL's days and times are added
 * exactly; parts of both signs, such as `1 mon -10 days`, are the exception, and XML Schema does not have them either.
 */
function durationText(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  if (size >= NANOS_PER_MONTH)
    return `${UNREADABLE}The interval has lost its months: it came as ${nanos / 1000n} microseconds. Set interval.handling.mode=string at the connector`;
  const sign = nanos < 0n ? '-' : '';
  const seconds = size / 1_000_000_000n;
  const fraction = String(size % 1_000_000_000n).padStart(9, '0');
  return intervalText(`PT${sign}${seconds / 3600n}H${sign}${(seconds / 60n) % 60n}M${sign}${seconds % 60n}.${fraction}S`);
}

/** MySQL's year 0000 comes as 1900, which YEAR does not have. */
function yearText(value: Json): string {
  const year = digits(value);
  return year === '1900' ? '0000' : year.padStart(4, '0');
}

/** Little-endian bytes. */
function bits(value: Json, { parameters }: Schema, connector: Connector): string {
  const bytes = bytesOf(value).reverse();
  if (isMysql(connector)) return `\\x${bytes.toString('hex')}`;
  const all = bytes.length === 0 ? '' : BigInt(`0x${bytes.toString('hex')}`).toString(2);
  const length = Number(parameters.length ?? 0);
  return length > MOST_BITS ? all : all.padStart(length, '0');
}

/** A BIT VARYING without a length has 2^31 − 1. */
const MOST_BITS = 83_886_080;

/** MariaDB's connector escapes commas. */
function enumText(value: Json, _: Schema, connector: Connector): string {
  return connector === 'mariadb' ? stringOf(value).replaceAll('\\,', ',') : stringOf(value);
}

function geometry(value: JsonObject, connector: Connector): string {
  const wkb = bytesOf(value.wkb ?? null).toString('hex');
  if (isMysql(connector)) {
    const srid = Buffer.alloc(4);
    if (value.srid instanceof JsonNumber) srid.writeUInt32LE(Number(value.srid.text));
    return `\\x${srid.toString('hex')}${wkb}`;
  }
  const coordinate = (one: Json | undefined): string => floatText(one ?? null, connector, false);
  return value.x === undefined ? wkb.toUpperCase() : `(${coordinate(value.x)},${coordinate(value.y)})`;
}

/** `"a"=>"1", "b"=>NULL`. */
function hstoreText(value: Json): string {
  const quoted = (part: Json | undefined): string => (part === null ? 'NULL' : `"${String(part).replace(/["\\]/g, '\\$&')}"`);
  return Object.entries(objectOf(value))
    .map(([name, member]) => `${quoted(name)}=>${quoted(member)}`)
    .join(', ');
}

/** As PostgreSQL writes an array. @see https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function arrayText(value: Json, text: (item: Json) => string | null): string {
  if (!Array.isArray(value)) throw new Undecodable(`${printJson(value)} is no array, as its schema says`);
  const items = value.map((item: Json) => {
    const one = text(item);
    if (one === null) return 'NULL';
    if (Array.isArray(item)) return one;
    return one === '' || /^null$|[{}",\\\s]/i.test(one) ? `"${one.replace(/["\\]/g, '\\$&')}"` : one;
  });
  return `{${items.join(',')}}`;
}
