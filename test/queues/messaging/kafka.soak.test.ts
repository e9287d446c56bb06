/** A fleet on a real Apache Kafka that loses a worker, or lacks a certificate, and logins that `kafka.test.ts` leaves out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { runIdOfKey } from '../../../queues/runs/runs.ts';
import type { Secured } from '../../servers/queues/kafka.ts';
import { sharedKafka } from '../../servers/shared/shared.ts';
import { ask, poll } from '../../support/service/process.ts';
import { kafkaFleet, keys, missingFleet, of, SERVICE } from './kafka-fleet.ts';
import { speaks } from './kafka-logins.ts';

(missingFleet === undefined ? describe : describe.skip)(
  `with Kafka${missingFleet === undefined ? '' : ` (skipped: ${missingFleet})`}`,
  () => {
    const fleet = kafkaFleet(sharedKafka);
    const { start, at, input, run } = fleet;

    test('two workers share the messages; one is killed, and each message is one run and one success', async () => {
      const count = 120;
      const group = await start('worker');
      for (const partition of [0, 1])
        await fleet.client.send(
          fleet.topics.source,
          Array.from({ length: count / 2 }, (_, i) => input(partition * 1000 + i)),
          { partition },
        );
      await fleet.client.hear((all) => all.length > 5);
      const second = await start('worker');
      await second.waitForLog('consumer joined its group', ({ partitions }) => partitions === 1);
      for (const partition of [0, 1])
        await fleet.client.send(
          fleet.topics.source,
          Array.from({ length: count / 2 }, (_, i) => input(partition * 1000 + 100 + i)),
          { partition },
        );
      await fleet.client.hear((all) => keys(all).size > count);
      group.kill('SIGKILL');
      for (const partition of [0, 1]) await fleet.client.send(fleet.topics.source, [input(partition * 1000 + 200)], { partition });
      await second.waitForLog('consumer joined its group', ({ partitions }) => partitions === 2);
      await fleet.client.hear((all) => keys(all).size === 2 * count + 2);
      await sleep(500);
      expect(keys(fleet.client.heard).size).toBe(2 * count + 2);
      const expected = [0, 1].flatMap((partition) =>
        Array.from({ length: count + 1 }, (_, offset) => runIdOfKey(SERVICE, `${fleet.topics.source}-${partition}-${offset}`)),
      );
      expect(keys(of(fleet.topics.success)(fleet.client.heard))).toEqual(new Set(expected));
    }, 90_000);

    test('a worker refused by the brokers reports why in its log and at /health/ready, and its messages arrive once it has a certificate', async () => {
      const { mutual, ca, client: own } = fleet.kafka.secured as Secured;
      const tls = { KAFKA_BROKERS: mutual, KAFKA_SSL: 'true', KAFKA_SSL_CA: ca };
      const without = await start('all', tls);
      expect((await run(without)).status).toBe(200);
      const why = /set KAFKA_SSL_CERT and KAFKA_SSL_KEY$/;
      await without.waitForLog('message queue error', ({ reason }) => why.test(String(reason)));
      const ready = await poll(`${without.url}/health/ready`, ({ body }) => body.checks.messages === 'down', 30_000);
      expect(ready).toMatchObject({ status: 200, body: { checks: { queue: 'up' }, reasons: { messages: expect.stringMatching(why) } } });
      expect((await without.stop()).code).toBe(0);
      expect(fleet.client.heard).toEqual([]);

      const one = await start('all', { ...tls, KAFKA_SSL_CERT: own.certificate, KAFKA_SSL_KEY: own.key });
      await fleet.client.hear((all) => all.length === 1);
      await fleet.client.send(fleet.topics.source, [at('people.csv')]);
      await fleet.client.hear((all) => keys(of(fleet.topics.success)(all)).size === 2);
      expect((await ask(`${one.url}/health/ready`)).body).toMatchObject({ checks: { messages: 'up' } });
    }, 90_000);

    speaks(fleet, ['SASL PLAIN', 'TLS', 'TLS with a client certificate']);
  },
);
