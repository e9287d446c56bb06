/** What is the same for all products when a session is opened: several hosts, TLS files, and a beginning that may fail. */
import { readFile } from 'node:fs/promises';
import { Fault } from '../../core/fault.ts';
import type { DatabaseAddress, SqlSession } from '../database.ts';
import { cancelledFault } from '../faults.ts';

export type Host = DatabaseAddress['hosts'][number];

/** How a driver judges the error of an attempt to connect. */
export interface ConnectErrors {
  /** The fault for an answer of the server; undefined: it counts as if the host were not reachable. */
  faultOf(error: unknown): Fault | undefined;
  /** Why the host was not reachable, in a few words. */
  reasonOf(error: unknown): string;
}

/** Answers that every host would give. */
const COMMON_ANSWERS: readonly string[] = ['database/credentials', 'database/missing'];

/**
 * The result of the first attempt that succeeds. Each attempt is made for all hosts in their order before the next one.
 *
 * A host that cannot be reached, breaks the connection, or is busy is passed over. The last host's answer is thrown.
 *
 * @throws Fault those of `OpenSession`
 */
export async function firstHost<T>(
  address: DatabaseAddress,
  attempts: readonly ((host: Host) => Promise<T>)[],
  { faultOf, reasonOf }: ConnectErrors,
  signal: AbortSignal | undefined,
): Promise<T> {
  const reasons = new Set<string>();
  const last = address.hosts.length - 1;
  for (const attempt of attempts) {
    for (const [index, host] of address.hosts.entries()) {
      try {
        return await attempt(host);
      } catch (error) {
        if (signal?.aborted) throw cancelledFault(address);
        const fault = faultOf(error);
        const isFinal = fault !== undefined && (index === last || COMMON_ANSWERS.includes(fault.code));
        if (isFinal && fault.code !== 'database/lost') throw fault;
        reasons.add(`${host.host.includes(':') ? `[${host.host}]` : host.host}:${host.port}: ${reasonOf(error)}`);
      }
    }
  }
  const message = `The database server cannot be reached (${[...reasons].join('; ')})`;
  throw new Fault('database/unreachable', message, { place: { input: address.name } });
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
