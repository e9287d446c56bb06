/** The graph writer on a real Kafka: announced files are written, and failures become dead letters of the graph writer. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingKafka } from '../servers/queues/kafka.ts';
import { SHARED_START_MS, type SharedKafka, sharedKafka } from '../servers/shared/shared.ts';
import { temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { PEOPLE, peopleMapping } from '../support/service/inputs.ts';
import { type KafkaClient, openKafkaClient } from '../support/service/kafka-client.ts';
import { ask, poll, type ServiceProcess, startService } from '../support/service/process.ts';

const missing = await missingKafka();
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

(missing === undefined ? describe : describe.skip)(`the graph writer on Kafka${why}`, () => {
  const name = uniquePrefix();
  let topics: Readonly<Record<'source' | 'success' | 'dead', string>>;
  let kafka: SharedKafka;
  let client: KafkaClient;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let service: ServiceProcess;
  const at = (file: string): string => join(directory.path, file);

  beforeAll(async () => {
    kafka = await sharedKafka();
    const topic = `${kafka.prefix}${name}`;
    topics = { source: `${topic}.source`, success: `${topic}.success`, dead: `${topic}.dead` };
    directory = await temporaryDirectory();
    await mkdir(at('mappings'));
    await writeFile(at('mappings/people.ttl'), peopleMapping('csv', 'people.csv'));
    await writeFile(at('people.csv'), PEOPLE.csv);
    await writeFile(at('some.nq'), '<http://e.org/s> <http://e.org/p> "kept" .\n<http://e.org/s> <http://e.org/p> <left out> .\n');
    client = await openKafkaClient(kafka.broker, { [topics.source]: 1, [topics.success]: 1, [topics.dead]: 1 }, [
      topics.success,
      topics.dead,
    ]);
    service = await startService({
      cwd: directory.path,
      env: {
        SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: at('mappings'),
        KAFKA_BROKERS: kafka.broker,
        KAFKA_TOPIC_NAME_SOURCE: topics.source,
        KAFKA_TOPIC_NAME_SUCCESS: topics.success,
        KAFKA_TOPIC_NAME_DLQ: topics.dead,
        KAFKA_GROUP_ID: name,
      },
    });
  }, SHARED_START_MS);
  afterAll(async () => {
    await service?.stop();
    await client?.close();
    await kafka?.stop();
    await directory?.remove();
  }, 60_000);

  const counted = async (pattern: string, enough: (count: number) => boolean): Promise<void> => {
    const query = encodeURIComponent(`SELECT (COUNT(*) AS ?n) { ${pattern} }`);
    await poll(
      `${service.url}/sparql?query=${query}`,
      ({ body }) => enough(Number((body.results as { bindings: { n: { value: string } }[] }).bindings[0]?.n.value)),
      60_000,
    );
  };
  const dead = () => client.heard.filter(({ topic }) => topic === topics.dead);

  test('a source message becomes a graph: transformed, announced, written', async () => {
    await client.send(topics.source, [at('people.csv')]);
    const [success] = await client.hear((heard) => heard.some(({ topic }) => topic === topics.success), 60_000);
    const { quads } = JSON.parse(success?.value ?? '') as { quads: number };
    expect(quads).toBeGreaterThan(0);
    await counted('?s ?p ?o', (count) => count === quads);
  }, 120_000);

  test('what it rejects, and a file that is not there or of another type, are dead letters', async () => {
    await client.send(topics.success, [at('some.nq'), JSON.stringify([at('nothing.nq')]), at('people.csv')]);
    await client.hear(() => dead().length >= 3, 60_000);
    const letters = dead().map(({ value, headers }) => ({ ...(JSON.parse(value) as Record<string, string>), headers }));
    expect(letters).toContainEqual(
      expect.objectContaining({
        name: 'Graph-Writer',
        entity: at('some.nq'),
        code: 'record/term',
        error: expect.stringContaining('line 2'),
      }),
    );
    expect(letters).toContainEqual(
      expect.objectContaining({
        code: 'source/missing',
        headers: expect.objectContaining({ 'source-topic': topics.success, 'source-value': JSON.stringify([at('nothing.nq')]) }),
      }),
    );
    const error = `Record '${at('people.csv')}' could not be processed due to: Input has the file extension 'csv'; expected is nq`;
    expect(letters).toContainEqual(expect.objectContaining({ code: 'source/type', error, entity: at('people.csv') }));
    await counted('?s ?p "kept"', (count) => count === 1);
  }, 120_000);

  test('a message that repeats changes nothing', async () => {
    const runs = async (): Promise<number> => ((await ask(`${service.url}/graph-writer/runs`)).body.runs as unknown[]).length;
    const before = await runs();
    await client.send(topics.success, [at('some.nq')]);
    await poll(
      `${service.url}/graph-writer/runs`,
      ({ body }) => (body.runs as { state: string }[]).filter(({ state }) => state !== 'queued' && state !== 'running').length > before,
      60_000,
    );
    await counted('?s ?p "kept"', (count) => count === 1);
  }, 120_000);

  test('the log is all that was printed', () => {
    expect(service.stderr()).toBe('');
  });
});
