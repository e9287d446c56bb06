/** A broker in memory, for tests: keeps all messages for later consumers. A topic has one partition and is created when first used. */
import type { IncomingMessage, MessageBus, OutgoingMessage } from '../../../queues/messaging/bus.ts';

export interface KeptMessage extends IncomingMessage {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: OutgoingMessage['headers'];
}

export interface MemoryBus extends MessageBus {
  /** The messages of the topic, oldest first. */
  messages(topic: string): readonly KeptMessage[];
}

const AGAIN_MS = 50;

export function openMemoryBus(): MemoryBus {
  const topics = new Map<string, KeptMessage[]>();
  /** Offset of the next message by group and topic. */
  const next = new Map<string, number>();
  const waiting = new Set<() => void>();
  const messages = (topic: string): KeptMessage[] => {
    const found = topics.get(topic) ?? [];
    topics.set(topic, found);
    return found;
  };
  const placeOf = (topic: string, group: string): string => `${group} ${topic}`;

  return {
    messages,
    kind: 'kafka',
    describe: () => 'in memory',
    lastError: () => undefined,
    hasConsumer: () => true,

    consume(topic, group, take) {
      const place = placeOf(topic, group);
      const stop = new AbortController();
      const loop = async (): Promise<void> => {
        while (!stop.signal.aborted) {
          const message = messages(topic)[next.get(place) ?? 0];
          if (message === undefined) {
            await new Promise<void>((resolve) => waiting.add(resolve));
            continue;
          }
          try {
            await take(message, stop.signal);
            next.set(place, Number(message.offset) + 1);
          } catch {
            // A rejection means "deliver again later".
            await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
          }
        }
      };
      const ended = loop();
      return {
        close() {
          stop.abort();
          wake(waiting);
          return ended;
        },
      };
    },

    async produce(given) {
      for (const { topic, key, value, headers } of given) {
        const kept = messages(topic);
        const place = { topic, partition: 0, offset: String(kept.length), timestamp: String(Date.now()) };
        kept.push({ ...place, key: Buffer.from(key), value: Buffer.from(value), headers });
      }
      wake(waiting);
    },

    lag: async (topic, group) => messages(topic).length - (next.get(placeOf(topic, group)) ?? 0),
    disconnect: async () => undefined,
  };
}

function wake(waiting: Set<() => void>): void {
  const all = [...waiting];
  waiting.clear();
  for (const resolve of all) resolve();
}
