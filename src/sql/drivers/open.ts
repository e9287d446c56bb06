/** Opens a session with the driver that an address asks for. */
import { Fault } from '../../core/fault.ts';
import { assertHost, type Reach } from '../../core/reach/reach.ts';
import { resolveWithin } from '../../core/reach/safe-path.ts';
import type { DatabaseAddress, OpenSession, Product } from '../database.ts';

const mysql = async (): Promise<OpenSession> => (await import('../mysql/mysql.ts')).openMysql;

/** Drivers are loaded when first wanted. */
const DRIVERS: Readonly<Record<Product, () => Promise<OpenSession>>> = {
  postgresql: async () => (await import('../postgresql/postgresql.ts')).openPostgres,
  mysql,
  mariadb: mysql,
  sqlserver: async () => (await import('./sqlserver/sqlserver.ts')).openSqlServer,
  oracle: async () => (await import('./oracle/oracle.ts')).openOracle,
  sqlite: async () => (await import('../files/products.ts')).openSqliteFile,
  duckdb: async () => (await import('../files/products.ts')).openDuckdbFile,
};

/** Opens a session with the driver of the address. @throws also Fault request/forbidden — the address is not within `options.reach` */
export const openSession: OpenSession = async (address, options) => {
  const { reach } = options;
  const within = reach === undefined ? address : await assertAddress(address, reach);
  return (await DRIVERS[address.product]())(within, options);
};

/** @returns the address, of a file with its real path */
async function assertAddress(address: DatabaseAddress, reach: Reach): Promise<DatabaseAddress> {
  const { server, database, name } = address;
  if (server === undefined) return database === undefined ? address : { ...address, database: await resolveWithin(reach, database, name) };
  await assertHost(reach, server.host, server.port).catch((error) => {
    if (error instanceof Fault) throw error.with({ place: { input: name } });
    // The driver reports a name that cannot be looked up.
  });
  return address;
}
