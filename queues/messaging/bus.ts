/**
 * The message bus: topics for source messages and outcomes. `queues/messaging/kafka/kafka.ts` connects a fleet,
 * `queues/messaging/local-bus.ts` one process. Both guarantee: after `produce` resolves, the message is not lost and is handled at least
 * once by every group that consumes its topic. Until then the producer keeps it.
 */
import type { Snapshot } from '../../src/config/options/options.ts';
import { Fault } from '../../src/core/fault.ts';
import type { SharedSettings } from '../runs/contract.ts';

/** Every message has a key: without one, an acknowledged message can be lost when a broker stops. */
export interface OutgoingMessage {
  readonly topic: string;
  /** Messages with the same key and topic keep their order. */
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string | Buffer>>;
}

export interface IncomingMessage {
  readonly topic: string;
  readonly partition: number;
  /** Offset within the partition, a decimal number; the same when the message is delivered again. */
  readonly offset: string;
  /**
   * Milliseconds since 1970, a decimal number. Distinguishes messages with the same offset after a topic was recreated; 0 where equal
   * offsets mean equal messages.
   */
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/**
 * Handles one message. Resolves when the message is safely stored; only then is its offset committed. Rejects to have the same message
 * delivered again a moment later, before any other message. `signal` is aborted when the consumer is stopped or loses the partition.
 */
export type MessageHandler = (message: IncomingMessage, signal: AbortSignal) => Promise<void>;

export interface Subscription {
  /** Stops: delivers no more messages, and waits for active handlers. */
  close(): Promise<void>;
}

export interface MessageBus {
  readonly kind: 'kafka' | 'local' | 'none';
  /** Human-readable, without passwords. */
  describe(): string;
  /** Reason of the last connection failure, safe to show to everybody; undefined: the last call succeeded, or there was none. */
  lastError(): string | undefined;
  /** Whether messages of the topic may have a consumer. Others are not worth keeping. */
  hasConsumer(topic: string): boolean;
  /**
   * Consumes from the first message that the group has not handled. Waits without limit for a bus that is away.
   *
   * @param additionalTopics topics that the group also reads
   */
  consume(topic: string, group: string, handler: MessageHandler, additionalTopics?: readonly string[]): Subscription;
  /**
   * Sends in order. Resolves when all messages are stored safely. @throws MessageTooLarge — none was stored; or the reason why they cannot
   * be sent now
   */
  produce(messages: readonly OutgoingMessage[]): Promise<void>;
  /** Number of messages of the topic that the group has not handled. */
  lag(topic: string, group: string): Promise<number>;
  /** Closes the connections; the next call reconnects. */
  disconnect(): Promise<void>;
}

/** One of the messages exceeds the size limit of its topic. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
}

/**
 * The bus that the options select: Kafka if there are brokers; local if this process runs the transformers and the graph writer; else none,
 * and outcomes produce no messages.
 */
export function busKind(options: Pick<Snapshot, 'KAFKA_BROKERS' | 'TRANSFORMER_RUN_STANDALONE' | 'SERVICE' | 'LOCAL_MESSAGES'>) {
  if (options.KAFKA_BROKERS.length > 0 && options.TRANSFORMER_RUN_STANDALONE !== true) return 'kafka';
  return options.SERVICE === 'all' && options.LOCAL_MESSAGES ? 'local' : 'none';
}

/** Whether messages are exchanged. */
export interface BusState {
  /** The state known to this process, at most a second old. */
  isOn(): boolean;
  onChange(changed: (on: boolean) => void): () => void;
}

/** Whether the fleet is connected to the message queue: one state for all its processes. */
export interface BusSwitch extends BusState {
  /** Returns the new state. @throws Fault service/unavailable */
  toggle(): Promise<boolean>;
  close(): void;
}

const KEY = 'message-queue';
const TRIES = 20;

/** @throws the error of the queue's client library when the queue is away */
export async function openSwitch(settings: SharedSettings): Promise<BusSwitch> {
  const listeners = new Set<(on: boolean) => void>();
  const read = (text: string | undefined): boolean => text !== 'off';
  let on = read(await settings.get(KEY));
  const unwatch = settings.watch(KEY, (text) => {
    if (read(text) === on) return;
    on = !on;
    for (const listener of listeners) listener(on);
  });
  return {
    isOn: () => on,

    async toggle() {
      for (let i = 0; i < TRIES; i++) {
        const before = await settings.get(KEY);
        const after = !read(before);
        if (await settings.compareAndSet(KEY, before, after ? 'on' : 'off')) return after;
      }
      throw new Fault('service/unavailable', 'The message queue is being switched from too many places at once', { hint: 'Try again' });
    },

    onChange(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },

    close() {
      unwatch();
      listeners.clear();
    },
  };
}
