/** Datasets in a property graph in memory; `servers.soak.test.ts` has real ones. */
import { afterAll, describe, expect, test } from '@jest/globals';
import { diffLines } from '../../../../../src/datasets/diff.ts';
import { namesOf, type PropertyGraphOptions } from '../../../../../src/property-graph/names.ts';
import { versionsOver } from '../../../../../src/targets/bolt/versions.ts';
import { insertInto } from '../../../../../src/targets/bolt/write.ts';
import type { PropertyGraphTarget } from '../../../../../src/targets/property-graph.ts';
import type { GraphTarget, VersionTarget } from '../../../../../src/targets/target.ts';
import type { DatasetWriteRequest } from '../../../../../src/write/dataset/request.ts';
import { writeDatasetTo } from '../../../../../src/write/dataset/write.ts';
import { writeTo } from '../../../../../src/write/write.ts';
import { Random, seeds } from '../../../../support/random.ts';
import { type MemoryDataset, memoryDataset } from '../../../write/dataset/memory-dataset.ts';
import { placed } from '../../../write/dataset/suite.ts';
import { listening, workspace } from '../../../write/writing.ts';
import { ModelGraph } from '../model.ts';
import { comparingScript, type GraphPlace, sharingScript } from './script.ts';

const space = workspace();
afterAll(() => space.remove());

function targetOf(model: ModelGraph, options: PropertyGraphOptions): GraphTarget {
  const connection = model.connection();
  const names = namesOf(options);
  const target: Omit<PropertyGraphTarget, 'probe' | 'replace' | 'replaceGraph'> = {
    describe: () => 'model',
    sizes: { first: 100, least: 1, most: 1000, inFlight: 2 },
    takesBlankNodes: false,
    prepare: async () => undefined,
    insert: (statements, signal) => connection.transaction((work) => insertInto(work, statements, names), signal),
    versions: versionsOver(connection, names, options, () => undefined),
    insertElements: async () => undefined,
    close: async () => undefined,
  };
  return target as unknown as GraphTarget;
}

function placeOf(random: Random): GraphPlace & { readonly model: ModelGraph } {
  const options = { prefixes: {}, keepLanguage: random.chance(0.5) };
  const model = new ModelGraph();
  return {
    model,
    target: targetOf(model, options),
    contents: async () => model.content(),
    async expected(lines) {
      const fresh = new ModelGraph();
      await writeTo(
        targetOf(fresh, options),
        space.request([space.file('expected.nq', Buffer.from(lines.join(''), 'latin1'))]),
        listening(),
      );
      return fresh.content();
    },
    damage: async (chance, adds) => model.damage(chance, adds),
  };
}

describe('a property graph in memory', () => {
  test.each(seeds(1, 3))('datasets that share, seed %d', async (seed) => {
    const random = new Random(seed);
    const place = placeOf(random);
    await sharingScript(place, space, random, 8);
    expect(place.model.subjects).toBe(0);
  });

  test.each(seeds(1, 3))('a dataset that is compared, seed %d', async (seed) => {
    const random = new Random(seed);
    await comparingScript(placeOf(random), space, random, 8);
  });

  const [S, P] = ['<http://e/s>', '<http://e/p>'];
  const write = (target: GraphTarget, dataset: MemoryDataset, more: Partial<DatasetWriteRequest> = {}) =>
    writeDatasetTo(target, { ...space.request([]), dataset, graph: undefined, resync: undefined, ...more }, listening());
  const insert = (target: GraphTarget, lines: readonly string[]) =>
    writeTo(target, space.request([space.file('more.nq', lines.join(''))]), listening());

  test('a comparison leaves what other graphs have, and the labels and values of nodes that they describe as well', async () => {
    const { target, contents, expected } = placeOf(new Random(1));
    const dataset = memoryDataset();
    const graph = 'http://e/own';
    dataset.push([`${S} ${P} "1" .\n`, `${S} ${P} <http://e/a> .\n`, `<http://e/alone> ${P} "1" .\n`]);
    await write(target, dataset, { graph });
    const others = [`${S} ${P} "other" <http://e/g> .\n`, `${S} ${P} <http://e/b> <http://e/g> .\n`, `<http://e/c> ${P} "1" .\n`];
    const own = [`${S} ${P} "old" <${graph}> .\n`, `${S} ${P} <http://e/old> <${graph}> .\n`, `<http://e/alone> ${P} "old" <${graph}> .\n`];
    await insert(target, [...others, ...own]);
    await write(target, dataset, { graph, resync: diffLines });
    const kept = `${S} ${P} "old" <${graph}> .\n`;
    expect(await contents()).toEqual(await expected([...dataset.of(1).map((line) => placed(line, graph)), ...others, kept]));
  });

  test('what a dataset has shared is removed when it is written alone, or by another dataset of its name', async () => {
    const { target, contents, expected, model } = placeOf(new Random(1));
    const [one, two] = [memoryDataset(), memoryDataset('00000000-0000-4000-8000-000000000002', 'others')];
    one.push([`${S} ${P} "1" .\n`, `${S} ${P} "both" .\n`]);
    two.push([`${S} ${P} "2" .\n`, `${S} ${P} "both" .\n`]);
    for (const dataset of [one, two]) await write(target, dataset, { shared: true });
    const again = memoryDataset('00000000-0000-4000-8000-000000000003');
    again.push([`${S} ${P} "3" .\n`]);
    await expect(write(target, again, { shared: true })).rejects.toMatchObject({ code: 'request/conflict' });
    await write(target, again, { shared: true, resync: diffLines });
    expect(await contents()).toEqual(await expected([...again.of(1), ...two.of(1)]));
    two.push([]);
    await write(target, two, { shared: true });
    await write(target, again, { graph: 'http://e/own', resync: diffLines });
    expect(await contents()).toEqual(await expected([`${S} ${P} "3" <http://e/own> .\n`]));
    expect(model.subjects).toBe(0);
  });

  test('a dataset begins to share when the target has its newest version', async () => {
    const { target, contents, expected, model } = placeOf(new Random(1));
    const dataset = memoryDataset();
    dataset.push([`${S} ${P} "1" .\n`]);
    await write(target, dataset);
    dataset.push([`${S} ${P} "2" .\n`]);
    await expect(write(target, dataset, { shared: true, resync: diffLines })).rejects.toMatchObject({
      message: expect.stringContaining('in another form'),
    });
    await write(target, dataset);
    await write(target, dataset, { shared: true, resync: diffLines });
    expect(await contents()).toEqual(await expected(dataset.of(2)));
    expect(model.subjects).toBe(1);
  });

  test('a writer whose dataset was taken over says so', async () => {
    const { target } = placeOf(new Random(1));
    const dataset = memoryDataset();
    dataset.push([`${S} ${P} "1" .\n`]);
    const change: VersionTarget['change'] = async () => undefined;
    await expect(write({ ...target, versions: { ...target.versions, change } as VersionTarget }, dataset)).rejects.toMatchObject({
      message: 'Version 1 of the dataset people was written, and model has nothing of it',
    });
  });
});
