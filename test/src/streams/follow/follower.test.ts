import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { Fault } from '../../../../src/core/fault.ts';
import { fromBytes } from '../../../../src/core/text.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import { runDataset } from '../../../../src/datasets/run.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import type { ChangeEvent, RejectedMessage, Row } from '../../../../src/streams/events.ts';
import {
  type EpochReport,
  type FollowHooks,
  type FollowOptions,
  type FollowProgress,
  follow,
} from '../../../../src/streams/follow/follower.ts';
import { KeptRows } from '../../../../src/streams/follow/state/rows.ts';
import { tablesOfTopics } from '../../../../src/streams/follow/tables.ts';
import { openRowsOf } from '../../../../src/streams/kept.ts';
import { MemoryLog } from './memory-feed.ts';

const HEAD =
  '@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.com/> .\n';
const MAPPING = `${HEAD}<#M> rr:logicalTable [ rr:tableName "t" ] ; rr:subjectMap [ rr:template "http://example.com/{id}" ] ;
  rr:predicateObjectMap [ rr:predicate ex:a ; rr:objectMap [ rr:column "a" ] ] .`;

describe('a follower', () => {
  let directory: string;
  let log: MemoryLog;
  const warnings: string[] = [];
  const epochs: EpochReport[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'quadmill-follower-'));
    writeFileSync(join(directory, 'mapping.ttl'), MAPPING);
    log = new MemoryLog();
    warnings.length = 0;
    epochs.length = 0;
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const row = (id: number, a: Row[string], more = {}): ChangeEvent =>
    ({ kind: 'row', table: 't', key: `[${id}]`, position: undefined, row: { id: String(id), a }, ...more }) as ChangeEvent;
  const line = (id: number, a: string): string => `<http://example.com/${id}> <http://example.com/a> "${a}" .`;
  const place = () => ({
    files: openFiles(join(directory, 'dataset'), directory, USUAL_S3_ACCESS),
    stateDirectory: join(directory, 'dataset', 'state'),
  });
  const start = (
    changes: Partial<FollowOptions> = {},
    run: Partial<RunRequest> = {},
    rejected?: RejectedMessage[],
    hooks: Partial<FollowHooks> = {},
  ) => {
    const stop = new AbortController();
    const request = {
      ...RUN_DEFAULTS,
      inputs: [],
      mappings: ['mapping.ttl'],
      workingDirectory: directory,
      spillDirectory: directory,
      ...run,
    };
    const done = follow(
      {
        place: place(),
        request,
        source: { tables: async (mapping, of) => tablesOfTopics(mapping, of, 'kafka:memory'), open: async () => log.feed() },
        epochSeconds: 5,
        epochRecords: 10_000,
        untilCaughtUp: true,
        retain: 0,
        firstWaitMs: 1,
        ...changes,
      },
      {
        stop: stop.signal,
        epoch: (report) => void epochs.push(report),
        warn: (text) => void warnings.push(text),
        ...(rejected === undefined ? {} : { rejected: (message) => void rejected.push(message) }),
        ...hooks,
      },
    );
    return { done, stop: () => stop.abort() };
  };
  const catchUp = async (run: Partial<RunRequest> = {}, rejected?: RejectedMessage[]): Promise<void> => start({}, run, rejected).done;
  const graph = async (): Promise<readonly string[]> => {
    const dataset = await Dataset.open(place().files);
    let text = '';
    for await (const lines of dataset.graph(dataset.current, undefined, { directory, memoryBudgetBytes: 2 ** 20 })) text += lines;
    return fromBytes(text).split('\n').slice(0, -1).sort();
  };
  const version = async (): Promise<number> => (await Dataset.open(place().files)).current;
  const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
    for (let i = 0; i < 500; i++) {
      if (await is()) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('it takes too long');
  };

  test('makes a version of the first rows, and one of the changes of an epoch; where nothing changes, none', async () => {
    log.append([row(1, 'x'), row(2, 'y')], [row(3, null)]);
    await catchUp();
    expect(await graph()).toEqual([
      '<http://example.com/1> <http://example.com/a> "x" .',
      '<http://example.com/2> <http://example.com/a> "y" .',
    ]);
    log.append([row(1, 'z'), { kind: 'delete', table: 't', key: '[2]', position: undefined }]);
    await catchUp();
    expect(await graph()).toEqual(['<http://example.com/1> <http://example.com/a> "z" .']);
    expect(epochs.map(({ made, changes }) => [made.version, made.added, made.removed, changes])).toEqual([
      [1, 2, 0, 3],
      [2, 1, 2, 2],
    ]);
    log.append([row(1, 'z')], []);
    await catchUp();
    expect(epochs).toHaveLength(2);
    expect(await (await Dataset.open(place().files)).manifest(2)).toMatchObject({
      feed: { name: 'kafka:memory', position: { offset: '3' } },
    });
  });

  test('makes versions while it runs, and ends after the epoch when it is stopped', async () => {
    const running = start({ untilCaughtUp: false, epochSeconds: 0.05 });
    await until(async () => existsSync(join(directory, 'dataset', 'versions')) && (await version()) === 1);
    log.append([row(1, 'x')]);
    await until(async () => (await version()) === 2);
    log.append([row(1, 'y')]);
    await until(() => log.confirmed.length > 0);
    running.stop();
    await running.done;
    expect(await graph()).toEqual(['<http://example.com/1> <http://example.com/a> "y" .']);
    expect(epochs.at(-1)?.lag).toMatchObject({ messages: 0 });
  });

  test('an epoch ends by count', async () => {
    const running = start({ untilCaughtUp: false, epochSeconds: 1000, epochRecords: 2 });
    await until(async () => epochs.length === 1);
    log.append([row(1, 'x')]);
    log.append([row(2, 'y')]);
    await until(() => epochs.length === 2);
    running.stop();
    await running.done;
    expect(await version()).toBe(2);
  });

  test('an epoch does not end inside a transaction, also where each batch ends inside of one', async () => {
    const running = start({ untilCaughtUp: false, epochSeconds: 0.02 });
    await until(() => epochs.length === 1);
    const sums: number[] = [];
    log.append([row(0, '0'), { kind: 'begin', transaction: '0' }, row(1, '0')]);
    for (let n = 1; n < 30; n++) {
      // Both rows change together.
      log.append([
        row(2, String(-n + 1)),
        { kind: 'commit', transaction: String(n - 1) },
        { kind: 'begin', transaction: String(n) },
        row(1, String(n)),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    log.append([row(2, '-29'), { kind: 'commit', transaction: '29' }]);
    await until(async () => (await graph()).length === 3 && (await graph())[1]?.includes('"29"') === true);
    running.stop();
    await running.done;
    const dataset = await Dataset.open(place().files);
    for (const one of dataset.versions) {
      let text = '';
      for await (const lines of dataset.graph(one, undefined, { directory, memoryBudgetBytes: 2 ** 20 })) text += lines;
      const numbers = [...text.matchAll(/"(-?\d+)"/g)].map(([, digits]) => Number(digits));
      sums.push(numbers.reduce((sum, number) => sum + number, 0));
    }
    expect(new Set(sums)).toEqual(new Set([0]));
    expect(dataset.current).toBeGreaterThan(2);
  });

  test('a transaction without an end counts where the follower ends when it has caught up', async () => {
    log.append([row(1, 'x')], [{ kind: 'begin', transaction: '7' }, row(2, 'y')]);
    await catchUp();
    expect(await graph()).toHaveLength(2);
    expect(warnings).toEqual(['The transaction 7 has no end where memory:log ended at the start: what was read of it counts']);
  });

  test('where rows cannot be written, the feed is asked again after longer and longer', async () => {
    log.append([row(1, 'x')]);
    const full = Array.from({ length: 3 }, () => new Fault('sink/failed', 'the disk is full'));
    const { apply } = KeptRows.prototype;
    const writing = jest.spyOn(KeptRows.prototype, 'apply').mockImplementation(function (this: KeptRows, ...all) {
      const fault = full.pop();
      if (fault !== undefined) throw fault;
      return apply.apply(this, all);
    });
    const waits: number[] = [];
    await start({}, {}, undefined, { retry: (_, waitMs) => void waits.push(waitMs) }).done;
    writing.mockRestore();
    expect(waits).toEqual([1, 2, 4]);
    expect(await graph()).toEqual([line(1, 'x')]);
  });

  test('a lost feed is asked again', async () => {
    log.append([row(1, 'x')], [row(2, 'y')], [row(3, 'z')]);
    log.losses.push(1, 1);
    await catchUp();
    expect(await graph()).toHaveLength(3);
  });

  test('a version appears when it is confirmed, and not before; what is refused is made at the next start, once', async () => {
    const refuse: Partial<FollowHooks> = {
      confirm: () => Promise.reject(new Fault('run/cancelled', 'another one follows')),
    };
    log.append([row(1, 'x')]);
    await expect(start({}, {}, undefined, refuse).done).rejects.toThrow('another one follows');
    expect(await version()).toBe(0);
    log.append([row(2, 'y')]);
    const begun: string[] = [];
    const confirmed: number[] = [];
    const told: FollowProgress[] = [];
    const hooks: Partial<FollowHooks> = {
      begun: async ({ version: newest, added, manifest }) => void begun.push(`${newest} ${added} ${manifest.runId}`),
      confirm: async () => void confirmed.push(await version()),
      progress: (progress) => void told.push(progress),
    };
    await start({}, {}, undefined, hooks).done;
    expect([await graph(), await version(), begun]).toEqual([[line(1, 'x'), line(2, 'y')], 1, []]);
    expect(new Set(confirmed)).toEqual(new Set([0]));
    expect(told.at(-1)).toMatchObject({ feed: 'kafka:memory', position: { offset: '2' }, epochs: 1, lag: { seconds: 0 } });
    await start({}, {}, undefined, hooks).done;
    expect(begun).toEqual([`1 2 ${epochs[0]?.made.manifest.runId}`]);
  });

  test('nothing is read while the epoch is taken', async () => {
    let release = (): void => undefined;
    const taken = new Promise<void>((resolve) => {
      release = resolve;
    });
    log.append([row(1, 'x')]);
    const running = start({ untilCaughtUp: false, epochSeconds: 0.05 }, {}, undefined, { epoch: () => taken });
    await until(async () => existsSync(join(directory, 'dataset', 'versions')) && (await version()) === 1);
    log.append([row(2, 'y')]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await version()).toBe(1);
    release();
    await until(async () => (await version()) === 2);
    running.stop();
    await running.done;
  });

  test('rejected messages end it under strict, and are reported otherwise', async () => {
    log.append([row(1, 'x')], [], [row(2, 'y')]);
    log.rejected.set(1, [{ place: 'topic[0]@1', reason: 'it is no JSON' }]);
    await expect(catchUp()).rejects.toMatchObject({ code: 'source/malformed', message: 'topic[0]@1: it is no JSON' });
    const rejected: RejectedMessage[] = [];
    await catchUp({ onError: 'skip' }, rejected);
    expect(rejected.map((message) => message.place)).toEqual(['topic[0]@1']);
    expect(await graph()).toHaveLength(2);
  });

  test('reads everything again where its state is lost, and makes a version of what differs', async () => {
    log.append([row(1, 'x'), row(2, 'y')]);
    await catchUp();
    rmSync(join(directory, 'dataset', 'state'), { recursive: true });
    log.append([row(2, 'z')]);
    await catchUp();
    expect(warnings).toEqual([expect.stringMatching(/^The rows of kafka:memory are not in .*: everything is read again/)]);
    expect(epochs.map(({ made }) => [made.version, made.added, made.removed])).toEqual([
      [1, 2, 0],
      [2, 1, 1],
    ]);
  });

  test('keeps as many versions as `retain` says', async () => {
    for (const text of ['a', 'b', 'c', 'd']) {
      log.append([row(1, text)]);
      await start({ retain: 2 }).done;
    }
    expect((await Dataset.open(place().files)).versions).toEqual([3, 4]);
    expect(await graph()).toEqual(['<http://example.com/1> <http://example.com/a> "d" .']);
  });

  test('maps the kept rows again when the mapping has changed', async () => {
    log.append([row(1, 'x')]);
    await catchUp();
    writeFileSync(join(directory, 'mapping.ttl'), MAPPING.replace('ex:a', 'ex:b'));
    await catchUp();
    expect(await graph()).toEqual(['<http://example.com/1> <http://example.com/b> "x" .']);
    await catchUp();
    expect(await version()).toBe(2);
  });

  test('a version that is pending is published at the start, once', async () => {
    log.append([row(1, 'x')]);
    await catchUp();
    log.append([row(1, 'y')]);
    await catchUp();
    // As a process leaves it that is killed between the two.
    const dataset = await Dataset.open(place().files);
    const pending = await dataset.manifest(2);
    rmSync(join(directory, 'dataset', 'versions', '000002.json'));
    const keep = await KeptRows.open(join(directory, 'dataset', 'state', 'rows'), undefined);
    keep.save({ pending, isDirty: true, version: 1 });
    await keep.close();
    await catchUp();
    const after = await Dataset.open(place().files);
    expect(after.current).toBe(2);
    expect(await after.manifest(2)).toEqual(pending);
    expect(epochs).toHaveLength(2);
    expect(await graph()).toEqual(['<http://example.com/1> <http://example.com/a> "y" .']);
    expect(readdirSync(join(directory, 'dataset', 'versions'))).toHaveLength(5);
  });

  test('queries and files cannot be followed, and the lines say which', async () => {
    writeFileSync(join(directory, 'mapping.ttl'), MAPPING.replace('rr:tableName "t"', 'rr:sqlQuery "SELECT id, a FROM t"'));
    await expect(catchUp()).rejects.toMatchObject({
      code: 'mapping/invalid',
      message: expect.stringMatching(/^mapping\.ttl:2:\d+: error: a query cannot be followed/),
    });
  });

  test('a column that no row has is reported, and is no value', async () => {
    writeFileSync(join(directory, 'mapping.ttl'), MAPPING.replace('rr:column "a"', 'rr:column "missing"'));
    log.append([row(1, 'x')]);
    await catchUp();
    expect(await graph()).toEqual([]);
    expect(warnings[0]).toMatch(/^No row of t has a column missing \(mapping\.ttl:2:/);
    log.append([{ kind: 'row', table: 't', key: '[2]', position: undefined, row: { id: '2', missing: 'y' } }], [row(3, 'z')]);
    await catchUp();
    expect(await graph()).toEqual(['<http://example.com/2> <http://example.com/a> "y" .']);
    expect(warnings.at(-1)).toMatch(/^The newest row of t has no column missing, which older rows have \(mapping\.ttl:2:/);
  });

  test('values have the datatypes of their schema, or of the mapping, or of JSON', async () => {
    const column = (name: string, datatype?: string): string =>
      `rr:predicateObjectMap [ rr:predicate ex:${name} ; rr:objectMap [ rr:column "${name}"${datatype === undefined ? '' : ` ; rr:datatype xsd:${datatype}`} ] ]`;
    const columns = [
      column('n'),
      column('d'),
      column('b'),
      column('day', 'date'),
      column('days', 'date'),
      column('at', 'dateTime'),
      column('price', 'decimal'),
    ];
    writeFileSync(
      join(directory, 'mapping.ttl'),
      `${HEAD}<#M> rr:logicalTable [ rr:tableName "u" ] ; rr:subjectMap [ rr:constant ex:s ] ; ${columns.join(' ; ')} .
<#N> rr:logicalTable [ rr:tableName "v" ] ; rr:subjectMap [ rr:constant ex:t ] ; ${[column('n'), column('d'), column('day'), column('at'), column('list')].join(' ; ')} .`,
    );
    const untyped: Row = {
      n: { json: '9007199254740993' },
      d: { json: '30.50' },
      b: { json: 'true' },
      day: '2024-02-29Z',
      days: { json: '19782' },
      at: '2024-02-29T12:34:56.100000Z',
      price: '12.50',
    };
    log.append([
      { kind: 'row', table: 'u', key: '[1]', position: undefined, row: untyped },
      {
        kind: 'columns',
        table: 'v',
        columns: [
          { name: 'n', kind: 'integer' },
          { name: 'd', kind: 'decimal' },
          { name: 'day', kind: 'date' },
          { name: 'at', kind: 'timestamp' },
          { name: 'list', kind: 'integer', isArray: true },
        ],
      },
      {
        kind: 'row',
        table: 'v',
        key: '[1]',
        position: undefined,
        row: { n: '7', d: '12.50', day: '2024-02-29', at: '2024-02-29 12:34:56', list: '{1,2}' },
      },
    ]);
    await catchUp();
    const typed = (name: string, text: string, datatype: string): string =>
      `<http://example.com/${name}> "${text}"^^<http://www.w3.org/2001/XMLSchema#${datatype}> .`;
    expect((await graph()).map((line) => line.replace(/^<[^>]+([st])> /, '$1 '))).toEqual(
      [
        `s ${typed('n', '9007199254740993', 'integer')}`,
        `s ${typed('d', '3.05E1', 'double')}`,
        `s ${typed('b', 'true', 'boolean')}`,
        `s ${typed('day', '2024-02-29', 'date')}`,
        `s ${typed('days', '2024-02-29', 'date')}`,
        `s ${typed('at', '2024-02-29T12:34:56.1Z', 'dateTime')}`,
        `s ${typed('price', '12.5', 'decimal')}`,
        `t ${typed('n', '7', 'integer')}`,
        `t ${typed('d', '12.5', 'decimal')}`,
        `t ${typed('day', '2024-02-29', 'date')}`,
        `t ${typed('at', '2024-02-29T12:34:56', 'dateTime')}`,
        `t ${typed('list', '1', 'integer')}`,
        `t ${typed('list', '2', 'integer')}`,
      ].sort(),
    );
  });

  test('times without a zone have none where the source says so', async () => {
    const source = (rest: string): string =>
      `@prefix qms: <http://w3id.org/quadmill/source#> .\n${HEAD}<#M> rr:logicalTable [ rr:tableName "t" ${rest} ] ; rr:subjectMap [ rr:constant ex:s ] ;
  rr:predicateObjectMap [ rr:predicate ex:a ; rr:objectMap [ rr:column "a" ; rr:datatype xsd:dateTime ] ] .`;
    writeFileSync(join(directory, 'mapping.ttl'), source('; qms:zone "none"'));
    log.append([row(1, '2024-02-29T12:34:56.120000Z')]);
    await catchUp();
    expect(await graph()).toEqual([
      '<http://example.com/s> <http://example.com/a> "2024-02-29T12:34:56.12"^^<http://www.w3.org/2001/XMLSchema#dateTime> .',
    ]);
    writeFileSync(join(directory, 'mapping.ttl'), source('; qms:zone "UTC"'));
    await expect(catchUp()).rejects.toMatchObject({ message: expect.stringContaining('qms:zone takes "none", found ') });
  });

  test('its rows can be mapped again by others, and a second follower is refused', async () => {
    log.append([row(1, 'x')]);
    const running = start({ untilCaughtUp: false });
    await until(() => epochs.length === 1);
    await expect(catchUp()).rejects.toMatchObject({ code: 'service/unavailable' });
    running.stop();
    await running.done;
    const rest = { ...RUN_DEFAULTS, runId: 'verify', spillDirectory: directory };
    const kept = await openRowsOf(place(), rest, undefined, undefined);
    expect(kept?.isNewer).toBe(false);
    const request = { ...rest, mappings: ['mapping.ttl'], inputs: [], workingDirectory: directory };
    const made = await runDataset(place(), request, { ...kept?.hooks }, undefined, { by: 'output' });
    await kept?.close();
    expect([made.version, made.added, made.removed]).toEqual([1, 0, 0]);
  });
});
