/** The client side of the brokers: sends source messages, and reads all topics at the end. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { withLimit } from '../../../src/core/abort.ts';
import { type KafkaServer, startKafka } from '../../servers/queues/kafka.ts';

/** Number of partitions by topic. */
const PARTITIONS = { source: 3, success: 2, dead: 1 } as const;
export type TopicName = keyof typeof PARTITIONS;
const TOPIC_NAMES = Object.keys(PARTITIONS) as readonly TopicName[];
export const TOPICS: Readonly<Record<TopicName, string>> = { source: 'chaos.source', success: 'chaos.success', dead: 'chaos.dead' };
/** The consumer group of the workers. */
const GROUP = 'semi-structured-transformer';
/** Retries of the library; callers here retry again. */
const RETRY = { retries: 3, initialRetryTime: 200, maxRetryTime: 1_000 };
const AGAIN_MS = 500;

export interface TopicMessage {
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
}

export type TopicContents = Readonly<Record<TopicName, readonly TopicMessage[]>>;

export class Messages {
  /** In use by a fault. */
  busy = false;
  readonly server: KafkaServer;
  readonly #kafka: Kafka;
  #producer: Promise<Producer> | undefined;

  constructor(server: KafkaServer) {
    this.server = server;
    this.#kafka = new Kafka({ brokers: [server.broker], logLevel: logLevel.NOTHING, retry: RETRY });
  }

  /** Creates the topics. */
  async prepare(): Promise<void> {
    const topics = TOPIC_NAMES.map((name) => ({ topic: TOPICS[name], numPartitions: PARTITIONS[name] }));
    // The first attempt may fail right after the start of a broker.
    const make = (): Promise<unknown> => this.#asAdmin((admin) => admin.createTopics({ topics, waitForLeaders: true }));
    await withLimit(30_000, (signal) => this.#insist(signal, make));
  }

  /** Retries until acknowledged; the message may then exist several times. */
  async send(key: string, value: Buffer | null, random: number, signal: AbortSignal): Promise<void> {
    const message = { key, value, partition: random % PARTITIONS.source };
    await this.#insist(signal, async () => {
      this.#producer ??= this.#connect();
      try {
        await (await this.#producer).send({ topic: TOPICS.source, acks: -1, messages: [message] });
      } catch (error) {
        this.#producer = undefined;
        throw error;
      }
    });
  }

  /** Waits until the group has committed all messages of the source topic. False: not within the limit. */
  async untilTaken(signal: AbortSignal): Promise<boolean> {
    for (; !signal.aborted; await sleep(AGAIN_MS)) {
      const left = await this.#asAdmin(async (admin) => {
        const ends = await admin.fetchTopicOffsets(TOPICS.source);
        const [group] = await admin.fetchOffsets({ groupId: GROUP, topics: [TOPICS.source] });
        const next = new Map(group?.partitions.map(({ partition, offset }) => [partition, Math.max(0, Number(offset))]));
        return ends.reduce((sum, { partition, high }) => sum + Number(high) - (next.get(partition) ?? 0), 0);
      }).catch(() => undefined);
      if (left === 0) return true;
    }
    return false;
  }

  /** Reads all messages of all topics. */
  async read(signal: AbortSignal): Promise<TopicContents> {
    let seen: TopicContents | undefined;
    await this.#insist(signal, async () => {
      seen = await this.#readOnce(signal);
    });
    return seen as TopicContents;
  }

  async close(): Promise<void> {
    await this.#producer?.then((one) => one.disconnect()).catch(() => undefined);
    await this.server.stop();
  }

  async #readOnce(signal: AbortSignal): Promise<TopicContents> {
    const seen: Record<TopicName, TopicMessage[]> = { source: [], success: [], dead: [] };
    const ends = await this.#asAdmin((admin) => Promise.all(TOPIC_NAMES.map((name) => admin.fetchTopicOffsets(TOPICS[name]))));
    const count = ends.flat().reduce((sum, { high }) => sum + Number(high), 0);
    const consumer = this.#kafka.consumer({ groupId: `reader-${randomBytes(6).toString('hex')}`, maxWaitTimeInMs: 100 });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: Object.values(TOPICS), fromBeginning: true });
      const failed = new Promise<never>((_, reject) => consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error)));
      await consumer.run({
        eachMessage: async ({ topic, partition, message: { offset, key, value, headers = {} } }) => {
          const name = TOPIC_NAMES.find((one) => TOPICS[one] === topic) as TopicName;
          const bytes = Object.entries(headers).map(([header, text]) => [header, Buffer.from(text as Buffer)]);
          seen[name].push({ partition, offset, key: String(key), value, headers: Object.fromEntries(bytes) });
        },
      });
      const all = async (): Promise<void> => {
        while (Object.values(seen).flat().length < count) await sleep(50, undefined, { signal });
      };
      await Promise.race([all(), failed]);
    } finally {
      await consumer.disconnect();
    }
    return seen;
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    return producer;
  }

  async #asAdmin<T>(ask: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
    const admin = this.#kafka.admin();
    await admin.connect();
    return ask(admin).finally(() => admin.disconnect());
  }

  /** @throws the last error, after the limit */
  async #insist(signal: AbortSignal, act: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await act();
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }
}

/** A text is the reason why there are none. */
export async function startMessages(): Promise<Messages | string> {
  const server = await startKafka();
  if ('skip' in server) return server.skip;
  const messages = new Messages(server);
  await messages.prepare().catch(async (error) => {
    await messages.close();
    throw error;
  });
  return messages;
}
