/**
 * The message bus on Apache Kafka.
 *
 * To lose nothing it uses a key on every message, an idempotent producer that waits for all replicas, and commits offsets after the handler
 * has resolved.
 */

import type { Admin } from 'kafkajs';
import type { Snapshot } from '../../../src/config/options/options.ts';
import { within } from '../../../src/core/abort.ts';
import { Fault } from '../../../src/core/fault.ts';
import type { Logger } from '../../../src/core/telemetry/observe.ts';
import { disconnected } from '../../../src/kafka/client.ts';
import { type MessageBus, MessageTooLarge } from '../bus.ts';
import { busClient, explainError } from './client.ts';
import { subscribe } from './consumer.ts';
import { openProducers } from './producer.ts';

const LAG_MS = 5_000;
const LAG_RETRIES = 2;
const UNREACHABLE = 'The brokers cannot be reached';

/** @throws Fault config/invalid — contradicting options, or an unreadable certificate file */
export function openKafka(snapshot: Snapshot, logger: Logger): MessageBus {
  const client = busClient(snapshot, logger);
  const explain = (error: unknown): string | undefined => explainError(error, snapshot);
  const producers = openProducers(client, logger);
  let admin: Promise<Admin> | undefined;
  /** Reason of the last failure, by direction. */
  const lastErrors = new Map<'produce' | 'consume', string>();
  const reportConsume = (error: unknown): void => {
    if (error === undefined) lastErrors.delete('consume');
    else lastErrors.set('consume', explain(error) ?? UNREACHABLE);
  };

  const closeAdmin = async (): Promise<void> => {
    const dropped = admin;
    admin = undefined;
    await disconnected(dropped);
  };

  return {
    kind: 'kafka',
    describe: () => `Kafka at ${snapshot.KAFKA_BROKERS.join(', ')}`,
    hasConsumer: () => true,
    lastError: () => lastErrors.get('produce') ?? lastErrors.get('consume'),

    async produce(messages) {
      try {
        await producers.send(messages);
        lastErrors.delete('produce');
      } catch (error) {
        if (error instanceof MessageTooLarge) throw error;
        const explained = explain(error);
        lastErrors.set('produce', explained ?? UNREACHABLE);
        throw explained === undefined ? error : new Error(explained, { cause: error });
      }
    },

    consume: (topic, group, handler, additionalTopics = []) =>
      subscribe(client, { topics: [topic, ...additionalTopics], group, handler, report: reportConsume, explain }, logger),

    async lag(topic, group) {
      try {
        admin ??= (async () => {
          // Few retries: the caller asks again.
          const made = client(LAG_RETRIES).admin({ retry: { retries: 0 } });
          await made.connect();
          return made;
        })();
        const connected = await admin;
        const asked = Promise.all([connected.fetchTopicOffsets(topic), connected.fetchOffsets({ groupId: group, topics: [topic] })]);
        const answer = await within(LAG_MS, asked, () => undefined);
        if (answer === undefined) throw new Fault('service/unavailable', 'The brokers do not answer');
        const [ends, [committed]] = answer;
        reportConsume(undefined);
        const next = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        // -1 means that nothing was committed; messages deleted by retention do not count.
        return ends.reduce((sum, { partition, high, low }) => sum + Number(high) - Math.max(Number(low), next.get(partition) ?? -1), 0);
      } catch (error) {
        reportConsume(error);
        await closeAdmin();
        throw error;
      }
    },

    async disconnect() {
      await Promise.all([producers.disconnect(), closeAdmin()]);
      lastErrors.clear();
    },
  };
}
