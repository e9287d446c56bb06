/** Opens a session with the driver that an address asks for. */
import type { OpenSession } from './database.ts';

/** Opens a session with the driver of the address; drivers are loaded when first wanted. */
export const openSession: OpenSession = async (address, options) =>
  address.product === 'postgresql'
    ? (await import('./postgresql/postgresql.ts')).openPostgres(address, options)
    : (await import('./mysql/mysql.ts')).openMysql(address, options);
