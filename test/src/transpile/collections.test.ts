/** Collections, and nodes for records, in jobs for DuckDB against those of runs. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import { isName } from '../../../src/nquads/labels.ts';
import { soakSeeds } from '../../support/random.ts';
import { structureOf, writeCollections } from './collections.ts';
import { type Engine, startDuckdb } from './duckdb.ts';
import { BASE, linesOfRun } from './lines.ts';

let engine: Engine;
const directory = mkdtempSync(join(tmpdir(), 'quadmill-collections-'));

beforeAll(async () => {
  engine = await startDuckdb();
});

afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test.each(soakSeeds(1, 2))('give the graph of a run, seed %i', async (seed) => {
  const own = join(directory, `${seed}`);
  mkdirSync(own);
  for (const { name, directory: place, mapping } of writeCollections(own, seed)) {
    const lines = await linesOfRun(mapping, place);
    if (typeof lines === 'string') throw new Error(`the run of ${name} fails: ${lines}`);
    expect(lines.length).toBeGreaterThan(100);
    const job = await transpileFiles([mapping], 'duckdb', new Map(), BASE, place);
    expect(job.refusals).toEqual([]);
    const made = await engine.run(job);
    expect([name, structureOf(made)]).toEqual([name, structureOf(lines)]);
    // The graph writer takes equal labels of several files for one node.
    const labels = made.flatMap((line) => line.match(/(?<=_:)\w+/g) ?? []);
    expect(labels.filter((label) => !isName(label))).toEqual([]);
    expect(await engine.run(job)).toEqual(made);
  }
});
