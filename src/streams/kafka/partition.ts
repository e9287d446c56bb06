/** Messages of one partition that are read and not taken yet, in order. */
import { createHash } from 'node:crypto';
import type { Decoded, KafkaMessage } from '../debezium/message.ts';

export interface Waiting {
  readonly message: KafkaMessage;
  /** undefined: not decoded yet. */
  decoded: Decoded | undefined;
  /** When it became the first one, in milliseconds since 1970. */
  firstSince: number;
}

/** A message that was read. A topic of the same name that was deleted and created again has another one there, or none. */
export interface Mark {
  readonly offset: string;
  readonly digest: string;
}

function markOf({ offset, timestamp, key, value }: KafkaMessage): Mark {
  const hash = createHash('sha256').update(`${timestamp} ${key?.length} ${value?.length} `);
  for (const bytes of [key, value]) if (bytes !== null) hash.update(bytes);
  return { offset, digest: hash.digest('base64url').slice(0, 16) };
}

/** What a message needs beside its key and value. */
const MESSAGE_BYTES = 200;

export class PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  /** The offset that is fetched next. */
  next: bigint;
  /** Whether the last answer of the brokers went to the end that the partition had. */
  isDrained: boolean;
  /** Number of the row in the transaction that was taken last, for `merge.ts`. */
  lastOrder = 0;
  #waiting: Waiting[] = [];
  #first = 0;
  #bytes = 0;
  /** The last message that was taken, and the last one that was added. */
  #taken: KafkaMessage | Mark | undefined;
  #added: KafkaMessage | Mark | undefined;
  /** Is compared with the message that the brokers have there. */
  #unchecked: Mark | undefined;

  /** @param kept of the last message that was taken before */
  constructor(topic: string, partition: number, next: bigint, isDrained: boolean, kept?: Mark) {
    this.topic = topic;
    this.partition = partition;
    this.next = next;
    this.isDrained = isDrained;
    // A partition that is read from its beginning again has none.
    const mark = kept !== undefined && BigInt(kept.offset) < next ? kept : undefined;
    this.#taken = mark;
    this.#added = mark;
    this.recheck();
  }

  /** The offset from which the brokers are asked: that of the last message, until it has been compared. */
  get from(): bigint {
    return this.#unchecked === undefined ? this.next : BigInt(this.#unchecked.offset);
  }

  get isChecked(): boolean {
    return this.#unchecked === undefined;
  }

  /** The last message that was taken; undefined: none was. */
  get mark(): Mark | undefined {
    if (this.#taken !== undefined && 'topic' in this.#taken) this.#taken = markOf(this.#taken);
    return this.#taken;
  }

  /** The brokers are asked again: the topic may have been removed and made again meanwhile. */
  recheck(): void {
    if (this.#added !== undefined && 'topic' in this.#added) this.#added = markOf(this.#added);
    this.#unchecked = this.#added;
  }

  /** The brokers have removed the last message. */
  leaveUnchecked(): void {
    this.#unchecked = undefined;
  }

  /** As in a `FeedPosition`. */
  get name(): string {
    return `${this.topic}-${this.partition}`;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get head(): Waiting | undefined {
    return this.#waiting[this.#first];
  }

  /** The offset behind all messages that were taken. Behind the last one are markers of Kafka's transactions, which are no messages. */
  get position(): string {
    return this.head?.message.offset ?? String(this.next);
  }

  /**
   * Where the brokers have removed the message that was read last, as in a compacted topic, nothing is compared.
   *
   * @param end the offset behind the messages, and behind markers that follow them
   * @returns false: the messages are of another topic of this name, and are left out
   */
  add(messages: readonly KafkaMessage[], end: bigint, highWatermark: bigint): boolean {
    const mark = this.#unchecked;
    const found = mark && messages.find(({ offset }) => offset === mark.offset);
    if (mark !== undefined && found !== undefined && markOf(found).digest !== mark.digest) return false;
    this.#unchecked = undefined;
    for (const message of messages) {
      if (BigInt(message.offset) < this.next) continue;
      this.#waiting.push({ message, decoded: undefined, firstSince: 0 });
      this.#bytes += bytesOf(message);
      this.#added = message;
    }
    if (end > this.next) this.next = end;
    this.isDrained = this.next >= highWatermark;
    return true;
  }

  take(): void {
    const taken = this.#waiting[this.#first];
    if (taken === undefined) return;
    this.#bytes -= bytesOf(taken.message);
    this.#taken = taken.message;
    this.#first++;
    if (this.#first < 1024 && this.#first < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }
}

export const bytesOf = ({ key, value }: KafkaMessage): number => (key?.length ?? 0) + (value?.length ?? 0) + MESSAGE_BYTES;
