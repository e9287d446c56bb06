/** Logical views in jobs for DuckDB, against those of runs. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transpileFiles } from '../../../bin/commands/mappings/compile.ts';
import { soakSeeds } from '../../support/random.ts';
import { type Engine, startDuckdb } from './duckdb.ts';
import { BASE, linesOfRun } from './lines.ts';
import { writeViews } from './views.ts';

let engine: Engine;
const directory = mkdtempSync(join(tmpdir(), 'quadmill-views-'));

beforeAll(async () => {
  engine = await startDuckdb();
});

afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

test.each(soakSeeds(1, 2))('give the lines of a run, seed %i', async (seed) => {
  const own = join(directory, `${seed}`);
  mkdirSync(own);
  for (const { directory: place, mapping } of writeViews(own, seed)) {
    const lines = await linesOfRun(mapping, place);
    expect([...lines].length).toBeGreaterThan(typeof lines === 'string' ? Number.POSITIVE_INFINITY : 20);
    const job = await transpileFiles([mapping], 'duckdb', new Map(), BASE, place);
    expect(job.refusals).toEqual([]);
    expect(await engine.run(job).catch((error: Error) => error.message)).toEqual(lines);
  }
});
