/** Reads the catalogue of a session. */
import type { SqlSession } from '../database.ts';
import type { Table, TableName } from '../tables.ts';

/**
 * All tables (without views, partitions, and tables of the system or of an extension), sorted by schema and name.
 *
 * @param schemas to search; absent: the session's own (PostgreSQL's search path, MySQL's database)
 */
export async function readTables(session: SqlSession, schemas: readonly string[] = []): Promise<readonly Table[]> {
  const tables = await session.catalogue.tables(schemas);
  const key = ({ schema, name }: TableName): string => `${schema}\0${name}`;
  return tables.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * The table or view with a name; undefined: there is none.
 *
 * @param parts of the identifier, the last one the table: already folded by the rules of the product, without quotes
 */
export const readTable = (session: SqlSession, parts: readonly string[]): Promise<Table | undefined> => session.catalogue.table(parts);

/** The first schema searched for an unqualified name; undefined: the session has none. */
export const defaultSchema = (session: SqlSession): Promise<string | undefined> => session.catalogue.defaultSchema();
