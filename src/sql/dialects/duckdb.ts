/** The SQL of DuckDB. */
import { COMMON, type Dialect } from './dialect.ts';

const binary = (quoted: string): string => `${quoted} COLLATE "binary"`;

export const DUCKDB: Dialect = {
  ...COMMON,
  names: {
    mark: '"',
    marks: ['"'],
    unquoted: /^[A-Za-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*$/u,
    fold: (name) => name,
    hasCase: false,
    tableParts: 2,
    tableForm: 'table or schema.table',
  },
  exactText: binary,
  comparedText: binary,
  literal: (text, isNumber) => (isNumber && /^-?\d+(?:\.\d+)?$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`),
  // The rowid of a table needs no sorting; a column of that name hides it. Sorting spills to files.
  numberedRows(table, number, kind, columns) {
    const hasRowid = kind === 'table' && !columns.some((column) => column.toLowerCase() === '"rowid"');
    const row = hasRowid ? 't.rowid' : `ROW_NUMBER() OVER (ORDER BY ${columns.map((column) => `CAST(t.${column} AS VARCHAR)`).join(', ')})`;
    return `SELECT ${row} AS ${number}, t.* FROM ${table} AS t`;
  },
};
