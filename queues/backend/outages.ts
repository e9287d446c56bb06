/** What the log says about errors of a queue: one line when an outage begins and one when it is over, however many errors it causes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS } from '../../src/core/telemetry/observe.ts';
import { queueRefusal, WHILE_RUNNING } from './refusals.ts';

export interface QueueErrors {
  /** @param what what has met the error */
  report(error: Error, what: string): void;
  /** What is reported from now on is part of closing. */
  close(): void;
}

/** How often a queue that is away is asked whether it is back. */
const ASK_MS = 1_000;
/** Errors beside an outage: the same one is logged at most this often. */
const REPEAT_MS = 10_000;

/** @param ping writes to the queue; rejects with a fault while it is away or takes no writes */
export function watchErrors(ping: () => Promise<void>, logger: Logger): QueueErrors {
  const logged = new Map<string, number>();
  const closed = new AbortController();
  let isAsking = false;

  const log = (error: Error, what: string): void => {
    const key = `${what} ${error.message}`;
    const now = Date.now();
    if (now - (logged.get(key) ?? 0) < REPEAT_MS) return;
    if (logged.size > 100) logged.clear();
    logged.set(key, now);
    const refusal = queueRefusal(error);
    logger.warn(refusal === undefined ? { error, what } : { reason: refusal.message, what }, 'queue error');
  };

  /** An error while the queue answers is no outage. */
  const ask = async (error: Error, what: string): Promise<void> => {
    const since = Date.now();
    const why = await reasonOf(ping);
    if (why === undefined) return log(error, what);
    if (closed.signal.aborted) return;
    logger.warn({ reason: why.message, hint: why.hint ?? `Bring it back. ${WHILE_RUNNING}` }, 'queue away');
    do {
      await sleep(ASK_MS, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
      if (closed.signal.aborted) return;
    } while ((await reasonOf(ping)) !== undefined);
    logger.warn({ seconds: Math.round((Date.now() - since) / 100) / 10 }, 'queue back');
  };

  return {
    report(error, what) {
      METRICS.queueErrors.inc({ kind: 'connection' });
      if (closed.signal.aborted) return log(error, what);
      if (isAsking) return;
      isAsking = true;
      void ask(error, what).finally(() => {
        isAsking = false;
      });
    },
    close: () => closed.abort(),
  };
}

const reasonOf = (ping: () => Promise<void>): Promise<Fault | undefined> =>
  ping().then(
    () => undefined,
    (error: unknown) => Fault.of(error),
  );
