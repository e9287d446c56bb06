/** Statements that several slices of a document make: the subjects that repeat, and the lines that are removed. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findRepeated, RepeatedSubjects } from '../../../src/run/distinct/repeated-subjects.ts';
import { RepetitionFilter } from '../../../src/run/distinct/repetition-filter.ts';
import { LineSpill } from '../../../src/run/distinct/spill.ts';
import { SubjectFile } from '../../../src/run/distinct/subject-file.ts';
import { MemoryBudget } from '../../../src/spill/budget.ts';
import { SpillSpace } from '../../../src/spill/space.ts';

const BUDGET_BYTES = 1 << 24;
const NEVER = new AbortController().signal;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'repetitions-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const subject = (number: number): string => `<http://e/${number}>`;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

function write(slice: number, numbers: readonly number[]): string {
  const path = join(directory, String(slice));
  const file = new SubjectFile(path);
  for (const number of numbers) file.add(subject(number));
  file.finish();
  return path;
}

describe('subjects of slices', () => {
  test('that no two slices share do not repeat, however often one has them', async () => {
    const files = [write(0, [...range(0, 3000), ...range(0, 3000)]), write(1, range(3000, 9000)), write(2, [])];
    const repeated = await findRepeated(files, BUDGET_BYTES, NEVER);
    expect([...repeated.slices]).toEqual([]);
    expect(range(0, 9000).filter((number) => repeated.has(subject(number)))).toEqual([]);
  });

  test('repeat where two slices have them, also in many blocks', async () => {
    // More than a block of 512 hashes for each of the 256 shares.
    const files = [write(0, range(0, 140_000)), write(1, range(300_000, 300_010)), write(2, range(139_000, 141_000))];
    const repeated = await findRepeated(files, BUDGET_BYTES, NEVER);
    expect([...repeated.slices].toSorted()).toEqual([0, 2]);
    expect(range(138_000, 142_000).filter((number) => repeated.has(subject(number)))).toEqual(range(139_000, 140_000));
  });

  test('all count as repeated when their hashes exceed the memory', async () => {
    const repeated = await findRepeated([write(0, range(0, 10)), write(1, range(10, 20))], 1024, NEVER);
    expect([...repeated.slices]).toEqual([0, 1]);
    expect(repeated.has(subject(77))).toBe(true);
  });

  test('all count as repeated when the repeated ones exceed the memory', () => {
    const repeated = new RepeatedSubjects(20_000);
    for (const number of range(1, 2000)) repeated.add(number, number, [3, 5]);
    expect([...repeated.slices]).toEqual([3, 5]);
    expect(repeated.has(subject(77))).toBe(true);
  });

  test('are not compared once the run is cancelled', async () => {
    const cancelled = AbortSignal.abort(new Error('enough'));
    await expect(findRepeated([write(0, [1])], BUDGET_BYTES, cancelled)).rejects.toThrow('enough');
  });

  test('give a fault where their file is missing or incomplete', async () => {
    const path = write(0, range(0, 10));
    await appendFile(path, 'x');
    await expect(findRepeated([path], BUDGET_BYTES, NEVER)).rejects.toMatchObject({ code: 'sink/failed', message: /it is not complete/ });
    const missing = findRepeated([join(directory, 'none')], BUDGET_BYTES, NEVER);
    await expect(missing).rejects.toMatchObject({ code: 'sink/failed', message: /none cannot be read: ENOENT/ });
  });
});

describe('the filter', () => {
  const line = (number: number, object: string): string => `${subject(number)} <http://e/p> "${object}" .\n`;

  /** Passes the text in pieces of `size` characters; the lines that passed, and those that the spill had in the end. */
  async function filtered(text: string, size: number, budgetBytes: number): Promise<{ passed: string; late: string[]; withheld: number }> {
    const repeated = await findRepeated([write(0, range(0, 4)), write(1, [1, 3, 50])], BUDGET_BYTES, NEVER);
    const space = new SpillSpace(join(directory, 'spill'));
    const undecided = new LineSpill(space, 7);
    const filter = new RepetitionFilter(repeated, budgetBytes, 5, undecided);
    let passed = '';
    for (let at = 0; at < text.length; at += size) passed += filter.pass(text.slice(at, at + size));
    const late: string[] = [];
    for await (const batch of undecided.drain(new MemoryBudget(BUDGET_BYTES))) late.push(...batch);
    await space.remove();
    return { passed, late, withheld: filter.withheld };
  }

  test.each([1, 7, 64, 10_000])('passes each line of a repeated subject once, in order, in pieces of %i characters', async (size) => {
    const first = [line(0, 'a'), line(1, 'a'), line(1, 'b'), line(3, 'a')];
    const second = [line(1, 'b'), line(1, 'c'), line(3, 'a'), line(50, 'a')];
    const { passed, late, withheld } = await filtered([...first, ...second].join(''), size, BUDGET_BYTES);
    expect(passed).toBe([...first, line(1, 'c'), line(50, 'a')].join(''));
    expect(late).toEqual([]);
    expect(withheld).toBe(2);
  });

  test('does not look at lines of subjects that occur in one slice', async () => {
    const twice = line(2, 'a') + line(2, 'a');
    expect((await filtered(twice, 100, BUDGET_BYTES)).passed).toBe(twice);
  });

  test('leaves lines to the spill when its set is full, each once', async () => {
    const lines = range(0, 5000).map((number) => line(1, String(number)));
    const { passed, late, withheld } = await filtered([...lines, ...lines].join(''), 10_000, 0);
    expect((passed + late.join('')).split('\n').toSorted()).toEqual(lines.join('').split('\n').toSorted());
    expect(late.length).toBeGreaterThan(0);
    expect(withheld).toBeGreaterThan(5000);
  });
});
