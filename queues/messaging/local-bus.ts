/**
 * The message bus of a process that has producers and consumers in it: it hands messages over, and keeps none.
 *
 * `produce` resolves once every group that consumes the topic has taken the messages. So what is still to be handed over lies where it comes
 * from, the outbox, which keeps it over the end of the process too; and there is never more here than callers produce at the same time.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, MessageBus, MessageHandler, OutgoingMessage, Subscription } from './bus.ts';

/** Before a message that was refused is handed over again. */
const RETRY_MS = 250;

interface Delivery {
  readonly message: IncomingMessage;
  resolve(): void;
  reject(error: Error): void;
}

interface Consumer extends Subscription {
  readonly topic: string;
  readonly group: string;
  /** How many messages wait, the one that is being taken included. */
  readonly waiting: number;
  /** After those that wait. Resolves when the message is taken, rejects when the consumer is closed before. */
  deliver(message: IncomingMessage): Promise<void>;
}

export function openLocalBus(): MessageBus {
  const consumers = new Set<Consumer>();
  /** One of each group. */
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
      if (orphan !== undefined) throw new Error(`Nobody in this process takes messages of the topic ${orphan.topic}`);
      await Promise.all(messages.flatMap((message) => consumersOf(message.topic).map((one) => one.deliver(incomingMessageOf(message)))));
    },

    async lag(topic, group) {
      const all = consumersOf(topic).filter((one) => one.group === group);
      return all.reduce((sum, { waiting }) => sum + waiting, 0);
    },

    disconnect: async () => undefined,
  };
}

/** Takes one message after the other, each until it is taken. */
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
        // "Not now", as the contract has it; why, whoever takes has told.
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
      const closed = new Error(`Nobody in this process takes messages of the topic ${topic} any more`);
      for (const { reject } of deliveries.splice(0)) reject(closed);
    },
  };
}

/**
 * A place that is the same when the message comes again, also in another process: whoever consumes names jobs after it, and a counter would
 * name them after messages of an earlier life of the process.
 */
function incomingMessageOf({ topic, key, value }: OutgoingMessage): IncomingMessage {
  const digest = createHash('sha256')
    .update(JSON.stringify([topic, key, value]))
    .digest();
  const offset = String(digest.readBigUInt64BE() >> 1n);
  return { topic, partition: 0, offset, timestamp: '0', key: Buffer.from(key), value: Buffer.from(value) };
}
