/** The lock of a job that a worker takes again while it still works on an earlier attempt, on every available queue. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/closing.ts';
import { openQueue, QUEUES, type TestQueue, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';

const QUEUE = 'transform-semi-structured';
const LOCK_MS = 2_000;
const { closes } = closeAfterEach();

/** A worker that loses the lock of a job and takes it again; `ends` has the ends of its attempts, which go on until they are called. */
async function takenTwice({ start }: TestQueue) {
  const server = await start();
  const directory = await temporaryDirectory();
  closes(() => directory.remove());
  const prefix = uniquePrefix();
  closes(() => server.stop(prefix));
  const backend = await openQueue(server.url, directory.path, prefix);
  closes(() => backend.close());
  const ends: ((result: string) => void)[] = [];
  closes(() => {
    for (const end of ends) end('closed');
  });
  const begun = new EventEmitter();
  const process = (): Promise<string> =>
    new Promise((resolve) => {
      ends.push(resolve);
      begun.emit(String(ends.length));
    });
  const [first, second] = [once(begun, '1'), once(begun, '2')];
  const worker = backend.worker<object, string>(QUEUE, process, { concurrency: 2, lockDuration: LOCK_MS, stalledInterval: 1_000 });
  const stalled: string[] = [];
  worker.on('stalled', (id) => stalled.push(id));
  const told = once(worker, 'stalled');
  void worker.run();
  const { id } = await backend.queue(QUEUE).add('job', {});
  await first;
  // As if the process had slept: its lock is not renewed any more.
  (worker as unknown as { lockManager: { untrackJob(id: string): void } }).lockManager.untrackJob(id as string);
  // The job is free before the worker that found it tells so: the second attempt may begin before that.
  await Promise.all([second, told]);
  return { backend, worker, ends, stalled, id: id as string };
}

describe.each(QUEUES)('$name', (queue) => {
  (queue.missing === undefined ? test : test.skip)('the later attempt keeps its lock when the earlier one ends', async () => {
    const { worker, ends, stalled, id } = await takenTwice(queue);
    expect(stalled).toEqual([id]);
    ends[0]?.('earlier');
    await sleep(3 * LOCK_MS);
    expect(stalled).toEqual([id]);
    expect(ends).toHaveLength(2);
    const completed = once(worker, 'completed');
    ends[1]?.('later');
    expect((await completed)[1]).toBe('later');
  });

  (queue.missing === undefined ? test : test.skip)(
    'no lock is renewed after the later attempt, though the earlier one goes on',
    async () => {
      const { worker, ends, id } = await takenTwice(queue);
      const failed: string[] = [];
      worker.on('lockRenewalFailed', (ids) => failed.push(...ids));
      const completed = once(worker, 'completed');
      ends[1]?.('later');
      expect((await completed)[0].id).toBe(id);
      await sleep(2 * LOCK_MS);
      expect(failed).toEqual([]);
      ends[0]?.('earlier');
    },
  );
});
