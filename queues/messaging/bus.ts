/**
 * The message bus: topics that source messages come from and outcomes go to. `queues/messaging/kafka/kafka.ts` is the one for a fleet,
 * `queues/messaging/local-bus.ts` lives in the process. Both keep the promise: what `produce` has taken is not lost, and is taken at least once by
 * every group that consumes its topic; until then it is whoever produces that keeps it.
 */
import type { Snapshot } from '../../src/config/options/options.ts';
import { Fault } from '../../src/core/fault.ts';
import type { SharedSettings } from '../runs/contract.ts';

/** Every message has a key: without one, an acknowledged message can be lost when a broker stops. */
export interface OutgoingMessage {
  readonly topic: string;
  /** Messages of one key and topic keep their order. */
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string | Buffer>>;
}

export interface IncomingMessage {
  readonly topic: string;
  readonly partition: number;
  /** Of the message within the partition, a decimal number; the same when it comes again. */
  readonly offset: string;
  /** Milliseconds since 1970, a decimal number; 0 where only messages that are equal have the same place. Else it tells those apart that have it because the topic was made anew. */
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/**
 * Resolves when the message is in safe hands, and only then is its place remembered. A rejection says "not now": the same message is
 * handed over again a moment later, and none after it. `signal` is aborted when whoever consumes is stopped, or loses the partition.
 */
export type MessageHandler = (message: IncomingMessage, signal: AbortSignal) => Promise<void>;

export interface Subscription {
  /** Stops: hands over nothing more, and waits for what is being taken. */
  close(): Promise<void>;
}

export interface MessageBus {
  readonly kind: 'kafka' | 'local' | 'none';
  /** For a person, without passwords. */
  describe(): string;
  /** Why it was not reached the last time, in words that may be shown to everybody; undefined: it was, or nobody has asked yet. */
  lastError(): string | undefined;
  /** Whether messages of the topic may have a reader. Those that cannot are not worth keeping. */
  hasConsumer(topic: string): boolean;
  /**
   * From the first message on that the group has not taken. A bus that is away is waited for, without limit.
   *
   * @param additionalTopics topics that the group reads besides, until it leaves them
   */
  consume(topic: string, group: string, handler: MessageHandler, additionalTopics?: readonly string[]): Subscription;
  /** In order. Resolves when all are kept safely. @throws MessageTooLarge — none of them was kept; or why they cannot be sent just now */
  produce(messages: readonly OutgoingMessage[]): Promise<void>;
  /** How many messages of the topic the group has not taken. */
  lag(topic: string, group: string): Promise<number>;
  /** Lets go of the connections; the next call connects again. */
  disconnect(): Promise<void>;
}

/** One of the messages is larger than its topic takes. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';
}

/**
 * What the options say: brokers; or the process alone, where the transformers and the graph writer are all in it; or neither, and
 * outcomes make no messages.
 */
export function busKind(options: Pick<Snapshot, 'KAFKA_BROKERS' | 'TRANSFORMER_RUN_STANDALONE' | 'SERVICE' | 'LOCAL_MESSAGES'>) {
  if (options.KAFKA_BROKERS.length > 0 && options.TRANSFORMER_RUN_STANDALONE !== true) return 'kafka';
  return options.SERVICE === 'all' && options.LOCAL_MESSAGES ? 'local' : 'none';
}

/** Whether messages go to and fro. */
export interface BusState {
  /** As this process knows it, at most a second old. */
  isOn(): boolean;
  onChange(changed: (on: boolean) => void): () => void;
}

/** Of a bus that nobody switches. */
export const ALWAYS_ON: BusState = { isOn: () => true, onChange: () => () => undefined };

/** Whether the fleet is connected to the message queue: one state for all its processes. */
export interface BusSwitch extends BusState {
  /** Returns what it is now. @throws Fault service/unavailable */
  toggle(): Promise<boolean>;
  close(): void;
}

const KEY = 'message-queue';
const TRIES = 20;

/** @throws whatever the queue throws when it is away */
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
