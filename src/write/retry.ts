/**
 * Waiting for a store that cannot take statements just now: exponential back-off with full jitter, as long as the policy allows.
 *
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../core/fault.ts';
import { TargetBusy } from '../targets/target.ts';
import type { WriteHooks } from './request.ts';

const FIRST_MS = 200;
const MOST_MS = 5_000;
const LASTING_MS = 1_000;

/** One for all requests of a run: a success of any of them shows that the store is there. */
export interface RetryPolicy {
  /** How often something was tried again. */
  readonly retries: number;
  /**
   * What `act` gives, tried again while it throws target/busy or target/unreachable. Resolves to undefined in place of the next try where
   * `instead` says, after the wait, that another way is better.
   *
   * @throws Fault what `act` throws, once there was no success for the whole time; the signal's reason, at once
   */
  attempt<T>(act: (signal: AbortSignal) => Promise<T>, instead?: (fault: Fault) => boolean): Promise<T | undefined>;
}

/** @param notify see `WriteHooks.waiting` */
export function openRetryPolicy(seconds: number, signal: AbortSignal, notify: WriteHooks['waiting'] = () => undefined): RetryPolicy {
  let retries = 0;
  /** Of the first failure since the last success. */
  let failingSince: number | undefined;

  async function wait(fault: Fault, failures: number): Promise<void> {
    const now = performance.now();
    failingSince ??= now;
    const leftMs = seconds * 1000 - (now - failingSince);
    const asked = fault instanceof TargetBusy ? (fault.retryAfterMs ?? 0) : 0;
    if (leftMs <= 0 || asked > leftMs) throw retriesExhausted(fault, seconds, asked > Math.max(leftMs, 0) ? asked : undefined);
    const jitter = Math.random() * Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 20));
    const milliseconds = Math.min(asked + jitter, leftMs);
    notify({ reason: fault, lasting: now - failingSince + milliseconds >= LASTING_MS });
    await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    retries++;
  }

  return {
    get retries() {
      return retries;
    },
    async attempt(act, instead) {
      for (let failures = 0; ; failures++) {
        try {
          const result = await unlessAborted(act(signal), signal);
          if (failingSince !== undefined) notify(undefined);
          failingSince = undefined;
          return result;
        } catch (error) {
          signal.throwIfAborted();
          if (!isTransient(error)) throw error;
          const another = instead?.(error) ?? false;
          await wait(error, failures);
          if (another) return undefined;
        }
      }
    },
  };
}

const isTransient = (error: unknown): error is Fault =>
  error instanceof Fault && (error.code === 'target/busy' || error.code === 'target/unreachable');

/** `act` without its own signal would keep a run that is over. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function retriesExhausted(fault: Fault, seconds: number, askedMs: number | undefined): Fault {
  const waited =
    seconds === 0
      ? 'The run does not wait for the store (TRIPLESTORE_PATIENCE_SECONDS)'
      : `The run waits ${seconds} s for the store (TRIPLESTORE_PATIENCE_SECONDS)`;
  const asked = askedMs === undefined ? '' : `, which asks for ${Math.ceil(askedMs / 1000)} s`;
  return fault.with({ hint: `${waited}${asked}${fault.hint === undefined ? '' : `. ${fault.hint}`}` });
}
