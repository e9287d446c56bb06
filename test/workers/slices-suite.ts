/** Sliced runs: each slice is a job of the slice queue, and the transform job waits for all of them. */

import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type Outcome, SERVICE_QUEUES, type SlicePayload, type SuccessReport, type TransformRequest } from '../../queues/jobs.ts';
import type { Runs } from '../../queues/runs/contract.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import type { OptionValues } from '../../src/config/options/options.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { type ConfigStore, openConfig } from '../../src/config/store.ts';
import { Secret } from '../../src/core/secret.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { startWorkers, type Workers } from '../../workers/host.ts';
import { fastest } from '../support/fastest.ts';
import { built } from '../support/project-root.ts';
import { openQueue, type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { casesFor, type Extent } from '../support/queues/describe.ts';
import { workerProcesses } from '../support/queues/worker-processes.ts';

const { slice: SLICE_QUEUE, work: TRANSFORM_QUEUE } = SERVICE_QUEUES['sql-transformer'];

const ENGINE = built('test/support/queues/engine.js').href;
const PASSWORD = 'hunter2-of-the-database';
const logger = quietLogger();

export function slicesSuite(queue: TestQueue, extent: Extent): void {
  const { onOne, onOthers } = casesFor(queue, extent);
  const prefix = uniquePrefix();
  let server: TestServer;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let backend: QueueBackend;
  let config: ConfigStore;
  let runs: Runs & { close(): Promise<void> };

  /** A run of `count` slices; `acts` says what each of them does. */
  const request = (count: number, acts: Readonly<Record<string, string>> = {}, more: Partial<TransformRequest> = {}): TransformRequest => ({
    service: 'sql-transformer',
    inputs: [{ name: undefined, url: `slices=${count}` }, ...Object.entries(acts).map(([name, url]) => ({ name, url }))],
    mappings: ['file:///mapping.ttl'],
    run: { ...RUN_DEFAULTS, memoryBudgetBytes: 1e6, maxRecordBytes: 1e6 },
    sliceRows: 100,
    output: { directory: join(directory.path, 'output'), format: 'nquads' },
    ...more,
  });
  const submit = async (given: TransformRequest): Promise<string> => (await runs.submit(given, {})).id;
  const completed = async (id: string, waitMs = 25_000): Promise<SuccessReport> => {
    const outcome = (await runs.outcome(id, waitMs)) as Extract<Outcome, { state: 'completed' }>;
    expect(outcome).toMatchObject({ state: 'completed' });
    return outcome.report as SuccessReport;
  };
  const texts = (report: SuccessReport): Promise<readonly string[]> =>
    Promise.all(report.outputFileLocations.map((url) => readFile(fileURLToPath(url), 'utf8')));
  const slicesOf = (id: string, indices: readonly number[]): readonly string[] => indices.map((i) => `<urn:${id}> <urn:slice> "${i}" .\n`);
  const filesOf = async (id: string): Promise<readonly string[]> =>
    (await readdir(join(directory.path, 'output')).catch(() => [])).filter((name) => name.includes(id)).sort();
  const partsOf = (id: string, count: number): readonly string[] =>
    ['manifest.json', 'nq']
      .map((end) => `SQL-Transformer-${id}.${end}`)
      .concat(Array.from({ length: count - 1 }, (_, i) => `SQL-Transformer-${id}-${i + 2}.nq`))
      .sort();
  const spills = async (id: string): Promise<readonly string[]> =>
    (await readdir(join(directory.path, 'spill')).catch(() => [])).filter((name) => name.startsWith(`SQL-Transformer-${id}`));
  const sliceJobs = async (id: string) => {
    const jobs = await backend
      .queue<SlicePayload>(SLICE_QUEUE)
      .getJobs(['waiting', 'active', 'delayed', 'completed', 'failed', 'prioritized']);
    return jobs.filter((job) => job?.data?.runId === id);
  };
  const until = async (what: string, done: () => Promise<boolean>, waitMs = 20_000): Promise<void> => {
    for (const deadline = Date.now() + waitMs; !(await done()); await sleep(25)) {
      if (Date.now() > deadline) throw new Error(`${what} did not come true`);
    }
  };
  /** A number of slices that a worker has taken. */
  const taken = (id: string, count: number) =>
    until(
      `${count} slices being mapped`,
      async () => (await sliceJobs(id)).filter((job) => job.processedOn !== undefined && job.finishedOn === undefined).length >= count,
    );
  const nothingLeft = async (id: string): Promise<void> => {
    await until('no slice left', async () => (await sliceJobs(id)).every((job) => job.finishedOn !== undefined));
    expect(await filesOf(id)).toEqual([]);
    expect(await spills(id)).toEqual([]);
  };

  const options: OptionValues = { LOCK_SECONDS: 2, STALLED_SECONDS: 1, WORKER_CONCURRENCY: 2 };

  const here = (): OptionValues => ({
    DATA_DIR: directory.path,
    JDBC_URL: 'jdbc:postgresql://host/db',
    DB_USER: 'u',
    DB_PASSWORD: new Secret(PASSWORD),
  });

  beforeAll(async () => {
    server = await queue.start();
    directory = await temporaryDirectory();
    backend = await openQueue(server.url, directory.path, prefix, logger);
    config = await openConfig({ ...options, ...here() }, backend.settings);
    runs = await openRuns(backend, { retryMs: 50 });
  });

  afterAll(async () => {
    await runs?.close();
    config?.close();
    await backend?.close();
    await server?.stop(prefix);
    await directory?.remove();
  });

  describe('with workers in this process', () => {
    let workers: Workers;
    beforeAll(async () => {
      workers = await startWorkers(backend, config, logger, { engine: ENGINE });
    });
    afterAll(() => workers?.drain(0));

    onOne('publishes the parts of all slices in their order, and one manifest, and removes the jobs', async () => {
      // The first slices end last.
      const id = await submit(request(5, { 0: 'slow=900', 1: 'slow=500' }));
      const report = await completed(id);
      expect(await texts(report)).toEqual(slicesOf(id, [0, 1, 2, 3, 4]));
      expect(report).toMatchObject({ successfulIterations: 5, records: 5, quads: 5, mappingFiles: ['file:///mapping.ttl'] });
      expect(await filesOf(id)).toEqual(partsOf(id, 5));
      const manifest = JSON.parse(await readFile(join(directory.path, 'output', `SQL-Transformer-${id}.manifest.json`), 'utf8'));
      expect(manifest).toMatchObject({ runId: id, quads: 5, records: 5 });
      expect(manifest.parts.map(({ url }: { url: string }) => url)).toEqual(report.outputFileLocations);
      await until('no job left', async () => (await sliceJobs(id)).length === 0);
      expect(await spills(id)).toEqual([]);
    });

    onOne('ends within half a second of its last slice', async () => {
      const delayMs = async (): Promise<number> => {
        const id = await submit(request(3, { 1: 'slow=400' }));
        await taken(id, 1);
        let last = 0;
        const watching = until('the last slice ended', async () => {
          const jobs = await sliceJobs(id);
          const ends = jobs.map((job) => job.finishedOn ?? 0);
          if (ends.every((end) => end > 0)) last = Math.max(last, ...ends);
          return last > 0 || jobs.length === 0;
        });
        await completed(id);
        const ended = Date.now();
        await watching;
        // The jobs may be removed before they were read.
        return last > 0 ? ended - last : Number.POSITIVE_INFINITY;
      };
      expect(await fastest(500, delayMs, 10)).toBeLessThan(500);
    });

    onOne('numbers the parts through all slices, and leaves out those without a statement', async () => {
      const id = await submit(request(4, { 0: 'empty', 1: 'parts=3', 2: 'empty' }));
      const report = await completed(id);
      expect((await texts(report)).join('')).toBe(
        [slicesOf(id, [1])[0], '<urn:part> <urn:p> "2" .\n', '<urn:part> <urn:p> "3" .\n', slicesOf(id, [3])[0]].join(''),
      );
      expect(await filesOf(id)).toEqual(partsOf(id, 4));
    });

    onOne('makes one part when no slice has a statement', async () => {
      const id = await submit(request(2, { 0: 'empty', 1: 'empty' }));
      expect(await texts(await completed(id))).toEqual(['']);
      expect(await filesOf(id)).toEqual(partsOf(id, 1));
    });

    onOne.each<[string, Partial<TransformRequest>]>([
      ['when slicing is switched off', { sliceRows: 0 }],
      ['that the engine finds too small to slice', { sliceRows: 1_000_000 }],
      ['of another service', { service: 'semi-structured-transformer' }],
    ])('maps a run %s in one piece', async (_, more) => {
      const id = await submit(request(5, {}, more));
      const report = await completed(id);
      expect(await texts(report)).toEqual([`<urn:${id}> <urn:p> <urn:o> .\n`]);
      if (more.service === undefined) expect(report.successfulIterations).toBe(1);
      expect(await sliceJobs(id)).toEqual([]);
    });

    onOne(
      'lets more runs wait for slices than it maps at the same time',
      async () => {
        const ids = await Promise.all(Array.from({ length: 5 }, () => submit(request(3, { 1: 'slow=100' }))));
        for (const id of ids) expect((await texts(await completed(id, 25_000))).length).toBe(3);
      },
      40_000,
    );

    onOne(
      'waits for more slices than it polls at once',
      async () => {
        const id = await submit(request(70));
        const report = await completed(id, 25_000);
        expect(await texts(report)).toEqual(
          slicesOf(
            id,
            Array.from({ length: 70 }, (_, i) => i),
          ),
        );
      },
      40_000,
    );

    onOne('shows the progress of all slices as one', async () => {
      const id = await submit(request(2, { 0: 'slow=2500', 1: 'slow=2500' }));
      await until('a sum', async () => (await runs.get(id))?.progress?.records === 2);
      await runs.cancel(id);
      expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'cancelled' });
    });

    onOne('cancels all slices with the run, waiting ones too, and nothing of it is left', async () => {
      const id = await submit(request(9, { 2: 'slow=60000', 4: 'slow=60000' }));
      await taken(id, 2);
      await runs.cancel(id);
      // Its slices would take a minute.
      expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'cancelled', failure: { code: 'run/cancelled' } });
      await nothingLeft(id);
    });

    onOne('fails with the fault of a slice that fails for good, and stops the others', async () => {
      const id = await submit(request(6, { 1: 'slow=60000', 2: 'fault=record/term' }));
      expect(await runs.outcome(id, 20_000)).toMatchObject({
        state: 'failed',
        failure: { code: 'record/term', error: expect.stringContaining('it failed with record/term') },
      });
      expect(await runs.get(id)).toMatchObject({ attempts: 1 });
      await nothingLeft(id);
    });

    onOne('retries a slice with a transient error, and no other', async () => {
      const id = await submit(request(3, { 1: 'flaky=3' }));
      expect(await texts(await completed(id))).toEqual(slicesOf(id, [0, 1, 2]));
      expect(await runs.get(id)).toMatchObject({ attempts: 1 });
      expect(await filesOf(id)).toEqual(partsOf(id, 3));
    });

    onOne('tries the run again when a slice was tried often enough, and gives up in the end', async () => {
      const id = await submit(request(3, { 1: 'flaky=99' }));
      expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'failed', failure: { code: 'source/unreadable' } });
      expect(await runs.get(id)).toMatchObject({ attempts: 3 });
      await nothingLeft(id);
    });

    onOne('fails as any run when it cannot be cut', async () => {
      const id = await submit(request(3, { cut: 'fault=database/credentials' }));
      expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'failed', failure: { code: 'database/credentials' } });
      await nothingLeft(id);
    });

    onOne('puts the rejected records of all slices into one file, in their order', async () => {
      const quarantine = { run: { ...request(1).run, onError: 'quarantine' as const, maxRejected: 5 } };
      const id = await submit(request(4, { 0: 'slow=300&reject=2', 3: 'reject=3' }, quarantine));
      const report = await completed(id);
      expect(report.rejectedRecords).toBe(5);
      expect(report.warnings).toContainEqual('5 records were rejected: record 0 is bad; record 1 is bad; record 0 is bad; …');
      const file = `SQL-Transformer-${id}.rejected.ndjson`;
      const lines = (await readFile(join(directory.path, 'output', file), 'utf8')).trim().split('\n');
      expect(lines.map((line) => JSON.parse(line).place.record)).toEqual([0, 1, 0, 1, 2]);
      expect(await filesOf(id)).toEqual([...partsOf(id, 4), file].sort());
    });

    onOne('fails when its slices together reject more records than it allows', async () => {
      const limited = { run: { ...request(1).run, onError: 'quarantine' as const, maxRejected: 4 } };
      const id = await submit(request(4, { 0: 'reject=2', 1: 'slow=60000', 3: 'reject=3' }, limited));
      expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'failed', failure: { code: 'record/limit' } });
      await nothingLeft(id);
    });

    onOne('leaves slices of an attempt that is over alone', async () => {
      const slices = backend.queue<SlicePayload>(SLICE_QUEUE);
      const id = await submit(request(1, { 0: 'slow=60000' }));
      await taken(id, 1);
      const [own] = await sliceJobs(id);
      const late = await slices.add('slice', { ...(own?.data as SlicePayload), attempt: 0 }, { jobId: `${id}-late` });
      await until('the late slice ended', async () => (await slices.getJob(late.id as string))?.failedReason !== undefined);
      expect((await slices.getJob(late.id as string))?.failedReason).toContain('has ended');
      await runs.cancel(id);
      expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'cancelled' });
    });

    onOne('keeps the password of the database out of every job', async () => {
      const id = await submit(request(2, { 0: 'slow=60000' }));
      await taken(id, 1);
      const jobs = [await backend.queue(TRANSFORM_QUEUE).getJob(id), ...(await sliceJobs(id))];
      expect(jobs.length).toBeGreaterThan(1);
      for (const job of jobs) expect(JSON.stringify(job?.asJSON())).not.toContain(PASSWORD);
      await runs.cancel(id);
    });
  });

  onOne(
    'five small runs do not wait for two sliced ones that find the disk full, on a worker with a concurrency of one',
    async () => {
      const full = { 0: 'fault=sink/failed', 1: 'fault=sink/failed', 2: 'fault=sink/failed', 3: 'fault=sink/failed' };
      const patient = await openRuns(backend, { attempts: 10, retryMs: 1_000 });
      const alone = await openConfig({ ...options, ...here(), WORKER_CONCURRENCY: 1 }, backend.settings);
      const ask = async (given: TransformRequest): Promise<string> => (await patient.submit(given, {})).id;
      const sliced = [await ask(request(4, full)), await ask(request(4, full))];
      const workers = await startWorkers(backend, alone, logger, { engine: ENGINE });
      await taken(sliced[0] as string, 1);
      const tiny = await Promise.all(Array.from({ length: 5 }, () => ask(request(1, {}, { sliceRows: 0 }))));
      for (const id of tiny) await completed(id, 25_000);
      // The sliced runs are retried for minutes.
      for (const id of sliced) expect((await runs.get(id))?.outcome).toBeUndefined();
      await until('both wait for a retry', async () => {
        const states = await Promise.all(sliced.map(async (id) => (await runs.get(id))?.state));
        return states.every((state) => state === 'retrying');
      });
      for (const id of sliced) await patient.cancel(id);
      for (const id of sliced) expect(await patient.outcome(id, 10_000)).toMatchObject({ state: 'cancelled' });
      await workers.drain(0);
      await patient.close();
      alone.close();
    },
    60_000,
  );

  onOne(
    'is requeued with its slices when the worker is stopped, and completed by the next',
    async () => {
      const first = await startWorkers(backend, config, logger, { engine: ENGINE });
      const id = await submit(request(3, { 1: 'slow=1500' }));
      await taken(id, 1);
      await first.drain(0);
      expect(await runs.get(id)).toMatchObject({ state: 'retrying' });
      expect(await filesOf(id)).toEqual([]);
      const second = await startWorkers(backend, config, logger, { engine: ENGINE });
      expect(await texts(await completed(id))).toEqual(slicesOf(id, [0, 1, 2]));
      expect(await filesOf(id)).toEqual(partsOf(id, 3));
      await second.drain(0);
    },
    40_000,
  );

  if (queue.name === 'embedded') return;

  describe('with workers in other processes', () => {
    const processes = workerProcesses(() => [server.url, prefix, directory.path]);
    /** Processes that had ended before this test. */
    let endedEarlier = 0;
    const mappers = (report: SuccessReport): readonly string[] => report.warnings.filter((warning) => warning.includes('by the process'));

    beforeEach(async () => {
      await Promise.all(Array.from({ length: 2 - processes.alive().length }, () => processes.start()));
      endedEarlier = processes.all.length - 2;
    });
    afterAll(() => processes.kill());

    onOne('shares a run between two processes', async () => {
      const id = await submit(request(5, { 0: 'slow=500', 1: 'slow=500', 2: 'slow=500', 3: 'slow=500' }));
      const report = await completed(id);
      expect(await texts(report)).toEqual(slicesOf(id, [0, 1, 2, 3, 4]));
      expect(mappers(report)).toHaveLength(2);
      expect(await filesOf(id)).toEqual(partsOf(id, 5));
    });

    onOthers.each([
      ['a process that maps slices', { 0: 'dieaway=100&slow=500', 1: 'dieaway=100&slow=500', 2: 'dieaway=100&slow=500' }],
      ['the process that waits for the slices', { cut: 'dieonce=700', 0: 'slow=500', 3: 'slow=1500', 4: 'slow=1500' }],
    ])(
      'completes when %s is killed, with each slice once',
      async (_, acts) => {
        const id = await submit(request(8, { 1: 'slow=500', 2: 'slow=500', ...acts }));
        const report = await completed(id, 40_000);
        expect(processes.alive()).toHaveLength(1);
        expect(await texts(report)).toEqual(slicesOf(id, [0, 1, 2, 3, 4, 5, 6, 7]));
        await until('no temporary file is left', async () => (await filesOf(id)).every((name) => !name.startsWith('.')));
        expect(await filesOf(id)).toEqual(partsOf(id, 8));
      },
      60_000,
    );

    onOthers(
      'fails when a slice kills every worker that starts it',
      async () => {
        const id = await submit(request(3, { 1: 'die' }));
        let outcome: Outcome | undefined;
        for (const deadline = Date.now() + 60_000; outcome === undefined && Date.now() < deadline; ) {
          outcome = await runs.outcome(id, 250);
          if (processes.alive().length < 2) await processes.start();
        }
        expect(outcome).toMatchObject({ state: 'failed', failure: { code: 'run/killed' } });
        // If the slice kills the process that waits for it, the run begins again: both starts are counted.
        expect(processes.all.length - processes.alive().length - endedEarlier).toBeLessThanOrEqual(4);
        await nothingLeft(id);
      },
      90_000,
    );

    onOthers(
      'ignores the result of a process that was suspended during a slice',
      async () => {
        const id = await submit(request(6, { 0: 'slow=1500', 1: 'slow=1500', 2: 'slow=1500', 3: 'slow=1500' }));
        await taken(id, 3);
        const [sleeper] = processes.alive() as [ChildProcess];
        sleeper.kill('SIGSTOP');
        const report = await completed(id, 40_000);
        sleeper.kill('SIGCONT');
        await sleep(1_500);
        expect(await texts(report)).toEqual(slicesOf(id, [0, 1, 2, 3, 4, 5]));
        expect(await filesOf(id)).toEqual(partsOf(id, 6));
        expect(processes.alive()).toContain(sleeper);
      },
      60_000,
    );
  });
}
