/** The catalogue of a database: its tables with columns, keys and references. */
import type { SqlSession } from '../database.ts';

export interface TableName {
  /** PostgreSQL schema, MySQL database. */
  readonly schema: string;
  readonly name: string;
}

export interface Table extends TableName {
  /** Partitioned tables count as tables; materialized views and foreign tables, whose rows are stored elsewhere, count as views. */
  readonly kind: 'table' | 'view';
  /** In the order of `SELECT *`, without MySQL's invisible columns. */
  readonly columns: readonly { readonly name: string; readonly nullable: boolean }[];
  /** Column names in key order. A PostgreSQL table with inheriting tables has no keys: it also shows their rows, which may repeat. */
  readonly primaryKey: readonly string[] | undefined;
  /** Unique constraints and indexes over whole columns (not partial, not over expressions), without the primary key. */
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
  /** The server's estimate; undefined: none. */
  readonly estimatedRows: number | undefined;
}

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly parent: TableName;
  /** In the order of `columns`. */
  readonly parentColumns: readonly string[];
  /**
   * Whether the texts of the columns equal those of the referenced row. False under collations that ignore case or trailing spaces (most of
   * MySQL's), between types with different text forms, and if the server has never checked the rows.
   */
  readonly exact: boolean;
}

/**
 * All tables (without views, partitions, and tables of the system or of an extension), sorted by schema and name.
 *
 * @param schemas to search; absent: the session's own (PostgreSQL's search path, MySQL's database)
 */
export async function readTables(session: SqlSession, schemas: readonly string[] = []): Promise<readonly Table[]> {
  const tables = session.product === 'postgresql' ? await postgresTables(session, schemas) : await mysqlTables(session, schemas);
  const key = ({ schema, name }: TableName): string => `${schema}\0${name}`;
  return tables.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * The table or view with a name; undefined: there is none.
 *
 * @param parts of the identifier, the last one the table: already folded by the rules of the product, without quotes
 */
export function readTable(session: SqlSession, parts: readonly string[]): Promise<Table | undefined> {
  return session.product === 'postgresql' ? postgresTable(session, parts) : mysqlTable(session, parts);
}

/** The first schema searched for an unqualified name; undefined: the session has none. */
export async function defaultSchema(session: SqlSession): Promise<string | undefined> {
  const [row] = await session.query(`SELECT ${session.product === 'postgresql' ? 'current_schema()' : 'DATABASE()'} AS name`);
  return row?.name ?? undefined;
}

/** `pg_class c` joined with `pg_namespace n`. Relations owned by an extension (deptype e) contain its data, not the user's. */
async function postgresTables(session: SqlSession, schemas: readonly string[]): Promise<readonly Table[]> {
  const given = schemas.length > 0;
  const rows = await session.query(
    postgresSelect(`n.nspname ${given ? 'IN (SELECT json_array_elements_text($1::json))' : '= ANY (current_schemas(false))'}
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0 AND d.deptype = 'e')`),
    given ? [JSON.stringify(schemas)] : [],
  );
  return rows.map(postgresRow);
}

async function postgresTable(session: SqlSession, parts: readonly string[]): Promise<Table | undefined> {
  const name = parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  const [row] = await session.query(postgresSelect(`c.oid = to_regclass($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`), [name]);
  return row === undefined ? undefined : postgresRow(row);
}

/** Types whose equal values have equal texts; numeric only with a scale, and text only under collations that compare bytes. */
const POSTGRES_EXACT = '{int2,int4,int8,oid,bool,uuid,date,time,timestamp,timestamptz,bytea,text,varchar,bpchar,numeric}';

const postgresSelect = (condition: string): string => `
SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
  (CASE WHEN c.relkind = 'p' AND c.reltuples <= 0
    THEN (SELECT sum(greatest(l.reltuples, 0)) FROM pg_partition_tree(c.oid) t JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf)
    WHEN c.reltuples > 0 OR c.relpages > 0 THEN greatest(c.reltuples, 0) END)::bigint::text AS rows,
  (SELECT json_agg(json_build_object('name', a.attname, 'nullable', NOT a.attnotnull) ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)::text AS columns,
  (SELECT json_agg(json_build_object('primary', i.indisprimary, 'columns', k.columns) ORDER BY i.indkey::text, i.indexrelid)
    FROM pg_index i, LATERAL (
      SELECT json_agg(a.attname ORDER BY u.position) AS columns
      FROM unnest(i.indkey::int2[]) WITH ORDINALITY u(attnum, position)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
      WHERE u.position <= i.indnkeyatts) k
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND NOT i.indisexclusion AND i.indpred IS NULL AND i.indexprs IS NULL
      AND NOT (c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = c.oid)))::text AS keys,
  (SELECT json_agg(json_build_object('columns', k.columns, 'parent', json_build_object('schema', pn.nspname, 'name', p.relname),
      'parentColumns', k.parents, 'exact', k.exact AND f.convalidated) ORDER BY f.conkey, f.oid)
    FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace, LATERAL (
      SELECT json_agg(ca.attname ORDER BY u.position) AS columns, json_agg(pa.attname ORDER BY u.position) AS parents,
        bool_and(
          (ca.atttypid = pa.atttypid AND ca.atttypmod = pa.atttypmod
              AND (t.typtype = 'e' OR t.oid = ANY ('${POSTGRES_EXACT}'::regtype[]) AND NOT (t.oid = 'numeric'::regtype AND ca.atttypmod = -1))
            OR ca.atttypid = ANY ('{int2,int4,int8}'::regtype[]) AND pa.atttypid = ANY ('{int2,int4,int8}'::regtype[])
            OR ca.atttypid = ANY ('{text,varchar}'::regtype[]) AND pa.atttypid = ANY ('{text,varchar}'::regtype[]))
          AND NOT EXISTS (SELECT FROM pg_collation o
            WHERE o.oid IN (ca.attcollation, pa.attcollation) AND to_jsonb(o) ->> 'collisdeterministic' = 'false')) AS exact
      FROM unnest(f.conkey, f.confkey) WITH ORDINALITY u(child, parent, position)
      JOIN pg_attribute ca ON ca.attrelid = f.conrelid AND ca.attnum = u.child
      JOIN pg_attribute pa ON pa.attrelid = f.confrelid AND pa.attnum = u.parent
      JOIN pg_type t ON t.oid = ca.atttypid) k
    WHERE f.contype = 'f' AND f.conrelid = c.oid
      -- a reference to a partitioned table has a constraint for each partition, below the one that was written
      AND NOT EXISTS (SELECT FROM pg_constraint w WHERE w.oid = f.conparentid AND w.conrelid = f.conrelid)
      -- PERIOD: the parent is any number of rows whose ranges together contain the child's
      AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = f.conindid AND i.indisexclusion))::text AS "references"
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${condition}`;

type Row = Readonly<Record<string, string | null>>;

function postgresRow(row: Row): Table {
  const list = <Item>(name: string): Item[] => JSON.parse(row[name] ?? '[]') as Item[];
  return {
    schema: row.schema as string,
    name: row.name as string,
    kind: row.kind === 'r' || row.kind === 'p' ? 'table' : 'view',
    columns: list('columns'),
    ...keysOf(list('keys')),
    foreignKeys: list('references'),
    estimatedRows: row.rows === null ? undefined : Number(row.rows),
  };
}

interface Key {
  readonly primary: boolean;
  readonly columns: readonly string[];
}

/** Two indexes over the same columns are one key. */
function keysOf(keys: readonly Key[]): Pick<Table, 'primaryKey' | 'uniqueKeys'> {
  const byColumns = new Map(keys.filter(({ primary }) => !primary).map(({ columns }) => [[...columns].sort().join('\0'), columns]));
  const primaryKey = keys.find(({ primary }) => primary)?.columns;
  if (primaryKey !== undefined) byColumns.delete([...primaryKey].sort().join('\0'));
  return { primaryKey, uniqueKeys: [...byColumns.values()] };
}

async function mysqlTables(session: SqlSession, schemas: readonly string[]): Promise<readonly Table[]> {
  const own = schemas.length > 0 ? undefined : await defaultSchema(session);
  const tables: Table[] = [];
  // MariaDB finds the tables of a constant schema in its directory; of a list of schemas it would open those of all
  for (const schema of own === undefined ? new Set(schemas) : [own]) tables.push(...(await mysqlRead(session, schema, undefined)));
  return tables.filter(({ kind }) => kind === 'table');
}

async function mysqlTable(session: SqlSession, parts: readonly string[]): Promise<Table | undefined> {
  const name = parts.at(-1);
  const schema = parts.length === 2 ? parts[0] : await defaultSchema(session);
  if (name === undefined || schema === undefined || parts.length > 2) return undefined;
  const found = await mysqlRead(session, schema, name);
  return found.find((table) => table.name === name) ?? found[0];
}

/** The `TABLE_TYPE` of relations with rows; sequences and system views are neither tables nor views. */
const MYSQL_KINDS: Readonly<Record<string, Table['kind']>> = { 'BASE TABLE': 'table', 'SYSTEM VERSIONED': 'table', VIEW: 'view' };

/** Collations under which only equal bytes are equal. `utf8mb4_bin` is not one of them: it ignores trailing spaces. */
const MYSQL_EXACT = /^binary$|_nopad_bin$|_0900_bin$/;

/** The tables and views of a schema, or the one with a name. */
async function mysqlRead(session: SqlSession, schema: string, name: string | undefined): Promise<readonly Table[]> {
  const where = `WHERE TABLE_SCHEMA = ?${name === undefined ? '' : ' AND TABLE_NAME = ?'}`;
  const parameters = name === undefined ? [schema] : [schema, name];
  const select = async (columns: string, view: string, rest = ''): Promise<ReadonlyMap<string, readonly Row[]>> =>
    groupBy(
      await session.query(`SELECT TABLE_NAME AS name, ${columns} FROM information_schema.${view} ${where} ${rest}`, parameters),
      'name',
    );

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
  const columnsOf = await mysqlParents(session, schema, columns, references);
  return [...tables].flatMap(([table, [row]]) => {
    const kind = MYSQL_KINDS[row?.kind ?? ''];
    if (row === undefined || kind === undefined) return [];
    const all = columns.get(table) ?? [];
    const visible = all.filter(({ extra }) => !/\bINVISIBLE\b/i.test(extra ?? ''));
    const shown = (wanted: readonly string[]): boolean => wanted.every((column) => visible.some(({ col }) => col === column));
    return {
      schema: row.schema as string,
      name: table,
      kind,
      columns: visible.map(({ col, nullable }) => ({ name: col as string, nullable: nullable !== 'NO' })),
      ...keysOf(mysqlKeys(indexes.get(table) ?? []).filter((key) => shown(key.columns))),
      foreignKeys: mysqlForeignKeys(all, references.get(table) ?? [], columnsOf).filter((key) => shown(key.columns)),
      estimatedRows: row.rows === null || row.rows === undefined ? undefined : Number(row.rows),
    };
  });
}

/** An index part without column is an expression; one with a prefix length is not the whole column. */
function mysqlKeys(rows: readonly Row[]): readonly Key[] {
  return [...groupBy(rows, 'idx')].flatMap(([index, parts]) =>
    parts.every(({ col, prefix }) => col !== null && prefix === null)
      ? { primary: index === 'PRIMARY', columns: parts.map(({ col }) => col as string) }
      : [],
  );
}

type ColumnsOf = (schema: string, table: string) => readonly Row[];

/** The columns of referenced tables. Those missing in `columns` are queried, which is rare: for another schema, or for a single table. */
async function mysqlParents(
  session: SqlSession,
  schema: string,
  columns: ReadonlyMap<string, readonly Row[]>,
  references: ReadonlyMap<string, readonly Row[]>,
): Promise<ColumnsOf> {
  const others = new Map<string, readonly Row[]>();
  for (const { parent_schema, parent } of [...references.values()].flat()) {
    const key = `${parent_schema}\0${parent}`;
    if ((parent_schema === schema && columns.has(parent as string)) || others.has(key)) continue;
    const sql = `SELECT COLUMN_NAME AS col, COLUMN_TYPE AS type, COLLATION_NAME AS collation
      FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`;
    others.set(key, await session.query(sql, [parent_schema as string, parent as string]));
  }
  return (parentSchema, parent) =>
    others.get(`${parentSchema}\0${parent}`) ?? (parentSchema === schema ? columns.get(parent) : undefined) ?? [];
}

function mysqlForeignKeys(columns: readonly Row[], rows: readonly Row[], columnsOf: ColumnsOf): readonly ForeignKey[] {
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
const namedColumn = (columns: readonly Row[], name: string | null | undefined): Row | undefined =>
  columns.find(({ col }) => col === name) ?? columns.find(({ col }) => col?.toLowerCase() === name?.toLowerCase());

function sameTexts(child: Row, parent: Row): boolean {
  if (child.collation !== null || parent.collation !== null)
    return child.collation === parent.collation && MYSQL_EXACT.test(child.collation ?? '');
  const typeOf = (row: Row): string => (row.type ?? '').replace(/^((?:tiny|small|medium|big)?int)\(\d+\)/, '$1');
  return typeOf(child) === typeOf(parent) && !/zerofill/.test(`${child.type}${parent.type}`);
}

function groupBy(rows: readonly Row[], name: string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = row[name] ?? '';
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
