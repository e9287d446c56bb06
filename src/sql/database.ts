/**
 * The contract between the engine and a database: what a driver (`postgresql.ts`, `mysql.ts`) offers.
 *
 * A *session* is one connection in one read-only transaction that sees one state of the data from its opening to its close: all
 * scans of a run read the same state. Nothing here knows of mappings, and no JavaScript number or Date ever holds a value: values
 * are the server's own texts.
 */

/** What a JDBC URL can name. MySQL and MariaDB share a driver; which of the two answers is told by the server. */
export type Product = 'postgresql' | 'mysql' | 'mariadb';

/** Where a database is and how to log in: what `parseJdbcUrl` (`jdbc.ts`) makes of a JDBC URL and its parameters. */
export interface DatabaseAddress {
  readonly product: Product;
  /** Tried in this order; at least one. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Search path (PostgreSQL's currentSchema); empty: the server's own. */
  readonly schemas: readonly string[];
  readonly tls: TlsOptions;
  /** The driver's further parameters that are allowed, by their JDBC names, checked. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The JDBC URL for messages and logs: without user, password and parameters. */
  readonly name: string;
}

export interface TlsOptions {
  /** `prefer`: TLS where the server offers it, its certificate unchecked; `require`: TLS, unchecked; `verify-ca`, `verify-full`: checked. */
  readonly mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
  /** Paths of PEM files. */
  readonly caFile: string | undefined;
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

/**
 * What kind of values a column holds, as far as SQL comparisons care: two columns of the same family compare with `=` as their texts
 * would. `other` compares with nothing, not even with itself.
 */
export type Family =
  | 'number'
  | 'text'
  | 'boolean'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamp with time zone'
  | 'binary'
  | 'uuid'
  | 'other';

/** A column of a result. */
export interface Column {
  /** Its label in the result, as one-byte UTF-8 text (see `text.ts`) is NOT used here: names are ordinary JavaScript text. */
  readonly name: string;
  /** As the product writes it, for people: `numeric(10,2)`. */
  readonly type: string;
  readonly family: Family;
  /** IRI of the natural datatype; undefined: plain strings. @see https://www.w3.org/TR/r2rml/#natural-mapping */
  readonly datatype: string | undefined;
  /**
   * The server's text → the canonical lexical form of the datatype, or a CHAR with its padding; undefined: it is that already. Both one-byte UTF-8.
   *
   * @throws Fault record/term — a value that the datatype does not have (an infinite date), with the value and what to write in SQL instead
   */
  readonly canonical: ((text: string) => string) | undefined;
  /** Whether `canonical` may throw. */
  readonly partial: boolean;
  /** An array: its text → the texts of its elements that are not null; `canonical` and `datatype` are those of an element. */
  readonly elements: ((text: string) => readonly string[]) | undefined;
  /** Texts of equal values are equal, and of different values differ: a unique key stays one as text. False for MySQL's FLOAT. */
  readonly exact: boolean;
}

/** A few hundred or thousand neighbouring rows. A row is an array of texts as the server writes them, by column; null is SQL's NULL. */
export interface RowBatch {
  /** The arrays are the reader's to keep. Texts are one-byte UTF-8 (see `text.ts`). */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Bytes that came from the server so far. */
  readonly bytes: number;
}

export interface SessionOptions {
  /** Ends the session: opening fails, a running statement is cancelled on the server within a second; Fault run/cancelled. */
  readonly signal?: AbortSignal;
  /** How long each host may take to answer and log in. */
  readonly connectSeconds: number;
  /** A statement that takes longer ends with database/time-limit; 0: no limit. Time that the reader takes to ask for rows does not count where the product can tell. */
  readonly statementSeconds: number;
  /** A statement that waits longer for a lock ends with database/busy; 0: no limit. */
  readonly lockSeconds: number;
  /** PostgreSQL: read the state that another session exported, instead of the present one. */
  readonly snapshot?: string;
}

/** Defaults of the limits; `connectSeconds` etc. are options of the service. */
export const SESSION_DEFAULTS = { connectSeconds: 10, statementSeconds: 0, lockSeconds: 60 } as const;

/**
 * One connection. Used by one caller at a time: a second statement is not begun before the first one's rows are read or given up.
 * Every method throws Fault database/lost when the connection breaks, and those of the statement: database/query (with the line and
 * column of the error in the SQL where the server tells them), database/busy, database/time-limit, run/cancelled.
 */
export interface SqlSession {
  /** Of the server that answered. */
  readonly product: Product;
  /** `15.19`, `10.11.19-MariaDB`. */
  readonly version: string;
  readonly address: DatabaseAddress;
  /** The columns of a query's result, in order, without running it. The query is one SELECT without a semicolon at its end. */
  describe(sql: string): Promise<readonly Column[]>;
  /**
   * Runs a query and yields its rows in the order in which they come, in constant memory: the server waits while the reader does.
   * Giving up early (return of the iterator) or the session's signal cancels the statement on the server.
   *
   * @param columns how many the query has, which `describe` has told
   */
  rows(sql: string, columns: number): AsyncIterable<RowBatch>;
  /**
   * Runs one read-only query of a stranger, whatever its text tries: more than one statement, anything but a query, a write to the
   * database or to a file of the server are refused (database/query). Yields at most `maxRows + 1` rows.
   */
  select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }>;
  /** A small query of our own, for catalogues: all rows as objects of ordinary text. Placeholders as the product writes them ($1 or ?). */
  query(sql: string, parameters?: readonly (string | number)[]): Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** PostgreSQL: the name of this session's state of the data, for `SessionOptions.snapshot` of others while this session lives. undefined: the product has none. */
  exportSnapshot(): Promise<string | undefined>;
  /** Never throws. */
  close(): Promise<void>;
}

/**
 * Connects, trying the hosts in order. What each module of a driver exports.
 *
 * @throws Fault database/credentials — message exactly `Invalid Database Credentials`, without place and hint (the specification's words);
 * database/missing (no such database), database/unreachable (host, port and reason of each host tried), database/busy (too many
 * connections, starting up), run/cancelled. `place.input` is `address.name` in all others. No message ever holds a password.
 */
export type OpenSession = (address: DatabaseAddress, options: SessionOptions) => Promise<SqlSession>;
