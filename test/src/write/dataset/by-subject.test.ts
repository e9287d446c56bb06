/** What a target gets that needs the statements that stay: whole subjects, and everything that stays of what is removed. */
import { expect, test } from '@jest/globals';
import type { Statement } from '../../../../src/nquads/statement.ts';
import type { DatasetPosition, VersionBatch } from '../../../../src/targets/target.ts';
import { writeDatasetTo } from '../../../../src/write/dataset/write.ts';
import { Random, seeds } from '../../../support/random.ts';
import { lineOf, memoryTarget } from '../memory-target.ts';
import { listening, workspace } from '../writing.ts';
import { editedGraph, GRAPH, memoryDataset } from './memory-dataset.ts';

test.each(seeds(1, 40))('seed %d', async (seed) => {
  const random = new Random(seed);
  const space = workspace();
  const dataset = memoryDataset();
  const graph = random.chance(0.5) ? GRAPH : undefined;
  const content = new Map<string, Statement>();
  let position: DatasetPosition | undefined;
  let batches: VersionBatch[] = [];
  const base = memoryTarget({ sizes: { first: 5, most: 10, inFlight: 2 }, takesTripleTerms: true });
  const target = {
    ...base,
    versions: {
      takesKept: true,
      positions: async () => (position === undefined ? [] : [{ ...dataset.description, ...position }]),
      async change(batch: VersionBatch, next: DatasetPosition | undefined) {
        batches.push(batch);
        for (const one of batch.removed) content.delete(lineOf(one));
        for (const one of batch.added) content.set(lineOf(one), one);
        position = next ?? position;
      },
    },
  };
  const write = () =>
    writeDatasetTo(target, { ...space.request([]), memoryBudgetBytes: 2 ** 22, dataset, graph, resync: undefined }, listening());
  try {
    for (let step = 0; step < 8; step++) {
      dataset.push(editedGraph(random, dataset.of(dataset.current), true));
      batches = [];
      const before = new Set(content.keys());
      await write();
      const keyOf = ({ subject, predicate }: Statement): string => `${subject} ${predicate}`;
      const subjects = batches.map((batch) => new Set([...batch.removed, ...batch.added].map((one) => one.subject)));
      for (const { removed, added, kept } of batches) {
        for (const one of removed) expect([before.has(lineOf(one)), content.has(lineOf(one))]).toEqual([true, false]);
        for (const one of added) expect(content.has(lineOf(one))).toBe(true);
        for (const one of kept) expect(content.has(lineOf(one))).toBe(true);
        // All that stays of what is removed.
        const touched = new Set(removed.map(keyOf));
        const stays = [...content.values()].filter((one) => touched.has(keyOf(one)) && before.has(lineOf(one)));
        expect([...added, ...kept].map(lineOf)).toEqual(expect.arrayContaining(stays.map(lineOf)));
      }
      for (const { removed } of batches)
        for (const { subject } of removed) expect(subjects.filter((some) => some.has(subject))).toHaveLength(1);
      expect(position).toMatchObject({ version: dataset.current, complete: true });
    }
    // An empty store gets the same.
    const last = [...content.keys()].sort();
    content.clear();
    position = undefined;
    await write();
    expect([...content.keys()].sort()).toEqual(last);
  } finally {
    space.remove();
  }
});
