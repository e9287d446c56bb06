/** Attempts of one run to make a version: one whose predecessor was killed after it published, and one that may not publish. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { Fault } from '../../../src/core/fault.ts';
import { openFiles } from '../../../src/datasets/files.ts';
import { type DatasetHooks, type DatasetReport, runDataset } from '../../../src/datasets/run.ts';
import { USUAL_S3_ACCESS } from '../../../src/storage/s3-access.ts';
import { peopleMapping } from '../../support/service/inputs.ts';
import { requestOf } from '../run/random/engine.ts';

const directory = mkdtempSync(join(tmpdir(), 'quadmill-attempts-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
writeFileSync(join(directory, 'people.ttl'), peopleMapping('csv', 'people.csv'));
const files = openFiles(join(directory, 'dataset'), directory, USUAL_S3_ACCESS);

function attempt(runId: string, rows: readonly string[], hooks: DatasetHooks = {}): Promise<DatasetReport> {
  writeFileSync(join(directory, 'people.csv'), ['id,name', ...rows, ''].join('\n'));
  const request = requestOf(
    { mappings: [join(directory, 'people.ttl')], workingDirectory: directory, maxRejected: 0 },
    join(directory, 'spill'),
  );
  return runDataset({ files, stateDirectory: join(directory, 'dataset/state') }, { ...request, runId }, { isAttempt: true, ...hooks });
}

test('an attempt finds the version of its run, and reads nothing', async () => {
  const first = await attempt('run-a', ['1,Ann']);
  expect(first).toMatchObject({ version: 1, previousVersion: 0, added: 1, removed: 0 });
  const { report: _, changesBy: __, reason: ___, ...made } = first;
  expect(await attempt('run-a', ['2,Bob'])).toEqual({ ...made, report: undefined });
  expect(await attempt('run-b', ['2,Bob'])).toMatchObject({ version: 2, previousVersion: 1, added: 1, removed: 1 });
});

test('an id that a program gives each run tells nothing of its result', async () => {
  const place = { files: openFiles(join(directory, 'again'), directory, USUAL_S3_ACCESS), stateDirectory: join(directory, 'again/state') };
  const request = requestOf(
    { mappings: [join(directory, 'people.ttl')], workingDirectory: directory, maxRejected: 0 },
    join(directory, 'spill'),
  );
  for (const [version, row] of [
    [1, '1,Ann'],
    [2, '2,Bob'],
    [3, '3,Cem'],
  ] as const) {
    writeFileSync(join(directory, 'people.csv'), `id,name\n${row}\n`);
    expect(await runDataset(place, { ...request, runId: 'people' }, {})).toMatchObject({ version, previousVersion: version - 1, added: 1 });
  }
});

test('others may read the versions, and not the state', () => {
  const modeOf = (path: string): number => statSync(join(directory, path)).mode & 0o777;
  const usual = 0o777 & ~process.umask();
  expect(['dataset', 'dataset/versions', 'dataset/state'].map(modeOf)).toEqual([usual, usual, 0o700]);
});

test('an attempt that may not publish leaves the dataset as it was, at the question before the files and at that before the manifest', async () => {
  const versions = (): readonly string[] => readdirSync(join(directory, 'dataset/versions')).filter((name) => name.endsWith('.json'));
  const before = versions();
  for (const refused of [1, 2]) {
    let asked = 0;
    const confirm = async (): Promise<void> => {
      if (++asked === refused) throw new Fault('run/lost', 'The lock is lost');
    };
    await expect(attempt('run-c', ['3,Cem'], { confirm })).rejects.toMatchObject({ code: 'run/lost' });
    expect(versions()).toEqual(before);
  }
  expect(await attempt('run-c', ['3,Cem'])).toMatchObject({ version: 3, previousVersion: 2, added: 1, removed: 1 });
});
