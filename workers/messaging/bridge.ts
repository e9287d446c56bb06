/** What a process with workers has to do with the message bus: source messages in, messages of outcomes out. */
import type { QueueBackend } from '../../queues/backend/backend.ts';
import type { BusState, MessageBus } from '../../queues/messaging/bus.ts';
import { messagesOf, topicOf } from '../../queues/messaging/messages.ts';
import { openOutbox, startSender } from '../../queues/messaging/outbox.ts';
import type { Runs } from '../../queues/runs/contract.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { PublishOutcome } from '../jobs/announce.ts';
import { startConsumers } from './consume.ts';

export interface Messaging {
  /** For `announce`. */
  readonly publish: PublishOutcome;
  /** Takes no more source messages. */
  stopConsuming(): Promise<void>;
  /** Sends what is there for a moment; what is left stays in the outbox. */
  close(): Promise<void>;
}

export interface MessagingOptions {
  readonly bus: MessageBus;
  readonly state: BusState;
  readonly runs: Pick<Runs, 'submit' | 'counts'>;
  readonly config: ConfigStore;
  readonly workingDirectory: string;
  /** The embedded store, where it is this process that has it. */
  readonly store?: { readonly endpoint: string } | undefined;
}

const FLUSH_MS = 3_000;

/**
 * Goes on while the brokers are away: runs do not need them.
 *
 * Within the process, what nobody takes makes no message: other consumers than the graph writer begin before this is called, and end after it
 * is closed.
 */
export async function openMessaging(backend: QueueBackend, options: MessagingOptions, logger: Logger): Promise<Messaging> {
  const { bus, state, config } = options;
  const outbox = openOutbox(backend);
  const consumers = startConsumers({ ...options, outbox, settings: backend.settings }, logger);
  const sender = await startSender(
    backend,
    { bus, state, snapshot: config.snapshot(), topicOf: (kind) => topicOf(kind, config.snapshot()) },
    logger,
  );
  return {
    async publish(run, outcome) {
      const snapshot = config.snapshot();
      const announcement = messagesOf(run, outcome, snapshot, new Date());
      if (bus.hasConsumer(topicOf(announcement.kind, snapshot))) await outbox.add(announcement);
    },
    async stopConsuming() {
      // Within the process there are messages for as long as runs end, and what they start waits for the next process.
      if (bus.kind === 'kafka') await consumers.close();
    },
    async close() {
      await sender.close(FLUSH_MS);
      await consumers.close();
      await bus.disconnect();
    },
  };
}
