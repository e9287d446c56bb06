/**
 * Producers. Each is idempotent and waits for all replicas. The library's producer may refuse everything after a failed batch; a new one then
 * replaces it.
 */

import { Partitioners, type Producer } from 'kafkajs';
import { type Logger, METRICS } from '../../../src/core/telemetry/observe.ts';
import { type Client, disconnected } from '../../../src/kafka/client.ts';
import { MessageTooLarge, type OutgoingMessage } from '../bus.ts';

/** About half a minute per send of a producer; the caller retries after that. */
const SEND_RETRIES = 15;
/** Bytes in one request of a producer; a broker accepts a megabyte by default. */
const BATCH_BYTES = 256 * 1024;

interface PendingSend {
  readonly messages: readonly OutgoingMessage[];
  resolve(): void;
  reject(error: unknown): void;
}

interface Sender {
  send(messages: readonly OutgoingMessage[]): Promise<void>;
  disconnect(): Promise<void>;
}

/** Uses one producer per topic, so that a missing or refused topic does not block the others. */
export function openProducers(client: Client, logger: Logger): Sender {
  const senders = new Map<string, Sender>();
  const senderOf = (topic: string): Sender => {
    const found = senders.get(topic) ?? openProducer(client, topic, logger);
    senders.set(topic, found);
    return found;
  };
  return {
    async send(messages) {
      const topics = [...new Set(messages.map(({ topic }) => topic))];
      try {
        await Promise.all(topics.map((topic) => senderOf(topic).send(messages.filter((one) => one.topic === topic))));
      } catch (error) {
        throw isTooLarge(error) ? new MessageTooLarge((error as Error).message, { cause: error }) : error;
      }
    },
    async disconnect() {
      await Promise.all([...senders.values()].map((one) => one.disconnect()));
    },
  };
}

/** Sends in the order of the calls; calls during a send are put into the next batch. */
function openProducer(client: Client, topic: string, logger: Logger): Sender {
  let producer: Promise<Producer> | undefined;
  let busy = false;
  const waiting: PendingSend[] = [];

  const connect = async (): Promise<Producer> => {
    const made = client(SEND_RETRIES).producer({
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    await made.connect();
    logger.info({ topic }, 'producer connected');
    return made;
  };
  const disconnect = async (): Promise<void> => {
    const dropped = producer;
    producer = undefined;
    await disconnected(dropped);
  };

  const sendNow = async (messages: readonly OutgoingMessage[]): Promise<void> => {
    try {
      for (const batch of batches(messages, sizeOf)) {
        producer ??= connect();
        const connected = await producer;
        await connected.send({ topic, acks: -1, messages: batch.map(({ key, value, headers }) => ({ key, value, headers })) });
      }
    } catch (error) {
      // After a failed batch the producer's sequence numbers are uncertain; a new producer starts new ones.
      await disconnect();
      throw error;
    }
  };

  const sendAll = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = batches(waiting, ({ messages }) => sum(messages.map(sizeOf))).next().value as readonly PendingSend[];
      waiting.splice(0, batch.length);
      try {
        await sendNow(batch.flatMap(({ messages }) => messages));
        for (const one of batch) one.resolve();
      } catch (error) {
        METRICS.messageErrors.inc({ kind: 'producer' });
        // One refused message must not block the others of its batch.
        if (batch.length > 1 && (error as Error).name === 'KafkaJSProtocolError') {
          for (const one of batch) await sendNow(one.messages).then(one.resolve, one.reject);
        } else {
          for (const one of batch) one.reject(error);
        }
      }
    }
    busy = false;
  };

  return {
    disconnect,
    send: (messages) =>
      new Promise((resolve, reject) => {
        waiting.push({ messages, resolve, reject });
        if (!busy) void sendAll();
      }),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const sizeOf = ({ key, value, headers }: OutgoingMessage): number =>
  sum([key, value, ...Object.entries(headers).flat()].map((text) => Buffer.byteLength(text)));

/** Splits `items` into batches of at most `BATCH_BYTES`, but at least one item: brokers limit a request as they limit a message. */
function* batches<T>(items: readonly T[], size: (item: T) => number): Generator<readonly T[], undefined> {
  let batch: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const more = size(item);
    if (batch.length > 0 && bytes + more > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}

function isTooLarge(error: unknown): boolean {
  const { type, cause } = error as { type?: string; cause?: unknown };
  return type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE' || (cause !== undefined && isTooLarge(cause));
}
