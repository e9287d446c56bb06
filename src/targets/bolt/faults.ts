/** Maps errors of Bolt servers and of connections to faults. */
import { Neo4jError } from 'neo4j-driver';
import { Fault } from '../../core/fault.ts';
import { redact } from '../../core/redact.ts';
import { type TargetAddress, TargetBusy } from '../target.ts';

/** Codes after `Neo.ClientError.`; the longest matching prefix decides. Any other code is `refused`. */
const CLIENT_ERRORS: Readonly<Record<string, 'credentials' | 'read-only' | 'busy' | 'missing'>> = {
  Security: 'credentials',
  'Security.Forbidden': 'read-only',
  'General.WriteOnReadOnlyAccessDatabase': 'read-only',
  'General.ForbiddenOnReadOnlyDatabase': 'read-only',
  'General.ReadOnly': 'read-only',
  'Statement.AccessMode': 'read-only',
  'Cluster.NotALeader': 'read-only',
  'Database.DatabaseNotFound': 'missing',
  // A concurrent transaction has removed a node without statements between two of our steps.
  'Statement.EntityNotFound': 'busy',
  'Transaction.TransactionTimedOut': 'busy',
  'Transaction.TransactionTimedOutClientConfiguration': 'busy',
  'Transaction.LockClientStopped': 'busy',
  'Transaction.Terminated': 'busy',
  'Transaction.TransactionMarkedAsFailed': 'busy',
};

/** The server is not reachable, or the session has ended. */
export const isLost = (error: unknown): boolean =>
  error instanceof Neo4jError && (error.code === 'ServiceUnavailable' || error.code === 'SessionExpired');

const OUT_OF_MEMORY =
  /^Neo\.TransientError\.General\.(?:MemoryPoolOutOfMemoryError|TransactionMemoryLimit|TransactionOutOfMemoryError|OutOfMemoryError)$/;

/** The server lacks the memory for a transaction of this size. */
export const isOutOfMemory = (fault: unknown): boolean =>
  fault instanceof TargetBusy && fault.cause instanceof Neo4jError && OUT_OF_MEMORY.test(fault.cause.code);

const REMOVED_MEANWHILE = /still has relationships/i;
const TOO_LARGE = /too large to index/i;

/** The fault for an error of the driver; other errors are returned unchanged. */
export function faultOfBolt(
  error: unknown,
  name: string,
  { connectSeconds, database }: Pick<TargetAddress, 'connectSeconds' | 'database'>,
): unknown {
  if (!(error instanceof Neo4jError)) return error;
  const { code } = error;
  const message = redact(error.message);
  if (isLost(error)) return unreachable(message, name, connectSeconds, error);
  if (TOO_LARGE.test(message)) return refused(message, error);
  if (code.startsWith('Neo.TransientError.')) return new TargetBusy(`${name} has no time: ${message}`, undefined, error);
  if (code.startsWith('Neo.DatabaseError.')) return new TargetBusy(`${name} failed: ${message}`, undefined, error);
  if (!code.startsWith('Neo.ClientError.'))
    return new Fault('target/unreachable', `${name} does not speak as expected: ${message}`, { cause: error });
  const short = code.slice('Neo.ClientError.'.length);
  switch (CLIENT_ERRORS[short] ?? CLIENT_ERRORS[short.split('.')[0] as string]) {
    case 'credentials':
      return new Fault('target/credentials', `${name} refuses the login: ${message}`, {
        hint: 'Check TRIPLESTORE_USERNAME and TRIPLESTORE_PASSWORD, and that this user may write there',
        cause: error,
      });
    case 'read-only':
      return new Fault('target/read-only', `${name} takes no statements: ${message}`, {
        hint: 'Name a server that takes writes (of a cluster by neo4j://), or let this user write',
        cause: error,
      });
    case 'missing':
      return new Fault('config/invalid', `${name} has no database ${database ?? ''}: ${message}`, {
        hint: 'Check TRIPLESTORE_DATABASE',
        cause: error,
      });
    case 'busy':
      return new TargetBusy(`${name} has ended the transaction: ${message}`, undefined, error);
    case undefined:
      return REMOVED_MEANWHILE.test(message)
        ? new TargetBusy(`${name} has ended the transaction: ${message}`, undefined, error)
        : refused(message, error);
  }
}

const refused = (message: string, cause: unknown): Fault => new Fault('target/refused', message, { cause });

function unreachable(message: string, name: string, connectSeconds: number, cause: unknown): Fault {
  const reason = /ECONNREFUSED/.test(message)
    ? 'connection refused'
    : /ENOTFOUND|EAI_AGAIN/.test(message)
      ? 'no such host'
      : /Failed to establish connection in|timed out/.test(message)
        ? `no answer within ${connectSeconds} s`
        : message;
  const isTls = /certificate|TLS|SSL/i.test(message) && !/ECONN|ENOTFOUND/.test(message);
  return new Fault('target/unreachable', `${name} cannot be reached: ${reason}`, {
    ...(isTls ? { hint: 'Name the certificate of its authority with TRIPLESTORE_CA, and the host as the certificate does' } : {}),
    cause,
  });
}
