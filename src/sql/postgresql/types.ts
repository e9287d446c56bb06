/** Column types of PostgreSQL: display names, natural datatypes, canonical forms. */
import type { Column } from '../database.ts';
import { type Natural, naturalColumn, partly, plain, typed } from '../result/natural.ts';
import {
  readArray,
  readBoolean,
  readBytea,
  readDate,
  readFloat,
  readInterval,
  readNumeric,
  readTimestamp,
  readTimestamptz,
  readTimetz,
} from './values.ts';

/** Catalogue data of a column's type. */
export interface TypeRow {
  /** With its modifier: `numeric(10,2)`. */
  readonly name: string;
  readonly oid: number;
  readonly kind: 'base' | 'enum' | 'other';
  /** The element type of an array, with domains resolved; undefined: not an array. */
  readonly element: { readonly oid: number; readonly delimiter: string } | undefined;
}

/**
 * The types of columns by oid and modifier, in the given order. Domains of columns are already resolved to base types by the server. `$1`:
 * oids, `$2`: modifiers.
 */
export const TYPES_SQL = `
SELECT pg_catalog.format_type(u.oid, u.modifier) AS name, t.typtype::text AS kind, e.typdelim::text AS delimiter,
  (WITH RECURSIVE b AS (
    SELECT e.oid, e.typbasetype, e.typtype
    UNION ALL SELECT p.oid, p.typbasetype, p.typtype FROM b JOIN pg_catalog.pg_type p ON p.oid = b.typbasetype WHERE b.typtype = 'd'
  ) SELECT b.oid FROM b WHERE b.typtype <> 'd')::text AS element
FROM ROWS FROM (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int4[])) WITH ORDINALITY AS u(oid, modifier, position)
LEFT JOIN pg_catalog.pg_type t ON t.oid = u.oid LEFT JOIN pg_catalog.pg_type e ON e.typarray = t.oid
ORDER BY u.position`;

/** A row of `TYPES_SQL`. */
export function typeRow(oid: number, row: Readonly<Record<string, string | null>>): TypeRow {
  const { element } = row;
  return {
    name: row.name ?? '',
    oid,
    kind: row.kind === 'b' ? 'base' : row.kind === 'e' ? 'enum' : 'other',
    element: element == null ? undefined : { oid: Number(element), delimiter: row.delimiter ?? ',' },
  };
}

/** The server compares fewer of their characters than their texts have, or `=` with another type cannot compare all of them. */
const OTHER = plain('other', false);

/**
 * By oid. Only types whose `=` compares what the texts show have a family: not character(n), whose padding is ignored, and not the floats,
 * where -0 equals 0.
 */
const NATURAL: ReadonlyMap<number, Natural> = new Map([
  [16, typed('boolean', 'boolean', true, readBoolean)],
  [17, typed('binary', 'hexBinary', true, readBytea)],
  [18, plain('other', true)], // "char"
  [19, plain('other', true)], // name
  [20, typed('number', 'integer', true)],
  [21, typed('number', 'integer', true)],
  [23, typed('number', 'integer', true)],
  [25, plain('text', true)],
  [26, typed('other', 'integer', true)], // oid; there is no = for it and numeric
  [700, typed('other', 'double', false, readFloat)],
  [701, typed('other', 'double', false, readFloat)],
  [1042, plain('other', true)], // character(n)
  [1043, plain('text', true)],
  [1082, partly('date', 'date', true, readDate)],
  [1083, typed('time', 'time', true)], // 24:00:00 stays: it is another value than 00:00:00
  [1114, partly('timestamp', 'dateTime', true, readTimestamp)],
  [1184, partly('timestamp with time zone', 'dateTime', true, readTimestamptz)],
  [1186, partly('other', 'duration', false, readInterval)],
  [1266, partly('other', 'time', false, readTimetz)],
  [1700, partly('number', 'decimal', true, readNumeric)],
  [2950, plain('uuid', true)],
]);

const CHARACTER = 1042;

/**
 * @param collations whether the database has collations under which different texts are equal
 * @see https://www.w3.org/TR/r2rml/#natural-mapping
 */
export function columnOf(name: string, row: TypeRow, collations: boolean): Column {
  const { element } = row;
  if (element !== undefined) {
    const column = naturalColumn(name, row.name, NATURAL.get(element.oid) ?? OTHER);
    return { ...column, family: 'other', elements: (array) => readArray(array, element.delimiter), exact: false };
  }
  return naturalColumn(name, row.name, naturalOf(row, collations));
}

function naturalOf({ oid, kind, name }: TypeRow, collations: boolean): Natural {
  if (kind === 'enum') return plain('other', true);
  const natural = NATURAL.get(oid) ?? OTHER;
  if (natural.family === 'text' && collations) return OTHER;
  // Without a length, texts that differ in trailing spaces are equal.
  if (oid === CHARACTER && (collations || !name.includes('('))) return OTHER;
  return natural;
}
