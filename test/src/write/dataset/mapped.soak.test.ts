/** Versions that random mappings make, written to the embedded store and to Fuseki by writers that are lost: the store has what the dataset exports. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { Fault } from '../../../../src/core/fault.ts';
import type { Dataset } from '../../../../src/datasets/dataset.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import type { GraphTarget } from '../../../../src/targets/target.ts';
import { writeDatasetTo } from '../../../../src/write/dataset/write.ts';
import { Random, soakSeeds } from '../../../support/random.ts';
import { datasetsOfVersions, textsOf } from '../../datasets/versions-suite.ts';
import { FEW_PLACES, type Place, type Stores, startStores } from '../../targets/sparql/stores.ts';
import { listening } from '../writing.ts';
import { benchOf, troubled } from './suite.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores(FEW_PLACES.map(({ server }) => server));
}, 180_000);
afterAll(async () => {
  await stores?.stop();
});

describe.each(FEW_PLACES.filter(({ missing }) => missing === undefined).map((place) => [place.name, place] as const))('%s', (_, place) => {
  const { bench, open, close } = benchOf(place);
  let target: GraphTarget | undefined;
  beforeAll(open);
  afterAll(close);
  afterEach(async () => {
    await target?.close();
    target = undefined;
  });

  datasetsOfVersions(soakSeeds(25, 28), 20, (seed) => {
    const random = new Random(seed);
    return async (dataset) => {
      if (target === undefined) {
        await place.reset('');
        target = await sparqlTarget(place.address());
      }
      if (random.chance(0.3)) return;
      const refused = await written(target, dataset, random, place);
      const folding = { directory: join(tmpdir(), `quadmill-export-${process.pid}`), memoryBudgetBytes: 2 ** 20 };
      const graph = await textsOf(dataset.graph(dataset.current, undefined, folding));
      const found = await bench.contents();
      const expected = (await bench.expected(graph)).filter((line) => !refused.test(line));
      expect(found).toEqual(expected);
    };
  });

  /** @returns what the store refuses, and an empty one takes */
  async function written(to: GraphTarget, dataset: Dataset, random: Random, { server }: Place): Promise<RegExp> {
    for (;;) {
      const ending = new AbortController();
      let left = random.chance(0.3) ? random.between(1, 8) : Number.POSITIVE_INFINITY;
      const slow = troubled(
        to,
        random,
        () => {
          if (--left === 0) ending.abort(new Fault('run/cancelled', 'killed'));
        },
        { count: 0 },
      );
      try {
        await writeDatasetTo(slow, bench.request(dataset), listening(ending.signal));
        // Beside what no store takes: IRIs of which Fuseki would make others (`removesDotSegments`).
        return server === 'fuseki' ? /<[^ ?#>]*\/\.\.?[/?#>]/ : /^$/;
      } catch (error) {
        if (!ending.signal.aborted) throw error;
      }
    }
  }
});
