/** Asking a server again: after the time that it names, else with exponential back-off and jitter. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../core/fault.ts';

const FIRST_MS = 200;
const MOST_MS = 30_000;

export interface Patience {
  /** How often a request is repeated. */
  readonly retries: number;
  /** The longest time that a server may ask to wait. */
  readonly waitSeconds: number;
}

/** source/unreadable that another request may not have. */
export class TransientFault extends Fault {
  /** The server asks to wait so long. */
  readonly waitMs: number | undefined;

  constructor(message: string, options: ConstructorParameters<typeof Fault>[2], waitMs: number | undefined) {
    super('source/unreadable', message, options);
    this.waitMs = waitMs;
  }
}

/** What `attempt` gives, repeated while it throws a `TransientFault`. */
export async function withRetries<T>(attempt: () => Promise<T>, patience: Patience, signal: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      await pause(error, failures, patience, signal);
    }
  }
}

/**
 * Waits before the next attempt.
 *
 * @param failures so far
 * @throws `error` — it is not transient, or was the last one; source/unreadable — the server asks for more time than it gets
 */
export async function pause(error: unknown, failures: number, { retries, waitSeconds }: Patience, signal: AbortSignal): Promise<void> {
  if (!(error instanceof TransientFault) || failures > retries || signal.aborted) throw error;
  const { waitMs } = error;
  if (waitMs !== undefined && waitMs > waitSeconds * 1000) {
    const hint = `The server asks to wait ${Math.ceil(waitMs / 1000)} s, and SOURCE_WAIT_SECONDS allows ${waitSeconds} s`;
    throw error.with({ hint });
  }
  const most = Math.min(MOST_MS, FIRST_MS * 2 ** (failures - 1));
  // Half of it is jitter, so that clients which failed together do not come back together.
  await sleep(Math.max(waitMs ?? 0, most / 2 + (Math.random() * most) / 2), undefined, { signal });
}

/** Headers of an answer, by name in lower case. */
export interface Headers {
  get(name: string): string | null;
}

/**
 * How long a server wants to be left alone. undefined: it does not say.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after and https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export function retryAfterMs(headers: Headers, now = Date.now()): number | undefined {
  const after = headers.get('retry-after')?.trim();
  if (after !== undefined && /^\d+$/.test(after)) return Number(after) * 1000;
  const date = after === undefined ? Number.NaN : Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  if (!isUsedUp(headers)) return undefined;
  const [, seconds] = /(?:^|[;,\s])t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  const reset = Number(seconds ?? headers.get('ratelimit-reset') ?? headers.get('x-ratelimit-reset') ?? Number.NaN);
  if (!Number.isFinite(reset)) return undefined;
  // Some servers give the time of the reset, in seconds since 1970, others the seconds until then.
  return Math.max(0, reset > 1_000_000_000 ? reset * 1000 - now : reset * 1000);
}

/** Whether a server says that no request is left. */
export const isUsedUp = (headers: Headers): boolean =>
  /(?:^|[;,\s])r=0(?:$|[;,\s])/.test(headers.get('ratelimit') ?? '') ||
  ['ratelimit-remaining', 'x-ratelimit-remaining'].some((name) => headers.get(name)?.trim() === '0');
