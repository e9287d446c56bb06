/** Threads, files and words of the workers. Threads are started from `dist`. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { TransformPayload } from '../queues/jobs.ts';
import { cancelledFault, decodeFault, encodeFault, failedOutcome, failureMessage, localTime } from '../queues/outcome.ts';
import { VERSION } from '../src/config/version.ts';
import { Fault } from '../src/fault.ts';
import { createLogger, METRICS, metricsText, quietLogger } from '../src/observe.ts';
import { RUN_DEFAULTS } from '../src/run/request.ts';
import type { Task } from '../workers/messages.ts';
import { outputDirectory, removeLeftovers } from '../workers/output.ts';
import { type PoolOptions, ThreadPool } from '../workers/pool.ts';
import { temporaryDirectory } from './queues-backends.ts';

const ENGINE = new URL('../dist/test/queues-engine.js', import.meta.url).href;

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function directoryForTest(): Promise<string> {
  const directory = await temporaryDirectory();
  endings.push(() => directory.remove());
  return directory.path;
}

function openPool(options: Partial<PoolOptions> = {}): ThreadPool {
  const pool = new ThreadPool({ memoryMb: 64, engine: ENGINE, ...options }, quietLogger());
  endings.push(() => pool.close());
  return pool;
}

function taskFor(directory: string, url: string, runId = 'r1', more: Partial<Task['request']> = {}): Task {
  return {
    request: {
      ...RUN_DEFAULTS,
      runId,
      mappings: ['file:///mapping.ttl'],
      inputs: [{ name: undefined, url }],
      workingDirectory: directory,
      spillDirectory: join(directory, 'spill', `${runId}.1`),
      ...more,
    },
    sliceRows: 0,
    output: { directory, name: `Service-${runId}`, format: 'nquads', attempt: '1', service: 'Service' },
  };
}

const hooks = (signal = new AbortController().signal, mayCommit: () => Promise<void> = async () => {}) => ({
  signal,
  progress: () => undefined,
  mayCommit,
});

describe('the pool of threads', () => {
  test('maps runs one after the other in the same thread', async () => {
    const directory = await directoryForTest();
    const pool = openPool();
    for (const id of ['r1', 'r2']) {
      const { parts, manifest } = await pool.run(taskFor(directory, 'ok', id), hooks());
      expect(parts).toEqual([expect.objectContaining({ url: pathToFileURL(join(directory, `Service-${id}.nq`)).href })]);
      expect(manifest).toBe(pathToFileURL(join(directory, `Service-${id}.manifest.json`)).href);
    }
  });

  test('ends a run that needs too much memory, while its neighbour lives', async () => {
    const directory = await directoryForTest();
    const pool = openPool();
    const neighbour = pool.run(taskFor(directory, 'slow=1500', 'r2'), hooks());
    await expect(pool.run(taskFor(directory, 'memory'), hooks())).rejects.toMatchObject({
      code: 'limit/exceeded',
      message: expect.stringContaining('64 MB'),
    });
    expect((await neighbour).report.quads).toBe(1);
    expect((await pool.run(taskFor(directory, 'ok', 'r3'), hooks())).report.quads).toBe(1);
  }, 30_000);

  test.each(['slow=60000', 'deaf', 'busy'])(
    'stops a run that is %s, for the reason of the signal',
    async (act) => {
      const directory = await directoryForTest();
      const pool = openPool();
      const stop = new AbortController();
      const run = pool.run(taskFor(directory, act), hooks(stop.signal));
      setTimeout(() => stop.abort(cancelledFault()), 300);
      await expect(run).rejects.toMatchObject({ code: 'run/cancelled' });
      expect((await pool.run(taskFor(directory, 'ok', 'r2'), hooks())).report.quads).toBe(1);
    },
    20_000,
  );

  test('publishes nothing when the last question is answered with no', async () => {
    const directory = await directoryForTest();
    const run = openPool().run(
      taskFor(directory, 'ok'),
      hooks(undefined, async () => {
        throw new Fault('run/lost', 'lost the lock');
      }),
    );
    await expect(run).rejects.toMatchObject({ code: 'run/lost' });
    expect(await readdir(directory)).toEqual([]);
  });

  test('removes what killed attempts of the same run had spilled', async () => {
    const directory = await directoryForTest();
    const spill = join(directory, 'spill');
    for (const name of ['r1.1', 'r1.2', 'r12.1']) await mkdir(join(spill, name, 'quadmill-r1-0', '0'), { recursive: true });
    await openPool().run(taskFor(directory, 'ok', 'r1', { spillDirectory: join(spill, 'r1.3') }), hooks());
    expect(await readdir(spill)).toEqual(['r12.1']);
  });

  test('keeps what a fault says on its way out of the thread', async () => {
    const directory = await directoryForTest();
    await expect(openPool().run(taskFor(directory, 'fault=source/malformed'), hooks())).rejects.toMatchObject({
      code: 'source/malformed',
      place: { input: 'fault=source/malformed' },
    });
    expect(await readdir(directory)).toEqual([]);
  });

  test('says so when there is no engine', async () => {
    const directory = await directoryForTest();
    await expect(openPool({ engine: 'file:///nowhere/engine.js' }).run(taskFor(directory, 'ok'), hooks())).rejects.toMatchObject({
      code: 'internal/error',
    });
  });

  test('writes rejected records to a file of their own under quarantine, and says how many', async () => {
    const directory = await directoryForTest();
    const { rejections, report } = await openPool().run(taskFor(directory, 'reject=5', 'r1', { onError: 'quarantine' }), hooks());
    expect(rejections).toBe(pathToFileURL(join(directory, 'Service-r1.rejected.ndjson')).href);
    const lines = (await readFile(join(directory, 'Service-r1.rejected.ndjson'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toHaveLength(5);
    expect(report.warnings).toEqual([expect.stringMatching(/^5 records were rejected: record 0 is bad; record 1 is bad/)]);
  });

  test('maps with the engine of this program', async () => {
    const directory = await directoryForTest();
    const mapping = join(directory, 'mapping.ttl');
    await writeFile(join(directory, 'people.csv'), 'id,name\n1,Ada\n2,Zoë\n');
    await writeFile(
      mapping,
      `@prefix rml: <http://w3id.org/rml/> .
      <#people> a rml:TriplesMap ;
        rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:path "people.csv" ] ; rml:referenceFormulation rml:CSV ] ;
        rml:subjectMap [ rml:template "http://example.com/{id}" ] ;
        rml:predicateObjectMap [ rml:predicate <http://example.com/name> ; rml:objectMap [ rml:reference "name" ] ] .`,
    );
    const task = taskFor(directory, join(directory, 'people.csv'), 'r1', { mappings: [mapping] });
    const { report, parts } = await openPool({ engine: undefined, memoryMb: 256 }).run(task, hooks());
    expect(report).toMatchObject({ records: 2, quads: 2, rejected: 0 });
    expect(await readFile(new URL(parts[0]?.url as string), 'utf8')).toContain('<http://example.com/2> <http://example.com/name> "Zoë" .');
    expect(existsSync(join(directory, 'spill', 'r1.1'))).toBe(false);
  });
});

describe('files of a run', () => {
  test('that dead attempts left are removed, and those of other runs stay', async () => {
    const directory = await directoryForTest();
    const names = [
      '.S-r1.nq.1.part',
      '.S-r1.manifest.json.2.part',
      '.S-r12.nq.1.part',
      'S-r1.nq',
      'S-r1-2.nq',
      'S-r12.nq',
      'S-r1-extra.nq',
    ];
    for (const name of names) await writeFile(join(directory, name), '');
    await removeLeftovers(directory, 'S-r1');
    expect((await readdir(directory)).sort()).toEqual(['.S-r12.nq.1.part', 'S-r1-2.nq', 'S-r1-extra.nq', 'S-r1.nq', 'S-r12.nq']);
    await removeLeftovers(directory, 'S-r1', true);
    expect((await readdir(directory)).sort()).toEqual(['.S-r12.nq.1.part', 'S-r1-extra.nq', 'S-r12.nq']);
    await removeLeftovers(join(directory, 'missing'), 'S-r1');
  });

  test('are not visible when the manifest cannot be written', async () => {
    const directory = await directoryForTest();
    await mkdir(join(directory, 'Service-r1.manifest.json', 'in the way'), { recursive: true });
    await expect(openPool().run(taskFor(directory, 'ok'), hooks())).rejects.toMatchObject({ code: 'sink/failed' });
    expect((await readdir(directory)).filter((name) => name.endsWith('.nq') || name.endsWith('.part'))).toEqual([]);
  });

  test.each([
    ['/srv/out', '/srv/out'],
    ['file:///srv/out', '/srv/out'],
  ])('go for %s to the directory %s', (url, path) => expect(outputDirectory(url)).toBe(path));

  test('do not go to a place that this version cannot write to', () => {
    expect(() => outputDirectory('s3://bucket/out')).toThrow(expect.objectContaining({ code: 'config/invalid' }));
  });
});

describe('the failure message', () => {
  const payload: Pick<TransformPayload, 'runId' | 'service' | 'inputs'> = {
    runId: 'r1',
    service: 'semi-structured-transformer',
    inputs: [
      { name: 'a', url: 'file:///in/a.csv' },
      { name: 'b', url: '/in/b.txt' },
    ],
  };

  test.each<[string, Partial<typeof payload>, Fault, string | undefined, string]>([
    [
      'the input that the fault names',
      {},
      new Fault('source/missing', 'There is no file', { place: { input: '/in/b.txt' } }),
      '/in/b.txt',
      "Record '/in/b.txt' could not be processed due to: There is no file.",
    ],
    [
      'the same file under its other name',
      {},
      new Fault('source/missing', 'Gone', { place: { input: '/in/a.csv' } }),
      'file:///in/a.csv',
      "Record 'file:///in/a.csv' could not be processed due to: Gone.",
    ],
    [
      'the first input when the fault names another file',
      {},
      new Fault('source/missing', 'Gone', { place: { input: '/in/c.csv' } }),
      'file:///in/a.csv',
      "Record 'file:///in/a.csv' could not be processed due to: Gone (input /in/c.csv).",
    ],
    [
      'the first input when the fault names none',
      {},
      new Fault('mapping/syntax', 'A dot is missing.'),
      'file:///in/a.csv',
      "Record 'file:///in/a.csv' could not be processed due to: A dot is missing.",
    ],
    [
      'extension and expected types for an unknown type',
      {},
      new Fault('source/type', 'unknown', { place: { input: '/in/b.txt' } }),
      '/in/b.txt',
      "Record '/in/b.txt' could not be processed due to: Input has the file extension 'txt'; expected is one of XML, JSON, CSV, XLSX, ODS.",
    ],
    [
      'no record for SQL',
      { service: 'sql-transformer', inputs: [] },
      new Fault('source/unreadable', 'Invalid Database Credentials'),
      undefined,
      'Record could not be processed due to: Invalid Database Credentials.',
    ],
    [
      'no full stop for the writer',
      { service: 'graph-writer' },
      new Fault('source/missing', 'Gone'),
      'file:///in/a.csv',
      "Record 'file:///in/a.csv' could not be processed due to: Gone",
    ],
  ])('names %s', (_, more, fault, entity, error) => {
    const message = failureMessage({ ...payload, ...more }, fault, new Date());
    expect(message).toMatchObject({ error, entity, version: VERSION, provenance: '', code: fault.code, runId: 'r1' });
    expect(message.name).toBe(message.type);
  });

  test('has a local time with milliseconds and without a zone', () => {
    const now = new Date(2026, 10, 21, 7, 5, 9, 42);
    expect(localTime(now)).toBe('2026-11-21T07:05:09.042');
  });

  test('has no password of an input URL', () => {
    const inputs = [{ name: undefined, url: 'http://user:hunter2@host/a.csv' }];
    expect(JSON.stringify(failureMessage({ ...payload, inputs }, new Fault('source/missing', 'Gone'), new Date()))).not.toContain(
      'hunter2',
    );
  });

  test('tells a cancelled run from a failed one', () => {
    expect(failedOutcome(payload, cancelledFault(), new Date()).state).toBe('cancelled');
    expect(failedOutcome(payload, new Fault('run/lost', 'x'), new Date()).state).toBe('failed');
  });

  test.each([
    [
      'a fault as it was',
      encodeFault(new Fault('record/limit', 'Too\nmany', { place: { line: 3 }, hint: 'Mend' })),
      { code: 'record/limit', message: 'Too\nmany', place: { line: 3 }, hint: 'Mend' },
    ],
    ['the words of the queue about a job that killed its workers', 'job stalled more than allowable limit', { code: 'run/killed' }],
    ['anything else', 'Missing key', { code: 'run/lost', message: 'Missing key' }],
    ['nothing at all', undefined, { code: 'run/lost' }],
  ])('is made of %s', (_, reason, expected) => {
    expect(decodeFault(reason)).toMatchObject(expected);
  });
});

describe('log and metrics', () => {
  test('a log line hides secrets', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info' }, { write: (line) => lines.push(line) });
    logger.info({ queue: 'redis://u:hunter2@host', DB_PASSWORD: 'hunter3', request: { headers: { authorization: 'hunter4' } } }, 'started');
    logger.error({ error: new Error('cannot reach postgres://u:hunter5@host/db') }, 'failed');
    expect(lines.join('')).not.toMatch(/hunter/);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['started', 'failed']);
  });

  test('every metric has a name of the house, and the depth of the queue is read when it is asked for', async () => {
    METRICS.runs.inc({ service: 'sql-transformer', state: 'completed' });
    const text = await metricsText(async () => ({ queued: 3 }));
    expect(text).toContain('rml_runs_total{service="sql-transformer",state="completed"} 1');
    expect(text).toContain('rml_queue_runs{state="queued"} 3');
    const away = await metricsText(async () => {
      throw new Fault('service/unavailable', 'away');
    });
    expect(away).not.toContain('rml_queue_runs{');
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map((found) => found[1] as string);
    expect(names.filter((name) => !name.startsWith('rml_'))).toEqual([]);
  });
});
