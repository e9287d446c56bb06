/** What is the same for the replication logs of all products. */
import type { Reach } from '../../core/reach/reach.ts';
import type { DatabaseAddress } from '../../sql/database.ts';
import type { Table } from '../../sql/tables.ts';

export interface DatabaseFeedOptions {
  readonly address: DatabaseAddress;
  /** Table as the follower names it → the table in the catalogue. Its columns and keys are read again when a snapshot is taken. */
  readonly tables: ReadonlyMap<string, Table>;
  /** PostgreSQL: made if missing. */
  readonly slot: string;
  readonly publication: string;
  /** MySQL, MariaDB: no other replica of the server may have this number. */
  readonly serverId: number;
  /** Time for the server to answer and accept a login. */
  readonly connectSeconds: number;
  readonly reach?: Reach | undefined;
  /** Takes what the user should know: what is made on the server, why a snapshot is taken, and which changes the log does not have. */
  readonly tell?: ((message: string) => void) | undefined;
}

/** `schema.table`, for messages. */
export const nameOf = ({ schema, name }: Pick<Table, 'schema' | 'name'>): string => `${schema}.${name}`;
