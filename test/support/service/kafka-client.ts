/** A client of the brokers: creates topics, sends source messages, and collects announced messages. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, Partitioners } from 'kafkajs';

/** Longer than any outage of a broker. */
const RETRY = { retries: 200, initialRetryTime: 200, maxRetryTime: 1_000 };

export interface Heard {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly value: string;
  /** Bytes as one-byte strings. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface KafkaClient {
  /** Sends in order, to the given partition or by key. */
  send(
    topic: string,
    values: readonly (string | Buffer | null)[],
    where?: { readonly key?: string; readonly partition?: number },
  ): Promise<void>;
  /** All messages received so far. */
  readonly heard: readonly Heard[];
  /** Waits until enough was received. @throws after `waitMs`, with the received messages */
  hear(enough: (heard: readonly Heard[]) => boolean, waitMs?: number): Promise<readonly Heard[]>;
  /** Sum of the offsets committed by the group. */
  committed(topic: string, group: string): Promise<number>;
  close(): Promise<void>;
}

/** Creates the topics, and consumes those in `listened` from the beginning. */
export async function openKafkaClient(
  broker: string,
  topics: Readonly<Record<string, number>>,
  listened: readonly string[],
): Promise<KafkaClient> {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING, retry: RETRY });
  const admin = kafka.admin();
  await admin.connect();
  const wanted = Object.entries(topics).map(([topic, numPartitions]) => ({ topic, numPartitions }));
  // The first attempt may fail right after the start of a broker.
  await admin
    .createTopics({ topics: wanted, waitForLeaders: true })
    .catch(() => admin.createTopics({ topics: wanted, waitForLeaders: true }));
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const groupId = `listener-${randomBytes(6).toString('hex')}`;
  const consumer = kafka.consumer({ groupId, sessionTimeout: 10_000, heartbeatInterval: 500, maxWaitTimeInMs: 100 });
  const heard: Heard[] = [];
  await consumer.connect();
  await consumer.subscribe({ topics: [...listened], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ topic, partition, message: { offset, key, value, headers = {} } }) => {
      const texts = Object.entries(headers).map(([name, header]) => [name, Buffer.from(header as Buffer).toString('latin1')]);
      heard.push({ topic, partition, offset, key: String(key), value: String(value), headers: Object.fromEntries(texts) });
    },
  });
  return {
    heard,

    async send(topic, values, { key = 'caller', partition } = {}) {
      await producer.send({
        topic,
        acks: -1,
        messages: values.map((value) => ({ key, value, ...(partition === undefined ? {} : { partition }) })),
      });
    },

    async hear(enough, waitMs = 30_000) {
      for (const deadline = Date.now() + waitMs; !enough(heard); await sleep(20)) {
        if (Date.now() > deadline)
          throw new Error(`within ${waitMs} ms only ${heard.length} were heard: ${JSON.stringify(heard.slice(-5))}`);
      }
      return heard;
    },

    async committed(topic, group) {
      const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
      return (found?.partitions ?? []).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
    },

    async close() {
      await Promise.all([consumer.disconnect(), producer.disconnect(), admin.disconnect()]);
    },
  };
}
