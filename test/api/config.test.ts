/** The configuration of each service over HTTP: which options it has, and changes at run time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SERVICES } from '../../queues/jobs.ts';
import { OPTION_NAMES, optionRow } from '../../src/config/options/options.ts';
import { readEnvironment } from '../../src/config/parse.ts';
import { type FakeApi, startFakeApi } from '../support/service/fake.ts';
import { type Answer, ask } from '../support/service/process.ts';

type Prefix = keyof typeof SERVICES;

let directory: string;
let api: FakeApi;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quadmill-api-'));
  api = await startFakeApi({ DATA_DIR: directory, KAFKA_BROKERS: ['one:9092'] });
});
afterEach(async () => {
  await api.close();
  await rm(directory, { recursive: true, force: true });
});

const config = (service: Prefix, paths: string): Promise<Answer> => ask(`${api.url}/${service}/config?paths=${encodeURIComponent(paths)}`);
const update = (service: Prefix, configEntry: string, configValue: string): Promise<Answer> =>
  ask(`${api.url}/${service}/updateConfig?${new URLSearchParams({ configEntry, configValue })}`, { method: 'PUT' });

describe('the success topic', () => {
  const topic = async (service: Prefix): Promise<unknown> => {
    const { body } = await config(service, 'provenance.kafka.topicNameSuccess');
    return body[service === 'graph-writer' ? 'serviceWriterConfig' : 'serviceTransformerConfig'].provenance.kafka.topicNameSuccess;
  };

  test.each(['provenance.kafka.topicNameSuccess', 'KAFKA_TOPIC_NAME_SUCCESS', 'PROV_KAFKA_TOPIC_NAME_SUCCESS', 'kafka.topicNameSuccess'])(
    'is changed by %s, for the transformers and the writer',
    async (entry) => {
      expect(await topic('sql-transformer')).toBe('success_queue');
      expect((await update('semi-structured-transformer', entry, 'done')).body).toEqual({ configEntry: entry, configValue: 'done' });
      expect([await topic('semi-structured-transformer'), await topic('sql-transformer'), await topic('graph-writer')]).toEqual(
        Array(3).fill('done'),
      );
    },
  );

  test('is set by the environment under either name; its own comes first, and the other is reported', () => {
    expect(readEnvironment({ PROV_KAFKA_TOPIC_NAME_SUCCESS: 'a' })).toMatchObject({
      values: { KAFKA_TOPIC_NAME_SUCCESS: 'a' },
      overruled: [],
    });
    expect(readEnvironment({ PROV_KAFKA_TOPIC_NAME_SUCCESS: 'a', KAFKA_TOPIC_NAME_SUCCESS: 'b' })).toMatchObject({
      values: { KAFKA_TOPIC_NAME_SUCCESS: 'b' },
      overruled: [{ name: 'PROV_KAFKA_TOPIC_NAME_SUCCESS', by: 'KAFKA_TOPIC_NAME_SUCCESS' }],
    });
  });
});

describe('options belong to services', () => {
  const friendlyNames = async (): Promise<unknown[]> =>
    Promise.all(
      (['semi-structured-transformer', 'sql-transformer', 'graph-writer'] as const).map(
        async (service) => (await config(service, 'friendlyName')).body.friendlyName,
      ),
    );

  test('a friendlyName of the writer renames the writer only, and an empty one removes it', async () => {
    expect((await update('graph-writer', 'friendlyName', 'Pen')).body).toEqual({ configEntry: 'friendlyName', configValue: 'Pen' });
    expect(await friendlyNames()).toEqual(['Semi-Structured-Transformer', 'SQL-Transformer', 'Pen']);
    await update('sql-transformer', 'FRIENDLY_NAME', 'Mill');
    await update('graph-writer', 'friendlyName', '');
    expect(await friendlyNames()).toEqual(['Semi-Structured-Transformer', 'Mill', 'Graph-Writer']);
  });

  test('each transformer has its own mapping directory until it is given another one', async () => {
    const shown = async (service: Prefix): Promise<unknown> => (await config(service, 'MAPPINGS_DIR_URL')).body.serviceTransformerConfig;
    expect(await shown('sql-transformer')).toEqual({ mappingsDirUrl: join(directory, 'mappings', 'sql-transformer') });
    await update('sql-transformer', 'MAPPINGS_DIR_URL', '/elsewhere');
    expect(await shown('sql-transformer')).toEqual({ mappingsDirUrl: '/elsewhere' });
    expect(await shown('semi-structured-transformer')).toEqual({
      mappingsDirUrl: join(directory, 'mappings', 'semi-structured-transformer'),
    });
  });

  test('messages of the semi-structured transformer are not the SQL transformer’s, which has a topic when it is given one', async () => {
    const shown = async (service: Prefix): Promise<unknown> =>
      (await config(service, 'kafka.topicNameSource')).body.serviceTransformerConfig.kafka.topicNameSource;
    expect([await shown('semi-structured-transformer'), await shown('sql-transformer')]).toEqual(['source_urls', '']);
    await update('sql-transformer', 'kafka.topicNameSource', 'nights');
    expect([await shown('semi-structured-transformer'), await shown('sql-transformer')]).toEqual(['source_urls', 'nights']);
  });

  test.each<[Prefix, string, RegExp]>([
    ['graph-writer', 'MASTER_MAPPING_FILE', /./],
    ['graph-writer', 'sql.jdbcUrl', /./],
    ['graph-writer', 'mappingsDirUrl', /./],
    ['semi-structured-transformer', 'TRIPLESTORE_TYPE', /./],
    ['semi-structured-transformer', 'WRITE_MOD', /./],
    ['semi-structured-transformer', 'SQL_TRANSFORMER_MAPPINGS_DIR_URL', /SEMI_STRUCTURED|MAPPINGS_DIR_URL|GET \/config/],
    ['sql-transformer', 'constructor', /GET \/config/],
    ['sql-transformer', '__proto__', /GET \/config/],
    ['sql-transformer', 'toString', /GET \/config/],
    ['graph-writer', 'TRIPLESTORE_TYP', /TRIPLESTORE_TYPE/],
  ])('the %s shows and changes no %s', async (service, entry, hint) => {
    for (const { status, body } of [await config(service, entry), await update(service, entry, 'x')]) {
      expect({ status, ...body }).toMatchObject({ status: 400, code: 'config/unknown', hint: expect.stringMatching(hint) });
    }
  });
});

test('directories and brokers of the provenance are shown as they are in effect', async () => {
  const { body } = await config('semi-structured-transformer', 'provenance.outputDirUrl,provenance.kafka.kafkaBrokers,outputDirUrl');
  expect(body.serviceTransformerConfig).toEqual({
    outputDirUrl: join(directory, 'output'),
    provenance: { outputDirUrl: join(directory, 'output'), kafka: { kafkaBrokers: 'one:9092' } },
  });
  await update('semi-structured-transformer', 'OUTPUT_DIR_URL', '/out');
  expect(
    (await config('semi-structured-transformer', 'provenance.outputDirUrl')).body.serviceTransformerConfig.provenance.outputDirUrl,
  ).toBe('/out');
});

/** Leaves of the specification's table of the configuration object. */
test.each([
  ['provenance.kafka.kafkaBrokers', 'two:9092'],
  ['provenance.outputDirUrl', '/prov'],
  ['provenance.kafka.topicNameSuccess', 'a'],
  ['provenance.kafka.topicNameDLQ', 'b'],
  ['provenance.recordProvo', 'true'],
  ['provenance.switchedOffActivities', 'main'],
  ['kafka.topicNameSource', 'c'],
  ['kafka.topicNameDLQ', 'd'],
  ['kafka.kafkaBrokers', 'two:9092,three:9092'],
])('%s changes on the running instance', async (path, value) => {
  const { status, body } = await update('semi-structured-transformer', path, value);
  const row = OPTION_NAMES.map(optionRow).find((one) => one.path === path);
  expect(row?.live).toBe(true);
  expect({ status, body }).toEqual({
    status: 200,
    body: { configEntry: path, configValue: row?.type === 'boolean' ? value === 'true' : value },
  });
});

test.each([
  ['kafka.topicNameDLQ', 'two words'],
  ['kafka.topicNameSource', '..'],
  ['kafka.kafkaBrokers', 'host'],
  ['kafka.kafkaBrokers', 'one:9092,http://two:9092'],
])('%s does not take %s', async (entry, value) => {
  expect((await update('semi-structured-transformer', entry, value)).body).toMatchObject({ status: 400, code: 'config/invalid' });
});

test('a hint for CRON names what changes the schedule', async () => {
  expect((await update('sql-transformer', 'CRON', '0 2 * * *')).body).toMatchObject({
    code: 'config/invalid',
    hint: expect.stringContaining('/updateCron'),
  });
});
