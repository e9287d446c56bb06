/**
 * The message bus within one process: delivers messages to its consumers and stores none.
 *
 * `produce` resolves once every group that consumes the topic has handled the messages. Undelivered messages therefore stay in the outbox,
 * which survives the end of the process, and the bus holds no more than callers produce at the same time.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, MessageBus, MessageHandler, OutgoingMessage, Subscription } from './bus.ts';

/** Delay before a rejected message is delivered again. */
const RETRY_MS = 250;

interface Delivery {
  readonly message: IncomingMessage;
  resolve(): void;
  reject(error: Error): void;
}

interface Consumer extends Subscription {
  readonly topic: string;
  readonly group: string;
  /** Number of undelivered messages, including the one being handled. */
  readonly waiting: number;
  /** Appends a message. Resolves when it is handled; rejects when the consumer is closed first. */
  deliver(message: IncomingMessage): Promise<void>;
}

export function openLocalBus(): MessageBus {
  const consumers = new Set<Consumer>();
  /** One consumer of each group. */
  const consumersOf = (topic: string): readonly Consumer[] => {
    const all = [...consumers].filter((one) => one.topic === topic);
    return [...new Map(all.map((one) => [one.group, one])).values()];
  };

  return {
    kind: 'local',
    describe: () => 'in this process',
    lastError: () => undefined,
    hasConsumer: (topic) => consumersOf(topic).length > 0,

    consume(topic, group, handler) {
      const consumer = startConsumer(topic, group, handler);
      consumers.add(consumer);
      return {
        close() {
          consumers.delete(consumer);
          return consumer.close();
        },
      };
    },

    async produce(messages) {
      const orphan = messages.find(({ topic }) => consumersOf(topic).length === 0);
      if (orphan !== undefined) throw new Error(`The topic ${orphan.topic} has no consumer in this process`);
      await Promise.all(messages.flatMap((message) => consumersOf(message.topic).map((one) => one.deliver(incomingMessageOf(message)))));
    },

    async lag(topic, group) {
      const all = consumersOf(topic).filter((one) => one.group === group);
      return all.reduce((sum, { waiting }) => sum + waiting, 0);
    },

    disconnect: async () => undefined,
  };
}

/** Handles one message at a time, each until the handler resolves. */
function startConsumer(topic: string, group: string, handler: MessageHandler): Consumer {
  const stop = new AbortController();
  const { signal } = stop;
  const deliveries: Delivery[] = [];
  let working: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    for (let next = deliveries[0]; next !== undefined && !signal.aborted; next = deliveries[0]) {
      try {
        await handler(next.message, signal);
        deliveries.shift();
        next.resolve();
      } catch {
        // A rejection means "deliver again later"; the handler has logged the reason.
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    working = undefined;
  };

  return {
    topic,
    group,
    get waiting() {
      return deliveries.length;
    },
    deliver: (message) =>
      new Promise((resolve, reject) => {
        deliveries.push({ message, resolve, reject });
        working ??= work();
      }),
    async close() {
      stop.abort();
      await working;
      const closed = new Error(`The consumer of the topic ${topic} was closed`);
      for (const { reject } of deliveries.splice(0)) reject(closed);
    },
  };
}

/**
 * The offset is a digest, so that it is the same when the message is sent again, also by another process: consumers derive job ids from it.
 * A counter would repeat the offsets of other messages after a restart.
 */
function incomingMessageOf({ topic, key, value }: OutgoingMessage): IncomingMessage {
  const digest = createHash('sha256')
    .update(JSON.stringify([topic, key, value]))
    .digest();
  const offset = String(digest.readBigUInt64BE() >> 1n);
  return { topic, partition: 0, offset, timestamp: '0', key: Buffer.from(key), value: Buffer.from(value) };
}
