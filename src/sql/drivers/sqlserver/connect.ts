/** Connects to a SQL Server: the driver, hosts, TLS, login. */
import { createConnection as createSocket, type Socket } from 'node:net';
import type { Connection, ConnectionConfiguration } from 'tedious';
import { excerpt, Fault } from '../../../core/fault.ts';
import { isOpen, lookupWithin, type Reach } from '../../../core/reach/reach.ts';
import type { DatabaseAddress, SessionOptions } from '../../database.ts';
import { loadPackage } from '../../faults.ts';
import { connectHost, type Host, readTls, type TlsFiles } from '../../jdbc/connect.ts';
import { type DriverError, faultOf, isAnswer, unreachableReason } from './faults.ts';
import type { Tedious } from './rows.ts';

/** Time for a cancelled statement to end, before the driver closes its connection. */
const CANCEL_LIMIT_MS = 3_000;

/** Where the SQL Server Browser of a host reports the ports of its instances, by UDP. */
const BROWSER_PORT = 1434;

/** The driver. @throws Fault database/driver — it is not installed */
export const loadDriver = (load: () => Promise<unknown> = () => import('tedious')): Promise<Tedious> =>
  loadPackage('SQL Server', 'tedious', load);

/** @throws Fault those of `OpenSession` */
export async function connect(
  tedious: Tedious,
  address: DatabaseAddress,
  { signal, connectSeconds, reach }: Pick<SessionOptions, 'signal' | 'connectSeconds' | 'reach'>,
): Promise<Connection> {
  const own = Number(address.parameters.loginTimeout ?? 0);
  const timeoutMs = Math.min(connectSeconds, own || Number.POSITIVE_INFINITY) * 1000;
  const tls = await readTls(address);
  const attempt = (host: Host): Promise<Connection> => login(tedious, configuration(address, host, tls, timeoutMs, reach), signal);
  const errorsOf = (error: unknown): Fault | undefined => {
    const refused = error instanceof Fault ? error : (error as Error).cause;
    if (refused instanceof Fault) return refused;
    return isAnswer(error) || (error as DriverError).code === 'ELOGIN' ? faultOf(error, { address, statementSeconds: 0 }) : undefined;
  };
  return connectHost(address, attempt, { faultOf: errorsOf, reasonOf: unreachableReason }, signal);
}

function configuration(
  { user, password, database, parameters }: DatabaseAddress,
  { host, port }: Host,
  tls: TlsFiles | undefined,
  timeoutMs: number,
  reach: Reach | undefined,
): ConnectionConfiguration {
  const { domain, instanceName, applicationName, applicationIntent, packetSize, hostNameInCertificate } = parameters;
  if (instanceName !== undefined && lookupWithin(reach, host, BROWSER_PORT) !== undefined)
    throw new Fault(
      'request/forbidden',
      `To find the port of the instance ${excerpt(instanceName)}, the run would ask ${host}, which is not an allowed host`,
      {
        hint: 'Name the port in place of instanceName, or add the host to ALLOWED_HOSTS',
      },
    );
  const login = { userName: user ?? '', password: password?.reveal() ?? '' };
  return {
    server: host,
    authentication: domain === undefined ? { type: 'default', options: login } : { type: 'ntlm', options: { ...login, domain } },
    options: {
      ...(instanceName === undefined ? { port } : { instanceName }),
      // Connects to addresses that were checked, also where the server sends its clients elsewhere, or reports the port of an instance.
      ...(isOpen(reach) ? {} : { connector: async (to: Host) => connected(socketWithin(reach, to)) }),
      ...(database === undefined ? {} : { database }),
      encrypt: tls !== undefined,
      trustServerCertificate: tls?.rejectUnauthorized === false,
      ...(tls?.ca === undefined ? {} : { cryptoCredentialsDetails: { ca: tls.ca } }),
      ...(hostNameInCertificate === undefined ? {} : { serverName: hostNameInCertificate }),
      appName: applicationName ?? 'Quadmill',
      readOnlyIntent: applicationIntent === 'ReadOnly',
      multiSubnetFailover: parameters.multiSubnetFailover === 'true',
      ...(packetSize === undefined ? {} : { packetSize: Number(packetSize) }),
      connectTimeout: timeoutMs,
      // The session has its own limits, which do not count the time of a slow reader.
      requestTimeout: 0,
      cancelTimeout: CANCEL_LIMIT_MS,
      maxRetriesOnTransientErrors: 0,
      useUTC: true,
      language: 'us_english',
      dateFormat: 'ymd',
      textsize: 2_147_483_647,
    },
  } as ConnectionConfiguration;
}

/** @throws Fault request/forbidden */
function socketWithin(reach: Reach | undefined, { host, port }: Host): Socket {
  const lookup = lookupWithin(reach, host, port);
  return createSocket({ host, port, ...(lookup === undefined ? {} : { lookup }) });
}

const connected = (socket: Socket): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });

function login(tedious: Tedious, configuration: ConnectionConfiguration, signal: AbortSignal | undefined): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const connection = new tedious.Connection(configuration);
    /** The driver keeps the last message of the server alone, and not its number. */
    const answers: { readonly number: number; readonly message: string }[] = [];
    const abort = (): void => finish(new Error('cancelled'));
    const finish = (error: Error | undefined): void => {
      signal?.removeEventListener('abort', abort);
      connection.removeListener('errorMessage', answered);
      if (error === undefined) {
        resolve(connection);
        return;
      }
      connection.close();
      // "Login failed" follows the message that the database is missing, and any other reason.
      const answer = answers.find(({ number }) => number !== LOGIN_FAILED) ?? answers[0];
      reject(answer === undefined ? error : Object.assign(new Error(answer.message), { number: answer.number, cause: error }));
    };
    const answered = (answer: { readonly number: number; readonly message: string }): void => void answers.push(answer);
    connection.on('errorMessage', answered);
    // A later error must find a listener: it reaches the statement that runs as well.
    connection.on('error', () => {});
    connection.connect((error) => finish(error));
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
}

const LOGIN_FAILED = 18456;
