/** Tables in shared memory: what one thread sees, and that of several threads one alone finds a key new. */
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { type StatementSet, type Subjects, SubjectTable } from '../../../../src/run/distinct/distinct.ts';
import { SharedHashSet, SharedMemory, SharedSubjectTable } from '../../../../src/run/distinct/shared.ts';
import { MemoryBudget, SharedBudget } from '../../../../src/spill/budget.ts';
import { HashSet, KNOWN, NEW, UNDECIDED } from '../../../../src/spill/key-table.ts';
import { built } from '../../../support/project-root.ts';
import { Random } from '../../../support/random.ts';

const MB = 2 ** 20;
const open = (limitBytes: number): { readonly memory: SharedMemory; readonly budget: MemoryBudget } => {
  const budget = new SharedBudget(limitBytes, SharedBudget.open());
  return { budget, memory: new SharedMemory(SharedMemory.reserve(limitBytes, 3), budget) };
};

describe('in one thread', () => {
  test.each([1, 2, 3])('a set answers as one of this thread does (seed %i)', (seed) => {
    const random = new Random(seed);
    const { memory } = open(64 * MB);
    const [shared, own] = [new SharedHashSet(memory, 0, 7), new HashSet(new MemoryBudget(64 * MB), 7)];
    const keys = Array.from({ length: 60_000 }, () => `key ${random.between(0, 40_000)}`);
    expect(keys.filter((key) => shared.add(key) !== own.add(key))).toEqual([]);
  });

  test('a table remembers what one of this thread does', () => {
    const random = new Random(4);
    const { memory } = open(64 * MB);
    const [shared, own] = [new SharedSubjectTable(memory, 1, 7, 2), new SubjectTable(new MemoryBudget(64 * MB), 7, 2)];
    const sets = [new SharedHashSet(memory, 2, 7), new HashSet(new MemoryBudget(64 * MB), 7)] as const;
    const wrong: unknown[] = [];
    for (let i = 0; i < 20_000; i++) {
      const subject = `s${random.between(0, 5000)}`;
      const [first, second] = [`o${random.between(0, 3)}`, `o${random.between(4, 6)}`];
      const isLong = random.chance(0.5);
      const answersOf = (table: Subjects, set: StatementSet): readonly unknown[] => {
        const verdict = table.enter(subject);
        if (verdict === NEW) table.remember(1, first);
        const answers: unknown[] = [verdict];
        // One after the other: `addStatement` adds what was hashed last.
        for (const object of isLong ? [first, second] : [first]) {
          if (verdict !== NEW) answers.push(table.firstHad(1, object), table.addStatement(1, set));
          else if (object === second) answers.push(table.appendStatement(1, object, set));
        }
        table.leave();
        return answers;
      };
      const [one, other] = [answersOf(shared, sets[0]), answersOf(own, sets[1])];
      if (String(one) !== String(other)) wrong.push([subject, one, other]);
    }
    expect(wrong).toEqual([]);
  });

  test('a key is undecided wherever it comes, once its shard is full', () => {
    const { memory, budget } = open(MB);
    const sets = [new SharedHashSet(memory, 0, 7), new SharedHashSet(memory, 0, 7)] as const;
    const verdicts = new Map<string, number>();
    for (let i = 0; i < 100_000; i++) verdicts.set(`key ${i}`, sets[i % 2 === 0 ? 0 : 1].add(`key ${i}`));
    const counts = [NEW, UNDECIDED].map((verdict) => [...verdicts.values()].filter((one) => one === verdict).length);
    expect(counts[0]).toBeGreaterThan(1000);
    expect((counts[0] as number) + (counts[1] as number)).toBe(100_000);
    const again = [...verdicts].flatMap(([key, verdict]) => sets.map((set) => [set.add(key), verdict === NEW ? KNOWN : UNDECIDED]));
    expect(again.filter(([found, expected]) => found !== expected)).toEqual([]);
    expect(budget.take(MB)).toBe(false);
    memory.release();
    expect(budget.take(MB)).toBe(true);
  });
});

/** Adds keys in the order of its seed, and answers which it found new, and which undecided. */
const WORKER = `
const { parentPort, workerData } = require('node:worker_threads');
const { modules, budget, buffer, limitBytes, keys, seed } = workerData;
Promise.all(modules.map((one) => import(one))).then(([{ SharedBudget }, { NEW, KNOWN, UNDECIDED }, { SharedMemory, SharedSubjectTable, SharedHashSet }]) => {
  const memory = new SharedMemory(buffer, new SharedBudget(limitBytes, budget));
  const table = new SharedSubjectTable(memory, 0, 7, 1);
  const set = new SharedHashSet(memory, 1, 7);
  const made = { new: [], undecided: [], statements: [] };
  let state = seed;
  for (let i = 0; i < keys; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const key = 'key ' + (state % (keys >> 1));
    const object = 'o' + (state >>> 30);
    const verdict = table.enter(key);
    if (verdict === UNDECIDED) made.undecided.push(key);
    else if (verdict === NEW) {
      table.remember(0, object);
      made.new.push(key);
      made.statements.push(key + ' ' + object);
      if (table.appendStatement(0, 'further', set) === NEW) made.statements.push(key + ' further');
    } else if (!table.firstHad(0, object) && table.addStatement(0, set) === NEW) made.statements.push(key + ' ' + object);
    table.leave();
  }
  parentPort.postMessage(made);
});`;

/** What a thread makes without the others. */
function statementsOf(seed: number): readonly string[] {
  let state = seed;
  return Array.from({ length: KEYS }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return [`key ${state % (KEYS >> 1)} o${state >>> 30}`, `key ${state % (KEYS >> 1)} further`];
  }).flat();
}

const KEYS = 60_000;

interface Made {
  readonly new: readonly string[];
  readonly undecided: readonly string[];
  readonly statements: readonly string[];
}

describe('in several threads', () => {
  test.each([
    ['with memory for all keys', 64 * MB, false],
    ['with memory for some of them', MB, true],
  ])('each key is new to one, and each statement is made once: %s', async (_, limitBytes, isFull) => {
    const [budget, buffer] = [SharedBudget.open(), SharedMemory.reserve(limitBytes, 2)];
    const modules = ['spill/budget', 'spill/key-table', 'run/distinct/shared'].map((name) => built(`src/${name}.js`).href);
    const made = await Promise.all(
      [1, 2, 3].map((seed) => {
        const workerData = { modules, budget, buffer, limitBytes, keys: KEYS, seed };
        const worker = new Worker(WORKER, { eval: true, workerData });
        return new Promise<Made>((resolve, reject) => worker.on('message', resolve).on('error', reject));
      }),
    );
    const fresh = made.flatMap((of) => of.new);
    const statements = made.flatMap((of) => of.statements);
    const undecided = new Set(made.flatMap((of) => of.undecided));
    expect(new Set(fresh).size).toBe(fresh.length);
    expect(new Set(statements).size).toBe(statements.length);
    expect(fresh.filter((key) => undecided.has(key))).toEqual([]);
    expect(undecided.size > 0).toBe(isFull);
    if (isFull) return;
    const expected = [1, 2, 3].flatMap((seed) => statementsOf(seed));
    expect(statements.sort()).toEqual([...new Set(expected)].sort());
  });
});
