/** The SQL of MySQL and MariaDB. */
import { COMMON, type Dialect } from './dialect.ts';

export const MYSQL: Dialect = {
  ...COMMON,
  names: {
    ...COMMON.names,
    mark: '`',
    marks: ['"', '`'],
    // A name may begin with a digit, but not consist of digits alone.
    unquoted: /^(?!\d+$)[\w$\u0080-\uffff]+$/u,
    tableForm: 'table or database.table',
  },
  exactText: (quoted) => `CAST(CONVERT(${quoted} USING utf8mb4) AS BINARY)`,
  // `comparedText`: columns of other collations do not have the family.
  // A number and a text are compared as two floats, and a text and a number as well: `'10' < 9` does not follow the order of a text key. Quoting
  // depends on the sql_mode; a hexadecimal literal does not.
  literal: (text, isNumber) =>
    isNumber && /^-?\d{1,65}(?:\.\d{1,65})?(?:e[+-]?\d{1,3})?$/i.test(text) ? text : `_utf8mb4 X'${Buffer.from(text).toString('hex')}'`,
  // The rank in an order of the digests of all values, because the server sorts only by the first 1024 bytes and ignores case; one digest per row,
  // because the memory of sorting grows with the key.
  numberedRows(table, number, _, columns) {
    const digests = columns.map((column) => `COALESCE(SHA2(t.${column}, 256), '')`);
    return `SELECT ROW_NUMBER() OVER (ORDER BY SHA2(CONCAT_WS(',', ${digests.join(', ')}), 256)) AS ${number}, t.* FROM ${table} AS t`;
  },
};
