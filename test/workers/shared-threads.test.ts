/** Small runs share a thread (`workers/threads/small.ts`): each is what it would be alone, and none is harmed by another. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import type { TransformRequest } from '../../queues/jobs.ts';
import { cancelledFault } from '../../queues/runs/outcome.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { NO_LIMITS } from '../../src/core/limits.ts';
import type { RunResult } from '../../workers/task.ts';
import { closeAfterEach } from '../support/closing.ts';
import { built } from '../support/project-root.ts';
import { openPool } from '../support/queues/pool.ts';
import { peopleMapping } from '../support/service/inputs.ts';

const ENGINE = built('test/support/queues/engine.js').href;
const { closes, directory: directoryForTest } = closeAfterEach();

async function open(engine?: string) {
  const directory = await directoryForTest();
  const { pool, run: runTask } = openPool(directory, engine);
  closes(() => pool.close());
  const run = (runId: string, url: string, mapping = 'mapping.ttl', more: Partial<TransformRequest> = {}, signal?: AbortSignal) =>
    runTask({ runId, url, mapping, more, signal });
  return { directory, pool, run, left: async () => (await readdir(join(directory, 'out'))).sort() };
}

const linesOf = async ({ parts }: RunResult): Promise<readonly string[]> =>
  (await readFile(fileURLToPath(parts[0]?.url as string), 'utf8')).trimEnd().split('\n').sort();
const threadOf = async (result: RunResult): Promise<string> =>
  /<urn:thread> "(\d+)"/.exec((await linesOf(result)).join('\n'))?.[1] as string;

describe('small runs', () => {
  test('side by side write what each writes alone, large ones among them', async () => {
    const { directory, run, left } = await open();
    for (const format of ['csv', 'json'] as const)
      await writeFile(join(directory, `${format}.ttl`), peopleMapping(format, `all.${format}`));
    // The larger ones are not small, which is found out when the mapping has been read.
    const sizes = [1, 2, 400, 3, 9_000, 40, 5, 700, 6_000, 8, 60, 3_000];
    const person = (run: number, i: number) => ({ id: `${run}-${i}`, name: `Name ${i}` });
    const results = sizes.map(async (size, at) => {
      const people = Array.from({ length: size }, (_, i) => person(at, i));
      const isCsv = at % 2 === 0;
      const path = join(directory, `in${at}.${isCsv ? 'csv' : 'json'}`);
      const text = isCsv ? `id,name\n${people.map(({ id, name }) => `${id},${name}\n`).join('')}` : JSON.stringify({ people });
      await writeFile(path, text);
      const result = await run(`r${at}`, path, isCsv ? 'csv.ttl' : 'json.ttl');
      expect(await linesOf(result)).toEqual(
        people.map(({ id, name }) => `<http://example.com/${id}> <http://example.com/name> "${name}" .`).sort(),
      );
      expect(result.report).toMatchObject({ records: size, quads: size });
    });
    await Promise.all(results);
    expect(await left()).toHaveLength(sizes.length * 2);
  }, 60_000);

  test('share a thread, four at a time, and others have a separate one', async () => {
    const { run } = await open(ENGINE);
    const urls = [...Array(5).fill('thread&slow=500&ok=.csv'), 'thread', 'thread&ok=.xlsx'];
    const threads = await Promise.all(urls.map(async (url, i) => threadOf(await run(`r${i}`, url))));
    expect(new Set(threads.slice(0, 4)).size).toBe(1);
    expect(new Set(threads).size).toBe(4);
  }, 60_000);

  test('are repeated elsewhere when their thread dies of one that needs too much memory, which alone ends', async () => {
    const { run, left } = await open(ENGINE);
    const neighbours = [run('r1', 'slow=3000&ok=.csv'), run('r2', 'slow=3000&ok=.csv')];
    await expect(run('r3', 'memory&ok=.csv')).rejects.toMatchObject({ code: 'limit/exceeded', limit: 'THREAD_MEMORY_MB' });
    for (const { report } of await Promise.all(neighbours)) expect(report.quads).toBe(1);
    expect((await left()).filter((name) => name.includes('r3'))).toEqual([]);
    expect(await left()).toHaveLength(4);
    // The next ones share a new thread.
    const threads = await Promise.all(['r5', 'r6'].map(async (id) => threadOf(await run(id, 'thread&slow=300&ok=.csv'))));
    expect(new Set(threads).size).toBe(1);
  }, 60_000);

  test.each(['busy', 'deaf'])(
    'are repeated elsewhere when one does not stop in time and is %s, which alone ends',
    async (act) => {
      const { run, left } = await open(ENGINE);
      const limits = { ...NO_LIMITS, seconds: 1 };
      const neighbours = [run('r1', 'slow=2000&ok=.csv'), run('r2', 'slow=2000&ok=.csv')];
      const late = run('r3', `${act}&ok=.csv`, 'mapping.ttl', { run: { ...RUN_DEFAULTS, limits } });
      await expect(late).rejects.toMatchObject({ code: 'limit/exceeded', limit: 'MAX_RUN_SECONDS' });
      for (const { report } of await Promise.all(neighbours)) expect(report.quads).toBe(1);
      expect((await left()).filter((name) => name.includes('r3'))).toEqual([]);
    },
    60_000,
  );

  test('are cancelled one by one, and fail one by one', async () => {
    const { run, left } = await open(ENGINE);
    const stop = new AbortController();
    const cancelled = run('r1', 'slow=60000&ok=.csv', 'mapping.ttl', {}, stop.signal);
    const failed = run('r2', 'fault=record/term&ok=.csv');
    const whole = run('r3', 'slow=500&ok=.csv');
    await expect(failed).rejects.toMatchObject({ code: 'record/term' });
    stop.abort(cancelledFault());
    await expect(cancelled).rejects.toMatchObject({ code: 'run/cancelled' });
    expect((await whole).report.quads).toBe(1);
    expect(await left()).toHaveLength(2);
  }, 60_000);
});
