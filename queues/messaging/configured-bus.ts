/** The message bus that the options currently select: Kafka, local or none. Replaced when the options change while the process runs. */
import type { Snapshot } from '../../src/config/options/options.ts';
import type { ConfigStore } from '../../src/config/store.ts';
import { Fault } from '../../src/core/fault.ts';
import type { Logger } from '../../src/core/telemetry/observe.ts';
import { type BusState, busKind, type MessageBus } from './bus.ts';
import { openKafka } from './kafka/kafka.ts';
import { openLocalBus } from './local-bus.ts';

export interface ConfiguredBus extends MessageBus {
  /**
   * Whether messages are exchanged: `state` applies only to a connection to brokers. Listeners are also called after the bus was replaced.
   */
  effectiveState(state: BusState): BusState;
  close(): void;
}

/** The options of the bus for messages about provenance: PROV_KAFKA_BROKERS, where they are set, with the login of KAFKA_BROKERS. */
export const provenanceOptions = (snapshot: Snapshot): Snapshot =>
  snapshot.PROV_KAFKA_BROKERS.length === 0 ? snapshot : { ...snapshot, KAFKA_BROKERS: snapshot.PROV_KAFKA_BROKERS };

/**
 * @param optionsOf those of this bus
 * @throws Fault config/invalid — contradicting options for brokers
 */
export function openConfiguredBus(
  config: ConfigStore,
  logger: Logger,
  optionsOf: (snapshot: Snapshot) => Snapshot = (snapshot) => snapshot,
): ConfiguredBus {
  const listeners = new Set<() => void>();
  const first = optionsOf(config.snapshot());
  let key = keyOf(first);
  let current = open(first, logger);

  const unwatch = config.onChange((changed) => {
    const snapshot = optionsOf(changed);
    if (keyOf(snapshot) === key) return;
    const before = current;
    try {
      current = open(snapshot, logger);
    } catch (error) {
      logger.error({ reason: Fault.of(error).message, hint: Fault.of(error).hint }, 'new broker options refused');
      return;
    }
    key = keyOf(snapshot);
    logger.info({ broker: current.describe(), before: before.describe() }, 'message queue changed');
    for (const listener of listeners) listener();
    // Consumers already use the new bus; messages that could not be sent are retried there.
    before.disconnect().catch((error: unknown) => logger.warn({ error }, 'former brokers not disconnected'));
  });

  return {
    get kind() {
      return current.kind;
    },
    describe: () => current.describe(),
    lastError: () => current.lastError(),
    hasConsumer: (topic) => current.hasConsumer(topic),
    consume: (...given) => current.consume(...given),
    produce: (messages) => current.produce(messages),
    lag: (topic, group) => current.lag(topic, group),
    disconnect: () => current.disconnect(),
    effectiveState: (state) => ({
      isOn: () => current.kind === 'local' || (current.kind === 'kafka' && state.isOn()),
      onChange(changed) {
        const tell = (): void => changed(current.kind === 'local' || (current.kind === 'kafka' && state.isOn()));
        listeners.add(tell);
        const off = state.onChange(tell);
        return () => {
          listeners.delete(tell);
          off();
        };
      },
    }),
    close: unwatch,
  };
}

const keyOf = (snapshot: Snapshot): string =>
  JSON.stringify([busKind(snapshot), busKind(snapshot) === 'kafka' ? snapshot.KAFKA_BROKERS : []]);

function open(snapshot: Snapshot, logger: Logger): MessageBus {
  switch (busKind(snapshot)) {
    case 'kafka':
      return openKafka(snapshot, logger);
    case 'local':
      return openLocalBus();
    case 'none':
      return NO_BUS;
  }
}

/** Without a message queue nothing consumes messages, so none are produced. */
const NO_BUS: MessageBus = {
  kind: 'none',
  describe: () => 'none',
  lastError: () => undefined,
  hasConsumer: () => false,
  consume: () => ({ close: async () => undefined }),
  produce: async () => {
    throw new Error('There is no message queue');
  },
  lag: async () => 0,
  disconnect: async () => undefined,
};
