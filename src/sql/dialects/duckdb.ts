/** The SQL of DuckDB. */
import { COMMON, type Dialect } from './dialect.ts';

const binary = (quoted: string): string => `${quoted} COLLATE "binary"`;

export const DUCKDB: Dialect = {
  ...COMMON,
  exactText: binary,
  comparedText: binary,
  // The rowid of a table needs no sorting; a column of that name hides it. Sorting spills to files.
  numberedRows(table, number, kind, columns) {
    const hasRowid = kind === 'table' && !columns.some((column) => column.toLowerCase() === '"rowid"');
    const row = hasRowid ? 't.rowid' : `ROW_NUMBER() OVER (ORDER BY ${columns.map((column) => `CAST(t.${column} AS VARCHAR)`).join(', ')})`;
    return `SELECT ${row} AS ${number}, t.* FROM ${table} AS t`;
  },
};
