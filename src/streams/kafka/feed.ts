/** Topics of Debezium as a feed of changes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LinkedAbort, within } from '../../core/abort.ts';
import { Fault } from '../../core/fault.ts';
import { isTopicPattern, matchesTopic } from '../../core/input/topic-pattern.ts';
import { type Logger, quietLogger } from '../../core/telemetry/observe.ts';
import { type Client, type KafkaSecurity, kafkaClient } from '../../kafka/client.ts';
import { SchemaRegistry } from '../debezium/avro.ts';
import { PayloadReader } from '../debezium/payload.ts';
import type { ChangeBatch, ChangeFeed, FeedLag, FeedPosition } from '../events.ts';
import type { MessageReader } from '../topics/messages.ts';
import { Brokers, type Offsets } from './brokers.ts';
import { Compaction, DeletionsMissing } from './compaction.ts';
import { assertKept, commitAlone, TopicConsumer } from './consumer.ts';
import { READ_AT, TopicMerge } from './merge.ts';
import { Replay } from './replay.ts';

export interface KafkaFeedOptions {
  /** `host:port`. */
  readonly brokers: readonly string[];
  /** Table as the follower names it → its topic. */
  readonly topics: ReadonlyMap<string, string>;
  /** Of topics whose messages are no changes of Debezium. They must exist. */
  readonly messages?: readonly MessageReader[];
  /** `PREFIX.transaction`; undefined: there is none. One that does not exist is none. */
  readonly transactionTopic: string | undefined;
  /** Its committed offsets are for people to look at. */
  readonly groupId: string;
  readonly security: KafkaSecurity | undefined;
  /** Of Avro: a base like `http://host/apis/ccompat/v7`. */
  readonly registryUrl: string | undefined;
  /** Takes what the user should know of the topics. */
  readonly warn?: (text: string) => void;
  /** Of lost connections; undefined: they are not logged. */
  readonly logger?: Logger;
}

/** Limits of time pass, although no message comes. */
const LOOK_MS = 250;
/** How often a topic is looked for that is not there yet. */
const MISSING_MS = 5_000;
const RETRY_MS = 1_000;
/** The follower waits for it. */
const COMMIT_MS = 10_000;
/** Longer than a session of a consumer. */
const MEMBER_MS = 10_000;
/** How long a consumer that fails is replaced, until the feed is lost. */
const LOST_MS = 120_000;
/** How often topics are read from their beginning in vain, one time after the other. */
const MOST_REPLAYS = 3;

/**
 * @throws Fault config/invalid — the address of the registry is no URL
 * @throws Fault source/missing — there is none of the topics
 * @throws Fault source/unreadable, source/refused — as `Brokers.fault`
 */
export async function openKafkaFeed(options: KafkaFeedOptions): Promise<ChangeFeed> {
  const name = `Kafka at ${options.brokers.join(', ')}`;
  const registry = options.registryUrl === undefined ? undefined : new SchemaRegistry(options.registryUrl);
  const client = kafkaClient(options.brokers, options.security, () => undefined, options.logger ?? quietLogger());
  const feed = new KafkaFeed(options, client, new Brokers(client, name), registry);
  try {
    await feed.checkTopics();
    return feed;
  } catch (error) {
    await feed.close();
    throw error;
  }
}

/**
 * Removes a consumer group, of which a member that was killed may be left for some seconds. One that does not exist is removed.
 *
 * @throws Fault source/unreadable, source/refused — as `Brokers.fault`
 */
export async function removeGroup(brokers: readonly string[], security: KafkaSecurity | undefined, groupId: string): Promise<void> {
  const client = kafkaClient(brokers, security, () => undefined, quietLogger());
  const asked = new Brokers(client, `Kafka at ${brokers.join(', ')}`);
  try {
    for (const deadline = Date.now() + MEMBER_MS; !(await asked.removeGroup(groupId, Date.now() > deadline)); ) await sleep(RETRY_MS);
  } finally {
    await asked.close();
  }
}

class KafkaFeed implements ChangeFeed {
  readonly name: string;
  readonly #options: KafkaFeedOptions;
  readonly #client: Client;
  readonly #brokers: Brokers;
  readonly #registry: SchemaRegistry | undefined;
  readonly #compaction: Compaction;
  /** By topic. */
  readonly #tables: ReadonlyMap<string, readonly string[]>;
  #consumer: TopicConsumer | undefined;
  /** Told with the next batch. */
  #warnings: string[] = [];
  /** Partitions that seem to be of another topic: their end counts when the last message that was read has been compared. */
  #suspects: ReadonlySet<string> | undefined;

  constructor(options: KafkaFeedOptions, client: Client, brokers: Brokers, registry: SchemaRegistry | undefined) {
    this.name = brokers.name;
    this.#options = options;
    this.#client = client;
    this.#brokers = brokers;
    this.#registry = registry;
    this.#compaction = new Compaction(brokers, (text) => options.warn?.(text));
    const tables = new Map<string, string[]>();
    for (const [table, topic] of options.topics) tables.set(topic, [...(tables.get(topic) ?? []), table]);
    this.#tables = tables;
  }

  async checkTopics(): Promise<void> {
    const existing = await this.#existing();
    const { messages = [] } = this.#options;
    const missing = messages.filter(({ topic }) => !existing.some((one) => matchesTopic(topic, one))).map(({ topic }) => topic);
    if (missing.length > 0)
      throw new Fault('source/missing', `${this.name} has no topic ${[...new Set(missing)].slice(0, 10).join(', ')}`, {
        place: { input: this.name },
        hint: 'Check the name in the mapping, or create the topic',
      });
    await this.#tellEmpty(existing.filter((topic) => messages.some((reader) => matchesTopic(reader.topic, topic))));
    if (messages.length > 0 || existing.some((topic) => this.#tables.has(topic))) return;
    throw new Fault('source/missing', `${this.name} has none of the topics ${[...this.#tables.keys()].slice(0, 10).join(', ')}`, {
      place: { input: this.name },
      hint: 'Debezium makes the topic of a table with its first row; its name is PREFIX.SCHEMA.TABLE, or PREFIX.DATABASE.TABLE with MySQL and MariaDB',
    });
  }

  async #tellEmpty(topics: readonly string[]): Promise<void> {
    if (topics.length === 0) return;
    const filled = new Set((await this.#brokers.offsets(topics)).flatMap(({ topic, low, high }) => (high > low ? topic : [])));
    for (const topic of topics) if (!filled.has(topic)) this.#options.warn?.(`Topic ${topic} has no messages`);
  }

  async *batches(from: FeedPosition | undefined, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    let position = from;
    let replays = 0;
    for (;;) {
      const topics = await this.#existing();
      const replay = Replay.in(position, topics, this.#replacedBy);
      const begun = position && (replay?.begun(position) ?? position);
      const session = new Session(this.#mergeOf(topics, begun, replay), topics);
      try {
        await this.#queues(session, begun, replay);
        const missing = [...this.#tables.keys()].filter((topic) => !topics.includes(topic));
        if (missing.length > 0)
          this.#warnings.push(`The topics ${missing.join(', ')} are not there: their tables are empty, until Debezium makes the topics`);
        for await (const batch of this.#read(session, signal)) {
          position = batch.position;
          if (!Replay.isIn(position)) replays = 0;
          yield batch;
        }
      } catch (error) {
        if (!(error instanceof DeletionsMissing)) throw error;
        if (++replays > MOST_REPLAYS) throw error.toFault(this.name);
        this.#options.warn?.(this.#compaction.replayed(error.topic));
        position = Replay.of(error.topic, position, topics, this.#replacedBy);
      } finally {
        await this.#closeConsumer();
      }
      signal.throwIfAborted();
    }
  }

  /** Ends when a topic is there that was not. */
  async *#read(session: Session, signal: AbortSignal): AsyncGenerator<ChangeBatch> {
    let lookedAt = Date.now();
    let startedAt = Date.now();
    let failingSince: number | undefined;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (this.#consumer === undefined) {
          this.#consumer = await orAborted(this.#start(session), signal);
          startedAt = Date.now();
        }
        const hasEnded = await this.#compaction.look((topic, partition) => session.merge.queue(topic, partition));
        const batch = await session.merge.take(signal).catch((error: unknown) => {
          throw new RegistryFault(error);
        });
        this.#consumer.resume();
        if (batch !== undefined) {
          failingSince = undefined;
          const warnings = [...this.#takeWarnings(), ...(batch.warnings ?? [])];
          yield warnings.length === 0 ? batch : { ...batch, warnings };
          continue;
        }
        const { failure } = this.#consumer;
        if (failure !== undefined) throw failure;
        if (this.#isCleared(session) || hasEnded) yield { events: [], position: session.merge.position, bytes: 0, changedAt: undefined };
        await session.wait(LOOK_MS, signal);
        if (Date.now() - lookedAt < MISSING_MS || !this.#mayHaveMore(session)) continue;
        lookedAt = Date.now();
        if ((await this.#existing()).some((topic) => !session.topics.includes(topic))) return;
      } catch (error) {
        signal.throwIfAborted();
        // The follower says so, and asks again; a consumer is replaced here, as brokers come and go.
        if (error instanceof RegistryFault) throw error.cause;
        if (error instanceof DeletionsMissing) throw error;
        const fault = Fault.of(error);
        // A consumer that has run for that long has nothing to do with a failure before.
        if (failingSince === undefined || Date.now() - startedAt > LOST_MS) failingSince = Date.now();
        startedAt = Date.now();
        await this.#closeConsumer();
        if (!fault.retriable || Date.now() - failingSince > LOST_MS) throw fault;
        await sleep(RETRY_MS, undefined, { signal });
      }
    }
  }

  /** Whether a topic is awaited, or any may come that matches a pattern. */
  #mayHaveMore({ topics }: Session): boolean {
    const { transactionTopic, messages = [] } = this.#options;
    if (messages.some(({ topic }) => isTopicPattern(topic))) return true;
    const named = [...this.#tables.keys(), ...(transactionTopic === undefined ? [] : [transactionTopic])];
    return named.some((topic) => !topics.includes(topic));
  }

  async end(from: FeedPosition | undefined): Promise<(position: FeedPosition) => boolean> {
    const topics = await this.#existing();
    const ends = await this.#brokers.offsets(topics);
    const begun = from && (Replay.in(from, topics, this.#replacedBy)?.begun(from) ?? from);
    for (const one of ends) assertKept(this.name, one, nextOf(begun, one));
    this.#suspects ??= await this.#suspected(begun, ends);
    return (position) => !Replay.isIn(position) && this.#suspects?.size === 0 && ends.every((end) => readUpTo(position, end) >= end.high);
  }

  /**
   * Partitions that have a message in front of the position that was written after the last one was read. A marker of Kafka's transactions may be such a
   * message, where the clock of the brokers is ahead.
   */
  async #suspected(from: FeedPosition | undefined, ends: readonly Offsets[]): Promise<ReadonlySet<string>> {
    const readAt = from?.[READ_AT];
    const suspects = new Set<string>();
    if (readAt === undefined) return suspects;
    for (const topic of new Set(ends.map((end) => end.topic))) {
      const written = await this.#brokers.offsetsAt(topic, Number(readAt) + 1);
      for (const end of ends)
        if (end.topic === topic && (written.get(end.partition) ?? end.high) < nextOf(from, end)) suspects.add(`${topic}-${end.partition}`);
    }
    return suspects;
  }

  /** @returns whether partitions have been compared of which that was awaited */
  #isCleared({ merge }: Session): boolean {
    if (this.#suspects === undefined || this.#suspects.size === 0) return false;
    if ([...merge.queues].some((queue) => this.#suspects?.has(queue.name) === true && !queue.isChecked)) return false;
    this.#suspects = new Set();
    return true;
  }

  async lag(position: FeedPosition): Promise<FeedLag> {
    const ends = await this.#brokers.offsets(await this.#existing());
    return { messages: Number(ends.reduce((sum, end) => sum + end.high - readUpTo(position, end), 0n)), bytes: undefined };
  }

  async confirm(position: FeedPosition): Promise<void> {
    const offsets = Object.entries(position).flatMap(([name, offset]) => {
      if (name.startsWith(':')) return [];
      const [topic, partition] = [name.slice(0, name.lastIndexOf('-')), Number(name.slice(name.lastIndexOf('-') + 1))];
      return this.#isRead(topic) ? [{ topic, partition, offset }] : [];
    });
    try {
      const committing = this.#consumer?.commit(offsets) ?? commitAlone(this.#client, this.#options.groupId, offsets);
      const isDone = await within(
        COMMIT_MS,
        committing.then(() => true),
        () => false,
      );
      if (!isDone) throw new Error(`no answer for ${COMMIT_MS / 1000} s`);
    } catch (error) {
      // They are for people to look at; what counts is the position that the follower keeps.
      this.#warnings.push(`The offsets of the group ${this.#options.groupId} cannot be committed: ${this.#brokers.fault(error).message}`);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#closeConsumer(), this.#brokers.close(), this.#registry?.close()]);
  }

  /** The topics that there are, with the one of transactions. */
  #existing(): Promise<readonly string[]> {
    return this.#brokers.existing((topic) => this.#isRead(topic));
  }

  #isRead(topic: string): boolean {
    const { transactionTopic, messages = [] } = this.#options;
    return this.#tables.has(topic) || topic === transactionTopic || messages.some((reader) => matchesTopic(reader.topic, topic));
  }

  /** The tables in which a message of a topic replaces what its key had. */
  readonly #replacedBy = (topic: string): readonly string[] => {
    const readers = this.#options.messages?.filter((reader) => reader.replaces && matchesTopic(reader.topic, topic)) ?? [];
    return [...(this.#tables.get(topic) ?? []), ...readers.map(({ table }) => table)];
  };

  #mergeOf(topics: readonly string[], kept: FeedPosition | undefined, replay: Replay | undefined): TopicMerge {
    const { transactionTopic, messages = [] } = this.#options;
    return new TopicMerge({
      tables: this.#tables,
      messages: new Map(topics.map((topic) => [topic, messages.filter((reader) => matchesTopic(reader.topic, topic))])),
      transactionTopic: transactionTopic !== undefined && topics.includes(transactionTopic) ? transactionTopic : undefined,
      reader: new PayloadReader(this.#registry),
      kept,
      replay,
      more: () => this.#compaction.kept,
      now: Date.now,
    });
  }

  /** @throws Fault source/refused — a message that is to be read next has been removed */
  async #queues({ merge, topics }: Session, position: FeedPosition | undefined, replay: Replay | undefined): Promise<void> {
    const at = Date.now();
    const ends = await this.#brokers.offsets(topics);
    const data = topics.filter((topic) => topic !== this.#options.transactionTopic);
    const isReplaced = (topic: string): boolean => this.#replacedBy(topic).length > 0;
    await this.#compaction.begin(
      data.filter(isReplaced),
      data.filter((topic) => !isReplaced(topic)),
      position,
      ends,
      at,
    );
    replay?.until(ends);
    for (const one of ends) {
      const next = nextOf(position, one);
      assertKept(this.name, one, next);
      merge.addQueue(one.topic, one.partition, next, next >= one.high);
    }
  }

  async #start({ merge, topics, wake }: Session): Promise<TopicConsumer> {
    const { groupId } = this.#options;
    const consumer = new TopicConsumer({
      client: this.#client,
      brokers: this.#brokers,
      groupId,
      topics,
      merge,
      compaction: this.#compaction,
      wake,
    });
    this.#consumer = consumer;
    await consumer.start();
    return consumer;
  }

  async #closeConsumer(): Promise<void> {
    const consumer = this.#consumer;
    this.#consumer = undefined;
    await consumer?.close();
  }

  #takeWarnings(): readonly string[] {
    const warnings = this.#warnings;
    this.#warnings = [];
    return warnings;
  }
}

/** What `TopicMerge.take` throws: the registry does not answer. */
class RegistryFault extends Error {
  constructor(cause: unknown) {
    super('', { cause });
  }
}

/** The offset of the message that is to be read next. */
function nextOf(position: FeedPosition | undefined, { topic, partition, low }: Offsets): bigint {
  const kept = position?.[`${topic}-${partition}`];
  return kept === undefined ? low : BigInt(kept);
}

/** The offset behind what was read of a partition. Of one without a position nothing was: it begins at its first message. */
function readUpTo(position: FeedPosition, { topic, partition, low }: Offsets): bigint {
  const kept = position[`${topic}-${partition}`];
  return kept === undefined || BigInt(kept) < low ? low : BigInt(kept);
}

/** The client library tries to connect for minutes, and cannot be told to stop. @throws the reason of the signal */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}

/** One reading of a set of topics. */
class Session {
  readonly merge: TopicMerge;
  readonly topics: readonly string[];
  #arrived = new AbortController();

  constructor(merge: TopicMerge, topics: readonly string[]) {
    this.merge = merge;
    this.topics = topics;
  }

  readonly wake = (): void => this.#arrived.abort();

  /** Until something arrives, or the time is over. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const either = new LinkedAbort([this.#arrived.signal, signal]);
    await sleep(ms, undefined, { signal: either.signal }).catch(() => undefined);
    either.release();
    if (this.#arrived.signal.aborted) this.#arrived = new AbortController();
  }
}
