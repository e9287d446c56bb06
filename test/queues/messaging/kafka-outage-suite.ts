/** A fleet whose broker is dead or suspended. */
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type KafkaServer, startKafka } from '../../servers/queues/kafka.ts';
import { ask, poll, postJson } from '../../support/service/process.ts';
import { kafkaFleet, keys, metric, missingFleet, of, PARTITIONS } from './kafka-fleet.ts';

export interface Outage {
  /** How long the broker is dead. */
  readonly awayMs: number;
  /** Least waiting time of the oldest message just before the broker comes back. */
  readonly oldestSeconds: number;
  /** How long it is suspended afterwards. */
  readonly pausedMs: number;
}

async function ownKafka(): Promise<KafkaServer> {
  const started = await startKafka();
  if ('skip' in started) throw new Error(started.skip);
  return started;
}

export function outageSuite({ awayMs, oldestSeconds, pausedMs }: Outage): void {
  const why = missingFleet === undefined ? '' : ` (skipped: ${missingFleet})`;
  (missingFleet === undefined ? describe : describe.skip)(`with a Kafka that is away for ${awayMs / 1_000} s${why}`, () => {
    const fleet = kafkaFleet(ownKafka);
    const { start, at } = fleet;
    // Before the fleet's own, which asks the broker.
    afterEach(() => fleet.kafka.resume());

    test('runs go on while the broker is dead or suspended; afterwards every message arrives, those of a key in their order, also those of a worker that was killed meanwhile', async () => {
      const { kafka, topics, client } = fleet;
      // A run of several files has several messages, all with its id as their key.
      const people = Array.from({ length: 40 }, (_, i) => `${i},Person ${i}\n`);
      await writeFile(at('crowd.csv'), `id,name\n${people.join('')}`);
      const sliced = { KAFKA_SUCCESS_FORMAT: 'url', SLICE_BYTES: '120' };
      const [api, worker] = await Promise.all([start('api', sliced), start('worker', sliced)]);
      /** Values of the messages of a run, in the order in which they went into the outbox. */
      const put = new Map<string, readonly string[]>();
      const runs = async (times: number): Promise<void> => {
        for (let i = 0; i < times; i++) {
          const { status, body } = await postJson(`${api.url}/process`, { inputFileURL: at('crowd.csv') });
          expect(status).toBe(200);
          expect(body.outputFileLocations.length).toBeGreaterThan(3);
          put.set(body.runId, body.outputFileLocations);
        }
      };
      /** Each message once, at its first arrival; a message may come twice. */
      const came = (key: string): readonly string[] => [
        ...new Set(of(topics.success)(client.heard).flatMap((one) => (one.key === key ? [one.value] : []))),
      ];
      const allCame = (): boolean => [...put].every(([key, values]) => came(key).length === values.length);
      await worker.waitForLog('consumer joined its group');
      await runs(3);
      await client.hear(allCame);

      await kafka.crash();
      const away = performance.now();
      await runs(5);
      // The outcome is announced and not yet sent: its messages are in the outbox, and nowhere else.
      worker.kill('SIGKILL');
      await worker.exited;
      const next = await start('worker', { ...sliced, PORT: '0' });
      await next.waitForLog('listening');
      const third = await start('worker', sliced);
      await runs(5);
      expect((await third.stop()).code).toBe(0);
      while (performance.now() - away < (awayMs * 5) / 6) {
        await runs(1);
        await sleep(500);
      }
      expect((await ask(`${next.url}/health/ready`)).status).toBe(200);
      const kept = put.size - 3;
      expect(kept).toBeGreaterThanOrEqual(10);
      await poll(`${next.url}/metrics`, ({ body }) => (body as string).includes(`\nrml_outbox_messages ${kept}\n`));
      expect(await metric(next, 'rml_outbox_oldest_seconds')).toBeGreaterThan(oldestSeconds);
      // Off and on again while the broker is dead: a consumer that was connecting must not join the group later.
      expect((await ask(`${api.url}/restartKafka`)).body).toEqual({ kafka: 'off' });
      await next.waitForLog('unsubscribed from topic');
      expect((await ask(`${api.url}/restartKafka`)).body).toEqual({ kafka: 'on' });
      while (performance.now() - away < awayMs) await runs(1);
      expect(client.heard.every(({ key }) => [...put.keys()].indexOf(key) < 3)).toBe(true);
      await kafka.restart();
      await runs(3);
      await poll(`${next.url}/metrics`, ({ body }) => /^rml_message_queue_up\{queue="kafka"\} 1$/m.test(body as string));
      await client.hear(allCame, 90_000);

      kafka.pause();
      await runs(5);
      await sleep(pausedMs);
      kafka.resume();
      for (const partition of [0, 1]) await client.send(topics.source, [at('people.csv')], { partition });
      await client.hear((all) => allCame() && keys(all).size === put.size + 2, 90_000);
      for (const [key, values] of put) expect(came(key)).toEqual(values);
      const partitions = of(topics.success)(client.heard).map(({ key, partition }) => `${partition} ${key}`);
      expect(new Set(partitions).size).toBe(put.size + 2);
      expect(new Set(client.heard.map(({ partition }) => partition)).size).toBe(PARTITIONS);
      expect(of(topics.dead)(client.heard)).toEqual([]);
      await poll(`${next.url}/metrics`, ({ body }) => /^rml_outbox_messages 0$/m.test(body as string));
    }, 240_000);
  });
}
