/**
 * The databases of a run: a session for each, what its tables and queries are made of, and the SQL of each scan.
 *
 * Opened before planning, which asks for keys and types (`SourceFacts`); all scans read the one state that the sessions see.
 */
import { Fault } from '../../core/fault.ts';
import { didYouMean } from '../../core/nearest.ts';
import { formatOrigin, type Mapping, type SqlConnection, type SqlSource } from '../../mapping/model/model.ts';
import type { CatalogueMetadata } from '../../plan/catalogue-metadata.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import { sqlKey } from '../../plan/scans.ts';
import type { Scan } from '../../sources/source.ts';
import { openSql } from '../../sources/sql/sql.ts';
import { readTable, readTables, type Table } from '../../sql/catalogue/catalogue.ts';
import { findColumn, parseTableName, suggestColumns } from '../../sql/catalogue/identifiers.ts';
import type { Column, DatabaseAddress, SqlSession } from '../../sql/database.ts';
import { parseJdbcUrl } from '../../sql/jdbc/jdbc.ts';
import { openSession } from '../../sql/open.ts';
import { allOf, boundsQuery, canBeDistinct, joinQuery, type Relation, type Side, selectQuery } from '../../sql/select.ts';
import type { OpenedScan } from '../opened-scan.ts';
import type { KeyRange, RunRequest } from '../request.ts';

type Content<K extends SqlSource['content']['kind']> = SqlSource & { readonly content: Extract<SqlSource['content'], { kind: K }> };

export class Databases {
  readonly facts: CatalogueMetadata;
  readonly #sessions: readonly SqlSession[];
  /** By `sqlKey`: tables and queries. */
  readonly #relations: ReadonlyMap<string, Relation>;

  private constructor(sessions: readonly SqlSession[], relations: ReadonlyMap<string, Relation>) {
    this.#sessions = sessions;
    this.#relations = relations;
    this.facts = {
      isKey: (source, references) => this.#isKey(source, references),
      identifiesRow: (source, references) => this.#tellsRow(source, references),
      areDistinct: (source, references) => this.#areDistinct(source, references),
      isSingle: (source, reference) => this.#column(source, reference)?.elements === undefined,
      isAlwaysValid: (source, reference) => this.#column(source, reference)?.partial !== true,
      canJoin: (child, childReference, parent, parentReference) => this.#canJoin(child, childReference, parent, parentReference),
    };
  }

  /**
   * Opens the databases that a mapping reads, undefined where it reads none, and asks them what its tables and queries are.
   *
   * @param snapshots states to read, by the addresses' names: those of another run's `snapshots`
   * @throws Fault database/…; mapping/invalid — a source without a database; mapping/reference — no such table
   */
  static async open(
    mapping: Mapping,
    request: Pick<RunRequest, 'database' | 'sql'>,
    snapshots: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Databases | undefined> {
    const sources = mapping.triplesMaps.map(({ source }) => source).filter((source) => source.kind === 'sql');
    if (sources.length === 0) return undefined;
    const sessions = new Map<string, SqlSession>();
    const relations = new Map<string, Relation>();
    try {
      for (const source of sources) {
        const key = sqlKey(source);
        if (relations.has(key)) continue;
        const address = addressOf(source, request);
        const database = JSON.stringify(address);
        let session = sessions.get(database);
        if (session === undefined) {
          session = await openSession(address, { ...request.sql, signal, snapshot: snapshots[address.name] });
          sessions.set(database, session);
        }
        relations.set(key, await relationOf(source, session));
      }
    } catch (error) {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      throw error;
    }
    return new Databases([...sessions.values()], relations);
  }

  /** The states that the sessions see, for other processes, by the addresses' names. They last as long as this is open. */
  async snapshots(): Promise<Readonly<Record<string, string>>> {
    const entries: [string, string][] = [];
    for (const session of this.#sessions) {
      const snapshot = await session.exportSnapshot();
      if (snapshot !== undefined) entries.push([session.address.name, snapshot]);
    }
    return Object.fromEntries(entries);
  }

  /** The table that a source is; undefined for a query or a join. */
  tableOf(source: SqlSource): (Table & { readonly session: SqlSession; readonly columnsByName: ReadonlyMap<string, Column> }) | undefined {
    const relation = source.content.kind === 'join' ? undefined : this.#relations.get(sqlKey(source));
    if (relation?.table === undefined) return undefined;
    return {
      ...relation.table,
      session: relation.session,
      columnsByName: new Map(relation.columns.map((column) => [column.name, column])),
    };
  }

  /** Every `rows`-th value of a key in its order, without the first. */
  async boundsOf(table: Table & { readonly session: SqlSession }, column: string, rows: number): Promise<readonly string[]> {
    const bounds = await table.session.query(boundsQuery(table, column, rows, table.session.product));
    return bounds.map((row) => Object.values(row)[0] as string);
  }

  /** Opens a scan of the plan; with `range`, the rows of the table (of a join: of the child's table) between two keys. */
  openScan({ iterations }: ScanPlan, source: SqlSource, range: KeyRange | undefined): OpenedScan {
    const references = iterations.flatMap((iteration) => iteration.references);
    const { content } = source;
    const origin = formatOrigin(content.origin);
    const close = async (): Promise<void> => undefined;
    if (content.kind === 'join') {
      const [child, parent] = this.#sides(source as Content<'join'>, references);
      const query = joinQuery(child, parent, range);
      const position = (reference: string): number => {
        const [side, name] = sideOf(reference);
        const column = this.#position(content[side], name);
        return side === 'child' ? child.read.indexOf(column) : child.read.length + parent.read.indexOf(column);
      };
      const { session } = child.relation;
      const scan = openSql({ session, sql: query.sql, columns: query.columns, position, nulls: source.nulls, origin });
      return { scan: placed(scan, origin), name: session.address.name, typed: true, close };
    }
    const relation = this.#relation(source);
    const { session } = relation;
    const read = ascending(references.map((reference) => this.#position(source, reference)));
    const query = selectQuery(relation, read, range);
    const position = (reference: string): number => {
      const column = this.#position(source, reference);
      return relation.query === undefined ? read.indexOf(column) : column;
    };
    const scan = openSql({ session, sql: query.sql, columns: query.columns, position, nulls: source.nulls, origin });
    return { scan: placed(scan, origin), name: session.address.name, typed: true, close };
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close()));
  }

  #relation(source: SqlSource): Relation {
    return this.#relations.get(sqlKey(source)) as Relation;
  }

  /** @throws Fault mapping/reference */
  #position(source: SqlSource, reference: string): number {
    const relation = this.#relation(source);
    const position = findColumn(relation.columns, reference, relation.naming, relation.session.product);
    if (position >= 0) return position;
    throw new Fault('mapping/reference', `${relation.label} has no column ${reference}`, {
      place: { input: relation.session.address.name, expression: reference, mapping: formatOrigin(source.content.origin) },
      hint: suggestColumns(relation.columns, reference, relation.naming, relation.session.product),
    });
  }

  /** What a join reads of each side, for the references of a scan. */
  #sides(source: Content<'join'>, references: readonly string[]): readonly [child: Side, parent: Side] {
    const { child, parent, conditions } = source.content;
    const read = (side: SqlSource, name: 'child' | 'parent'): Side => {
      const own = references.filter((reference) => reference.startsWith(`${name} `)).map((reference) => reference.slice(name.length + 1));
      const relation = this.#relation(side);
      const read = ascending(own.map((reference) => this.#position(side, reference)));
      const keys = conditions.map((condition) => this.#position(side, condition[name]));
      return {
        relation,
        read,
        keys,
        distinct: isKeyOf(
          relation,
          read.map((column) => relation.columns[column]),
        ),
      };
    };
    return [read(child, 'child'), read(parent, 'parent')];
  }

  /** undefined where there is no such column: opening the scan says so. */
  #column(source: SqlSource, reference: string): Column | undefined {
    if (source.content.kind === 'join') {
      const [side, name] = sideOf(reference);
      return this.#column(source.content[side], name);
    }
    const { columns, naming, session } = this.#relation(source);
    return columns[findColumn(columns, reference, naming, session.product)];
  }

  #tellsRow(source: SqlSource, references: readonly string[]): boolean {
    if (source.content.kind === 'join') return this.#sides(source as Content<'join'>, references)[0].distinct;
    return isKeyOf(
      this.#relation(source),
      references.map((reference) => this.#column(source, reference)),
    );
  }

  #isKey(source: SqlSource, references: readonly string[]): boolean {
    if (!this.#tellsRow(source, references)) return false;
    if (source.content.kind !== 'join') return true;
    // A row of the child meets at most one of the parent.
    const [, { relation, keys }] = this.#sides(source as Content<'join'>, references);
    return isKeyOf(
      relation,
      keys.map((column) => relation.columns[column]),
    );
  }

  #areDistinct(source: SqlSource, references: readonly string[]): boolean {
    if (source.content.kind !== 'join' || !references.every((reference) => this.#column(source, reference)?.exact === true)) return false;
    return this.#sides(source as Content<'join'>, references).every((side) => side.distinct || canBeDistinct(side));
  }

  #canJoin(child: SqlSource, childReference: string, parent: SqlSource, parentReference: string): boolean {
    if (this.#relation(child).session !== this.#relation(parent).session) return false;
    const [left, right] = [this.#column(child, childReference), this.#column(parent, parentReference)];
    if (left === undefined || right === undefined) return false;
    // The columns of a subquery need names of their own.
    if (![child, parent].every((side) => hasOwnNames(this.#relation(side)))) return false;
    return left.family !== 'other' && left.family === right.family && left.elements === undefined && right.elements === undefined;
  }
}

/** A reference over a join: `child Name`. */
function sideOf(reference: string): readonly [side: 'child' | 'parent', reference: string] {
  const space = reference.indexOf(' ');
  return [reference.slice(0, space) as 'child' | 'parent', reference.slice(space + 1)];
}

const SHOWN_TABLES = 30;

const ascending = (positions: readonly number[]): readonly number[] => [...new Set(positions)].sort((a, b) => a - b);

const hasOwnNames = ({ columns }: Relation): boolean => new Set(columns.map(({ name }) => name.toLowerCase())).size === columns.length;

/** Whether columns hold a unique key whose texts tell its values apart. */
function isKeyOf({ table }: Relation, columns: readonly (Column | undefined)[]): boolean {
  const exact = new Set(columns.flatMap((column) => (column?.exact === true ? [column.name] : [])));
  return table !== undefined && keysOf(table).some((key) => key.every((name) => exact.has(name)));
}

/** Unique keys of columns that are never null. */
export function keysOf({ primaryKey, uniqueKeys, columns }: Table): readonly (readonly string[])[] {
  const nullable = new Set(columns.flatMap((column) => (column.nullable ? [column.name] : [])));
  return [...(primaryKey === undefined ? [] : [primaryKey]), ...uniqueKeys.filter((key) => !key.some((name) => nullable.has(name)))];
}

/** @throws Fault database/driver, request/invalid, mapping/invalid — neither mapping nor run name a database */
function addressOf({ connection, origin }: SqlSource, { database }: Pick<RunRequest, 'database'>): DatabaseAddress {
  if (connection !== undefined) return addressOfMapping(connection);
  if (database !== undefined) return parseJdbcUrl({ url: database.jdbcUrl, user: database.user, password: database.password });
  throw new Fault('mapping/invalid', 'The mapping reads a database, and neither it nor the run says which one', {
    place: { mapping: formatOrigin(origin) },
    hint: 'Set JDBC_URL, DB_USER and DB_PASSWORD, or describe the database in the mapping (d2rq:Database)',
  });
}

function addressOfMapping({ jdbcUrl, driver, user, password, origin }: SqlConnection): DatabaseAddress {
  try {
    return parseJdbcUrl({ url: jdbcUrl, driver, user, password });
  } catch (error) {
    throw inMapping(error, formatOrigin(origin));
  }
}

/** A scan whose faults say which table or query they are about: a mapping may have many. */
function placed(scan: Scan, mapping: string): Scan {
  return {
    ...scan,
    async *batches(signal) {
      try {
        yield* scan.batches(signal);
      } catch (error) {
        throw inMapping(error, mapping);
      }
    },
  };
}

/** The words about a login that was refused are the specification's, and stand alone; who cancels a run knows that it is all of it. */
const ALONE: ReadonlySet<string> = new Set(['database/credentials', 'run/cancelled']);

/** The same fault, with the statement of the mapping that it is about. */
function inMapping(error: unknown, mapping: string): unknown {
  if (!(error instanceof Fault) || ALONE.has(error.code) || error.place.mapping !== undefined) return error;
  return error.with({ place: { mapping } });
}

async function relationOf(source: SqlSource, session: SqlSession): Promise<Relation> {
  const { content } = source;
  try {
    if (content.kind === 'query') {
      const columns = await session.describe(content.sql);
      const naming = source.references === 'identifiers' ? 'either' : source.references;
      return { session, label: 'The query', query: content.sql, naming, columns, table: undefined };
    }
    if (content.kind === 'join') throw new Error('joins are made by planning');
    const parts = parseTableName(content.name, session.product);
    const table = await readTable(session, parts);
    if (table === undefined) throw await missingTable(content.name, session);
    const columns = await session.describe(allOf(table, session.product));
    return { session, label: `The ${table.kind} ${table.name}`, query: undefined, naming: source.references, columns, table };
  } catch (error) {
    throw inMapping(error, formatOrigin(content.origin));
  }
}

async function missingTable(name: string, session: SqlSession): Promise<Fault> {
  const names = (await readTables(session)).map((table) => table.name);
  return new Fault('mapping/reference', `The database has no table or view ${name}`, {
    place: { input: session.address.name, expression: name },
    hint:
      didYouMean(name.replace(/["`]/g, ''), names) ??
      (names.length === 0 ? 'It has no tables that this user may see' : `It has ${names.slice(0, SHOWN_TABLES).join(', ')}`),
  });
}
