/** Random requests, many of them, and random source messages: no 500, no stack, no hang, nothing lost. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingKafka } from '../../servers/queues/kafka.ts';
import { SHARED_START_MS, type SharedKafka, sharedKafka } from '../../servers/shared/shared.ts';
import { uniquePrefix } from '../../support/queues/backends.ts';
import { Random } from '../../support/random.ts';
import { type KafkaClient, openKafkaClient } from '../../support/service/kafka-client.ts';
import { expectWell, Fuzzer, fuzz, startVictim, type Victim } from './fuzz-suite.ts';

fuzz(2, 8_000, 8);

const missing = await missingKafka();
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

(missing === undefined ? describe : describe.skip)(`source messages${why}`, () => {
  const COUNT = 1_000;
  let kafka: SharedKafka;
  let client: KafkaClient;
  let victim: Victim;
  let topics: Readonly<Record<'source' | 'success' | 'dead', string>>;
  const group = uniquePrefix();

  beforeAll(async () => {
    kafka = await sharedKafka();
    const topic = `${kafka.prefix}${group}`;
    topics = { source: `${topic}.source`, success: `${topic}.success`, dead: `${topic}.dead` };
    client = await openKafkaClient(kafka.broker, { [topics.source]: 1, [topics.success]: 1, [topics.dead]: 1 }, [
      topics.success,
      topics.dead,
    ]);
    victim = await startVictim({
      KAFKA_BROKERS: kafka.broker,
      KAFKA_TOPIC_NAME_SOURCE: topics.source,
      KAFKA_TOPIC_NAME_SUCCESS: topics.success,
      KAFKA_TOPIC_NAME_DLQ: topics.dead,
      KAFKA_GROUP_ID: group,
    });
  }, SHARED_START_MS);
  afterAll(async () => {
    await victim?.stop();
    await client?.close();
    await kafka?.stop();
  }, 60_000);

  test('each gets one answer: success or dead letter', async () => {
    const random = new Random(3);
    const fuzzer = new Fuzzer(random, [], victim.sensible);
    const fields = ['inputFileURL', 'inputFileURLs', 'logicalSource', 'logicalSources', 'mappingURL', 'onError', 'maxRejected'];
    const values = Array.from({ length: COUNT }, (_, i) => {
      if (i % 50 === 0) return join(victim.directory, 'people.csv');
      if (i % 33 === 0) return null;
      return random.chance(0.5) ? fuzzer.json(fields).subarray(0, 200_000) : Buffer.from(fuzzer.text());
    });
    // A request of the producer has a bound of 1 MiB.
    for (let i = 0; i < COUNT; i += 4) await client.send(topics.source, values.slice(i, i + 4));
    const offsetOf = ({ key, headers }: { readonly key: string; readonly headers: Readonly<Record<string, string>> }): string =>
      headers['source-offset'] ?? key.replace(/^.*-/, '');
    const answered = (): number =>
      new Set(client.heard.filter(({ topic }) => topic === topics.dead || topic === topics.success).map(offsetOf)).size;
    await client.hear(() => answered() >= COUNT, 240_000);
    expect(JSON.stringify(client.heard)).not.toContain('internal/error');
    expect(client.heard.filter(({ topic }) => topic === topics.success).length).toBeGreaterThanOrEqual(COUNT / 50);
    await expectWell(victim);
  }, 300_000);
});
