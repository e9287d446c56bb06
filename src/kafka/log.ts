/** The log of the client library, with each line once in 30 seconds. */

import { type Logger, METRICS } from '../core/telemetry/observe.ts';

const REPEAT_MS = 30_000;

/**
 * Of each new connection the library sets a timer in the past, which is harmless. Node 24 warns of it.
 *
 * @see https://github.com/tulios/kafkajs/issues/1751
 */
export const isWarningOfTimer = ({ name, stack }: Error): boolean =>
  name === 'TimeoutNegativeWarning' && /[\\/]kafkajs[\\/]/.test(stack ?? '');

/** The library logs every lost connection and every retry; this logs each kind of line once in 30 seconds. */
export function throttledLog(logger: Logger, explain: (error: unknown) => string | undefined) {
  const last = new Map<string, number>();
  return ({ log, namespace }: { log: { message: string; [field: string]: unknown }; namespace: string }): void => {
    const said = typeof log.error === 'string' ? log.error : log.message;
    const reason = explain(new Error(said)) ?? said;
    const key = `${namespace} ${reason.replace(/\d+/g, '')}`;
    METRICS.messageErrors.inc({ kind: 'connection' });
    const now = Date.now();
    if (now - (last.get(key) ?? 0) < REPEAT_MS) return;
    if (last.size > 100) last.clear();
    last.set(key, now);
    logger.warn({ broker: log.broker, reason, what: namespace }, 'message queue error');
  };
}
