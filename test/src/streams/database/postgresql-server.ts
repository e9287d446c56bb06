/** A PostgreSQL with a replication log for a test, and feeds of its tables. */
import pg from 'pg';
import type { SqlSession } from '../../../../src/sql/database.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import type { DatabaseFeedOptions } from '../../../../src/streams/database/options.ts';
import { startPostgres } from '../../../servers/databases/postgres.ts';

export interface LogServer {
  readonly admin: pg.Client;
  /** The caller ends it. */
  connect(): Promise<pg.Client>;
  /** With what was told. @param names follower's names are those of the catalogue */
  options(schema: string, names?: readonly string[]): Promise<DatabaseFeedOptions & { readonly told: string[] }>;
  /** The caller closes it. */
  session(): Promise<SqlSession>;
  crash(): Promise<void>;
  stop(): Promise<void>;
}

const LIMITS = { connectSeconds: 10, statementSeconds: 0, lockSeconds: 0 };

export async function startLogServer(settings: readonly string[] = []): Promise<LogServer> {
  const server = await startPostgres({ settings: ['wal_level=logical', 'wal_sender_timeout=5s', ...settings] });
  if ('skip' in server) throw new Error(server.skip);
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const admin = await connect();
  const address = parseJdbcUrl({ url: `jdbc:postgresql://127.0.0.1:${server.port}/postgres?user=postgres` });
  const session = (): Promise<SqlSession> => openSession(address, LIMITS);
  return {
    admin,
    connect,
    session,
    async options(schema, names) {
      const reader = await session();
      const tables = await reader.catalogue.tables([schema]);
      await reader.close();
      const told: string[] = [];
      const wanted = tables.filter(({ name }) => names?.includes(name) !== false);
      return {
        address,
        tables: new Map(wanted.map((table) => [table.name, table])),
        slot: 'quadmill_test',
        publication: 'quadmill test "1"',
        serverId: 1,
        connectSeconds: 10,
        tell: (message) => void told.push(message),
        told,
      };
    },
    crash: () => server.crash(),
    async stop() {
      await admin.end().catch(() => undefined);
      await server.stop();
    },
  };
}
