/** Threads, files and messages of the workers. Threads are started from `dist`. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect } from '@jest/globals';
import type { RunPayload, TransformPayload } from '../../queues/jobs.ts';
import { cancelledFault, decodeFault, encodeFault, failedOutcome, failureMessage, localTime } from '../../queues/runs/outcome.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { VERSION } from '../../src/config/version.ts';
import { Fault } from '../../src/core/fault.ts';
import { Secret } from '../../src/core/secret.ts';
import { createLogger, METRICS, metricsText, quietLogger } from '../../src/core/telemetry/observe.ts';
import type { PartReport } from '../../src/run/report.ts';
import { mergeReports } from '../../src/run/slices/merge-reports.ts';
import { USUAL_S3_ACCESS } from '../../src/storage/s3-access.ts';
import { taskOf } from '../../workers/jobs/task.ts';
import { outputPlace, removeAll, removeAttempt, removeEarlier, removeEarlierSpills, removeSpills } from '../../workers/output/output.ts';
import type { Task } from '../../workers/task.ts';
import { type PoolOptions, ThreadPool } from '../../workers/threads/pool.ts';
import { closeAfterEach } from '../support/closing.ts';
import { soakTest, test } from '../support/jest/extent.ts';
import { built } from '../support/project-root.ts';

const ENGINE = built('test/support/queues/engine.js').href;

const { closes, directory: directoryForTest } = closeAfterEach();

function openPool(options: Partial<PoolOptions> = {}): ThreadPool {
  const pool = new ThreadPool({ memoryMb: 64, engine: ENGINE, ...options }, quietLogger());
  closes(() => pool.close());
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
    slices: { rows: 0, bytes: 0 },
    output: { directory, name: `Service-${runId}`, format: 'nquads', attempt: '1', service: 'Service' },
  };
}

/** A first attempt has no files of its run to look for. */
const thirdAttempt = (task: Task): Task => ({ ...task, output: { ...task.output, attempt: '3' } });

const hooks = (signal = new AbortController().signal, assertMayCommit: () => Promise<void> = async () => {}) => ({
  signal,
  progress: () => undefined,
  assertMayCommit,
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

  soakTest(
    'ends a run that needs too much memory, while its neighbour lives',
    async () => {
      const directory = await directoryForTest();
      const pool = openPool();
      const neighbour = pool.run(taskFor(directory, 'slow=1500', 'r2'), hooks());
      await expect(pool.run(taskFor(directory, 'memory'), hooks())).rejects.toMatchObject({
        code: 'limit/exceeded',
        message: expect.stringContaining('64 MB'),
      });
      expect((await neighbour).report.quads).toBe(1);
      expect((await pool.run(taskFor(directory, 'ok', 'r3'), hooks())).report.quads).toBe(1);
    },
    30_000,
  );

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
    await openPool().run(thirdAttempt(taskFor(directory, 'ok', 'r1', { spillDirectory: join(spill, 'r1.3') })), hooks());
    expect(await readdir(spill)).toEqual(['r12.1']);
  });

  test('keeps all fields of a fault from the thread', async () => {
    const directory = await directoryForTest();
    await expect(openPool().run(taskFor(directory, 'fault=source/malformed'), hooks())).rejects.toMatchObject({
      code: 'source/malformed',
      place: { input: 'fault=source/malformed' },
    });
    expect(await readdir(directory)).toEqual([]);
  });

  test('reports a missing engine', async () => {
    const directory = await directoryForTest();
    await expect(openPool({ engine: 'file:///nowhere/engine.js' }).run(taskFor(directory, 'ok'), hooks())).rejects.toMatchObject({
      code: 'internal/error',
    });
  });

  test('writes rejected records to a separate file under quarantine, and reports how many', async () => {
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
    await removeEarlier({ directory }, 'S-r1', '3');
    expect((await readdir(directory)).sort()).toEqual(['.S-r12.nq.1.part', 'S-r1-2.nq', 'S-r1-extra.nq', 'S-r1.nq', 'S-r12.nq']);
    await removeAll({ directory }, 'S-r1');
    expect((await readdir(directory)).sort()).toEqual(['.S-r12.nq.1.part', 'S-r1-extra.nq', 'S-r12.nq']);
    await removeEarlier({ directory: join(directory, 'missing') }, 'S-r1', '3');
  });

  const STARTS = ['1', '1-5-3', '2', '2-5-1', '2-5-2', '2-5-10', '2-51-1', '3', '3-5-1', '10', '10-5-1'];
  test.each<[string, readonly string[]]>([
    ['1', []],
    ['2', ['1', '1-5-3']],
    ['10', STARTS.slice(0, 9)],
    ['2-5-1', []],
    ['2-5-2', ['2-5-1']],
    ['2-5-10', ['2-5-1', '2-5-2']],
  ])('of starts before %s are removed, and those of later starts stay, also where that start is a late one', async (attempt, earlier) => {
    const directory = await directoryForTest();
    const left = STARTS.filter((start) => !earlier.includes(start));
    for (const start of STARTS) {
      await writeFile(join(directory, `.S-r1.nq.${start}.part`), '');
      await mkdir(join(directory, 'spill', `S-r1.${start}`), { recursive: true });
    }
    await mkdir(join(directory, 'spill', 'S-r12.1'));
    await removeEarlier({ directory }, 'S-r1', attempt);
    await removeEarlierSpills(join(directory, 'spill', `S-r1.${attempt}`));
    expect((await readdir(directory)).filter((name) => name !== 'spill').sort()).toEqual(
      left.map((start) => `.S-r1.nq.${start}.part`).sort(),
    );
    expect((await readdir(join(directory, 'spill'))).sort()).toEqual([...left.map((start) => `S-r1.${start}`), 'S-r12.1'].sort());
    await removeSpills(join(directory, 'spill', `S-r1.${attempt}`));
    expect(await readdir(join(directory, 'spill'))).toEqual(['S-r12.1']);
  });

  test('are there for a slice although an earlier attempt of it, whose worker was suspended, starts after it', async () => {
    const directory = await directoryForTest();
    const slice = (start: string): Task => {
      const task = taskFor(directory, 'slow=600');
      const spillDirectory = join(directory, 'spill', `Service-r1.${start}`);
      const slice = { index: 0, digest: '', scans: [], snapshots: {} };
      return { ...task, request: { ...task.request, slice, spillDirectory }, output: { ...task.output, attempt: start } };
    };
    const pool = openPool();
    const database = { jdbcUrl: 'jdbc:postgresql://host/db', user: 'u', password: new Secret('p') };
    const start = (task: Task, url: string) =>
      pool.runSlice({ ...task, request: { ...task.request, inputs: [{ name: '0', url }], database } }, hooks());
    // Until the other one has started a thread, however busy the machine is.
    const newer = start(slice('1-0-2'), 'slow=6000');
    while (!(await readdir(directory)).includes('.Service-r1.nq.1-0-2.part')) await sleep(5);
    await mkdir(join(directory, 'spill', 'Service-r1.1-0-2'), { recursive: true });
    const late = start(slice('1-0-1'), 'slow=600');
    while (!(await readdir(directory)).includes('.Service-r1.nq.1-0-1.part')) await sleep(5);
    expect((await readdir(join(directory, 'spill'))).includes('Service-r1.1-0-2')).toBe(true);
    const [{ parts }] = [await newer, await late];
    expect(await readFile(join(directory, parts[0]?.file as string), 'utf8')).toContain('<urn:slice> "0"');
  });

  test('of one attempt or one slice are removed, and those of later attempts stay', async () => {
    const directory = await directoryForTest();
    const names = ['2', '2-5-1', '2-51-1', '12', '3', '3-2-1'].map((attempt) => `.S-r1.nq.${attempt}.part`);
    for (const name of [...names, '.S-r1-2.nq.2-5-1.part', '.S-r1.rejected.ndjson.2-5-2.part', '.S-r12.nq.2-5-1.part', 'S-r1.nq']) {
      await writeFile(join(directory, name), '');
    }
    await removeAttempt({ directory }, 'S-r1', '2-5');
    const others = ['.S-r1.nq.12.part', '.S-r1.nq.3-2-1.part', '.S-r1.nq.3.part', '.S-r12.nq.2-5-1.part', 'S-r1.nq'];
    expect((await readdir(directory)).sort()).toEqual([...others, '.S-r1.nq.2-51-1.part', '.S-r1.nq.2.part'].sort());
    await removeAttempt({ directory }, 'S-r1', '2');
    expect((await readdir(directory)).sort()).toEqual(others);
  });

  test('are several where the engine cuts them, and what an earlier attempt published beside them is removed', async () => {
    const directory = await directoryForTest();
    for (const name of ['Service-r1-2.nq', 'Service-r1-4.nq', 'Service-r1.rejected.ndjson', 'Service-r12.nq']) {
      await writeFile(join(directory, name), 'of an earlier attempt');
    }
    const { parts } = await openPool().run(thirdAttempt(taskFor(directory, 'parts=3')), hooks());
    expect(parts.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))).toEqual(['Service-r1.nq', 'Service-r1-2.nq', 'Service-r1-3.nq']);
    const { parts: listed } = JSON.parse(await readFile(join(directory, 'Service-r1.manifest.json'), 'utf8'));
    expect(listed).toEqual(parts);
    expect((await readdir(directory)).sort()).toEqual([
      'Service-r1-2.nq',
      'Service-r1-3.nq',
      'Service-r1.manifest.json',
      'Service-r1.nq',
      'Service-r12.nq',
    ]);
  });

  test('of a run that was forgotten, and came again under its idempotency key, are replaced by its first attempt', async () => {
    const directory = await directoryForTest();
    await openPool().run(taskFor(directory, 'parts=3'), hooks());
    await openPool().run(taskFor(directory, 'ok'), hooks());
    expect((await readdir(directory)).sort()).toEqual(['Service-r1.manifest.json', 'Service-r1.nq']);
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
  ])('go for %s to the directory %s', (url, path) => expect(outputPlace(url, '/t', USUAL_S3_ACCESS)).toEqual({ directory: path }));

  test.each([
    ['s3://bucket', ''],
    ['s3://bucket/', ''],
    ['s3://bucket/a/100%', 'a/100%/'],
    ['s3://bucket/a/', 'a/'],
  ])('go for %s to object storage', (url, key) => {
    const objects = { at: { kind: 's3', bucket: 'bucket', key }, access: USUAL_S3_ACCESS };
    expect(outputPlace(url, '/t', USUAL_S3_ACCESS)).toEqual({ directory: '/t', objects });
  });

  test.each(['http://host/out', 'ftp://host/out', 's3://', 's3://bucket/../out', 'output'])('do not go to %s', (url) => {
    expect(() => outputPlace(url, '/t', USUAL_S3_ACCESS)).toThrow(expect.objectContaining({ code: 'config/invalid' }));
  });
});

describe('the report of a sliced run', () => {
  const report = (more: Partial<PartReport>): PartReport => ({
    records: 1,
    quads: 2,
    rejected: 3,
    bytesRead: 4,
    triplesMaps: [],
    warnings: [],
    ...more,
  });
  const whole = { onError: undefined };
  const map = { id: 'a', name: 'A', origin: 'm:1:1', records: 1, quads: 1, rejected: 0, empty: undefined };

  test('adds up those of its slices, and lists each warning once', () => {
    const sum = mergeReports([report({ warnings: ['w', 'x'] }), report({ warnings: ['w'] })], whole);
    expect(sum).toMatchObject({ records: 2, quads: 4, rejected: 6, bytesRead: 8, warnings: ['w', 'x'] });
  });

  test('adds up joins, and warns of one only if no slice has found a partner', () => {
    const join = { id: 'j', origin: 'm:2:3', child: 'A', parent: 'B', conditions: 'a = b', rows: 4, withoutPartner: 2, found: true };
    const keys = { childKeys: ['"1"', '"2"'], parentKeys: ['"8"'] };
    const none = { ...join, ...keys, withoutPartner: 4, found: false };
    const some = { ...join, childKeys: ['"2"', '"3"', '"4"'], parentKeys: ['"8"', '"9"'] };
    const all = { ...join, id: 'k', withoutPartner: 0, childKeys: [], parentKeys: [] };
    const { joins, warnings } = mergeReports([report({ joins: [none, all] }), report({ joins: [some] }), report({})], whole);
    const sum = { rows: 8, withoutPartner: 6, found: true, childKeys: ['"1"', '"2"', '"3"'], parentKeys: ['"8"', '"9"'] };
    expect([joins, warnings]).toEqual([[{ ...join, ...sum }], []]);
    expect(mergeReports([report({ joins: [none] }), report({ joins: [none] })], whole).warnings).toEqual([
      'm:2:3: none of the 8 rows of A found a partner in B by a = b: A has "1", "2", B has "8". Check the references of the join condition',
    ]);
  });

  test.each([
    ['nothing when one slice gave a statement', 1, undefined],
    ['why the slice with the most records gave nothing', 0, 'no object'],
  ])('says of a triples map %s', (_, quads, empty) => {
    const none = { ...map, records: 0, quads: 0, empty: 'no records' };
    const some = { ...map, id: 'a', records: 5, quads, empty: quads > 0 ? undefined : 'no object' };
    const other = { ...map, id: 'b' };
    const { triplesMaps } = mergeReports(
      [none, some, other].map((one) => report({ triplesMaps: [one] })),
      whole,
    );
    expect(triplesMaps).toEqual([{ ...map, records: 5, quads, empty }, other]);
  });
});

describe('the task of a job', () => {
  const payload = (more: Partial<TransformPayload>): TransformPayload => ({
    service: 'sql-transformer',
    inputs: [],
    mappings: ['m'],
    run: { ...RUN_DEFAULTS },
    sliceRows: 10,
    output: { directory: '/out', format: 'nquads' },
    runId: 'r1',
    submittedAt: new Date(0).toISOString(),
    ...more,
  });
  const database = { jdbcUrl: 'jdbc:postgresql://h/d', user: 'u', password: new Secret('hunter2') };
  const settings = {
    spillDirectory: '/spill',
    datasetStates: '/datasets',
    workingDirectory: '/',
    database: async () => database,
    web: async () => RUN_DEFAULTS.web,
    s3: async () => USUAL_S3_ACCESS,
    functionDirectory: async (version: string) => `/functions/${version}`,
  };
  const slice = { index: 5, digest: 'd', scans: [], snapshots: {} };

  test.each<[string, Partial<TransformPayload>, typeof slice | undefined, unknown, number]>([
    ['the SQL transformer has its database, and may be cut', {}, undefined, database, 10],
    ['a slice has it as well, and is not cut again', {}, slice, database, 0],
    ['another service has none', { service: 'semi-structured-transformer' }, undefined, undefined, 0],
  ])('of %s', async (_, more, given, expected, rows) => {
    const task = await taskOf(payload(more), '2', settings, given);
    expect(task.request.database).toEqual(expected);
    expect(task).toMatchObject({ slices: { rows, bytes: 0 }, request: { slice: given } });
  });

  test('has what an earlier version did not write into a job', async () => {
    const { sql, rowsPerPart, ...run } = RUN_DEFAULTS;
    const { request, slices } = await taskOf(
      JSON.parse(JSON.stringify(payload({ run: run as never, sliceRows: undefined as never }))),
      '1',
      settings,
    );
    expect({ ...request, slices }).toMatchObject({
      sql,
      rowsPerPart,
      maxRejected: Number.POSITIVE_INFINITY,
      slices: { rows: 0, bytes: 0 },
    });
  });
});

describe('the failure message', () => {
  const payload: Pick<RunPayload, 'runId' | 'service' | 'inputs'> = {
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
      'a question of its hint in parentheses, before the full stop',
      {},
      new Fault('request/invalid', 'There is no field "inputFileUrl"', { hint: 'Did you mean inputFileURL?' }),
      'file:///in/a.csv',
      'Record \'file:///in/a.csv\' could not be processed due to: There is no field "inputFileUrl" (did you mean inputFileURL?).',
    ],
    [
      'the last of several questions so, behind a place',
      { service: 'sql-transformer', inputs: [] },
      new Fault('mapping/reference', 'No. Did you mean it? There is no column b.c', {
        place: { expression: 'b.c' },
        hint: 'Did you mean a.c or b.d?',
      }),
      undefined,
      'Record could not be processed due to: No. Did you mean it? There is no column b.c (expression b.c) (did you mean a.c or b.d?).',
    ],
    [
      'the question of a diagnostic, which stands in a separate line, behind what it is about',
      {},
      new Fault('mapping/invalid', 'm.ttl:4:1: error: there is no property rml:tmplate\n    did you mean rml:template?'),
      'file:///in/a.csv',
      "Record 'file:///in/a.csv' could not be processed due to: m.ttl:4:1: error: there is no property rml:tmplate (did you mean rml:template?).",
    ],
    [
      'what ends in a question mark by its name as it is',
      {},
      new Fault('source/missing', 'There is no file /in/what?'),
      'file:///in/a.csv',
      "Record 'file:///in/a.csv' could not be processed due to: There is no file /in/what?.",
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
    [
      'a question for the writer so too',
      { service: 'graph-writer' },
      new Fault('config/unknown', 'There is no option "A"', { hint: 'Did you mean B?' }),
      'file:///in/a.csv',
      'Record \'file:///in/a.csv\' could not be processed due to: There is no option "A" (did you mean B?)',
    ],
  ])('names %s', (_, more, fault, entity, error) => {
    const message = failureMessage({ ...payload, ...more }, fault, new Date());
    expect(message.entity).toBe(entity);
    expect(message).toMatchObject({ error, version: VERSION, code: fault.code, runId: 'r1' });
    expect(message.provenance).toBe(message.name === 'Graph-Writer' ? undefined : '');
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

  test('every metric follows the naming rule, and the depth of the queue is read at each scrape', async () => {
    METRICS.runs.inc({ service: 'sql-transformer', state: 'completed' });
    const text = await metricsText({ counts: async () => ({ queued: 3 }) });
    expect(text).toContain('rml_runs_total{service="sql-transformer",state="completed"} 1');
    expect(text).toContain('rml_queue_runs{state="queued"} 3');
    const away = await metricsText({
      counts: async () => {
        throw new Fault('service/unavailable', 'away');
      },
    });
    expect(away).not.toContain('rml_queue_runs{');
    const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map((found) => found[1] as string);
    expect(names.filter((name) => !name.startsWith('rml_'))).toEqual([]);
  });
});
