/** The tables that a follower keeps: their names in the feed, and their columns for the engine. */
import { Fault } from '../../core/fault.ts';
import { XSD } from '../../core/value.ts';
import { formatOrigin, type SqlSource } from '../../mapping/model/model.ts';
import { addressOf } from '../../run/databases/addresses.ts';
import { describeSource } from '../../run/databases/describe.ts';
import { positionIn } from '../../run/databases/relations.ts';
import type { RunRequest } from '../../run/request.ts';
import { findColumn, parseTableName } from '../../sql/catalogue/identifiers.ts';
import type { Column, DatabaseAddress, Product, SqlSession } from '../../sql/database.ts';
import { openSession } from '../../sql/drivers/open.ts';
import type { Table } from '../../sql/tables.ts';
import type { FeedPosition } from '../events.ts';
import { type DeclaredType, typedColumn, untypedColumn } from './columns.ts';
import { type FollowedMapping, refused } from './mapping.ts';
import type { RowSource } from './reading.ts';
import { FollowedSession, type FollowedTable } from './session.ts';
import type { KeptRows } from './state/rows.ts';

/** Where the names and columns of tables come from. */
export interface FollowedTables {
  /** Of the feed: tells those apart whose positions cannot be compared. Without a login. */
  readonly name: string;
  /** By which the feed names them, each with the table in the catalogue: of topics, as far as the mapping names it. */
  readonly tables: ReadonlyMap<string, Table>;
  /** A session that reads the kept rows. @throws Fault database/… — the database is asked for columns and does not answer */
  session(rows: RowSource, signal: AbortSignal | undefined): Promise<SqlSession>;
  /** The position from which the feed is read: without what the mapping reads in a way of which no rows are kept. Rows that it does not read go. */
  begin?(position: FeedPosition, rows: KeptRows): FeedPosition;
}

/** The product by whose rules the names of a mapping are read where nothing tells it: they are taken as they are, or find what differs in case. */
const ANY_PRODUCT: Product = 'sqlite';

/** What a mapping says of the names and columns of one table. */
interface Uses {
  readonly source: SqlSource;
  readonly references: readonly string[];
  readonly declared: ReadonlyMap<string, DeclaredType>;
}

/**
 * The tables of topics: their columns are those of the messages, and those that the mapping names.
 *
 * @param name of the feed
 * @param hasZone see `untypedColumn`
 * @throws Fault mapping/invalid — not the name of a table
 */
export function tablesOfTopics(mapping: FollowedMapping, request: RunRequest, name: string): FollowedTables {
  const uses = new Map<string, Uses[]>();
  const product = productOf(mapping, request);
  for (const source of mapping.sources) {
    const table = parseTableName(source.content.kind === 'table' ? source.content.name : '', product).at(-1) as string;
    const references = mapping.references.get(source) ?? [];
    const own = { source, references, declared: mapping.declared.get(source) ?? new Map<string, DeclaredType>() };
    uses.set(table, [...(uses.get(table) ?? []), own]);
  }
  const tableOf = (table: string, columns: readonly string[]): Table => ({
    schema: '-',
    name: table,
    kind: 'table',
    columns: columns.map((column) => ({ name: column, nullable: true })),
    primaryKey: undefined,
    uniqueKeys: [],
    foreignKeys: [],
    estimatedRows: undefined,
  });
  return {
    name,
    tables: new Map([...uses.keys()].map((table) => [table, tableOf(table, [])])),
    async session(rows) {
      const warnings: string[] = [];
      const followed = [...uses].map(([table, own]): FollowedTable => {
        const kept = rows.table(table);
        const schema = new Map(kept?.columns?.map((column) => [column.name, column]));
        const names = [...new Set([...schema.keys(), ...(kept?.names ?? [])])].map((column) => ({ name: column }));
        const position = ({ references }: SqlSource, reference: string): number => findColumn(names, reference, references, product);
        for (const { source, references } of own)
          for (const reference of references) {
            const at = position(source, reference);
            const isThere = at >= 0 && kept?.present?.includes(names[at]?.name as string) !== false;
            if (!isThere && kept?.present !== undefined)
              warnings.push(
                at >= 0
                  ? `The newest row of ${table} has no column ${reference}, which older rows have (${formatOrigin(source.content.origin)})`
                  : `No row of ${table} has a column ${reference} (${formatOrigin(source.content.origin)})`,
              );
            if (at >= 0) continue;
            names.push({ name: columnName(source, reference, product) });
          }
        const declared = new Map<string, { readonly type: DeclaredType; readonly hasZone: boolean }>();
        for (const one of own)
          for (const [reference, type] of one.declared)
            declared.set(names[position(one.source, reference)]?.name ?? reference, { type, hasZone: one.source.zone !== 'none' });
        const columns = names.map(({ name: column }): Column => {
          const known = schema.get(column);
          const said = declared.get(column);
          return known === undefined ? untypedColumn(column, said?.type, said?.hasZone ?? true) : typedColumn(known);
        });
        const untyped = new Set(names.flatMap(({ name: column }) => (schema.has(column) ? [] : [column])));
        return {
          name: table,
          table: tableOf(
            table,
            names.map((one) => one.name),
          ),
          columns,
          untyped,
          raw: new Set(),
        };
      });
      const find = (parts: readonly string[]): FollowedTable | undefined => followed.find((one) => one.name === parts.at(-1));
      return new FollowedSession(product, name, rows, followed, find, warnings.length === 0 ? undefined : warnings.join('\n'));
    },
  };
}

/** A database that the mapping or the run names says how names are read. It is not asked. */
function productOf({ sources }: FollowedMapping, request: RunRequest): Product {
  const [source] = sources;
  if (source === undefined) return ANY_PRODUCT;
  return source.connection === undefined && request.database === undefined ? ANY_PRODUCT : addressOf(source, request).product;
}

function columnName({ references }: SqlSource, reference: string, product: Product): string {
  if (references === 'labels') return reference;
  try {
    return parseTableName(reference, product).at(-1) as string;
  } catch {
    // Not an identifier: it is compared as it is.
    return reference;
  }
}

/** The one database of a mapping. @throws Fault mapping/invalid — it reads several */
export function oneDatabase({ sources }: FollowedMapping, request: RunRequest): DatabaseAddress {
  const [first, ...others] = sources.map((source) => ({ source, address: addressOf(source, request) })) as [Addressed, ...Addressed[]];
  const other = others.filter(({ address }) => address.name !== first.address.name).map(({ source }) => source);
  if (other.length > 0)
    throw refused(other, `a second database: ${first.address.name} is the first one`, 'follow each database in a separate dataset');
  return first.address;
}

/** As `oneDatabase`. @throws Fault database/driver — it has no log that is followed */
export function followedDatabase(mapping: FollowedMapping, request: RunRequest): DatabaseAddress {
  const address = oneDatabase(mapping, request);
  if (['postgresql', 'mysql', 'mariadb'].includes(address.product)) return address;
  throw new Fault('database/driver', `The changes of ${address.name} cannot be followed: ${address.product} has no log that is read here`, {
    hint: 'PostgreSQL, MySQL and MariaDB are followed; quadmill run --dataset finds changes by reading everything, or what qms:changedSince tells',
  });
}

interface Addressed {
  readonly source: SqlSource;
  readonly address: DatabaseAddress;
}

/**
 * The tables of a database: their columns and keys are those of its catalogue.
 *
 * @throws Fault mapping/reference — there is no such table; mapping/invalid — it is a view; database/…
 */
export async function tablesOfDatabase(
  mapping: FollowedMapping,
  request: RunRequest,
  address: DatabaseAddress,
  signal: AbortSignal | undefined,
): Promise<FollowedTables> {
  const describe = async (withSignal: AbortSignal | undefined): Promise<Described> => {
    const session = await openSession(address, { ...request.sql, ...(withSignal && { signal: withSignal }) });
    try {
      return await describedIn(session, mapping);
    } finally {
      await session.close();
    }
  };
  let described = await describe(signal);
  let schemas: string | undefined;
  return {
    name: address.name,
    tables: new Map(described.tables.map(({ name, table }) => [name, table])),
    async session(rows, withSignal) {
      // A table whose columns have changed is read again, which begins a generation of its rows.
      const present = JSON.stringify(described.tables.map(({ name }) => rows.table(name)?.generation));
      if (schemas !== present) described = await describe(withSignal);
      schemas = present;
      const { product, tables, byParts } = described;
      return new FollowedSession(product, address.name, rows, tables, (parts) => byParts.get(JSON.stringify(parts)));
    },
  };
}

export interface Described {
  readonly product: Product;
  readonly tables: readonly FollowedTable[];
  /** By the parts of the names that the mapping has. */
  readonly byParts: ReadonlyMap<string, FollowedTable>;
}

/**
 * What a session says of the tables of a mapping.
 *
 * @throws Fault mapping/reference — there is no such table or column; mapping/invalid — it is a view, unless `withViews`; database/…
 */
export async function describedIn(session: SqlSession, { sources, references }: FollowedMapping, withViews = false): Promise<Described> {
  const { product } = session;
  const tables = new Map<string, FollowedTable>();
  const byParts = new Map<string, FollowedTable>();
  const views: SqlSource[] = [];
  for (const source of sources) {
    const relation = await describeSource(source, session);
    const { table, columns } = relation;
    if (table === undefined) continue;
    // The first run would say so, when the server keeps a slot already.
    for (const reference of references.get(source) ?? []) positionIn(relation, source, reference);
    if (table.kind === 'view' && !withViews) views.push(source);
    const name = `${table.schema}.${table.name}`;
    const known = tables.get(name) ?? {
      name,
      table,
      columns: columns.map((column) => ({ ...column, family: 'other' as const })),
      untyped: new Set<string>(),
      raw: new Set(product === 'postgresql' ? [] : columns.flatMap((column) => (isBinary(column) ? [column.name] : []))),
    };
    tables.set(name, known);
    if (source.content.kind === 'table') byParts.set(JSON.stringify(parseTableName(source.content.name, product)), known);
  }
  if (views.length > 0) throw refused(views, 'a view cannot be followed: its changes are in no log', 'name the tables that it reads');
  return { product, tables: [...tables.values()], byParts };
}

const isBinary = ({ datatype }: Column): boolean => datatype === `${XSD}hexBinary`;
