/**
 * Runs into a dataset, and writes of it into a store, that are killed at any moment. The dataset is at the version before, or at the new one; the store
 * has what its position says; and the next run and the next write make both whole.
 *
 * KILLS asks for so many, RANDOM_SEED for others, TELL for their count.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Dataset } from '../../../src/datasets/dataset.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { type DatasetPlace, type DatasetReport, runDataset } from '../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { openEmbeddedStore } from '../../../src/targets/embedded/embedded.ts';
import { sparqlTarget } from '../../../src/targets/sparql/sparql.ts';
import type { VersionTarget } from '../../../src/targets/target.ts';
import { writeDatasetTo } from '../../../src/write/dataset/write.ts';
import { requestOf } from '../../src/run/random/engine.ts';
import { address } from '../../src/targets/sparql/stores.ts';
import { listening, workspace } from '../../src/write/writing.ts';
import { PROJECT_ROOT } from '../../support/project-root.ts';
import { Random } from '../../support/random.ts';
import { storeClient } from '../../support/service/store-client.ts';

const COMMAND = join(PROJECT_ROOT, 'bin', 'quadmill.js');
const KILLS = Number(process.env.KILLS ?? 20);
const SEED = Number(process.env.RANDOM_SEED ?? 1);
const ROWS = 2000;
/** A version with fewer changes is one request to a store. */
const ONE_REQUEST = 500;
const TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

const space = workspace();
let directory: string;
let place: DatasetPlace;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'quadmill-kill-'));
  place = { files: openFiles(join(directory, 'd'), directory, USUAL_S3_ACCESS), stateDirectory: join(directory, 'd', 'state') };
  writeFileSync(
    join(directory, 'm.ttl'),
    `@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
<#P> rml:logicalSource [ rml:source [ a rml:RelativePathSource ; rml:root rml:MappingDirectory ; rml:path "p.csv" ] ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:template "http://e/p/{id}" ; rml:class ex:P ] ;
  rml:predicateObjectMap [ rml:predicate ex:name ; rml:objectMap [ rml:reference "name" ] ] .`,
  );
});
afterAll(() => {
  rmSync(directory, { recursive: true });
  space.remove();
});

/** Rows by id → the statements of their graph. */
const graphOf = (rows: ReadonlyMap<number, number>): readonly string[] =>
  [...rows].flatMap(([id, name]) => [`<http://e/p/${id}> ${TYPE} <http://e/P> .`, `<http://e/p/${id}> <http://e/name> "${name}" .`]).sort();

async function exported(dataset: Dataset, version: number): Promise<readonly string[]> {
  let text = '';
  for await (const piece of dataset.graph(version, undefined, { directory: join(directory, 'folding'), memoryBudgetBytes: 2 ** 24 }))
    text += piece;
  return text.split('\n').slice(0, -1).sort();
}

/** Starts the command, and kills it. @param isReached whether the time is counted from here */
async function killed(args: readonly string[], milliseconds: number, isReached?: () => boolean): Promise<void> {
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd: directory, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (isReached?.() === false && child.exitCode === null) await sleep(1);
  await Promise.race([sleep(milliseconds), ended]);
  child.kill('SIGKILL');
  await ended;
}

/** Milliseconds that a whole command takes. */
function timed(...args: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { cwd: directory, encoding: 'utf8' });
  expect([args, status, stderr]).toEqual([args, 0, stderr]);
  return performance.now() - started;
}

test(`${KILLS} kills`, async () => {
  const random = new Random(SEED);
  const rows = new Map<number, number>();
  const edit = (): void => {
    for (let i = random.chance(0.1) ? ROWS : random.between(1, 50); i > 0; i--) {
      const id = random.between(0, ROWS);
      if (random.chance(0.3)) rows.delete(id);
      else rows.set(id, random.between(0, 9));
    }
    writeFileSync(join(directory, 'p.csv'), `id,name\n${[...rows].map(([id, name]) => `${id},${name}`).join('\n')}\n`);
  };
  for (let id = 0; id < ROWS; id++) rows.set(id, 0);
  edit();
  const run = ['run', 'm.ttl', '--dataset', 'd'];
  const write = ['write', '--dataset', 'd', '--target', 'store'];
  /** The most milliseconds before a kill: so many that about half of the commands complete their version. */
  const likely = { run: 2 * timed(...run), write: 2 * timed(...write) };
  // Whatever is there from the first moment on is covered as well.
  for (const name of ['d', 'store']) rmSync(join(directory, name), { recursive: true });
  let version = 0;
  const counts = { 'runs, version before': 0, 'runs, new version': 0, 'writes, version before': 0, 'writes, newest version': 0 };

  async function killRun(): Promise<void> {
    edit();
    // Half of them in the short time in which files are compared and published.
    const isLate = random.chance(0.5);
    const isPublishing = (): boolean => existsSync(join(directory, 'd', 'state', 'temporary'));
    await killed(run, random.between(0, Math.ceil(isLate ? likely.run / 2 : likely.run)), isLate ? isPublishing : undefined);
    const left = await Dataset.find(place.files);
    const { current = 0 } = left ?? {};
    expect([version, version + 1]).toContain(current);
    counts[current === version ? 'runs, version before' : 'runs, new version']++;
    likely.run *= current === version ? 1.05 : 0.95;
    if (left !== undefined && current > version) expect(await exported(left, current)).toEqual(graphOf(rows));
    const request = { ...requestOf({ mappings: ['m.ttl'], workingDirectory: directory }, join(directory, 'spill')), runId: `run-${kills}` };
    const made: DatasetReport = await runDataset(place, request, {});
    const dataset = await Dataset.open(place.files);
    expect([made.version, dataset.current, dataset.description.currentVersion]).toEqual([made.version, made.version, made.version]);
    expect([version, version + 1]).toContain(made.version);
    expect(await exported(dataset, made.version)).toEqual(graphOf(rows));
    version = made.version;
  }

  async function killWrite(): Promise<void> {
    await killed(write, random.between(0, Math.ceil(likely.write)));
    const dataset = await Dataset.open(place.files);
    const store = await openEmbeddedStore(join(directory, 'store'));
    const target = await sparqlTarget(address('embedded', store.endpoint));
    const contents = async (): Promise<readonly string[]> =>
      (await storeClient(store.endpoint).quads()).filter((line) => !line.endsWith(' <urn:x-quadmill:datasets> .'));
    try {
      const { positions } = target.versions as VersionTarget;
      const position = async () => (await positions(new AbortController().signal))[0];
      const found = await position();
      const had = found?.complete === true ? found.version : 0;
      expect(had).toBeLessThanOrEqual(dataset.current);
      counts[had === dataset.current ? 'writes, newest version' : 'writes, version before']++;
      likely.write *= had === dataset.current ? 0.95 : 1.05;
      const next = had === 0 || had === dataset.current ? undefined : await dataset.manifest(had + 1);
      if (found === undefined) expect(await contents()).toEqual([]);
      else if (found.complete && (next === undefined ? had > 0 : next.added + next.removed < ONE_REQUEST))
        expect(await contents()).toEqual(await exported(dataset, had));
      const request = { ...space.request([]), dataset, graph: undefined, resync: undefined };
      expect(await writeDatasetTo(target, request, listening())).toMatchObject({ version: dataset.current, previousVersion: had });
      expect(await position()).toMatchObject({ version: dataset.current, complete: true });
      expect(await contents()).toEqual(graphOf(rows));
      expect(await writeDatasetTo(target, request, listening())).toMatchObject({ statements: 0 });
    } finally {
      await target.close();
      await store.close();
    }
  }

  let kills = 0;
  while (kills < KILLS) {
    await killRun();
    kills++;
    if (process.env.TELL && kills % 10 < 2) process.stderr.write(`${kills} kills did no harm: ${JSON.stringify(counts)}\n`);
    if (kills === KILLS || !random.chance(0.35)) continue;
    await killWrite();
    kills++;
  }
  expect(counts['runs, version before']).toBeGreaterThan(0);
  expect(counts['runs, new version'] + counts['writes, newest version']).toBeGreaterThan(0);
}, 7_200_000);
