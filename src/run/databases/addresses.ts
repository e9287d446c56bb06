/** Finds the database that a source of the mapping reads. */
import { Fault } from '../../core/fault.ts';
import { formatOrigin, type SqlConnection, type SqlSource } from '../../mapping/model/model.ts';
import type { DatabaseAddress } from '../../sql/database.ts';
import { parseJdbcUrl } from '../../sql/jdbc/jdbc.ts';
import type { RunRequest } from '../request.ts';
import { inMapping } from './faults.ts';

/**
 * The database that the mapping describes for the source; otherwise, the database of the run.
 *
 * @throws Fault database/driver or request/invalid — the JDBC URL; mapping/invalid — neither the mapping nor the run names a database
 */
export function addressOf(
  { connection, origin }: SqlSource,
  { database, workingDirectory: directory, reach }: Pick<RunRequest, 'database' | 'workingDirectory' | 'reach'>,
): DatabaseAddress {
  if (connection !== undefined) return addressOfMapping(connection, directory, reach === undefined);
  if (database !== undefined) return parseJdbcUrl({ url: database.jdbcUrl, user: database.user, password: database.password, directory });
  throw new Fault('mapping/invalid', 'The mapping reads a database, and neither it nor the run says which one', {
    place: { mapping: formatOrigin(origin) },
    hint: 'Set JDBC_URL, DB_USER and DB_PASSWORD, or describe the database in the mapping (d2rq:Database)',
  });
}

/** @param trusted the mapping is that of the user of the command */
function addressOfMapping(
  { jdbcUrl, driver, user, password, origin }: SqlConnection,
  directory: string,
  trusted: boolean,
): DatabaseAddress {
  try {
    return parseJdbcUrl({ url: jdbcUrl, driver, user, password, directory, trusted });
  } catch (error) {
    throw inMapping(error, formatOrigin(origin));
  }
}
