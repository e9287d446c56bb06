/**
 * The contract between a follower and the feeds of changes that it reads: topics of Debezium, and the replication logs of databases. Plain data; nothing
 * here depends on mappings, on Kafka or on a database.
 */

/**
 * The value of a column: the server's own text, as a SELECT of the table gives it; null: SQL's NULL. A message without a schema tells numbers and
 * booleans apart from texts, and arrays from both, and no more: they are JSON, with numbers as they stand in the message.
 */
export type RowValue = string | null | { readonly json: string };

/** In front of the reason why a message does not have the value of a date, a timestamp or an interval: a text that is none. Only a use of the value is a fault. */
export const UNREADABLE = '?';

/** The values of a row by the names of their columns. A column that the table does not have is missing, which is not NULL. */
export type Row = Readonly<Record<string, RowValue>>;

/** What a value of a column is, where a schema says it. `text`: its texts are plain strings. */
export type ColumnKind =
  | 'text'
  | 'boolean'
  | 'integer'
  | 'decimal'
  | 'double'
  | 'date'
  | 'time'
  | 'time with time zone'
  | 'timestamp'
  | 'timestamp with time zone'
  | 'interval'
  | 'year'
  | 'binary';

export interface FeedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Whether a value is an array of such values, as PostgreSQL writes it: `{a,b}`. */
  readonly isArray?: boolean;
}

/** Of a table, by the name for which the follower has asked. */
interface OfTable {
  readonly table: string;
}

/** One row of a table. */
interface OfRow extends OfTable {
  /** JSON array of the texts of its key's columns, in the order of the key. undefined: the table has no key, so equal rows cannot be told apart. */
  readonly key: string | undefined;
  /**
   * Texts in whose order (by code units) the changes of a key were made, those of one feed. An event is skipped where it is not newer than what its key
   * has: it comes a second time. undefined: the order of the feed is all that is known.
   */
  readonly position: string | undefined;
}

export type ChangeEvent =
  /** The row is there, with these values. */
  | (OfRow & {
      readonly kind: 'row';
      readonly row: Row;
      /** Columns whose values have not changed and are not known to the event. They are not in `row`. */
      readonly unavailable?: readonly string[];
      /** A row that a snapshot has read: it counts, whatever its position. */
      readonly isSnapshot?: true;
      /** Of a table without a key: the row that it replaces. */
      readonly before?: Row;
      /** The key that the row had: where its kept row has gone already, with `newKey`, the values of `unavailable` columns are those that it had. */
      readonly oldKey?: string;
    })
  /** The row has gone. */
  | (OfRow & {
      readonly kind: 'delete';
      /** The row goes on under this key: a `row` event with `oldKey` follows, in the same transaction. */
      readonly newKey?: string;
      /** Of a table without a key. */
      readonly before?: Row;
    })
  /** All rows of the table have gone. */
  | (OfTable & { readonly kind: 'truncate'; readonly position: string | undefined })
  /** A snapshot of the table begins, or ends: rows that it did not have, and that no event has made since it began, have gone. */
  | (OfTable & { readonly kind: 'snapshot'; readonly state: 'begin' | 'end' })
  /**
   * The feed tells the changes of the table from the first one that it has, up to `end`. Their positions are compared with those of the replay alone, and rows
   * that it has not told have gone at its end.
   */
  | (OfTable & { readonly kind: 'replay'; readonly state: 'begin' | 'end' })
  /** The columns of the rows that follow, as a schema says. */
  | (OfTable & { readonly kind: 'columns'; readonly columns: readonly FeedColumn[] })
  /** What follows, up to `commit`, belongs together. */
  | { readonly kind: 'begin' | 'commit'; readonly transaction: string };

/** How far a feed has been read: plain data, which the follower keeps with its rows. Offsets by topic and partition, an LSN, a GTID. */
export type FeedPosition = Readonly<Record<string, string>>;

export interface ChangeBatch {
  readonly events: readonly ChangeEvent[];
  /** Behind the events. */
  readonly position: FeedPosition;
  readonly bytes: number;
  /** When the last change was made, in milliseconds since 1970; undefined: it is not known. */
  readonly changedAt: number | undefined;
  /** What the user should know of these events, as messages: what was rejected, and why. */
  readonly rejected?: readonly RejectedMessage[];
  /** What else the user should know: a transaction without an end, a topic that is not there yet. */
  readonly warnings?: readonly string[];
}

/** A message that is no event. The follower reports it, keeps it as a dead letter, and goes on. */
export interface RejectedMessage {
  /** `topic[partition]@offset`, an LSN, or a place in the binlog. */
  readonly place: string;
  readonly reason: string;
  /** The key and value of a message as they came. */
  readonly key?: Uint8Array | undefined;
  readonly value?: Uint8Array | undefined;
}

/** How far a feed is behind. */
export interface FeedLag {
  /** Messages or transactions that are not read yet; undefined: the feed does not count them. */
  readonly messages: number | undefined;
  /** undefined: the feed does not know them. */
  readonly bytes: number | undefined;
  /** Bytes of its log that a server keeps for the feed. */
  readonly keptBytes?: number | undefined;
}

/** Changes of tables, from a position on. One consumer reads it. The caller closes it. */
export interface ChangeFeed {
  /** For messages, already redacted. */
  readonly name: string;
  /**
   * Batches in the order in which they were made. The next one is read when it is asked for, so a slow reader stops the feed.
   *
   * @param from what was kept of the last batch; undefined: from the beginning, with a snapshot where the feed makes one
   * @throws Fault — the feed is lost; `batches` may be called again with the last position
   */
  batches(from: FeedPosition | undefined, signal: AbortSignal): AsyncIterable<ChangeBatch>;
  /**
   * The end that the feed has now.
   *
   * @param from up to which it was read; undefined: nothing was
   * @returns whether a position is at or behind it
   * @throws Fault source/refused — it does not have what follows `from`
   */
  end(from: FeedPosition | undefined): Promise<(position: FeedPosition) => boolean>;
  lag(position: FeedPosition): Promise<FeedLag>;
  /** The changes up to a position are kept for good: the server may forget them. */
  confirm(position: FeedPosition): Promise<void>;
  close(): Promise<void>;
}
