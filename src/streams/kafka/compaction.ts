/**
 * Deletions that compaction removes before they are read.
 *
 * A topic whose `cleanup.policy` has `compact` keeps the newest message of a key. It drops a message without a value, which deletes the key, when that is
 * older than `delete.retention.ms`. A reader that is further behind keeps a key that has gone.
 *
 * **Claim.** No deletion is missed in silence. **Proof.** With the position of a compacted topic a time is kept at which no message was behind the position
 * (`END_AT`). So what is behind it was appended later, and a deletion among that is there until this time plus `delete.retention.ms`. A fetch that has
 * ended by then has all deletions, and where compaction has removed another message, a later one of its key follows. A fetch that ends later has
 * everything if no offset is missing in it. Else the topic is *replayed*: it is read from its beginning, and the keys that it does not have then go.
 *
 * A topic that is read from its beginning has the time at which that began. A deletion of a message that was read is there for `delete.retention.ms` after the
 * brokers have removed that message (KIP-534, Kafka 3.1), and so until the begin plus `delete.retention.ms`.
 *
 * Times are those of the clock of this machine; only their differences count.
 */
import { Fault } from '../../core/fault.ts';
import type { FeedPosition } from '../events.ts';
import type { Brokers, Offsets } from './brokers.ts';
import type { PartitionQueue } from './partition.ts';

/** In positions: JSON of times in milliseconds since 1970, by topic. */
const END_AT = ':end-at';

/** Clocks and answers may be off by so much, and by no more than a tenth of the time. */
const MARGIN_MS = 60_000;
/** A beginning may be read for so long, however small `delete.retention.ms` is: the brokers clean twice before they drop a deletion. */
const LEAST_MS = 10_000;
/** How often the end of the topics and their configuration are asked for. */
const LOOK_MS = [1_000, 60_000] as const;

export class Compaction {
  readonly #brokers: Brokers;
  readonly #warn: (text: string) => void;
  readonly #told = new Set<string>();
  /** Topics whose configuration the login may not read. */
  readonly #refused = new Set<string>();
  /** Of the topics that are read now: those in which a message replaces what its key had, and others. */
  #topics: readonly string[] = [];
  #appended: readonly string[] = [];
  /** `delete.retention.ms` of the topics that are compacted. */
  #retentions = new Map<string, number>();
  #endAt = new Map<string, number>();
  /** Topics that are read from their beginning, until an end that they had. */
  #fresh = new Set<string>();
  /** An end that the topics had, which is not reached yet. */
  #awaited: { readonly at: number; readonly ends: readonly Offsets[] } | undefined;
  #lookedAt = 0;

  /** @param warn called with what the user should know, each text once */
  constructor(brokers: Brokers, warn: (text: string) => void) {
    this.#brokers = brokers;
    this.#warn = warn;
  }

  /**
   * A reading begins.
   *
   * @param topics in which a message replaces what its key had
   * @param appended topics whose messages stay
   * @param position from which they are read
   * @param at when `ends` were asked for
   * @throws Fault — as `Brokers.fault`
   */
  async begin(
    topics: readonly string[],
    appended: readonly string[],
    position: FeedPosition | undefined,
    ends: readonly Offsets[],
    at: number,
  ): Promise<void> {
    this.#topics = topics;
    this.#appended = appended;
    this.#endAt = new Map(Object.entries(JSON.parse(position?.[END_AT] ?? '{}') as Record<string, number>));
    const isKnown = ({ topic, partition }: Offsets): boolean => position?.[`${topic}-${partition}`] !== undefined;
    this.#fresh = new Set(topics.filter((topic) => !ends.some((end) => end.topic === topic && isKnown(end))));
    for (const topic of this.#fresh) this.#endAt.set(topic, at);
    this.#awaited = { at, ends: ends.filter(({ topic }) => topics.includes(topic)) };
    this.#lookedAt = at;
    await this.#configure();
  }

  /** Whether offsets that a fetch does not have, which has ended just now, may have been those of deletions. */
  isLate(topic: string): boolean {
    const retention = this.#retentions.get(topic);
    if (retention === undefined) return false;
    const allowed = retention - Math.min(MARGIN_MS, retention / 10);
    return Date.now() > (this.#endAt.get(topic) ?? 0) + Math.max(allowed, this.#fresh.has(topic) ? LEAST_MS : 0);
  }

  /** What is kept with a position. */
  get kept(): FeedPosition {
    const times = [...this.#endAt].filter(([topic]) => this.#retentions.has(topic));
    return times.length === 0 ? {} : { [END_AT]: JSON.stringify(Object.fromEntries(times)) };
  }

  /**
   * Takes note of an end that has been reached, and asks for another one after a while.
   *
   * @returns whether `kept` has changed
   * @throws Fault — as `Brokers.fault`
   */
  async look(queueOf: (topic: string, partition: number) => PartitionQueue | undefined): Promise<boolean> {
    const awaited = this.#awaited;
    if (awaited !== undefined) {
      const isReached = awaited.ends.every(({ topic, partition, high }) => BigInt(queueOf(topic, partition)?.position ?? -1n) >= high);
      if (!isReached) return false;
      this.#awaited = undefined;
      for (const { topic } of awaited.ends) {
        this.#endAt.set(topic, awaited.at);
        this.#fresh.delete(topic);
      }
      return this.#retentions.size > 0;
    }
    const [least, most] = LOOK_MS;
    const period = Math.max(least, Math.min(most, ...[...this.#retentions.values()].map((retention) => retention / 4)));
    const at = Date.now();
    if (at - this.#lookedAt < period) return false;
    this.#lookedAt = at;
    await this.#configure();
    const compacted = [...this.#retentions.keys()];
    if (compacted.length > 0) this.#awaited = { at, ends: await this.#brokers.offsets(compacted) };
    return false;
  }

  /** @throws Fault — as `Brokers.fault` */
  async #configure(): Promise<void> {
    const asked = [...this.#topics, ...this.#appended].filter((topic) => !this.#refused.has(topic));
    const { found, refused } = await this.#brokers.configurations(asked, [POLICY, RETENTION]);
    for (const topic of refused) this.#refused.add(topic);
    if (refused.length > 0)
      this.#tell(
        `The login may not read the configuration of ${refused.join(', ')}: a deletion that compaction has removed before it was read is not noticed. Grant DescribeConfigs on these topics, as by kafka-acls --add --operation DescribeConfigs`,
      );
    this.#retentions = new Map();
    for (const [topic, values] of found) {
      if (
        values
          .get(POLICY)
          ?.split(/\s*,\s*/)
          .includes('compact') !== true
      )
        continue;
      if (!this.#topics.includes(topic)) {
        this.#tell(
          `Topic ${topic} is compacted, and qms:Append makes a record of each message: messages that compaction removes before they are read are missing. Set cleanup.policy=delete, or write qms:Upsert`,
        );
        continue;
      }
      const retention = Number(values.get(RETENTION) ?? 0);
      this.#retentions.set(topic, retention);
      if (retention < LEAST_MS)
        this.#tell(
          `Topic ${topic} is compacted with delete.retention.ms=${retention}: a deletion may be removed while the topic is read from its beginning. Raise it above the time that this takes, and at least to ${LEAST_MS}`,
        );
    }
  }

  #tell(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#warn(text);
  }

  /** What is said of a topic that is replayed. */
  replayed(topic: string): string {
    const since = new Date(this.#endAt.get(topic) ?? 0).toISOString();
    return `Topic ${topic}: compaction has removed messages that were not read. Deletions may be among them, because the end was read last at ${since}, and delete.retention.ms is ${this.#retentions.get(topic)}. The topic is read again from its beginning`;
  }
}

const POLICY = 'cleanup.policy';
const RETENTION = 'delete.retention.ms';

/** Deletions of a topic may have been removed before they were read. */
export class DeletionsMissing extends Error {
  readonly topic: string;
  readonly place: string;

  constructor({ topic, partition, next }: PartitionQueue) {
    super(`${topic}[${partition}]@${next}`);
    this.topic = topic;
    this.place = this.message;
  }

  /** Of a topic that was replayed, and lacks messages each time. */
  toFault(name: string): Fault {
    return new Fault(
      'source/refused',
      `Topic ${this.topic}: compaction removes deletions before the topic is read from its beginning to its end`,
      {
        place: { input: name, value: this.place },
        hint: 'Raise delete.retention.ms of the topic above the time that this takes',
      },
    );
  }
}
