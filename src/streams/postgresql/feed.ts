/**
 * PostgreSQL's logical replication as a feed of changes.
 *
 * The first snapshot and any later one (of a table that is new, or whose columns have changed) is read by an ordinary session while the slot keeps the log.
 *
 * **Claim.** A snapshot and the log that follows give each change once. **Proof.** A transaction is in the snapshot exactly if `txid_current_snapshot()`
 * of the session says so; its changes of the table are left out. One that is not in it must still be ahead in the log. The log has the end of a
 * transaction before other sessions see it, for as long as it waits for a standby. So a snapshot is taken when all transactions that were read from the log are
 * seen (`#seeEnded`), and, where the log was not read by this process, when those that ran at its beginning have ended: the slot is made when all that ran
 * before have written their ends. A transaction that is in the snapshot has written its end before the snapshot was taken: behind the end that the log
 * had after that, no transaction needs to be looked up.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { quote } from '../../sql/catalogue/identifiers.ts';
import { cancelledFault, queryFault } from '../../sql/faults.ts';
import { openPostgres } from '../../sql/postgresql/postgresql.ts';
import { type Followed, followedIn, positionOf } from '../database/followed.ts';
import type { DatabaseFeedOptions } from '../database/options.ts';
import { keyOf, readSnapshot } from '../database/snapshot.ts';
import type { ChangeBatch, ChangeEvent, ChangeFeed, FeedLag, FeedPosition, Row } from '../events.ts';
import { isInSnapshot, lsnOf, lsnSorted, lsnText, runningIn } from './lsn.ts';
import type { LogMessage, Relation, Tuple } from './pgoutput.ts';
import { alteredFault, Server, SNAPSHOT_SQL } from './server.ts';
import { type Received, ReplicationStream } from './stream.ts';
import { hasColumns, type LogTable } from './tables.ts';

export type { DatabaseFeedOptions } from '../database/options.ts';

const BATCH_EVENTS = 2_000;
const BATCH_BYTES = 2 ** 20;
/** How long to wait for the log before other work is looked for. */
const WAIT_MS = 1_000;
/** Between two batches without events, which move the position where other tables change. */
const QUIET_MS = 10_000;
/** For transactions whose end this process has not read, and which may run for long for other reasons. */
const ENDING_MS = 5_000;
const LOOK_MS = 20;
/** So many transactions are kept before it is asked which of them are seen. */
const MOST_ENDED = 10_000;
/** Between two looks at the catalogue: the log does not say that a table has other columns. */
const CATALOGUE_MS = 10_000;
const KEY_FAULT = 'The replication log gives no value for a column of the key';

/** @throws Fault those of `OpenSession`; database/query — the server or a table cannot be followed, with the statement that mends it */
export async function openPostgresqlFeed(options: DatabaseFeedOptions): Promise<ChangeFeed> {
  const server = new Server(options);
  try {
    await server.check();
    for (const [name, { generated }] of await server.tables())
      if (generated.length > 0)
        options.tell?.(
          `Generated columns are not in the replication log, so the table ${name} is followed without ${generated.join(', ')}`,
        );
    return new PostgresqlFeed(options, server);
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Drops the slot, and the publication if the feed has made it. @throws Fault database/busy — a follower reads the slot */
export async function removePostgresqlFeed(options: DatabaseFeedOptions): Promise<void> {
  const server = new Server(options);
  try {
    await server.dropSlot();
    await server.dropPublication();
  } finally {
    await server.close();
  }
}

/** `seen` of `Followed`: up to where the log has transactions that may be in the snapshot, and which those are. */
interface Seen {
  readonly until: bigint;
  readonly snapshot: string;
}

const seenOf = ({ seen }: Followed): Seen | undefined => {
  if (seen === undefined) return undefined;
  const [until = '', snapshot = ''] = seen.split(' ');
  return { until: lsnOf(until), snapshot };
};

interface Transaction {
  readonly lsn: bigint;
  readonly xid: number;
  readonly at: number;
  /** Whether an event of it was given. */
  isOpen: boolean;
}

class PostgresqlFeed implements ChangeFeed {
  readonly name: string;
  readonly #options: DatabaseFeedOptions;
  readonly #server: Server;
  #stream: ReplicationStream | undefined;
  #confirmed = 0n;
  /** Behind the last transaction that was read whole. */
  #lsn = 0n;
  /** The end that `end` has found, until a position has reached it; undefined: none is looked for. */
  #target: bigint | undefined;
  #tables: ReadonlyMap<string, LogTable> = new Map();
  #followed = new Map<string, Followed>();
  /** By schema and name, as the log has them. */
  #names: ReadonlyMap<string, string> = new Map();
  #transaction: Transaction | undefined;
  /** Transactions whose ends were read, but for those that are surely seen by other sessions. */
  readonly #ended = new Set<number>();
  /** Whether the log before `#lsn` was not read by this process. */
  #isNewHere = true;
  #catalogueAt = Number.NEGATIVE_INFINITY;
  /** Where the server could not decode its log, and how often in turn. Some of its versions cannot where a table was rewritten and rolled back. */
  #undecoded = { lsn: -1n, times: 0 };
  /** Changes at one place of the log. */
  #changeLsn = 0n;
  #changes = 0;

  constructor(options: DatabaseFeedOptions, server: Server) {
    this.name = options.address.name;
    this.#options = options;
    this.#server = server;
  }

  async *batches(from: FeedPosition | undefined, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    await this.#begin(from, signal);
    const stop = (): void => this.#stream?.abort();
    signal.addEventListener('abort', stop);
    try {
      // The first snapshot needs no stream: the slot keeps the log.
      yield* this.#snapshot(signal);
      this.#stream = await ReplicationStream.open(this.#options, this.#server, this.#lsn, () => this.#confirmed, signal);
      yield* this.#follow(this.#stream, signal);
    } catch (error) {
      if (isInternal(error)) this.#undecoded = { lsn: this.#lsn, times: this.#lsn <= this.#undecoded.lsn ? this.#undecoded.times + 1 : 1 };
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#closeStream();
    }
  }

  /** Sees to the publication and the slot, and to which tables are followed already. */
  async #begin(from: FeedPosition | undefined, signal: AbortSignal): Promise<void> {
    await this.#closeStream();
    this.#transaction = undefined;
    // A change that is read a second time has the position that it had.
    this.#changeLsn = 0n;
    await this.#server.check();
    await this.#look();
    this.#names = new Map([...this.#tables].map(([name, { table }]) => [`${table.schema}\0${table.name}`, name]));
    const { made, added } = await this.#server.publish(this.#tables);
    const slot = await this.#server.slot();
    const lost = from === undefined ? undefined : this.#lossOf(lsnOf(from.lsn ?? '0/0'), slot, made);
    if (lost !== undefined) this.#options.tell?.(`${lost}. All rows are read again`);
    if (from === undefined || lost !== undefined) {
      this.#followed = new Map();
      try {
        this.#lsn = await this.#server.makeSlot(signal);
        this.#isNewHere = true;
      } catch (error) {
        // Such as a login without the right: nothing stays behind.
        if (made) await this.#server.dropPublication().catch(() => undefined);
        throw error;
      }
      this.#confirmed = 0n;
      return;
    }
    this.#lsn = lsnOf(from.lsn ?? '0/0');
    this.#followed = followedIn(from);
    for (const name of [...this.#followed.keys()]) if (!this.#tables.has(name)) this.#followed.delete(name);
    for (const name of added) this.#followed.delete(name);
    this.#dropChanged();
  }

  /** Why the slot cannot go on at a place; undefined: it can. */
  #lossOf(lsn: bigint, slot: Awaited<ReturnType<Server['slot']>>, made: boolean): string | undefined {
    const { slot: name, publication } = this.#options;
    if (slot === undefined) return `The replication slot ${name} is gone, and with it the log since the last change that was read`;
    if (slot.isLost) return `The server has removed the log that the replication slot ${name} needs (max_slot_wal_keep_size)`;
    if (this.#undecoded.times > 1) {
      this.#undecoded = { lsn: -1n, times: 0 };
      return `The server cannot decode its log behind ${lsnText(lsn)}`;
    }
    if (made) return `The publication ${publication} was gone, without which the log cannot be read`;
    return lsn < slot.confirmed ? `The replication slot ${name} is ahead of the last change that was kept` : undefined;
  }

  /** Reads the catalogue. */
  async #look(): Promise<void> {
    this.#tables = await this.#server.tables();
    this.#catalogueAt = performance.now();
  }

  /** Tables that have other columns than their last snapshot are not followed until the next one. */
  #dropChanged(): void {
    for (const [name, { shape }] of this.#tables)
      if (this.#followed.get(name)?.shape !== shape && this.#followed.delete(name))
        this.#options.tell?.(`The columns of the table ${name} have changed. Its rows are read again`);
  }

  /** Reads the tables that are not followed. */
  async *#snapshot(signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    const missing = [...this.#tables.keys()].filter((name) => !this.#followed.has(name));
    if (missing.length === 0) return;
    await this.#seeEnded(signal);
    const { address, connectSeconds, reach } = this.#options;
    const session = await openPostgres(address, { signal, connectSeconds, reach, statementSeconds: 0, lockSeconds: 0 });
    try {
      const [row] = await session.query(SNAPSHOT_SQL);
      const until = await this.#server.end();
      const quoted = (name: string): string => quote(name, 'postgresql');
      const locked = missing
        .map((name) => (this.#tables.get(name) as LogTable).table)
        .map(({ schema, name }) => `${quoted(schema)}.${quoted(name)}`);
      await session.query(`LOCK TABLE ${locked.join(', ')} IN ACCESS SHARE MODE`);
      this.#tables = await this.#server.tables((sql, values) => session.query(sql, values));
      await this.#assertUnaltered(missing);
      const tables = missing.map((name) => {
        const { table, columns, key } = this.#tables.get(name) as LogTable;
        return { name, table, key, columns: columns.map((column) => column.name) };
      });
      // Later events have greater positions: their transactions end behind what was read of the log.
      for await (const { events, bytes } of readSnapshot(session, tables, lsnSorted(this.#lsn))) {
        const last = events.at(-1);
        if (last?.kind === 'snapshot' && last.state === 'end')
          for (const name of missing)
            this.#followed.set(name, {
              shape: (this.#tables.get(name) as LogTable).shape,
              // The end may be in the last page of the log, which `end` does not count.
              seen: `${lsnText(until + PAGE)} ${row?.snapshot}`,
            });
        yield { events, bytes, position: this.#position(), changedAt: undefined };
      }
    } finally {
      await session.close();
    }
  }

  /** Waits until other sessions see the transactions whose ends are in the log that was read. */
  async #seeEnded(signal: AbortSignal): Promise<void> {
    const first = await this.#server.snapshot();
    const deadline = performance.now() + (this.#isNewHere ? ENDING_MS : 0);
    this.#isNewHere = false;
    for (let now = first; ; now = await this.#server.snapshot()) {
      this.#forgetSeen(now);
      const running = performance.now() < deadline ? runningIn(now) : [];
      if (this.#ended.size === 0 && !runningIn(first).some((xid) => running.includes(xid))) return;
      if (signal.aborted) throw cancelledFault(this.#options.address);
      await sleep(LOOK_MS);
    }
  }

  #forgetSeen(snapshot: string): void {
    for (const xid of this.#ended) if (isInSnapshot(xid, snapshot)) this.#ended.delete(xid);
  }

  /** A table that was altered or truncated between the snapshot and its lock may be shown without rows. */
  async #assertUnaltered(names: readonly string[]): Promise<void> {
    const now = await this.#server.tables();
    const altered = names.find((name) => {
      const [table, before] = [now.get(name), this.#tables.get(name)];
      return table?.shape !== before?.shape || table?.file !== before?.file;
    });
    if (altered === undefined) return;
    throw alteredFault((now.get(altered) as LogTable).table, 'a snapshot was begun', { input: this.name });
  }

  #position(): FeedPosition {
    const followed = [...this.#followed].map(([name, table]): [string, Followed] => {
      const seen = seenOf(table);
      return [name, seen === undefined || seen.until > this.#lsn ? table : { shape: table.shape }];
    });
    return positionOf({ lsn: lsnText(this.#lsn) }, new Map(followed));
  }

  async *#follow(stream: ReplicationStream, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    let events: ChangeEvent[] = [];
    let bytes = 0;
    let changedAt: number | undefined;
    let given = this.#lsn;
    let givenAt = performance.now();
    const batch = (): ChangeBatch => {
      const whole = { events, bytes, changedAt, position: this.#position() };
      events = [];
      bytes = 0;
      given = this.#lsn;
      givenAt = performance.now();
      if (this.#target !== undefined && given >= this.#target) this.#target = undefined;
      return whole;
    };
    for (;;) {
      const received = await stream.take(WAIT_MS, signal);
      for (const one of received) {
        const { message } = one;
        bytes += one.bytes;
        if (message === undefined) {
          if (this.#transaction === undefined && one.lsn > this.#lsn) this.#lsn = one.lsn;
        } else if (message.kind === 'begin') this.#transaction = { ...message, isOpen: false };
        else if (message.kind === 'commit') {
          if (this.#transaction?.isOpen) events.push({ kind: 'commit', transaction: String(this.#transaction.xid) });
          changedAt = this.#transaction?.at ?? changedAt;
          if (this.#transaction !== undefined) this.#ended.add(this.#transaction.xid);
          if (this.#ended.size % MOST_ENDED === 0) this.#forgetSeen(await this.#server.snapshot());
          this.#transaction = undefined;
          this.#lsn = message.end;
        } else await this.#add(events, message, one);
        if (message?.kind === 'commit') yield* this.#catchUp(events.length > 0 ? batch : undefined, signal);
        if (events.length >= BATCH_EVENTS || bytes >= BATCH_BYTES) yield batch();
      }
      if (this.#transaction === undefined) yield* this.#catchUp(events.length > 0 ? batch : undefined, signal);
      const isDue = this.#target !== undefined && this.#lsn >= this.#target;
      const isQuiet = this.#lsn > given && performance.now() - givenAt > QUIET_MS;
      if (events.length > 0 || (this.#transaction === undefined && (isDue || isQuiet))) yield batch();
    }
  }

  /** Between two transactions: a snapshot of tables that are not followed. @param batch what is to be given first */
  async *#catchUp(batch: (() => ChangeBatch) | undefined, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    if (performance.now() - this.#catalogueAt > CATALOGUE_MS) {
      await this.#look();
      this.#dropChanged();
    }
    if (this.#followed.size === this.#tables.size) return;
    if (batch !== undefined) yield batch();
    yield* this.#snapshot(signal);
  }

  /** The events of a message, behind those that are there. */
  async #add(events: ChangeEvent[], message: LogMessage & { kind: 'change' | 'truncate' }, { lsn }: Received): Promise<void> {
    const transaction = this.#transaction as Transaction;
    this.#changes = lsn === this.#changeLsn ? this.#changes + 1 : 0;
    this.#changeLsn = lsn;
    const position = `${lsnSorted(transaction.lsn)}${lsnSorted(lsn)}${this.#changes.toString(16).padStart(8, '0')}`;
    const added: ChangeEvent[] = [];
    for (const relation of message.kind === 'truncate' ? message.relations : [message.relation]) {
      const name = this.#names.get(`${relation.schema}\0${relation.name}`);
      if (name === undefined || !this.#isNew(name, relation, transaction)) continue;
      if (message.kind === 'truncate') added.push({ kind: 'truncate', table: name, position });
      else added.push(...(await this.#changeOf(name, message, position)));
    }
    if (added.length === 0) return;
    if (!transaction.isOpen) events.push({ kind: 'begin', transaction: String(transaction.xid) });
    transaction.isOpen = true;
    events.push(...added);
  }

  /** Whether a change is one of a table that is followed, and no snapshot has it. */
  #isNew(name: string, relation: Relation, { xid, lsn }: Transaction): boolean {
    const followed = this.#followed.get(name);
    if (followed === undefined) return false;
    const seen = seenOf(followed);
    if (seen !== undefined && lsn < seen.until && isInSnapshot(xid, seen.snapshot)) return false;
    const table = this.#tables.get(name) as LogTable;
    // A snapshot of other tables may have found new columns of this one.
    if (followed.shape === table.shape && hasColumns(relation.columns, table)) return true;
    this.#followed.delete(name);
    this.#options.tell?.(`The columns of the table ${name} have changed. Its rows are read again`);
    return false;
  }

  async #changeOf(
    table: string,
    { relation, old, row }: LogMessage & { kind: 'change' },
    position: string,
  ): Promise<readonly ChangeEvent[]> {
    const { key } = this.#tables.get(table) as LogTable;
    const before = old === undefined ? undefined : rowOf(relation, old);
    const oldKey = before === undefined ? undefined : this.#keyOf(key, before);
    if (row === undefined) {
      return [{ kind: 'delete', table, position, key: oldKey, ...(key === undefined && before !== undefined ? { before } : {}) }];
    }
    const unavailable: string[] = [];
    const values: Record<string, string | null> = {};
    for (const [i, { name }] of relation.columns.entries()) {
      const value = row[i] === undefined ? old?.[i] : row[i];
      // A whole old row has the values that the new one does not repeat. An old key has nulls for them.
      if (value === undefined || (row[i] === undefined && value === null)) unavailable.push(name);
      else values[name] = value;
    }
    if (key === undefined) return [{ kind: 'row', table, position, key, row: values, ...(before === undefined ? {} : { before }) }];
    const newKey = this.#keyOf(key, values);
    const isMoved = oldKey !== undefined && oldKey !== newKey;
    if (isMoved && unavailable.length > 0) {
      // Kept under the old key, where the follower does not look: read from the table as it is. A later change of them comes with its value.
      Object.assign(values, await this.#read(table, key, values, unavailable));
      unavailable.length = 0;
    }
    return [
      ...(isMoved ? [{ kind: 'delete', table, position, key: oldKey } as const] : []),
      { kind: 'row', table, position, key: newKey, row: values, ...(unavailable.length === 0 ? {} : { unavailable }) },
    ];
  }

  #keyOf(key: readonly string[] | undefined, row: Row): string | undefined {
    if (key?.some((name) => row[name] == null))
      throw queryFault(KEY_FAULT, this.#options.address, 'Its REPLICA IDENTITY may have changed. Start the follower again');
    return keyOf(key, row);
  }

  /** Columns of the row that has a key now; nulls, if there is none: then the log has its end. */
  async #read(table: string, key: readonly string[], row: Row, columns: readonly string[]): Promise<Row> {
    const { address, connectSeconds, reach } = this.#options;
    const session = await openPostgres(address, { connectSeconds, reach, statementSeconds: 0, lockSeconds: 0 });
    try {
      const quoted = (name: string): string => quote(name, 'postgresql');
      const { schema, name } = (this.#tables.get(table) as LogTable).table;
      const where = key.map((column, i) => `${quoted(column)} = $${i + 1}`).join(' AND ');
      const [found] = await session.query(
        `SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(schema)}.${quoted(name)} WHERE ${where}`,
        key.map((column) => String(row[column])),
      );
      return found ?? Object.fromEntries(columns.map((column) => [column, null]));
    } finally {
      await session.close();
    }
  }

  async end(): Promise<(position: FeedPosition) => boolean> {
    const target = await this.#server.end();
    this.#target = target;
    this.#catalogueAt = Number.NEGATIVE_INFINITY;
    const names = [...this.#options.tables.keys()];
    return (position) => {
      const followed = followedIn(position);
      return lsnOf(position.lsn ?? '0/0') >= target && names.every((name) => followed.has(name));
    };
  }

  async lag(position: FeedPosition): Promise<FeedLag> {
    const { bytes, kept } = await this.#server.lag(position.lsn === undefined ? undefined : lsnOf(position.lsn));
    return { messages: undefined, bytes, keptBytes: kept };
  }

  async confirm(position: FeedPosition): Promise<void> {
    const lsn = lsnOf(position.lsn ?? '0/0');
    if (lsn <= this.#confirmed) return;
    this.#confirmed = lsn;
    this.#stream?.report(false);
  }

  async #closeStream(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.close();
  }

  async close(): Promise<void> {
    await this.#closeStream();
    await this.#server.close();
  }
}

/** Whether a fault is one within the server. */
function isInternal(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: string; readonly cause?: unknown };
  return code === 'XX000' || (cause !== undefined && isInternal(cause));
}

/** `Server.end` leaves out the header of a page at most. */
const PAGE = 2n ** 16n;

function rowOf(relation: Relation, tuple: Tuple): Row {
  return Object.fromEntries(relation.columns.map(({ name }, i) => [name, tuple[i] ?? null]));
}
