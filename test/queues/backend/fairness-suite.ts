/** Fair queueing (`queues/backend/fair-queueing.ts`) on every available queue, with real workers and a fake engine. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Worker } from 'bullmq';
import type { QueueBackend } from '../../../queues/backend/backend.ts';
import { bandOf, DEFAULT_URGENCY } from '../../../queues/backend/fair-queueing.ts';
import type { StalledBackoff } from '../../../queues/backend/jobs/stalled-jobs.ts';
import { SERVICE_QUEUES, type TransformRequest } from '../../../queues/jobs.ts';
import { openRuns } from '../../../queues/runs/runs.ts';
import { openConfig } from '../../../src/config/store.ts';
import { Secret } from '../../../src/core/secret.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { startWorkers } from '../../../workers/host.ts';
import { built } from '../../support/project-root.ts';
import { openQueue, type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { casesFor, type Extent } from '../../support/queues/describe.ts';
import { tinyRun } from '../../support/queues/requests.ts';

const { work: TRANSFORM_QUEUE } = SERVICE_QUEUES['semi-structured-transformer'];
const { slice: SLICE_QUEUE } = SERVICE_QUEUES['sql-transformer'];

const ENGINE = built('test/support/queues/engine.js').href;
const CALLER = fileURLToPath(built('test/support/queues/caller.js'));
/** The embedded queue handles a hundred runs a second on an idle machine; other tests may be running. */
const LIMIT_MS = 180_000;
const logger = quietLogger();

/** @param many runs that one caller has waiting */
export function fairnessSuite(queue: TestQueue, extent: Extent, many: number): void {
  const { onOne, onOthers } = casesFor(queue, extent);
  let server: TestServer;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let prefix: string;
  let backend: QueueBackend;
  let runs: Awaited<ReturnType<typeof openRuns>>;
  let closes: (() => Promise<unknown>)[];

  beforeEach(async () => {
    server = await queue.start();
    directory = await temporaryDirectory();
    prefix = uniquePrefix();
    closes = [];
  });
  afterEach(async () => {
    for (const close of closes.reverse()) await close();
    await server.stop(prefix);
    await directory.remove();
  });

  async function open(): Promise<void> {
    backend = await openQueue(server.url, directory.path, prefix, logger);
    closes.push(() => backend.close());
    runs = await openRuns(backend);
    closes.push(() => runs.close());
  }

  /**
   * Starts a worker with a concurrency of `places` for runs and slices; the returned list receives the id of each job taken. With a
   * concurrency of one the order is exact.
   */
  async function work(name: string, places = 1): Promise<readonly string[]> {
    const taken: string[] = [];
    const events = await backend.queueEvents(name);
    events.on('active', ({ jobId }) => taken.push(jobId));
    const database = { JDBC_URL: 'jdbc:postgresql://host/db', DB_USER: 'u', DB_PASSWORD: new Secret('p') };
    const config = await openConfig({ DATA_DIR: directory.path, WORKER_CONCURRENCY: places, ...database }, backend.settings);
    const workers = await startWorkers(backend, config, logger, { engine: ENGINE });
    closes.push(async () => {
      await workers.drain(2_000);
      config.close();
    });
    return taken;
  }

  const submit = async (caller: string, urgency?: number): Promise<string> =>
    (await runs.submit(tinyRun(directory.path), { caller, urgency })).id;
  const submitMany = async (caller: string, count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await submit(caller));
    return ids;
  };
  const outcomes = async (ids: readonly string[]): Promise<void> => {
    const ended = await Promise.all(ids.map((id) => runs.outcome(id, LIMIT_MS)));
    expect(ended.map((outcome) => outcome?.state)).toEqual(ids.map(() => 'completed'));
  };
  /** Events may arrive slightly after outcomes. */
  const untilTaken = async (taken: readonly string[], ids: readonly string[]): Promise<void> => {
    for (const deadline = Date.now() + LIMIT_MS; !ids.every((id) => taken.includes(id)); await sleep(25)) {
      if (Date.now() > deadline) throw new Error(`not all of ${ids.length} jobs were taken`);
    }
  };
  const inOrder = (taken: readonly string[], ids: readonly string[]): readonly string[] => taken.filter((id) => ids.includes(id));

  test(
    `ten runs do not wait behind ${many} of another caller, and those of one caller keep their order`,
    async () => {
      await open();
      const crowd = await submitMany('many', many);
      const few = await submitMany('few', 10);
      const taken = await work(TRANSFORM_QUEUE);
      await outcomes(few);
      await untilTaken(taken, few);
      // One run of each caller in rotation.
      expect(taken.indexOf(few.at(-1) as string)).toBeLessThanOrEqual(24);
      // While the queue is busy, a third caller starts at the current tag.
      const before = taken.length;
      const late = await submitMany('late', 3);
      await outcomes(late);
      await untilTaken(taken, late);
      const [soon, , last] = late.map((id) => taken.indexOf(id)) as [number, number, number];
      expect(soon - before).toBeLessThan(many / 4);
      expect(last - before).toBeLessThan(many / 2);
      expect(inOrder(taken, few)).toEqual(few);
      expect(inOrder(taken, late)).toEqual(late);
      expect(inOrder(taken, crowd)).toEqual(crowd.slice(0, taken.length - few.length - late.length));
    },
    LIMIT_MS,
  );

  onOne(
    'runs with a smaller urgency number go first, whichever caller submits them',
    async () => {
      await open();
      const ids = [await submit('a', 7), await submit('a'), await submit('a'), await submit('b', 3), await submit('a', 0)];
      const [background, first, second, other, urgent] = ids as [string, string, string, string, string];
      const taken = await work(TRANSFORM_QUEUE);
      await outcomes(ids);
      await untilTaken(taken, ids);
      expect(taken).toEqual([urgent, first, other, second, background]);
    },
    LIMIT_MS,
  );

  onOne('runs that a process submits at once to an empty queue have different priorities', async () => {
    await open();
    for (let batch = 0; batch < 3; batch++) await Promise.all(Array.from({ length: 10 }, () => submit('many')));
    const waiting = await backend.queue(TRANSFORM_QUEUE).getPrioritized();
    expect(new Set(waiting.map(({ priority }) => priority)).size).toBe(30);
  });

  test('a run that the queue has already takes no turn', async () => {
    await open();
    const { fairQueueing } = backend;
    const lane = bandOf(TRANSFORM_QUEUE, DEFAULT_URGENCY);
    const [id] = (await submitMany('many', 2)) as [string, string];
    for (let i = 0; i < 5; i++) expect(await fairQueueing.startTagOf(id, lane, 'many', 0)).toBeUndefined();
    expect(await fairQueueing.startTagOf('another', lane, 'many', 0)).toBeCloseTo(3, 2);
    expect(await fairQueueing.nextStartTag(lane, 'many')).toBeCloseTo(4, 2);
  });

  onOthers(
    'a caller whose process is killed while it submits keeps its order, and its tags restart when the queue is empty',
    async () => {
      const child = spawn(process.execPath, [CALLER, server.url, prefix, directory.path, 'many'], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      await open();
      const waiting = (await backend.queue(TRANSFORM_QUEUE).getPrioritized()).map(({ id }) => id as string);
      expect(waiting.length).toBeGreaterThanOrEqual(100);
      const lane = bandOf(TRANSFORM_QUEUE, DEFAULT_URGENCY);
      // Tags that were taken but not used, as by a process that died in between.
      for (let i = 0; i < 5; i++) await backend.fairQueueing.nextStartTag(lane, 'many');
      const [more, few] = [await submitMany('many', 5), await submitMany('few', 5)];
      const taken = await work(TRANSFORM_QUEUE);
      const all = [...waiting, ...more, ...few];
      await outcomes(all);
      await untilTaken(taken, all);
      expect(taken.indexOf(few.at(-1) as string)).toBeLessThanOrEqual(12);
      expect(inOrder(taken, more)).toEqual(more);
      expect(taken.slice(-5)).toEqual(more);
      expect(await backend.fairQueueing.nextStartTag(lane, 'many')).toBe(1);
      expect(await backend.fairQueueing.nextStartTag(lane, 'other')).toBe(1);
    },
    LIMIT_MS,
  );

  /** A worker that takes one job and never ends it, but still checks for stalled jobs. */
  async function loseNext(pause: StalledBackoff): Promise<{ readonly id: string; readonly worker: Worker }> {
    const dead = { skipLockRenewal: true, lockDuration: 100, stalledInterval: 200, stalledBackoff: pause };
    const worker = backend.worker(TRANSFORM_QUEUE, () => new Promise(() => undefined), dead);
    const active = once(worker, 'active');
    const stalled = once(worker, 'stalled');
    void worker.run();
    const [[job], [id]] = [await active, await stalled];
    expect(id).toBe(job.id);
    return { id, worker };
  }
  /** Until a stalled job may be taken again. */
  async function untilPrioritized(id: string): Promise<void> {
    const state = async () => (await backend.queue(TRANSFORM_QUEUE).getJob(id))?.getState();
    for (const deadline = Date.now() + 25_000; (await state()) !== 'prioritized'; await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`the job is ${await state()}`);
    }
  }
  /** Completes the next jobs, one after another. */
  async function takeNext(count: number): Promise<readonly string[]> {
    const worker = backend.worker(TRANSFORM_QUEUE, async () => undefined, {});
    const ids: string[] = [];
    while (ids.length < count) {
      const job = await worker.getNextJob('token', { block: false });
      if (job === undefined) throw new Error(`there are ${ids.length} jobs in place of ${count}`);
      ids.push(job.id as string);
      await job.moveToCompleted(undefined, 'token', false);
    }
    await worker.close(true);
    return ids;
  }

  onOthers('a run whose worker is lost repeatedly waits longer each time, and others are mapped meanwhile', async () => {
    await open();
    const [lost, ...others] = (await submitMany('a', 4)) as [string, ...string[]];
    const pause = { initialMs: 1_000, maxMs: 2_000 };
    const pauses: number[] = [];
    for (let losses = 1; losses <= 3; losses++) {
      // It is next each time: it has the lowest tag.
      const { id, worker } = await loseNext(pause);
      expect(id).toBe(lost);
      const job = await backend.queue(TRANSFORM_QUEUE).getJob(lost);
      expect(job?.stalledCounter).toBe(losses);
      expect(await job?.getState()).toBe('delayed');
      expect(await runs.get(lost)).toMatchObject({ state: 'retrying' });
      pauses.push(job?.delay as number);
      if (losses === 2) expect(await takeNext(2)).toEqual(others.slice(0, 2));
      // The worker is at full concurrency and asks for no job.
      await untilPrioritized(lost);
      await worker.close(true);
    }
    expect(pauses).toEqual([1_000, 2_000, 2_000]);
    expect(await takeNext(2)).toEqual([lost, others[2]]);
  });

  onOne('a retried run does not let a third caller overtake all waiting runs', async () => {
    await open();
    await submit('a');
    const many = await submitMany('many', 30);
    const { id: lost, worker } = await loseNext({ initialMs: 4_000, maxMs: 4_000 });
    expect(await takeNext(20)).toEqual(many.slice(0, 20));
    await submit('many');
    await untilPrioritized(lost);
    await worker.close(true);
    const few = await submitMany('few', 5);
    const left = await takeNext(1 + 10 + few.length);
    expect(left[0]).toBe(lost);
    // One run of each caller in rotation.
    for (const [i, id] of few.entries()) expect(left.indexOf(id)).toBeLessThanOrEqual(2 * i + 3);
    expect(left.slice(0, 8).filter((id) => few.includes(id)).length).toBeLessThanOrEqual(4);
  });

  onOne('a run that waits for a retry stays ahead of runs submitted later, although nothing waited in between', async () => {
    await open();
    const early = await submitMany('a', 20);
    expect(await takeNext(19)).toEqual(early.slice(0, 19));
    const { id, worker } = await loseNext({ initialMs: 50, maxMs: 50 });
    expect(id).toBe(early.at(-1));
    await submitMany('b', 3);
    await submitMany('a', 3);
    await untilPrioritized(id);
    await worker.close(true);
    // With the same tag as the first run of the other caller.
    expect((await takeNext(7)).indexOf(id)).toBeLessThanOrEqual(1);
  });

  onOne(
    'slices of a long run do not delay those of a later one',
    async () => {
      await open();
      const slices = (count: number): TransformRequest => ({
        ...tinyRun(directory.path, `slices=${count}`),
        service: 'sql-transformer',
        sliceRows: 1,
        inputs: [
          { name: undefined, url: `slices=${count}` },
          ...Array.from({ length: count }, (_, i) => ({ name: String(i), url: 'slow=40' })),
        ],
      });
      const taken = await work(SLICE_QUEUE, 2);
      const of = (run: string): readonly string[] => taken.filter((id) => id.startsWith(run));
      const { id: long } = await runs.submit(slices(60), { caller: 'a' });
      while (of(long).length < 6) await sleep(20);
      const { id: short } = await runs.submit(slices(6), { caller: 'b' });
      await outcomes([long, short]);
      await untilTaken(taken, []);
      expect(of(short)).toHaveLength(6);
      expect(new Set(of(long)).size).toBe(60);
      const from = taken.findIndex((id) => id.startsWith(short));
      const to = taken.findLastIndex((id) => id.startsWith(short));
      expect(to - from).toBeLessThanOrEqual(16);
      expect(to).toBeLessThan(50);
    },
    LIMIT_MS,
  );
}
