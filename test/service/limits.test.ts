/** Limits of a run: a run that exceeds one ends soon and cheaply, and its message names the limit, its value and how to raise it. */

import { readdir, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import type { TransformRequest } from '../../queues/jobs.ts';
import type { Runs } from '../../queues/runs/contract.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { type ConfigStore, openConfig } from '../../src/config/store.ts';
import type { FaultPlace, Limit } from '../../src/core/fault.ts';
import { NO_LIMITS, type RunLimits } from '../../src/core/limits.ts';
import { Secret } from '../../src/core/secret.ts';
import { METRICS, quietLogger } from '../../src/core/telemetry/observe.ts';
import type { RunRequest } from '../../src/run/request.ts';
import { startWorkers, type Workers } from '../../workers/host.ts';
import { defaultProcessMemoryMb, watchMemory } from '../../workers/threads/memory.ts';
import { csv, json, xml, zipped } from '../bin/faults/files.ts';
import { attempt, type Files, startQuadmill, withFiles } from '../bin/faults/trial.ts';
import { closeAfterEach } from '../support/closing.ts';
import { fastest, processorMs } from '../support/fastest.ts';
import { fastDescribe, share, sharedTest, soakTest, test } from '../support/jest/extent.ts';
import { built } from '../support/project-root.ts';
import { openQueue, QUEUES, type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { openPool } from '../support/queues/pool.ts';
import { JOIN_MAPPING, peopleMapping, slowInput } from '../support/service/inputs.ts';
import { ask, postJson, type ServiceProcess, startService } from '../support/service/process.ts';

const ENGINE = built('test/support/queues/engine.js').href;

const MEMBER_BYTES = 64 * 2 ** 20;
/** A gzip file that unpacks to a gigabyte of one byte: consecutive members are one content. */
const bombOf = (byte: number): Uint8Array => Buffer.concat(new Array(16).fill(gzipSync(Buffer.alloc(MEMBER_BYTES, byte))));
const bombs = new Map<number, Uint8Array>();
const bomb = (byte: number): Uint8Array => {
  const made = bombs.get(byte) ?? bombOf(byte);
  bombs.set(byte, made);
  return made;
};
const rows = (count: number, row: (i: number) => string): string => `id,name\n${Array.from({ length: count }, (_, i) => row(i)).join('')}`;
const DEEP = 200_000;

const people = (count: number): Files => csv(rows(count, (i) => `${i},Name ${i}\n`));
const crowd = (count: number): Files => ({
  'mapping.ttl': JOIN_MAPPING,
  'people.csv': `id,town\n${Array.from({ length: count }, (_, i) => `${i},T\n`).join('')}`,
  'towns.csv': `name,code\n${Array.from({ length: count }, (_, i) => `N${i},T\n`).join('')}`,
});

type Case = readonly [name: string, files: () => Files, limits: Partial<RunLimits>, limit: Limit, told: string, place: FaultPlace];

const CASES: readonly Case[] = [
  [
    'a file of more bytes than an input may have, before any is read',
    () => people(100),
    { inputBytes: 1000 },
    'MAX_INPUT_BYTES',
    'The input has more than the 1000 bytes that MAX_INPUT_BYTES allows (input people.csv). Raise MAX_INPUT_BYTES, or split the input',
    {},
  ],
  [
    'a packed file whose content has more bytes',
    () => zipped(gzipSync(rows(100, (i) => `${i},Name\n`))),
    { inputBytes: 500 },
    'MAX_INPUT_BYTES',
    'The input has more than the 500 bytes that MAX_INPUT_BYTES allows (input people.csv.gz). Raise MAX_INPUT_BYTES, or split the input',
    {},
  ],
  [
    'a gigabyte of zeros in a small file',
    () => zipped(bomb(0)),
    { inflationRatio: 200 },
    'MAX_INFLATION_RATIO',
    'The input unpacks to more than 200 times its size, which is what MAX_INFLATION_RATIO allows (input people.csv.gz). ' +
      'Raise MAX_INFLATION_RATIO if the input is what it should be, or give it unpacked',
    {},
  ],
  [
    'a gigabyte of empty lines in a small file',
    () => zipped(bomb(10)),
    { inflationRatio: 200 },
    'MAX_INFLATION_RATIO',
    'The input unpacks to more than 200 times its size, which is what MAX_INFLATION_RATIO allows (input people.csv.gz). ' +
      'Raise MAX_INFLATION_RATIO if the input is what it should be, or give it unpacked',
    {},
  ],
  [
    'more records than a run may read',
    () => people(1001),
    { records: 1000 },
    'MAX_RECORDS',
    'The run reads more than the 1000 records that MAX_RECORDS allows (input people.csv). Raise MAX_RECORDS, or split the input',
    {},
  ],
  [
    'more statements than a run may make',
    () => people(1001),
    { statements: 1000 },
    'MAX_STATEMENTS',
    'The run makes more than the 1000 statements that MAX_STATEMENTS allows (input people.csv). ' +
      'Look for a join without a condition that selects, split the input, or raise MAX_STATEMENTS',
    {},
  ],
  [
    'a join of everything with everything',
    () => crowd(1000),
    { statements: 100_000 },
    'MAX_STATEMENTS',
    'The run makes more than the 100000 statements that MAX_STATEMENTS allows (input people.csv). ' +
      'Look for a join without a condition that selects, split the input, or raise MAX_STATEMENTS',
    {},
  ],
  [
    'JSON arrays within each other on the way to the records',
    () => json('['.repeat(DEEP)),
    {},
    'MAX_DEPTH',
    'The JSON document is nested more than 1000 levels deep (input people.json, line 1, record 0, byte 1000)',
    { byte: 1000 },
  ],
  [
    'JSON arrays within each other in a record',
    () => json(`{"people":[{"id":1,"name":${'['.repeat(DEEP)}`),
    {},
    'MAX_DEPTH',
    'The JSON document is nested more than 1000 levels deep (input people.json, line 1, record 0, byte 1023)',
    { byte: 1023 },
  ],
  [
    'JSON objects deeper than the option allows',
    () => json(`{"people":[{"id":{"a":{"b":1}}}]}`),
    { depth: 4 },
    'MAX_DEPTH',
    'The JSON document is nested more than 4 levels deep (input people.json, line 1, record 0, byte 22). Raise MAX_DEPTH',
    { record: 0 },
  ],
  [
    'XML elements within each other',
    () => xml('<a>'.repeat(DEEP)),
    {},
    'MAX_DEPTH',
    'Elements are nested more than 10000 levels deep (input people.xml, line 1)',
    { line: 1 },
  ],
  [
    'XML elements deeper than the option allows',
    () => xml('<people><person id="1">\n<name><a/></name></person></people>'),
    { depth: 3 },
    'MAX_DEPTH',
    'Elements are nested more than 3 levels deep (input people.xml, line 2, record 0). Raise MAX_DEPTH',
    { line: 2, record: 0 },
  ],
];

/** Those that unpack no gigabyte. */
const QUICK = CASES.filter(([name]) => !name.startsWith('a gigabyte'));

describe('a run ends with the fault of its limit:', () => {
  sharedTest.each(share(QUICK.length, [...QUICK, ...CASES.filter((one) => !QUICK.includes(one))]))(
    '%s',
    async (_, files, limits, limit, told, place) => {
      const given = files();
      const took = await processorMs(async () => {
        const ended = await attempt(given, { limits: { ...NO_LIMITS, ...limits } });
        expect(ended.told).toBe(told);
        expect(ended.fault).toMatchObject({ code: 'limit/exceeded', limit, place });
        expect(ended.left).toEqual([]);
      });
      expect(took).toBeLessThan(5_000);
    },
    120_000,
  );

  test.each<[name: string, files: Files, changes: Partial<RunRequest>, words: string]>([
    ['a row', csv(`id,name\n1,${'x'.repeat(5000)}\n`), {}, 'A row is longer than the 2000 bytes that are allowed'],
    [
      'a JSON value',
      json(`{"people":[{"id":"${'x'.repeat(5000)}"}]}`),
      {},
      'A record or value of the JSON document is larger than 2000 bytes',
    ],
    ['a tag', xml(`<people><person id="${'x'.repeat(200_000)}"/></people>`), {}, 'A tag or a declaration is longer than the 2000 bytes'],
    [
      'an element',
      xml(`<people><person id="1"><name>${'x'.repeat(5000)}</name></person></people>`),
      {},
      'A record keeps more than the 2000',
    ],
  ])('a record that is too large: %s', async (_, files, changes, words) => {
    const { fault, told } = await attempt(files, { maxRecordBytes: 2000, ...changes });
    expect(fault).toMatchObject({ code: 'limit/exceeded', limit: 'MAX_RECORD_BYTES' });
    expect(told).toContain(words);
    expect(told).toContain('aise MAX_RECORD_BYTES (--max-record-mb)');
  });

  const RATIO = { inflationRatio: 200 };
  const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  test.each<[name: string, limits: Partial<RunLimits>, limit: Limit, encoding: 'gzip' | 'br' | 'deflate', chunked: boolean]>([
    ['unpacks to too much', RATIO, 'MAX_INFLATION_RATIO', 'gzip', false],
    ['has too many bytes', { inputBytes: 1_000_000 }, 'MAX_INPUT_BYTES', 'gzip', false],
    ['unpacks to too much', RATIO, 'MAX_INFLATION_RATIO', 'gzip', true],
    ['unpacks to too much', RATIO, 'MAX_INFLATION_RATIO', 'br', true],
    ['unpacks to too much', RATIO, 'MAX_INFLATION_RATIO', 'deflate', true],
    ['has too many bytes', { inputBytes: 1_000_000 }, 'MAX_INPUT_BYTES', 'br', true],
  ])(
    'a response that a server has packed and that %s (%j, %s, %s, in chunks: %s)',
    async (_, limits, limit, encoding, chunked) => {
      const lines = Buffer.alloc(80 * 2 ** 20, 10);
      const packed = { gzip: () => bomb(10), deflate: () => deflateSync(lines, { level: 1 }), br: () => brotliCompressSync(lines, FAST) }[
        encoding
      ]();
      const length = chunked ? {} : { 'content-length': packed.length };
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/csv', 'content-encoding': encoding, ...length }).end(packed);
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/people.csv`;
        const { fault } = await attempt(people(0), { inputs: [{ name: undefined, url }], limits: { ...NO_LIMITS, ...limits } });
        expect(fault).toMatchObject({ code: 'limit/exceeded', limit, place: { input: url } });
      } finally {
        server.close();
        server.closeAllConnections();
      }
    },
    120_000,
  );

  test('an input that does not go on, within a second', async () => {
    const input = await slowInput();
    try {
      const end = async (): Promise<number> => {
        const started = performance.now();
        const { told, fault, left } = await attempt(people(0), {
          inputs: [{ name: undefined, url: input.url }],
          limits: { ...NO_LIMITS, seconds: 1 },
        });
        const ended = performance.now();
        expect(told).toBe(
          'The run takes longer than the 1 seconds that MAX_RUN_SECONDS allows. Raise MAX_RUN_SECONDS (--max-seconds), or split the input',
        );
        expect([fault?.code, fault?.limit, left]).toEqual(['limit/exceeded', 'MAX_RUN_SECONDS', []]);
        return ended - started;
      };
      expect(await fastest(2_000, end)).toBeLessThan(2_000);
    } finally {
      await input.close();
    }
  });
});

describe('a run that keeps within its limits', () => {
  test.each<[name: string, files: Files, limits: Partial<RunLimits>, quads: number]>([
    ['with as many records and statements as it may have', people(1000), { records: 1000, statements: 1000 }, 1000],
    ['with as many bytes', csv('id,name\n1,Ada\n'), { inputBytes: 14 }, 1],
    ['with as many levels', json('{"people":[{"id":1,"name":"Ada"}]}'), { depth: 3 }, 1],
    [
      'with a small file that is packed as tightly as gzip can',
      zipped(gzipSync(`id,name\n${'\n'.repeat(10 ** 7)}1,Ada\n`)),
      { inflationRatio: 2 },
      1,
    ],
    ['with repetitions, which are no statements', csv(`id,name\n${'1,Ada\n'.repeat(5000)}`), { statements: 1 }, 1],
    ['in time', people(10), { seconds: 30 }, 10],
  ])('completes %s', async (_, files, limits, quads) => {
    const { told, report } = await attempt(files, { limits: { ...NO_LIMITS, ...limits } });
    expect([told, report?.quads]).toEqual(['', quads]);
  });
});

soakTest('the command line ends a run that takes longer than --max-seconds, and leaves nothing', async () => {
  const input = await slowInput();
  try {
    await withFiles({ ...people(0), 'tmp/.keep': '' }, async (directory) => {
      const { code, err } = await startQuadmill(directory, ['run', 'mapping.ttl', '-i', input.url, '-o', 'out.nq', '--max-seconds', '1'])
        .ended;
      expect([code, err]).toEqual([1, expect.stringContaining('longer than the 1 seconds')]);
      expect((await readdir(directory)).sort()).toEqual(['mapping.ttl', 'people.csv', 'tmp']);
    });
  } finally {
    await input.close();
  }
});

const { closes, directory: directoryForTest } = closeAfterEach();

describe('a thread', () => {
  const open = async (engine?: string) => {
    const directory = await directoryForTest();
    const { pool, run: runTask } = openPool(directory, engine);
    closes(() => pool.close());
    const run = (url: string, runId: string, seconds = 0, mapping = 'file:///mapping.ttl') =>
      runTask({ runId, url, mapping, limits: { seconds } });
    return { directory, pool, run, left: () => readdir(join(directory, 'out')) };
  };

  soakTest.each(['deaf', 'busy'])(
    'is stopped when its run takes too long and is %s, and nothing is left',
    async (act) => {
      const { run, left } = await open(ENGINE);
      await expect(run(act, 'r1', 1)).rejects.toMatchObject({ code: 'limit/exceeded', limit: 'MAX_RUN_SECONDS' });
      expect(await left()).toEqual([]);
    },
    20_000,
  );

  soakTest(
    'that runs out of memory leaves nothing, reports that, and its neighbour completes',
    async () => {
      const { run, left } = await open(ENGINE);
      const neighbour = run('slow=2500', 'r2');
      await expect(run('memory', 'r1')).rejects.toMatchObject({
        limit: 'THREAD_MEMORY_MB',
        message: 'The run needed more than the 64 MB of memory that a thread may use',
        hint: 'Raise THREAD_MEMORY_MB, lower MEMORY_BUDGET_MB, or split the input',
      });
      expect((await left()).filter((name) => name.includes('r1'))).toEqual([]);
      expect((await neighbour).report.quads).toBe(1);
    },
    120_000,
  );

  soakTest(
    'that needs a document as a whole dies of it while a neighbour maps',
    async () => {
      const { directory, run } = await open();
      const document = `{"people":[${Array.from({ length: 1_000_000 }, (_, i) => `{"id":${i},"name":"Name ${i}"}`).join(',')}]}`;
      await writeFile(join(directory, 'people.json'), document);
      await writeFile(
        join(directory, 'people.csv'),
        rows(300_000, (i) => `${i},Name\n`),
      );
      await writeFile(join(directory, 'json.ttl'), peopleMapping('json', 'people.json').replace('$.people[*]', '$..people[*]'));
      await writeFile(join(directory, 'csv.ttl'), peopleMapping('csv', 'people.csv'));
      const neighbour = run(join(directory, 'people.csv'), 'r2', 0, join(directory, 'csv.ttl'));
      await expect(run(join(directory, 'people.json'), 'r1', 0, join(directory, 'json.ttl'))).rejects.toMatchObject({
        limit: 'THREAD_MEMORY_MB',
      });
      expect((await neighbour).report.quads).toBe(300_000);
    },
    60_000,
  );

  soakTest(
    'whose buffers are too much for the process ends, and its neighbour completes',
    async () => {
      const { pool, run, left } = await open(ENGINE);
      const limitMb = Math.ceil(process.memoryUsage.rss() / 2 ** 20) + 100;
      const watch = new AbortController();
      closes(() => watch.abort());
      void watchMemory(pool, limitMb, quietLogger(), watch.signal);
      const neighbour = run('slow=2500', 'r2');
      await expect(run(`buffers=${limitMb}`, 'r1')).rejects.toMatchObject({
        code: 'limit/exceeded',
        limit: 'PROCESS_MEMORY_MB',
        message: `The worker process needed more than ${limitMb} MB of memory, and this run held most of it`,
      });
      expect((await neighbour).report.quads).toBe(1);
      expect((await left()).filter((name) => name.includes('r1'))).toEqual([]);
    },
    120_000,
  );

  test('is left alone when its run is not what needs the memory', async () => {
    const { pool, run } = await open(ENGINE);
    const watch = new AbortController();
    closes(() => watch.abort());
    void watchMemory(pool, 1, quietLogger(), watch.signal);
    const relieved = await pool.shedMemory(2 ** 40, undefined as never);
    expect(relieved).toBe('nothing');
    watch.abort();
    expect((await run('slow=500', 'r1')).report.quads).toBe(1);
    // It is idle now.
    expect(await pool.shedMemory(1, undefined as never)).toBe('idle threads');
  });

  test('is not held to more than the machine has', () => {
    expect(defaultProcessMemoryMb()).toBeGreaterThan(256);
  });
});

fastDescribe('slices of a run are one run', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let backend: QueueBackend;
  let config: ConfigStore;
  let runs: Runs & { close(): Promise<void> };
  let workers: Workers;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    backend = await openQueue('embedded:', directory.path, uniquePrefix());
    const values = {
      DATA_DIR: directory.path,
      JDBC_URL: 'jdbc:postgresql://host/db',
      DB_USER: 'u',
      DB_PASSWORD: new Secret('p'),
      WORKER_CONCURRENCY: 2,
    };
    config = await openConfig(values, backend.settings);
    runs = await openRuns(backend, { retryMs: 50 });
    workers = await startWorkers(backend, config, quietLogger(), { engine: ENGINE });
  });
  afterAll(async () => {
    await workers?.drain(0);
    await runs?.close();
    config?.close();
    await backend?.close();
    await directory?.remove();
  });

  test.each<[limits: Partial<RunLimits>, limit: Limit, others: string]>([
    [{ records: 2 }, 'MAX_RECORDS', 'slow=60000'],
    [{ statements: 2 }, 'MAX_STATEMENTS', 'slow=60000'],
    [{ seconds: 1 }, 'MAX_RUN_SECONDS', 'deaf'],
  ])(
    'with %j',
    async (limits, limit, others) => {
      const met = (await METRICS.limitsHit.get()).values.find(({ labels }) => labels.limit === limit)?.value ?? 0;
      const request: TransformRequest = {
        service: 'sql-transformer',
        inputs: [
          { name: undefined, url: 'slices=4' },
          { name: '3', url: others },
        ],
        mappings: ['file:///mapping.ttl'],
        run: { ...RUN_DEFAULTS, limits: { ...NO_LIMITS, ...limits } },
        sliceRows: 100,
        output: { directory: join(directory.path, 'output'), format: 'nquads' },
      };
      const { id } = await runs.submit(request, {});
      expect(await runs.outcome(id, 15_000)).toMatchObject({
        state: 'failed',
        failure: { code: 'limit/exceeded', detail: { limit } },
      });
      expect((await METRICS.limitsHit.get()).values.find(({ labels }) => labels.limit === limit)?.value).toBe(met + 1);
      expect((await readdir(join(directory.path, 'output'))).filter((name) => !name.startsWith('.'))).toEqual([]);
    },
    120_000,
  );
});

describe('the service', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let queue: TestServer;
  let service: ServiceProcess;
  const at = (name: string): string => join(directory.path, name);
  const memoryIn = (metrics: string): number => Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]);

  beforeAll(async () => {
    directory = await temporaryDirectory();
    // The fastest one to start.
    queue = await (QUEUES.find(({ name, missing }) => name === 'redis' && missing === undefined) ?? (QUEUES[0] as TestQueue)).start();
    const env = {
      QUEUE_URL: queue.url,
      SERVICE: 'semi-structured-transformer',
      DATA_DIR: at('data'),
      MAX_INPUT_BYTES: '100000000',
      MAX_RECORD_BYTES: '2000',
      MAX_RECORDS: '1000',
      MAX_STATEMENTS: '900',
      MAX_DEPTH: '20',
      MAX_RUN_SECONDS: '60',
    };
    for (const format of ['csv', 'json'] as const) await writeFile(at(`${format}.ttl`), peopleMapping(format, `people.${format}`));
    service = await startService({ cwd: directory.path, env });
  });
  afterAll(async () => {
    await service?.stop();
    await queue?.stop('quadmill');
    await directory?.remove();
  });

  test.each<[limit: Limit, file: string, content: () => string | Uint8Array, reason: string]>([
    ['MAX_INPUT_BYTES', 'large.csv', () => '', 'The input has more than the 100000000 bytes that MAX_INPUT_BYTES allows. Raise'],
    ['MAX_INFLATION_RATIO', 'bomb.csv.gz', () => bomb(10), 'The input unpacks to more than 200 times its size'],
    ['MAX_RECORD_BYTES', 'row.csv', () => rows(1, () => `1,${'x'.repeat(3000)}`), 'A row is longer than the 2000 bytes that are allowed'],
    ['MAX_DEPTH', 'deep.json', () => '['.repeat(DEEP), 'The JSON document is nested more than 20 levels deep'],
    ['MAX_RECORDS', 'records.csv', () => rows(1001, () => '1,Ada\n'), 'The run reads more than the 1000 records that MAX_RECORDS allows'],
    ['MAX_STATEMENTS', 'statements.csv', () => rows(950, (i) => `${i},Ada\n`), 'The run makes more than the 900 statements that'],
  ])('answers 400 and says it was %s', async (limit, file, content, reason) => {
    const before = memoryIn((await ask(`${service.url}/metrics`)).body);
    await writeFile(at(file), content());
    if (limit === 'MAX_INPUT_BYTES') await truncate(at(file), 100_000_001);
    const mapping = file.endsWith('json') ? 'json.ttl' : 'csv.ttl';
    const { status, body } = await postJson(`${service.url}/process`, { inputFileURL: at(file), mappingURL: at(mapping) });
    expect(status).toBe(400);
    expect(body.error).toContain(`Record '${at(file)}' could not be processed due to: ${reason}`);
    expect(body).toMatchObject({ code: 'limit/exceeded', detail: { limit } });
    const metrics = (await ask(`${service.url}/metrics`)).body as string;
    expect(metrics).toContain(`rml_limits_hit_total{limit="${limit}"} 1\n`);
    // A compression bomb is never held in memory.
    expect(memoryIn(metrics) - before).toBeLessThan(200 * 2 ** 20);
  });

  soakTest(
    'answers 400 when an input does not go on, and the thread is free for the next run',
    async () => {
      const input = await slowInput(100);
      const limit = (seconds: number) =>
        ask(`${service.url}/updateConfig?configEntry=MAX_RUN_SECONDS&configValue=${seconds}`, { method: 'PUT' });
      try {
        expect((await limit(2)).status).toBe(200);
        const { body } = await postJson(`${service.url}/process`, { inputFileURL: input.url, mappingURL: at('csv.ttl') });
        expect(body).toMatchObject({ code: 'limit/exceeded', detail: { limit: 'MAX_RUN_SECONDS' } });
        expect(body.error).toContain('The run takes longer than the 2 seconds that MAX_RUN_SECONDS allows');
      } finally {
        await limit(60);
        await input.close();
      }
      await writeFile(
        at('good.csv'),
        rows(2, (i) => `${i},Ada\n`),
      );
      expect((await postJson(`${service.url}/process`, { inputFileURL: at('good.csv'), mappingURL: at('csv.ttl') })).body.quads).toBe(2);
    },
    120_000,
  );

  test('measures how late its event loop is', async () => {
    const metrics = (await ask(`${service.url}/metrics`)).body as string;
    expect(Number(/^rml_event_loop_lag_seconds_count (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    expect(Number(/^rml_event_loop_lag_seconds_bucket\{le="2.5"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  });
});
