/**
 * The databases of a run: one session each, from before planning to the end of the run.
 *
 * The planner asks for keys and types (`CatalogueMetadata`), then each scan becomes one SELECT. All of them see the same state of the data.
 */
import type { LogicalSource, SqlSource } from '../../mapping/model/model.ts';
import type { DatabaseRows } from '../../plan/algebra.ts';
import { sqlKey } from '../../plan/build/operators.ts';
import type { CatalogueMetadata } from '../../plan/catalogue-metadata.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { OpenedScan } from '../../sources/source.ts';
import type { Column, SqlSession } from '../../sql/database.ts';
import { openSession } from '../../sql/drivers/open.ts';
import { boundsQuery, type Relation } from '../../sql/select.ts';
import type { Table } from '../../sql/tables.ts';
import type { KeyRange, RunHooks, RunRequest, ScanLimit } from '../request.ts';
import { addressOf } from './addresses.ts';
import { describeSource } from './describe.ts';
import { metadataOf, versionOf } from './metadata.ts';
import { Relations } from './relations.ts';
import { openDatabaseScan } from './scans.ts';

/** The sessions of a run. The caller closes them. */
export class Databases {
  readonly metadata: CatalogueMetadata;
  /** Where this is equal, `metadata` gives the same answers. */
  readonly version: string;
  readonly #sessions: readonly SqlSession[];
  readonly #relations: Relations;

  private constructor(sessions: readonly SqlSession[], relations: ReadonlyMap<string, Relation>) {
    this.#sessions = sessions;
    this.#relations = new Relations(relations);
    this.metadata = metadataOf(this.#relations);
    this.version = versionOf(relations);
  }

  /**
   * Opens the databases of sources, and asks them for the columns and keys of the tables and queries.
   *
   * @param all also others than those of databases
   * @param snapshots what `snapshots` of another process has returned, to read the same states; empty: the present states
   * @param step called before a database is asked
   * @param given opens what a source is read from, in place of its database
   * @throws Fault database/…; those of `addressOf` and `describeSource`
   */
  static async open(
    all: readonly LogicalSource[],
    request: Pick<RunRequest, 'database' | 'sql' | 'workingDirectory' | 'reach'> &
      Partial<Pick<RunRequest, 'memoryBudgetBytes' | 'spillDirectory'>>,
    snapshots: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
    step?: ScanLimit['step'],
    given?: RunHooks['openSession'],
  ): Promise<Databases> {
    const sources = all.filter((source) => source.kind === 'sql');
    const sessions = new Map<string, SqlSession>();
    const relations = new Map<string, Relation>();
    try {
      for (const source of sources) {
        const key = sqlKey(source);
        if (relations.has(key)) continue;
        if (given !== undefined) {
          const session = await given(source);
          sessions.set(key, session);
          relations.set(key, await describeSource(source, session));
          continue;
        }
        const address = addressOf(source, request);
        const database = JSON.stringify([address, address.password?.reveal()]);
        let session = sessions.get(database);
        if (session === undefined) {
          step?.(`connecting to ${address.name}`);
          session = await openSession(address, {
            ...request.sql,
            // The database of the run is named by options.
            reach: source.connection === undefined ? undefined : request.reach,
            signal,
            snapshot: snapshots[address.name],
            memoryBytes: request.memoryBudgetBytes,
            spillDirectory: request.spillDirectory,
          });
          sessions.set(database, session);
        }
        step?.(`reading columns and keys in ${address.name}`);
        relations.set(key, await describeSource(source, session));
      }
    } catch (error) {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      throw error;
    }
    return new Databases([...sessions.values()], relations);
  }

  /** What the user should know of the states that the sessions see. */
  get warnings(): readonly string[] {
    return [...new Set(this.#sessions.flatMap(({ warning }) => warning ?? []))];
  }

  /**
   * Names of the states that the sessions see, by address name, for `open` in other processes. They are valid until `close`. A product
   * without exported states has no entry.
   */
  async snapshots(): Promise<Readonly<Record<string, string>>> {
    const entries: [string, string][] = [];
    for (const session of this.#sessions) {
      const snapshot = await session.exportSnapshot();
      if (snapshot !== undefined) entries.push([session.address.name, snapshot]);
    }
    return Object.fromEntries(entries);
  }

  /** The name of the address of a source's database, as in `snapshots`. */
  addressOf(source: DatabaseRows): string {
    return this.#relations.of(source.kind === 'sql' ? source : source.child).session.address.name;
  }

  /** The table that a source reads. undefined: the source is a query. */
  tableOf(source: SqlSource): (Table & { readonly session: SqlSession; readonly columnsByName: ReadonlyMap<string, Column> }) | undefined {
    const relation = this.#relations.of(source);
    if (relation.table === undefined) return undefined;
    return {
      ...relation.table,
      session: relation.session,
      columnsByName: new Map(relation.columns.map((column) => [column.name, column])),
    };
  }

  /** Indexes of the columns of the key that names the rows of a table; none: it has none, or is a query. */
  keyOf(source: SqlSource): readonly number[] {
    return this.#relations.keyOf(source);
  }

  /** Every `rows`-th value of a key column, in key order and without the first, as the server's texts. */
  async boundsOf(table: Table & { readonly session: SqlSession }, column: string, rows: number): Promise<readonly string[]> {
    const bounds = await table.session.query(boundsQuery(table, column, rows, table.session.product));
    return bounds.map((row) => Object.values(row)[0] as string);
  }

  /** Opens a scan of the plan: see `openDatabaseScan`. */
  openScan(scan: ScanPlan, source: DatabaseRows, range: KeyRange | undefined, rows: number | undefined): OpenedScan {
    return openDatabaseScan(this.#relations, scan, source, range, rows);
  }

  /** Closes the sessions. Never throws. */
  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close()));
  }
}
