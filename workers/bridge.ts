/** What a process with workers has to do with the message queue: source messages in, messages of outcomes out. */
import type { QueueBackend } from '../queues/backend.ts';
import type { BusSwitch, MessageBus } from '../queues/bus.ts';
import type { Runs } from '../queues/contract.ts';
import { announcementOf } from '../queues/messages.ts';
import { openOutbox, startSender } from '../queues/outbox.ts';
import type { ConfigStore } from '../src/config/store.ts';
import type { Logger } from '../src/observe.ts';
import type { Say } from './announce.ts';
import { startConsumer } from './consume.ts';

export interface Bridge {
  /** For `announce`. */
  readonly say: Say;
  /** Takes no more source messages. */
  stopTaking(): Promise<void>;
  /** Sends what is there for a moment; what is left stays in the outbox. */
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly bus: MessageBus;
  readonly state: BusSwitch;
  readonly runs: Pick<Runs, 'submit' | 'counts'>;
  readonly config: ConfigStore;
  readonly workingDirectory: string;
}

const FLUSH_MS = 3_000;

/** Goes on while the brokers are away: runs do not need them. */
export async function openBridge(backend: QueueBackend, options: BridgeOptions, logger: Logger): Promise<Bridge> {
  const { bus, state, config } = options;
  const outbox = openOutbox(backend);
  const sender = await startSender(backend, { bus, state, snapshot: config.snapshot() }, logger);
  const consumer = startConsumer({ ...options, outbox }, logger);
  return {
    say: (run, outcome) => outbox.add(announcementOf(run, outcome, config.snapshot(), new Date())),
    stopTaking: () => consumer.close(),
    async close() {
      await consumer.close();
      await sender.close(FLUSH_MS);
      await bus.disconnect();
    },
  };
}
