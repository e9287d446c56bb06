/**
 * A consumer of topics. It commits offsets after the handler has resolved. The library's consumer stops for good at an unexpected error; a new
 * one then replaces it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { EachBatchPayload } from 'kafkajs';
import { atMost, LinkedAbort } from '../../../src/core/abort.ts';
import { type Logger, METRICS } from '../../../src/core/telemetry/observe.ts';
import { CLOSE_MS, type Client, RETRY } from '../../../src/kafka/client.ts';
import type { IncomingMessage, MessageHandler, Subscription } from '../bus.ts';

/** A consumer without a heartbeat for `SESSION_MS` loses its partitions; `REBALANCE_MS` bounds how long a rebalance waits for one. */
const SESSION_MS = 6_000;
const REBALANCE_MS = 15_000;
const HEARTBEAT_MS = 1_000;
/** How long a fetch waits for messages; stopping a consumer takes as long. */
const FETCH_WAIT_MS = 200;
/** Delay before a failed client is replaced, and before a message is delivered again. */
const RETRY_MS = 1_000;
/** Messages handled concurrently before each commit. */
const HANDLER_CONCURRENCY = 20;

interface ConsumerOptions {
  readonly topics: readonly string[];
  readonly group: string;
  readonly handler: MessageHandler;
  /** Called with the error; undefined: messages are being consumed. */
  readonly report: (error: unknown) => void;
  readonly explain: (error: unknown) => string | undefined;
}

/** Runs one consumer after another until closed; a failed consumer is replaced. */
export function subscribe(client: Client, { topics, group, handler, report, explain }: ConsumerOptions, logger: Logger): Subscription {
  const stop = new AbortController();
  const { signal } = stop;

  const consumeOnce = async (): Promise<void> => {
    const consumer = client().consumer({
      groupId: group,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: REBALANCE_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      // A crashed consumer is replaced here, whatever the reason.
      retry: { ...RETRY, restartOnFailure: async () => false },
    });
    let closed: Promise<unknown> | undefined;
    const close = (): Promise<unknown> => {
      closed ??= atMost(CLOSE_MS, consumer.disconnect());
      return closed;
    };
    const crashed = new Promise<never>((_, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    });
    const over = new AbortController();
    const stopped = untilAborted(signal, over.signal);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      report(undefined);
      const partitions = topics.flatMap((topic) => payload.memberAssignment[topic] ?? []).length;
      logger.info({ topics, group, partitions }, 'consumer joined its group');
    });
    const steps = [
      () => consumer.connect(),
      // A new group also handles the messages sent before it existed.
      () => consumer.subscribe({ topics: [...topics], fromBeginning: true }),
      () => consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: (batch) => processBatch(batch) }),
    ];
    const run = async (): Promise<void> => {
      for (const step of steps) {
        await step();
        // Closed meanwhile: a consumer that joins now would hold partitions without handling messages.
        if (closed !== undefined) return void (await consumer.disconnect());
      }
    };
    const processBatch = async (payload: EachBatchPayload): Promise<void> => {
      try {
        await handleBatch(payload, handler, signal, async (offset) => {
          const { topic, partition } = payload.batch;
          await consumer.commitOffsets([{ topic, partition, offset: String(BigInt(offset) + 1n) }]);
        });
      } catch (error) {
        // The library rejoins the group at some errors, but only if they are not wrapped.
        throw (error as { cause?: unknown }).cause ?? error;
      }
    };
    try {
      await Promise.race([run().then(() => Promise.race([crashed, stopped])), crashed, stopped]);
    } finally {
      over.abort();
      await close();
    }
  };

  const consumeUntilStopped = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await consumeOnce();
      } catch (error) {
        if (signal.aborted) return;
        METRICS.messageErrors.inc({ kind: 'consumer' });
        report(error);
        logger.warn({ topics, group, reason: explain(error), error }, 'consumer failed; retrying');
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  };
  const ended = consumeUntilStopped();
  return {
    close() {
      stop.abort();
      return ended;
    },
  };
}

/** Resolves when `signal` is aborted; stops listening when `over` is. */
function untilAborted(signal: AbortSignal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
  });
}

/**
 * Passes the messages of a batch to the handler, `HANDLER_CONCURRENCY` at a time, and commits after each group. Sends heartbeats while a
 * handler rejects, and stops when the partition is revoked.
 */
async function handleBatch(
  { batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload,
  handler: MessageHandler,
  stopped: AbortSignal,
  commit: (offset: string) => Promise<void>,
): Promise<void> {
  const lost = new LinkedAbort([stopped]);
  const { signal } = lost;
  const isAssigned = (): boolean => isRunning() && !isStale() && !signal.aborted;
  try {
    for (let at = 0; at < batch.messages.length && isAssigned(); at += HANDLER_CONCURRENCY) {
      const group = batch.messages.slice(at, at + HANDLER_CONCURRENCY);
      let pending: IncomingMessage[] = group.map(({ offset, timestamp, key, value }) => ({
        topic: batch.topic,
        partition: batch.partition,
        offset,
        timestamp,
        key,
        value,
      }));
      while (pending.length > 0) {
        const all = pending.map((message) => handler(message, signal));
        const handled = Promise.allSettled(all);
        let results: PromiseSettledResult<void>[] | undefined;
        while (results === undefined) {
          const beat = sleep(HEARTBEAT_MS, undefined, { ref: false });
          results = (await Promise.race([handled, beat])) ?? undefined;
          await heartbeat();
        }
        pending = pending.filter((_, i) => results[i]?.status === 'rejected');
        if (pending.length === 0) break;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
        if (!isAssigned()) return;
        await heartbeat();
      }
      const last = group.at(-1)?.offset as string;
      resolveOffset(last);
      await commit(last);
      await heartbeat();
    }
  } finally {
    lost.abort();
  }
}
