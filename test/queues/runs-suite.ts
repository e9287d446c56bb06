/** The contract of `queues/runs/contract.ts` on a queue, with real workers and a fake engine. */

import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';
import type { QueueBackend } from '../../queues/backend/backend.ts';
import { type Outcome, type RunView, SERVICE_QUEUES, type TransformRequest } from '../../queues/jobs.ts';
import type { Runs } from '../../queues/runs/contract.ts';
import { openRuns } from '../../queues/runs/runs.ts';
import { RUN_DEFAULTS } from '../../src/config/run-defaults.ts';
import { type ConfigStore, openConfig } from '../../src/config/store.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { startWorkers, type Workers } from '../../workers/host.ts';
import { fastest } from '../support/fastest.ts';
import { built } from '../support/project-root.ts';
import { openQueue, type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../support/queues/backends.ts';
import { casesFor, type Extent } from '../support/queues/describe.ts';
import { workerProcesses } from '../support/queues/worker-processes.ts';

const { work: TRANSFORM_QUEUE } = SERVICE_QUEUES['semi-structured-transformer'];

const ENGINE = built('test/support/queues/engine.js').href;
const logger = quietLogger();

export function runsSuite(queue: TestQueue, extent: Extent): void {
  const { onOne, onOthers } = casesFor(queue, extent);
  const prefix = uniquePrefix();
  let server: TestServer;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let backend: QueueBackend;
  let config: ConfigStore;
  let runs: Runs & { close(): Promise<void> };
  let workers: Workers;

  const request = (url: string, more: Partial<TransformRequest> = {}): TransformRequest => ({
    service: 'semi-structured-transformer',
    inputs: [{ name: 'people', url }],
    mappings: ['file:///mapping.ttl'],
    run: { ...RUN_DEFAULTS, memoryBudgetBytes: 1e6, maxRecordBytes: 1e6 },
    sliceRows: 0,
    output: { directory: join(directory.path, 'output'), format: 'nquads' },
    ...more,
  });
  const outcomeOf = async (url: string, waitMs = 25_000): Promise<Outcome | undefined> => {
    const { id } = await runs.submit(request(url), {});
    return runs.outcome(id, waitMs);
  };
  const reach = async (id: string, state: RunView['state'], waitMs = 25_000): Promise<RunView> => {
    for (const deadline = Date.now() + waitMs; ; ) {
      const view = await runs.get(id);
      if (view?.state === state) return view;
      if (Date.now() > deadline) throw new Error(`run ${id} is ${view?.state}, not ${state}`);
      await sleep(25);
    }
  };

  beforeAll(async () => {
    server = await queue.start();
    directory = await temporaryDirectory();
    backend = await openQueue(server.url, directory.path, prefix, logger);
    config = await openConfig({ DATA_DIR: directory.path, LOCK_SECONDS: 2, STALLED_SECONDS: 1, WORKER_CONCURRENCY: 2 }, backend.settings);
    runs = await openRuns(backend, { retryMs: 50 });
    workers = await startWorkers(backend, config, logger, { engine: ENGINE });
  });

  afterAll(async () => {
    await workers?.drain(0);
    await runs?.close();
    config?.close();
    await backend?.close();
    await server?.stop(prefix);
    await directory?.remove();
  });

  onOne('answers a run with its report, its file and its manifest', async () => {
    const { id, existing } = await runs.submit(request('ok'), {});
    expect(existing).toBe(false);
    const outcome = await runs.outcome(id, 25_000);
    const file = join(directory.path, 'output', `Semi-Structured-Transformer-${id}.nq`);
    expect(outcome).toMatchObject({
      state: 'completed',
      report: {
        runId: id,
        input: ['ok'],
        quads: 1,
        outputFileLocations: [pathToFileURL(file).href],
        mappingFiles: ['file:///mapping.ttl'],
      },
    });
    expect(await readFile(file, 'utf8')).toBe(`<urn:${id}> <urn:p> <urn:o> .\n`);
    const manifest = JSON.parse(await readFile(file.replace('.nq', '.manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({
      runId: id,
      quads: 1,
      parts: [{ bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    });
    expect(await runs.get(id)).toMatchObject({ state: 'completed', attempts: 1, outcome });
  });

  onOne('returns the outcome after the end, and nothing for an unknown run', async () => {
    const { id } = await runs.submit(request('ok'), {});
    const first = await runs.outcome(id, 0);
    expect(await runs.outcome(id, 0)).toEqual(first);
    expect(await runs.outcome('r0', 0)).toBeUndefined();
    expect(await runs.get('r0')).toBeUndefined();
  });

  onOne('stops waiting at the limit, and the run continues', async () => {
    const { id } = await runs.submit(request('slow=800'), {});
    expect(await runs.outcome(id, 50)).toBeUndefined();
    expect((await runs.get(id))?.outcome).toBeUndefined();
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
  });

  onOne('makes one run for requests with the same idempotency key, also for concurrent ones', async () => {
    const key = { idempotencyKey: `key ${uniquePrefix()}` };
    const answers = await Promise.all(Array.from({ length: 8 }, () => runs.submit(request('ok'), key)));
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(1);
    expect(answers.filter((answer) => !answer.existing)).toHaveLength(1);
    const id = answers[0]?.id as string;
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
    expect(await runs.submit(request('ok'), key)).toEqual({ id, existing: true });
    expect(await runs.get(id)).toMatchObject({ state: 'completed', attempts: 1 });
  });

  onOne('refuses another request with a used idempotency key', async () => {
    const key = { idempotencyKey: `key ${uniquePrefix()}` };
    await runs.submit(request('ok'), key);
    for (const other of [request('slow=1'), request('ok', { dataset: { name: 'a', url: '/a' } })])
      await expect(runs.submit(other, key)).rejects.toMatchObject({ code: 'request/conflict' });
  });

  onOne('reports why a run failed, in the text of the specification', async () => {
    const outcome = await outcomeOf('fault=source/malformed');
    expect(outcome).toMatchObject({
      state: 'failed',
      failure: {
        name: 'Semi-Structured-Transformer',
        error: "Record 'fault=source/malformed' could not be processed due to: it failed with source/malformed.",
        code: 'source/malformed',
        entity: 'fault=source/malformed',
        provenance: '',
      },
    });
  });

  onOne('retries a transient error', async () => {
    const { id } = await runs.submit(request('flaky=3'), {});
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
    expect(await runs.get(id)).toMatchObject({ attempts: 3 });
  });

  onOne('gives up after the last attempt', async () => {
    const { id } = await runs.submit(request('flaky=9'), {});
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'failed', failure: { code: 'source/unreadable' } });
    expect(await runs.get(id)).toMatchObject({ state: 'failed', attempts: 3 });
  });

  onOne('does not retry a permanent error', async () => {
    const { id } = await runs.submit(request('fault=mapping/syntax'), {});
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'failed', failure: { code: 'mapping/syntax' } });
    expect(await runs.get(id)).toMatchObject({ attempts: 1 });
  });

  onOne(
    'cancels a running run within two seconds, and leaves no files',
    async () => {
      const cancel = async (): Promise<number> => {
        const { id } = await runs.submit(request('slow=60000'), {});
        await reach(id, 'running');
        const started = Date.now();
        await runs.cancel(id);
        expect(await runs.outcome(id, 20_000)).toMatchObject({ state: 'cancelled', failure: { code: 'run/cancelled' } });
        const ended = Date.now();
        expect(await runs.get(id)).toMatchObject({ state: 'cancelled' });
        expect((await readdir(join(directory.path, 'output'))).filter((name) => name.includes(id))).toEqual([]);
        return ended - started;
      };
      expect(await fastest(2_000, cancel)).toBeLessThan(2_000);
    },
    60_000,
  );

  onOne('cancels a waiting run before it begins', async () => {
    const busy = await Promise.all([runs.submit(request('slow=60000'), {}), runs.submit(request('slow=60000'), {})]);
    await Promise.all(busy.map(({ id }) => reach(id, 'running')));
    const { id } = await runs.submit(request('ok'), {});
    await reach(id, 'queued');
    expect(await runs.cancel(id)).toMatchObject({ state: 'cancelled', attempts: 0 });
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'cancelled' });
    for (const one of busy) await runs.cancel(one.id);
    expect(await runs.cancel('r0')).toBeUndefined();
  });

  onOne('cancels a run that waits for its next attempt', async () => {
    const patient = await openRuns(backend, { retryMs: 60_000 });
    const { id } = await patient.submit(request('flaky=2'), {});
    await reach(id, 'retrying');
    expect(await patient.cancel(id)).toMatchObject({ state: 'cancelled' });
    await patient.close();
  });

  // In PostgreSQL, runs that end at the same moment do not see each other, so a few more may be kept until the next one ends.
  onOthers(
    'keeps at most the configured number of ended runs, and every caller still gets its outcome',
    async () => {
      const forgetful = await openRuns(backend, { keepCount: 2, minKeepMs: 3_000 });
      const ids = await Promise.all(Array.from({ length: 30 }, async () => (await forgetful.submit(request('ok'), {})).id));
      const outcomes = await Promise.all(ids.map((id) => forgetful.outcome(id, 25_000)));
      expect(outcomes.filter((outcome) => outcome?.state === 'completed')).toHaveLength(30);
      const kept = async () => (await forgetful.list({ limit: 100, state: 'completed' })).map(({ id }) => id);
      for (const deadline = Date.now() + 15_000; (await kept()).length > 2 && Date.now() < deadline; ) await sleep(100);
      expect(await kept()).toHaveLength(2);
      await forgetful.close();
    },
    30_000,
  );

  onOne('keeps the work of a run that ends while it is being cancelled', async () => {
    const { id } = await runs.submit(request('slow=300'), {});
    await reach(id, 'running');
    const queue = backend.queue(TRANSFORM_QUEUE);
    const before = await queue.getJob(id);
    expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
    // The state that a caller reads just before the run ends, and then cancels it.
    const spy = jest.spyOn(queue, 'getJob').mockResolvedValueOnce(before);
    expect(await runs.cancel(id)).toMatchObject({ state: 'completed', attempts: 1 });
    spy.mockRestore();
    expect(await (await queue.getJob(id))?.getState()).toBe('completed');
  });

  onOne('leaves an ended run as it is when it is cancelled afterwards', async () => {
    const { id } = await runs.submit(request('ok'), {});
    await runs.outcome(id, 25_000);
    expect(await runs.cancel(id)).toMatchObject({ state: 'completed' });
  });

  onOne('shows the progress of a running run', async () => {
    const { id } = await runs.submit(request('slow=2000'), {});
    for (let view = await runs.get(id); view?.progress === undefined; view = await runs.get(id)) {
      expect(view?.state).not.toBe('completed');
      await sleep(50);
    }
    expect((await runs.get(id))?.progress).toEqual({ records: 1, quads: 1, bytesRead: 7 });
    await runs.cancel(id);
  });

  onOne('lists runs, newest first, by service and state', async () => {
    const failed = await runs.submit(request('fault=mapping/syntax'), {});
    await runs.outcome(failed.id, 25_000);
    const other = await runs.submit(request('ok', { service: 'sql-transformer' }), {});
    await runs.outcome(other.id, 25_000);
    const waiting = await runs.submit(request('slow=60000'), {});
    await reach(waiting.id, 'running');
    expect((await runs.list({ limit: 3 })).map((view) => view.id)).toEqual([waiting.id, other.id, failed.id]);
    expect((await runs.list({ limit: 5, service: 'sql-transformer' })).map((view) => view.id)).toEqual([other.id]);
    expect((await runs.list({ limit: 1, state: 'failed' })).map((view) => view.id)).toEqual([failed.id]);
    expect((await runs.list({ limit: 5, state: 'running' })).map((view) => view.id)).toEqual([waiting.id]);
    expect(await runs.counts()).toMatchObject({ running: 1, queued: 0 });
    await runs.cancel(waiting.id);
  });

  onOthers(
    'answers two hundred runs, each once',
    async () => {
      const ids: string[] = [];
      // Not all at once: a queue has two seconds for its answer, on a busy machine too.
      while (ids.length < 200)
        ids.push(...(await Promise.all(Array.from({ length: 25 }, async () => (await runs.submit(request('ok'), {})).id))));
      const outcomes = await Promise.all(ids.map((id) => runs.outcome(id, 25_000)));
      expect(outcomes.filter((outcome) => outcome?.state === 'completed')).toHaveLength(200);
      expect(new Set(outcomes.map((outcome) => outcome?.state === 'completed' && outcome.report.runId))).toEqual(new Set(ids));
      const views = await Promise.all(ids.map((id) => runs.get(id)));
      expect(views.filter((view) => view?.attempts !== 1)).toEqual([]);
    },
    120_000,
  );

  onOne('keeps shared settings: one of two writers wins, and watchers are notified', async () => {
    const key = uniquePrefix();
    const seen: (string | undefined)[] = [];
    const unwatch = backend.settings.watch(key, (value) => seen.push(value));
    expect(await backend.settings.get(key)).toBeUndefined();
    const both = await Promise.all([
      backend.settings.compareAndSet(key, undefined, 'a'),
      backend.settings.compareAndSet(key, undefined, 'b'),
    ]);
    expect(both.filter(Boolean)).toHaveLength(1);
    const value = (await backend.settings.get(key)) as string;
    expect(await backend.settings.compareAndSet(key, 'neither', 'c')).toBe(false);
    expect(await backend.settings.compareAndSet(key, value, 'c')).toBe(true);
    for (const deadline = Date.now() + 20_000; seen.at(-1) !== 'c' && Date.now() < deadline; ) await sleep(20);
    expect(seen.at(-1)).toBe('c');
    unwatch();
  });

  if (queue.name === 'embedded') return;

  describe('with workers in other processes', () => {
    const processes = workerProcesses(() => [server.url, prefix, directory.path]);

    beforeAll(() => workers.drain(0));
    // Each case begins with one, which is the last of them.
    beforeEach(async () => {
      if (processes.alive().length === 0) await processes.start();
    });
    afterAll(() => processes.kill());

    onOne('sees a setting that another process made', async () => {
      const other = await openQueue(server.url, directory.path, prefix, logger);
      const hear = async (): Promise<number> => {
        const key = uniquePrefix();
        const heard = new Promise<string | undefined>((resolve) => {
          backend.settings.watch(key, resolve);
        });
        const started = Date.now();
        await other.settings.compareAndSet(key, undefined, 'here');
        expect(await heard).toBe('here');
        return Date.now() - started;
      };
      expect(await fastest(1_000, hear)).toBeLessThan(1_000);
      await other.close();
    });

    onOthers(
      'completes a run whose worker was killed, in a second attempt by another worker',
      async () => {
        const first = processes.all.at(-1) as ChildProcess;
        const { id } = await runs.submit(request('slow=1500'), {});
        await reach(id, 'running');
        await sleep(300);
        first.kill('SIGKILL');
        await processes.start();
        expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
        expect(await runs.get(id)).toMatchObject({ attempts: 2 });
        const files = (await readdir(join(directory.path, 'output'))).filter((name) => name.includes(id));
        expect(files.sort()).toEqual([`Semi-Structured-Transformer-${id}.manifest.json`, `Semi-Structured-Transformer-${id}.nq`]);
      },
      30_000,
    );

    onOthers(
      'fails a run that kills every worker that starts it',
      async () => {
        const { id } = await runs.submit(request('die'), {});
        for (let i = 0; i < 2; i++) {
          const child = processes.all.at(-1) as ChildProcess;
          await new Promise((resolve) => child.once('exit', resolve));
          await processes.start();
        }
        expect(await runs.outcome(id, 25_000)).toMatchObject({
          state: 'failed',
          failure: { code: 'run/killed', error: expect.stringContaining('2 times') },
        });
        expect((await readdir(join(directory.path, 'output'))).filter((name) => name.includes(id))).toEqual([]);
      },
      40_000,
    );

    onOthers(
      'does not let a suspended worker publish a run that another worker has taken over',
      async () => {
        const sleeper = processes.all.at(-1) as ChildProcess;
        const { id } = await runs.submit(request('slow=1500'), {});
        await reach(id, 'running');
        sleeper.kill('SIGSTOP');
        await processes.start();
        expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
        sleeper.kill('SIGCONT');
        await sleep(1_000);
        expect(await runs.get(id)).toMatchObject({ state: 'completed', attempts: 2 });
        const files = (await readdir(join(directory.path, 'output'))).filter((name) => name.includes(id));
        expect(files.sort()).toEqual([`Semi-Structured-Transformer-${id}.manifest.json`, `Semi-Structured-Transformer-${id}.nq`]);
        expect(sleeper.exitCode).toBe(null);
        sleeper.kill('SIGKILL');
      },
      30_000,
    );

    onOne(
      'requeues an unfinished run when a worker is stopped',
      async () => {
        const child = processes.all.at(-1) as ChildProcess;
        const { id } = await runs.submit(request('slow=2000'), {});
        await reach(id, 'running');
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        expect(await ended).toBe(0);
        await reach(id, 'retrying');
        await processes.start();
        expect(await runs.outcome(id, 25_000)).toMatchObject({ state: 'completed' });
      },
      30_000,
    );
  });
}
