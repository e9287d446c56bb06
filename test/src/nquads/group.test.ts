/** Statements in groups, in memory and spilled; `group.soak.test.ts` measures memory. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Groups, openGroups } from '../../../src/nquads/group.ts';
import type { Statement } from '../../../src/nquads/statement.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-groups-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

const files = (): number => readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
const descriptors = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

const TINY = 1;
const LARGE = 2 ** 26;
type By = 'subject' | 'subject and predicate' | 'graph';

const statement = (subject: string | number, predicate: string | number, object: string, graph: string, line: number): Statement => ({
  subject: `<http://e/s/${subject}>`,
  predicate: `<http://e/p/${predicate}>`,
  object,
  graph: graph === '' ? '' : `<http://e/g/${graph}>`,
  line,
});

/** Subjects far apart, of very different sizes, in a few graphs, a third of the statements more than once. */
function scattered(count: number): Statement[] {
  let state = 12345;
  const below = (n: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >>> 8) % n;
  };
  const found: Statement[] = [];
  for (let i = 0; i < count; i++) {
    const subject = below(3) === 0 ? below(5) : below(count / 6);
    const object = below(2) === 0 ? `"text \\t \\"${below(90)}\\" with \u00c3\u00a9"@en` : `<http://e/s/${below(50)}>`;
    const one = statement(subject, below(9), object, ['', 'a', 'b', 'c', String(below(40))][below(5)] as string, found.length + 1);
    found.push(one);
    if (below(3) === 0) found.push({ ...(found[below(found.length)] as Statement), line: found.length + 1 });
  }
  return found;
}

async function filled(statements: readonly Statement[], by: By, memoryBudgetBytes: number, name: string): Promise<Groups> {
  const groups = openGroups({ directory: join(directory, name), by, memoryBudgetBytes });
  for (let at = 0; at < statements.length; at += 777) await groups.add(statements.slice(at, at + 777));
  return groups;
}

async function arraysOf(groups: Groups, index: number): Promise<(readonly Statement[])[]> {
  const arrays: (readonly Statement[])[] = [];
  for await (const array of groups.partition(index)) arrays.push(array);
  return arrays;
}

const textOf = ({ subject, predicate, object, graph }: Statement): string => `${subject} ${predicate} ${object} ${graph}`;
const keyOf = (one: Statement, by: By): string => (by === 'graph' ? one.graph : one.subject);

/** The keys in the order of their arrays, neighbours once, and what arrays of one key follow one another. */
function checkArrays(arrays: readonly (readonly Statement[])[], by: By): { readonly keys: readonly string[]; readonly continued: number } {
  const keys: string[] = [];
  let continued = 0;
  let before: readonly string[] = [];
  const shared: unknown[] = [];
  expect(arrays.filter((array) => array.length === 0)).toEqual([]);
  for (const array of arrays) {
    const here: string[] = [];
    for (const one of array) if (here.at(-1) !== keyOf(one, by)) here.push(keyOf(one, by));
    if (here[0] === before.at(-1)) {
      // A group in several arrays is alone in each.
      if (here.length !== 1 || before.length !== 1) shared.push([before, here]);
      continued++;
    } else keys.push(here[0] as string);
    keys.push(...here.slice(1));
    before = here;
  }
  expect(shared).toEqual([]);
  return { keys, continued };
}

describe.each<By>(['subject', 'subject and predicate', 'graph'])('groups by %s', (by) => {
  const input = scattered(3_000);
  const oracle = new Map<string, Statement>();
  for (const one of input) if (!oracle.has(textOf(one))) oracle.set(textOf(one), one);

  test('write no file where they fit in memory', async () => {
    const groups = await filled(input.slice(0, 500), by, LARGE, 'memory');
    for (let index = 0; index < groups.partitions; index++) await arraysOf(groups, index);
    expect(groups.bytesSpilled).toBe(0);
    expect(existsSync(join(directory, 'memory'))).toBe(false);
    await groups.remove();
  });

  test.each([
    ['a tiny budget', TINY],
    ['a small budget', 2 ** 18],
    ['a large budget', LARGE],
  ])('are whole and distinct with %s', async (_, budget) => {
    const opened = descriptors();
    const groups = await filled(input, by, budget, 'oracle');
    const keys: string[] = [];
    const found: Statement[] = [];
    let continued = 0;
    for (let index = 0; index < groups.partitions; index++) {
      const arrays = await arraysOf(groups, index);
      const checked = checkArrays(arrays, by);
      keys.push(...checked.keys);
      continued += checked.continued;
      found.push(...arrays.flat());
      expect(await arraysOf(groups, index)).toEqual(arrays);
    }
    // No group comes twice, no statement does, and none is lost or changed, its line included.
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(keys)).toEqual(new Set(input.map((one) => keyOf(one, by))));
    expect(found.length).toBe(oracle.size);
    const lines = new Map(input.map((one) => [one.line, textOf(one)]));
    expect(found.filter((one) => !oracle.has(textOf(one)) || lines.get(one.line) !== textOf(one))).toEqual([]);
    expect(new Set(found.map(textOf)).size).toBe(oracle.size);
    expect(continued > 0).toBe(budget === TINY || (budget < LARGE && by === 'graph'));
    if (budget < LARGE) expect(groups.bytesSpilled).toBeGreaterThan(0);
    await groups.remove();
    expect(files()).toBe(0);
    expect(existsSync(join(directory, 'oracle'))).toBe(false);
    expect(descriptors()).toBeLessThanOrEqual(opened + 2);
  });

  test('stand in the same partitions whatever the budget and the order', async () => {
    const some = await filled(input, by, TINY, 'tiny');
    const other = await filled([...input].reverse(), by, LARGE, 'large');
    expect(other.partitions).toBe(some.partitions);
    for (let index = 0; index < some.partitions; index++) {
      const texts = async (groups: Groups) => (await arraysOf(groups, index)).flat().map(textOf).sort();
      expect(await texts(some)).toEqual(await texts(other));
    }
    await Promise.all([some.remove(), other.remove()]);
  });
});

describe('a group that is larger than memory', () => {
  test('a subject comes in separate arrays, distinct', async () => {
    const input = Array.from({ length: 60_000 }, (_, i) => statement(i % 100 === 0 ? i : 'huge', 'p', `"${i % 20_000}"`, '', i + 1));
    const groups = await filled(input, 'subject', 2 ** 18, 'huge');
    const found: Statement[] = [];
    let most = 0;
    for (let index = 0; index < groups.partitions; index++) {
      const arrays = await arraysOf(groups, index);
      checkArrays(arrays, 'subject');
      for (const array of arrays) most = Math.max(most, array.length);
      found.push(...arrays.flat());
    }
    expect(found.map(textOf).sort()).toEqual([...new Set(input.map(textOf))].sort());
    // What is held at once fits into the budget.
    expect(most).toBeLessThan(2 ** 18 / 260);
    await groups.remove();
  });

  test('a subject comes predicate by predicate if that is asked for, also one whose predicate is larger than memory', async () => {
    const input = Array.from({ length: 60_000 }, (_, i) => statement('huge', i % 3 === 0 ? i % 2_000 : 'large', `"${i}"`, '', i + 1));
    const groups = await filled(input, 'subject and predicate', 2 ** 18, 'predicates');
    const predicates: string[] = [];
    let found = 0;
    for (let index = 0; index < groups.partitions; index++) {
      for (const array of await arraysOf(groups, index)) {
        found += array.length;
        for (const { predicate } of array) if (predicates.at(-1) !== predicate) predicates.push(predicate);
      }
    }
    expect(found).toBe(input.length);
    expect(predicates.length).toBe(2_001);
    expect(new Set(predicates).size).toBe(predicates.length);
    await groups.remove();
  });

  test('one statement a hundred thousand times is one statement', async () => {
    const input = Array.from({ length: 100_000 }, (_, i) => statement('s', 'p', '"o"', 'g', i + 7));
    for (const by of ['subject', 'subject and predicate', 'graph'] as const) {
      const groups = await filled(input, by, TINY, 'same');
      const all: Statement[] = [];
      for (let index = 0; index < groups.partitions; index++) all.push(...(await arraysOf(groups, index)).flat());
      expect(all).toEqual([statement('s', 'p', '"o"', 'g', 7)]);
      await groups.remove();
    }
  });

  test('files and descriptors go when the rest is not wanted', async () => {
    const before = descriptors();
    const groups = await filled(
      Array.from({ length: 20_000 }, (_, i) => statement('huge', i, '"o"', '', i)),
      'subject',
      TINY,
      'left',
    );
    const outside = files();
    for (let index = 0; index < groups.partitions; index++) for await (const _ of groups.partition(index)) break;
    expect(files()).toBe(outside);
    await groups.remove();
    expect(descriptors()).toBeLessThanOrEqual(before + 2);
  });
});

test('nothing in, nothing out', async () => {
  const groups = openGroups({ directory: join(directory, 'none'), by: 'subject', memoryBudgetBytes: TINY });
  await groups.add([]);
  for (let index = 0; index < groups.partitions; index++) expect(await arraysOf(groups, index)).toEqual([]);
  await groups.remove();
});

test('a disk that takes nothing is a fault', async () => {
  writeFileSync(join(directory, 'file'), '');
  const groups = openGroups({ directory: join(directory, 'file/groups'), by: 'subject', memoryBudgetBytes: TINY });
  const input = Array.from({ length: 5000 }, (_, i) => statement('s', i, '"o"', '', i));
  await expect(groups.add(input)).rejects.toMatchObject({ code: 'sink/failed' });
  await groups.remove();
});
