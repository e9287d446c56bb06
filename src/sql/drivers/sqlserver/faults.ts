/** Maps errors of SQL Server and of its driver to faults. */
import { Fault, type FaultCode } from '../../../core/fault.ts';
import type { DatabaseAddress } from '../../database.ts';
import { BUSY, busyFault, credentialsFault, type FaultContext, lostFault, queryFault, timeLimitFault } from '../../faults.ts';
import { systemReason } from '../../jdbc/connect.ts';

/** What tedious throws: an error of the server has a number, one of the connection a code. */
export interface DriverError extends Error {
  readonly number?: number;
  readonly lineNumber?: number;
  readonly code?: string;
}

/** By the server's error number. @see https://learn.microsoft.com/en-us/sql/relational-databases/errors-events/database-engine-events-and-errors */
const CODES: Readonly<Record<number, FaultCode>> = {
  18456: 'database/credentials',
  18452: 'database/credentials',
  18470: 'database/credentials',
  18486: 'database/credentials',
  18487: 'database/credentials',
  18488: 'database/credentials',
  4060: 'database/missing',
  4063: 'database/missing',
  911: 'database/missing',
  916: 'database/missing',
  1205: 'database/busy',
  1222: 'database/busy',
  3960: 'database/busy',
  3961: 'database/busy',
  701: 'database/busy',
  802: 'database/busy',
  8645: 'database/busy',
  8651: 'database/busy',
  10928: 'database/busy',
  10929: 'database/busy',
  17809: 'database/busy',
  18451: 'database/busy',
  40197: 'database/busy',
  40501: 'database/busy',
  40613: 'database/busy',
  49918: 'database/busy',
  49919: 'database/busy',
  49920: 'database/busy',
  6005: 'database/lost',
};

const BUSY_MESSAGES: Readonly<Record<number, string>> = {
  1205: BUSY.deadlock,
  1222: BUSY.lock,
  3961: 'The definition of a table was changed after the session had begun: its earlier state cannot be read',
};

const HINTS: Readonly<Record<number, string>> = {
  1033: 'Leave ORDER BY out, or write OFFSET 0 ROWS behind it',
  3952: 'Allow it there (ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION ON), or read that database by its own URL',
  8155: 'Give each column of the query a name, with AS',
};

/** The fault for an error of a connection. */
export function faultOf(error: unknown, context: FaultContext): Fault {
  if (error instanceof Fault) return error;
  const { address } = context;
  const cause = error as DriverError;
  const number = cause.number ?? 0;
  const code = codeOf(cause);
  switch (code) {
    case 'database/credentials':
      return credentialsFault();
    case 'database/missing':
      return new Fault(code, missing(cause, address), { place: { input: address.name } });
    case 'database/busy':
      return busyFault(BUSY_MESSAGES[number], cause.message, context, cause);
    case 'database/time-limit':
      return timeLimitFault(context, cause);
    case 'database/lost':
      return lostFault(cause.message.replace(/\.$/, ''), context, cause);
    default:
      return queryFault(queryMessage(cause, context.sql), address, HINTS[number], cause);
  }
}

function codeOf(error: DriverError): FaultCode {
  if (isAnswer(error)) return CODES[error.number as number] ?? 'database/query';
  if (error.code === 'ELOGIN') return 'database/credentials';
  return error.code === 'ETIMEOUT' ? 'database/time-limit' : 'database/lost';
}

function missing({ number, message }: DriverError, { database }: DatabaseAddress): string {
  const name = /"([^"]*)"|'([^']*)'/.exec(message);
  const shown = name?.[1] ?? name?.[2] ?? database ?? '';
  return number === 911
    ? `The server has no database ${shown}`
    : `The server has no database ${shown}, or the user may not use it: ${message.split('\n')[0]}`;
}

function queryMessage({ message, lineNumber = 0, number }: DriverError, sql: string | undefined): string {
  const text = message.replace(/\.$/, '');
  return sql === undefined || lineNumber < 1 || number === undefined ? text : `${text}, at line ${lineNumber} of the query`;
}

/** Why a host was not reachable, in a few words. */
export function unreachableReason(error: unknown): string {
  const { code, message, cause } = error as DriverError;
  if (code === 'ETIMEOUT') return 'no answer in time';
  if (code === 'EINSTLOOKUP') return `the SQL Server Browser (UDP port 1434) does not report the port: ${message}`;
  if (code === 'EENCRYPT') return 'the server takes no connections without TLS: write encrypt=true';
  // All addresses of a host were tried.
  const inner = (cause instanceof AggregateError ? cause.errors[0] : cause) as NodeJS.ErrnoException | undefined;
  return inner?.code === undefined ? systemReason(error) : `${systemReason(inner)}${TLS_ERROR.test(inner.code) ? TLS_HINT : ''}`;
}

const TLS_ERROR = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL)/;
const TLS_HINT = ' (trustServerCertificate=true does not check the certificate, serverCertificate names a PEM file)';

/** An error of the server. */
export const isAnswer = (error: unknown): boolean => (error as DriverError).number !== undefined;
