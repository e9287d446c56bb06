/**
 * A binlog as `@vlasky/zongji` reads it, with rows as bytes.
 *
 * The library decodes floats, enumerations, bit fields and spatial values with loss, and looks columns up in the catalogue itself. So each description of
 * a table is rewritten before the rows that follow it are read: a value of fixed length becomes a BIT of so many bits, one with a length becomes a BLOB,
 * and both are given as bytes. This depends on members of version 0.9 that are not documented: `_fetchTableInfo`, `tableMap` and `columns`.
 */
import type { EventEmitter } from 'node:events';
import ZongJi from '@vlasky/zongji';
import { Fault } from '../../core/fault.ts';
import type { DatabaseAddress } from '../../sql/database.ts';
import { cancelledFault } from '../../sql/faults.ts';
import { connect } from '../../sql/mysql/connect.ts';
import { faultOf, type MysqlError } from '../../sql/mysql/faults.ts';
import type { Socketed } from '../../sql/mysql/rows.ts';
import { Backlog } from '../database/backlog.ts';
import type { DatabaseFeedOptions } from '../database/options.ts';
import type { Place } from './place.ts';
import type { Decoder } from './values.ts';

/** By the columns of the table; null: NULL. What the others are, their decoders know. */
export type RawRow = readonly unknown[];

export type LogItem =
  | { readonly kind: 'begin'; readonly place: Place; readonly id: string; readonly at: number }
  /**
   * @property gtids executed so far; undefined: the server has none
   * @property prepared names the XA transaction whose rows come before: `committed` or `rollback` follows, at any time
   */
  | { readonly kind: 'commit'; readonly place: Place; readonly gtids: string | undefined; readonly prepared: string | undefined }
  | { readonly kind: 'place'; readonly place: Place }
  | {
      readonly kind: 'rows';
      readonly table: string;
      readonly decoders: readonly Decoder[];
      readonly change: 'insert' | 'update' | 'delete';
      /** In an update the row as it was, and the row as it is, in turn. */
      readonly rows: readonly RawRow[];
    }
  /** Rows of a table that cannot be read: the table has other columns now, or the event has not all of them. */
  | { readonly kind: 'unreadable'; readonly table: string }
  | { readonly kind: 'statement'; readonly sql: string; readonly schema: string; readonly isInTransaction: boolean }
  /** The rows of an XA transaction that was prepared are there for others from here on. */
  | { readonly kind: 'committed'; readonly prepared: string }
  /** Rows that were given have not happened: those of the transaction so far, or of an earlier one that was prepared. */
  | { readonly kind: 'rollback'; readonly prepared: string | undefined };

/** A column as a description of a table has it. */
export interface LogColumn {
  readonly code: number;
  readonly metadata: Readonly<Record<string, number>>;
  /** Where the server writes it (`binlog_row_metadata=FULL`). */
  readonly name: string | undefined;
}

/** Where reading begins. */
export interface Start {
  readonly place: Place;
  /** undefined or empty: at the place. */
  readonly gtids: string | undefined;
}

export interface BinlogTables {
  /** Schema → names of tables. */
  readonly wanted: ReadonlyMap<string, readonly string[]>;
  /** The follower's name of a table, and how its values are read; without decoders: its columns are not those of the catalogue. */
  describe(
    schema: string,
    name: string,
    columns: readonly LogColumn[],
  ): { readonly table: string; readonly decoders: readonly Decoder[] | undefined };
}

const HEARTBEAT_NS = 5_000_000_000;
/** The server writes at least a heartbeat. */
const SILENCE_MS = 60_000;
/** How long the server waits for a slow reader, in seconds. */
const PATIENCE_SECONDS = 86_400;
/** What an event costs beside its bytes. */
const EVENT_BYTES = 100;

/** Members of the library and its events that are used here. */
interface LogEvent {
  readonly timestamp: number;
  readonly nextPosition: number;
  readonly size: number;
  readonly gtid?: string;
  readonly standalone?: boolean;
  readonly domainId?: number;
  readonly query: string;
  readonly schema: string;
  readonly tableId: number;
  readonly schemaName: string;
  readonly tableName: string;
  readonly columnNames?: readonly string[];
  readonly columnCount: number;
  readonly columns_present_bitmap: Buffer;
  readonly columns_present_bitmap2?: Buffer;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly onePhase: boolean;
  readonly xidGtrid: Buffer;
  readonly xidBqual: Buffer;
  readonly xidFormatId: number;
  getEventName(): string;
}

interface TableInfo {
  columnSchemas: { COLUMN_NAME: string; COLUMN_TYPE: string; CHARACTER_SET_NAME: null }[];
  parentSchema: string;
  tableName: string;
  columns: { name: string; type: number; charset: null; metadata: Readonly<Record<string, unknown>> | undefined }[];
}

interface Library {
  connection: Socketed & { readonly config: { jsonStrings?: boolean }; addCommand(command: EventEmitter): unknown };
  ctrlConnection: Socketed;
  ctrlConnectionOwner: boolean;
  readonly isMariaDb: boolean;
  readonly gtidSet: string | undefined;
  readonly options: { readonly filename: string; readonly position: number };
  readonly tableMap: Record<number, TableInfo>;
  _fetchTableInfo(event: LogEvent, next: () => void): void;
  _trackGtidProgress(name: string, event: unknown): void;
  on(name: 'binlog', listener: (event: LogEvent) => void): void;
  on(name: 'error', listener: (error: unknown) => void): void;
  start(options: Readonly<Record<string, unknown>>): void;
  stop(): void;
}

export class BinlogStream {
  readonly #library: Library;
  readonly #address: DatabaseAddress;
  readonly #backlog: Backlog<LogItem>;
  readonly #tables: BinlogTables;
  readonly #serverId: number;
  readonly #timer: NodeJS.Timeout;
  /** MariaDB: the last transaction of each domain. */
  readonly #domains = new Map<string, string>();
  /** By the id that the log has given it. */
  readonly #layouts = new Map<number, { readonly table: string; readonly decoders: readonly Decoder[] }>();
  /** The transaction that is read; `began`: what follows changes rows. */
  #group: { readonly gtid: string | undefined; began: boolean } | undefined;
  #heardAt = performance.now();

  /** @throws Fault those of `OpenSession` */
  static async open(options: DatabaseFeedOptions, tables: BinlogTables, start: Start, signal: AbortSignal): Promise<BinlogStream> {
    const { address, connectSeconds } = options;
    const connected = await connect(address, { ...options, signal });
    const { connection } = connected;
    try {
      const settings = [
        `@master_heartbeat_period = ${HEARTBEAT_NS}`,
        `@source_heartbeat_period = ${HEARTBEAT_NS}`,
        `net_write_timeout = ${PATIENCE_SECONDS}`,
      ];
      await new Promise<void>((resolve, reject) => {
        connection.query(`SET ${settings.join(', ')}`, (error: unknown) => (error ? reject(error) : resolve()));
      });
      return new BinlogStream(options, tables, start, connection, await connected.another(connectSeconds * 1000));
    } catch (error) {
      connection.stream.destroy();
      throw faultOf(error, { address, statementSeconds: 0 });
    }
  }

  private constructor(
    options: DatabaseFeedOptions,
    tables: BinlogTables,
    { place, gtids }: Start,
    connection: Socketed,
    control: Socketed,
  ) {
    this.#address = options.address;
    this.#serverId = options.serverId;
    this.#tables = tables;
    this.#backlog = new Backlog(connection);
    const library = new ZongJi({}) as unknown as Library;
    this.#library = library;
    library.connection = connection as Library['connection'];
    library.connection.config.jsonStrings = true;
    // A refusal of the server is an event of the command, which ends the process where nothing listens.
    const add = library.connection.addCommand.bind(library.connection);
    library.connection.addCommand = (command) => {
      command.on('error', (error) => this.#backlog.end(error));
      command.on('eof', () => this.#backlog.end(new Error('the server has ended the binlog')));
      return add(command);
    };
    library.ctrlConnection = control;
    library.ctrlConnectionOwner = true;
    library._fetchTableInfo = (event, next) => {
      const columnSchemas = Array.from({ length: event.columnCount }, (_, i) => ({
        COLUMN_NAME: String(i),
        COLUMN_TYPE: '',
        CHARACTER_SET_NAME: null,
      }));
      library.tableMap[event.tableId] = { columnSchemas, parentSchema: event.schemaName, tableName: event.tableName, columns: [] };
      next();
    };
    for (const one of [connection, control]) {
      one.on('error', (error) => this.#backlog.end(error));
      one.on('end', () => this.#backlog.end(new Error('the server has closed it')));
    }
    library.on('error', (error) => this.#backlog.end(error));
    library.on('binlog', (event) => {
      this.#heardAt = performance.now();
      try {
        this.#receive(event);
      } catch (error) {
        this.#backlog.end(error);
      }
    });
    for (const gtid of gtids?.split(',') ?? []) this.#domains.set(gtid.split('-')[0] as string, gtid);
    const includeSchema = Object.fromEntries(tables.wanted);
    const from = gtids ? { gtidSet: gtids } : { filename: place.file, position: place.position };
    library.start({ serverId: options.serverId, includeSchema, ...from });
    this.#timer = setInterval(() => {
      if (this.#backlog.isPaused) this.#heardAt = performance.now();
      else if (performance.now() - this.#heardAt > SILENCE_MS)
        this.#backlog.end(new Error(`the server said nothing for ${SILENCE_MS / 1000} s`));
    }, 1_000);
  }

  #receive(event: LogEvent): void {
    const name = event.getEventName();
    switch (name) {
      case 'mariadbgtid':
      case 'gtid':
      case 'anonymousgtid':
        this.#begin(event, name === 'anonymousgtid' ? undefined : event.gtid, event.standalone === false);
        break;
      case 'query':
        this.#query(event, event.query.trim());
        break;
      case 'xid':
        this.#commit(event);
        break;
      case 'xaprepare': {
        const { onePhase, xidGtrid, xidBqual, xidFormatId } = event;
        const prepared = `X'${xidGtrid.toString('hex')}',X'${xidBqual.toString('hex')}',${xidFormatId}`;
        this.#commit(event, onePhase ? undefined : xidOf(prepared));
        break;
      }
      case 'tablemap':
        this.#describe(event);
        break;
      case 'writerows':
        this.#rows(event, 'insert', event.rows);
        break;
      case 'updaterows':
        this.#rows(
          event,
          'update',
          event.rows.flatMap(({ before, after }) => [before, after] as Readonly<Record<string, unknown>>[]),
        );
        break;
      case 'deleterows':
        this.#rows(event, 'delete', event.rows);
        break;
      default:
        if (this.#group === undefined && this.#library.options.position > 0) this.#add({ kind: 'place', place: this.#place() }, event);
    }
  }

  #add(item: LogItem, { size }: LogEvent): void {
    this.#backlog.add(item, size + EVENT_BYTES);
  }

  #place(event?: LogEvent): Place {
    const { filename, position } = this.#library.options;
    return { file: filename, position: event === undefined || event.nextPosition === 0 ? position : event.nextPosition };
  }

  #begin(event: LogEvent, gtid: string | undefined, began: boolean): void {
    this.#group = { gtid, began };
    const place = this.#place(event);
    this.#add({ kind: 'begin', place, id: gtid ?? `${place.file}:${place.position}`, at: event.timestamp }, event);
  }

  /** @param prepared of an XA transaction that is only prepared: its name */
  #commit(event: LogEvent, prepared?: string): void {
    const { gtid } = this.#group ?? {};
    this.#group = undefined;
    this.#layouts.clear();
    let gtids: string | undefined;
    if (this.#library.isMariaDb) {
      if (gtid !== undefined) this.#domains.set(gtid.split('-')[0] as string, gtid);
      gtids = [...this.#domains.values()].join(',') || undefined;
    } else if (gtid !== undefined) {
      // DDL has no end of its transaction: the library counts it with the beginning of the next one.
      this.#library._trackGtidProgress('anonymousgtid', event);
      gtids = this.#library.gtidSet;
    }
    this.#add({ kind: 'commit', place: this.#place(event), gtids, prepared }, event);
  }

  #query(event: LogEvent, sql: string): void {
    if (/^(?:BEGIN|START TRANSACTION|XA START)\b/i.test(sql)) {
      if (this.#group === undefined) this.#begin(event, undefined, true);
      else this.#group.began = true;
    } else if (/^XA (?:COMMIT|ROLLBACK)\b/i.test(sql)) {
      if (this.#group === undefined) this.#begin(event, undefined, true);
      this.#add({ kind: /^XA COMMIT/i.test(sql) ? 'committed' : 'rollback', prepared: xidOf(sql.slice(sql.search(/\bX'/i))) }, event);
      this.#commit(event);
    } else if (/^(?:COMMIT|ROLLBACK)\b/i.test(sql)) {
      // Logged where a transaction has changed a table whose engine has none.
      if (/^ROLLBACK\b/i.test(sql)) this.#add({ kind: 'rollback', prepared: undefined }, event);
      if (!/^ROLLBACK\s+(?:WORK\s+)?TO\b/i.test(sql)) this.#commit(event);
    } else if (!/^(?:SAVEPOINT|RELEASE SAVEPOINT|XA END)\b/i.test(sql)) {
      if (this.#group === undefined) this.#begin(event, undefined, false);
      const isInTransaction = this.#group?.began === true;
      this.#add({ kind: 'statement', sql, schema: event.schema, isInTransaction }, event);
      if (!isInTransaction) this.#commit(event);
    }
  }

  /** Rewrites the description, so that the library gives bytes. */
  #describe(event: LogEvent): void {
    const info = this.#library.tableMap[event.tableId];
    if (info === undefined) return;
    // The library keeps a description, but for one that names the columns.
    const known = REWRITTEN.get(info.columns);
    if (known !== undefined && this.#layouts.has(event.tableId)) return;
    const columns =
      known ??
      info.columns.map(({ type, metadata }, i): LogColumn => {
        return { code: type, metadata: (metadata ?? {}) as Record<string, number>, name: event.columnNames?.[i] };
      });
    const { table, decoders } = this.#tables.describe(event.schemaName, event.tableName, columns);
    if (decoders === undefined) {
      // Without its description the library skips rows.
      delete this.#library.tableMap[event.tableId];
      this.#add({ kind: 'unreadable', table }, event);
      return;
    }
    info.columns = decoders.map(({ wire: { type, metadata } }, i) => ({ name: String(i), type, charset: null, metadata }));
    info.columnSchemas = decoders.map(({ wire }, i) => ({
      COLUMN_NAME: String(i),
      COLUMN_TYPE: wire.columnType,
      CHARACTER_SET_NAME: null,
    }));
    REWRITTEN.set(info.columns, columns);
    this.#layouts.set(event.tableId, { table, decoders });
  }

  #rows(event: LogEvent, change: 'insert' | 'update' | 'delete', rows: LogEvent['rows']): void {
    const layout = this.#layouts.get(event.tableId);
    if (layout === undefined) throw new Error(`the log has rows of a table ${event.tableId} that it does not describe`);
    const { table, decoders } = layout;
    const isWhole = (bitmap: Buffer | undefined): boolean =>
      bitmap === undefined || decoders.every((_, i) => (((bitmap[i >> 3] as number) >> (i & 7)) & 1) === 1);
    const isReadable = isWhole(event.columns_present_bitmap) && isWhole(event.columns_present_bitmap2);
    const raw = (): readonly RawRow[] => rows.map((row) => decoders.map((_, i) => row[i]));
    this.#add(isReadable ? { kind: 'rows', table, decoders, change, rows: raw() } : { kind: 'unreadable', table }, event);
  }

  /** What has arrived; nothing after `waitMs`. @throws Fault database/lost, or the server's answer */
  async take(waitMs: number, signal: AbortSignal): Promise<readonly LogItem[]> {
    // It may have been aborted before `abort` could be called.
    if (signal.aborted) throw cancelledFault(this.#address);
    try {
      return await this.#backlog.take(waitMs);
    } catch (error) {
      if (signal.aborted) throw cancelledFault(this.#address);
      throw this.#faultOf(error as MysqlError);
    }
  }

  #faultOf(error: MysqlError): Fault {
    const place = { input: this.#address.name };
    if (/same server_uuid\/server_id/i.test(error.message))
      return new Fault('database/busy', `Another replica of the server has the number ${this.#serverId}`, {
        place,
        hint: 'Each follower and replica needs its own',
        cause: error,
      });
    if (error.errno === READ_ERROR) return new LogLost(error.message, { place, cause: error });
    return faultOf(error, { address: this.#address, statementSeconds: 0 });
  }

  /** Ends a `take` that waits. */
  abort(): void {
    this.#backlog.end(new Error('cancelled'));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#backlog.end(new Error('the feed is closed'));
    this.#library.stop();
  }
}

/** The name of an XA transaction as statements of the log write it, `X'78',X'',1`. */
const xidOf = (text: string): string => text.replace(/\s/g, '').toUpperCase();

/** ER_MASTER_FATAL_ERROR_READING_BINLOG */
const READ_ERROR = 1236;

/** The server does not have the log from the place on. */
export class LogLost extends Fault {
  constructor(message: string, options: { place: { input: string }; cause: unknown }) {
    super('database/lost', `The server cannot read its binlog from the last change that was kept: ${message}`, options);
  }
}

/** Descriptions that were rewritten → as the log has them. */
const REWRITTEN = new WeakMap<object, readonly LogColumn[]>();
