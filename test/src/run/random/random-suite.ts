/**
 * Random mappings over random records, against a slow evaluator (random/evaluator.ts). The engine must give the same lines, each once,
 * whatever memory it has and however the run is cut; and the same ones, but more often, when nothing is compared.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { sliceRun } from '../../../../src/run/slices/slices.ts';
import { plainLabels } from '../../../support/read-rdf.ts';
import { evaluate } from './evaluator.ts';
import { document, fileName, invent, type RandomMapping, turtle, withTargets } from './mapping.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-random-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(request: RunRequest): Promise<string[]> {
  const outputs: (() => string[])[] = [];
  const output = (mark: string) => {
    const parts: Buffer[] = [];
    // The engine marks blank nodes of values with a letter of its own.
    const lines = (): string[] => plainLabels(Buffer.concat(parts).toString()).replaceAll('_:b', '_:').split('\n').slice(0, -1);
    outputs.push(() => lines().map((line) => mark + line));
    return { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  };
  const { quads, targets = [] } = await executeRun(request, output(''), { openTarget: async ({ path }) => output(`${path.slice(0, 2)} `) });
  const [own = [], ...others] = outputs.map((lines) => lines());
  expect(targets.map((target) => target.quads)).toEqual(others.map((lines) => lines.length));
  const all = [own, ...others].flat();
  expect(quads).toBe(all.length);
  return all;
}

/** The lines of all slices; empty where the run is not cut. Only slices of one file may make the same statement. */
async function runInSlices(request: RunRequest, inputs: number): Promise<readonly string[]> {
  const cut = await sliceRun(request, { rows: 0, bytes: 400 }, new AbortController().signal);
  if (cut === undefined) return [];
  const byFile = new Map<string, Set<string>>();
  try {
    for (const slice of cut.slices) {
      const file = slice.scans.map(({ position, range }) => (range === undefined ? 'the rest' : `scan ${position}`)).join();
      const lines = await run({ ...request, slice, keyBytes: 0 });
      expect(new Set(lines).size).toBe(lines.length);
      byFile.set(file, new Set([...(byFile.get(file) ?? []), ...lines]));
    }
  } finally {
    await cut.release();
  }
  expect(byFile.size).toBeLessThanOrEqual(inputs + 1);
  return [...byFile.values()].flatMap((lines) => [...lines]);
}

const same = (mapping: RandomMapping): RandomMapping => mapping;

let cuts = 0;

async function compare(seed: number, rows: number, change: (mapping: RandomMapping) => RandomMapping = same): Promise<void> {
  const mapping = change(invent(seed, rows));
  writeFileSync(join(directory, 'mapping.ttl'), turtle(mapping));
  const files = mapping.sources.map((source, i) => ({ name: fileName(source, i), text: document(source) }));
  for (const { name, text } of files) writeFileSync(join(directory, name), text);
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: 'random',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: files.filter(({ name }) => turtle(mapping).includes(`"${name}"`)).map(({ name }) => ({ name, url: name })),
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    base: mapping.base,
  };
  const expected = [...evaluate(mapping)].sort();
  expect((await run(request)).sort()).toEqual(expected);
  expect((await run({ ...request, memoryBudgetBytes: 0, keyBytes: 0 })).sort()).toEqual(expected);
  expect([...new Set(await run({ ...request, distinct: false }))].sort()).toEqual(expected);
  const sliced = await runInSlices(request, files.length);
  if (sliced.length > 0) {
    cuts++;
    expect([...sliced].sort()).toEqual(expected);
  }
  if (seed % THREADED_SEEDS !== 0) return;
  for (const [threads, memoryBudgetBytes] of THREADS)
    expect((await run({ ...request, threads, memoryBudgetBytes, threadBytes: 400, keyBytes: 0 })).sort()).toEqual(expected);
}

/** Threads take long to start: every so many seeds are mapped by them. */
const THREADED_SEEDS = 8;
const THREADS = [
  [2, RUN_DEFAULTS.memoryBudgetBytes],
  [3, 0],
] as const;

export function randomMappings(few: readonly number[], thousands: readonly number[]): void {
  describe('random mappings', () => {
    test.each(few)('seed %d', (seed) => compare(seed, 12));
    test.each(few)('seed %d, with logical targets', (seed) => compare(seed, 12, (mapping) => withTargets(mapping, seed)));
    // More subjects than a table holds without a budget: nothing is decided in memory.
    test.each(thousands)('seed %d, thousands of rows', (seed) => compare(seed, 3000));

    test('some of them are cut into slices', () => expect(cuts).toBeGreaterThan(few.length / 30));
  });
}
