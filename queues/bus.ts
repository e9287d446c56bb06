/**
 * The message bus: topics that source messages come from and outcomes go to. `queues/kafka.ts` is the one for a fleet,
 * `queues/local-bus.ts` lives in the process. Both keep the promise: every message is taken at least once, and kept once it was produced.
 */
import type { Snapshot } from '../src/config/options.ts';
import { Fault } from '../src/fault.ts';
import type { SharedSettings } from './contract.ts';

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
  /** Within the partition, from 0; a decimal number. */
  readonly offset: string;
  /** Milliseconds since 1970, a decimal number. Tells messages apart that have the same place, because the topic was made anew. */
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

/**
 * Resolves when the message is in safe hands, and only then is its place remembered. A rejection says "not now": the same message is
 * handed over again a moment later, and none after it. `signal` is aborted when whoever consumes is stopped, or loses the partition.
 */
export type Take = (message: IncomingMessage, signal: AbortSignal) => Promise<void>;

export interface Subscription {
  /** Stops: hands over nothing more, and waits for what is being taken. */
  close(): Promise<void>;
}

export interface MessageBus {
  /** For a person, without passwords. */
  describe(): string;
  /** From the first message on that the group has not taken. A bus that is away is waited for, without limit. */
  consume(topic: string, group: string, take: Take): Subscription;
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

/** Whether the options say that there is a message queue. */
export function hasMessageQueue({ KAFKA_BROKERS, TRANSFORMER_RUN_STANDALONE }: Snapshot): boolean {
  return KAFKA_BROKERS.length > 0 && TRANSFORMER_RUN_STANDALONE !== true;
}

/** Whether the fleet is connected to the message queue: one state for all its processes. */
export interface BusSwitch {
  /** As this process knows it, at most a second old. */
  isOn(): boolean;
  /** Returns what it is now. @throws Fault service/unavailable */
  toggle(): Promise<boolean>;
  onChange(changed: (on: boolean) => void): () => void;
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
