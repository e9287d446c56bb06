/** The SQL of SQL Server (Transact-SQL). */

import { COMMON, type Dialect } from './dialect.ts';
import { outlineOf } from './sqlserver-text.ts';

export const SQLSERVER: Dialect = {
  ...COMMON,
  names: {
    ...COMMON.names,
    brackets: true,
    unquoted: /^[A-Za-z_@#\u0080-\u{10ffff}][\w@$#\u0080-\u{10ffff}]*$/u,
    // `hasCase`: the collation of the database decides; by default case does not count.
  },
  // `exactText`, `comparedText`: columns of texts are of the family `other` here, so no DISTINCT and no join compares them (`drivers/sqlserver/types.ts`).
  literal: (text, isNumber) => (isNumber && /^-?\d{1,38}(?:\.\d{1,38})?$/.test(text) ? text : sqlText(text)),
  // The rank in an order of the digests of all values: collations ignore case, and a sort key has at most 8060 bytes. A digest has 32 bytes and a null
  // one, so two rows with the same key have the same values.
  numberedRows(table, number, _, columns) {
    const digests = columns.map((column) => `ISNULL(HASHBYTES('SHA2_256', CONVERT(varbinary(max), t.${column})), 0x00)`);
    return `SELECT ROW_NUMBER() OVER (ORDER BY HASHBYTES('SHA2_256', ${digests.join(' + ')})) AS ${number}, t.* FROM ${table} AS t`;
  },
  limit: (rows) => ({ before: `TOP (${rows}) `, behind: '' }),
  derived(query) {
    const { withClause, orders, offset, hints } = outlineOf(query);
    if (withClause || hints !== undefined) return undefined;
    // An order is refused within parentheses, unless it decides which rows there are.
    return orders && !offset ? `${query}\nOFFSET 0 ROWS` : query;
  },
};

/** A text as a literal of Unicode. There are no escapes in it but the doubled quotation mark. */
export const sqlText = (text: string): string => `N'${text.replaceAll("'", "''")}'`;
