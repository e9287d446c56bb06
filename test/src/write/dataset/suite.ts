/**
 * Random versions written to a store that is slow, refuses, and loses its writer: after each write it has what an empty store has to which the newest
 * version was written, and what is not of the dataset.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import { diffLines } from '../../../../src/datasets/diff.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../../src/targets/embedded/embedded.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import { type GraphTarget, TargetBusy, type VersionTarget } from '../../../../src/targets/target.ts';
import type { DatasetWriteReport, DatasetWriteRequest, WrittenDataset } from '../../../../src/write/dataset/request.ts';
import { writeDatasetTo } from '../../../../src/write/dataset/write.ts';
import type { WritePosition } from '../../../../src/write/request.ts';
import { writeTo } from '../../../../src/write/write.ts';
import { Random } from '../../../support/random.ts';
import { storeClient } from '../../../support/service/store-client.ts';
import { address, type Place, type Stores, startStores } from '../../targets/sparql/stores.ts';
import { listening, type Workspace, workspace } from '../writing.ts';
import { editedGraph, GRAPH, memoryDataset } from './memory-dataset.ts';

const MANAGEMENT = '<urn:x-quadmill:datasets> .';
const FOREIGN = '<http://e/foreign> <http://e/p0> "1" <urn:foreign> .\n';

const IN_ALL_GRAPHS = ['', '<http://e/g1> ', '<http://e/g2> '].map((graph) => `<http://e/s0> <http://e/p0> "a" ${graph}.\n`);

/** So many seeds for datasets that share statements, in each store. */
const SHARING = 3;

/** A store, and an empty one beside it that shows what a plain write gives. */
export interface Bench {
  /** Lines in one spelling, without those of positions. */
  contents(): Promise<readonly string[]>;
  /** What an empty store has after a plain write. */
  expected(lines: string): Promise<readonly string[]>;
  request(dataset: WrittenDataset, more?: Partial<DatasetWriteRequest>): Omit<DatasetWriteRequest, 'target'>;
}

/** @param place started by the caller */
export function benchOf(place: Place): { readonly bench: Bench; open(): Promise<void>; close(): Promise<void> } {
  let directory: string;
  let oracle: EmbeddedStore;
  const space: Workspace = workspace();
  const told = async (): Promise<readonly string[]> => storeClient(oracle.endpoint).quads();
  return {
    bench: {
      async contents() {
        const lines = (await place.contents()).split('\n').filter((line) => line !== '' && !line.endsWith(MANAGEMENT));
        await storeClient(oracle.endpoint).update('DROP ALL');
        await storeClient(oracle.endpoint).add(`${lines.join('\n')}\n`);
        return told();
      },
      async expected(lines) {
        await storeClient(oracle.endpoint).update('DROP ALL');
        const target = await sparqlTarget(address('embedded', oracle.endpoint));
        await writeTo(target, space.request([space.file('expected.nq', Buffer.from(lines, 'latin1'))]), listening());
        await target.close();
        return told();
      },
      request: (dataset, more = {}) => ({ ...space.request([]), dataset, graph: undefined, resync: undefined, ...more }),
    },
    async open() {
      directory = await mkdtemp(join(tmpdir(), 'quadmill-oracle-'));
      oracle = await openEmbeddedStore(directory);
    },
    async close() {
      await oracle?.close();
      await rm(directory, { recursive: true, force: true });
      space.remove();
    },
  };
}

export type SentChange = Parameters<VersionTarget['change']>;

/** Small batches, and trouble with them. @param around called before and after each change @param sent gets all changes that reach the target */
export function troubled(
  target: GraphTarget,
  random: Random,
  around: () => void,
  changes: { count: number },
  sent?: SentChange[],
): GraphTarget {
  const versions = target.versions as VersionTarget;
  // A subject that is sent as a whole is not taken in parts.
  const mostTaken = versions.takesKept ? Number.POSITIVE_INFINITY : random.pick([3, 1000]);
  return {
    ...target,
    sizes: { first: random.pick([2, 5, 30]), least: 1, most: 40, inFlight: 2 },
    versions: {
      ...versions,
      async change(batch, position, dataset, signal) {
        changes.count++;
        if (random.chance(0.02)) throw new TargetBusy('busy', 1);
        if (batch.added.length + batch.removed.length > mostTaken) throw new Fault('target/refused', 'too large');
        around();
        sent?.push([batch, position, dataset, new AbortController().signal]);
        await versions.change(batch, position, dataset, signal);
        around();
        if (random.chance(0.02)) throw new TargetBusy('busy after it was done', 1);
      },
    },
  };
}

/** @param places with statements whose terms are triples, if they take them */
export function datasetSuite(places: readonly Place[], seeds: readonly number[], versions: number): void {
  let stores: Stores;
  beforeAll(async () => {
    stores = await startStores(places.map(({ server }) => server));
  }, 180_000);
  afterAll(async () => {
    await stores?.stop();
  });

  describe.each(
    places.map((place) => [`${place.name}${place.missing === undefined ? '' : ` (not tested: ${place.missing})`}`, place] as const),
  )('%s', (_, place) => {
    const { bench, open, close } = benchOf(place);
    beforeAll(open);
    afterAll(close);
    const run = place.missing === undefined ? test : test.skip;

    run.each(seeds)('seed %d', (seed) => scriptOf(place, bench, new Random(seed), versions));

    run.each(seeds.slice(0, SHARING))('datasets that share statements, seed %d', (seed) =>
      sharingOf(place, bench, new Random(seed), versions),
    );
  });
}

async function scriptOf(place: Place, bench: Bench, random: Random, versions: number): Promise<void> {
  const dataset = memoryDataset();
  const graph = random.chance(0.5) ? GRAPH : undefined;
  const foreign = `${FOREIGN}${graph === undefined ? '' : '<http://e/foreign> <http://e/p0> "2" .\n'}`;
  await place.reset(foreign);
  const plain = await sparqlTarget(place.address());
  const triples = plain.takesTripleTerms === true;
  const expected = (): Promise<readonly string[]> =>
    bench.expected(
      `${foreign}${dataset
        .of(dataset.current)
        .map((line) => placed(line, graph))
        .join('')}`,
    );
  let changes = { count: 0 };
  const sent: SentChange[] = [];

  /** Writes until it is done, however often the writer is lost. */
  async function write(resync: boolean): Promise<DatasetWriteReport> {
    let resume: WritePosition | undefined;
    for (;;) {
      const ending = new AbortController();
      let left = random.chance(0.5) ? random.between(1, 12) : Number.POSITIVE_INFINITY;
      const target = troubled(
        plain,
        random,
        () => {
          if (--left === 0) ending.abort(new Fault('run/cancelled', 'killed'));
        },
        changes,
        sent,
      );
      const heard = listening(ending.signal);
      const more = { graph, resync: resync ? diffLines : undefined, memoryBudgetBytes: random.pick([2 ** 16, 2 ** 24]), resume };
      try {
        return await writeDatasetTo(target, bench.request(dataset, more), heard);
      } catch (error) {
        if (!ending.signal.aborted) throw error;
        expect(heard.rejected).toEqual([]);
        resume = random.chance(0.5) ? heard.last?.position : undefined;
      }
    }
  }

  try {
    for (let step = 0; step < versions; step++) {
      const edited = editedGraph(random, dataset.of(dataset.current), triples);
      // A comparison looks at the graphs of the versions that are there.
      const folds = random.chance(0.2);
      dataset.push(folds ? [...new Set([...edited, ...IN_ALL_GRAPHS])] : edited);
      if (folds) dataset.keep(random.between(1, 3));
      if (random.chance(0.4)) continue;
      let resync = random.chance(0.15) && (await plain.versions?.positions(new AbortController().signal))?.length === 1;
      if (resync && random.chance(0.7)) {
        await place.update?.(`DELETE { GRAPH ?g { <http://e/s1> ?p ?o } } WHERE { GRAPH ?g { <http://e/s1> ?p ?o } }`);
        if (dataset.versions.some((version) => dataset.of(version).some((line) => line.includes(`<${GRAPH}> .`))))
          await place.update?.(`INSERT DATA { GRAPH <${GRAPH}> { <http://e/extra> <http://e/p0> "extra" } }`);
      }
      const report = await write(resync).catch((error: Fault) => {
        if (error.code !== 'request/conflict' || resync) throw error;
        resync = true;
        return write(true);
      });
      expect([report.dataset, report.version, report.rejected]).toEqual(['people', dataset.current, 0]);
      expect(await bench.contents()).toEqual(await expected());
      if (sent.length > 0) {
        // Those of a writer that has lost the dataset are carried out late.
        for (let i = random.between(1, 3); i > 0; i--) await plain.versions?.change(...random.pick(sent));
        expect(await bench.contents()).toEqual(await expected());
      }
      changes = { count: 0 };
      const again = await write(false);
      expect([again.statements, again.version, again.previousVersion, changes.count]).toEqual([0, dataset.current, dataset.current, 0]);
    }
  } finally {
    await plain.close();
  }
}

/** Datasets that are written in turn, each by a writer that is lost now and then: the store has what one of them makes. */
async function sharingOf(place: Place, bench: Bench, random: Random, versions: number): Promise<void> {
  const graph = random.chance(0.3) ? GRAPH : undefined;
  const datasets = [1, 2, 3].map((number) => memoryDataset(`00000000-0000-4000-8000-00000000000${number}`, `dataset-${number}`));
  await place.reset(FOREIGN);
  const plain = await sparqlTarget(place.address());
  const changes = { count: 0 };
  const sent: SentChange[] = [];
  try {
    for (let step = 0; step < versions; step++) {
      const dataset = random.pick(datasets);
      const sentBefore = [...sent];
      const others = datasets.flatMap((one) => one.of(one.current)).filter(() => random.chance(0.3));
      // Triples that are described by several datasets are the affair of each.
      dataset.push([...new Set([...editedGraph(random, dataset.of(dataset.current), false), ...others])]);
      for (let done = false; !done; ) {
        const ending = new AbortController();
        let left = random.chance(0.5) ? random.between(1, 12) : Number.POSITIVE_INFINITY;
        const around = (): void => {
          if (--left === 0) ending.abort(new Fault('run/cancelled', 'killed'));
        };
        const target = troubled(plain, random, around, changes, sent);
        try {
          await writeDatasetTo(target, bench.request(dataset, { graph, shared: true }), listening(ending.signal));
          done = true;
        } catch (error) {
          if (!ending.signal.aborted) throw error;
        }
      }
      if (sentBefore.length > 0) await plain.versions?.change(...random.pick(sentBefore));
      const lines = new Set(datasets.flatMap((one) => one.of(one.current)).map((line) => placed(line, graph)));
      const isOfDatasets = (line: string): boolean => !line.includes(' <urn:x-quadmill:');
      expect((await bench.contents()).filter(isOfDatasets)).toEqual(await bench.expected(`${FOREIGN}${[...lines].join('')}`));
    }
  } finally {
    await plain.close();
  }
}

/** A line as `--graph` puts it. */
export const placed = (line: string, graph: string | undefined): string =>
  graph === undefined || /<http:\/\/e\/g\d> \.\n$/.test(line) ? line : line.replace(/\.\n$/, `<${graph}> .\n`);
