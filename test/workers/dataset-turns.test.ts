/** Runs of a dataset take turns, on every kind of queue: lines of runs, and two workers that take runs as the queue gives them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { SERVICE_QUEUES, type SuccessReport } from '../../queues/jobs.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { openConfig } from '../../src/config/store.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { lockState } from '../../src/datasets/versions/state.ts';
import { startWorkers } from '../../workers/host.ts';
import { openQueue, QUEUES, type TestServer, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { tinyRun } from '../support/queues/requests.ts';
import { peopleMapping } from '../support/service/inputs.ts';

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await sleep(50);
}

describe.each(QUEUES)('over a queue of kind $name', ({ name, missing, start }) => {
  const prefix = uniquePrefix();
  let server: TestServer;
  /** Of two processes; the embedded queue is of one. */
  const backends: QueueBackend[] = [];
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  const first = (): QueueBackend => backends[0] as QueueBackend;
  const last = (): QueueBackend => backends.at(-1) as QueueBackend;

  beforeAll(async () => {
    if (missing !== undefined) return;
    directory = await temporaryDirectory();
    server = await start();
    for (let i = 0; i < (name === 'embedded' ? 1 : 2); i++) backends.push(await openQueue(server.url, directory.path, prefix));
    await writeFile(join(directory.path, 'people.ttl'), peopleMapping('csv', 'people.csv'));
  }, 60_000);

  afterAll(async () => {
    if (missing !== undefined) return;
    for (const backend of backends) await backend.close();
    await server.stop(prefix);
    await directory.remove();
  }, 30_000);

  const check = missing === undefined ? test : test.skip;
  const why = missing === undefined ? '' : ` (skipped: ${missing})`;

  check(`a line has each run once, in the order in which they joined it${why}`, async () => {
    const { join: joined, leave } = first().datasetLines;
    expect(await joined('a', 'r1')).toEqual({ head: 'r1', before: 0 });
    expect(await last().datasetLines.join('a', 'r2')).toEqual({ head: 'r1', before: 1 });
    expect(await joined('a', 'r2')).toEqual({ head: 'r1', before: 1 });
    expect(await joined('b', 'r3')).toEqual({ head: 'r3', before: 0 });
    expect(await leave('a', 'r4')).toBe('r1');
    expect(await last().datasetLines.leave('a', 'r1')).toBe('r2');
    expect(await joined('a', 'r1')).toEqual({ head: 'r2', before: 1 });
    expect([await leave('a', 'r2'), await leave('a', 'r1'), await leave('a', 'r1'), await leave('c', 'r1')]).toEqual([
      'r1',
      undefined,
      undefined,
      undefined,
    ]);
    const many = Array.from({ length: 20 }, (_, i) => `n${i}`);
    const places = await Promise.all(many.map((run, i) => (i % 2 ? first() : last()).datasetLines.join('many', run)));
    expect(new Set(places.map(({ head }) => head)).size).toBe(1);
    expect(places.map(({ before }) => before).sort((a, b) => a - b)).toEqual(many.map((_, i) => i));
  });

  check(
    `requests at once make versions in their order on two workers, also behind one that never came to the queue${why}`,
    async () => {
      const at = (file: string): string => join(directory.path, file);
      const config = await openConfig({ DATA_DIR: directory.path, WORKER_CONCURRENCY: 1, LOCK_SECONDS: 5, STALLED_SECONDS: 1 });
      const runs = await openRuns(first());
      const options = { services: ['semi-structured-transformer'], workingDirectory: directory.path } as const;
      const workers = await Promise.all([first(), last()].map((backend) => startWorkers(backend, config, quietLogger(), options)));
      try {
        const submit = async (dataset: string, row: string, urgency: number): Promise<string> => {
          await writeFile(at(`${dataset}-${row}.csv`), `id,name\n1,${row}\n`);
          const request = tinyRun(directory.path);
          const { id } = await runs.submit(
            {
              ...request,
              run: { ...request.run, maxRejected: 0 },
              inputs: [{ name: 'people.csv', url: at(`${dataset}-${row}.csv`) }],
              mappings: [at('people.ttl')],
              dataset: { name: dataset, url: at(`datasets/${dataset}`) },
            },
            { urgency },
          );
          return id;
        };
        await first().datasetLines.join(at('datasets/people'), 'r00000000000000000000');
        const ids: string[] = [];
        for (const row of [7, 6, 5, 4]) ids.push(await submit('people', String(row), row));
        ids.push(await submit('others', 'x', 7));
        const reports = await Promise.all(
          ids.map(async (id) => {
            const outcome = await runs.outcome(id, 30_000);
            return outcome?.state === 'completed' ? (outcome.report as SuccessReport) : outcome;
          }),
        );
        expect(reports.map((report) => report && 'dataset' in report && [report.dataset, report.version, report.previousVersion])).toEqual([
          ['people', 1, 0],
          ['people', 2, 1],
          ['people', 3, 2],
          ['people', 4, 3],
          ['others', 1, 0],
        ]);
        expect(await first().datasetLines.leave(at('datasets/people'), 'none')).toBeUndefined();

        // A command writes the dataset.
        const lock = await lockState(at('datasets/locked/state'), 'locked');
        const id = await submit('locked', 'x', 3);
        await until(async () => (await first().queue(SERVICE_QUEUES['semi-structured-transformer'].work).getDelayedCount()) === 1);
        expect(await runs.get(id)).toMatchObject({ state: 'queued', attempts: 0 });
        await lock.release();
        expect(await runs.outcome(id, 30_000)).toMatchObject({ state: 'completed', report: { version: 1 } });
      } finally {
        await Promise.all(workers.map((one) => one.drain(1_000)));
        await runs.close();
        config.close();
      }
    },
    60_000,
  );
});
