/** The catalogue of SQL Server. */
import {
  type Catalogue,
  type CatalogueQuery,
  type CatalogueRow,
  countOf,
  foreignKeysIn,
  keysIn,
  keysOf,
  type Table,
} from '../../tables.ts';

export const sqlServerCatalogue = (query: CatalogueQuery): Catalogue => ({
  tables: (schemas) => tables(query, schemas),
  table: (parts) => table(query, parts),
  defaultSchema: () => defaultSchema(query),
});

async function defaultSchema(query: CatalogueQuery): Promise<string | undefined> {
  const [row] = await query('SELECT SCHEMA_NAME() AS name');
  return row?.name ?? undefined;
}

async function tables(query: CatalogueQuery, schemas: readonly string[]): Promise<readonly Table[]> {
  const own = schemas.length > 0 ? schemas : [(await defaultSchema(query)) ?? ''];
  const found: Table[] = [];
  for (const schema of new Set(own)) {
    const objects = await query(
      `SELECT o.object_id AS id FROM sys.tables o WHERE SCHEMA_NAME(o.schema_id) = ? AND o.is_ms_shipped = 0 ORDER BY o.name`,
      [schema],
    );
    for (const { id } of objects) found.push(...(await readTable(query, Number(id))));
  }
  return found;
}

async function table(query: CatalogueQuery, parts: readonly string[]): Promise<Table | undefined> {
  const name = parts.map((part) => `[${part.replaceAll(']', ']]')}]`).join('.');
  // A synonym is followed, as the server does.
  const [row] = await query(
    `SELECT COALESCE((SELECT OBJECT_ID(s.base_object_name) FROM sys.synonyms s WHERE s.object_id = OBJECT_ID(?)), OBJECT_ID(?)) AS id`,
    [name, name],
  );
  if (row?.id === null || row?.id === undefined) return undefined;
  const [found] = await readTable(query, Number(row.id));
  return found;
}

/** The statements about one table or view; `{}` is its number. */
export const CATALOGUE_SQL = {
  table: `SELECT SCHEMA_NAME(o.schema_id) AS [schema], o.name AS name, CONVERT(nvarchar(2), o.type) AS kind,
  (SELECT CONVERT(nvarchar(20), SUM(p.rows)) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)) AS [rows]
FROM sys.objects o WHERE o.object_id = {} AND o.type IN ('U', 'V')`,
  // SELECT * leaves hidden columns out (of tables with system versions).
  columns: `SELECT c.name AS name, CONVERT(int, c.is_nullable) AS nullable FROM sys.columns c
WHERE c.object_id = {} AND c.is_hidden = 0 ORDER BY c.column_id`,
  keys: `SELECT CONVERT(nvarchar(11), i.index_id) AS idx, CONVERT(int, i.is_primary_key) AS pk, c.name AS col FROM sys.indexes i
JOIN sys.index_columns k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.is_included_column = 0
JOIN sys.columns c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.object_id = {} AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0 AND i.is_hypothetical = 0
ORDER BY i.index_id, k.key_ordinal`,
  references: `SELECT CONVERT(nvarchar(11), f.object_id) AS idx, cc.name AS col, SCHEMA_NAME(p.schema_id) AS parent_schema, p.name AS parent, pc.name AS parent_col,
  CONVERT(int, CASE WHEN f.is_not_trusted = 0 AND f.is_disabled = 0 AND cc.system_type_id = pc.system_type_id AND cc.max_length = pc.max_length
    AND cc.precision = pc.precision AND cc.scale = pc.scale AND cc.collation_name IS NULL AND pc.collation_name IS NULL
    AND cc.system_type_id NOT IN (43, 59, 62, 98, 165, 173) THEN 1 ELSE 0 END) AS exact
FROM sys.foreign_keys f
JOIN sys.foreign_key_columns k ON k.constraint_object_id = f.object_id
JOIN sys.objects p ON p.object_id = f.referenced_object_id
JOIN sys.columns cc ON cc.object_id = k.parent_object_id AND cc.column_id = k.parent_column_id
JOIN sys.columns pc ON pc.object_id = k.referenced_object_id AND pc.column_id = k.referenced_column_id
WHERE f.parent_object_id = {} ORDER BY f.object_id, k.constraint_column_id`,
} as const;

/** The table or view with a number, if the user may see it. */
async function readTable(query: CatalogueQuery, id: number): Promise<readonly Table[]> {
  const ask = (sql: string): Promise<readonly CatalogueRow[]> => query(sql.replace('{}', String(id)));
  const [row] = await ask(CATALOGUE_SQL.table);
  if (row === undefined) return [];
  const columns = await ask(CATALOGUE_SQL.columns);
  const visible = (key: readonly string[]): boolean => key.every((name) => columns.some((column) => column.name === name));
  const keys = keysIn(await ask(CATALOGUE_SQL.keys), ({ pk }) => pk === '1');
  const references = foreignKeysIn(await ask(CATALOGUE_SQL.references));
  return [
    {
      schema: row.schema as string,
      name: row.name as string,
      kind: row.kind?.trim() === 'U' ? 'table' : 'view',
      columns: columns.map(({ name, nullable }) => ({ name: name as string, nullable: nullable === '1' })),
      ...keysOf(keys.filter(({ columns }) => visible(columns))),
      foreignKeys: references.filter(({ columns }) => visible(columns)),
      estimatedRows: countOf(row.rows),
    },
  ];
}
