/** Snapshots: the rows of tables as one state of the database has them. */
import { fromBytes } from '../../core/text.ts';
import { quote } from '../../sql/catalogue/identifiers.ts';
import type { Column, Product, SqlSession } from '../../sql/database.ts';
import { tableName } from '../../sql/select.ts';
import type { TableName } from '../../sql/tables.ts';
import type { ChangeEvent, Row } from '../events.ts';

export interface SnapshotTable {
  /** As the follower names it. */
  readonly name: string;
  readonly table: TableName;
  /** Names of the columns to read, in any order. */
  readonly columns: readonly string[];
  /** Names of the key's columns, in the order of the key; undefined: there is none. */
  readonly key: readonly string[] | undefined;
}

/** Text of the key of a row: a JSON array of the texts of its columns. */
export function keyOf(key: readonly string[] | undefined, row: Row): string | undefined {
  return key === undefined ? undefined : JSON.stringify(key.map((name) => row[name] ?? null));
}

/**
 * All tables begin before the first row is read, and end after the last one: no table is complete without the others.
 *
 * @param position of the rows: not after the events that follow, not before those that the snapshot has
 */
export async function* readSnapshot(
  session: SqlSession,
  tables: readonly SnapshotTable[],
  position: string | undefined,
): AsyncGenerator<{ readonly events: readonly ChangeEvent[]; readonly bytes: number }> {
  const marks = (state: 'begin' | 'end') => ({
    events: tables.map(({ name }) => ({ kind: 'snapshot', table: name, state }) as const),
    bytes: 0,
  });
  yield marks('begin');
  for (const table of tables) yield* readTable(session, table, position);
  yield marks('end');
}

/**
 * Rows of one table, as those of a snapshot.
 *
 * @param condition SQL that the rows meet; '': all rows
 */
export async function* readTable(
  session: SqlSession,
  { name, table, columns, key }: SnapshotTable,
  position: string | undefined,
  condition = '',
): AsyncGenerator<{ readonly events: readonly RowOfTable[]; readonly bytes: number }> {
  const { product } = session;
  // A table of PostgreSQL may have no columns.
  const all = `SELECT ${columns.map((column) => quote(column, product)).join(', ')} FROM ${tableName(table, product)}`;
  const sql = condition === '' ? all : `${all} WHERE ${condition}`;
  const scan = condition === '' ? { schema: table.schema, name: table.name, columns } : undefined;
  const texts = (await session.describe(sql)).map((column) => (isBytes(column, product) ? (bytes: string) => bytes : fromBytes));
  let before = 0;
  for await (const { rows, bytes } of session.rows(sql, columns.length, scan)) {
    const events = rows.map((values): RowOfTable => {
      const row: Record<string, string | null> = {};
      for (let i = 0; i < columns.length; i++) {
        const value = values[i] ?? null;
        row[columns[i] as string] = value === null ? null : (texts[i] as (bytes: string) => string)(value);
      }
      return { kind: 'row', table: name, key: keyOf(key, row), position, row, isSnapshot: true };
    });
    yield { events, bytes: bytes - before };
    before = bytes;
  }
}

/** Its values are texts and null. */
type RowOfTable = Extract<ChangeEvent, { readonly kind: 'row' }> & { readonly row: Readonly<Record<string, string | null>> };

/**
 * Whether the values of a column are bytes, one in each character: MySQL's BINARY, BLOB, BIT and their like, as a session gives them. An event has them as
 * they are. The values of other columns are text: one-byte UTF-8 in a session, ordinary text in an event.
 */
export const isBytes = ({ datatype }: Column, product: Product): boolean =>
  product !== 'postgresql' && datatype?.endsWith('#hexBinary') === true;
