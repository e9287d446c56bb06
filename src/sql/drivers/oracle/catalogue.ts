/** The catalogue of Oracle, as far as the user may see it. */
import {
  type Catalogue,
  type CatalogueQuery,
  type CatalogueRow,
  countOf,
  foreignKeysIn,
  keysIn,
  keysOf,
  type Table,
  type TableName,
} from '../../tables.ts';

export const oracleCatalogue = (query: CatalogueQuery): Catalogue => ({
  tables: (schemas) => tables(query, schemas),
  table: (parts) => table(query, parts),
  defaultSchema: () => defaultSchema(query),
});

async function defaultSchema(query: CatalogueQuery): Promise<string | undefined> {
  const [row] = await query(`SELECT SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') AS "name" FROM DUAL`);
  return row?.name ?? undefined;
}

/** `:1` is the owner, `:2` the table. */
export const CATALOGUE_SQL = {
  // Without what is stored for others: nested and external tables, logs and containers of materialized views, dropped tables.
  tables: `SELECT t.TABLE_NAME AS "name" FROM ALL_TABLES t WHERE t.OWNER = :1 AND t.NESTED = 'NO' AND t.SECONDARY = 'N' AND t.DROPPED = 'NO'
  AND NOT EXISTS (SELECT 1 FROM ALL_MVIEWS m WHERE m.OWNER = t.OWNER AND m.CONTAINER_NAME = t.TABLE_NAME)
  AND NOT EXISTS (SELECT 1 FROM ALL_MVIEW_LOGS l WHERE l.LOG_OWNER = t.OWNER AND l.LOG_TABLE = t.TABLE_NAME)
ORDER BY t.TABLE_NAME`,
  object: `SELECT o.OBJECT_TYPE AS "kind",
  (SELECT TO_CHAR(t.NUM_ROWS) FROM ALL_TABLES t WHERE t.OWNER = o.OWNER AND t.TABLE_NAME = o.OBJECT_NAME) AS "rows"
FROM ALL_OBJECTS o WHERE o.OWNER = :1 AND o.OBJECT_NAME = :2 AND o.OBJECT_TYPE IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW')
ORDER BY o.OBJECT_TYPE`,
  synonym: `SELECT s.TABLE_OWNER AS "schema", s.TABLE_NAME AS "name" FROM ALL_SYNONYMS s
WHERE s.SYNONYM_NAME = :2 AND s.OWNER IN (:1, 'PUBLIC') AND s.DB_LINK IS NULL ORDER BY CASE s.OWNER WHEN 'PUBLIC' THEN 1 ELSE 0 END`,
  // SELECT * leaves hidden columns out.
  columns: `SELECT c.COLUMN_NAME AS "name", c.NULLABLE AS "nullable" FROM ALL_TAB_COLS c
WHERE c.OWNER = :1 AND c.TABLE_NAME = :2 AND c.HIDDEN_COLUMN = 'NO' ORDER BY c.COLUMN_ID`,
  keys: `SELECT c.CONSTRAINT_NAME AS "idx", c.CONSTRAINT_TYPE AS "kind", k.COLUMN_NAME AS "col" FROM ALL_CONSTRAINTS c
JOIN ALL_CONS_COLUMNS k ON k.OWNER = c.OWNER AND k.CONSTRAINT_NAME = c.CONSTRAINT_NAME
WHERE c.OWNER = :1 AND c.TABLE_NAME = :2 AND c.CONSTRAINT_TYPE IN ('P', 'U') AND c.STATUS = 'ENABLED' AND c.VALIDATED = 'VALIDATED'
ORDER BY c.CONSTRAINT_NAME, k.POSITION`,
  references: `SELECT c.CONSTRAINT_NAME AS "idx", k.COLUMN_NAME AS "col", p.OWNER AS "parent_schema", p.TABLE_NAME AS "parent", q.COLUMN_NAME AS "parent_col",
  CASE WHEN c.VALIDATED = 'VALIDATED' AND c.STATUS = 'ENABLED' AND a.DATA_TYPE = b.DATA_TYPE AND a.DATA_TYPE IN ('NUMBER', 'DATE')
    THEN '1' ELSE '0' END AS "exact"
FROM ALL_CONSTRAINTS c
JOIN ALL_CONS_COLUMNS k ON k.OWNER = c.OWNER AND k.CONSTRAINT_NAME = c.CONSTRAINT_NAME
JOIN ALL_CONSTRAINTS p ON p.OWNER = c.R_OWNER AND p.CONSTRAINT_NAME = c.R_CONSTRAINT_NAME
JOIN ALL_CONS_COLUMNS q ON q.OWNER = p.OWNER AND q.CONSTRAINT_NAME = p.CONSTRAINT_NAME AND q.POSITION = k.POSITION
JOIN ALL_TAB_COLS a ON a.OWNER = c.OWNER AND a.TABLE_NAME = c.TABLE_NAME AND a.COLUMN_NAME = k.COLUMN_NAME
JOIN ALL_TAB_COLS b ON b.OWNER = p.OWNER AND b.TABLE_NAME = p.TABLE_NAME AND b.COLUMN_NAME = q.COLUMN_NAME
WHERE c.OWNER = :1 AND c.TABLE_NAME = :2 AND c.CONSTRAINT_TYPE = 'R'
ORDER BY c.CONSTRAINT_NAME, k.POSITION`,
} as const;

async function tables(query: CatalogueQuery, schemas: readonly string[]): Promise<readonly Table[]> {
  const own = schemas.length > 0 ? schemas : [(await defaultSchema(query)) ?? ''];
  const found: Table[] = [];
  for (const schema of new Set(own)) {
    for (const { name } of await query(CATALOGUE_SQL.tables, [schema])) {
      const one = await readTable(query, { schema, name: name as string });
      if (one !== undefined) found.push(one);
    }
  }
  return found;
}

async function table(query: CatalogueQuery, parts: readonly string[]): Promise<Table | undefined> {
  const name = parts.at(-1);
  const schema = parts.length === 2 ? parts[0] : await defaultSchema(query);
  if (name === undefined || schema === undefined || parts.length > 2) return undefined;
  const found = await readTable(query, { schema, name });
  if (found !== undefined) return found;
  const [synonym] = await query(CATALOGUE_SQL.synonym, [schema, name]);
  return synonym === undefined ? undefined : readTable(query, synonym as unknown as TableName);
}

async function readTable(query: CatalogueQuery, { schema, name }: TableName): Promise<Table | undefined> {
  const ask = (sql: string): Promise<readonly CatalogueRow[]> => query(sql, [schema, name]);
  const objects = await ask(CATALOGUE_SQL.object);
  const [object] = objects;
  if (object === undefined) return undefined;
  const keys = keysIn(await ask(CATALOGUE_SQL.keys), ({ kind }) => kind === 'P');
  const references = foreignKeysIn(await ask(CATALOGUE_SQL.references));
  return {
    schema,
    name,
    // A materialized view is also a table of this name.
    kind: objects.every(({ kind }) => kind === 'TABLE') ? 'table' : 'view',
    columns: (await ask(CATALOGUE_SQL.columns)).map((column) => ({ name: column.name as string, nullable: column.nullable !== 'N' })),
    ...keysOf(keys),
    foreignKeys: references,
    estimatedRows: countOf(object.rows),
  };
}
