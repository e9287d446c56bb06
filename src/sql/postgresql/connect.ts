/** Connects to a PostgreSQL server: host, TLS, login, and the cancel request. */
import { Socket } from 'node:net';
import { userInfo } from 'node:os';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { Fault } from '../../core/fault.ts';
import { lookupWithin, type Reach } from '../../core/reach/reach.ts';
import type { DatabaseAddress, SessionOptions } from '../database.ts';
import { credentialsFault } from '../faults.ts';
import { connectHost, type Host, readTls } from '../jdbc/connect.ts';
import { faultOf, isAnswer, NO_TLS, type PostgresError, unreachableReason } from './faults.ts';
import type { Wire } from './statement.ts';

/** An open connection, and a function that cancels its statement. */
export interface Connected {
  readonly client: pg.Client;
  readonly wire: Wire;
  /** Resolves when the server has received the request. @throws system errors */
  cancel(timeoutMs: number): Promise<void>;
}

export interface ConnectOptions extends Pick<SessionOptions, 'signal' | 'connectSeconds' | 'reach'> {
  /** `replication`: the server takes commands of the replication protocol, and simple queries. */
  readonly mode?: 'replication';
}

/** @throws Fault those of `OpenSession` */
export async function connect(address: DatabaseAddress, { signal, connectSeconds, reach, mode }: ConnectOptions): Promise<Connected> {
  const { connectTimeout = '0', loginTimeout = '0' } = address.parameters;
  const limits = [connectSeconds, Number(connectTimeout), Number(loginTimeout)].filter((seconds) => seconds > 0);
  const timeoutMs = limits.length === 0 ? 0 : Math.min(...limits, 2 ** 31 / 1000 - 1) * 1000;
  const tls = await tlsOptions(address);
  const attempt = (host: Host): Promise<Connected> => connectWithTls(address, { ...host, reach, mode }, tls, timeoutMs, signal);
  return connectHost(address, attempt, { faultOf: (error) => answerOf(error, address), reasonOf: unreachableReason }, signal);
}

/** A host, and what its name may lead to. */
interface Reached extends Host {
  readonly reach: Reach | undefined;
  readonly mode?: ConnectOptions['mode'];
}

/** pg's messages if the server requires a password and there is none, or an unusable one. */
const isLogin = (error: unknown): boolean => /^SASL: .*password/.test((error as PostgresError).message);

function answerOf(error: unknown, address: DatabaseAddress): Fault | undefined {
  if (isLogin(error)) return credentialsFault();
  return isAnswer(error) ? faultOf(error, { address, statementSeconds: 0 }) : undefined;
}

async function connectWithTls(
  address: DatabaseAddress,
  host: Reached,
  tls: ConnectionOptions | undefined,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Connected> {
  try {
    return await login(address, host, tls, timeoutMs, signal);
  } catch (error) {
    if (address.tls.mode !== 'prefer' || signal?.aborted || !mayWorkWithoutTls(error as PostgresError)) throw error;
    return login(address, host, undefined, timeoutMs, signal);
  }
}

/** pg's message for an answer that is neither yes nor no. */
const TLS_ERROR = 'There was an error establishing an SSL connection';

/** No TLS, no common version of it, or (28000) no login over TLS for this user and host. */
const mayWorkWithoutTls = ({ message, code = '' }: PostgresError): boolean =>
  message === NO_TLS || message === TLS_ERROR || code === '28000' || code === 'EPROTO' || /^(?:ERR_SSL|ERR_TLS|CERT)_/.test(code);

async function login(
  address: DatabaseAddress,
  { host, port, reach, mode }: Reached,
  tls: ConnectionOptions | undefined,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Connected> {
  const user = address.user ?? userInfo().username;
  // The login is complete: pg would take missing parts from the environment and ~/.pgpass, even for a server chosen by an untrusted user.
  const config = {
    host,
    port,
    user,
    password: () => address.password?.reveal() ?? '',
    database: address.database ?? user,
    ssl: tls ?? false,
    ...streamWithin(reach),
    ...(mode === 'replication' ? { replication: 'database' } : {}),
    sslnegotiation: 'postgres',
    application_name: address.parameters.ApplicationName || 'quadmill',
    keepAlive: address.parameters.tcpKeepAlive !== 'false',
    connectionTimeoutMillis: timeoutMs,
    types: { getTypeParser: () => (text: string) => text },
  };
  const client = new pg.Client(config as pg.ClientConfig);
  // `stream` is replaced when TLS begins.
  const wire = (client as unknown as { readonly connection: Wire }).connection;
  // A late error must find a listener.
  client.on('error', () => {});
  const abort = (): void => void wire.stream.destroy(new Error('cancelled'));
  signal?.addEventListener('abort', abort);
  try {
    if (signal?.aborted) throw new Error('cancelled');
    await client.connect();
  } catch (error) {
    wire.stream.destroy();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  return { client, wire, cancel: (limit) => cancel(client, { host, port, reach }, tls, limit) };
}

/** Members of pg connections before login that its types lack. */
interface Unstarted {
  readonly stream: Socket;
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  on(event: 'connect' | 'sslconnect' | 'end', listener: () => void): void;
  on(event: 'error', listener: (error: unknown) => void): void;
}

/** The server closes the connection after it has signalled the process that executes the statement. */
function cancel(client: pg.Client, { host, port, reach }: Reached, tls: ConnectionOptions | undefined, timeoutMs: number): Promise<void> {
  const { processID, secretKey } = client as unknown as { readonly processID: number; readonly secretKey: number };
  return new Promise((resolve, reject) => {
    const config = { ssl: tls ?? false, ...streamWithin(reach) } as pg.ConnectionConfig;
    const connection = new pg.Connection(config) as unknown as Unstarted;
    const timer = setTimeout(() => connection.stream.destroy(new Error('timeout expired')), timeoutMs);
    connection.on('error', (error) => {
      clearTimeout(timer);
      connection.stream.destroy();
      reject(error);
    });
    connection.on('end', () => {
      clearTimeout(timer);
      resolve();
    });
    const send = (): void => connection.cancel(processID, secretKey);
    connection.on('connect', () => (tls === undefined ? send() : connection.requestSsl()));
    connection.on('sslconnect', send);
    connection.connect(port, host);
  });
}

/** Connects to the addresses that were checked: pg gives no place for a lookup. */
class SocketWithin extends Socket {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    super();
    this.#reach = reach;
  }

  override connect(...given: unknown[]): this {
    const [port, host] = given as [number, string];
    const lookup = lookupWithin(this.#reach, host, port);
    return super.connect({ port, host, ...(lookup === undefined ? {} : { lookup }) });
  }
}

const streamWithin = (reach: Reach | undefined) => (reach === undefined ? {} : { stream: () => new SocketWithin(reach) });

async function tlsOptions(address: DatabaseAddress): Promise<ConnectionOptions | undefined> {
  const files = await readTls(address);
  return files && address.tls.mode === 'verify-ca' ? { ...files, checkServerIdentity: () => undefined } : files;
}
