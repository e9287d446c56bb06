/** A real Apache Kafka: messages in and out of a fleet on Redis, while workers stop, die and come back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { openKafka } from '../../../queues/messaging/kafka/kafka.ts';
import { DEFAULTS, type OptionValues } from '../../../src/config/options/options.ts';
import { Secret } from '../../../src/core/secret.ts';
import { createLogger, quietLogger } from '../../../src/core/telemetry/observe.ts';
import type { Secured } from '../../servers/queues/kafka.ts';
import { sharedKafka } from '../../servers/shared/shared.ts';
import { openKafkaClient } from '../../support/service/kafka-client.ts';
import { ask } from '../../support/service/process.ts';
import { kafkaFleet, keys, metric, missingFleet, of, SERVICE } from './kafka-fleet.ts';
import { speaks } from './kafka-logins.ts';

/** The largest value that the brokers accept in a message, without its key and framing. */
const LARGEST = 1_048_400;

(missingFleet === undefined ? describe : describe.skip)(
  `with Kafka${missingFleet === undefined ? '' : ` (skipped: ${missingFleet})`}`,
  () => {
    const fleet = kafkaFleet(sharedKafka);
    const { start, at, run } = fleet;

    test('a URL and a JSON object become runs with success messages; an invalid message and a failed run become dead letters with the bytes of the message', async () => {
      const one = await start('all');
      const poison: readonly (string | Buffer | null)[] = [
        Buffer.from([0x00, 0xff, 0xfe]),
        '{"inputFileURL":',
        '[]',
        '',
        'x'.repeat(LARGEST),
      ];
      for (const value of [at('people.csv'), ...poison, JSON.stringify({ inputFileURL: at('people.csv') })]) {
        await fleet.client.send(fleet.topics.source, [value], { partition: 1 });
      }
      await fleet.client.send(fleet.topics.source, [at('missing.csv')], { partition: 0 });
      const heard = await fleet.client.hear(
        (all) => keys(of(fleet.topics.success)(all)).size === 2 && keys(of(fleet.topics.dead)(all)).size === poison.length + 1,
      );

      for (const { key, headers, value } of of(fleet.topics.success)(heard)) {
        expect(headers).toEqual({ runId: key });
        const message = JSON.parse(value);
        expect(message).toMatchObject({ runId: key, service: SERVICE, quads: 2, provenance: '' });
        expect(message.outputFileLocations).toEqual([expect.stringMatching(`^file://.*Semi-Structured-Transformer-${key}\\.nq$`)]);
        expect((await ask(`${one.url}/runs/${key}`)).body).toMatchObject({ state: 'completed' });
      }
      const dead = of(fleet.topics.dead)(heard);
      for (const [i, value] of poison.entries()) {
        const letter = dead.find(({ headers }) => headers['source-offset'] === String(i + 1) && headers['source-partition'] === '1');
        expect(letter?.headers).toMatchObject({ runId: letter?.key, 'source-topic': fleet.topics.source, 'source-key': 'caller' });
        const original = Buffer.from(value as Buffer).toString('latin1');
        // One that leaves no place for the failure message is left where it stands.
        if (original.length === LARGEST) expect(letter?.headers['source-value-bytes']).toBe(String(LARGEST));
        else expect(letter?.headers['source-value']).toBe(original);
        expect(JSON.parse(letter?.value as string)).toMatchObject({
          runId: letter?.key,
          code: letter?.headers.code,
          name: 'Semi-Structured-Transformer',
        });
      }
      const failed = dead.find(({ headers }) => headers['source-partition'] === '0');
      expect(failed?.headers).toMatchObject({ code: 'source/missing', 'source-offset': '0', 'source-value': at('missing.csv') });
      expect(JSON.parse(failed?.value as string).error).toMatch(`Record '${at('missing.csv')}' could not be processed due to:`);

      // All offsets are committed: the next process gets no message again.
      for (
        const deadline = Date.now() + 5_000;
        (await fleet.client.committed(fleet.topics.source, fleet.env.KAFKA_GROUP_ID as string)) < 8;
        await sleep(50)
      ) {
        if (Date.now() > deadline) throw new Error('offsets are not committed');
      }
      const { code } = await one.stop();
      expect(code).toBe(0);
      const next = await start('all', { KAFKA_SUCCESS_FORMAT: 'url' });
      await fleet.client.send(fleet.topics.source, [at('people.csv')], { partition: 0 });
      await fleet.client.hear((all) => keys(of(fleet.topics.success)(all)).size === 3);
      expect(of(fleet.topics.success)(fleet.client.heard).at(-1)?.value).toMatch(/^file:\/\/.*\.nq$/);
      expect(fleet.client.heard).toHaveLength(2 + 6 + 1);
      expect(await metric(next, 'rml_messages_taken_total')).toBe(1);
    }, 60_000);

    test('/restartKafka stops the fleet from consuming and sending, also after a restart, until it is called again', async () => {
      const [first, second] = await Promise.all([start('all'), start('all')]);
      await fleet.client.send(fleet.topics.source, [at('people.csv')]);
      await fleet.client.hear((all) => all.length === 1);
      expect((await ask(`${first.url}/restartKafka`)).body).toEqual({ kafka: 'off' });
      await Promise.all([first, second].map((one) => one.waitForLog('unsubscribed from topic')));
      await fleet.client.send(fleet.topics.source, [at('people.csv'), at('people.csv')]);
      expect((await run(second)).status).toBe(200);
      await Promise.all([first.stop(), second.stop()]);
      const third = await start('all');
      expect((await ask(`${third.url}/health/ready`)).status).toBe(200);
      expect((await run(third)).status).toBe(200);
      for (const deadline = Date.now() + 20_000; (await metric(third, 'rml_outbox_messages')) !== 2; await sleep(50)) {
        if (Date.now() > deadline) throw new Error('the outbox does not show');
      }
      expect(fleet.client.heard).toHaveLength(1);
      expect((await ask(`${third.url}/restartKafka`)).body).toEqual({ kafka: 'on' });
      await fleet.client.hear((all) => keys(of(fleet.topics.success)(all)).size === 5);
      expect(of(fleet.topics.dead)(fleet.client.heard)).toEqual([]);
    }, 60_000);

    describe('the bus', () => {
      const open = (options: OptionValues, logger = quietLogger()) => openKafka({ ...DEFAULTS, ...options }, logger);

      speaks(fleet, ['SASL SCRAM over TLS']);

      test('reports a refused login, without the password', async () => {
        const lines: string[] = [];
        const logger = createLogger({}, { write: (line) => void lines.push(line) });
        const { sasl } = fleet.kafka.secured as Secured;
        const bus = open(
          { KAFKA_BROKERS: [sasl], KAFKA_SASL_MECHANISM: 'plain', KAFKA_USERNAME: 'alice', KAFKA_PASSWORD: new Secret('hunter2') },
          logger,
        );
        await expect(bus.produce([{ topic: fleet.topics.source, key: 'k', value: 'v', headers: {} }])).rejects.toThrow(
          /authentication|credentials/i,
        );
        await bus.disconnect();
        expect(bus.lastError()).toBeUndefined();
        expect(lines.join('')).not.toContain('hunter2');
      }, 60_000);

      test.each<[string, (secured: Secured) => OptionValues, RegExp]>([
        [
          'brokers want a certificate',
          ({ ca }) => ({ KAFKA_SSL_CA: ca }),
          /^The brokers want a certificate .*set KAFKA_SSL_CERT and KAFKA_SSL_KEY$/,
        ],
        [
          'brokers refuse its certificate',
          ({ ca, stranger: { certificate, key } }) => ({ KAFKA_SSL_CA: ca, KAFKA_SSL_CERT: certificate, KAFKA_SSL_KEY: key }),
          /^The brokers refuse the certificate of KAFKA_SSL_CERT \(alert: /,
        ],
        [
          'certificate of the brokers is signed by another authority',
          ({ stranger }) => ({ KAFKA_SSL_CA: stranger.certificate }),
          /^The certificate of the brokers is not trusted .*set KAFKA_SSL_CA/,
        ],
      ])('says soon that the %s', async (_, options, expected) => {
        const lines: string[] = [];
        const logger = createLogger({}, { write: (line) => void lines.push(line) });
        const secured = fleet.kafka.secured as Secured;
        const bus = open({ KAFKA_BROKERS: [secured.mutual], KAFKA_SSL: true, ...options(secured) }, logger);
        expect(bus.lastError()).toBeUndefined();
        await expect(bus.lag(fleet.topics.source, fleet.topics.source)).rejects.toThrow();
        expect(bus.lastError()).toMatch(expected);
        expect(lines.map((line) => JSON.parse(line).reason)).toContainEqual(expect.stringMatching(expected));
        await bus.disconnect();
        expect(bus.lastError()).toBeUndefined();
      });

      test('waits for a missing topic, and sends to others meanwhile', async () => {
        const bus = open({ KAFKA_BROKERS: [fleet.kafka.broker] });
        const later = `${fleet.topics.source}.later`;
        const message = (topic: string) => ({ topic, key: 'k', value: 'v', headers: {} });
        const taken: string[] = [];
        const subscription = bus.consume(later, later, async ({ value }) => void taken.push(String(value)));
        const waiting = bus.produce([message(later)]);
        await bus.produce([message(fleet.topics.success)]);
        await fleet.client.hear((all) => all.length === 1);
        expect(taken).toEqual([]);
        const other = await openKafkaClient(fleet.kafka.broker, { [later]: 1 }, [later]);
        await waiting;
        for (const deadline = Date.now() + 20_000; taken.length === 0; await sleep(20))
          if (Date.now() > deadline) throw new Error('nothing came');
        expect(taken).toEqual(['v']);
        await other.close();
        await subscription.close();
        await bus.disconnect();
      }, 60_000);

      test('skips a message that is too large, and delivers a rejected one again before the next', async () => {
        const bus = open({ KAFKA_BROKERS: [fleet.kafka.broker] });
        const message = (value: string) => ({ topic: fleet.topics.source, key: 'one key', value, headers: {} });
        const large = bus.produce([message('x'.repeat(1_100_000))]).catch((error: Error) => error.name);
        const small = Array.from({ length: 500 }, (_, i) => bus.produce([message(String(i))]));
        expect(await large).toBe('MessageTooLarge');
        await Promise.all(small);
        const taken: string[] = [];
        let refusals = 2;
        const subscription = bus.consume(fleet.topics.source, fleet.topics.source, async ({ value }) => {
          if (String(value) === '30' && refusals-- > 0) throw new Error('not now');
          taken.push(String(value));
        });
        for (const deadline = Date.now() + 20_000; taken.length < 500; await sleep(20))
          if (Date.now() > deadline) throw new Error(`only ${taken.length}`);
        await subscription.close();
        await bus.disconnect();
        expect(new Set(taken).size).toBe(500);
        expect(taken.indexOf('30')).toBeLessThan(taken.indexOf('40'));
        expect(taken.filter((value) => value !== '30')).toEqual(
          Array.from({ length: 500 }, (_, i) => String(i)).filter((value) => value !== '30'),
        );
      }, 60_000);
    });
  },
);
