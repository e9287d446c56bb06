/** Maps errors of PostgreSQL and of connections to faults. */
import { Fault, type FaultCode } from '../../core/fault.ts';
import { BUSY, busyFault, credentialsFault, type FaultContext, lostFault, queryFault, timeLimitFault } from '../faults.ts';
import { systemReason } from '../jdbc/connect.ts';

/** An error thrown by pg: the server's answer (five-character SQLSTATE in `code`), or a system error, or an error of pg itself. */
export interface PostgresError extends Error {
  readonly code?: string;
  readonly severity?: string;
  readonly detail?: string;
  readonly hint?: string;
  /** 1-based, in characters of the statement. */
  readonly position?: string;
  readonly routine?: string;
}

/** By SQLSTATE, or by its class. @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CODES: Readonly<Record<string, FaultCode>> = {
  '28': 'database/credentials',
  '3D000': 'database/missing',
  '53': 'database/busy',
  '57P03': 'database/busy',
  '55P03': 'database/busy',
  '40': 'database/busy',
  '08': 'database/lost',
  '57P': 'database/lost',
  '25P03': 'database/lost',
  '25P04': 'database/time-limit',
};

const BUSY_MESSAGES: Readonly<Record<string, string>> = {
  '55P03': BUSY.lock,
  '40P01': BUSY.deadlock,
};

export interface Context extends FaultContext {
  /** Number of characters that were prepended to `sql`. */
  readonly offset?: number;
  /** The statement was cancelled because of its time limit. */
  readonly timedOut?: boolean;
}

/** The fault for an error of a connection. */
export function faultOf(error: unknown, context: Context): Fault {
  if (error instanceof Fault) return error;
  const { address } = context;
  const cause = error as PostgresError;
  const code = context.timedOut === true ? 'database/time-limit' : codeOf(cause);
  switch (code) {
    case 'database/credentials':
      return credentialsFault();
    case 'database/missing':
      return new Fault(code, `The server has no database ${address.database ?? address.user ?? ''}`, { place: { input: address.name } });
    case 'database/busy':
      return busyFault(BUSY_MESSAGES[cause.code as string], withDetail(cause), context, cause);
    case 'database/time-limit':
      return timeLimitFault(context, cause);
    case 'database/lost':
      return lostFault(cause.message, context, cause);
    default:
      return queryFault(queryMessage(cause, context), address, cause.hint, cause);
  }
}

function codeOf(error: PostgresError): FaultCode {
  const { code, severity } = error;
  if (!isAnswer(error) || code === undefined) return 'database/lost';
  if (code === '57014') return /timeout/i.test(error.message) ? 'database/time-limit' : 'database/query';
  const known = CODES[code] ?? CODES[code.slice(0, 3)] ?? CODES[code.slice(0, 2)];
  // After a FATAL error the server closes the connection, whatever the cause.
  return known ?? (severity === 'FATAL' || severity === 'PANIC' ? 'database/lost' : 'database/query');
}

const withDetail = ({ message, detail }: PostgresError): string => (detail ? `${message} (${detail})` : message);

function queryMessage(error: PostgresError, { sql, offset = 0 }: Context): string {
  if (error.routine === 'exec_parse_message' && error.code === '42601')
    return 'The text has more than one statement; expected is one query';
  if (error.code === '57014') return `The server ended the query: ${error.message}`;
  const position = Number(error.position ?? 0) - offset;
  if (sql === undefined || position < 1) return withDetail(error);
  return `${withDetail(error)}, at ${placeIn(sql, position)} of the query`;
}

/** @param position 1-based, in characters; past the end if more text was expected */
function placeIn(sql: string, position: number): string {
  const characters = [...sql];
  if (position > characters.length) return 'the end';
  const lines = characters
    .slice(0, position - 1)
    .join('')
    .split('\n');
  return `line ${lines.length}, column ${[...(lines.at(-1) as string)].length + 1}`;
}

/** Why a host was not reachable, in a few words. */
export function unreachableReason(error: unknown): string {
  const { message } = error as PostgresError;
  if (message === 'timeout expired') return 'no answer in time';
  return message === NO_TLS ? 'the server does not offer TLS' : systemReason(error);
}

/** pg's message. */
export const NO_TLS = 'The server does not support SSL connections';

/** An error of the server: system errors have codes too, but no severity. */
export const isAnswer = (error: unknown): boolean => (error as PostgresError).severity !== undefined;
