/** Topics in memory: messages by topic and partition, as a feed that can be read again from any position. */

import { matchesTopic } from '../../../../src/core/input/topic-pattern.ts';
import { readOptionsOf } from '../../../../src/run/prepare/documents/open-scan.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import type { SchemaRegistry } from '../../../../src/streams/debezium/avro.ts';
import type { KafkaMessage } from '../../../../src/streams/debezium/message.ts';
import { PayloadReader } from '../../../../src/streams/debezium/payload.ts';
import type { ChangeBatch, ChangeFeed, FeedPosition } from '../../../../src/streams/events.ts';
import { feedOf } from '../../../../src/streams/feeds.ts';
import type { FeedSource } from '../../../../src/streams/follow/follower.ts';
import type { FollowedMapping } from '../../../../src/streams/follow/mapping.ts';
import { tablesOfTopics } from '../../../../src/streams/follow/tables.ts';
import { TopicMerge } from '../../../../src/streams/kafka/merge.ts';
import { type MessageReader, openMessageReader } from '../../../../src/streams/topics/messages.ts';

export interface Sent {
  readonly key?: string | Uint8Array | null;
  /** null: a tombstone. */
  readonly value: string | Uint8Array | null;
  readonly partition?: number;
  readonly timestamp?: number;
  readonly headers?: KafkaMessage['headers'];
}

const bytesOf = (text: string | Uint8Array | null | undefined): Uint8Array | null =>
  text == null ? null : typeof text === 'string' ? Buffer.from(text) : text;

export class TopicLog {
  readonly messages: KafkaMessage[] = [];
  readonly registry: SchemaRegistry | undefined;

  constructor(registry?: SchemaRegistry) {
    this.registry = registry;
  }

  send(topic: string, ...sent: readonly Sent[]): void {
    for (const { key, value, partition = 0, timestamp = 1_700_000_000_000, headers = {} } of sent) {
      const offset = String(this.messages.filter((one) => one.topic === topic && one.partition === partition).length);
      this.messages.push({ topic, partition, offset, timestamp, key: bytesOf(key), value: bytesOf(value), headers });
    }
  }

  /** The feed of whatever topics a mapping names. */
  source(): FeedSource {
    const source = feedOf(undefined, { security: undefined, registryUrl: undefined });
    let followed: { readonly mapping: FollowedMapping; readonly request: RunRequest } | undefined;
    return {
      async tables(mapping, request, signal) {
        followed = { mapping, request };
        return source.tables(mapping, request, signal);
      },
      open: async () => this.#feed(followed as NonNullable<typeof followed>),
    };
  }

  async #feed({ mapping: { topics }, request }: { readonly mapping: FollowedMapping; readonly request: RunRequest }): Promise<ChangeFeed> {
    const readers = await Promise.all(
      topics
        .filter(({ source }) => source.request.changes !== 'debezium')
        .map((reading) =>
          openMessageReader(
            reading,
            readOptionsOf({ dialect: reading.dialect }, reading.source, reading.source.formulation, reading.source.path, request),
          ),
        ),
    );
    const names = [...new Set(this.messages.map(({ topic }) => topic))].filter((name) =>
      topics.some(({ topic }) => matchesTopic(topic, name)),
    );
    const messages = new Map(names.map((name) => [name, readers.filter(({ topic }) => matchesTopic(topic, name))]));
    const rows = topics.filter(({ source }) => source.request.changes === 'debezium');
    const tables = new Map(rows.map(({ topic, table }) => [topic, [table]]));
    return this.#read(tables, messages, names);
  }

  /** The feed of tables whose changes are in topics. */
  tables(topicOf: (table: string) => string): FeedSource {
    return {
      tables: async (mapping, request) => tablesOfTopics(mapping, request, 'kafka:memory'),
      open: async ({ tables }) => {
        const topics = new Map([...tables.keys()].map((table) => [topicOf(table), [table]]));
        return this.#read(topics, new Map(), [...topics.keys()]);
      },
    };
  }

  #read(
    tables: ReadonlyMap<string, readonly string[]>,
    messages: ReadonlyMap<string, readonly MessageReader[]>,
    names: readonly string[],
  ): ChangeFeed {
    const log = this.messages;
    const endOf = (topic: string, partition: number): bigint =>
      BigInt(log.filter((one) => one.topic === topic && one.partition === partition).length);
    const partitions = names.flatMap((topic) => [0, 1, 2].map((partition) => [topic, partition] as const));
    const reached =
      (ends: readonly bigint[]) =>
      (position: FeedPosition): boolean =>
        partitions.every(([topic, partition], i) => BigInt(position[`${topic}-${partition}`] ?? 0) >= (ends[i] as bigint));
    const registry = this.registry;
    return {
      name: 'memory',
      async *batches(from, signal): AsyncGenerator<ChangeBatch> {
        const reader = new PayloadReader(registry);
        const merge = new TopicMerge({ tables, messages, transactionTopic: undefined, reader, kept: from, now: Date.now });
        for (const [topic, partition] of partitions) merge.addQueue(topic, partition, BigInt(from?.[`${topic}-${partition}`] ?? 0), false);
        for (const queue of merge.queues) {
          const own = log.filter((one) => one.topic === queue.topic && one.partition === queue.partition);
          queue.add(own, BigInt(own.length), BigInt(own.length));
        }
        while (!signal.aborted) {
          const batch = await merge.take(signal);
          if (batch !== undefined) yield batch;
          else await new Promise((resolve) => setTimeout(resolve, 5));
        }
      },
      end: async () => reached(partitions.map(([topic, partition]) => endOf(topic, partition))),
      lag: async () => ({ messages: 0, bytes: undefined }),
      confirm: async () => undefined,
      close: async () => undefined,
    };
  }
}
