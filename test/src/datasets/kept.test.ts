/** What is kept beside the changes between two graphs, with triples as terms; `compare.test.ts` has the changes themselves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compareGraphs } from '../../../src/datasets/graphs/compare.ts';
import { GraphLogReader, GraphLogWriter } from '../../../src/datasets/graphs/graph-log.ts';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { Random, seeds } from '../../support/random.ts';
import { expectKept } from './versions-suite.ts';

function randomLine(random: Random): string {
  const iri = (): string => `<http://example.org/${random.between(0, 20)}>`;
  const node = (): string =>
    random.chance(0.3) ? `<< ${node()} <http://example.org/p> ${random.pick([node, iri, () => '"<< x"'])()} >>` : iri();
  return `${node()} ${iri()} ${random.pick([node, () => '"<< x >> \\" y"@en'])()} ${random.pick(['', '<http://example.org/g> '])}.\n`;
}

test.each(seeds(1, 20))('statements that stay are kept with the subjects and the triples of those that go (seed %d)', async (seed) => {
  const random = new Random(seed);
  const directory = mkdtempSync(join(tmpdir(), 'quadmill-compare-'));
  try {
    const lines = [...new Set(Array.from({ length: 200 }, () => randomLine(random)))];
    const share = random.pick([0.02, 0.2, 0.9]);
    const graphs = [lines, lines].map((of) => of.filter(() => !random.chance(share)));
    const readers: GraphLogReader[] = [];
    for (const [i, graph] of graphs.entries()) {
      const writer = new GraphLogWriter(join(directory, String(i)), 7, new MemoryBudget(1e6));
      for (const line of random.shuffle([...graph, ...graph.slice(0, 5)])) await writer.write(line);
      await writer.finish();
      readers.push(new GraphLogReader(join(directory, String(i))));
    }
    const [before, after] = readers as [GraphLogReader, GraphLogReader];
    const found: Record<'added' | 'removed' | 'kept', string[]> = { added: [], removed: [], kept: [] };
    await compareGraphs(
      before,
      after,
      {
        added: (some) => void found.added.push(...some),
        removed: (some) => void found.removed.push(...some),
        kept: (some) => void found.kept.push(...some),
      },
      { directory: join(directory, 'compare'), memoryBudgetBytes: random.pick([0, 1, 1e7]) },
    );
    for (const reader of readers) reader.close();
    const [old, fresh] = graphs as [string[], string[]];
    expect(found.added.sort()).toEqual(fresh.filter((line) => !old.includes(line)).sort());
    expect(found.removed.sort()).toEqual(old.filter((line) => !fresh.includes(line)).sort());
    expectKept(old, fresh, found.kept);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
