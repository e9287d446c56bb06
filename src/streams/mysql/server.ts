/** What the feed asks of the server, over an ordinary connection. */
import { atMost } from '../../core/abort.ts';
import type { Fault } from '../../core/fault.ts';
import type { DatabaseAddress, SqlSession } from '../../sql/database.ts';
import { queryFault } from '../../sql/faults.ts';
import { connect } from '../../sql/mysql/connect.ts';
import { faultOf, type MysqlError } from '../../sql/mysql/faults.ts';
import { literal, openMysql, zoneOf } from '../../sql/mysql/mysql.ts';
import { Rows, type Socketed } from '../../sql/mysql/rows.ts';
import type { DatabaseFeedOptions } from '../database/options.ts';
import { comparePlaces, type Place } from './place.ts';
import { type LogTable, type Query, readTables } from './tables.ts';
import { ZoneOffsets } from './zone.ts';

type Row = Readonly<Record<string, string | null>>;

/** How long a snapshot of MySQL may wait for writers, in seconds. */
const LOCK_SECONDS = 60;

/** ER_PARSE_ERROR */
const SYNTAX_ERROR = 1064;
/** ER_SPECIFIC_ACCESS_DENIED_ERROR */
const ACCESS_DENIED = 1227;

/** What a setting must be, and why. */
const SETTINGS: Readonly<Record<string, { readonly value: RegExp; readonly mended: string }>> = {
  log_bin: { value: /^(?:ON|1)$/i, mended: 'Start the server with --log-bin' },
  binlog_format: { value: /^ROW$/i, mended: "Run SET GLOBAL binlog_format = 'ROW', and connect the writers again" },
  binlog_row_image: { value: /^FULL/i, mended: "Run SET GLOBAL binlog_row_image = 'FULL', and connect the writers again" },
  binlog_row_value_options: { value: /^$/, mended: "Run SET GLOBAL binlog_row_value_options = ''" },
  binlog_transaction_compression: { value: /^(?:OFF|0)$/i, mended: 'Run SET GLOBAL binlog_transaction_compression = OFF' },
};

/** A place in the log, and what names it on other servers. */
export interface LogEnd {
  readonly place: Place;
  /** undefined: the server has none. */
  readonly gtids: string | undefined;
}

export class Server {
  readonly #options: DatabaseFeedOptions;
  #connecting: Promise<Socketed> | undefined;
  /** A connection runs one statement at a time. */
  #last: Promise<unknown> = Promise.resolve();
  readonly zone = new ZoneOffsets((sql) => this.query(sql));
  isMariadb = false;
  /** Changes when another server answers at the address. */
  id = '';
  #hasGtids = false;

  constructor(options: DatabaseFeedOptions) {
    this.#options = options;
  }

  get #address(): DatabaseAddress {
    return this.#options.address;
  }

  readonly query: Query = (sql, parameters = []) => {
    const run = this.#last.then(() => this.#query(sql, parameters));
    this.#last = run.catch(() => undefined);
    return run;
  };

  async #query(sql: string, parameters: readonly string[]): Promise<readonly Row[]> {
    let next = 0;
    const text = sql.replace(/\?/g, () => literal(parameters[next++] as string));
    try {
      return await rowsOf(await (this.#connecting ??= this.#connect()), text);
    } catch (error) {
      const fault = faultOf(error, { address: this.#address, statementSeconds: 0 });
      if (fault.code === 'database/lost') await this.#end();
      throw fault;
    }
  }

  async #connect(): Promise<Socketed> {
    try {
      const { connection } = await connect(this.#address, this.#options);
      const { sessionVariables } = this.#address.parameters;
      const settings = [...zoneOf(this.#address), `lock_wait_timeout = ${LOCK_SECONDS}`, ...(sessionVariables ? [sessionVariables] : [])];
      await rowsOf(connection, `SET ${settings.join(', ')}`);
      connection.on('end', () => {
        this.#connecting = undefined;
      });
      return connection;
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
  }

  async #end(): Promise<void> {
    const connection = await this.#connecting?.catch(() => undefined);
    this.#connecting = undefined;
    connection?.stream.destroy();
  }

  /** Never throws. */
  async close(): Promise<void> {
    await atMost(1_000, this.#last);
    await this.#end();
  }

  /** @throws Fault database/query — the log does not have all rows, with what mends it */
  async check(): Promise<void> {
    const [server] = await this.query('SELECT VERSION() AS version, @@SESSION.time_zone AS zone, @@GLOBAL.system_time_zone AS system_zone');
    this.isMariadb = /mariadb/i.test(server?.version ?? '');
    this.zone.set(server?.zone === 'SYSTEM' && server.system_zone === 'UTC' ? '+00:00' : (server?.zone ?? ''));
    const names = [...Object.keys(SETTINGS), 'gtid_mode', 'server_uuid', 'server_id'];
    const rows = await this.query(`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names.map(literal).join(', ')})`);
    const values = new Map(rows.map((row) => [row.Variable_name, row.Value ?? '']));
    for (const [name, { value, mended }] of Object.entries(SETTINGS)) {
      const found = values.get(name);
      if (found !== undefined && !value.test(found))
        throw queryFault(`The binlog of the server does not have all rows: ${name} is ${found || 'empty'}`, this.#address, mended);
    }
    this.#hasGtids = this.isMariadb || /^ON$/i.test(values.get('gtid_mode') ?? '');
    this.id = values.get('server_uuid') ?? values.get('server_id') ?? '';
  }

  /** The wanted tables as they are. @throws Fault those of `readTables` */
  tables(): Promise<ReadonlyMap<string, LogTable>> {
    return readTables(this.query, this.#options.tables, this.#address);
  }

  /** The end of the log. Needs the right BINLOG MONITOR (MariaDB), REPLICATION CLIENT (MySQL). */
  async end(): Promise<LogEnd> {
    // MySQL has another name for it from 8.4 on.
    const [row] = await this.query('SHOW MASTER STATUS').catch((error: Fault) => {
      const { errno } = (error.cause ?? error) as MysqlError;
      if (errno === SYNTAX_ERROR) return this.query('SHOW BINARY LOG STATUS');
      throw errno === ACCESS_DENIED
        ? error.with({ hint: 'The user needs more rights: BINLOG MONITOR (MariaDB), REPLICATION CLIENT (MySQL)' })
        : error;
    });
    const place = { file: row?.File ?? '', position: Number(row?.Position ?? 0) };
    if (place.file === '') throw queryFault('The server has no binlog', this.#address, SETTINGS.log_bin?.mended);
    return {
      place,
      gtids: this.isMariadb ? await this.#gtidsAt(place) : this.#hasGtids ? (row?.Executed_Gtid_Set ?? '').replace(/\s/g, '') : undefined,
    };
  }

  async #gtidsAt({ file, position }: Place): Promise<string | undefined> {
    const [row] = await this.query(`SELECT BINLOG_GTID_POS(?, ${position}) AS gtids`, [file]);
    return row?.gtids || undefined;
  }

  /**
   * A session, and the place in the log to which its state of the data belongs.
   *
   * MariaDB says it of the session. On MySQL the tables are locked against writers for the moment in which the session begins.
   */
  async openSnapshot(
    signal: AbortSignal,
    tables: ReadonlyMap<string, LogTable>,
  ): Promise<{ readonly session: SqlSession; readonly end: LogEnd }> {
    const { connectSeconds, reach } = this.#options;
    const open = (): Promise<SqlSession> =>
      openMysql(this.#address, { signal, connectSeconds, reach, statementSeconds: 0, lockSeconds: 0 });
    if (this.isMariadb) {
      const session = await open();
      try {
        const rows = await session.query("SHOW STATUS LIKE 'binlog_snapshot_%'");
        const value = (name: string): string => rows.find((row) => row.Variable_name?.toLowerCase() === name)?.Value ?? '';
        const place = { file: value('binlog_snapshot_file'), position: Number(value('binlog_snapshot_position')) };
        if (place.file === '') throw queryFault('The server does not say at which place of its binlog a snapshot is', this.#address);
        return { session, end: { place, gtids: await this.#gtidsAt(place) } };
      } catch (error) {
        await session.close();
        throw error;
      }
    }
    const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
    const locks = [...tables.values()].map(({ table }) => `${quoted(table.schema)}.${quoted(table.name)} READ`);
    await this.query(`LOCK TABLES ${locks.join(', ')}`);
    try {
      const session = await open();
      try {
        return { session, end: await this.end() };
      } catch (error) {
        await session.close();
        throw error;
      }
    } finally {
      await this.query('UNLOCK TABLES');
    }
  }

  /** Bytes of the log behind a place. */
  async lag(place: Place): Promise<number> {
    const files = (await this.query('SHOW BINARY LOGS')).map((row) => ({ file: row.Log_name ?? '', position: Number(row.File_size ?? 0) }));
    const behind = files.filter(({ file }) => comparePlaces({ file, position: 0 }, { ...place, position: 0 }) >= 0);
    return Math.max(0, behind.reduce((bytes, { position }) => bytes + position, 0) - place.position);
  }
}

async function rowsOf(connection: Socketed, sql: string): Promise<readonly Row[]> {
  const rows = new Rows(connection, sql, { encoding: 'utf8', zeroDatesAreNull: false });
  const all: (readonly (string | null)[])[] = [];
  for (let batch = await rows.next(); batch !== undefined; batch = await rows.next()) all.push(...batch.rows);
  return all.map((row) => Object.fromEntries((rows.columns ?? []).map((name, i) => [name, row[i] ?? null])));
}
