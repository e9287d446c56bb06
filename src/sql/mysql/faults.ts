/** Maps errors of MySQL, MariaDB and connections to faults. */
import { Fault, type FaultCode } from '../../core/fault.ts';
import type { DatabaseAddress } from '../database.ts';
import { BUSY, busyFault, credentialsFault, type FaultContext, lostFault, queryFault, timeLimitFault } from '../faults.ts';
import { systemReason } from '../jdbc/connect.ts';

/** What mysql2 throws. */
export interface MysqlError extends Error {
  readonly code?: string;
  readonly errno?: number;
}

/** By the server's error number. @see https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const CODES: Readonly<Record<number, FaultCode>> = {
  1045: 'database/credentials',
  1698: 'database/credentials',
  1251: 'database/credentials',
  1044: 'database/missing',
  1049: 'database/missing',
  1040: 'database/busy',
  1203: 'database/busy',
  1226: 'database/busy',
  1205: 'database/busy',
  1213: 'database/busy',
  1412: 'database/busy',
  1461: 'database/busy',
  1969: 'database/time-limit',
  3024: 'database/time-limit',
  1053: 'database/lost',
  1077: 'database/lost',
  1079: 'database/lost',
  1080: 'database/lost',
  1152: 'database/lost',
  1184: 'database/lost',
  1927: 'database/lost',
  4031: 'database/lost',
};

const BUSY_MESSAGES: Readonly<Record<number, string>> = {
  1205: BUSY.lock,
  1213: BUSY.deadlock,
  1412: 'The definition of a table was changed after the session had begun: its earlier state cannot be read',
};

const HINTS: Readonly<Record<number, string>> = {
  1060: 'Give each column a distinct name with AS',
  1298: 'A server without tables of time zones knows offsets alone, such as +02:00',
};

/** The fault for an error of a connection. */
export function faultOf(error: unknown, context: FaultContext): Fault {
  if (error instanceof Fault) return error;
  const { address, sql } = context;
  const cause = error as MysqlError;
  const code = codeOf(cause);
  switch (code) {
    case 'database/credentials':
      return credentialsFault();
    case 'database/missing':
      return new Fault(code, missing(cause, address), { place: { input: address.name } });
    case 'database/busy':
      return busyFault(BUSY_MESSAGES[cause.errno as number], cause.message, context, cause);
    case 'database/time-limit':
      return timeLimitFault(context, cause);
    case 'database/lost':
      return lostFault(cause.message.replace(/\.$/, ''), context, cause);
    default:
      return queryFault(queryMessage(cause, sql), address, HINTS[cause.errno as number], cause);
  }
}

const codeOf = (error: MysqlError): FaultCode => (isAnswer(error) ? (CODES[error.errno as number] ?? 'database/query') : 'database/lost');

function missing({ errno, message }: MysqlError, { database }: DatabaseAddress): string {
  const name = /'([^']*)'$/.exec(message)?.[1] ?? database ?? '';
  return errno === 1044 ? `The login is right, but the user may not use the database ${name}` : `The server has no database ${name}`;
}

const SYNTAX = /^You have an error in your SQL syntax;.*? near '([\s\S]*)' at line (\d+)$/;

function queryMessage({ errno, message }: MysqlError, sql: string | undefined): string {
  const [, near, line] = SYNTAX.exec(message) ?? [];
  if (sql !== undefined && near !== undefined && line !== undefined) {
    const column = columnOf(sql, near, Number(line));
    const place = `at line ${line}${column === undefined ? '' : `, column ${column}`} of the query`;
    return `The query has a syntax error ${place}${near === '' ? ': it ends too early' : `, near ${JSON.stringify(near)}`}`;
  }
  return errno === 1317 ? `The server ended the query: ${message}` : message;
}

/** Maximum length of the excerpt in the server's message. */
const SHOWN = 80;

/** 1-based, in characters; undefined: the excerpt is not in the text (it had a comment with a version number). */
function columnOf(sql: string, near: string, line: number): number | undefined {
  let start = 0;
  for (let i = 1; i < line; i++) start = sql.indexOf('\n', start) + 1;
  const end = sql.indexOf('\n', start);
  const rest = near.length < SHOWN && sql.endsWith(near);
  const at = rest ? sql.length - near.length : sql.indexOf(near, start);
  return at < start || (end !== -1 && at > end) ? undefined : [...sql.slice(start, at)].length + 1;
}

/** Why a host was not reachable, in a few words. */
export function unreachableReason(error: unknown): string {
  const { code, message } = error as MysqlError;
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') return 'the server does not offer TLS';
  return code === 'HANDSHAKE_SSL_ERROR' ? `TLS failed: ${message}` : systemReason(error);
}

/** An error of the server. System errors have negative numbers, those of mysql2 itself none. */
export const isAnswer = (error: unknown): boolean => ((error as MysqlError).errno ?? 0) >= 1000;
