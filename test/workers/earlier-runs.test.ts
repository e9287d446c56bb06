/** Runs that an earlier version queued as flows of two jobs (`workers/jobs/earlier-runs.ts`), on every kind of queue. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FlowProducer, type Job, UnrecoverableError } from 'bullmq';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type Outcome, type RunPayload, SERVICE_QUEUES } from '../../queues/jobs.ts';
import { encodeFault } from '../../queues/runs/outcome.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { openConfig } from '../../src/config/store.ts';
import { Fault } from '../../src/core/fault.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { startWorkers } from '../../workers/host.ts';
import { ANNOUNCE_QUEUES } from '../../workers/jobs/earlier-runs.ts';
import { built } from '../support/project-root.ts';
import { openQueue, QUEUES, type TestServer, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { tinyRun } from '../support/queues/requests.ts';

const SERVICE = 'semi-structured-transformer';
const { work: WORK } = SERVICE_QUEUES[SERVICE];
const ANNOUNCE = ANNOUNCE_QUEUES[SERVICE];
const ENGINE = built('test/support/queues/engine.js').href;

const REPORT = {
  records: 2,
  quads: 2,
  rejected: 0,
  bytesRead: 9,
  bytesWritten: 9,
  seconds: 1,
  triplesMaps: [],
  warnings: [],
  mappings: [],
};
/** What a transform job of the earlier version came to. */
const RESULT = {
  report: REPORT,
  parts: [{ url: 'file:///out/run.nq', bytes: 9, sha256: '' }],
  manifest: 'file:///out/run.manifest.json',
  slices: 1,
  milliseconds: 5,
};

/** Ids as the service makes them. */
const [COMPLETED, FAILED, CANCELLED, LOST, WAITING] = ['c0', 'fa', 'ca', '10', '3a'].map((digits) => `r${digits.repeat(16)}`) as [
  string,
  string,
  string,
  string,
  string,
];

describe.each(QUEUES)('over a queue of kind $name', ({ name, missing, start }) => {
  const prefix = uniquePrefix();
  let server: TestServer;
  let backend: QueueBackend;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let runs: Awaited<ReturnType<typeof openRuns>>;

  beforeAll(async () => {
    if (missing !== undefined) return;
    directory = await temporaryDirectory();
    server = await start();
    backend = await openQueue(server.url, directory.path, prefix);
    runs = await openRuns(backend);
  }, 60_000);

  afterAll(async () => {
    if (missing !== undefined) return;
    await runs.close();
    await backend.close();
    await server.stop(prefix);
    await directory.remove();
  }, 30_000);

  const payload = (runId: string, more: object = {}): RunPayload =>
    ({ ...tinyRun(directory.path), runId, submittedAt: new Date().toISOString(), ...more }) as RunPayload;
  /** The work of a run that has ended, and the job that would have announced it. */
  async function ended(data: RunPayload, end: (job: Job<RunPayload, Outcome>) => Promise<unknown>): Promise<void> {
    const queue = backend.queue<RunPayload, Outcome>(WORK);
    await queue.add('transform', data, { jobId: data.runId, priority: 9 });
    await backend.jobChanges.take(WORK, data.runId, 'earlier', 30_000);
    await end((await queue.getJob(data.runId)) as Job<RunPayload, Outcome>);
    await backend.queue(ANNOUNCE).add('announce', data, { jobId: data.runId });
  }

  (missing === undefined ? test : test.skip)(
    `are ended, whatever had become of their work${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    async () => {
      await ended(payload(COMPLETED), (job) => job.moveToCompleted(RESULT as unknown as Outcome, 'earlier', false));
      const fault = new Fault('source/missing', 'There is no file');
      await ended(payload(FAILED), (job) => job.moveToFailed(new UnrecoverableError(encodeFault(fault)), 'earlier'));
      // The earlier version removed the work of a waiting run that was cancelled.
      await backend.queue(ANNOUNCE).add('announce', payload(CANCELLED, { cancelled: true }), { jobId: CANCELLED });
      await backend.queue(ANNOUNCE).add('announce', payload(LOST), { jobId: LOST });
      const waits = payload(WAITING);
      if (name === 'redis') {
        const flows = new FlowProducer({ connection: { url: server.url }, prefix });
        const opts = { jobId: WAITING };
        await flows.add({
          name: 'announce',
          queueName: ANNOUNCE,
          data: waits,
          opts,
          children: [{ name: 'transform', queueName: WORK, data: waits, opts: { ...opts, priority: 3, ignoreDependencyOnFailure: true } }],
        });
        await flows.close();
      }
      // Nobody takes the result of the earlier version for an outcome.
      expect(await runs.get(COMPLETED)).toMatchObject({ state: 'running' });

      const config = await openConfig({ DATA_DIR: directory.path, WORKER_CONCURRENCY: 1 });
      const workers = await startWorkers(backend, config, quietLogger(), { engine: ENGINE, services: [SERVICE] });
      try {
        const outcome = async (id: string): Promise<Outcome | undefined> => {
          // The work of a lost run is not there at first.
          for (;;) {
            const found = await runs.outcome(id, 1_000);
            if (found !== undefined) return found;
          }
        };
        expect(await outcome(COMPLETED)).toMatchObject({ state: 'completed', report: { runId: COMPLETED, quads: 2 } });
        expect(await outcome(FAILED)).toMatchObject({ state: 'failed', failure: { code: 'source/missing' } });
        expect(await outcome(CANCELLED)).toMatchObject({ state: 'cancelled' });
        expect(await outcome(LOST)).toMatchObject({ state: 'failed', failure: { code: 'run/lost', runId: LOST } });
        if (name === 'redis') expect(await outcome(WAITING)).toMatchObject({ state: 'completed', report: { runId: WAITING } });
        const left = async (): Promise<number> =>
          backend.queue(ANNOUNCE).getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized', 'waiting-children');
        while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
        expect(await backend.queue(ANNOUNCE).getFailedCount()).toBe(0);
      } finally {
        await workers.drain(0);
        config.close();
      }
    },
    90_000,
  );
});
