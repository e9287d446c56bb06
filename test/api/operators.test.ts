/** Metrics of the queue and the disk, on every kind of queue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from '@jest/globals';
import { SERVICE_QUEUES, type TransformRequest } from '../../queues/jobs.ts';
import { backlogOf } from '../../queues/runs/backlog.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { share, sharedTest, test } from '../support/jest/extent.ts';
import { openQueue, QUEUES, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { startFakeApi } from '../support/service/fake.ts';
import { ask } from '../support/service/process.ts';

const { slice: SLICE_QUEUE, work: TRANSFORM_QUEUE } = SERVICE_QUEUES['sql-transformer'];

/** No worker runs it, so it need not be valid. */
const request = { service: 'sql-transformer', inputs: [], mappings: [] } as unknown as TransformRequest;

describe.each(share(2, QUEUES))('over a queue of kind $name', ({ missing, start }) => {
  const check = missing === undefined ? sharedTest : sharedTest.skip;

  check(
    `the age of the oldest run that waits, and the slices, are those of the queue${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    async () => {
      const prefix = uniquePrefix();
      const directory = await temporaryDirectory();
      const server = await start();
      const backend = await openQueue(server.url, directory.path, prefix);
      const runs = await openRuns(backend);
      try {
        expect(await backlogOf(backend)).toEqual({ oldestSeconds: 0, slices: { waiting: 0, active: 0, retrying: 0 } });
        const submitted = Date.now();
        const { id: first } = await runs.submit(request, {});
        await sleep(600);
        await runs.submit(request, {});
        await backend.queue(SLICE_QUEUE).add('slice', {});
        const before = await backlogOf(backend);
        expect(before.oldestSeconds).toBeGreaterThan(0.5);
        expect(before.slices).toEqual({ waiting: 1, active: 0, retrying: 0 });
        // A job that was started does not count as waiting, not even while it waits for a retry.
        const worker = backend.worker(TRANSFORM_QUEUE, async () => Promise.reject(new Error('again')), { concurrency: 1 });
        const taken = new Promise((resolve) => worker.once('failed', resolve));
        worker.run().catch(() => undefined);
        expect(await taken).toMatchObject({ id: first });
        await worker.close();
        const { oldestSeconds } = await backlogOf(backend);
        expect(oldestSeconds).toBeLessThan((Date.now() - submitted) / 1000 - 0.5);

        const api = await startFakeApi({ DATA_DIR: directory.path }, { runs, queues: backend });
        const { body } = await ask(`${api.url}/metrics`);
        await api.close();
        expect(body).toMatch(/^rml_queue_oldest_seconds \d/m);
        expect(body).toMatch(/^rml_queue_slices\{state="waiting"\} 1$/m);
        expect(body).toMatch(/^rml_disk_free_bytes\{directory="spill"\} [1-9]/m);
        expect(body).toMatch(/^rml_disk_free_bytes\{directory="output"\} [1-9]/m);
      } finally {
        await runs.close();
        await backend.close();
        await server.stop(prefix);
        await directory.remove();
      }
    },
    60_000,
  );
});

test('space in an object store is not measured', async () => {
  const api = await startFakeApi({ OUTPUT_DIR_URL: 's3://bucket/output' });
  const { body } = await ask(`${api.url}/metrics`);
  await api.close();
  expect(body).toMatch(/directory="spill"/);
  expect(body).not.toMatch(/directory="output"/);
});
