/** The end of a run (`workers/jobs/run-end.ts`): stored before its consequences, which are repeated and never contradicted. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Job, UnrecoverableError } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type Outcome, type RunPayload, SERVICE_QUEUES, type StoredEnd } from '../../queues/jobs.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { openConfig } from '../../src/config/store.ts';
import { Fault } from '../../src/core/fault.ts';
import { type Logger, METRICS, quietLogger } from '../../src/core/telemetry/observe.ts';
import { startWorkers } from '../../workers/host.ts';
import { type PublishOutcome, RunEnd } from '../../workers/jobs/run-end.ts';
import { closeAfterEach } from '../support/closing.ts';
import { built } from '../support/project-root.ts';
import { openQueue, uniquePrefix } from '../support/queues/backends.ts';
import { tinyRun } from '../support/queues/requests.ts';

const { work: WORK_QUEUE, cancel: CANCEL_QUEUE } = SERVICE_QUEUES['semi-structured-transformer'];
const ENGINE = built('test/support/queues/engine.js').href;

const { closes, directory: directoryForTest } = closeAfterEach();

interface Opened {
  readonly directory: string;
  readonly backend: QueueBackend;
  readonly runs: Awaited<ReturnType<typeof openRuns>>;
  /** Lines of the log, by message. */
  readonly said: readonly string[];
  readonly logger: Logger;
  /** Starts a worker that takes one run at a time. */
  work(publish?: PublishOutcome): Promise<void>;
}

async function open(): Promise<Opened> {
  const directory = await directoryForTest();
  const backend = await openQueue('embedded:', directory, uniquePrefix());
  closes(() => backend.close());
  const runs = await openRuns(backend);
  closes(() => runs.close());
  const said: string[] = [];
  const say = (_: unknown, message: string): void => void said.push(message);
  const logger = Object.assign(quietLogger(), { debug: say, info: say, warn: say, error: say }) as Logger;
  return {
    directory,
    backend,
    runs,
    said,
    logger,
    async work(publish) {
      const config = await openConfig({ DATA_DIR: directory, WORKER_CONCURRENCY: 1, LOCK_SECONDS: 2, STALLED_SECONDS: 1 });
      const workers = await startWorkers(backend, config, logger, { engine: ENGINE, services: ['semi-structured-transformer'], publish });
      closes(async () => {
        await workers.drain(0);
        config.close();
      });
    },
  };
}

const files = async (directory: string): Promise<readonly string[]> => readdir(join(directory, 'output')).catch(() => []);

describe('what follows the end of a run', () => {
  test('is retried without mapping again, and the run is shown as running meanwhile', async () => {
    const { directory, runs, said, work } = await open();
    const told: Outcome[] = [];
    let calls = 0;
    await work({
      has: () => true,
      async add(_, outcome) {
        if (++calls < 3) throw new Fault('service/unavailable', 'the outbox is away');
        told.push(outcome);
      },
    });
    const { id } = await runs.submit(tinyRun(directory), {});
    const states = new Set<string | undefined>();
    let outcome: Outcome | undefined;
    while (outcome === undefined) {
      outcome = await runs.outcome(id, 200);
      if (outcome === undefined && calls > 0) states.add((await runs.get(id))?.state);
    }
    expect([...states].filter((state) => state !== 'completed')).toEqual(['running']);
    expect(outcome).toMatchObject({ state: 'completed', report: { runId: id } });
    expect(told).toEqual([outcome]);
    expect(said.filter((line) => line === 'run started')).toHaveLength(1);
    expect(said.filter((line) => line === 'end of a run retried')).toHaveLength(2);
    expect(said.filter((line) => line === 'run completed')).toHaveLength(1);
  }, 60_000);

  test.each<[string, string, Omit<StoredEnd, 'at' | 'failures'>, object]>([
    ['a fault, of a run that would complete now', 'ok', { fault: new Fault('record/limit', 'too many').toJSON() }, { state: 'failed' }],
    ['a cancellation', 'ok', { fault: new Fault('run/cancelled', 'The run was cancelled').toJSON() }, { state: 'cancelled' }],
  ])(
    'goes on from %s, which an earlier worker has stored',
    async (_, act, end, expected) => {
      const { directory, backend, runs, said, work } = await open();
      const { id } = await runs.submit(tinyRun(directory, act), {});
      expect(await backend.jobChanges.amend(WORK_QUEUE, id, { ended: { at: 1, failures: 0, ...end } })).toBe(true);
      const told: Outcome[] = [];
      await work({ has: () => true, add: async (_, outcome) => void told.push(outcome) });
      const outcome = await runs.outcome(id, 25_000);
      expect(outcome).toMatchObject(expected);
      expect(told).toEqual([outcome]);
      expect(said).not.toContain('run started');
      expect(await files(directory)).toEqual([]);
    },
    60_000,
  );

  test.each([
    ['took it without saying so', true],
    ['did not take it', false],
  ])(
    'has one line where the connection broke and the queue %s',
    async (_, took) => {
      const { directory, backend, runs, said, work } = await open();
      const queue = backend.queue<RunPayload, Outcome>(WORK_QUEUE);
      let taken = false;
      await work({
        has: () => true,
        // In place of an answer that is lost: what the worker does next is refused, since it does not hold the job any more.
        async add({ runId }, outcome) {
          if (taken) return;
          taken = true;
          const job = (await queue.getJob(runId)) as Job<RunPayload, Outcome>;
          if (took) await job.moveToCompleted(outcome, '0', false);
          else await job.moveToWait('0');
        },
      });
      const { id } = await runs.submit(tinyRun(directory), {});
      expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
      // Where the worker had to take the job again, the line is that of the second end.
      while (!said.includes('run completed')) await new Promise((resolve) => setTimeout(resolve, 20));
      await queue.getJob(id);
      expect(said.filter((line) => line === 'run completed')).toHaveLength(1);
      expect((await queue.getJob(id))?.attemptsStarted).toBe(took ? 1 : 2);
    },
    60_000,
  );

  test('is reported when a queue that was away says that it has it, and not when another one took the run over', async () => {
    const { directory, backend, runs, said, logger } = await open();
    let refusals = 2;
    const queue = ((name: string) => {
      const real = backend.queue<RunPayload, Outcome>(name);
      const getJob = async (id: string) => (refusals-- > 0 ? Promise.reject(new Error('the queue is away')) : real.getJob(id));
      return { getJob };
    }) as unknown as QueueBackend['queue'];
    const none = async (): Promise<undefined> => undefined;
    const hooks = {
      recordProvenance: none,
      publish: undefined,
      cleanUp: none,
      deleteSources: none,
      noteTarget: async () => undefined,
      leave: none,
    };
    const end = new RunEnd({ jobChanges: backend.jobChanges, queue }, hooks, logger);
    const fault = new Fault('run/cancelled', 'The run was cancelled');
    const cancelled = async (isOurs: boolean): Promise<void> => {
      const { id } = await runs.submit(tinyRun(directory), {});
      await backend.jobChanges.take(WORK_QUEUE, id, 'mine', 30_000);
      const job = (await backend.queue<RunPayload, Outcome>(WORK_QUEUE).getJob(id)) as Job<RunPayload, Outcome>;
      const thrown = await end.process(job, 'mine', { fault }).catch((error: Error) => error);
      if (!isOurs) job.stalledCounter++;
      await job.moveToFailed(thrown as UnrecoverableError, 'mine');
      end.afterwards(job);
    };
    await cancelled(true);
    await cancelled(false);
    await end.close(20_000);
    expect(said.filter((line) => line === 'run cancelled')).toHaveLength(1);
    expect(refusals).toBeLessThan(0);
  }, 60_000);

  test('does not happen for a holder that has lost the run', async () => {
    const { directory, backend, runs, work } = await open();
    const told: string[] = [];
    await work({ has: () => true, add: async ({ runId }) => void told.push(runId) });
    const { id } = await runs.submit(tinyRun(directory, 'slow=1500'), {});
    while ((await runs.get(id))?.state !== 'running') await new Promise((resolve) => setTimeout(resolve, 20));
    // As if another worker had taken it and ended it.
    const job = await backend.queue(WORK_QUEUE).getJob(id);
    await job?.moveToFailed(new UnrecoverableError('ended elsewhere'), '0');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(told).toEqual([]);
    expect((await files(directory)).filter((name) => !name.startsWith('.'))).toEqual([]);
  }, 60_000);
});

describe('a waiting run that is cancelled', () => {
  test('ends while all places are busy, once, with its message, its line and its count', async () => {
    const { directory, backend, runs, said, work } = await open();
    const told: Outcome[] = [];
    await work({ has: () => true, add: async (_, outcome) => void told.push(outcome) });
    const busy = await runs.submit(tinyRun(directory, 'slow=60000'), {});
    while ((await runs.get(busy.id))?.state !== 'running') await new Promise((resolve) => setTimeout(resolve, 20));
    const counted = async (): Promise<number> =>
      (await METRICS.runs.get()).values.find(({ labels }) => labels.state === 'cancelled')?.value ?? 0;
    const before = await counted();
    const { id } = await runs.submit(tinyRun(directory), {});
    const views = await Promise.all([runs.cancel(id), runs.cancel(id)]);
    const outcome = await runs.outcome(id, 25_000);
    expect(outcome).toMatchObject({ state: 'cancelled', failure: { runId: id, code: 'run/cancelled' } });
    expect(views.map((view) => view?.id)).toEqual([id, id]);
    expect(await runs.get(id)).toMatchObject({ state: 'cancelled', attempts: 0, outcome });
    expect(told).toEqual([outcome]);
    expect(said.filter((line) => line === 'run cancelled')).toHaveLength(1);
    expect((await counted()) - before).toBe(1);
    expect(await backend.queue(CANCEL_QUEUE).getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    await runs.cancel(busy.id);
  }, 60_000);
});
