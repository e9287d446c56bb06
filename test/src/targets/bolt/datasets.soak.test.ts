/** Versions of random datasets in a real Neo4j: after each, it has what a fresh load of the exported graph gives. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Driver } from 'neo4j-driver';
import { Fault } from '../../../../src/core/fault.ts';
import { Dataset } from '../../../../src/datasets/dataset.ts';
import { openFiles } from '../../../../src/datasets/files.ts';
import { runDataset } from '../../../../src/datasets/run.ts';
import type { PropertyGraphOptions } from '../../../../src/property-graph/names.ts';
import { USUAL_S3_ACCESS } from '../../../../src/storage/s3-access.ts';
import { boltTarget } from '../../../../src/targets/bolt/bolt.ts';
import { type GraphTarget, TargetBusy, type VersionTarget } from '../../../../src/targets/target.ts';
import type { DatasetWriteReport, DatasetWriteRequest } from '../../../../src/write/dataset/request.ts';
import { writeDatasetTo } from '../../../../src/write/dataset/write.ts';
import { writeTo } from '../../../../src/write/write.ts';
import { missingNeo4j, NEO4J_LOGIN, type Neo4jServer, startNeo4j } from '../../../servers/stores/neo4j.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { edited } from '../../datasets/versions-suite.ts';
import { mappingOf, textOf, viewOf } from '../../run/random/combined/mapping.ts';
import { linesOf, requestOf } from '../../run/random/engine.ts';
import { COLUMNS, changesOf, FORMATS, rowsOf, TABLES, type Tables } from '../../run/random/formats.ts';
import { editedGraph, GRAPH, memoryDataset } from '../../write/dataset/memory-dataset.ts';
import { placed } from '../../write/dataset/suite.ts';
import { listening, workspace } from '../../write/writing.ts';
import { differences, emptyStore, inSession, openDriver, type StoredGraph, storedGraph } from './oracle.ts';
import { addressOf, SIGNAL } from './trouble.ts';

const VERSIONS = 20;
const MOST_LINES = 1000;
const SEEDS = soakSeeds(1, 2);
const missing = await missingNeo4j();

(missing === undefined ? describe : describe.skip)(`Neo4j${missing === undefined ? '' : ` (not tested: ${missing})`}`, () => {
  let server: Neo4jServer;
  let driver: Driver;
  let directory: string;
  const counts = { versions: 0, removed: 0, triples: 0 };
  beforeAll(async () => {
    const started = await startNeo4j();
    if ('skip' in started) throw new Error(started.skip);
    server = started;
    driver = openDriver(server.url, NEO4J_LOGIN);
    directory = mkdtempSync(join(tmpdir(), 'quadmill-graphs-'));
  }, 600_000);
  afterAll(async () => {
    rmSync(directory, { recursive: true, force: true });
    await driver?.close();
    await server?.stop();
  });

  const positions = (): Promise<readonly unknown[]> =>
    inSession(driver, async (session) =>
      (await session.run('MATCH (d:QuadmillDataset) RETURN d.version AS version')).records.map((one) => one.get(0)),
    );

  const emptyExceptPositions = (): Promise<unknown> => inSession(driver, (session) => session.run('MATCH (n:Resource) DETACH DELETE n'));

  test.each(SEEDS)('seed %d', async (seed) => {
    await emptyStore(driver);
    const random = new Random(seed);
    const place = join(directory, String(seed));
    mkdirSync(place);
    const space = workspace();
    const names: PropertyGraphOptions = {
      prefixes: random.chance(0.5) ? { ex: 'http://example.com/ns#' } : {},
      keepLanguage: random.chance(0.5),
    };
    const target: GraphTarget = await boltTarget(addressOf({ endpoint: server.url, propertyGraph: names }));
    try {
      const formats = { one: random.pick(FORMATS), two: random.pick(FORMATS) };
      const alone = random.chance(0.3);
      const newMapping = (): string => textOf(mappingOf(random, viewOf(random, alone), formats, alone));
      let mapping = newMapping();
      let tables: Tables = { one: rowsOf(random, 3, 12), two: rowsOf(random, 3, 12) };
      const changes = {
        onError: 'skip' as const,
        maxRejected: 1e9,
        mappings: [join(place, 'mapping.ttl')],
        workingDirectory: place,
        ...changesOf(Object.values(formats)),
      };
      const files = openFiles(join(place, 'dataset'), place, USUAL_S3_ACCESS);
      const folding = { directory: join(place, 'folding'), memoryBudgetBytes: 2 ** 20 };
      const made: { readonly lines: string; readonly stored: StoredGraph }[] = [];
      for (let step = 0; made.length < VERSIONS && step < VERSIONS * 5; step++) {
        if (step > 0) tables = edited(random, tables);
        if (step > 0 && random.chance(0.15)) mapping = newMapping();
        for (const table of TABLES) await formats[table].write(place, table, COLUMNS, tables[table]);
        writeFileSync(join(place, 'mapping.ttl'), mapping);
        const plain = await linesOf(changes).catch(() => undefined);
        if (plain === undefined || plain.length > MOST_LINES) {
          mapping = newMapping();
          continue;
        }
        const request = { ...requestOf(changes, join(place, 'spill')), runId: `run-${step}` };
        const { version, previousVersion, manifest } = await runDataset({ files, stateDirectory: join(place, 'state') }, request, {});
        if (version === previousVersion) continue;
        counts.versions++;
        counts.removed += manifest?.removed ?? 0;
        const dataset = await Dataset.open(files);
        const write = (): Promise<DatasetWriteReport> =>
          insist(target, { ...space.request([]), dataset, graph: undefined, resync: undefined }, random);
        // Some versions are taken together, and some twice.
        if (random.chance(0.2)) continue;
        await write();
        if (random.chance(0.2)) {
          await inSession(driver, (session) => session.run('MATCH (d:QuadmillDataset) SET d.version = d.version - 1'));
          await write();
        }
        expect((await write()).statements).toBe(0);
        expect(await positions()).toEqual([BigInt(version)]);
        let lines = '';
        for await (const piece of dataset.graph(version, undefined, folding)) lines += piece;
        if (lines.includes('<< ')) counts.triples++;
        made.push({ lines, stored: await storedGraph(driver) });
      }
      for (const { lines, stored } of made) {
        await emptyStore(driver);
        await writeTo(target, space.request([space.file('graph.nq', Buffer.from(lines, 'latin1'))]), listening(SIGNAL));
        expect(differences(stored, await storedGraph(driver))).toEqual({ extra: [], missing: [] });
      }
    } finally {
      await target.close();
      space.remove();
    }
  });

  test.each(SEEDS)('statements that one value stands for, with a graph of the dataset (seed %d)', async (seed) => {
    await emptyStore(driver);
    const random = new Random(seed);
    const space = workspace();
    const names: PropertyGraphOptions = { prefixes: {}, keepLanguage: random.chance(0.5) };
    const target = await boltTarget(addressOf({ endpoint: server.url, propertyGraph: names }));
    try {
      const dataset = memoryDataset();
      const graph = random.chance(0.5) ? GRAPH : undefined;
      const stored: StoredGraph[] = [];
      while (dataset.current < VERSIONS) {
        dataset.push(editedGraph(random, dataset.of(dataset.current), true));
        const { rejected } = await insist(target, { ...space.request([]), dataset, graph, resync: undefined }, random);
        expect(rejected).toBe(0);
        expect(await positions()).toEqual([BigInt(dataset.current)]);
        stored.push(await storedGraph(driver));
      }
      for (const version of dataset.versions) {
        await emptyStore(driver);
        const lines = dataset.of(version).map((line) => placed(line, graph));
        await writeTo(target, space.request([space.file('graph.nq', Buffer.from(lines.join(''), 'latin1'))]), listening(SIGNAL));
        expect(differences(stored[version - 1] as StoredGraph, await storedGraph(driver))).toEqual({ extra: [], missing: [] });
      }
    } finally {
      await target.close();
      space.remove();
    }
  });

  test('a statement that is refused is refused once, and is not missed when it goes', async () => {
    await emptyStore(driver);
    const space = workspace();
    const target = await boltTarget(addressOf({ endpoint: server.url }));
    const [a, p, long] = ['<http://e/a>', '<http://e/p>', `<http://e/${'x'.repeat(8_200)}>`];
    try {
      const dataset = memoryDataset();
      const rejected: number[] = [];
      for (const lines of [
        [`${a} ${p} "1" .\n`, `${a} ${p} ${long} .\n`, `${long} ${p} ${a} .\n`],
        [`${a} ${p} "2" .\n`, `${a} ${p} ${long} .\n`, `${long} ${p} "3" .\n`],
        [`${a} ${p} "2" .\n`, `<http://e/b> ${p} ${a} .\n`],
        [`<http://e/b> ${p} ${a} .\n`],
        [],
      ]) {
        dataset.push(lines);
        rejected.push(
          (await writeDatasetTo(target, { ...space.request([]), dataset, graph: undefined, resync: undefined }, listening())).rejected,
        );
        const stored = await storedGraph(driver);
        await emptyExceptPositions();
        await writeTo(target, space.request([space.file('graph.nq', lines.join(''))]), listening());
        expect(differences(stored, await storedGraph(driver))).toEqual({ extra: [], missing: [] });
      }
      expect(rejected).toEqual([2, 1, 0, 0, 0]);
    } finally {
      await target.close();
      space.remove();
    }
  });

  test('versions are of all kinds', () => {
    if (SEEDS.length < 4) return;
    expect(counts.versions).toBeGreaterThan(20);
    expect(counts.removed).toBeGreaterThan(100);
    expect(counts.triples).toBeGreaterThan(2);
  });
});

/** Writes in batches of any size until it is done, however often the writer is lost. */
async function insist(target: GraphTarget, request: Omit<DatasetWriteRequest, 'target'>, random: Random): Promise<DatasetWriteReport> {
  const sent: Parameters<VersionTarget['change']>[] = [];
  const report = await insistOn(target, request, random, sent);
  // A change of a writer that has lost the dataset is carried out late.
  if (sent.length > 0) {
    const [batch, position, dataset] = random.pick(sent);
    await target.versions?.change(batch, position, dataset, SIGNAL);
  }
  return report;
}

async function insistOn(
  target: GraphTarget,
  request: Omit<DatasetWriteRequest, 'target'>,
  random: Random,
  sent: Parameters<VersionTarget['change']>[],
): Promise<DatasetWriteReport> {
  const first = random.pick([2, 10, 1000]);
  const { versions } = target as GraphTarget & { readonly versions: VersionTarget };
  for (;;) {
    const ending = new AbortController();
    let left = random.chance(0.4) ? random.between(1, 10) : Number.POSITIVE_INFINITY;
    const step = (): void => {
      if (--left === 0) ending.abort(new Fault('run/cancelled', 'killed'));
    };
    const change: VersionTarget['change'] = async (...asked) => {
      if (random.chance(0.03)) throw new TargetBusy('busy', 1);
      step();
      sent.push(asked);
      await versions.change(...asked);
      step();
      if (random.chance(0.03)) throw new TargetBusy('busy after it was done', 1);
    };
    const heard = listening(ending.signal);
    const small: GraphTarget = { ...target, sizes: { first, least: 1, most: 1000, inFlight: 2 }, versions: { ...versions, change } };
    try {
      return await writeDatasetTo(small, request, heard);
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    }
  }
}
