/** What is the same for all products when a session is opened: the host, TLS files, and a beginning that may fail. */
import { readFile } from 'node:fs/promises';
import { Fault } from '../../core/fault.ts';
import type { DatabaseAddress, SqlSession } from '../database.ts';
import { cancelledFault } from '../faults.ts';

export type Host = NonNullable<DatabaseAddress['server']>;

/** How a driver judges the error of an attempt to connect. */
export interface ConnectErrors {
  /** The fault for an answer of the server; undefined: it counts as if the host were not reachable. */
  faultOf(error: unknown): Fault | undefined;
  /** Why the host was not reachable, in a few words. */
  reasonOf(error: unknown): string;
}

/** The connection that `attempt` makes. A host that cannot be reached, or breaks the connection, gives the fault `database/unreachable`. @throws Fault those of `OpenSession` */
export async function connectHost<T>(
  address: DatabaseAddress,
  attempt: (host: Host) => Promise<T>,
  { faultOf, reasonOf }: ConnectErrors,
  signal: AbortSignal | undefined,
): Promise<T> {
  const server = address.server as Host;
  try {
    return await attempt(server);
  } catch (error) {
    if (signal?.aborted) throw cancelledFault(address);
    const fault = faultOf(error);
    if (fault !== undefined && fault.code !== 'database/lost') throw fault;
    const host = server.host.includes(':') ? `[${server.host}]` : server.host;
    throw new Fault('database/unreachable', `The database server cannot be reached (${host}:${server.port}: ${reasonOf(error)})`, {
      place: { input: address.name },
    });
  }
}

/** The reason in a system error; that of any other error is its message. For `ConnectErrors.reasonOf`. */
export function systemReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'no such host';
    case 'ETIMEDOUT':
      return 'no answer in time';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'there is no way to the host';
    default:
      return message || code || 'no reason given';
  }
}

/** Options of `node:tls`; PEM files are their text. */
export interface TlsFiles {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** undefined: no TLS. @throws Fault database/unreachable — a PEM file that cannot be read */
export async function readTls({ tls, name }: DatabaseAddress): Promise<TlsFiles | undefined> {
  const { mode, caFile, certificateFile, keyFile } = tls;
  if (mode === 'disable') return undefined;
  const [ca, cert, key] = await Promise.all([caFile, certificateFile, keyFile].map((path) => readPem(path, name)));
  return {
    rejectUnauthorized: mode === 'verify-ca' || mode === 'verify-full',
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

async function readPem(path: string | undefined, input: string): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new Fault('database/unreachable', `The PEM file ${path} cannot be read`, { place: { input }, cause });
  }
}

/** The session after `begin`; one that cannot begin is closed. */
export async function beginOrClose(session: SqlSession & { begin(): Promise<void> }): Promise<SqlSession> {
  try {
    await session.begin();
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}
