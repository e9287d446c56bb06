/** The types of DuckDB columns, and how the engine writes their values as text. */

/** `text` of any type that is not named here: DuckDB's own text, which is not compared. */
export type Kind =
  | 'varchar'
  | 'integer'
  | 'hugeint'
  | 'decimal'
  | 'double'
  | 'boolean'
  | 'date'
  | 'time'
  | 'timetz'
  | 'timestamp'
  | 'timestampOther'
  | 'timestamptz'
  | 'interval'
  | 'uuid'
  | 'blob'
  | 'name'
  | 'json'
  | 'text';

/** @see https://duckdb.org/docs/stable/sql/data_types/overview */
const KINDS: Readonly<Record<string, Kind>> = {
  VARCHAR: 'varchar',
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  BIGINT: 'integer',
  UTINYINT: 'integer',
  USMALLINT: 'integer',
  UINTEGER: 'integer',
  UBIGINT: 'integer',
  HUGEINT: 'hugeint',
  UHUGEINT: 'hugeint',
  BIGNUM: 'hugeint',
  FLOAT: 'double',
  DOUBLE: 'double',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIME: 'time',
  'TIME WITH TIME ZONE': 'timetz',
  TIMESTAMP: 'timestamp',
  TIMESTAMP_S: 'timestampOther',
  TIMESTAMP_MS: 'timestampOther',
  TIMESTAMP_NS: 'timestampOther',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  INTERVAL: 'interval',
  UUID: 'uuid',
  BLOB: 'blob',
  BIT: 'name',
};

/** @param type as DuckDB writes it: `DECIMAL(18,3)`, `STRUCT("a" INTEGER)[]` */
export function kindOf(type: string): Kind {
  const known = KINDS[type];
  if (known !== undefined) return known;
  if (type.endsWith(']') || /^(?:STRUCT|MAP)\(/.test(type)) return 'json';
  if (type.startsWith('DECIMAL(')) return 'decimal';
  return type.startsWith('ENUM(') ? 'name' : 'text';
}

/** SQL for the text of a column. */
export function textOf(column: string, kind: Kind): string {
  if (kind === 'varchar') return column;
  if (kind === 'blob') return `hex(${column})`;
  return kind === 'json' ? `CAST(to_json(${column}) AS VARCHAR)` : `CAST(${column} AS VARCHAR)`;
}
