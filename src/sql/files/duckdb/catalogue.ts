/** The catalogue of DuckDB. */
import { type Catalogue, type CatalogueQuery, type ForeignKey, type Key, keysOf, type Table } from '../../tables.ts';

const MAIN = 'main';

export const duckdbCatalogue = (query: CatalogueQuery): Catalogue => ({
  tables: async (schemas) => {
    const wanted = (schemas.length === 0 ? [MAIN] : schemas).map((schema) => schema.toLowerCase());
    const found = await query(TABLES_SQL, ['table']);
    const own = found.filter(({ schema }) => wanted.includes((schema as string).toLowerCase()));
    const tables: Table[] = [];
    for (const row of own) tables.push(await readTable(query, row));
    return tables;
  },
  table: async (parts) => {
    const [schema, name] = parts.length === 2 ? parts : [MAIN, parts[0]];
    const [found] = await query(`${TABLES_SQL} AND lower(schema) = lower($2) AND lower(name) = lower($3)`, [
      'any',
      schema as string,
      name as string,
    ]);
    return found === undefined ? undefined : readTable(query, found);
  },
  defaultSchema: async () => MAIN,
});

/** $1: `table`, or `any` for views, too. */
const TABLES_SQL = `
SELECT schema, name, kind, oid, rows FROM (
  SELECT schema_name AS schema, table_name AS name, 'table' AS kind, table_oid AS oid, estimated_size AS rows FROM duckdb_tables()
    WHERE database_name = current_database() AND NOT internal AND NOT temporary
  UNION ALL SELECT schema_name, view_name, 'view', view_oid, NULL FROM duckdb_views()
    WHERE database_name = current_database() AND NOT internal AND NOT temporary
) AS found WHERE $1 IN (kind, 'any')`;

async function readTable(
  query: CatalogueQuery,
  { schema, name, kind, oid, rows }: Readonly<Record<string, string | null>>,
): Promise<Table> {
  const table = Number(oid);
  const columns = await query(
    `SELECT column_name AS name, is_nullable AS nullable FROM duckdb_columns()
      WHERE database_name = current_database() AND table_oid = $1 AND schema_name = $2 ORDER BY column_index`,
    [table, schema as string],
  );
  const constraints = await query(
    `SELECT constraint_index AS id, constraint_type AS kind, unnest(constraint_column_names) AS col, 
        (SELECT table_name FROM duckdb_tables() AS t WHERE t.database_name = c.database_name AND t.schema_name = c.schema_name
          AND lower(t.table_name) = lower(c.referenced_table)) AS parent,
        unnest(CASE WHEN len(referenced_column_names) = 0 THEN constraint_column_names ELSE referenced_column_names END) AS parent_col
      FROM duckdb_constraints() AS c WHERE database_name = current_database() AND table_oid = $1
        AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') ORDER BY id`,
    [table],
  );
  const keys: Key[] = [];
  const foreignKeys: ForeignKey[] = [];
  for (const id of new Set(constraints.map((row) => row.id))) {
    const parts = constraints.filter((row) => row.id === id);
    const [first] = parts;
    const names = parts.map(({ col }) => col as string);
    if (first?.kind === 'FOREIGN KEY') {
      const parent = { schema: schema as string, name: first.parent as string };
      // A column may have another type, and so another text, than the one that it refers to.
      foreignKeys.push({ columns: names, parent, parentColumns: parts.map(({ parent_col }) => parent_col as string), exact: false });
    } else keys.push({ primary: first?.kind === 'PRIMARY KEY', columns: names });
  }
  const { primaryKey, uniqueKeys } = keysOf([
    ...keys,
    ...(await uniqueIndexes(
      query,
      table,
      columns.map((column) => column.name as string),
    )),
  ]);
  return {
    schema: schema as string,
    name: name as string,
    kind: kind as Table['kind'],
    columns: columns.map((column) => ({
      name: column.name as string,
      nullable: column.nullable !== 'false' && !(primaryKey?.includes(column.name as string) ?? false),
    })),
    primaryKey,
    uniqueKeys,
    foreignKeys,
    estimatedRows: rows === null || rows === undefined ? undefined : Number(rows),
  };
}

/** Over whole columns: DuckDB has no partial indexes, and writes an expression as such. */
async function uniqueIndexes(query: CatalogueQuery, table: number, columns: readonly string[]): Promise<readonly Key[]> {
  const rows = await query(
    'SELECT expressions AS list FROM duckdb_indexes() WHERE database_name = current_database() AND is_unique AND table_oid = $1',
    [table],
  );
  return rows.flatMap(({ list }) => {
    const names = /^\[(\w+(?:, \w+)*)\]$/.exec(list ?? '')?.[1]?.split(', ');
    return names?.every((name) => columns.includes(name)) ? { primary: false, columns: names } : [];
  });
}
