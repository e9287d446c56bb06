/** What the member `source` of an envelope says: the order of changes, the snapshot, and the order of transactions. */
import { type Json, JsonNumber, type JsonObject } from './json.ts';

const WIDTH = 20;

const padded = (digits: string): string => digits.padStart(WIDTH, '0');

/** The text of a scalar member; undefined: there is none, or null. */
export function scalar(object: JsonObject | undefined, name: string): string | undefined {
  const value: Json | undefined = object?.[name];
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : undefined;
}

/**
 * Text in whose order (by code units) the changes of a key were made; undefined: the source does not tell it.
 *
 * - PostgreSQL: `sequence`, the position of the last commit and the own one. The own one alone grows for a key, since it is locked until the commit, but
 *   not for a table.
 * - MariaDB and MySQL: the number of the GTID, or of the binlog file; then the position in it, and the row of its event. See `serverOf`.
 *
 * @param hasKey false: the order is that of all rows of the table
 */
export function positionOf(source: JsonObject, hasKey: boolean): string | undefined {
  const sequence = sequenceOf(source);
  if (sequence !== undefined) return sequence.map((lsn) => padded(String(lsn))).join('');
  const lsn = scalar(source, 'lsn');
  if (lsn !== undefined) return hasKey ? padded(lsn) : undefined;
  const pos = scalar(source, 'pos');
  if (pos === undefined) return undefined;
  const gtid = scalar(source, 'gtid');
  // A snapshot has no GTID, and is older than what follows it.
  const first = gtid ?? (isSnapshot(source) ? '0' : scalar(source, 'file'));
  const number = /(\d+)$/.exec(first ?? '')?.[1];
  return number === undefined ? undefined : padded(number) + padded(pos) + padded(scalar(source, 'row') ?? '0');
}

/** The server of a GTID of MySQL, whose numbers are its own; undefined: there is none. A snapshot has no GTID. */
export const serverOf = (source: JsonObject): string | undefined => /^(.*-.*-.*):\d+$/.exec(scalar(source, 'gtid') ?? '')?.[1];

/** PostgreSQL: the position of the last commit before the change, and of the change. The first transaction of a slot has no commit before it. */
function sequenceOf(source: JsonObject): readonly [bigint, bigint] | undefined {
  const [, commit, own] = /^\[(?:"(\d+)"|null),"(\d+)"\]$/.exec(scalar(source, 'sequence') ?? '') ?? [];
  return own === undefined ? undefined : [BigInt(commit ?? own), BigInt(own)];
}

/** A snapshot of several tables: its rows have one position. */
export interface SnapshotRow {
  readonly id: string;
  /** The first row of its table. */
  readonly isFirst: boolean;
  /** The last row of its table, or of all tables. */
  readonly isLast: boolean;
  readonly isLastOfAll: boolean;
}

const isSnapshot = (source: JsonObject): boolean => !['false', undefined].includes(scalar(source, 'snapshot'));

/** undefined: the row is none of a snapshot of whole tables. An incremental snapshot reads rows while they change, and has no last one. */
export function snapshotOf(source: JsonObject): SnapshotRow | undefined {
  const marker = scalar(source, 'snapshot');
  if (!isSnapshot(source) || marker === 'incremental') return undefined;
  const id = ['lsn', 'gtid', 'file', 'pos', 'commit_lsn', 'scn'].map((name) => scalar(source, name) ?? '').join('/');
  return {
    id,
    isFirst: marker === 'first' || marker === 'first_in_data_collection',
    isLast: marker === 'last' || marker === 'last_in_data_collection',
    isLastOfAll: marker === 'last',
  };
}

/** A place in the order of commits. Places of one scope can be compared: a server, or a domain of MariaDB's GTIDs. */
export interface CommitOrder {
  readonly scope: string;
  readonly number: bigint;
}

export interface RowTransaction {
  /** Equal for BEGIN, END and all rows. */
  readonly id: string;
  /** The place of a commit that is not later than the one before this transaction; undefined: it is not known. */
  readonly after: CommitOrder | undefined;
  /** The number of the row among those of its table in the transaction, from 1; undefined: it is not told. */
  readonly order: number | undefined;
}

/** BEGIN or END of a transaction. */
export interface Boundary {
  readonly status: 'BEGIN' | 'END';
  readonly id: string;
  /** Its commit, where it is known. */
  readonly order: CommitOrder | undefined;
  /** Of END: how many rows each table has, by `schema.table`, or by `database.table`. */
  readonly counts: ReadonlyMap<string, number>;
}

/** PostgreSQL's `xid:lsn`, whose second part is another one in each message of a transaction. */
const POSTGRESQL_ID = /^(\d+):(\d+)$/;

const idOf = (id: string): string => POSTGRESQL_ID.exec(id)?.[1] ?? id;

export function rowTransaction(transaction: JsonObject, source: JsonObject): RowTransaction | undefined {
  const id = scalar(transaction, 'id');
  if (id === undefined) return undefined;
  const order = scalar(transaction, 'data_collection_order');
  return { id: idOf(id), after: orderBefore(id, source), order: order === undefined ? undefined : Number(order) };
}

function orderBefore(id: string, source: JsonObject): CommitOrder | undefined {
  const sequence = sequenceOf(source);
  if (sequence !== undefined) {
    // Without a last commit the row is of the first transaction of a slot.
    return scalar(source, 'sequence')?.startsWith('[null') ? undefined : { scope: '', number: sequence[0] };
  }
  const own = commitOrder(id);
  return own && { scope: own.scope, number: own.number - 1n };
}

/** Of MariaDB `domain-server-number`, of MySQL `server:number` or `file=binlog.000001,pos=4`. */
function commitOrder(id: string): CommitOrder | undefined {
  const [, domain, ofDomain] = /^(\d+)-\d+-(\d+)$/.exec(id) ?? [];
  if (ofDomain !== undefined) return { scope: `${domain}`, number: BigInt(ofDomain) };
  const [, file, position] = /^file=.*?(\d+),pos=(\d+)$/.exec(id) ?? [];
  if (position !== undefined) return { scope: 'file', number: BigInt(file as string) * 2n ** 64n + BigInt(position) };
  const [, server, number] = /^(.*-.*):(\d+)$/.exec(id) ?? [];
  return number === undefined ? undefined : { scope: server as string, number: BigInt(number) };
}

/** A message of the transaction topic; undefined: the value is none. */
export function boundaryOf(value: JsonObject): Boundary | undefined {
  const status = scalar(value, 'status');
  const id = scalar(value, 'id');
  if (id === undefined || (status !== 'BEGIN' && status !== 'END')) return undefined;
  const collections = Array.isArray(value.data_collections) ? (value.data_collections as readonly JsonObject[]) : [];
  const counts = collections.map((one) => [scalar(one, 'data_collection') ?? '', Number(scalar(one, 'event_count') ?? 0)] as const);
  const postgresql = POSTGRESQL_ID.exec(id);
  // The position in a BEGIN of PostgreSQL is that of a row; in an END it is that of the commit.
  const order =
    postgresql === null ? commitOrder(id) : status === 'END' ? { scope: '', number: BigInt(postgresql[2] as string) } : undefined;
  return { status, id: idOf(id), order, counts: new Map(counts) };
}
