/** Maps errors of MySQL, MariaDB and connections to faults. */
import { Fault, type FaultCode } from '../../core/fault.ts';
import type { DatabaseAddress } from '../database.ts';

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

const BUSY: Readonly<Record<number, string>> = {
  1205: 'A lock was waited for longer than the limit: another connection holds it',
  1213: 'The server ended the statement to resolve a deadlock',
  1412: 'A table was changed after the session had begun, whose state of the data it has no longer',
};

const HINTS: Readonly<Record<number, string>> = {
  1060: 'Give the columns names of their own with AS',
  1298: 'A server without tables of time zones knows offsets alone, such as +02:00',
};

export interface Context {
  readonly address: DatabaseAddress;
  /** The statement as its author wrote it; undefined: an internal statement. */
  readonly sql?: string;
  readonly statementSeconds: number;
}

/** The fault for an error of a connection. */
export function faultOf(error: unknown, { address, sql, statementSeconds }: Context): Fault {
  if (error instanceof Fault) return error;
  const cause = error as MysqlError;
  const place = { input: address.name };
  const code = codeOf(cause);
  switch (code) {
    case 'database/credentials':
      return new Fault(code, 'Invalid Database Credentials');
    case 'database/missing':
      return new Fault(code, missing(cause, address), { place });
    case 'database/busy':
      return new Fault(code, BUSY[cause.errno as number] ?? `The server has no place: ${cause.message}`, { place, cause });
    case 'database/time-limit': {
      const hint = 'A shorter query, or a higher limit for statements, may help';
      return new Fault(code, `The query takes longer than its limit${statementSeconds > 0 ? ` of ${statementSeconds} s` : ''}`, {
        place,
        hint,
        cause,
      });
    }
    case 'database/lost':
      return new Fault(code, `The connection to the database broke: ${cause.message.replace(/\.$/, '')}`, { place, cause });
    default: {
      const hint = HINTS[cause.errno as number];
      return new Fault('database/query', queryMessage(cause, sql), { place, cause, ...(hint === undefined ? {} : { hint }) });
    }
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
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'no such host';
    case 'ETIMEDOUT':
      return 'no answer in time';
    case 'HANDSHAKE_NO_SSL_SUPPORT':
      return 'the server does not offer TLS';
    case 'HANDSHAKE_SSL_ERROR':
      return `TLS failed: ${message}`;
    default:
      return message || code || 'no reason given';
  }
}

/** An error of the server. System errors have negative numbers, those of mysql2 itself none. */
export const isAnswer = (error: unknown): boolean => ((error as MysqlError).errno ?? 0) >= 1000;
