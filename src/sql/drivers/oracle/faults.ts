/** Maps errors of Oracle and of its driver to faults. */
import { Fault, type FaultCode } from '../../../core/fault.ts';
import type { DatabaseAddress } from '../../database.ts';
import { BUSY, busyFault, credentialsFault, type FaultContext, lostFault, queryFault, timeLimitFault } from '../../faults.ts';
import { systemReason } from '../../jdbc/connect.ts';

/** What oracledb throws: `ORA-00942` of the server, `NJS-500` of the driver. */
export interface DriverError extends Error {
  readonly code?: string;
  readonly errorNum?: number;
  /** Of a syntax error: 0-based, in characters. */
  readonly offset?: number;
}

const codes = (code: FaultCode, ...names: readonly string[]): readonly (readonly [string, FaultCode])[] =>
  names.map((name) => [name, code]);

/** @see https://docs.oracle.com/en/error-help/db/ */
const CODES: ReadonlyMap<string, FaultCode> = new Map([
  ...codes('database/credentials', 'ORA-01017', 'ORA-01005', 'ORA-01045', 'ORA-28000', 'ORA-28001', 'ORA-28007', 'NJS-101', 'ORA-01040'),
  ...codes('database/missing', 'ORA-12514', 'ORA-12505', 'NJS-517', 'NJS-518'),
  ...codes('database/busy', 'ORA-00018', 'ORA-00020', 'ORA-00054', 'ORA-00060', 'ORA-01033', 'ORA-01034', 'ORA-01089', 'ORA-01555'),
  ...codes('database/busy', 'ORA-04031', 'ORA-12516', 'ORA-12519', 'ORA-12520', 'ORA-30006', 'ORA-02391', 'ORA-08176', 'ORA-01466'),
  ...codes('database/time-limit', 'ORA-02394', 'ORA-00040', 'NJS-123', 'DPI-1067'),
  ...codes('database/lost', 'ORA-00028', 'ORA-01012', 'ORA-03113', 'ORA-03114', 'ORA-03135', 'ORA-12537', 'ORA-12547', 'ORA-12571'),
  ...codes('database/lost', 'ORA-02396', 'ORA-02399', 'NJS-003', 'NJS-500', 'NJS-501', 'NJS-521'),
]);

const BUSY_MESSAGES: Readonly<Record<string, string>> = {
  'ORA-00054': BUSY.lock,
  'ORA-30006': BUSY.lock,
  'ORA-00060': BUSY.deadlock,
  'ORA-01555': 'The server has dropped the state of the data that this session sees (undo retention)',
  'ORA-01466': 'The definition of a table was changed after the session had begun: its earlier state cannot be read',
};

/** The fault for an error of a connection. */
export function faultOf(error: unknown, context: FaultContext): Fault {
  if (error instanceof Fault) return error;
  const { address } = context;
  const cause = error as DriverError;
  const name = nameOf(cause);
  const code = CODES.get(name) ?? (name.startsWith('ORA-') || name.startsWith('NJS-') ? 'database/query' : 'database/lost');
  const text = cause.message.split('\n')[0]?.replace(/\.$/, '') ?? '';
  switch (code) {
    case 'database/credentials':
      return credentialsFault();
    case 'database/missing':
      return new Fault(code, missing(address), { place: { input: address.name }, cause });
    case 'database/busy':
      return busyFault(BUSY_MESSAGES[name], text, context, cause);
    case 'database/time-limit':
      return timeLimitFault(context, cause);
    case 'database/lost':
      return lostFault(text, context, cause);
    default:
      return queryFault(queryMessage(text, cause, context.sql), address, HINTS[name], cause);
  }
}

const HINTS: Readonly<Record<string, string>> = {
  'ORA-00933': 'A derived table has no AS before its name in Oracle',
  'ORA-00918': 'Give each column a distinct name with AS',
  'ORA-00942': 'An unquoted name is read in upper case',
  'ORA-00904': 'An unquoted name is read in upper case',
};

const missing = ({ database }: DatabaseAddress): string => `The server has no service or database ${database ?? ''}`;

/** `ORA-00942`: also where only the message has it. */
const nameOf = ({ code, message }: DriverError): string =>
  /^(?:ORA|NJS|DPI)-\d+/.exec(code ?? '')?.[0] ?? /\b(?:ORA|NJS|DPI)-\d+/.exec(message)?.[0] ?? '';

function queryMessage(text: string, { offset }: DriverError, sql: string | undefined): string {
  if (sql === undefined || offset === undefined || offset <= 0 || offset > sql.length) return text;
  const before = sql.slice(0, offset).split('\n');
  return `${text}, at line ${before.length}, column ${[...(before.at(-1) as string)].length + 1} of the query`;
}

/** Why a host was not reachable, in a few words. */
export function unreachableReason(error: unknown): string {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  const inner = cause as NodeJS.ErrnoException | undefined;
  return systemReason(inner?.code === undefined ? { code, message: message.split('\n')[0] } : inner);
}

/** An answer of the server, or of its listener. */
export const isAnswer = (error: unknown): boolean => {
  const name = nameOf(error as DriverError);
  return name.startsWith('ORA-') || CODES.get(name) === 'database/missing' || CODES.get(name) === 'database/credentials';
};
