/** Opens a session with the driver that an address asks for. */
import type { OpenSession, Product } from '../database.ts';

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

/** Opens a session with the driver of the address. */
export const openSession: OpenSession = async (address, options) => (await DRIVERS[address.product]())(address, options);
