/** Messaging of a process with workers: consumes source messages and sends messages of outcomes. */
import type { QueueBackend } from '../../queues/backend/backend.ts';
import type { FleetFunctions } from '../../queues/custom-functions.ts';
import type { RunPayload, Service } from '../../queues/jobs.ts';
import type { BusState, MessageBus } from '../../queues/messaging/bus.ts';
import { openConfiguredBus, provenanceOptions } from '../../queues/messaging/configured-bus.ts';
import {
  deadLetter,
  feedMessageHeaders,
  type MessageKind,
  messagesOf,
  provenanceDeadLetter,
  topicOf,
} from '../../queues/messaging/messages.ts';
import { openOutbox, startSender } from '../../queues/messaging/outbox.ts';
import type { Runs } from '../../queues/runs/contract.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import type { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import type { FollowerAnnouncements } from '../follow/announce.ts';
import type { PublishOutcome } from '../jobs/run-end.ts';
import { startConsumers } from './consume.ts';

export interface Messaging {
  /** For the ends of runs. */
  readonly publish: PublishOutcome;
  /** Sends a message that the provenance of a run could not be recorded. */
  provenanceFailed(run: RunPayload, fault: Fault): Promise<void>;
  /** For followers: sends a dead letter with a message of their feed. */
  readonly rejected: FollowerAnnouncements['rejected'];
  /** Stops consuming source messages. */
  stopConsuming(): Promise<void>;
  /** Sends remaining messages for a moment; the rest stays in the outbox. */
  close(): Promise<void>;
}

export interface MessagingOptions {
  /** Those of this process; default: all. */
  readonly services?: readonly Service[];
  readonly bus: MessageBus;
  readonly state: BusState;
  readonly runs: Pick<Runs, 'submit' | 'counts'>;
  readonly config: ConfigStore;
  /** Undefined: there are no custom functions. */
  readonly functions?: Pick<FleetFunctions, 'described'>;
  readonly workingDirectory: string;
  /** The embedded store, if this process has it. */
  readonly store?: { readonly endpoint: string } | undefined;
}

const FLUSH_MS = 3_000;

/**
 * Resolves even while the brokers are away: runs do not need them.
 *
 * The local bus accepts only messages that have a consumer: consumers other than the graph writer must start before this is called and stop
 * after it is closed.
 */
export async function openMessaging(backend: QueueBackend, options: MessagingOptions, logger: Logger): Promise<Messaging> {
  const { bus, state, config } = options;
  const outbox = openOutbox(backend);
  const consumers = startConsumers({ ...options, outbox, settings: backend.settings }, logger);
  const provenance = openConfiguredBus(config, logger, provenanceOptions);
  const busOf = (kind: MessageKind): MessageBus | undefined => {
    const hasOwn = kind === 'provenance-dead-letter' && bus.kind === 'kafka' && config.snapshot().PROV_KAFKA_BROKERS.length > 0;
    return hasOwn ? provenance : undefined;
  };
  const sender = await startSender(
    backend,
    { services: options.services, bus, busOf, state, snapshot: config.snapshot(), topicOf: (kind) => topicOf(kind, config.snapshot()) },
    logger,
  );
  return {
    publish: {
      has(run, outcome) {
        const snapshot = config.snapshot();
        const { kind, messages } = messagesOf(run, outcome, snapshot, new Date());
        return messages.length > 0 && bus.hasConsumer(topicOf(kind, snapshot));
      },
      add: (run, outcome) => outbox.add(run.service, messagesOf(run, outcome, config.snapshot(), new Date())),
    },
    async provenanceFailed(run, fault) {
      const snapshot = config.snapshot();
      const announcement = provenanceDeadLetter(run, fault, snapshot, new Date());
      if (bus.hasConsumer(topicOf(announcement.kind, snapshot))) await outbox.add(run.service, announcement);
    },
    async rejected(service, failure, message) {
      const snapshot = config.snapshot();
      if (!bus.hasConsumer(topicOf('dead-letter', snapshot))) return;
      await outbox.add(service, deadLetter(failure, feedMessageHeaders(message), snapshot));
    },
    async stopConsuming() {
      // On the local bus, messages are produced until the last run has ended; runs that they start are left to the next process.
      if (bus.kind === 'kafka') await consumers.close();
    },
    async close() {
      await sender.close(FLUSH_MS);
      await consumers.close();
      await bus.disconnect();
      provenance.close();
      await provenance.disconnect();
    },
  };
}
