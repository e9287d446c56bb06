/** Changing brokers, topics and target of a running service with a real Kafka: nothing is lost. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { missingKafka } from '../../servers/queues/kafka.ts';
import { SHARED_START_MS, type SharedKafka, sharedKafka } from '../../servers/shared/shared.ts';
import { temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { peopleMapping } from '../../support/service/inputs.ts';
import { type KafkaClient, openKafkaClient } from '../../support/service/kafka-client.ts';
import { ask, poll, type ServiceProcess, startService } from '../../support/service/process.ts';

const missing = await missingKafka();
const why = missing === undefined ? '' : ` (not tested: ${missing})`;

(missing === undefined ? describe : describe.skip)(`a service that runs${why}`, () => {
  const name = uniquePrefix();
  let [SOURCE, SOURCE2, SUCCESS, SUCCESS2, DEAD, DEAD2, NIGHTS, PROVENANCE] = ['', '', '', '', '', '', '', ''];
  let kafka: SharedKafka;
  let client: KafkaClient;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let service: ServiceProcess;
  let inputs = 0;
  const at = (file: string): string => join(directory.path, file);

  const start = (): Promise<ServiceProcess> =>
    startService({
      cwd: directory.path,
      env: { KAFKA_TOPIC_NAME_SOURCE: SOURCE, KAFKA_TOPIC_NAME_SUCCESS: SUCCESS, KAFKA_TOPIC_NAME_DLQ: DEAD, KAFKA_GROUP_ID: name },
    });

  beforeAll(async () => {
    kafka = await sharedKafka();
    const topics = ['source', 'source2', 'success', 'success2', 'dead', 'dead2', 'nights', 'provenance'].map(
      (one) => `${kafka.prefix}${name}.${one}`,
    );
    [SOURCE = '', SOURCE2 = '', SUCCESS = '', SUCCESS2 = '', DEAD = '', DEAD2 = '', NIGHTS = '', PROVENANCE = ''] = topics;
    directory = await temporaryDirectory();
    const mappings = at('data/mappings/semi-structured-transformer');
    await mkdir(mappings, { recursive: true });
    await writeFile(join(mappings, 'people.ttl'), peopleMapping('csv', 'people.csv'));
    client = await openKafkaClient(kafka.broker, Object.fromEntries(topics.map((one) => [one, 2])), [
      SUCCESS,
      SUCCESS2,
      DEAD,
      DEAD2,
      PROVENANCE,
    ]);
    service = await start();
  }, SHARED_START_MS);
  afterAll(async () => {
    await service?.stop();
    await client?.close();
    await kafka?.stop();
    await directory?.remove();
  }, 60_000);

  const update = async (
    configEntry: string,
    configValue: string,
    prefix = 'semi-structured-transformer',
    url = service.url,
  ): Promise<void> => {
    const query = new URLSearchParams({ configEntry, configValue });
    expect(await ask(`${url}/${prefix}${prefix === '' ? '' : '/'}updateConfig?${query}`, { method: 'PUT' })).toMatchObject({ status: 200 });
  };
  /** An input that gives one distinct statement, named by the last part of its subject. */
  const input = async (): Promise<{ readonly url: string; readonly subject: string }> => {
    const subject = `http://example.com/i${++inputs}`;
    const url = at(`people${inputs}.csv`);
    await writeFile(url, `id,name\ni${inputs},Ann\n`);
    return { url, subject };
  };
  const written = async (subject: string): Promise<void> => {
    const query = encodeURIComponent(`ASK { <${subject}> ?p ?o }`);
    await poll(`${service.url}/sparql?query=${query}`, ({ body }) => body.boolean === true, 30_000);
  };
  const send = async (topic: string): Promise<string> => {
    const { url, subject } = await input();
    await client.send(topic, [url]);
    return subject;
  };

  test('connects to configured brokers, and consumes, announces and writes', async () => {
    expect((await ask(`${service.url}/graph-writer/restartKafka`)).status).toBe(409);
    const subject = await send(SOURCE);
    await update('kafka.kafkaBrokers', kafka.broker);
    await written(subject);
    await client.hear((heard) => heard.some(({ topic }) => topic === SUCCESS), 30_000);
    expect((await ask(`${service.url}/health/ready`)).body.checks).toMatchObject({ messages: 'up' });
    expect((await ask(`${service.url}/graph-writer/restartKafka`)).body).toEqual({ kafka: 'off' });
    expect((await ask(`${service.url}/graph-writer/restartKafka`)).body).toEqual({ kafka: 'on' });
  }, 120_000);

  test('switches to another source topic, and loses nothing of the former one', async () => {
    const before = await Promise.all(Array.from({ length: 20 }, () => send(SOURCE)));
    await update('kafka.topicNameSource', SOURCE2);
    const after = await Promise.all([send(SOURCE2), send(SOURCE), send(SOURCE2)]);
    for (const subject of [...before, ...after]) await written(subject);
    await service.waitForLog('former topic is empty', ({ topic }) => topic === SOURCE);
    await written(await send(SOURCE2));
  }, 180_000);

  test('sends success messages to the topic that /config shows, and the writer consumes it', async () => {
    await update('provenance.kafka.topicNameSuccess', SUCCESS2, 'sql-transformer');
    const { body } = await ask(`${service.url}/graph-writer/config?paths=provenance.kafka.topicNameSuccess`);
    expect(body.serviceWriterConfig).toEqual({ provenance: { kafka: { topicNameSuccess: SUCCESS2 } } });
    const heardBefore = client.heard.filter(({ topic }) => topic === SUCCESS).length;
    const subject = await send(SOURCE2);
    await client.hear((heard) => heard.some(({ topic }) => topic === SUCCESS2), 30_000);
    await written(subject);
    expect(client.heard.filter(({ topic }) => topic === SUCCESS)).toHaveLength(heardBefore);
  }, 120_000);

  test('sends dead letters to another topic, also those of the SQL transformer, whose source topic is its own', async () => {
    await update('kafka.topicNameDLQ', DEAD2);
    await client.send(SOURCE2, ['file:///in/nothing.csv']);
    await update('kafka.topicNameSource', NIGHTS, 'sql-transformer');
    await client.send(NIGHTS, ['']);
    const letters = () =>
      client.heard.filter(({ topic }) => topic === DEAD2).map(({ value }) => JSON.parse(value) as Record<string, string>);
    expect((await ask(`${service.url}/sql-transformer/process`)).body).toMatchObject({ code: 'mapping/unreadable' });
    await client.hear(() => letters().length >= 3, 30_000);
    expect(letters().filter(({ name }) => name === 'SQL-Transformer')).toHaveLength(2);
    expect(letters()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'Semi-Structured-Transformer', entity: 'file:///in/nothing.csv' }),
        expect.objectContaining({ name: 'SQL-Transformer', error: expect.stringContaining('There is no master mapping') }),
      ]),
    );
    expect(client.heard.filter(({ topic }) => topic === DEAD)).toEqual([]);
  }, 120_000);

  test('sends messages about provenance to other brokers, and keeps them while these are away', async () => {
    await update('provenance.kafka.topicNameDLQ', PROVENANCE);
    await update('provenance.kafka.kafkaBrokers', '127.0.0.1:1');
    await writeFile(at('no-directory'), '');
    await update('provenance.outputDirUrl', at('no-directory'));
    await update('provenance.recordProvo', 'true');
    // Its success message is not kept back.
    await written(await send(SOURCE2));
    await service.waitForLog('provenance not recorded');
    expect(client.heard.some(({ topic }) => topic === PROVENANCE)).toBe(false);
    await update('provenance.kafka.kafkaBrokers', kafka.broker);
    await client.hear((heard) => heard.some(({ topic }) => topic === PROVENANCE), 120_000);
    await update('provenance.recordProvo', 'false');
  }, 240_000);

  test('drains a former topic also after a restart', async () => {
    await update('kafka.topicNameSource', SOURCE);
    await service.stop();
    const subjects = [await send(SOURCE2), await send(SOURCE)];
    service = await start();
    for (const subject of subjects) await written(subject);
  }, 120_000);

  test('setting a target makes the writer consume, at once and after a restart', async () => {
    const env = {
      SERVICE: 'graph-writer',
      TRIPLESTORE_TYPE: 'sparql',
      KAFKA_BROKERS: kafka.broker,
      KAFKA_TOPIC_NAME_SUCCESS: NIGHTS,
      KAFKA_GROUP_ID: `${name}.second`,
      DATA_DIR: at('second'),
    };
    const announce = async (): Promise<string> => {
      const { url, subject } = await input();
      const file = `${url}.nq`;
      await writeFile(file, `<${subject}> <http://example.com/p> "x" .\n`);
      await client.send(NIGHTS, [file]);
      return subject;
    };
    await update('kafka.topicNameSource', '', 'sql-transformer');
    let writer = await startService({ cwd: directory.path, env });
    try {
      const first = await announce();
      expect(writer.log.filter(({ msg }) => msg === 'subscribed to topic')).toEqual([]);
      await update('TRIPLESTORE_ENDPOINT', `${service.url}/sparql`, '', writer.url);
      await written(first);
      await writer.stop();
      writer = await startService({ cwd: directory.path, env });
      await written(await announce());
    } finally {
      await writer.stop();
    }
  }, 180_000);
});
