/** Whether this process reaches the database or target that its options name. */
import type { Service } from '../queues/jobs.ts';
import { targetOf } from '../queues/requests/writer.ts';
import type { Snapshot } from '../src/config/options/options.ts';
import { sqlLimitsOf } from '../src/config/run-defaults.ts';
import { Fault } from '../src/core/fault.ts';
import type { DatabaseAccess } from '../src/run/request.ts';
import { openSession } from '../src/sql/drivers/open.ts';
import { parseJdbcUrl } from '../src/sql/jdbc/jdbc.ts';

export interface ConnectionOptions {
  /** Base of relative paths of database files. */
  readonly workingDirectory: string;
  /** The embedded store, if this process has it. */
  readonly store: { readonly endpoint: string } | undefined;
}

/** The database of the SQL transformer; undefined: only the mapping names databases. */
export function databaseOf({ JDBC_URL, DB_USER, DB_PASSWORD }: Snapshot): DatabaseAccess | undefined {
  return JDBC_URL === undefined ? undefined : { jdbcUrl: JDBC_URL, user: DB_USER, password: DB_PASSWORD };
}

/** Without a target (config/invalid) a process cannot write, while others of the fleet may have one. */
const UNREACHED: ReadonlySet<string> = new Set(['database/unreachable', 'target/unreachable', 'config/invalid']);

/** Whether the fault may be that of this process alone: another one may reach the database or target. */
export const isUnreached = ({ code }: Fault): boolean => UNREACHED.has(code);

/**
 * Connects to what runs of the service need, and closes the connection. Resolves to why this process does not reach it; undefined: it does,
 * or what went wrong is not a matter of this process, such as a login. Never rejects.
 */
export async function checkConnection(
  service: Service,
  snapshot: Snapshot,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  try {
    if (service === 'sql-transformer') await connect(snapshot, options.workingDirectory, signal);
    if (service === 'graph-writer') await probe(snapshot, options.store, signal);
    return undefined;
  } catch (error) {
    const fault = Fault.of(error);
    return isUnreached(fault) ? fault : undefined;
  }
}

async function connect(snapshot: Snapshot, directory: string, signal: AbortSignal): Promise<void> {
  const database = databaseOf(snapshot);
  if (database === undefined) return;
  const address = parseJdbcUrl({ url: database.jdbcUrl, user: database.user, password: database.password, directory });
  // A database file is reached as soon as it is opened, and opening it starts a process.
  if (address.server === undefined) return;
  const session = await openSession(address, { signal, ...sqlLimitsOf(snapshot) });
  await session.close();
}

async function probe(snapshot: Snapshot, store: ConnectionOptions['store'], signal: AbortSignal): Promise<void> {
  const address = targetOf(snapshot, store);
  // The store of this process.
  if (address.type === 'embedded' && address.endpoint === store?.endpoint) return;
  const { openTarget } = await import('../src/targets/open.ts');
  const target = await openTarget(address);
  try {
    await target.probe(signal);
  } finally {
    await target.close();
  }
}
