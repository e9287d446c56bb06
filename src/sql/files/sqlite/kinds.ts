/** The declared types of SQLite columns, and how the engine writes values of another storage class than the declared one. */

/**
 * What a declared type means. SQLite stores values of any class in a column, unless its table is STRICT.
 *
 * @see https://www.sqlite.org/datatype3.html
 */
export type Kind = 'text' | 'integer' | 'double' | 'decimal' | 'boolean' | 'date' | 'time' | 'dateTime' | 'blob' | 'any';

/** The storage classes: integer, real, text, BLOB. */
export type StorageClass = 'i' | 'r' | 't' | 'b';

/** Begins the text of a value whose storage class its kind does not expect; the class follows. */
export const MARK = '\0';

/** The classes that a kind expects. All others are marked. */
export const EXPECTED: Readonly<Record<Kind, string>> = {
  text: 't',
  integer: 'i',
  double: 'r',
  decimal: 'ir',
  boolean: 'i',
  date: 't',
  time: 't',
  dateTime: 't',
  blob: 'b',
  any: 't',
};

const NAMES: Readonly<Record<string, Kind>> = {
  BOOLEAN: 'boolean',
  BOOL: 'boolean',
  DATE: 'date',
  TIME: 'time',
  DATETIME: 'dateTime',
  TIMESTAMP: 'dateTime',
  DECIMAL: 'decimal',
  NUMERIC: 'decimal',
  NUMBER: 'decimal',
};

/** The names of types that are no words of SQLite's affinities, then the affinities in SQLite's order. */
export function kindOf(type: string | undefined): Kind {
  if (type === undefined) return 'any';
  const name = type.toUpperCase();
  const known = NAMES[name.replace(/\s*\(.*$/s, '').trim()];
  if (known !== undefined) return known;
  if (name.includes('INT')) return 'integer';
  if (/CHAR|CLOB|TEXT/.test(name)) return 'text';
  if (name.includes('BLOB')) return 'blob';
  return /REAL|FLOA|DOUB/.test(name) ? 'double' : 'any';
}
