/** Statements in a binlog: DDL, and changes of rows that were logged as statements. */
import type { TableName } from '../../sql/tables.ts';

/** A comment that is none for MySQL keeps its content. */
const COMMENT = /\/\*(?!M?!)[^]*?\*\/|\/\*M?!\d*|\*\/|--(?=\s|$)[^\n]*|#[^\n]*/g;
const NAME = /`((?:[^`]|``)+)`|"((?:[^"]|"")+)"|[\w$\u0080-\uffff]+/g;
const TRUNCATE = /^TRUNCATE\s+(?:TABLE\s+)?([^]*?)\s*(?:WAIT\s+\d+|NOWAIT)?\s*;?$/i;
const OF_TABLES = /^(?:ALTER|CREATE|DROP|RENAME)\s(?:[\w\s]*\s)?TABLES?\b/i;
const OF_SCHEMA = /^(?:ALTER|DROP)\s+(?:DATABASE|SCHEMA)\b/i;
const TEMPORARY = /^(?:CREATE|DROP)\s(?:[\w\s]*\s)?TEMPORARY\b/i;

const namesIn = (sql: string): readonly string[] =>
  [...sql.matchAll(NAME)].map(([word, ticked, quoted]) => (ticked ?? quoted ?? word).replaceAll('``', '`').replaceAll('""', '"'));

export interface Touched {
  /** The table is emptied. */
  readonly truncated?: string;
  /** Tables that may have other rows or columns, which no event tells. Some are named that have the same. */
  readonly changed: readonly string[];
}

/**
 * @param isInTransaction whether the statement changes rows; otherwise it is DDL, and that of other things than tables changes none
 * @param schema of unqualified names
 * @param tables by the follower's names
 */
export function touchedBy(given: string, isInTransaction: boolean, schema: string, tables: ReadonlyMap<string, TableName>): Touched {
  const sql = given.replace(COMMENT, ' ').trim();
  const all = [...tables];
  const named = (text: string): readonly string[] => {
    const names = new Set(namesIn(text).map((name) => name.toLowerCase()));
    return all.filter(([, table]) => names.has(table.name.toLowerCase())).map(([name]) => name);
  };
  const truncated = TRUNCATE.exec(sql)?.[1];
  if (truncated !== undefined) {
    const parts = namesIn(truncated);
    const [name, of = schema] = [...parts].reverse();
    const found = all.find(([, table]) => table.name === name && table.schema === of);
    return found === undefined ? { changed: named(truncated) } : { truncated: found[0], changed: [] };
  }
  if (OF_SCHEMA.test(sql)) {
    const names = new Set(namesIn(sql));
    return { changed: all.filter(([, table]) => names.has(table.schema)).map(([name]) => name) };
  }
  if (TEMPORARY.test(sql)) return { changed: [] };
  // Behind the parenthesis are columns, and the tables to which they refer.
  if (/^CREATE\b/i.test(sql)) return { changed: OF_TABLES.test(sql) ? named(sql.replace(/\([^]*$/, '')) : [] };
  return { changed: isInTransaction || OF_TABLES.test(sql) ? named(sql) : [] };
}
