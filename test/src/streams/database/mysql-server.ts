/** A MariaDB with a binlog for a test, and feeds of its tables. */
import mysql from 'mysql2/promise';
import type { SqlSession } from '../../../../src/sql/database.ts';
import { openSession } from '../../../../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../../../../src/sql/jdbc/jdbc.ts';
import type { DatabaseFeedOptions } from '../../../../src/streams/database/options.ts';
import { startMariadb } from '../../../servers/databases/mariadb.ts';

export interface LogServer {
  readonly port: number;
  readonly admin: mysql.Connection;
  /** The caller ends it. */
  connect(): Promise<mysql.Connection>;
  /** With what was told. */
  options(names?: readonly string[], parameters?: string): Promise<DatabaseFeedOptions & { readonly told: string[] }>;
  /** The caller closes it. */
  session(parameters?: string): Promise<SqlSession>;
  /** Ends the connections that read the binlog. */
  cut(): Promise<void>;
  crash(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const LIMITS = { connectSeconds: 10, statementSeconds: 0, lockSeconds: 0 };

export async function startLogServer(settings: readonly string[] = []): Promise<LogServer> {
  const server = await startMariadb({
    arguments: [
      '--log-bin=log',
      '--server-id=5',
      '--binlog-format=ROW',
      '--max-binlog-size=256K',
      '--innodb-flush-log-at-trx-commit=2',
      ...settings,
    ],
  });
  if ('skip' in server) throw new Error(server.skip);
  const connect = async (): Promise<mysql.Connection> => {
    const client = await mysql.createConnection({
      host: '127.0.0.1',
      port: server.port,
      user: 'root',
      database: 'test',
      multipleStatements: true,
      charset: 'utf8mb4',
    });
    client.on('error', () => undefined);
    return client;
  };
  const admin = await connect();
  const addressOf = (parameters: string) => parseJdbcUrl({ url: `jdbc:mariadb://127.0.0.1:${server.port}/test?user=root${parameters}` });
  const session = (parameters = ''): Promise<SqlSession> => openSession(addressOf(parameters), LIMITS);
  return {
    port: server.port,
    admin,
    connect,
    session,
    async options(names, parameters = '') {
      const reader = await session();
      const tables = await reader.catalogue.tables([]);
      await reader.close();
      const told: string[] = [];
      const wanted = tables.filter(({ name }) => names?.includes(name) !== false);
      return {
        address: addressOf(parameters),
        tables: new Map(wanted.map((table) => [table.name, table])),
        slot: '',
        publication: '',
        serverId: 4711,
        connectSeconds: 10,
        tell: (message) => void told.push(message),
        told,
      };
    },
    async cut() {
      const [rows] = await admin.query("SELECT id FROM information_schema.processlist WHERE command = 'Binlog Dump'");
      for (const { id } of rows as { id: number }[]) await admin.query(`KILL ${id}`).catch(() => undefined);
    },
    crash: () => server.crash(),
    restart: () => server.restart(),
    async stop() {
      await admin.end().catch(() => undefined);
      await server.stop();
    },
  };
}
