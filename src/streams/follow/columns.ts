/** The columns of kept rows, as the engine reads those of a database. */
import { excerpt, Fault } from '../../core/fault.ts';
import { fromBytes } from '../../core/text.ts';
import { TypedValue, type Value, XSD } from '../../core/value.ts';
import { naturalNumber } from '../../sources/json/references.ts';
import { Numeral } from '../../sources/json/text.ts';
import type { Column } from '../../sql/database.ts';
import { canonicalDecimal, withoutZeros } from '../../sql/numbers.ts';
import {
  readArray,
  readBytea,
  readDate,
  readFloat,
  readInterval,
  readNumeric,
  readTimestamp,
  readTimestamptz,
  readTimetz,
} from '../../sql/postgresql/values.ts';
import { type Natural, naturalColumn, partly, plain, typed } from '../../sql/result/natural.ts';
import { type Json, parseJson, printJson } from '../debezium/json.ts';
import { isInfinite, isoDate, readIso } from '../debezium/times.ts';
import { type ColumnKind, type FeedColumn, UNREADABLE } from '../events.ts';

const TRUE = /^(?:t|true|1|\x01)$/;

/** Throws Fault record/term where the message did not have the value. */
const readable =
  (read: (text: string) => string) =>
  (text: string): string => {
    if (text[0] === UNREADABLE) throw unreadable(text);
    return read(text);
  };

/** @param text begins with `UNREADABLE` */
export function unreadable(text: string): Fault {
  const [reason, hint] = text.slice(1).split('. ');
  return new Fault('record/term', reason as string, hint === undefined ? {} : { hint });
}

/** The texts are those of the server: the forms of PostgreSQL, MySQL and MariaDB. No column is given to a database to compare: the family is `other`. */
const NATURAL: Readonly<Record<ColumnKind, Natural>> = {
  text: plain('other', false),
  boolean: typed('other', 'boolean', false, (text) => (TRUE.test(text) ? 'true' : 'false')),
  integer: typed('other', 'integer', false, (text) => text.replace(/^0+(?=\d)/, '')),
  decimal: partly('other', 'decimal', false, readNumeric),
  double: typed('other', 'double', false, readFloat),
  date: partly('other', 'date', false, readable(readDate)),
  time: partly('other', 'time', false, (text) => withoutZeros(readTime(text))),
  'time with time zone': partly('other', 'time', false, readTimetz),
  timestamp: partly(
    'other',
    'dateTime',
    false,
    readable((text) => withoutZeros(readTimestamp(text))),
  ),
  'timestamp with time zone': partly('other', 'dateTime', false, readable(readTimestamptz)),
  interval: partly('other', 'duration', false, readable(readInterval)),
  year: typed('other', 'gYear', false),
  binary: typed('other', 'hexBinary', false, readBinary),
};

/** MySQL's TIME is a duration, also of more than a day. */
function readTime(text: string): string {
  if (text >= '00' && text <= '24:00:00') return text;
  throw new Fault('record/term', `${excerpt(fromBytes(text))} is no time of a day`, { place: { value: excerpt(fromBytes(text)) } });
}

/** PostgreSQL's text, or a character for each byte. */
function readBinary(text: string): string {
  if (text.startsWith('\\x')) return readBytea(text);
  return Buffer.from(fromBytes(text), 'latin1').toString('hex').toUpperCase();
}

/** A column that a schema describes. */
export function typedColumn({ name, kind, isArray }: FeedColumn): Column {
  const column = naturalColumn(name, kind, NATURAL[kind]);
  return isArray === true ? { ...column, elements: (text) => readArray(text, ',') } : column;
}

/** Datatypes of a mapping that say how the values of a column without a schema are written. */
const DECLARED = ['date', 'dateTime', 'time', 'decimal'] as const;
export type DeclaredType = (typeof DECLARED)[number];

/** undefined: it says nothing that matters here. */
export const declaredType = (datatype: string): DeclaredType | undefined => DECLARED.find((name) => datatype === XSD + name);

/** In front of the text of a cell of an untyped column. */
export const TOKEN = 'j';
export const TEXT = 't';

/**
 * A column without a schema. Its cells have `TOKEN` or `TEXT` in front.
 *
 * @param declared what a term map of the mapping says of it
 * @param hasZone whether times and timestamps have the zone that is written, and not none
 */
export function untypedColumn(name: string, declared: DeclaredType | undefined, hasZone: boolean): Column {
  const column = naturalColumn(name, 'unknown', plain('other', false));
  return {
    ...column,
    partial: declared !== undefined,
    elements: elementsOf,
    value: (cell) => {
      const [text, isToken] = [cell.slice(1), cell[0] === TOKEN];
      return declared === undefined ? (isToken ? valueOfToken(text) : text) : declaredValue(text, isToken, declared, hasZone);
    },
  };
}

/** The non-null elements of an array, as cells: nested arrays are flattened, as those of a column with a schema. undefined: the cell is no array. */
function elementsOf(cell: string): readonly string[] | undefined {
  if (cell[0] !== TOKEN || cell[1] !== '[') return undefined;
  const cellsOf = (value: Json): readonly string[] => {
    if (value === null) return [];
    if (Array.isArray(value)) return value.flatMap(cellsOf);
    return [typeof value === 'string' ? TEXT + value : TOKEN + printJson(value)];
  };
  return cellsOf(parseJson(cell.slice(1)));
}

const valueOfToken = (token: string): Value =>
  token === 'true' || token === 'false' ? new TypedValue(token, `${XSD}boolean`) : naturalNumber(new Numeral(token));

const ZONE = /(?:Z|[+-]\d\d:?\d\d)$/;

function declaredValue(text: string, isToken: boolean, declared: DeclaredType, hasZone: boolean): Value {
  const datatype = XSD + declared;
  switch (declared) {
    case 'decimal':
      if (/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(text)) return new TypedValue(canonicalDecimal(text), datatype);
      if (!isToken && BASE64.test(text)) throw noScale(text);
      return text;
    case 'date':
      // Days since 1970, unless time.precision.mode says something else.
      if (isToken) return new TypedValue(dayOf(text), datatype);
      return new TypedValue(finite(text, declared).replace(ZONE, ''), datatype);
    default: {
      if (isToken) throw noUnit(text, declared);
      const zone = ZONE.exec(text)?.[0] ?? '';
      const time = withoutZeros(finite(text.slice(0, text.length - zone.length), declared)).replace(/^(\S+) /, '$1T');
      return new TypedValue(hasZone ? time + zone : time, datatype);
    }
  }
}

/** Without the sign of years after 9999, which XML Schema does not write. @throws Fault record/term — it stands for an infinite one */
function finite(text: string, declared: DeclaredType): string {
  if (text[0] !== '+' && text[0] !== '-') return text;
  const moment = readIso(text);
  if (moment !== undefined && isInfinite(moment)) throw infinite(text, declared);
  return text[0] === '+' ? text.slice(1) : text;
}

function dayOf(token: string): string {
  const days = Number(token);
  if (!Number.isSafeInteger(days)) throw noUnit(token, 'date');
  if (isInfinite({ days, nanos: 0n })) throw infinite(token, 'date');
  return isoDate(days);
}

const infinite = (text: string, declared: DeclaredType): Fault =>
  new Fault('record/term', `${excerpt(fromBytes(text))} stands for an infinite value, and no xsd:${declared} is infinite`, {
    place: { value: excerpt(fromBytes(text)) },
  });

/** The text of a decimal whose digits are bytes, or another text that no decimal is. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const SCHEMAS =
  'let its messages have schemas (value.converter=org.apache.kafka.connect.json.JsonConverter and value.converter.schemas.enable=true, or Avro)';

const noScale = (text: string): Fault =>
  new Fault(
    'record/term',
    `${excerpt(text)} is no xsd:decimal: the digits of a decimal without a schema are bytes, whose scale is not known`,
    {
      place: { value: excerpt(text) },
      hint: `Set decimal.handling.mode=string in the connector, or ${SCHEMAS}`,
    },
  );

const noUnit = (token: string, declared: DeclaredType): Fault =>
  new Fault('record/term', `${excerpt(fromBytes(token))} is no xsd:${declared}: a number without a schema does not say what it counts`, {
    place: { value: excerpt(fromBytes(token)) },
    hint: `Set time.precision.mode=isostring in the connector, or ${SCHEMAS}`,
  });
