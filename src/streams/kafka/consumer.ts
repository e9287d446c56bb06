/**
 * The consumer that fills the queues of partitions. Offsets are those of the queues: wherever the group's committed offsets stand, the consumer seeks to
 * the next one of each queue when it joins. A queue that is full pauses its partition.
 */
import type { Batch, Consumer, EachBatchPayload, KafkaMessage as LibraryMessage, TopicPartitionOffset } from 'kafkajs';
import { atMost } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { CLOSE_MS, type Client, RETRY } from '../../kafka/client.ts';
import type { KafkaMessage } from '../debezium/message.ts';
import type { Brokers } from './brokers.ts';
import { type Compaction, DeletionsMissing } from './compaction.ts';
import type { TopicMerge } from './merge.ts';
import type { PartitionQueue } from './partition.ts';

/** A consumer that was killed holds its partitions for this long. */
const SESSION_MS = 6_000;
const REBALANCE_MS = 15_000;
const HEARTBEAT_MS = 1_000;
/** How long a fetch waits for messages; stopping a consumer takes as long. */
const FETCH_WAIT_MS = 200;
/** How long another member of the group may hold partitions: one that was killed, or stops. */
const SHARED_MS = 20_000;

/** Bytes of messages that wait, of all partitions; and of one, at most and at least. */
const WAITING_BYTES = 16 * 2 ** 20;
const PARTITION_BYTES = [2 ** 16, 2 ** 20] as const;

export interface ConsumerOptions {
  readonly client: Client;
  readonly brokers: Brokers;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly merge: TopicMerge;
  readonly compaction: Compaction;
  /** Called when messages have come, or the consumer has failed. */
  readonly wake: () => void;
}

interface Passed {
  readonly topic: string;
  readonly partition: number;
  readonly firstOffset: string | null;
  readonly lastOffset: string;
  readonly highWatermark: string;
}

/** As the library gives it, beyond its types: `rawMessages` has markers and messages of transactions that were given up. */
type FetchedBatch = Batch & { readonly fetchedOffset: unknown; readonly rawMessages: readonly { readonly offset: string }[] };

/** Whether an offset is not there, from `next` to the last one. */
function isMissingOne(messages: FetchedBatch['rawMessages'], next: bigint): boolean {
  let expected = next;
  for (const { offset } of messages) {
    const one = BigInt(offset);
    if (one > expected) return true;
    if (one === expected) expected++;
  }
  return false;
}

export class TopicConsumer {
  readonly #options: ConsumerOptions;
  readonly #consumer: Consumer;
  readonly #paused = new Set<PartitionQueue>();
  readonly #limit: number;
  #failure: Fault | DeletionsMissing | undefined;
  #isClosed = false;
  #sharedTimer: NodeJS.Timeout | undefined;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    const { client, groupId, merge } = options;
    const [least, most] = PARTITION_BYTES;
    this.#limit = Math.max(least, Math.min(most, Math.floor(WAITING_BYTES / [...merge.queues].length)));
    this.#consumer = client().consumer({
      groupId,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: REBALANCE_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: this.#limit,
      maxBytes: 4 * 2 ** 20,
      // The feed replaces it, whatever the reason.
      retry: { ...RETRY, restartOnFailure: async () => false },
    });
    const { CRASH, GROUP_JOIN, END_BATCH_PROCESS } = this.#consumer.events;
    this.#consumer.on(CRASH, ({ payload }) => this.#fail(payload.error));
    this.#consumer.on(GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment));
    this.#consumer.on(END_BATCH_PROCESS, ({ payload }) => {
      if (payload.batchSize === 0) this.#pass(payload);
    });
  }

  get failure(): Fault | DeletionsMissing | undefined {
    return this.#failure;
  }

  /** @throws Fault — as `Brokers.fault` */
  async start(): Promise<void> {
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true });
      await this.#consumer.run({ autoCommit: false, eachBatch: (payload) => this.#add(payload) });
    } catch (error) {
      throw this.#options.brokers.fault(error);
    }
  }

  /** Goes on with partitions whose queues have room. */
  resume(): void {
    for (const queue of this.#paused) {
      if (queue.bytes > this.#limit / 2) continue;
      this.#paused.delete(queue);
      this.#consumer.resume([{ topic: queue.topic, partitions: [queue.partition] }]);
    }
  }

  async commit(offsets: readonly TopicPartitionOffset[]): Promise<void> {
    await this.#consumer.commitOffsets([...offsets]);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#sharedTimer);
    await atMost(CLOSE_MS, this.#consumer.disconnect());
  }

  #joined(assignment: Readonly<Record<string, readonly number[]>>): void {
    clearTimeout(this.#sharedTimer);
    const { merge, groupId } = this.#options;
    const missing: string[] = [];
    for (const queue of merge.queues) {
      const { topic, partition } = queue;
      queue.recheck();
      if (assignment[topic]?.includes(partition) === true) this.#consumer.seek({ topic, partition, offset: String(queue.from) });
      else missing.push(queue.name);
    }
    // A queue that is still full pauses with its next messages.
    for (const { topic, partition } of this.#paused) this.#consumer.resume([{ topic, partitions: [partition] }]);
    this.#paused.clear();
    if (missing.length === 0) return;
    this.#sharedTimer = setTimeout(() => {
      this.#fail(
        new Fault('service/unavailable', `Another consumer of the group ${groupId} reads ${missing.join(', ')}`, {
          place: { input: this.#options.brokers.name },
          hint: 'One follower reads a dataset: end the other one, or give this one another group',
        }),
      );
    }, SHARED_MS);
  }

  async #add({ batch, pause }: EachBatchPayload): Promise<void> {
    const { merge, wake, compaction } = this.#options;
    const { topic, partition } = batch;
    // A partition that was added to a topic begins at its first message.
    const queue = merge.queue(topic, partition) ?? merge.addQueue(topic, partition, BigInt(batch.firstOffset() ?? 0), false);
    // Another offset than the one that was asked for: the brokers did not have it.
    const { fetchedOffset, rawMessages } = batch as FetchedBatch;
    if (BigInt(String(fetchedOffset)) !== queue.from) {
      await this.#reposition(queue);
      return;
    }
    if (isMissingOne(rawMessages, queue.next) && compaction.isLate(topic)) {
      this.#fail(new DeletionsMissing(queue));
      return;
    }
    const isSame = queue.add(
      batch.messages.map((message) => messageOf(topic, partition, message)),
      BigInt(batch.lastOffset()) + 1n,
      BigInt(batch.highWatermark),
    );
    if (!isSame) {
      this.#fail(otherTopic(this.#options.brokers.name, queue, `the message ${queue.from} is not the one that was read there`));
      return;
    }
    if (queue.bytes > this.#limit) {
      pause();
      this.#paused.add(queue);
    }
    wake();
  }

  /** Batches without messages have markers of Kafka's transactions. This event is the only sign of them. */
  #pass({ topic, partition, firstOffset, lastOffset, highWatermark }: Passed): void {
    const queue = this.#options.merge.queue(topic, partition);
    if (queue === undefined) return;
    // Markers alone, or a batch that has lost its messages from the offset on. What is between several markers is not known.
    const isWhole = BigInt(lastOffset) < queue.next || (firstOffset === lastOffset && BigInt(lastOffset) === queue.next);
    if (!isWhole && this.#options.compaction.isLate(topic)) {
      this.#fail(new DeletionsMissing(queue));
      return;
    }
    if (firstOffset !== null && BigInt(firstOffset) > queue.from) void this.#check(queue, queue.next);
    queue.add([], BigInt(lastOffset) + 1n, BigInt(highWatermark));
    this.#options.wake();
  }

  async #reposition(queue: PartitionQueue): Promise<void> {
    await this.#check(queue, queue.next);
    if (!this.#isClosed && this.#failure === undefined)
      this.#consumer.seek({ topic: queue.topic, partition: queue.partition, offset: String(queue.from) });
  }

  /** Fails, where the brokers do not have the message. */
  async #check(queue: PartitionQueue, next: bigint): Promise<void> {
    const { topic, partition } = queue;
    try {
      const offsets = await this.#options.brokers.offsets([topic]);
      const found = offsets.find((one) => one.partition === partition);
      if (found === undefined) return;
      assertKept(this.#options.brokers.name, found, next);
      if (queue.from < found.low) queue.leaveUnchecked();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#failure ??= error instanceof DeletionsMissing ? error : this.#options.brokers.fault(error);
    this.#options.wake();
  }
}

/** Commits offsets of a group that has no members. */
export async function commitAlone(client: Client, groupId: string, offsets: readonly TopicPartitionOffset[]): Promise<void> {
  const consumer = client().consumer({ groupId, sessionTimeout: SESSION_MS, maxWaitTimeInMs: FETCH_WAIT_MS });
  const topics = [...new Set(offsets.map(({ topic }) => topic))];
  if (topics.length === 0) return;
  consumer.on(consumer.events.GROUP_JOIN, () => consumer.pause(topics.map((topic) => ({ topic }))));
  try {
    await consumer.connect();
    await consumer.subscribe({ topics });
    await consumer.run({ autoCommit: false, eachBatch: async () => undefined });
    await consumer.commitOffsets([...offsets]);
  } finally {
    await atMost(CLOSE_MS, consumer.disconnect());
  }
}

/** @throws Fault source/refused — the brokers do not have a message that is to be read next */
export function assertKept(
  name: string,
  { topic, partition, low, high }: { readonly topic: string; readonly partition: number; readonly low: bigint; readonly high: bigint },
  next: bigint,
): void {
  if (next >= low && next <= high) return;
  if (next > high) throw otherTopic(name, { topic, partition, next }, `it ends at ${high}, and was read up to ${next}`);
  throw new Fault(
    'source/refused',
    `Topic ${topic}, partition ${partition}: the messages ${next} to ${low - 1n} were removed before they were read`,
    {
      place: { input: name, value: `${topic}[${partition}]@${next}` },
      hint: `Raise retention.ms of the topic, and ${AGAIN}`,
    },
  );
}

const AGAIN = 'begin a new dataset, or have Debezium make a snapshot, remove the state of the dataset and follow again';

/** A topic that was removed and made again, or one of other brokers. */
const otherTopic = (
  name: string,
  { topic, partition, next }: { readonly topic: string; readonly partition: number; readonly next: bigint },
  reason: string,
): Fault =>
  new Fault('source/refused', `Topic ${topic}, partition ${partition} is another topic of this name: ${reason}`, {
    place: { input: name, value: `${topic}[${partition}]@${next}` },
    hint: AGAIN.replace(/^b/, 'B'),
  });

const messageOf = (topic: string, partition: number, { offset, timestamp, key, value, headers = {} }: LibraryMessage): KafkaMessage => ({
  topic,
  partition,
  offset,
  timestamp: Number(timestamp),
  key,
  value,
  headers,
});
