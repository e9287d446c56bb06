/** Messages in and out without brokers: their content, their handling, the outbox on every queue, and the switch of the fleet. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { QueueBackend } from '../../../queues/backend/backend.ts';
import type { Outcome } from '../../../queues/jobs.ts';
import { SERVICE_QUEUES } from '../../../queues/jobs.ts';
import { type BusSwitch, busKind, type IncomingMessage, MessageTooLarge, openSwitch } from '../../../queues/messaging/bus.ts';
import { openKafka } from '../../../queues/messaging/kafka/kafka.ts';
import { messagesOf, type OutcomeMessages, sourceOf } from '../../../queues/messaging/messages.ts';
import { openOutbox, startSender } from '../../../queues/messaging/outbox.ts';
import { DEFAULTS, type OptionValues } from '../../../src/config/options/options.ts';
import { openConfig } from '../../../src/config/store.ts';
import { Secret } from '../../../src/core/secret.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { consumedTopics, messageHandler, startConsumers } from '../../../workers/messaging/consume.ts';
import { openQueue, QUEUES, type TestServer, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { type FakeRuns, failureMessage, fakeRuns, memorySettings, successReport } from '../../support/service/fake.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { openMemoryBus } from '../../support/service/memory-bus.ts';

const SERVICE = 'semi-structured-transformer';
const { outbox: OUTBOX_QUEUE } = SERVICE_QUEUES[SERVICE];

const logger = quietLogger();
const NOW = new Date('2026-01-02T03:04:05.678Z');
const RUN = { runId: 'r1', service: 'semi-structured-transformer' } as const;

const incoming = (value: string | Buffer | null, more: Partial<IncomingMessage> = {}): IncomingMessage => ({
  topic: 'source_urls',
  partition: 3,
  offset: '42',
  timestamp: '1700000000000',
  key: Buffer.from('caller'),
  value: typeof value === 'string' ? Buffer.from(value) : value,
  ...more,
});

describe('an outcome', () => {
  const completed: Outcome = {
    state: 'completed',
    report: { ...successReport('r1'), outputFileLocations: ['file:///a.nq', 'file:///b.nq'] },
  };

  test('that made a version of a dataset has the fields of the version', () => {
    const change = { dataset: 'people', version: 3, previousVersion: 2, added: 1, removed: 1, removedFileLocations: ['file:///r.nq.gz'] };
    const outcome: Outcome = { state: 'completed', report: { ...successReport('r1'), ...change } };
    const { messages } = messagesOf(RUN, outcome, DEFAULTS, NOW);
    expect(JSON.parse(messages[0]?.value as string)).toMatchObject({ ...change, outputFileLocations: expect.any(Array) });
  });

  test('that is a success is one JSON message', () => {
    const { kind, messages } = messagesOf(RUN, completed, DEFAULTS, NOW);
    expect(kind).toBe('success');
    expect(messages).toEqual([{ topic: 'success_queue', key: 'r1', headers: { runId: 'r1' }, value: expect.any(String) }]);
    expect(JSON.parse(messages[0]?.value as string)).toEqual({
      runId: 'r1',
      service: 'semi-structured-transformer',
      outputFileLocations: ['file:///a.nq', 'file:///b.nq'],
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.678$/),
      quads: 4,
      provenance: '',
    });
  });

  test('is one plain URL for each file where that is asked for', () => {
    const { messages } = messagesOf(RUN, completed, { ...DEFAULTS, KAFKA_SUCCESS_FORMAT: 'url' }, NOW);
    expect(messages.map(({ key, value }) => [key, value])).toEqual([
      ['r1', 'file:///a.nq'],
      ['r1', 'file:///b.nq'],
    ]);
  });

  test.each(['failed', 'cancelled'] as const)(
    'that is %s is a dead letter: the failure message, with the source message in its headers',
    (state) => {
      const source = sourceOf(incoming(Buffer.from([0xff, 0x00])));
      const { kind, messages } = messagesOf({ ...RUN, source }, { state, failure: failureMessage('r1') }, DEFAULTS, NOW);
      expect(kind).toBe('dead-letter');
      expect(messages).toHaveLength(1);
      expect(messages[0]).toMatchObject({
        topic: 'dead_letter_queue',
        key: 'r1',
        headers: {
          runId: 'r1',
          code: 'source/missing',
          'source-topic': 'source_urls',
          'source-partition': '3',
          'source-offset': '42',
          'source-key': Buffer.from('caller'),
          'source-value': Buffer.from([0xff, 0x00]),
        },
      });
      expect(JSON.parse(messages[0]?.value as string)).toEqual(failureMessage('r1'));
    },
  );

  test('of a run that no message started names no source message', () => {
    const { messages } = messagesOf(RUN, { state: 'failed', failure: failureMessage('r1') }, DEFAULTS, NOW);
    expect(messages[0]?.headers).toEqual({ runId: 'r1', code: 'source/missing' });
  });
});

describe('a source message', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let runs: FakeRuns;
  let buried: OutcomeMessages[];
  let outboxFails: boolean;

  const mappingOf = (service: string, name = 'mapping.ttl'): string => join(directory.path, 'mappings', service, name);
  beforeEach(async () => {
    directory = await temporaryDirectory();
    for (const service of ['semi-structured-transformer', 'sql-transformer']) {
      await mkdir(join(directory.path, 'mappings', service), { recursive: true });
      await writeFile(mappingOf(service), peopleMapping('csv', 'people.csv'));
    }
    await writeFile(join(directory.path, 'people.csv'), PEOPLE.csv);
    runs = fakeRuns();
    buried = [];
    outboxFails = false;
  });
  afterEach(() => directory.remove());

  const settings = async (options: OptionValues = {}) => ({
    runs,
    config: await openConfig({ DATA_DIR: directory.path, ...options }),
    workingDirectory: directory.path,
    outbox: {
      async add(_service: string, announcement: OutcomeMessages) {
        if (outboxFails) throw new Error('the queue is away');
        buried.push(announcement);
      },
    },
  });
  const taken = async (
    message: IncomingMessage,
    service: Parameters<typeof messageHandler>[0] = 'semi-structured-transformer',
    options = {},
  ) => messageHandler(service, await settings(options), logger)(message, new AbortController().signal);

  test.each([
    ['a file URL', (path: string) => `file://${path}`, (path: string) => `file://${path}`],
    ['a path, with white space around it', (path: string) => ` ${path}\r\n`, (path: string) => path],
    ['a web address', () => 'https://example.com/people.csv?x={1}', () => 'https://example.com/people.csv?x={1}'],
    [
      'a JSON object as the body of /process',
      (path: string) => JSON.stringify({ inputFileURLs: [path], logicalSources: ['people.csv'] }),
      (path: string) => path,
    ],
  ])('that is %s starts a run', async (_, value, url) => {
    const path = join(directory.path, 'people.csv');
    await taken(incoming(value(path)));
    expect(buried).toEqual([]);
    expect(runs.submitted.map(({ request }) => request.inputs.map((input) => input.url))).toEqual([[url(path)]]);
    expect(runs.submitted[0]?.request.mappings).toEqual([mappingOf('semi-structured-transformer')]);
    expect(runs.submitted[0]?.key).toBe('source_urls-3-42');
  });

  test('names the dataset of the run', async () => {
    await taken(incoming(JSON.stringify({ inputFileURL: join(directory.path, 'people.csv'), dataset: 'people' })));
    expect(runs.submitted[0]?.request).toMatchObject({ dataset: { name: 'people', url: expect.stringMatching(/datasets\/people$/) } });
  });

  test.each([
    ['empty', '', 'request/invalid', /is empty/],
    ['absent', null, 'request/invalid', /is empty/],
    ['no UTF-8', Buffer.from([0x66, 0xff, 0xfe]), 'request/malformed', /3 bytes that are not UTF-8/],
    ['half of a JSON object', '{"inputFileURL": "people', 'request/malformed', /looks like JSON/],
    ['a JSON array', '["file:///people.csv"]', 'request/invalid', /The message is/],
    ['a JSON string', '"file:///people.csv"', 'request/invalid', /The message is/],
    ['a bare word', 'hello', 'request/invalid', /The message is "hello"/],
    ['two lines', 'file:///a.csv\nfile:///b.csv', 'request/invalid', /The message is/],
    ['a JSON object without input', '{}', 'request/invalid', /inputFileURL is missing/],
    [
      'a JSON object with a wrong name of a dataset',
      '{"inputFileURL":"people.csv","dataset":"a b"}',
      'request/invalid',
      /no name of a dataset/,
    ],
    ['a JSON object with a misspelt field', '{"inputFileUrl":"people.csv"}', 'request/invalid', /no field/],
    [
      'for a source that the mapping does not have',
      '{"inputFileURL":"people.csv","logicalSource":"towns.csv"}',
      'request/invalid',
      /no logical source/,
    ],
  ])('that is %s goes to the dead letters with its bytes', async (_, value, code, reason) => {
    const message = incoming(value);
    await taken(message);
    expect(runs.submitted).toEqual([]);
    expect(buried).toHaveLength(1);
    const [letter] = buried[0]?.messages ?? [];
    expect(letter).toMatchObject({
      topic: 'dead_letter_queue',
      headers: { code, 'source-topic': 'source_urls', 'source-partition': '3', 'source-offset': '42' },
    });
    expect(letter?.headers['source-value']).toEqual(message.value ?? undefined);
    expect(letter?.headers['source-key']).toEqual(message.key);
    const failure = JSON.parse(letter?.value as string);
    expect(failure).toMatchObject({ name: 'Semi-Structured-Transformer', code, runId: letter?.key });
    expect(failure.error).toMatch(reason);
    expect(letter?.headers.runId).toBe(letter?.key);
  });

  test.each([
    ['a plain URL of a name that no source has', 'file:///in/cars.csv', 'file:///in/cars.csv', /people\.csv, towns\.csv/],
    ['a name that no mapping has', '{"inputFileURL":"/in/people.csv","logicalSource":"cars"}', '/in/people.csv', /people\.csv, towns\.csv/],
    [
      'the second of two inputs',
      '{"inputFileURLs":["/in/people.csv","/in/b.csv"],"logicalSources":["people.csv","cars"]}',
      '/in/b.csv',
      /people\.csv, towns\.csv/,
    ],
    ['an array without its sources', '{"inputFileURL":["/in/a.csv","/in/b.csv"]}', '/in/a.csv', /logicalSource is missing/],
  ])('that is refused for %s names the input as its entity, and the sources that there are', async (_, value, entity, reason) => {
    await writeFile(
      mappingOf('semi-structured-transformer', 'towns.ttl'),
      peopleMapping('csv', 'towns.csv').replaceAll('ex:People', 'ex:Towns'),
    );
    await taken(incoming(value));
    const failure = JSON.parse(buried[0]?.messages[0]?.value as string);
    expect(failure.entity).toBe(entity);
    expect(failure.error).toMatch(reason);
    expect(failure.error).toContain(`Record '${entity}' could not be processed due to: `);
    expect(failure.error).not.toContain('(input');
  });

  test('that is refused by the graph writer names the file as its entity', async () => {
    await taken(incoming('{"outputFileLocations":["file:///out/a.nq",5]}'), 'graph-writer');
    expect(JSON.parse(buried[0]?.messages[0]?.value as string)).toMatchObject({ entity: 'file:///out/a.nq', code: 'request/invalid' });
  });

  test.each([
    ['file:///in/towns.csv', 'towns.csv'],
    ['/in/people.csv.gz', 'people.csv'],
    ['http://example.com/down/towns.csv?version=2', 'towns.csv'],
    ['/in/towns.tsv', 'towns.csv'],
  ])('that is the plain URL %s is bound in a directory of several mappings by its name', async (url, name) => {
    await writeFile(
      mappingOf('semi-structured-transformer', 'towns.ttl'),
      peopleMapping('csv', 'towns.csv').replaceAll('ex:People', 'ex:Towns'),
    );
    await taken(incoming(url));
    expect(buried).toEqual([]);
    expect(runs.submitted[0]?.request).toMatchObject({ inputs: [{ name, url }], run: { boundOnly: true } });
    expect(runs.submitted[0]?.request.mappings).toHaveLength(2);
  });

  test.each([
    ['empty', ''],
    ['absent', null],
    ['anything', Buffer.from([0xff])],
  ])('of the SQL transformer starts a run by the master mapping when it is %s', async (_, value) => {
    await taken(incoming(value), 'sql-transformer');
    expect(runs.submitted.map(({ request }) => [request.service, request.mappings])).toEqual([
      ['sql-transformer', [mappingOf('sql-transformer')]],
    ]);
  });

  test('of the SQL transformer without a master mapping is a dead letter', async () => {
    await taken(incoming('now'), 'sql-transformer', { MASTER_MAPPING_FILE: 'other.ttl' });
    expect(JSON.parse(buried[0]?.messages[0]?.value as string).error).toMatch(
      /^Record could not be processed due to: There is no master mapping/,
    );
  });

  test('that repeats is the same run', async () => {
    const message = incoming(join(directory.path, 'people.csv'));
    await taken(message);
    await taken(message);
    expect(runs.submitted).toHaveLength(1);
  });

  test('at the offset of another one, in a topic that was created again, is another run', async () => {
    await taken(incoming('first.csv'));
    await taken(incoming('second.csv', { timestamp: '1700000000001' }));
    expect(runs.submitted.map(({ key }) => key)).toEqual(['source_urls-3-42', 'source_urls-3-42-1700000000001']);
  });

  test.each([
    ['that is a request', 'people.csv'],
    ['that is none', '{'],
  ])('%s is not lost while the queue is away', async (_, value) => {
    runs.breaks('refuses');
    outboxFails = true;
    await expect(taken(incoming(value))).rejects.toThrow();
    expect([runs.submitted, buried]).toEqual([[], []]);
    outboxFails = false;
    runs.breaks(undefined);
    await taken(incoming(value));
    expect(runs.submitted.length + buried.length).toBe(1);
  });

  test('stays in its topic while too many runs wait', async () => {
    let queued = 5;
    const given = await settings({ KAFKA_MAX_WAITING_RUNS: 5 });
    const take = messageHandler('semi-structured-transformer', { ...given, runs: { ...runs, counts: async () => ({ queued }) } }, logger);
    const taking1 = take(incoming('people.csv'), new AbortController().signal);
    await sleep(300);
    expect(runs.submitted).toEqual([]);
    queued = 4;
    await taking1;
    expect(runs.submitted).toHaveLength(1);
  });

  test('is consumed while the switch is on, from where it stopped', async () => {
    const bus = openMemoryBus();
    const shared = memorySettings();
    const state = await openSwitch(shared);
    const message = (name: string) => ({ topic: 'source_urls', key: 'k', value: name, headers: {} });
    const consumer = startConsumers({ ...(await settings()), bus, state }, logger);
    await bus.produce([message('1.csv'), message('2.csv')]);
    await until(() => runs.submitted.length === 2);
    expect(await state.toggle()).toBe(false);
    await sleep(50);
    await bus.produce([message('3.csv')]);
    await sleep(200);
    expect(runs.submitted).toHaveLength(2);
    expect(await bus.lag('source_urls', 'semi-structured-transformer')).toBe(1);
    expect(await state.toggle()).toBe(true);
    await until(() => runs.submitted.length === 3);
    await consumer.close();
    expect(runs.submitted.map(({ key }) => key)).toEqual(['source_urls-0-0', 'source_urls-0-1', 'source_urls-0-2']);
  });
});

const SOURCE = { topic: 'source_urls' };
const SUCCESS = { service: 'graph-writer', topic: 'success_queue' };
test.each<[OptionValues, 'kafka' | 'local', boolean, readonly object[]]>([
  [{ SERVICE: 'all' }, 'kafka', false, [{ ...SOURCE, service: 'semi-structured-transformer', group: 'semi-structured-transformer' }]],
  [{ SERVICE: 'all' }, 'kafka', true, [{ ...SOURCE }, { ...SUCCESS, group: 'graph-writer' }]],
  [{ SERVICE: 'all', KAFKA_GROUP_ID: 'g' }, 'kafka', true, [{ group: 'g' }, { ...SUCCESS, group: 'g-graph-writer' }]],
  [{ SERVICE: 'all' }, 'local', true, [{ ...SUCCESS, group: 'graph-writer' }]],
  [{ SERVICE: 'all' }, 'local', false, []],
  [{ SERVICE: 'sql-transformer' }, 'kafka', true, [{ ...SOURCE, service: 'sql-transformer', group: 'sql-transformer' }]],
  [{ SERVICE: 'graph-writer', KAFKA_GROUP_ID: 'g' }, 'kafka', true, [{ ...SUCCESS, group: 'g' }]],
  [{ SERVICE: 'graph-writer' }, 'kafka', false, []],
])('a process with %j on a bus of the kind %s, with a target %s, takes %j', (options, kind, hasTarget, expected) => {
  const found = consumedTopics({ ...DEFAULTS, ...options }, kind, hasTarget);
  expect(found).toHaveLength(expected.length);
  expect(found).toMatchObject(expected);
});

describe('a success message is a run of the graph writer', () => {
  const messageOf = (value: string): IncomingMessage => ({
    topic: 'success_queue',
    partition: 0,
    offset: '7',
    timestamp: '0',
    key: null,
    value: Buffer.from(value),
  });
  const files = ['file:///out/a.nq', 'file:///out/b.nq'];
  const success = { runId: 'r1', service: 'sql-transformer', outputFileLocations: files, time: '', quads: 2, provenance: '' };
  test.each<[string, string, readonly string[]]>([
    ['a plain URL', 'file:///out/a.nq', ['file:///out/a.nq']],
    ['a URL as JSON', '"file:///out/a.nq"', ['file:///out/a.nq']],
    ['an array', JSON.stringify(files), files],
    ["a transformer's message", JSON.stringify(success), files],
    ['a request body', '{"inputFileURL":"/out/a.nq"}', ['/out/a.nq']],
  ])('%s', async (_, value, expected) => {
    const runs = fakeRuns();
    const settings = { runs, config: await openConfig({}), workingDirectory: '/', outbox: { add: async () => undefined } };
    await messageHandler('graph-writer', settings, logger)(messageOf(value), new AbortController().signal);
    expect(runs.submitted.map(({ request }) => [request.service, request.inputs.map(({ url }) => url)])).toEqual([
      ['graph-writer', expected],
    ]);
  });

  test('of a version that names its dataset, and not its file', async () => {
    const runs = fakeRuns();
    const outbox = { add: async () => Promise.reject(new Error('a dead letter')) };
    const settings = { runs, config: await openConfig({}), workingDirectory: '/', outbox };
    const value = JSON.stringify({ ...success, outputFileLocations: [], dataset: 'people', version: 3, previousVersion: 2 });
    await messageHandler('graph-writer', settings, logger)(messageOf(value), new AbortController().signal);
    expect(runs.submitted.map(({ request }) => request)).toEqual([
      expect.objectContaining({ dataset: expect.objectContaining({ name: 'people', url: expect.stringMatching(/datasets\/people$/) }) }),
    ]);
  });

  test.each(['', '[]', '[1]', '{"outputFileLocations":[]}', '{"quads":3}', 'nothing'])(
    '%j is none, and goes to the dead letters',
    async (value) => {
      const runs = fakeRuns();
      const buried: OutcomeMessages[] = [];
      const outbox = { add: async (_service: string, one: OutcomeMessages) => void buried.push(one) };
      const settings = { runs, config: await openConfig({}), workingDirectory: '/', outbox };
      await messageHandler('graph-writer', settings, logger)(messageOf(value), new AbortController().signal);
      expect(runs.submitted).toEqual([]);
      expect(buried[0]?.messages[0]?.headers['source-value']).toEqual(Buffer.from(value));
    },
  );
});

test.each<[OptionValues, ReturnType<typeof busKind>]>([
  [{}, 'local'],
  [{ LOCAL_MESSAGES: false }, 'none'],
  [{ SERVICE: 'semi-structured-transformer' }, 'none'],
  [{ SERVICE: 'graph-writer' }, 'none'],
  [{ KAFKA_BROKERS: ['one:9092'] }, 'kafka'],
  [{ KAFKA_BROKERS: ['one:9092'], LOCAL_MESSAGES: false, SERVICE: 'graph-writer' }, 'kafka'],
  [{ KAFKA_BROKERS: ['one:9092'], TRANSFORMER_RUN_STANDALONE: false }, 'kafka'],
  [{ KAFKA_BROKERS: ['one:9092'], TRANSFORMER_RUN_STANDALONE: true }, 'local'],
  [{ KAFKA_BROKERS: ['one:9092'], TRANSFORMER_RUN_STANDALONE: true, LOCAL_MESSAGES: false }, 'none'],
  [{ TRANSFORMER_RUN_STANDALONE: false }, 'local'],
])('with the options %j messages go over: %s', (options, expected) => {
  expect(busKind({ ...DEFAULTS, ...options })).toBe(expected);
});

test.each([
  ['a mechanism without a password', { KAFKA_SASL_MECHANISM: 'plain', KAFKA_USERNAME: 'alice' }, /KAFKA_USERNAME and KAFKA_PASSWORD/],
  ['a password without a mechanism', { KAFKA_PASSWORD: new Secret('alice-secret') }, /KAFKA_SASL_MECHANISM/],
  ['certificates without TLS', { KAFKA_SSL_CA: '/ca.pem' }, /KAFKA_SSL=true/],
  ['certificates that are not there', { KAFKA_SSL: true, KAFKA_SSL_CA: '/no/ca.pem' }, /PEM/],
] as const)('%s is refused before anything is opened', (_, options, hint) => {
  const open = (): unknown => openKafka({ ...DEFAULTS, KAFKA_BROKERS: ['one:9092'], ...options }, logger);
  expect(open).toThrow(expect.objectContaining({ code: 'config/invalid', hint: expect.stringMatching(hint) }) as never);
  expect(open).not.toThrow(/alice-secret/);
});

for (const queue of QUEUES) {
  (queue.missing === undefined ? describe : describe.skip)(
    `the outbox on ${queue.name}${queue.missing ? ` (${queue.missing})` : ''}`,
    () => {
      const prefix = uniquePrefix();
      let server: TestServer;
      let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
      let backend: QueueBackend;
      let state: BusSwitch;
      const snapshot = { LOCK_SECONDS: 2, STALLED_SECONDS: 1 };
      const open = () => openQueue(server.url, directory.path, prefix, logger);
      const letter = (run: number, values: readonly string[] = [`value ${run}`]): OutcomeMessages => ({
        runId: `r${run}`,
        kind: 'success',
        messages: values.map((value) => ({
          topic: 'success_queue',
          key: `r${run}`,
          value,
          headers: { runId: `r${run}`, bytes: Buffer.from([0xff, 0]) },
        })),
      });
      const left = async (): Promise<number> =>
        backend.queue(OUTBOX_QUEUE).getJobCountByTypes('waiting', 'active', 'delayed', 'completed', 'failed');

      beforeAll(async () => {
        server = await queue.start();
        directory = await temporaryDirectory();
        backend = await open();
        state = await openSwitch(backend.settings);
      });
      afterAll(async () => {
        state.close();
        await backend.close();
        await server.stop(prefix);
        await directory.remove();
      });

      test('sends messages in order, once for each run and kind, and then removes them', async () => {
        const bus = openMemoryBus();
        const outbox = openOutbox(backend);
        await outbox.add(SERVICE, letter(1, ['a', 'b', 'c']));
        await outbox.add(SERVICE, letter(1, ['a', 'b', 'c']));
        await outbox.add(SERVICE, letter(2));
        await outbox.add(SERVICE, letter(3, []));
        const sender = await startSender(backend, { bus, state, snapshot }, logger);
        await until(() => bus.messages('success_queue').length === 4);
        await until(async () => (await left()) === 0);
        await sender.close(1_000);
        const sent = bus.messages('success_queue').map(({ key, value }) => `${key} ${value}`);
        expect(sent.filter((one) => one.startsWith('r1'))).toEqual(['r1 a', 'r1 b', 'r1 c']);
        expect(sent.filter((one) => one.startsWith('r2'))).toEqual(['r2 value 2']);
        expect(bus.messages('success_queue')[0]?.headers).toEqual({ runId: 'r1', bytes: Buffer.from([0xff, 0]) });
      });

      test('keeps messages that cannot be sent, also over a restart, and sends them later', async () => {
        const away = { ...openMemoryBus(), produce: async () => Promise.reject(new Error('no broker')) };
        const sender = await startSender(backend, { bus: away, state, snapshot }, logger);
        for (let i = 10; i < 30; i++) await openOutbox(backend).add(SERVICE, letter(i));
        await sleep(300);
        await sender.close(200);
        state.close();
        await backend.close();
        backend = await open();
        state = await openSwitch(backend.settings);
        expect(await left()).toBe(20);
        const bus = openMemoryBus();
        const next = await startSender(backend, { bus, state, snapshot }, logger);
        await until(async () => (await left()) === 0, 20_000);
        await next.close(1_000);
        expect(new Set(bus.messages('success_queue').map(({ key }) => String(key)))).toEqual(
          new Set(Array.from({ length: 20 }, (_, i) => `r${i + 10}`)),
        );
      });

      test('keeps everything while the switch is off, for all processes and over a restart', async () => {
        const bus = openMemoryBus();
        const sender = await startSender(backend, { bus, state, snapshot }, logger);
        expect(await state.toggle()).toBe(false);
        await openOutbox(backend).add(SERVICE, letter(40));
        await sleep(500);
        await sender.close(200);
        const other = await openSwitch(backend.settings);
        expect(other.isOn()).toBe(false);
        const next = await startSender(backend, { bus, state: other, snapshot }, logger);
        await sleep(300);
        expect(bus.messages('success_queue')).toEqual([]);
        expect(await state.toggle()).toBe(true);
        await until(() => bus.messages('success_queue').length === 1);
        await next.close(1_000);
        other.close();
      });

      test('sends a dead letter that is too large without the source message', async () => {
        const bus = openMemoryBus();
        const small = {
          ...bus,
          produce: async (messages: Parameters<typeof bus.produce>[0]) => {
            if (messages.some(({ headers }) => (headers['source-value']?.length ?? 0) > 17_000)) throw new MessageTooLarge('too large');
            await bus.produce(messages);
          },
        };
        const sender = await startSender(backend, { bus: small, state, snapshot }, logger);
        const { topic, key, value } = { topic: 'dead_letter_queue', key: 'r50', value: '{}' };
        await openOutbox(backend).add(SERVICE, {
          runId: 'r50',
          kind: 'dead-letter',
          messages: [
            { topic, key, value, headers: { 'source-offset': '7', 'source-key': Buffer.from('k'), 'source-value': Buffer.alloc(20_000) } },
          ],
        });
        await until(() => bus.messages(topic).length === 1);
        await sender.close(1_000);
        expect(bus.messages(topic)[0]?.headers).toEqual({
          'source-offset': '7',
          'source-key': Buffer.from('k'),
          'source-value-bytes': '20000',
        });
      });
    },
  );
}

async function until(done: () => boolean | Promise<boolean>, waitMs = 10_000): Promise<void> {
  for (const deadline = Date.now() + waitMs; !(await done()); await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`not within ${waitMs} ms`);
  }
}
