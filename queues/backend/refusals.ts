/** What a queue says that is there and takes no writes: full, or read-only. It counts as away. Changes that wait until it is back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/core/fault.ts';

interface Refusal {
  readonly says: RegExp;
  readonly why: string;
  /** What a person does about it. */
  readonly remedy: string;
}

/** Scripts put the code of Redis anywhere into their message; a client of a cluster, too. */
const REDIS: readonly Refusal[] = [
  {
    says: /\bOOM command not allowed/,
    why: 'Redis has used its memory (maxmemory)',
    remedy: 'Give Redis more memory, or remove other data from it',
  },
  {
    says: /\bMISCONF /,
    why: 'Redis cannot save its data, so it takes no writes (stop-writes-on-bgsave-error)',
    remedy: 'See the log of Redis, usually its disk is full',
  },
  {
    says: /\bREADONLY /,
    why: 'Redis is a read-only replica',
    remedy: 'Make this server the master, or name the master in QUEUE_URL',
  },
  {
    says: /\bNOREPLICAS /,
    why: 'Redis has too few replicas (min-replicas-to-write)',
    remedy: 'Start its replicas',
  },
  { says: /\bLOADING /, why: 'Redis is reading its data', remedy: 'Wait until it is done' },
];

/** By SQLSTATE. @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const POSTGRESQL: Readonly<Record<string, Omit<Refusal, 'says'>>> = {
  '25006': {
    why: 'PostgreSQL is read-only (a standby, or default_transaction_read_only)',
    remedy: 'Name the primary in QUEUE_URL, or end its read-only mode',
  },
  '53100': { why: 'The disk of PostgreSQL is full', remedy: 'Make room on it' },
  '53200': { why: 'PostgreSQL has no more memory', remedy: 'See the log of PostgreSQL' },
};

/** What follows the remedy, once a process runs and at its start, which ends. */
export const WHILE_RUNNING = 'Quadmill goes on by itself then';
export const AT_START = 'Start Quadmill again then';

/** undefined: another error. @param afterwards what follows the remedy */
export function queueRefusal(error: unknown, afterwards: string = WHILE_RUNNING): Fault | undefined {
  if (error instanceof Fault || !(error instanceof Error)) return undefined;
  const { code, message, cause, lastNodeError } = error as Error & { readonly code?: unknown; readonly lastNodeError?: unknown };
  const found = REDIS.find(({ says }) => says.test(message)) ?? (typeof code === 'string' ? POSTGRESQL[code] : undefined);
  if (found === undefined) return queueRefusal(lastNodeError ?? cause, afterwards);
  return new Fault('service/unavailable', `The queue takes no writes: ${found.why}`, {
    hint: `${found.remedy}. ${afterwards}`,
    cause: error,
  });
}

const RETRY_MS = 500;

/** What clients say whose connection is broken, or cannot be made: codes of Node, names and messages of ioredis and pg. */
const BROKEN =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|57P0[123]|08\d{3}|53300)$|MaxRetriesPerRequest|ClusterAllFailed|Connection is closed|isn't write?able|isn't ready|sentinels are unreachable|Connection terminated|exceeded when trying to connect|connection error and is not queryable/;

/** Whether the queue has not answered, or takes no writes. After a broken connection it may have done what it was asked. */
function isAway(error: unknown): boolean {
  if (queueRefusal(error) !== undefined) return true;
  if (error instanceof Fault || !(error instanceof Error)) return false;
  const { code, name, message } = error as Error & { readonly code?: unknown };
  return [code, name, message].some((text) => typeof text === 'string' && BROKEN.test(text));
}

/**
 * Repeats a change that may be made twice until the queue is there and takes writes. @throws any other error; the last one, once `signal` is
 * aborted
 */
export async function whileAway<T>(signal: AbortSignal, change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      if (!isAway(error) || signal.aborted) throw error;
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
