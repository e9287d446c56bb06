/** The SQL of SQLite. */
import { COMMON, type Dialect } from './dialect.ts';

/** A column may be declared with a collation that ignores case or trailing spaces. */
const binary = (quoted: string): string => `${quoted} COLLATE BINARY`;

export const SQLITE: Dialect = {
  ...COMMON,
  names: { ...COMMON.names, marks: ['"', '`'], tableForm: 'table or main.table' },
  exactText: binary,
  comparedText: binary,
  // Not every table has a rowid. Sorting spills to a file.
  numberedRows(table, number, _, columns) {
    const order = columns.map((column) => binary(`t.${column}`));
    return `SELECT ROW_NUMBER() OVER (ORDER BY ${order.join(', ')}) AS ${number}, t.* FROM ${table} AS t`;
  },
};
