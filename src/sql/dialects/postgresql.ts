/** The SQL of PostgreSQL. */
import { COMMON, type Dialect } from './dialect.ts';

/** Maximum bytes of a name; the server truncates longer ones, also between quotes. */
const NAME_BYTES = 63;

export const POSTGRESQL: Dialect = {
  ...COMMON,
  names: { ...COMMON.names, fold, hasCase: true, tableParts: 3 },
  exactText: (quoted) => `${quoted} COLLATE "C"`,
  // `comparedText`: in a database with other collations than those that compare texts exactly, no column has the family.
  literal: (text) => `'${text.replaceAll("'", "''")}'`,
  // The physical position of the row needs no sorting; with the partition, it is unique.
  numberedRows(table, number, kind) {
    const row = kind === 'table' ? 't.tableoid || t.ctid::text' : 'row_number() OVER (ORDER BY (t.*)::text COLLATE "C")';
    return `SELECT ${row} AS ${number}, t.* FROM ${table} AS t`;
  },
};

/** As a server with UTF-8 does: only ASCII letters are folded. */
function fold(name: string, quoted: boolean): string {
  const folded = quoted ? name : name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const bytes = Buffer.from(folded);
  if (bytes.length <= NAME_BYTES) return folded;
  let end = NAME_BYTES;
  while (((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
