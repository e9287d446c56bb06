/**
 * The binlog of MySQL and MariaDB as a feed of changes.
 *
 * **Claim.** A snapshot and the log that follows give each change once. **Proof.** A snapshot belongs to a place of the log (`Server.openSnapshot`): its
 * state of the data is that after all transactions before the place, and before all others. Those of a table that begin before the place of its snapshot
 * are left out. The log is read from that place, or from an earlier one.
 *
 * What the log does not tell as rows is read again: a table that DDL names, one whose columns do not fit the log, one that a statement of the log changes.
 * The actions of foreign keys leave no trace at all: they are named at the start.
 */
import { Fault } from '../../core/fault.ts';
import type { SqlSession } from '../../sql/database.ts';
import { type Followed, followedIn, positionOf } from '../database/followed.ts';
import { type DatabaseFeedOptions, nameOf } from '../database/options.ts';
import { keyOf, readSnapshot } from '../database/snapshot.ts';
import type { ChangeBatch, ChangeEvent, ChangeFeed, FeedLag, FeedPosition, Row } from '../events.ts';
import { comparePlaces, type Place, placeSorted } from './place.ts';
import { type LogEnd, Server } from './server.ts';
import { touchedBy } from './statements.ts';
import { BinlogStream, type BinlogTables, type LogColumn, type LogItem, LogLost, type RawRow } from './stream.ts';
import { decodersOf, type LogTable, silentActions } from './tables.ts';
import type { Decoder } from './values.ts';

export type { DatabaseFeedOptions } from '../database/options.ts';

const BATCH_EVENTS = 2_000;
/** How long to wait for the log before other work is looked for. */
const WAIT_MS = 1_000;
/** Between two batches without events, which move the position where other tables change. */
const QUIET_MS = 10_000;

/** @throws Fault those of `OpenSession`; database/query — the server or a table cannot be followed, with the statement that mends it */
export async function openMysqlFeed(options: DatabaseFeedOptions): Promise<ChangeFeed> {
  const server = new Server(options);
  try {
    await server.check();
    const tables = await server.tables();
    const actions = await silentActions(server.query, options.tables);
    if (actions.length > 0)
      options.tell?.(`The binlog does not have what foreign keys change by themselves: ${actions.join(', ')}. Such rows become wrong`);
    for (const { table, engine } of tables.values())
      if (!/^InnoDB$/i.test(engine))
        options.tell?.(
          `A snapshot of ${nameOf(table)} may miss changes that are made while it is read: its engine ${engine} has no transactions`,
        );
    return new MysqlFeed(options, server);
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface Transaction {
  readonly place: Place;
  readonly id: string;
  readonly at: number;
  /** Whether an event of it was given. */
  isOpen: boolean;
  /**
   * Table → changes so far, which are part of their positions. Each table has a number: a second reading of the transaction may follow other tables, and
   * gives each change the same position.
   */
  readonly changes: Map<string, number>;
  /** A snapshot has what was left out of it. */
  isPart: boolean;
}

/** What a position has beside its tables. */
interface Kept {
  readonly file: string;
  readonly position: string;
  readonly gtids?: string;
  /** Of the server whose file it is. */
  readonly server: string;
  /** Counts the logs that the feed has read: places of different logs cannot be compared. */
  readonly log: string;
}

const placeOf = ({ file = '', position = '0' }: FeedPosition): Place => ({ file, position: Number(position) });

class MysqlFeed implements ChangeFeed, BinlogTables {
  readonly name: string;
  readonly wanted: ReadonlyMap<string, readonly string[]>;
  readonly #options: DatabaseFeedOptions;
  readonly #server: Server;
  readonly #zeroDatesAreNull: boolean;
  #stream: BinlogStream | undefined;
  /** Behind the last transaction that was read whole. */
  #end: LogEnd = { place: { file: '', position: 0 }, gtids: undefined };
  #log = 0;
  /** The end that `end` has found, until a position has reached it; undefined: none is looked for. */
  #target: Place | undefined;
  #tables: ReadonlyMap<string, LogTable> = new Map();
  #followed = new Map<string, Followed>();
  #transaction: Transaction | undefined;
  /** XA transactions that are prepared, all of whose rows were given, and of which no snapshot was asked: it does not see their rows. */
  readonly #prepared = new Set<string>();
  /** Decoders by the description of a table in the log. */
  readonly #decoders = new WeakMap<readonly LogColumn[], { readonly table: LogTable; readonly decoders: readonly Decoder[] | undefined }>();
  /** The table for whose columns decoders are: the stream is ahead of what is read of it, and of snapshots. */
  readonly #shapes = new WeakMap<readonly Decoder[], string>();

  constructor(options: DatabaseFeedOptions, server: Server) {
    this.name = options.address.name;
    this.#options = options;
    this.#server = server;
    this.#zeroDatesAreNull = options.address.parameters.zeroDateTimeBehavior === 'convertToNull';
    const wanted = new Map<string, string[]>();
    for (const { schema, name } of options.tables.values()) wanted.set(schema, [...(wanted.get(schema) ?? []), name]);
    this.wanted = wanted;
  }

  describe(schema: string, name: string, columns: readonly LogColumn[]): ReturnType<BinlogTables['describe']> {
    const [found] = [...this.#tables].filter(([, { table }]) => table.schema === schema && table.name === name);
    if (found === undefined) return { table: '', decoders: undefined };
    const [follower, table] = found;
    const known = this.#decoders.get(columns);
    const decoders = known?.table === table ? known.decoders : decodersOf(columns, table, { zeroDatesAreNull: this.#zeroDatesAreNull });
    this.#decoders.set(columns, { table, decoders });
    if (decoders !== undefined) this.#shapes.set(decoders, table.shape);
    return { table: follower, decoders };
  }

  async *batches(from: FeedPosition | undefined, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    const stop = (): void => this.#stream?.abort();
    signal.addEventListener('abort', stop);
    let start = from;
    try {
      for (;;) {
        try {
          await this.#begin(start);
          yield* this.#snapshot(signal);
          this.#stream = await BinlogStream.open(this.#options, this, this.#end, signal);
          yield* this.#follow(this.#stream, signal);
        } catch (error) {
          if (!(error instanceof LogLost)) throw error;
          this.#options.tell?.(`${error.message}. All rows are read again`);
          start = undefined;
        }
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#closeStream();
    }
  }

  /** Sees to which tables are followed already. */
  async #begin(from: FeedPosition | undefined): Promise<void> {
    this.#closeStream();
    this.#transaction = undefined;
    this.#prepared.clear();
    await this.#server.check();
    this.#tables = await this.#server.tables();
    this.#followed = from === undefined ? new Map() : followedIn(from);
    const isOther = from !== undefined && from.server !== this.#server.id;
    const log = Math.max(Number(from?.log ?? 0), this.#log);
    // Seconds, so that it grows when the last number is not known.
    this.#log = from === undefined || isOther ? Math.max(log + 1, Math.floor(Date.now() / 1000)) : log;
    if (from === undefined) return;
    this.#end = { place: placeOf(from), gtids: from.gtids };
    for (const [name, { seen, shape }] of [...this.#followed]) {
      const table = this.#tables.get(name);
      // The place of its snapshot is one in the log of the other server.
      if (table === undefined || (isOther && seen !== undefined)) this.#followed.delete(name);
      else if (table.shape !== shape) this.#readAgain(name, 'its columns have changed');
    }
    if (!isOther) return;
    this.#options.tell?.('Another server answers than the one that was followed');
    if (from.gtids === undefined) throw new LogLost('it has no GTIDs', { place: { input: this.name }, cause: undefined });
  }

  /** A table is not followed until its next snapshot. */
  #readAgain(name: string, reason: string): void {
    if (this.#followed.delete(name)) this.#options.tell?.(`The rows of the table ${name} are read again: ${reason}`);
  }

  /** Reads the tables that are not followed. */
  async *#snapshot(signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    const missing = [...this.#tables.keys()].filter((name) => !this.#followed.has(name));
    if (missing.length === 0) return;
    const isFirst = this.#followed.size === 0 && this.#stream === undefined;
    this.#prepared.clear();
    const wanted = new Map([...this.#tables].filter(([name]) => missing.includes(name)));
    const { session, end } = await this.#server.openSnapshot(signal, wanted);
    try {
      this.#tables = await this.#server.tables();
      if (isFirst) this.#end = end;
      yield* this.#read(session, missing, end.place);
    } catch (error) {
      throw await this.#alteredOr(error);
    } finally {
      await session.close();
    }
  }

  /** A snapshot that has failed because a table was altered may be tried again. */
  async #alteredOr(error: unknown): Promise<unknown> {
    if (!(error instanceof Fault) || error.code !== 'database/query') return error;
    const now = await this.#server.tables();
    const altered = [...this.#tables].find(([name, { shape }]) => now.get(name)?.shape !== shape);
    // A table that was altered twice may be again as it was.
    if (altered === undefined && !GONE.has((error.cause as { readonly errno?: number } | undefined)?.errno ?? 0)) return error;
    const what = altered === undefined ? 'A table' : `The table ${nameOf(altered[1].table)}`;
    return error.with({ code: 'database/busy', message: `${what} was altered while a snapshot was read` });
  }

  async *#read(session: SqlSession, names: readonly string[], place: Place): AsyncGenerator<ChangeBatch> {
    const tables = names.map((name) => {
      const { table, key, columns } = this.#tables.get(name) as LogTable;
      return { name, table, key, columns: columns.filter(({ isShown }) => isShown).map((column) => column.name) };
    });
    for await (const { events, bytes } of readSnapshot(session, tables, this.#sorted(place, 0))) {
      const last = events.at(-1);
      if (last?.kind === 'snapshot' && last.state === 'end')
        for (const name of names)
          this.#followed.set(name, { shape: (this.#tables.get(name) as LogTable).shape, seen: `${place.position} ${place.file}` });
      yield { events, bytes, position: this.#position(), changedAt: undefined };
    }
  }

  #sorted(place: Place, change: number): string {
    return `${String(this.#log).padStart(10, '0')}${placeSorted(place)}${String(change).padStart(10, '0')}`;
  }

  /** Position of the next change of a table in a transaction. */
  #nextPosition({ place, changes }: Transaction, table: string): string {
    const change = changes.get(table) ?? 0;
    changes.set(table, change + 1);
    return this.#sorted(place, change);
  }

  #position(): FeedPosition {
    const { place, gtids } = this.#end;
    const kept: Kept = {
      file: place.file,
      position: String(place.position),
      ...(gtids === undefined ? {} : { gtids }),
      server: this.#server.id,
      log: String(this.#log),
    };
    const followed = [...this.#followed].map(([name, { shape, seen }]): [string, Followed] => {
      const isBehind = seen === undefined || comparePlaces(place, seenPlace(seen)) >= 0;
      return [name, isBehind ? { shape } : { shape, seen }];
    });
    return positionOf({ ...kept }, new Map(followed));
  }

  async *#follow(stream: BinlogStream, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    let events: ChangeEvent[] = [];
    let bytes = 0;
    let changedAt: number | undefined;
    let given = this.#end.place;
    let givenAt = performance.now();
    const batch = (): ChangeBatch => {
      const whole = { events, bytes, changedAt, position: this.#position() };
      events = [];
      bytes = 0;
      given = this.#end.place;
      givenAt = performance.now();
      if (this.#target !== undefined && comparePlaces(given, this.#target) >= 0) this.#target = undefined;
      return whole;
    };
    for (;;) {
      for (const item of await stream.take(WAIT_MS, signal)) {
        switch (item.kind) {
          case 'begin':
            this.#transaction = { ...item, isOpen: false, changes: new Map(), isPart: false };
            break;
          case 'commit':
            if (this.#transaction?.isOpen) events.push({ kind: 'commit', transaction: this.#transaction.id });
            changedAt = this.#transaction?.at ?? changedAt;
            if (item.prepared !== undefined && this.#transaction?.isPart === false) this.#prepared.add(item.prepared);
            this.#transaction = undefined;
            this.#end = { place: item.place, gtids: item.gtids ?? this.#end.gtids };
            if (this.#followed.size < this.#tables.size) {
              if (events.length > 0) yield batch();
              yield* this.#snapshot(signal);
            }
            break;
          case 'place':
            this.#end = { ...this.#end, place: item.place };
            break;
          default:
            bytes += await this.#add(events, item);
        }
        if (events.length >= BATCH_EVENTS) yield batch();
      }
      const { place } = this.#end;
      const isDue = this.#target !== undefined && comparePlaces(place, this.#target) >= 0;
      const isQuiet = comparePlaces(given, place) < 0 && performance.now() - givenAt > QUIET_MS;
      if (events.length > 0 || (this.#transaction === undefined && (isDue || isQuiet))) yield batch();
    }
  }

  /** The events of an item, behind those that are there. @returns its bytes */
  async #add(events: ChangeEvent[], item: Exclude<LogItem, { kind: 'begin' | 'commit' | 'place' }>): Promise<number> {
    const transaction = this.#transaction;
    if (transaction === undefined) throw new Error(`the log has ${item.kind} outside of a transaction`);
    const add = (event: ChangeEvent): void => {
      if (!transaction.isOpen) events.push({ kind: 'begin', transaction: transaction.id });
      transaction.isOpen = true;
      events.push(event);
    };
    switch (item.kind) {
      case 'committed':
        // A snapshot that is newer than `XA PREPARE` has none of its rows, and the log has them before the place of the snapshot.
        if (!this.#prepared.delete(item.prepared))
          for (const name of this.#tables.keys())
            this.#readAgain(name, 'an XA transaction is committed whose rows the binlog has before the snapshot');
        return 0;
      case 'rollback':
        if (item.prepared !== undefined) this.#prepared.delete(item.prepared);
        for (const name of item.prepared === undefined ? transaction.changes.keys() : this.#tables.keys())
          this.#readAgain(name, 'the binlog has changes that were rolled back');
        return 0;
      case 'unreadable':
        if (this.#isNew(item.table, transaction)) this.#readAgain(item.table, 'the binlog shows other columns than the table has');
        return 0;
      case 'statement': {
        const { truncated, changed } = touchedBy(item.sql, item.isInTransaction, item.schema, this.#options.tables);
        if (truncated !== undefined && this.#isNew(truncated, transaction))
          add({ kind: 'truncate', table: truncated, position: this.#nextPosition(transaction, truncated) });
        const reason = item.isInTransaction ? 'the binlog has a statement instead of the rows that it changes' : 'it was altered';
        for (const name of changed) if (this.#isNew(name, transaction)) this.#readAgain(name, reason);
        return item.sql.length;
      }
      case 'rows':
        return this.#addRows(item, transaction, add);
    }
  }

  async #addRows(
    { table, decoders, change, rows }: LogItem & { kind: 'rows' },
    transaction: Transaction,
    add: (event: ChangeEvent) => void,
  ): Promise<number> {
    if (!this.#isNew(table, transaction)) {
      transaction.isPart = true;
      return 0;
    }
    const { columns, key, shape } = this.#tables.get(table) as LogTable;
    if (this.#shapes.get(decoders) !== shape || this.#followed.get(table)?.shape !== shape) {
      this.#readAgain(table, 'its columns have changed');
      return 0;
    }
    const { zone } = this.#server;
    if (!zone.isFixed) await zone.load(instantsOf(decoders, rows));
    let bytes = 0;
    const rowOf = (raw: RawRow): Row => {
      const row: Record<string, string | null> = {};
      for (const [i, { text }] of decoders.entries()) {
        const { name, isShown } = columns[i] as LogTable['columns'][number];
        const value = raw[i];
        if (!isShown) continue;
        row[name] = value == null ? null : text(value, zone.at);
        bytes += row[name]?.length ?? 0;
      }
      return row;
    };
    const step = change === 'update' ? 2 : 1;
    for (let i = 0; i < rows.length; i += step) {
      const position = this.#nextPosition(transaction, table);
      const first = rowOf(rows[i] as RawRow);
      const firstKey = keyOf(key, first);
      const before = firstKey === undefined && change !== 'insert' ? { before: first } : {};
      if (change === 'delete') {
        add({ kind: 'delete', table, key: firstKey, position, ...before });
        continue;
      }
      const row = change === 'insert' ? first : rowOf(rows[i + 1] as RawRow);
      const rowKey = keyOf(key, row);
      if (firstKey !== rowKey) add({ kind: 'delete', table, key: firstKey, position });
      add({ kind: 'row', table, key: rowKey, position, row, ...before });
    }
    return bytes;
  }

  /** Whether a change is one of a table that is followed, and its snapshot does not have it. */
  #isNew(name: string, { place }: Transaction): boolean {
    const followed = this.#followed.get(name);
    return followed !== undefined && (followed.seen === undefined || comparePlaces(place, seenPlace(followed.seen)) >= 0);
  }

  async end(): Promise<(position: FeedPosition) => boolean> {
    const { place } = await this.#server.end();
    this.#target = place;
    const names = [...this.#options.tables.keys()];
    return (position) => {
      const followed = followedIn(position);
      return comparePlaces(placeOf(position), place) >= 0 && names.every((name) => followed.has(name));
    };
  }

  async lag(position: FeedPosition): Promise<FeedLag> {
    return { messages: undefined, bytes: position.file === undefined ? undefined : await this.#server.lag(placeOf(position)) };
  }

  /** The server keeps its log for a time that it sets itself. */
  async confirm(): Promise<void> {}

  #closeStream(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  async close(): Promise<void> {
    this.#closeStream();
    await this.#server.close();
  }
}

/** ER_BAD_FIELD_ERROR, ER_NO_SUCH_TABLE, ER_TABLE_DEF_CHANGED: of columns and tables that the catalogue has just named. */
const GONE: ReadonlySet<number> = new Set([1054, 1146, 1412]);

/** `seen` of `Followed`: the place of the snapshot. */
function seenPlace(seen: string): Place {
  const space = seen.indexOf(' ');
  return { position: Number(seen.slice(0, space)), file: seen.slice(space + 1) };
}

function* instantsOf(decoders: readonly Decoder[], rows: readonly RawRow[]): Generator<number> {
  for (const [i, { instant }] of decoders.entries())
    if (instant !== undefined) for (const row of rows) if (row[i] != null) yield instant(row[i]);
}
