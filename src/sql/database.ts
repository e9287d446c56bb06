/**
 * The contract between the engine and the drivers for databases (`postgresql/`, `mysql/`, `drivers/`, `files/`).
 *
 * A *session* is one connection in one read-only transaction. It sees one state of the data from its opening to its close, so all scans of a
 * run read the same state. A value is always the server's own text, never a JavaScript number or Date. Nothing here depends on mappings.
 */

import type { Reach } from '../core/reach/reach.ts';
import type { Secret } from '../core/secret.ts';
import type { Value } from '../core/value.ts';
import type { Catalogue, TableName } from './tables.ts';

/** The supported products. MySQL and MariaDB share a driver, which asks the server which of the two it is. */
export type Product = 'postgresql' | 'mysql' | 'mariadb' | 'sqlite' | 'duckdb' | 'sqlserver' | 'oracle';

/** Where a database is and how to log in: the result of `parseJdbcUrl` (`jdbc/jdbc.ts`). */
export interface DatabaseAddress {
  readonly product: Product;
  /** undefined: a file. */
  readonly server: { readonly host: string; readonly port: number } | undefined;
  /** For a file its absolute path. */
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly password: Secret | undefined;
  /** Search path (PostgreSQL's currentSchema). Empty: the default of the server. */
  readonly schemas: readonly string[];
  readonly tls: TlsOptions;
  /** Other allowed parameters of the driver, by JDBC name. Their values have been checked. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The JDBC URL without user, password and parameters, for messages and logs. */
  readonly name: string;
}

export interface TlsOptions {
  /**
   * `prefer`: TLS if the server offers it; `require`: always TLS. Neither checks the certificate. `verify-ca`: its issuer is checked;
   * `verify-full`: the host name as well.
   */
  readonly mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
  /** Paths of PEM files. */
  readonly caFile: string | undefined;
  readonly certificateFile: string | undefined;
  readonly keyFile: string | undefined;
}

/**
 * The kind of the values of a column. For two columns of one family, SQL's `=` gives the same answer as comparing their texts. Columns of
 * the family `other` must not be compared, not even with each other.
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
  /** Its label in the result, as ordinary JavaScript text: unlike values, not as one-byte UTF-8. */
  readonly name: string;
  /** As the product writes it, for messages: `numeric(10,2)`. */
  readonly type: string;
  readonly family: Family;
  /** IRI of the natural datatype. undefined: values are plain strings. @see https://www.w3.org/TR/r2rml/#natural-mapping */
  readonly datatype: string | undefined;
  /**
   * Converts the server's text to the canonical lexical form of the datatype, or pads a CHAR. Both are one-byte UTF-8. undefined: the
   * server's text needs no conversion.
   *
   * @throws Fault record/term — the datatype has no such value (an infinite date); with the value, and what to write in SQL instead
   */
  readonly canonical: ((text: string) => string) | undefined;
  /** The value of a text, where `canonical` and `datatype` do not give it: with the datatype of each value, or both forms of a double. Throws as `canonical` does. */
  readonly value?: (text: string) => Value;
  /** Whether `canonical` may throw. */
  readonly partial: boolean;
  /**
   * For an array: splits its text into the texts of its non-null elements; `canonical`, `datatype` and `value` then apply to an element. It returns
   * undefined where the text is one value.
   */
  readonly elements: ((text: string) => readonly string[] | undefined) | undefined;
  /** Equal values have equal texts, and different values different texts. So a unique key is also unique as text. False for MySQL's FLOAT. */
  readonly exact: boolean;
}

/** A few hundred or thousand neighbouring rows. A row has the server's text of each column, in order; null is SQL's NULL. */
export interface RowBatch {
  /** Texts are one-byte UTF-8 (see `core/text.ts`). The session does not use the arrays again, so the reader may keep them. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Bytes received from the server so far. */
  readonly bytes: number;
}

export interface SessionOptions {
  /** Ends the session with Fault run/cancelled: opening fails, and a running statement is cancelled on the server within a second. */
  readonly signal?: AbortSignal;
  /** Time for each host to answer and accept the login. */
  readonly connectSeconds: number;
  /**
   * A statement that takes longer ends with database/time-limit. 0: no limit. Time in which the server waits for the reader does not count if
   * the product can exclude it.
   */
  readonly statementSeconds: number;
  /** A statement that waits longer for a lock ends with database/busy. 0: no limit. */
  readonly lockSeconds: number;
  /** A state that `SqlSession.exportSnapshot` of another session has named. undefined: the present state. */
  readonly snapshot?: string;
  /** Where the address may lead, if a request or a mapping names it. undefined: anywhere. */
  readonly reach?: Reach | undefined;
  /** Memory for what the library that reads a database file holds, where it can be limited. undefined: a default. */
  readonly memoryBytes?: number;
  /** Where such a library puts what does not fit into memory. undefined: the system's directory for temporary files. */
  readonly spillDirectory?: string;
}

/**
 * One connection. One caller uses it at a time, and begins a statement only after it has read or given up all rows of the one before.
 *
 * Every method but `close` throws Fault database/lost if the connection breaks, and the faults of its statement: database/query (with line
 * and column in the SQL if the server reports them), database/busy, database/time-limit, run/cancelled.
 */
/** All rows of a table. */
export interface TableScan extends TableName {
  /** By their names in the catalogue, in the order of the result. None: the result has a column whose values mean nothing. */
  readonly columns: readonly string[];
}

export interface SqlSession {
  /** The product of the server that answered. */
  readonly product: Product;
  /** As the server writes it: `15.19`, `10.11.19-MariaDB`. */
  readonly version: string;
  readonly address: DatabaseAddress;
  readonly catalogue: Catalogue;
  /** What the user should know of the state that the session sees. */
  readonly warning?: string | undefined;
  /** The columns of a query's result, in order. The query is not run. It is one SELECT without a trailing semicolon. */
  describe(sql: string): Promise<readonly Column[]>;
  /**
   * Runs a query and yields its rows in the order of the server. Memory is constant, because the server waits for a slow reader. Ending the
   * iteration early, or the session's signal, cancels the statement on the server.
   *
   * @param columns number of columns that `describe` has found
   * @param table what the query reads, if it is no more than that: a product may have a faster way
   */
  rows(sql: string, columns: number, table?: TableScan): AsyncIterable<RowBatch>;
  /**
   * Runs one read-only query from an untrusted caller. Refused with database/query are several statements, statements other than queries,
   * and writes to the database or to files of the server. Yields at most `maxRows + 1` rows.
   */
  select(sql: string, maxRows: number): Promise<{ readonly columns: readonly Column[]; readonly batches: AsyncIterable<RowBatch> }>;
  /** A small query of the project itself: all rows as objects by column, in ordinary text. Placeholders are those of the product ($1 or ?). */
  query(sql: string, parameters?: readonly (string | number)[]): Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Names this session's state of the data for `SessionOptions.snapshot` of other sessions; valid until `close`. undefined: not PostgreSQL. */
  exportSnapshot(): Promise<string | undefined>;
  /** Never throws. */
  close(): Promise<void>;
}

/**
 * Connects to the first host that accepts the login: a host that is unreachable, busy or not of the wanted kind is skipped. Each driver
 * exports one such function.
 *
 * @throws Fault database/credentials — the specification's text `Invalid Database Credentials`, without place and hint;
 * database/missing — no such database; database/unreachable — with host, port and reason of each host tried;
 * database/busy — too many connections, or the server is starting; run/cancelled. For files also source/type — not such a file;
 * source/malformed — a damaged one; database/driver — the library that reads it is not installed.
 * Except for database/credentials, `place.input` is `address.name`. No message contains a password.
 */
export type OpenSession = (address: DatabaseAddress, options: SessionOptions) => Promise<SqlSession>;
