/**
 * Every rewrite by itself against the naive evaluator of the algebra: what a random mapping gives is the same before and after it, as sets in
 * each output, row by row in collections, and in the promises that are broken.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RUN_DEFAULTS } from '../../../../src/config/run-defaults.ts';
import type { Mapping } from '../../../../src/mapping/model/model.ts';
import { readMapping } from '../../../../src/mapping/parse/read.ts';
import type { Algebra } from '../../../../src/plan/algebra.ts';
import { buildAlgebra } from '../../../../src/plan/build/build.ts';
import { Builder } from '../../../../src/plan/build/operators.ts';
import { type CatalogueMetadata, NO_METADATA } from '../../../../src/plan/catalogue-metadata.ts';
import type { RewriteContext } from '../../../../src/plan/rewrite/rewrite.ts';
import { REWRITES } from '../../../../src/plan/rewrite/rewrites.ts';
import type { RunRequest } from '../../../../src/run/request.ts';
import { executeRun } from '../../../../src/run/run.ts';
import { evaluate } from '../../run/random/evaluator.ts';
import {
  invent,
  type RandomMapping,
  type Term,
  turtle,
  withInvalid as withFaults,
  withSelfJoins,
  withTargets,
} from '../../run/random/mapping.ts';
import { dataOf, jsonData, overTables } from '../data.ts';
import { type Data, evaluateAlgebra, type Result } from '../evaluate.ts';
import { inventViews } from './views.ts';

const BASE = 'http://m/';

async function read(text: string, base: string): Promise<Mapping> {
  const { mapping, diagnostics } = await readMapping([{ name: 'm.ttl', text }], { baseIri: base });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return mapping;
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-rewrites-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

let runs = 0;

async function run(memoryBudgetBytes: number): Promise<string[]> {
  const parts: Buffer[] = [];
  const sink = { write: (lines: string) => void parts.push(Buffer.from(lines, 'latin1')), commit: async () => [], abort: async () => {} };
  const request: RunRequest = {
    ...RUN_DEFAULTS,
    runId: 'rewrites',
    mappings: [join(directory, 'm.ttl')],
    inputs: [],
    workingDirectory: directory,
    spillDirectory: join(directory, 'spill'),
    base: BASE,
    memoryBudgetBytes,
  };
  await executeRun(request, sink, {});
  return Buffer.concat(parts).toString().split('\n').slice(0, -1);
}

/** How often each rewrite has changed something. */
const changes = new Map<string, number>();

/** Each rewrite alone, and after those before it. */
function attack(mapping: Mapping, base: string, catalogue: CatalogueMetadata, data: Data): Result {
  let first: Result | undefined;
  for (const onError of ['strict', 'skip'] as const) {
    const builder = new Builder();
    const context: RewriteContext = { builder, catalogue, onError };
    const built = buildAlgebra(mapping, base, builder);
    const expected = evaluateAlgebra(built, data);
    first ??= expected;
    const expectSame = (name: string, algebra: Algebra): void => {
      const found = evaluateAlgebra(algebra, data);
      if (onError === 'skip') expect({ name, ...found, rejected: 0 }).toEqual({ name, ...expected, rejected: 0 });
      else if (expected.rejected > 0) expect({ name, ends: found.rejected > 0 }).toEqual({ name, ends: true });
      else expect({ name, ...found }).toEqual({ name, ...expected });
    };
    let all = built;
    for (const [name, rewrite] of REWRITES) {
      const alone = rewrite(built, context);
      if (alone !== built) {
        changes.set(name, (changes.get(name) ?? 0) + 1);
        expectSame(`${name} (${onError})`, alone);
      }
      const next = rewrite(all, context);
      if (next !== all && all !== built) expectSame(`${name} after others (${onError})`, next);
      all = next;
    }
  }
  return first as Result;
}

/** One database: columns with one value can be joined. */
const ONE_DATABASE: CatalogueMetadata = {
  ...NO_METADATA,
  isSingle: (_, reference) => !/many|nested/.test(reference),
  isAlwaysValid: () => true,
  canJoin: (_, child, __, parent) => !/many|nested/.test(child + parent),
};

/** The mapping with IRIs and language tags of any values, which so may be invalid. */
function withInvalid(mapping: RandomMapping): RandomMapping {
  const changed = (term: Term): Term => {
    const { value, language } = term;
    if (value.kind === 'reference' && (value.type === 'IRI' || value.type === 'URI')) return { ...term, value: { ...value, field: 'a' } };
    return typeof language === 'object' ? { ...term, language: { field: 'b' } } : term;
  };
  return {
    ...mapping,
    maps: mapping.maps.map(({ source, subject, rules }) => ({
      source,
      subject: changed(subject),
      rules: rules.map(({ predicate, object, graph }) => ({
        predicate: changed(predicate),
        object: 'parent' in object ? object : changed(object),
        graph: graph === undefined ? undefined : changed(graph),
      })),
    })),
  };
}

export function randomRewrites(all: readonly number[]): void {
  describe('random mappings give the same before and after each rewrite', () => {
    test.each(all)('files, seed %d', async (seed) => {
      const mapping = withTargets(invent(seed, 8), seed);
      const result = attack(await read(turtle(mapping), mapping.base), mapping.base, NO_METADATA, dataOf(mapping));
      const lines = result.statements.map((line) => line.replace(/^(t\d)\.nq /, '$1 '));
      expect(lines.sort()).toEqual([...evaluate(mapping)].sort());
    });

    test.each(all)('records that are joined with themselves, seed %d', async (seed) => {
      const mapping = withSelfJoins(invent(seed, 6), seed);
      for (const one of [mapping, withFaults(mapping, seed)]) attack(await read(turtle(one), one.base), one.base, NO_METADATA, dataOf(one));
    });

    test.each(all)('tables of a database, seed %d', async (seed) => {
      const mapping = invent(seed, 6);
      for (const one of [mapping, withInvalid(mapping)])
        attack(overTables(await read(turtle(one), one.base)), one.base, ONE_DATABASE, dataOf(one));
    });

    test.each(all)('views, seed %d', async (seed) => {
      const { turtle: text, documents, ofRows } = inventViews(seed, seed % 2 === 0);
      const result = attack(await read(text, BASE), BASE, NO_METADATA, jsonData(documents));
      if (ofRows || result.rejected > 0 || result.broken.length > 0) return;
      writeFileSync(join(directory, 'm.ttl'), text);
      for (const [name, records] of Object.entries(documents)) writeFileSync(join(directory, name), JSON.stringify(records));
      for (const memoryBudgetBytes of [RUN_DEFAULTS.memoryBudgetBytes, 0])
        expect((await run(memoryBudgetBytes)).sort()).toEqual(result.statements);
      runs++;
    });

    test('many of the views were run', () => expect(runs).toBeGreaterThan(all.length / 4));

    test('each rewrite has changed some of them', () => {
      for (const [name] of REWRITES) expect(changes.get(name) ?? 0).toBeGreaterThan(all.length / 10);
    });
  });
}
