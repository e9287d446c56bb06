/** RETAIN_OUTPUTS: what is beyond the limits goes with all its files, and never what the graph writer still needs. */
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { markWritten, type Retention, type RetentionContext, removeOldOutputs, retentionOf } from '../../workers/output/retention.ts';
import { closeAfterEach } from '../support/closing.ts';
import { PEOPLE, peopleMapping } from '../support/service/inputs.ts';
import { postJson, startService } from '../support/service/process.ts';

const { closes, directory: directoryForTest } = closeAfterEach();

const NOW = Date.parse('2026-01-31T00:00:00Z');
const DAY = 86_400_000;
const EVERYTHING = { ageMs: Number.POSITIVE_INFINITY, runs: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, unwritten: false };

test.each<[limits: string, retention: Partial<Retention> | undefined]>([
  ['', undefined],
  ['30d', { ageMs: 30 * DAY }],
  ['90s', { ageMs: 90_000 }],
  ['1000', { runs: 1000 }],
  ['50GB', { bytes: 50e9 }],
  ['12h,10,500MB,unwritten', { ageMs: DAY / 2, runs: 10, bytes: 500e6, unwritten: true }],
])('limits %s', (limits, retention) => {
  expect(retentionOf(limits === '' ? [] : limits.split(','))).toEqual(retention && { ...EVERYTHING, ...retention });
});

/** A published run of `days` ago, with two parts of 100 bytes. Its name may have points, since it holds that of a topic. */
async function publish(directory: string, name: string, days: number, ...more: readonly string[]): Promise<void> {
  for (const file of [`${name}.nq`, `${name}-2.nq`, ...more]) await writeFile(join(directory, file), 'x'.repeat(100));
  const manifest = join(directory, `${name}.manifest.json`);
  await writeFile(manifest, '');
  const time = new Date(NOW - days * DAY);
  await utimes(manifest, time, time);
}

const CONTEXT: RetentionContext = { prefixes: ['SQL-Transformer-'], needed: new Set(), isWritten: false, now: NOW };
const remaining = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory))
    .filter((name) => name.endsWith('.manifest.json'))
    .map((name) => name.slice(0, -'.manifest.json'.length))
    .sort();

describe('runs beyond the limits', () => {
  const RUNS = ['a', 'b', 'c.d-0-1', 'c.d-0-12'].map((id) => `SQL-Transformer-${id}`);

  async function fourRuns(): Promise<string> {
    const directory = await directoryForTest();
    for (const [index, name] of RUNS.entries()) await publish(directory, name, 10 * (index + 1));
    return directory;
  }

  test.each<[name: string, limits: string, context: Partial<RetentionContext>, left: number]>([
    ['none', '365d', {}, 4],
    ['by age', '25d', {}, 2],
    ['by number', '3', {}, 3],
    ['by size', '400KB', {}, 4],
    ['by size, the newest ones stay', '450B', {}, 2],
    ['by whichever is reached first', '25d,1,1GB', {}, 1],
    ['all of them', '0', {}, 0],
    ['of other services: none', '0', { prefixes: ['Semi-Structured-Transformer-'] }, 4],
    ['that the writer has not written: none', '0', { isWritten: true }, 4],
    ['that the writer has not written, if asked for', '0,unwritten', { isWritten: true }, 0],
  ])('%s', async (_, limits, context, left) => {
    const directory = await fourRuns();
    // The unit B is for this test alone.
    const retention = limits.endsWith('450B') ? { ...EVERYTHING, bytes: 450 } : (retentionOf(limits.split(',')) as Retention);
    const removed = await removeOldOutputs(directory, retention, { ...CONTEXT, ...context });
    expect(await remaining(directory)).toEqual(RUNS.slice(0, left).toSorted());
    expect(await readdir(directory)).toHaveLength(3 * left);
    expect(removed.runs).toBe(4 - left);
  });

  test('go with every file of theirs; files of others and of runs without a manifest stay', async () => {
    const directory = await directoryForTest();
    const name = 'SQL-Transformer-old';
    await publish(directory, name, 90, `${name}.target.people.ttl`, `${name}.rejected.ndjson`, `${name}.nodes.csv`);
    const others = [
      'SQL-Transformer-older.nq',
      'SQL-Transformer-old-x.nq',
      `.${name}.nq.1.part`,
      'notes.txt',
      'SQL-Transformer-provenance-old.nq',
    ];
    for (const other of others) await writeFile(join(directory, other), '');
    expect(await removeOldOutputs(directory, { ...EVERYTHING, ageMs: DAY }, CONTEXT)).toEqual({ runs: 1, bytes: 500, unwritten: 0 });
    expect((await readdir(directory)).sort()).toEqual(others.toSorted());
  });

  test('stay while the graph writer has their file as an input, and for a minute', async () => {
    const directory = await fourRuns();
    await publish(directory, 'SQL-Transformer-new', 30 / 86_400);
    const needed = new Set([join(directory, 'SQL-Transformer-b-2.nq')]);
    await removeOldOutputs(directory, { ...EVERYTHING, runs: 0 }, { ...CONTEXT, needed });
    expect(await remaining(directory)).toEqual(['SQL-Transformer-b', 'SQL-Transformer-new']);
  });

  test('go when the graph writer has marked them as written, whichever part it has read', async () => {
    const directory = await fourRuns();
    await markWritten([join(directory, 'SQL-Transformer-a-2.nq'), `file://${directory}/SQL-Transformer-c.d-0-12.nq`], '/');
    await markWritten(['http://127.0.0.1/x.nq', join(directory, 'unknown.nq')], '/');
    const removed = await removeOldOutputs(directory, { ...EVERYTHING, runs: 0 }, { ...CONTEXT, isWritten: true });
    expect(removed).toMatchObject({ runs: 2, unwritten: 2 });
    expect(await remaining(directory)).toEqual(['SQL-Transformer-b', 'SQL-Transformer-c.d-0-1']);
  });

  test('a directory that does not exist has none', async () => {
    expect(await removeOldOutputs('/nowhere', { ...EVERYTHING, runs: 0 }, CONTEXT)).toEqual({ runs: 0, bytes: 0, unwritten: 0 });
  });
});

test('a service removes what its writer has written, when it is old, and says so', async () => {
  const directory = await directoryForTest();
  await writeFile(join(directory, 'people.ttl'), peopleMapping('csv', 'people.csv'));
  await writeFile(join(directory, 'people.csv'), PEOPLE.csv);
  const env = { DATA_DIR: 'data', QUEUE_URL: 'embedded:', RETAIN_OUTPUTS: '1d' };
  const output = join(directory, 'data/output');
  const first = await startService({ cwd: directory, env });
  closes(() => first.stop());
  const { status, body } = await postJson(`${first.url}/semi-structured-transformer/process`, {
    inputFileURL: 'people.csv',
    logicalSource: 'people.csv',
    mappingURL: 'people.ttl',
  });
  expect(status).toBe(200);
  await first.waitForLog('run completed', (line) => line.service === 'graph-writer');
  await first.stop();
  const name = `Semi-Structured-Transformer-${body.runId}`;
  expect((await readdir(output)).sort()).toEqual([`${name}.manifest.json`, `${name}.nq`, `${name}.written`]);
  const old = new Date(Date.now() - 2 * DAY);
  await utimes(join(output, `${name}.manifest.json`), old, old);
  const second = await startService({ cwd: directory, env });
  closes(() => second.stop());
  await second.waitForLog('old outputs removed', (line) => line.runs === 1);
  expect(await readdir(output)).toEqual([]);
}, 120_000);
