/** The catalogue of MySQL and MariaDB. */
import {
  type Catalogue,
  type CatalogueQuery,
  type CatalogueRow,
  countOf,
  type ForeignKey,
  groupBy,
  type Key,
  keysOf,
  type Table,
} from '../tables.ts';

export const mysqlCatalogue = (query: CatalogueQuery): Catalogue => ({
  tables: (schemas) => tables(query, schemas),
  table: (parts) => table(query, parts),
  defaultSchema: () => defaultSchema(query),
});

async function defaultSchema(query: CatalogueQuery): Promise<string | undefined> {
  const [row] = await query('SELECT DATABASE() AS name');
  return row?.name ?? undefined;
}

async function tables(query: CatalogueQuery, schemas: readonly string[]): Promise<readonly Table[]> {
  const own = schemas.length > 0 ? undefined : await defaultSchema(query);
  const found: Table[] = [];
  // MariaDB finds the tables of a constant schema in its directory; of a list of schemas it would open those of all
  for (const schema of own === undefined ? new Set(schemas) : [own]) found.push(...(await readSchema(query, schema, undefined)));
  return found.filter(({ kind }) => kind === 'table');
}

async function table(query: CatalogueQuery, parts: readonly string[]): Promise<Table | undefined> {
  const name = parts.at(-1);
  const schema = parts.length === 2 ? parts[0] : await defaultSchema(query);
  if (name === undefined || schema === undefined || parts.length > 2) return undefined;
  const found = await readSchema(query, schema, name);
  return found.find((table) => table.name === name) ?? found[0];
}

/** The `TABLE_TYPE` of relations with rows; sequences and system views are neither tables nor views. */
const KINDS: Readonly<Record<string, Table['kind']>> = { 'BASE TABLE': 'table', 'SYSTEM VERSIONED': 'table', VIEW: 'view' };

/** Collations under which only equal bytes are equal. `utf8mb4_bin` is not one of them: it ignores trailing spaces. */
const EXACT = /^binary$|_nopad_bin$|_0900_bin$/;

/** The tables and views of a schema, or the one with a name. */
async function readSchema(query: CatalogueQuery, schema: string, name: string | undefined): Promise<readonly Table[]> {
  const where = `WHERE TABLE_SCHEMA = ?${name === undefined ? '' : ' AND TABLE_NAME = ?'}`;
  const parameters = name === undefined ? [schema] : [schema, name];
  const select = async (columns: string, view: string, rest = ''): Promise<ReadonlyMap<string, readonly CatalogueRow[]>> =>
    groupBy(await query(`SELECT TABLE_NAME AS name, ${columns} FROM information_schema.${view} ${where} ${rest}`, parameters), 'name');

  const tables = await select('TABLE_SCHEMA AS `schema`, TABLE_TYPE AS kind, TABLE_ROWS AS `rows`', 'TABLES');
  if (tables.size === 0) return [];
  const columns = await select(
    'COLUMN_NAME AS col, IS_NULLABLE AS nullable, COLUMN_TYPE AS type, COLLATION_NAME AS collation, EXTRA AS extra',
    'COLUMNS',
    'ORDER BY ORDINAL_POSITION',
  );
  const indexes = await select(
    'INDEX_NAME AS idx, COLUMN_NAME AS col, SUB_PART AS prefix',
    'STATISTICS',
    'AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX',
  );
  const references = await select(
    `CONSTRAINT_NAME AS idx, COLUMN_NAME AS col,
      REFERENCED_TABLE_SCHEMA AS parent_schema, REFERENCED_TABLE_NAME AS parent, REFERENCED_COLUMN_NAME AS parent_col`,
    'KEY_COLUMN_USAGE',
    'AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION',
  );
  const columnsOf = await parentColumns(query, schema, columns, references);
  return [...tables].flatMap(([table, [row]]) => {
    const kind = KINDS[row?.kind ?? ''];
    if (row === undefined || kind === undefined) return [];
    const all = columns.get(table) ?? [];
    const visible = all.filter(({ extra }) => !/\bINVISIBLE\b/i.test(extra ?? ''));
    const shown = (wanted: readonly string[]): boolean => wanted.every((column) => visible.some(({ col }) => col === column));
    return {
      schema: row.schema as string,
      name: table,
      kind,
      columns: visible.map(({ col, nullable }) => ({ name: col as string, nullable: nullable !== 'NO' })),
      ...keysOf(indexesOf(indexes.get(table) ?? []).filter((key) => shown(key.columns))),
      foreignKeys: foreignKeysOf(all, references.get(table) ?? [], columnsOf).filter((key) => shown(key.columns)),
      estimatedRows: countOf(row.rows),
    };
  });
}

/** An index part without column is an expression; one with a prefix length is not the whole column. */
function indexesOf(rows: readonly CatalogueRow[]): readonly Key[] {
  return [...groupBy(rows, 'idx')].flatMap(([index, parts]) =>
    parts.every(({ col, prefix }) => col !== null && prefix === null)
      ? { primary: index === 'PRIMARY', columns: parts.map(({ col }) => col as string) }
      : [],
  );
}

type ColumnsOf = (schema: string, table: string) => readonly CatalogueRow[];

/** The columns of referenced tables. Those missing in `columns` are queried, which is rare: for another schema, or for a single table. */
async function parentColumns(
  query: CatalogueQuery,
  schema: string,
  columns: ReadonlyMap<string, readonly CatalogueRow[]>,
  references: ReadonlyMap<string, readonly CatalogueRow[]>,
): Promise<ColumnsOf> {
  const others = new Map<string, readonly CatalogueRow[]>();
  for (const { parent_schema, parent } of [...references.values()].flat()) {
    const key = `${parent_schema}\0${parent}`;
    if ((parent_schema === schema && columns.has(parent as string)) || others.has(key)) continue;
    const sql = `SELECT COLUMN_NAME AS col, COLUMN_TYPE AS type, COLLATION_NAME AS collation
      FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`;
    others.set(key, await query(sql, [parent_schema as string, parent as string]));
  }
  return (parentSchema, parent) =>
    others.get(`${parentSchema}\0${parent}`) ?? (parentSchema === schema ? columns.get(parent) : undefined) ?? [];
}

function foreignKeysOf(columns: readonly CatalogueRow[], rows: readonly CatalogueRow[], columnsOf: ColumnsOf): readonly ForeignKey[] {
  return [...groupBy(rows, 'idx').values()].map((parts) => {
    const { parent_schema: schema, parent: name } = parts[0] as { parent_schema: string; parent: string };
    const pairs = parts.map(
      ({ col, parent_col }) => [namedColumn(columns, col), namedColumn(columnsOf(schema, name), parent_col)] as const,
    );
    return {
      columns: pairs.map(([child], i) => (child?.col ?? parts[i]?.col) as string),
      parent: { schema, name },
      parentColumns: pairs.map(([, parent], i) => (parent?.col ?? parts[i]?.parent_col) as string),
      exact: pairs.every(([child, parent]) => child !== undefined && parent !== undefined && sameTexts(child, parent)),
    };
  });
}

/** A constraint keeps a column's name in the spelling of its author. */
const namedColumn = (columns: readonly CatalogueRow[], name: string | null | undefined): CatalogueRow | undefined =>
  columns.find(({ col }) => col === name) ?? columns.find(({ col }) => col?.toLowerCase() === name?.toLowerCase());

function sameTexts(child: CatalogueRow, parent: CatalogueRow): boolean {
  if (child.collation !== null || parent.collation !== null)
    return child.collation === parent.collation && EXACT.test(child.collation ?? '');
  const typeOf = (row: CatalogueRow): string => (row.type ?? '').replace(/^((?:tiny|small|medium|big)?int)\(\d+\)/, '$1');
  return typeOf(child) === typeOf(parent) && !/zerofill/.test(`${child.type}${parent.type}`);
}
