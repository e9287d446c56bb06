/** The SQL of Oracle Database. */
import { COMMON, type Dialect } from './dialect.ts';

export const ORACLE: Dialect = {
  ...COMMON,
  names: {
    ...COMMON.names,
    unquoted: /^\p{L}[\p{L}\p{N}_$#]*$/u,
    // A letter whose capital is two letters stays.
    fold: (name, quoted) =>
      quoted ? name : name.replace(/\p{Ll}/gu, (letter) => (letter.toUpperCase().length === letter.length ? letter.toUpperCase() : letter)),
    hasCase: true,
  },
  // `exactText`, `comparedText`: columns of texts are of the family `other` here, so no DISTINCT and no join compares them (`drivers/oracle/types.ts`).
  // `literal`: the formats of dates are those of the session.
  // A table has the place of a row; a view may have none, and there the rank is that of the digests of all values. LOBs have none, which the server says.
  numberedRows(table, number, kind, columns) {
    const digests = columns.map((column) => `STANDARD_HASH(t.${column}, 'SHA256')`);
    const order = kind === 'table' ? 't.ROWID' : digests.join(', ');
    return `SELECT ROW_NUMBER() OVER (ORDER BY ${order}) AS ${number}, t.* FROM ${table} t`;
  },
  limit: (rows) => ({ before: '', behind: ` FETCH FIRST ${rows} ROWS ONLY` }),
  alias: ' ',
  isMultiple: (dividend, divisor) => `MOD(${dividend}, ${divisor}) = 0`,
};
