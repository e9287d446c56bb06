/** What the feed asks of the server and makes there: the publication and the slot, over an ordinary connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { quote } from '../../sql/catalogue/identifiers.ts';
import { queryFault } from '../../sql/faults.ts';
import { type Connected, connect } from '../../sql/postgresql/connect.ts';
import { faultOf, type PostgresError } from '../../sql/postgresql/faults.ts';
import { type DatabaseFeedOptions, nameOf } from '../database/options.ts';
import { lsnOf } from './lsn.ts';
import { checkTable, type LogTable, readTables } from './tables.ts';

type Row = Readonly<Record<string, string | null>>;

/** publish_via_partition_root came with it. */
const OLDEST = 130_000;
/** `COMMENT ON PUBLICATION`: who made it, and may remove it. */
const MADE = 'made by Quadmill';
/** How long the making of a slot may wait for transactions before the user gets a message. */
const TELL_MS = 5_000;
/** How long the server may take to notice that the connection that read a slot has gone. */
const ACTIVE_MS = 5_000;

const quoted = (name: string): string => quote(name, 'postgresql');

/** What another call mends. @param meanwhile as a clause */
export const alteredFault = (table: LogTable['table'], meanwhile: string, place: { readonly input: string }): Fault =>
  new Fault('database/busy', `The table ${nameOf(table)} was altered while ${meanwhile}`, { place });

export const SNAPSHOT_SQL = 'SELECT pg_catalog.txid_current_snapshot()::text AS snapshot';

export class Server {
  readonly #options: DatabaseFeedOptions;
  #connected: Promise<Connected> | undefined;
  version = 0;
  isAscii = false;

  constructor(options: DatabaseFeedOptions) {
    this.#options = options;
  }

  get #input(): { readonly input: string } {
    return { input: this.#options.address.name };
  }

  #tell(message: string): void {
    this.#options.tell?.(message);
  }

  /** @throws Fault those of `OpenSession`, and database/query */
  async query(sql: string, values: readonly string[] | readonly (readonly string[])[] = []): Promise<readonly Row[]> {
    const { client } = await (this.#connected ??= this.#connect());
    try {
      return (await client.query(sql, values as string[])).rows as Row[];
    } catch (error) {
      const fault = faultOf(error, { address: this.#options.address, statementSeconds: 0 });
      if (fault.code === 'database/lost') this.#connected = undefined;
      const user = this.#options.address.user ?? '';
      throw (error as PostgresError).code === '42501' ? fault.with({ hint: `The user needs more rights: ${rightsOf(user)}` }) : fault;
    }
  }

  async #connect(): Promise<Connected> {
    try {
      const connected = await connect(this.#options.address, this.#options);
      connected.client.on('end', () => {
        this.#connected = undefined;
      });
      return connected;
    } catch (error) {
      this.#connected = undefined;
      throw error;
    }
  }

  /** Never throws. */
  async close(): Promise<void> {
    const connected = await this.#connected?.catch(() => undefined);
    this.#connected = undefined;
    if (connected === undefined) return;
    await atMost(1_000, connected.client.end());
    connected.wire.stream.destroy();
  }

  /** @throws Fault database/query — the server keeps no log that can be read, or is too old */
  async check(): Promise<void> {
    const [row] = await this.query(`SELECT pg_catalog.current_setting('server_version_num') AS version,
      pg_catalog.current_setting('server_version') AS name, pg_catalog.current_setting('wal_level') AS level,
      pg_catalog.current_setting('server_encoding') AS encoding, pg_catalog.current_setting('wal_block_size') AS page`);
    this.version = Number(row?.version ?? 0);
    this.isAscii = row?.encoding === 'SQL_ASCII';
    const { address } = this.#options;
    if (this.version < OLDEST)
      throw queryFault(
        `The server is PostgreSQL ${row?.name}, whose replication log cannot be read here`,
        address,
        'Use PostgreSQL 13 or later',
      );
    if (row?.level === 'logical') return;
    const hint = 'Run ALTER SYSTEM SET wal_level = logical, and restart the server';
    throw queryFault(`The server keeps no log of rows: wal_level is ${row?.level}`, address, hint);
  }

  /**
   * The wanted tables as they are.
   *
   * @throws Fault mapping/reference — a table is missing; database/query — updates of a table could not be followed
   */
  async tables(query = (sql: string, values: readonly string[]) => this.query(sql, values)): Promise<ReadonlyMap<string, LogTable>> {
    const tables = await readTables(query, this.#options.tables);
    for (const table of tables.values()) checkTable(table, this.#options.address);
    return tables;
  }

  /**
   * Makes the publication, or adds tables to it.
   *
   * @returns tables that it did not have until now; `made`: it did not exist, so the server cannot decode what is older
   */
  async publish(tables: ReadonlyMap<string, LogTable>): Promise<{ readonly made: boolean; readonly added: readonly string[] }> {
    const { publication, address } = this.#options;
    const lists = [...tables.values()].map(({ table }) => `${quoted(table.schema)}.${quoted(table.name)}`);
    const [found] = await this.query(
      `SELECT p.puballtables::text AS "all", p.pubviaroot::text AS root, (p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate)::text AS complete
      FROM pg_catalog.pg_publication p WHERE p.pubname = $1`,
      [publication],
    );
    if (found === undefined) {
      await this.query(`CREATE PUBLICATION ${quoted(publication)} FOR TABLE ${lists.join(', ')} WITH (publish_via_partition_root = true)`);
      await this.query(`COMMENT ON PUBLICATION ${quoted(publication)} IS '${MADE}'`);
      this.#tell(`The publication ${publication} is made, for ${names(tables.keys())}`);
      return { made: true, added: [...tables.keys()] };
    }
    if (found.complete !== 'true')
      throw queryFault(
        `The publication ${publication} leaves out some kinds of changes`,
        address,
        `Run ALTER PUBLICATION ${quoted(publication)} SET (publish = 'insert, update, delete, truncate')`,
      );
    if (found.root !== 'true' && [...tables.values()].some(({ isPartitioned }) => isPartitioned))
      throw queryFault(
        `The publication ${publication} publishes the partitions of a table, not the table`,
        address,
        `Run ALTER PUBLICATION ${quoted(publication)} SET (publish_via_partition_root = true)`,
      );
    const published = await this.#published();
    const added = [...tables].filter(([, { table }]) => !published.has(nameOf(table)));
    if (added.length > 0) {
      const list = added.map(([, { table }]) => `${quoted(table.schema)}.${quoted(table.name)}`).join(', ');
      await this.query(`ALTER PUBLICATION ${quoted(publication)} ADD TABLE ${list}`);
      this.#tell(`The publication ${publication} gets ${names(added.map(([name]) => name))}`);
    }
    const lacking = [...tables].filter(([, { table, columns }]) => {
      const filtered = published.get(nameOf(table));
      return filtered !== undefined && (filtered.filter !== null || columns.some(({ name }) => filtered.columns?.includes(name) === false));
    });
    const [first] = lacking;
    if (first !== undefined) {
      const [name, { table, shape }] = first;
      // The catalogue was read twice.
      if ((await this.tables()).get(name)?.shape !== shape) throw alteredFault(table, 'the publication was looked at', this.#input);
      throw queryFault(`The publication ${publication} leaves out rows or columns of ${nameOf(table)}`, address, 'Publish the whole table');
    }
    return { made: false, added: added.map(([name]) => name) };
  }

  async #published(): Promise<ReadonlyMap<string, { readonly columns: readonly string[] | undefined; readonly filter: string | null }>> {
    // Lists of columns and filters of rows came with PostgreSQL 15.
    const more =
      this.version >= 150_000
        ? 'pg_catalog.to_json(t.attnames)::text AS columns, t.rowfilter AS filter'
        : 'NULL AS columns, NULL AS filter';
    const rows = await this.query(
      `SELECT t.schemaname AS schema, t.tablename AS name, ${more} FROM pg_catalog.pg_publication_tables t WHERE t.pubname = $1`,
      [this.#options.publication],
    );
    const columnsOf = (text: string | null | undefined) => (text == null ? undefined : (JSON.parse(text) as string[]));
    return new Map(
      rows.map(({ schema, name, columns, filter = null }) => [
        `${schema}.${name}`,
        { columns: columnsOf(columns), filter: filter as string | null },
      ]),
    );
  }

  /** Whether the slot is there and can be read from a place on. undefined: it is not there. */
  async slot(): Promise<{ readonly confirmed: bigint; readonly isLost: boolean } | undefined> {
    const { slot, address } = this.#options;
    const [row] = await this.query(
      `SELECT s.plugin, s.wal_status, s.confirmed_flush_lsn::text AS confirmed, (s.database = pg_catalog.current_database())::text AS here
      FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = $1`,
      [slot],
    );
    if (row === undefined) return undefined;
    if (row.plugin !== 'pgoutput' || row.here !== 'true')
      throw queryFault(
        `The replication slot ${slot} is one of another database or of the plugin ${row.plugin}, not of pgoutput`,
        address,
        'Name another slot',
      );
    return { confirmed: lsnOf(row.confirmed ?? '0/0'), isLost: row.wal_status === 'lost' };
  }

  /** Makes the slot, and removes an old one first. @returns where its log begins */
  async makeSlot(signal: AbortSignal): Promise<bigint> {
    const { slot } = this.#options;
    if ((await this.slot()) !== undefined) await this.dropSlot(signal);
    const making = this.query(`SELECT lsn::text FROM pg_catalog.pg_create_logical_replication_slot($1, 'pgoutput')`, [slot]);
    if (!(await atMost(TELL_MS, making))) this.#tell(`The replication slot ${slot} is made when the transactions that run now have ended`);
    const [row] = await making;
    this.#tell(`The replication slot ${slot} is made: the server keeps its log until it is read`);
    return lsnOf(row?.lsn as string);
  }

  /** @throws Fault database/busy — another connection reads it */
  async dropSlot(signal?: AbortSignal): Promise<void> {
    const { slot } = this.#options;
    for (const deadline = performance.now() + ACTIVE_MS; ; await sleep(200)) {
      const [row] = await this.query('SELECT s.active_pid::text AS pid FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = $1', [
        slot,
      ]);
      if (row === undefined) return;
      if (row.pid === null) break;
      if (performance.now() > deadline || signal?.aborted === true)
        throw new Fault('database/busy', `Another connection reads the replication slot ${slot} (process ${row.pid})`, {
          place: this.#input,
          hint: 'One follower reads a slot. End the other one, or name another slot',
        });
    }
    await this.query('SELECT pg_catalog.pg_drop_replication_slot($1)', [slot]);
  }

  /** Removes the publication if the feed has made it. */
  async dropPublication(): Promise<void> {
    const { publication } = this.#options;
    const [row] = await this.query(
      `SELECT pg_catalog.obj_description(p.oid, 'pg_publication') AS comment FROM pg_catalog.pg_publication p WHERE p.pubname = $1`,
      [publication],
    );
    if (row?.comment === MADE) await this.query(`DROP PUBLICATION ${quoted(publication)}`);
  }

  /** The text of `txid_current_snapshot()` at this moment. */
  async snapshot(): Promise<string> {
    const [row] = await this.query(SNAPSHOT_SQL);
    return row?.snapshot as string;
  }

  /** The end of the log. A place there may be behind the header of a page that is not written yet: then it is the beginning of the page. */
  async end(): Promise<bigint> {
    const [row] = await this.query(
      `SELECT pg_catalog.pg_current_wal_insert_lsn()::text AS lsn, pg_catalog.current_setting('wal_block_size') AS page`,
    );
    const lsn = lsnOf(row?.lsn as string);
    const inPage = lsn % BigInt(row?.page as string);
    return inPage <= LONGEST_HEADER ? lsn - inPage : lsn;
  }

  /** Bytes of the log behind a place, and those that the server keeps for the slot. */
  async lag(lsn: bigint | undefined): Promise<{ readonly bytes: number | undefined; readonly kept: number | undefined }> {
    const [row] = await this.query(
      `SELECT pg_catalog.pg_current_wal_lsn()::text AS lsn, (SELECT pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), s.restart_lsn)::text
        FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = $1) AS kept`,
      [this.#options.slot],
    );
    const behind = lsn === undefined ? undefined : Number(lsnOf(row?.lsn as string) - lsn);
    return { bytes: behind === undefined ? undefined : Math.max(0, behind), kept: row?.kept == null ? undefined : Number(row.kept) };
  }
}

/** Bytes of the header of a page of the log. */
const LONGEST_HEADER = 40n;

const names = (all: Iterable<string>): string => [...all].join(', ');

const rightsOf = (user: string): string =>
  `ALTER ROLE ${quoted(user || 'name')} REPLICATION; SELECT on the tables; to make or extend a publication, CREATE on the database and the ownership of the tables`;
