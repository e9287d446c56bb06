/** The catalogue of SQLite. */
import { type Catalogue, type CatalogueQuery, type ForeignKey, type Key, keysOf, type Table } from '../../tables.ts';

/** The schema of a file's tables. Others are attached databases, which a session has none of. */
const MAIN = 'main';

export const sqliteCatalogue = (query: CatalogueQuery): Catalogue => ({
  tables: async (schemas) => {
    if (schemas.length > 0 && !schemas.some((schema) => schema.toLowerCase() === MAIN)) return [];
    return (await readTables(query, undefined)).filter(({ kind }) => kind === 'table');
  },
  table: async (parts) => {
    const [schema, name] = parts.length === 2 ? parts : [MAIN, parts[0]];
    if (schema?.toLowerCase() !== MAIN || name === undefined) return undefined;
    return (await readTables(query, name))[0];
  },
  defaultSchema: async () => MAIN,
});

/** Without the tables of SQLite itself, and the tables behind virtual ones. */
async function readTables(query: CatalogueQuery, name: string | undefined): Promise<readonly Table[]> {
  const where = name === undefined ? '' : ' AND name = ? COLLATE NOCASE';
  const found = await query(
    `SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'${where}`,
    name === undefined ? [] : [name],
  );
  const tables: Table[] = [];
  for (const row of found) tables.push(await readTable(query, row.name as string, row.type !== 'view', row.wr === '1'));
  return tables;
}

async function readTable(query: CatalogueQuery, name: string, isTable: boolean, withoutRowid: boolean): Promise<Table> {
  const info = await query('SELECT name, type, "notnull" AS required, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid', [
    name,
  ]);
  const columns = info.map((row) => ({
    name: row.name as string,
    nullable: row.required !== '1',
    type: row.type ?? '',
    key: Number(row.pk),
  }));
  const primary = columns.filter(({ key }) => key > 0).sort((a, b) => a.key - b.key);
  const rowid = primary.length === 1 && /^integer$/i.test(primary[0]?.type ?? '') && !withoutRowid;
  const keys = isTable ? await uniqueIndexes(query, name) : [];
  const hasPrimary =
    primary.length > 0 && (rowid || withoutRowid || primary.every(({ nullable }) => !nullable) || !(await hasNull(query, name, primary)));
  if (primary.length > 0) keys.push({ primary: hasPrimary, columns: primary.map((column) => column.name) });
  return {
    schema: MAIN,
    name,
    kind: isTable ? 'table' : 'view',
    // No part of a primary key is null here.
    columns: columns.map((column) => ({ name: column.name, nullable: column.nullable && !(hasPrimary && column.key > 0) })),
    ...keysOf(keys),
    foreignKeys: isTable ? await foreignKeys(query, name) : [],
    estimatedRows: undefined,
  };
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** SQLite accepts nulls in a primary key that is not an INTEGER or NOT NULL. The session sees one state, so that the answer stays true. */
async function hasNull(query: CatalogueQuery, table: string, columns: readonly { readonly name: string }[]): Promise<boolean> {
  const where = columns.map(({ name }) => `${quoted(name)} IS NULL`).join(' OR ');
  return (await query(`SELECT 1 AS found FROM ${quoted(table)} WHERE ${where} LIMIT 1`)).length > 0;
}

/** Over whole columns: not partial, not over expressions. */
async function uniqueIndexes(query: CatalogueQuery, table: string): Promise<Key[]> {
  const rows = await query(
    `SELECT l.name AS idx, i.name AS col FROM pragma_index_list(?) AS l, pragma_index_xinfo(l.name) AS i
      WHERE l."unique" = 1 AND l.partial = 0 AND l.origin <> 'pk' AND i.key = 1 ORDER BY l.name, i.seqno`,
    [table],
  );
  const indexes = new Map<string, (string | null)[]>();
  for (const { idx, col } of rows) indexes.set(idx as string, [...(indexes.get(idx as string) ?? []), col ?? null]);
  return [...indexes.values()].flatMap((columns) =>
    columns.every((column) => column !== null) ? { primary: false, columns: columns as string[] } : [],
  );
}

/** SQLite checks references only in connections that ask for it, so the values need not be those of the other table. */
async function foreignKeys(query: CatalogueQuery, table: string): Promise<readonly ForeignKey[]> {
  const rows = await query(
    'SELECT id, "table" AS parent, "from" AS col, "to" AS parent_col FROM pragma_foreign_key_list(?) ORDER BY id, seq',
    [table],
  );
  const ids = new Set(rows.map(({ id }) => id));
  const keys: ForeignKey[] = [];
  for (const id of ids) {
    const parts = rows.filter((row) => row.id === id);
    const parent = parts[0]?.parent as string;
    const [found] = await query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE", [parent]);
    const named = parts.map(({ parent_col }) => parent_col);
    const parentColumns = named.every((name) => name !== null) ? (named as string[]) : await primaryKeyOf(query, parent);
    if (found === undefined || parentColumns.length !== parts.length) continue;
    const columns = parts.map(({ col }) => col as string);
    keys.push({ columns, parent: { schema: MAIN, name: found.name as string }, parentColumns, exact: false });
  }
  return keys;
}

async function primaryKeyOf(query: CatalogueQuery, table: string): Promise<readonly string[]> {
  return (await query('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk', [table])).map(({ name }) => name as string);
}
