/** Two graphs on disk: every difference is found, whatever fits into memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { compareGraphs } from '../../../src/datasets/graphs/compare.ts';
import { GraphLogReader, GraphLogWriter } from '../../../src/datasets/graphs/graph-log.ts';
import { TaggedLines } from '../../../src/datasets/tagged-lines.ts';
import { subjectAt } from '../../../src/nquads/terms.ts';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { Random, seeds } from '../../support/random.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-compare-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const SEED = 7;

async function logOf(name: string, pieces: readonly string[], budgetBytes = 2 ** 20): Promise<GraphLogReader> {
  const writer = new GraphLogWriter(join(directory, name), SEED, new MemoryBudget(budgetBytes));
  for (const piece of pieces) await writer.write(piece);
  await writer.finish();
  return new GraphLogReader(join(directory, name));
}

interface Difference {
  readonly added: string[];
  readonly removed: string[];
  readonly kept: string[];
  readonly whole: string[];
}

async function differenceOf(before: GraphLogReader | undefined, after: GraphLogReader, memoryBudgetBytes: number): Promise<Difference> {
  const found: Difference = { added: [], removed: [], kept: [], whole: [] };
  const sink = {
    added: (lines: readonly string[]) => void found.added.push(...lines),
    removed: (lines: readonly string[]) => void found.removed.push(...lines),
    kept: (lines: readonly string[]) => void found.kept.push(...lines),
    whole: (lines: readonly string[]) => void found.whole.push(...lines),
  };
  await compareGraphs(before, after, sink, { directory: join(directory, 'temporary'), memoryBudgetBytes });
  return found;
}

const subjectOf = (random: Random): string =>
  random.pick(['<http://e/a>', '<http://e/b>', '_:b1', '<< <http://e/a> <http://e/p> "x > y" >>', `<http://e/${random.between(0, 30)}>`]);

const lineOf = (random: Random): string =>
  `${subjectOf(random)} <http://e/p${random.between(0, 2)}> "${random.pick(['x', 'y', '> .', '\\"', 'é'])}${random.between(0, 9)}"${random.pick(['', '@en', ' <http://e/g>'])} .\n`;

describe('graphs', () => {
  test.each(seeds(1, 30))('of random lines, in any order and pieces, seed %d', async (seed) => {
    const random = new Random(seed);
    const old = Array.from({ length: random.between(0, 200) }, () => lineOf(random));
    const fresh = random.shuffle([
      ...old.filter(() => random.chance(0.8)),
      ...Array.from({ length: random.between(0, 60) }, () => lineOf(random)),
    ]);
    const pieces = (lines: readonly string[]): string[] => {
      const cut: string[] = [];
      for (let at = 0; at < lines.length; ) {
        const end = at + random.between(1, 9);
        cut.push(lines.slice(at, end).join(''));
        at = end;
      }
      return cut;
    };
    const budgetBytes = random.pick([0, 2 ** 20]);
    const before = await logOf('before', pieces(old), budgetBytes);
    const after = await logOf('after', pieces(fresh), budgetBytes);
    const [had, has] = [new Set(old), new Set(fresh)];
    const subject = (line: string): string => subjectAt(line, 0);
    for (const memoryBudgetBytes of [2 ** 24, 4000, 1]) {
      const { added, removed, kept, whole } = await differenceOf(before, after, memoryBudgetBytes);
      expect(added.toSorted()).toEqual([...has].filter((line) => !had.has(line)).toSorted());
      expect(removed.toSorted()).toEqual([...had].filter((line) => !has.has(line)).toSorted());
      expect(whole.toSorted()).toEqual([...has].toSorted());
      // All that stays of subjects that lose a statement, and nothing of another graph. `kept.test.ts` has triples as terms.
      const touched = new Set(removed.map(subject));
      for (const line of had) if (has.has(line) && touched.has(subject(line))) expect(kept).toContain(line);
      expect(kept.every((line) => has.has(line))).toBe(true);
      const plain = kept.filter((line) => !line.includes('<< '));
      expect(new Set(plain).size).toBe(plain.length);
    }
    before.close();
    after.close();
  });

  test('a graph is compared with none', async () => {
    const after = await logOf('after', ['<a> <b> "1" .\n<a> <b> "1" .\n', '<a> <b> "2" .\n']);
    const { added, removed } = await differenceOf(undefined, after, 2 ** 20);
    after.close();
    expect(added.toSorted()).toEqual(['<a> <b> "1" .\n', '<a> <b> "2" .\n']);
    expect(removed).toEqual([]);
  });

  test('a line that is larger than the buffer', async () => {
    const long = `<a> <b> "${'x'.repeat(3 * 2 ** 20)}" .\n`;
    const before = await logOf('before', ['<a> <b> "1" .\n']);
    const after = await logOf('after', ['<a> <b> "1" .\n', long, '<a> <b> "2" .\n']);
    const { added, removed } = await differenceOf(before, after, 2 ** 20);
    before.close();
    after.close();
    expect(added.map(({ length }) => length).toSorted()).toEqual([14, long.length].toSorted());
    expect(removed).toEqual([]);
  });

  test('a file that is cut off is reported', async () => {
    (await logOf('graph', ['<a> <b> "1" .\n'])).close();
    const { truncateSync } = await import('node:fs');
    truncateSync(join(directory, 'graph', 'log'), 3);
    const cut = new GraphLogReader(join(directory, 'graph'));
    await expect(differenceOf(undefined, cut, 2 ** 20)).rejects.toMatchObject({ code: 'source/unreadable' });
    cut.close();
  });
});

describe('tagged lines', () => {
  test('fold the tags of a line in their order, in memory and in files', async () => {
    const lines = new TaggedLines(join(directory, 'lines'), 1);
    const all = Array.from({ length: 30_000 }, (_, i) => `<s${i}> <p> "${'x'.repeat(60)}" .\n`);
    for (const tag of [1, 2, 3]) await lines.add(all.join(''), tag);
    let count = 0;
    for await (const batch of lines.drain((state, tag) => state * 10 + tag)) {
      for (const [, state] of batch) {
        count++;
        if (state !== 123) throw new Error(String(state));
      }
    }
    expect(count).toBe(all.length);
    await lines.remove();
  });
});
