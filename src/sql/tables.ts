/** The tables of a database, with their columns, keys and references. */

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

/** The catalogue that a session sees. */
export interface Catalogue {
  /**
   * All tables, in any order; without views, partitions, and tables of the system or of an extension.
   *
   * @param schemas to search; empty: the session's own (PostgreSQL's search path, MySQL's database)
   */
  tables(schemas: readonly string[]): Promise<readonly Table[]>;
  /** The table or view with a name; undefined: there is none. @param parts see `readTable` */
  table(parts: readonly string[]): Promise<Table | undefined>;
  /** The first schema searched for an unqualified name; undefined: the session has none. */
  defaultSchema(): Promise<string | undefined>;
}

/** A small query of the project itself: see `SqlSession.query`. */
export type CatalogueQuery = (sql: string, parameters?: readonly (string | number)[]) => Promise<readonly CatalogueRow[]>;

export type CatalogueRow = Readonly<Record<string, string | null>>;

/** A unique index. */
export interface Key {
  readonly primary: boolean;
  readonly columns: readonly string[];
}

/** Two indexes over the same columns are one key. */
export function keysOf(keys: readonly Key[]): Pick<Table, 'primaryKey' | 'uniqueKeys'> {
  const byColumns = new Map(keys.filter(({ primary }) => !primary).map(({ columns }) => [[...columns].sort().join('\0'), columns]));
  const primaryKey = keys.find(({ primary }) => primary)?.columns;
  if (primaryKey !== undefined) byColumns.delete([...primaryKey].sort().join('\0'));
  return { primaryKey, uniqueKeys: [...byColumns.values()] };
}

/** Keys from rows of their columns, which name the key in `idx` and the column in `col`. */
export const keysIn = (rows: readonly CatalogueRow[], isPrimary: (row: CatalogueRow) => boolean): readonly Key[] =>
  [...groupBy(rows, 'idx').values()].map((parts) => ({ primary: parts.some(isPrimary), columns: parts.map(({ col }) => col as string) }));

/** Foreign keys from rows of their columns: `idx`, `col`, `parent_schema`, `parent`, `parent_col`, and `exact` (`1` if so). */
export const foreignKeysIn = (rows: readonly CatalogueRow[]): readonly ForeignKey[] =>
  [...groupBy(rows, 'idx').values()].map((parts) => ({
    columns: parts.map(({ col }) => col as string),
    parent: { schema: parts[0]?.parent_schema as string, name: parts[0]?.parent as string },
    parentColumns: parts.map(({ parent_col }) => parent_col as string),
    exact: parts.every(({ exact }) => exact === '1'),
  }));

export const countOf = (text: string | null | undefined): number | undefined => (text == null ? undefined : Number(text));

/** Rows by the text of a column, in their order. */
export function groupBy(rows: readonly CatalogueRow[], name: string): ReadonlyMap<string, readonly CatalogueRow[]> {
  const groups = new Map<string, CatalogueRow[]>();
  for (const row of rows) {
    const key = row[name] ?? '';
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
