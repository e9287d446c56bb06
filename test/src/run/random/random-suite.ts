/**
 * Random mappings over random records, against a slow evaluator (random/evaluator.ts). The engine must give the same lines, each once,
 * whatever memory it has and however the run is cut; and the same ones, but more often, when nothing is compared. Values of which no valid term
 * can be made reject the same records and are counted alike, under each policy and in each language.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import { Fault, type FaultPlace } from '../../../../src/core/fault.ts';
import { mergeFlaws } from '../../../../src/run/report.ts';
import type { Flaw, RunReport, RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { sliceRun } from '../../../../src/run/slices/slices.ts';
import { plainLabels } from '../../../support/read-rdf.ts';
import { expectSameIn, formatOf } from './equalities/written.ts';
import { evaluate, type Outcome, outcomeOf, type Policies } from './evaluator.ts';
import { document, fileName, invent, type RandomMapping, turtle, withInvalid, withSelfJoins, withTargets } from './mapping.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-random-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

async function run(request: RunRequest): Promise<string[]> {
  return (await reported(request)).lines;
}

async function reported(request: RunRequest): Promise<{ readonly lines: string[]; readonly report: RunReport }> {
  const outputs: (() => string[])[] = [];
  const output = (mark: string) => {
    const parts: Buffer[] = [];
    // The engine marks blank nodes of values with a letter.
    const lines = (): string[] => plainLabels(Buffer.concat(parts).toString()).replaceAll('_:b', '_:').split('\n').slice(0, -1);
    outputs.push(() => lines().map((line) => mark + line));
    return { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  };
  const report = await executeRun(request, output(''), { openTarget: async ({ path }) => output(`${path.slice(0, 2)} `) });
  const { quads, targets = [] } = report;
  const [own = [], ...others] = outputs.map((lines) => lines());
  expect(targets.map((target) => target.quads)).toEqual(others.map((lines) => lines.length));
  const all = [own, ...others].flat();
  expect(quads).toBe(all.length);
  return { lines: all, report };
}

/** The lines of all slices; empty where the run is not cut. Only slices of one group may make the same statement. */
async function runInSlices(request: RunRequest): Promise<readonly string[]> {
  const cut = await sliceRun(request, { rows: 0, bytes: 400 }, new AbortController().signal);
  if (cut === undefined) return [];
  const byGroup = new Map<number | undefined, Set<string>>();
  try {
    for (const slice of cut.slices) {
      const lines = await run({ ...request, slice, keyBytes: 0 });
      expect(new Set(lines).size).toBe(lines.length);
      byGroup.set(slice.group, new Set([...(byGroup.get(slice.group) ?? []), ...lines]));
    }
  } finally {
    await cut.release();
  }
  return [...byGroup.values()].flatMap((lines) => [...lines]);
}

const same = (mapping: RandomMapping): RandomMapping => mapping;

let cuts = 0;
/** Runs in other formats that were not refused. */
let written = 0;

/** Writes the mapping and its sources. */
function requestOf(mapping: RandomMapping): RunRequest {
  const text = turtle(mapping);
  writeFileSync(join(directory, 'mapping.ttl'), text);
  const files = mapping.sources.map((source, i) => ({ name: fileName(source, i), text: document(source) }));
  for (const { name, text: of } of files) writeFileSync(join(directory, name), of);
  return {
    ...RUN_DEFAULTS,
    runId: 'random',
    mappings: [join(directory, 'mapping.ttl')],
    inputs: files.filter(({ name }) => text.includes(`"${name}"`)).map(({ name }) => ({ name, url: name })),
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    base: mapping.base,
  };
}

async function compare(seed: number, rows: number, change: (mapping: RandomMapping) => RandomMapping = same): Promise<void> {
  const mapping = change(invent(seed, rows));
  const request = requestOf(mapping);
  const expected = [...evaluate(mapping)].sort();
  expect((await run(request)).sort()).toEqual(expected);
  expect((await run({ ...request, memoryBudgetBytes: 0, keyBytes: 0 })).sort()).toEqual(expected);
  expect([...new Set(await run({ ...request, distinct: false }))].sort()).toEqual(expected);
  const sliced = await runInSlices(request);
  if (sliced.length > 0) {
    cuts++;
    expect([...sliced].sort()).toEqual(expected);
  }
  const format = formatOf(seed);
  for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0])
    if (await expectSameIn(format, { ...request, memoryBudgetBytes, keyBytes: 0, threads: 1 })) written++;
  if (seed % THREADED_SEEDS !== 0) return;
  for (const [threads, memoryBudgetBytes] of THREADS) {
    const threaded = { ...request, threads, memoryBudgetBytes, threadBytes: 400, keyBytes: 0 };
    expect((await run(threaded)).sort()).toEqual(expected);
    for (const one of ['trig', 'jsonld'] as const) if (await expectSameIn(one, threaded)) written++;
  }
}

// ---------------------------------------------------------------- values of which no valid term can be made

interface Found {
  readonly count: number;
  readonly first: FaultPlace;
}

const isBefore = (a: FaultPlace, b: FaultPlace): boolean =>
  ((a.recordsFrom ?? 0) - (b.recordsFrom ?? 0) || (a.record as number) - (b.record as number)) < 0;

/** What a run has found wrong, by `Wrong.key`, in the order of the keys. */
function wrongOf(flaws: readonly Flaw[], mapping: RandomMapping): ReadonlyMap<string, Found> {
  const lines = turtle(mapping).split('\n');
  const found = new Map<string, Found>();
  for (const { kind, count, first } of flaws) {
    if (kind === 'empty') continue;
    const [, line] = /:(\d+):\d+$/.exec(first.place.mapping ?? '') ?? [];
    const key = `${kind} ${/ # (.*)$/.exec(lines[Number(line) - 1] ?? '')?.[1]}`;
    const known = found.get(key);
    // Ill-typed literals of several datatypes of a term map are counted apart.
    if (known !== undefined) expect(kind).toBe('ill-typed');
    const isFirst = known === undefined || isBefore(first.place, known.first);
    found.set(key, { count: count + (known?.count ?? 0), first: isFirst ? first.place : known.first });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const seen = { faults: 0, rejected: 0, losses: 0, illTyped: 0, sliced: 0 };

const POLICIES = ['skip', 'quarantine', 'strict', undefined] as const;
const CHECKS = ['error', 'warn', 'off', undefined] as const;

/** Each policy, with a check of datatypes that depends on the seed. */
const policiesOf = (seed: number): readonly Policies[] =>
  POLICIES.map((onError, i) => ({ onError, datatypeCheck: CHECKS[(seed + i) % CHECKS.length] }));

async function compareInvalid(seed: number, rows: number, change: (mapping: RandomMapping) => RandomMapping = same): Promise<void> {
  const mapping = change(withInvalid(invent(seed, rows), seed));
  const request: RunRequest = { ...requestOf(mapping), maxRejected: 1e9 };
  const threaded = seed % THREADED_SEEDS === 0 ? POLICIES[(seed / THREADED_SEEDS) % 2] : null;
  for (const policies of policiesOf(seed)) {
    const expected = outcomeOf(mapping, policies);
    const own = { ...request, ...policies };
    if (expected.ends) await endsAt(own, expected);
    else await equals(own, mapping, expected, policies.onError === threaded);
  }
}

/** The first rejected record of a triples map under the policy `strict` ends the run, whichever thread reads it. */
async function endsAt(request: RunRequest, { rejected }: Outcome): Promise<void> {
  seen.faults++;
  for (const more of [{}, { memoryBudgetBytes: 0, keyBytes: 0 }]) {
    const fault = await reported({ ...request, ...more }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(fault instanceof Fault)) throw fault ?? new Error('the run did not end');
    expect(fault.code).toBe('record/term');
    const [, source] = /f(\d)\.\w+$/.exec(fault.place.input ?? '') ?? [];
    expect(rejected).toContain(`${source} ${fault.place.record}`);
  }
}

async function equals(request: RunRequest, mapping: RandomMapping, expected: Outcome, isThreaded: boolean): Promise<void> {
  const lines = [...expected.lines].sort();
  const wrong = [...expected.wrong.values()];
  seen.rejected += expected.rejected.length;
  seen.losses += expected.losses;
  seen.illTyped += wrong.filter(({ key }) => key.startsWith('ill-typed')).length;
  const countOf = (reports: readonly RunReport[]): number => reports.reduce((sum, { rejected }) => sum + rejected, 0);
  const check = async (what: string, more: Partial<RunRequest>): Promise<ReadonlyMap<string, Found>> => {
    const { lines: found, report } = await reported({ ...request, ...more });
    expect([what, (more.distinct === false ? [...new Set(found)] : found).sort()]).toEqual([what, lines]);
    expect([what, report.rejected]).toEqual([what, expected.rejected.length]);
    return wrongOf(report.flaws ?? [], mapping);
  };
  const first = await check('in memory', {});
  for (const [
    key,
    {
      count,
      first: { record },
    },
  ] of first) {
    const { count: least, most, first: earliest } = expected.wrong.get(key) ?? { count: 0, most: 0, first: -1 };
    // The subject of a parent may be the object of several rules, which are not counted apart.
    if (key.endsWith('subject')) continue;
    expect([key, record, count >= least && count <= most ? 'right' : count]).toEqual([key, earliest, 'right']);
  }
  expect([...first.keys()]).toEqual(wrong.map(({ key }) => key).sort());
  const seenIn = (found: ReadonlyMap<string, Found>) =>
    [...found].map(
      ([
        key,
        {
          count,
          first: { value },
        },
      ]) => [key, count, value],
    );
  const again = async (what: string, more: Partial<RunRequest>): Promise<void> =>
    expect([what, seenIn(await check(what, more))]).toEqual([what, seenIn(first)]);
  await again('without memory', { memoryBudgetBytes: 0, keyBytes: 0 });
  await again('not distinct', { distinct: false });
  const most = expected.rejected.length + expected.losses;
  await again('as many as may be rejected', { maxRejected: most });
  if (most > 0) await expect(run({ ...request, maxRejected: most - 1 })).rejects.toMatchObject({ code: 'record/limit' });
  const cut = await sliceRun(request, { rows: 0, bytes: 400 }, new AbortController().signal);
  if (cut !== undefined) {
    seen.sliced++;
    const reports: RunReport[] = [];
    const all = new Set<string>();
    try {
      for (const slice of cut.slices) {
        const { lines: found, report } = await reported({ ...request, slice, keyBytes: 0 });
        for (const line of found) all.add(line);
        reports.push(report);
      }
    } finally {
      await cut.release();
    }
    const flaws = mergeFlaws(reports.flatMap(({ flaws: of }) => of ?? []));
    expect(['slices', [...all].sort()]).toEqual(['slices', lines]);
    expect(['slices', countOf(reports), seenIn(wrongOf(flaws, mapping))]).toEqual(['slices', expected.rejected.length, seenIn(first)]);
  }
  if (!isThreaded) return;
  for (const [threads, memoryBudgetBytes] of THREADS)
    await again(`${threads} threads`, { threads, memoryBudgetBytes, threadBytes: 400, keyBytes: 0 });
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
    test.each(few)('seed %d, with logical targets, and every other time with self-joins', (seed) =>
      compare(seed, 12, (mapping) => withTargets(seed % 2 === 0 ? withSelfJoins(mapping, seed) : mapping, seed)),
    );
    // More subjects than a table holds without a budget: nothing is decided in memory.
    test.each(thousands)('seed %d, thousands of rows', (seed) => compare(seed, 3000));
    test.each(few)('seed %d, with invalid values', (seed) => compareInvalid(seed, 12));
    test.each(few)('seed %d, with invalid values and logical targets', (seed) =>
      compareInvalid(seed, 12, (mapping) => withTargets(mapping, seed)),
    );
    test.each(thousands)('seed %d, with invalid values in thousands of rows', (seed) => compareInvalid(seed, 3000));

    test('some of them are written in other formats', () => expect(written).toBeGreaterThan(few.length / 3));

    test('some of them are cut into slices, end the run, reject records, and lose statements alone', () => {
      expect(cuts).toBeGreaterThan(few.length / 30);
      for (const many of Object.values(seen)) expect(many).toBeGreaterThan(few.length / 30);
    });
  });
}
