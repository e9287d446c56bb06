/** How the runs of a process share its threads for mapping (`WORKER_THREADS`). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { openRuns } from '../../queues/runs/runs.ts';
import { openConfig } from '../../src/config/store.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { startWorkers } from '../../workers/host.ts';
import { closeAfterEach } from '../support/closing.ts';
import { built } from '../support/project-root.ts';
import { openQueue, uniquePrefix } from '../support/queues/backends.ts';
import { tinyRun } from '../support/queues/requests.ts';

const ENGINE = built('test/support/queues/engine.js').href;
const { closes, directory: directoryForTest } = closeAfterEach();

test.each([
  [undefined, [1, 1, 1]],
  [3, [3, 1, 1]],
])(
  'WORKER_THREADS %p: the first of three runs has those that are free, and each has one',
  async (threads, expected) => {
    const directory = await directoryForTest();
    const backend = await openQueue('embedded:', directory, uniquePrefix());
    closes(() => backend.close());
    const runs = await openRuns(backend);
    closes(() => runs.close());
    const given = threads === undefined ? {} : { WORKER_THREADS: threads };
    const config = await openConfig({ DATA_DIR: directory, WORKER_CONCURRENCY: 3, ...given });
    const workers = await startWorkers(backend, config, quietLogger(), { engine: ENGINE, services: ['semi-structured-transformer'] });
    closes(async () => {
      await workers.drain(0);
      config.close();
    });
    const end = (name: string): Promise<void> => writeFile(join(directory, name), '');
    const start = async (name: string): Promise<string> => {
      const { id } = await runs.submit(tinyRun(directory, `threads=${join(directory, name)}`), {});
      while ((await runs.get(id))?.progress === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      return id;
    };
    const threadsOf = async (id: string): Promise<number> => {
      const outcome = await runs.outcome(id, 25_000);
      const [url] = outcome?.state === 'completed' && 'outputFileLocations' in outcome.report ? outcome.report.outputFileLocations : [];
      return Number(/<urn:threads> "(\d+)"/.exec(await readFile(fileURLToPath(url as string), 'utf8'))?.[1]);
    };
    // Each begins while those before it go on, and the last one after they have ended.
    const ids = [await start('end'), await start('end'), await start('end')];
    await end('end');
    expect(await Promise.all(ids.map(threadsOf))).toEqual(expected);
    const last = await start('last');
    await end('last');
    expect(await threadsOf(last)).toBe(expected[0]);
  },
  90_000,
);
