/** Random versions of datasets in a property graph, written by writers that are lost, and comparisons after others have changed the graph. */
import { expect } from '@jest/globals';
import { Fault } from '../../../../../src/core/fault.ts';
import { diffLines } from '../../../../../src/datasets/diff.ts';
import type { GraphTarget } from '../../../../../src/targets/target.ts';
import type { DatasetWriteReport, DatasetWriteRequest } from '../../../../../src/write/dataset/request.ts';
import { writeDatasetTo } from '../../../../../src/write/dataset/write.ts';
import type { Random } from '../../../../support/random.ts';
import { editedGraph, GRAPH, type MemoryDataset, memoryDataset } from '../../../write/dataset/memory-dataset.ts';
import { placed, type SentChange, troubled } from '../../../write/dataset/suite.ts';
import { listening, type Workspace } from '../../../write/writing.ts';

/** A property graph, or another store. */
export interface GraphPlace {
  readonly target: GraphTarget;
  /** In a form in which equal graphs are equal. Not what the target keeps for itself. */
  contents(): Promise<unknown>;
  /** What an empty one has after a plain write of these lines. */
  expected(lines: readonly string[]): Promise<unknown>;
  /** Changes it as others do: takes something away, or with `adds` changes anything. */
  damage(random: Random, adds: boolean): Promise<void>;
}

const datasetsOf = (count: number): readonly MemoryDataset[] =>
  Array.from({ length: count }, (_, i) => memoryDataset(`00000000-0000-4000-8000-00000000000${i + 1}`, `dataset-${i + 1}`));

class Writer {
  readonly #place: GraphPlace;
  readonly #space: Workspace;
  readonly #random: Random;
  readonly sent: SentChange[] = [];

  constructor(place: GraphPlace, space: Workspace, random: Random) {
    this.#place = place;
    this.#space = space;
    this.#random = random;
  }

  /** Until it is done, however often the writer is lost. */
  async write(dataset: MemoryDataset, more: Partial<DatasetWriteRequest>): Promise<DatasetWriteReport> {
    const [random, before] = [this.#random, [...this.sent]];
    for (;;) {
      const ending = new AbortController();
      let left = random.chance(0.4) ? random.between(1, 12) : Number.POSITIVE_INFINITY;
      const around = (): void => {
        if (--left === 0) ending.abort(new Fault('run/cancelled', 'killed'));
      };
      const target = troubled(this.#place.target, random, around, { count: 0 }, this.sent);
      const request = { ...this.#space.request([]), dataset, graph: undefined, resync: undefined, ...more };
      try {
        const report = await writeDatasetTo(target, request, listening(ending.signal));
        // Those of a writer that has lost its dataset are carried out late.
        if (before.length > 0 && random.chance(0.5)) await this.#place.target.versions?.change(...random.pick(before));
        return report;
      } catch (error) {
        if (!ending.signal.aborted) throw error;
      }
    }
  }
}

/** Several datasets that share: the graph is what a plain write of all of them gives. */
export async function sharingScript(place: GraphPlace, space: Workspace, random: Random, versions: number): Promise<void> {
  const datasets = datasetsOf(3);
  const graph = random.chance(0.3) ? GRAPH : undefined;
  const writer = new Writer(place, space, random);
  const equal = async (): Promise<void> => {
    const lines = new Set(datasets.flatMap((one) => one.of(one.current)).map((line) => placed(line, graph)));
    expect(await place.contents()).toEqual(await place.expected([...lines]));
  };
  for (let step = 0; step < versions; step++) {
    const dataset = random.pick(datasets);
    const others = datasets.flatMap((one) => one.of(one.current)).filter(() => random.chance(0.3));
    // Triples that are described by several datasets are the affair of each.
    dataset.push([...new Set([...editedGraph(random, dataset.of(dataset.current), false), ...others])]);
    if (random.chance(0.2)) continue;
    const isDamaged = random.chance(0.15);
    if (isDamaged) for (let i = random.between(1, 4); i > 0; i--) await place.damage(random, false);
    const resync = isDamaged || random.chance(0.15) ? diffLines : undefined;
    for (const one of isDamaged ? datasets : datasets.filter((each) => each === dataset || each.current > 0))
      await writer.write(one, { graph, shared: true, resync: one.current > 0 ? resync : undefined });
    await equal();
  }
  for (const dataset of datasets) {
    dataset.push([]);
    await writer.write(dataset, { graph, shared: true });
  }
  await equal();
}

/** One dataset, beside what is not of it: after a comparison the graph is what a plain write gives, whatever was in it. */
export async function comparingScript(place: GraphPlace, space: Workspace, random: Random, versions: number): Promise<void> {
  const [dataset] = datasetsOf(1) as [MemoryDataset];
  // With it the default graph is not of the dataset, and neither is what others add there.
  const graph = random.chance(0.3) ? GRAPH : undefined;
  const writer = new Writer(place, space, random);
  for (let step = 0; step < versions; step++) {
    const everywhere = ['', '<http://e/g1> ', '<http://e/g2> '].map((name) => `<http://e/s0> <http://e/p0> "a" ${name}.\n`);
    dataset.push([...new Set([...editedGraph(random, dataset.of(dataset.current), true), ...everywhere])]);
    const isDamaged = step > 0 && random.chance(0.6);
    if (isDamaged) for (let i = random.between(1, 5); i > 0; i--) await place.damage(random, graph === undefined);
    const request = { graph, memoryBudgetBytes: random.pick([2 ** 16, 2 ** 24]) };
    await writer.write(dataset, { ...request, resync: isDamaged || (step > 0 && random.chance(0.2)) ? diffLines : undefined });
    const lines = dataset.of(dataset.current).map((line) => placed(line, graph));
    expect(await place.contents()).toEqual(await place.expected(lines));
    if (isDamaged) expect((await writer.write(dataset, { ...request, resync: diffLines })).statements).toBe(0);
  }
}
