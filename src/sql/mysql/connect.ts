/** Connects to a MySQL or MariaDB server: host, TLS, login. */
import { createConnection as createSocket, isIP } from 'node:net';
import { type ConnectionOptions, createConnection, type SslOptions } from 'mysql2';
import { Fault } from '../../core/fault.ts';
import { lookupWithin, type Reach } from '../../core/reach/reach.ts';
import type { DatabaseAddress, SessionOptions } from '../database.ts';
import { connectHost, type Host, readTls } from '../jdbc/connect.ts';
import { faultOf, isAnswer, type MysqlError, unreachableReason } from './faults.ts';
import type { Socketed } from './rows.ts';

/** No local files, no multiple statements or results, and the server's own grammar. */
const FLAGS = ['-LOCAL_FILES', '-MULTI_RESULTS', '-IGNORE_SPACE', '-ODBC'];

/** An open connection, and a function that opens another one to the same server. */
export interface Connected {
  readonly connection: Socketed;
  /** For a second connection; throws mysql2's errors. */
  another(timeoutMs: number): Promise<Socketed>;
}

/** @throws Fault those of `OpenSession` */
export async function connect(
  address: DatabaseAddress,
  { signal, connectSeconds, reach }: Pick<SessionOptions, 'signal' | 'connectSeconds' | 'reach'>,
): Promise<Connected> {
  const own = Number(address.parameters.connectTimeout ?? 0);
  const timeoutMs = Math.min(connectSeconds * 1000, own || Number.POSITIVE_INFINITY);
  const tls = await tlsOptions(address);
  const withoutTls = address.tls.mode === 'prefer';
  const attempt = (host: Host): Promise<Connected> =>
    connectWithTls(connectionOptions(address, host, reach), tls, withoutTls, timeoutMs, signal);
  return connectHost(address, attempt, { faultOf: (error) => answerOf(error, address), reasonOf: unreachableReason }, signal);
}

/** A server that does not accept this client (database/query) counts as if it were not reachable. */
function answerOf(error: unknown, address: DatabaseAddress): Fault | undefined {
  const fault = isAnswer(error) ? faultOf(error, { address, statementSeconds: 0 }) : undefined;
  return fault?.code === 'database/query' ? undefined : fault;
}

function connectionOptions(address: DatabaseAddress, { host, port }: Host, reach: Reach | undefined): ConnectionOptions {
  const lookup = lookupWithin(reach, host, port);
  return {
    host,
    port,
    // Connects to the addresses that were checked.
    ...(lookup === undefined ? {} : { stream: () => createSocket({ host, port, lookup }) }),
    charset: 'UTF8MB4_GENERAL_CI',
    flags: FLAGS,
    enableKeepAlive: address.parameters.tcpKeepAlive !== 'false',
    ...(address.user === undefined ? {} : { user: address.user }),
    ...(address.password === undefined ? {} : { password: address.password.reveal() }),
    ...(address.database === undefined ? {} : { database: address.database }),
  };
}

async function connectWithTls(
  options: ConnectionOptions,
  tls: SslOptions | undefined,
  withoutTls: boolean,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Connected> {
  const secured = tls === undefined ? options : { ...options, ssl: tls };
  try {
    return { connection: await login(secured, timeoutMs, signal), another: (limit) => login(secured, limit, undefined) };
  } catch (error) {
    const { code } = error as MysqlError;
    if (!withoutTls || (code !== 'HANDSHAKE_NO_SSL_SUPPORT' && code !== 'HANDSHAKE_SSL_ERROR')) throw error;
    return { connection: await login(options, timeoutMs, signal), another: (limit) => login(options, limit, undefined) };
  }
}

function login(options: ConnectionOptions, timeoutMs: number, signal: AbortSignal | undefined): Promise<Socketed> {
  return new Promise((resolve, reject) => {
    const connection = createConnection({ ...options, connectTimeout: timeoutMs }) as unknown as Socketed;
    const abort = (): void => fail(new Error('cancelled'));
    const fail = (error: unknown): void => {
      signal?.removeEventListener('abort', abort);
      connection.stream.destroy();
      reject(error);
    };
    // Stays registered: a later error must find a listener.
    connection.on('error', fail);
    connection.connect((error) => {
      if (error !== null) return fail(error);
      signal?.removeEventListener('abort', abort);
      connection.removeListener('error', fail);
      connection.on('error', () => {});
      resolve(connection);
    });
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
}

async function tlsOptions(address: DatabaseAddress): Promise<SslOptions | undefined> {
  const files = await readTls(address);
  if (files === undefined) return undefined;
  const verifyIdentity = address.tls.mode === 'verify-full';
  // mysql2 would compare the certificate of a server without a name with `localhost`.
  const { host = '' } = address.server ?? {};
  if (verifyIdentity && isIP(host) !== 0)
    throw new Fault('database/unreachable', `The certificate of ${host} cannot be checked against an address`, {
      place: { input: address.name },
      hint: 'Name the host as its certificate does, or use sslMode=VERIFY_CA',
    });
  return { ...files, verifyIdentity };
}
