/** What is done to single jobs beside BullMQ (`queues/backend/jobs/changes.ts`), on every kind of queue, while BullMQ works on the same jobs. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Job, UnrecoverableError } from 'bullmq';
import type { QueueBackend } from '../../../queues/backend/backend.ts';
import { openQueue, QUEUES, type TestServer, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';

const QUEUE = 'changed';
const LOCK_MS = 30_000;
/** Of a job that was neither started nor lost before it was taken. */
const lock = (token: string) => ({ token, starts: 0, losses: 0 });
/** Text that looks like what is looked for. */
const TRAP = 'a "cancelled":true, b';

interface Data {
  readonly text: string;
  readonly cancelled?: boolean;
  readonly ended?: { readonly at: number };
  /** What a request brings along. */
  readonly options?: object;
}

describe.each(QUEUES)('over a queue of kind $name', ({ missing, start }) => {
  const prefix = uniquePrefix();
  let server: TestServer;
  let backend: QueueBackend;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let count = 0;

  beforeAll(async () => {
    if (missing !== undefined) return;
    directory = await temporaryDirectory();
    server = await start();
    backend = await openQueue(server.url, directory.path, prefix);
  }, 60_000);

  afterAll(async () => {
    if (missing !== undefined) return;
    await backend.close();
    await server.stop(prefix);
    await directory.remove();
  }, 30_000);

  const check = missing === undefined ? test : test.skip;
  const why = missing === undefined ? '' : ` (skipped: ${missing})`;
  const add = async (options: object = {}): Promise<string> => {
    const jobId = `job-${count++}`;
    await backend.queue<Data>(QUEUE).add('job', { text: TRAP }, { jobId, priority: 7, ...options });
    return jobId;
  };
  const jobOf = async (id: string): Promise<Job<Data>> => (await backend.queue<Data>(QUEUE).getJob(id)) as Job<Data>;

  check(`fields are added beside those that others add at the same moment${why}`, async () => {
    const { jobChanges } = backend;
    const id = await add();
    const done = await Promise.all([
      jobChanges.amend(QUEUE, id, { cancelled: true }),
      ...Array.from({ length: 9 }, (_, at) => jobChanges.amend(QUEUE, id, { ended: { at } })),
    ]);
    expect(done).toEqual(Array(10).fill(true));
    const { data } = await jobOf(id);
    expect(data).toEqual({ text: TRAP, cancelled: true, ended: { at: expect.any(Number) } });
    await jobChanges.amend(QUEUE, id, { ended: { at: 99 } });
    expect((await jobOf(id)).data.ended).toEqual({ at: 99 });
    expect(await jobChanges.amend(QUEUE, 'absent', { cancelled: true })).toBe(false);
  });

  check(`only the holder of the lock adds fields with its token${why}`, async () => {
    const { jobChanges } = backend;
    const id = await add();
    expect(await jobChanges.amend(QUEUE, id, { ended: { at: 1 } }, lock('mine'))).toBe(false);
    expect(await jobChanges.take(QUEUE, id, 'mine', LOCK_MS)).toBe(true);
    expect(await jobChanges.amend(QUEUE, id, { ended: { at: 2 } }, lock('other'))).toBe(false);
    expect((await jobOf(id)).data.ended).toBeUndefined();
    expect(await jobChanges.amend(QUEUE, id, { ended: { at: 3 } }, lock('mine'))).toBe(true);
    expect((await jobOf(id)).data).toEqual({ text: TRAP, ended: { at: 3 } });
    await (await jobOf(id)).moveToFailed(new UnrecoverableError('over'), 'mine');
    expect(await jobChanges.amend(QUEUE, id, { ended: { at: 4 } }, lock('mine'))).toBe(false);
  });

  check.each([
    ['its turn', {}],
    ['its turn, without a priority', { priority: 0 }],
    ['its next attempt', { delay: 3_600_000 }],
  ])(`a job that waits for %s is taken by one of many, who ends it${why}`, async (_, options) => {
    const { jobChanges } = backend;
    const id = await add(options);
    const tokens = ['a', 'b', 'c'];
    const taken = await Promise.all(tokens.map((token) => jobChanges.take(QUEUE, id, token, LOCK_MS)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const job = await jobOf(id);
    expect([await job.getState(), job.attemptsStarted, job.processedOn]).toEqual(['active', 0, undefined]);
    const loser = tokens[taken.indexOf(false)] as string;
    await expect(job.moveToFailed(new UnrecoverableError('not mine'), loser)).rejects.toThrow();
    await job.moveToFailed(new UnrecoverableError('over'), tokens[taken.indexOf(true)] as string);
    const ended = await jobOf(id);
    expect([await ended.getState(), ended.failedReason]).toEqual(['failed', 'over']);
    expect(await jobChanges.take(QUEUE, id, 'd', LOCK_MS)).toBe(false);
  });

  check(`a lock is confirmed for its holder, who learns of a mark${why}`, async () => {
    const { jobChanges } = backend;
    const id = await add();
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('lost');
    await jobChanges.take(QUEUE, id, 'mine', LOCK_MS);
    expect(await jobChanges.confirm(QUEUE, id, lock('other'), LOCK_MS)).toBe('lost');
    // The text of the job says so, too, and is no mark.
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('held');
    await jobChanges.amend(QUEUE, id, { cancelled: true });
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('cancelled');
    await (await jobOf(id)).moveToFailed(new UnrecoverableError('over'), 'mine');
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('lost');
  });

  check(`a field of the name of the mark is none where it stands deeper, or says something else${why}`, async () => {
    const { jobChanges } = backend;
    const id = await add();
    await jobChanges.amend(QUEUE, id, { options: { cancelled: true, list: [{ cancelled: true }] } });
    await jobChanges.take(QUEUE, id, 'mine', LOCK_MS);
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('held');
    await jobChanges.amend(QUEUE, id, { cancelled: false });
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('held');
    await jobChanges.amend(QUEUE, id, { cancelled: true });
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('cancelled');
    await (await jobOf(id)).moveToFailed(new UnrecoverableError('over'), 'mine');
  });

  check(`a lock that has expired is held until the job is given to another one${why}`, async () => {
    const { jobChanges } = backend;
    const id = await add();
    await jobChanges.take(QUEUE, id, 'mine', 1);
    await sleep(20);
    expect(await jobChanges.amend(QUEUE, id, { ended: { at: 1 } }, lock('mine'))).toBe(true);
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), 1)).toBe('held');
    await sleep(20);
    const pause = { initialMs: 60_000, maxMs: 60_000 };
    const worker = backend.worker(QUEUE, async () => undefined, { stalledInterval: 100, stalledBackoff: pause, autorun: true });
    try {
      expect(await once(worker, 'stalled')).toEqual([id, 'active']);
    } finally {
      await worker.close();
    }
    expect(await jobChanges.amend(QUEUE, id, { ended: { at: 2 } }, lock('mine'))).toBe(false);
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('lost');
    expect(await jobChanges.take(QUEUE, id, 'other', 1)).toBe(true);
    await sleep(20);
    expect(await jobChanges.confirm(QUEUE, id, lock('mine'), LOCK_MS)).toBe('lost');
    expect(await jobChanges.confirm(QUEUE, id, { ...lock('other'), losses: 1 }, LOCK_MS)).toBe('held');
    await (await jobOf(id)).moveToFailed(new UnrecoverableError('over'), 'other');
    expect(await jobChanges.confirm(QUEUE, id, { ...lock('other'), losses: 1 }, LOCK_MS)).toBe('lost');
  });

  check(
    `a taken job whose holder has died is given to a worker${why}`,
    async () => {
      await backend.queue(QUEUE).drain(true);
      const id = await add();
      expect(await backend.jobChanges.take(QUEUE, id, 'dead', 200)).toBe(true);
      const worker = backend.worker<Data, string>(QUEUE, async (job) => `${job.id} again`, { stalledInterval: 500, lockDuration: LOCK_MS });
      try {
        const completed = new Promise((resolve) => worker.once('completed', ({ id: ended }, result) => resolve([ended, result])));
        worker.run().catch(() => undefined);
        expect(await completed).toEqual([id, `${id} again`]);
      } finally {
        await worker.close();
      }
    },
    30_000,
  );
});
