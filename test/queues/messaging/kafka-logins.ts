/** The logins and kinds of connections that a secured broker takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { IncomingMessage } from '../../../queues/messaging/bus.ts';
import { openKafka } from '../../../queues/messaging/kafka/kafka.ts';
import { DEFAULTS, type OptionValues } from '../../../src/config/options/options.ts';
import { Secret } from '../../../src/core/secret.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { KAFKA_USERS, type Secured } from '../../servers/queues/kafka.ts';
import type { SharedKafka } from '../../servers/shared/shared.ts';
import type { KafkaFleet } from './kafka-fleet.ts';

const { plain, scram } = KAFKA_USERS;

const LOGINS: readonly (readonly [name: string, options: (secured: Secured) => OptionValues])[] = [
  [
    'SASL PLAIN',
    ({ sasl }) => ({
      KAFKA_BROKERS: [sasl],
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_USERNAME: plain.username,
      KAFKA_PASSWORD: new Secret(plain.password),
    }),
  ],
  [
    'SASL SCRAM over TLS',
    ({ saslTls, ca }) => ({
      KAFKA_BROKERS: [saslTls],
      KAFKA_SSL: true,
      KAFKA_SSL_CA: ca,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_USERNAME: scram.username,
      KAFKA_PASSWORD: new Secret(scram.password),
    }),
  ],
  ['TLS', ({ tls, ca }) => ({ KAFKA_BROKERS: [tls], KAFKA_SSL: true, KAFKA_SSL_CA: ca })],
  [
    'TLS with a client certificate',
    ({ mutual, ca, client: { certificate, key } }) => ({
      KAFKA_BROKERS: [mutual],
      KAFKA_SSL: true,
      KAFKA_SSL_CA: ca,
      KAFKA_SSL_CERT: certificate,
      KAFKA_SSL_KEY: key,
    }),
  ],
];

/** One case for each of `names`: messages go there and back. */
export function speaks(fleet: KafkaFleet<SharedKafka>, names: readonly string[]): void {
  test.each(LOGINS.filter(([name]) => names.includes(name)))('speaks %s, by several clients', async (_, options) => {
    const bus = openKafka({ ...DEFAULTS, ...options(fleet.kafka.secured) }, quietLogger());
    const taken: IncomingMessage[] = [];
    const subscription = bus.consume(fleet.topics.source, fleet.topics.source, async (message) => void taken.push(message));
    await bus.produce([{ topic: fleet.topics.source, key: 'k', value: 'v', headers: { bytes: Buffer.from([0xff]) } }]);
    for (const deadline = Date.now() + 20_000; taken.length === 0; await sleep(20))
      if (Date.now() > deadline) throw new Error('nothing came');
    expect(taken.map(({ key, value, offset }) => [String(key), String(value), offset])).toEqual([['k', 'v', '0']]);
    for (const deadline = Date.now() + 20_000; (await bus.lag(fleet.topics.source, fleet.topics.source)) > 0; await sleep(50))
      if (Date.now() > deadline) throw new Error('lag');
    await subscription.close();
    await bus.disconnect();
  });
}
