/** What a local bus, the outbox and a queue do together: nothing is lost when the process is killed, and nothing accumulates. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { openBackend, type QueueBackend } from '../../../queues/backend/backend.ts';
import type { Outcome, TransformPayload } from '../../../queues/jobs.ts';
import { SERVICE_QUEUES } from '../../../queues/jobs.ts';
import { openLocalBus } from '../../../queues/messaging/local-bus.ts';
import { openOutbox } from '../../../queues/messaging/outbox.ts';
import { openConfig } from '../../../src/config/store.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { type Messaging, openMessaging } from '../../../workers/messaging/messaging.ts';
import { built } from '../../support/project-root.ts';
import { type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { casesFor, type Extent } from '../../support/queues/describe.ts';
import { makeEmbeddedQueue } from '../../support/queues/embedded.ts';
import { ALWAYS_ON, tinyRun } from '../../support/queues/requests.ts';
import { failureMessage, fakeRuns, successReport } from '../../support/service/fake.ts';

const { outbox: OUTBOX_QUEUE } = SERVICE_QUEUES['semi-structured-transformer'];

const PROCESS = fileURLToPath(built('test/queues/messaging/local-bus-process.js'));
const logger = quietLogger();

export function localBusSuite(queue: TestQueue, extent: Extent): void {
  const { onOne } = casesFor(queue, extent);
  const prefix = uniquePrefix();
  let server: TestServer;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let children: Child[];
  let backend: QueueBackend | undefined;
  let bridge: Messaging | undefined;

  const open = async (): Promise<QueueBackend> => {
    backend = await openBackend({ url: server.url, prefix, directory: directory.path }, logger);
    return backend;
  };
  const close = async (): Promise<void> => {
    await bridge?.close();
    await backend?.close();
    bridge = backend = undefined;
  };
  const inOutbox = (): Promise<number> =>
    (backend as QueueBackend).queue(OUTBOX_QUEUE).getJobCountByTypes('waiting', 'active', 'delayed', 'completed', 'failed');

  beforeAll(async () => {
    server = await queue.start();
  }, 60_000);
  afterAll(() => server.stop(prefix));
  beforeEach(async () => {
    directory = await temporaryDirectory();
    if (queue.name === 'embedded') await makeEmbeddedQueue(directory.path);
    children = [];
  });
  afterEach(async () => {
    for (const child of children) await child.kill();
    await close();
    await directory.remove();
  });

  onOne(
    'every success message reaches its consumer, also those that were in the outbox when the process was killed',
    async () => {
      const start = (...more: readonly string[]): Child => {
        const child = startChild([server.url, prefix, directory.path, ...more]);
        children.push(child);
        return child;
      };
      const first = start('8', '3');
      await until(() => first.said('announced').length === 1 && first.said('holds').length === 1);
      await first.kill();
      const submitted = first.said('submitted');
      expect([submitted.length, first.said('took').length]).toEqual([8, 3]);
      await open();
      // One message was being handled when the process died.
      expect(await inOutbox()).toBe(5);
      await close();

      const second = start('0', '100');
      await until(() => second.said('took').length >= 5);
      await second.end();
      expect(new Set(second.said('took'))).toEqual(new Set(submitted.filter((id) => !first.said('took').includes(id))));
      expect(second.said('took')).toContain(first.said('holds')[0]);
      await open();
      expect(await inOutbox()).toBe(0);
    },
    200_000,
  );

  onOne(
    'an outcome without a consumer in the process makes no message; messages made for brokers are kept and block nothing',
    async () => {
      const config = await openConfig({ DATA_DIR: directory.path, LOCK_SECONDS: 2, STALLED_SECONDS: 1 });
      const bus = openLocalBus();
      const runs = fakeRuns();
      const opened = await open();
      const outcomes: readonly Outcome[] = [
        { state: 'completed', report: successReport('r1') },
        { state: 'failed', failure: failureMessage('r1') },
      ];
      const payload: TransformPayload = { ...tinyRun(directory.path), runId: 'r1', submittedAt: new Date().toISOString() };
      bridge = await openMessaging(opened, { bus, state: ALWAYS_ON, runs, config, workingDirectory: directory.path }, logger);
      const { publish } = bridge;
      expect(outcomes.map((outcome) => publish.has(payload, outcome))).toEqual([false, false]);

      const dead = {
        runId: 'r0',
        kind: 'dead-letter',
        messages: [{ topic: 'dead_letter_queue', key: 'k', value: 'a letter', headers: {} }],
      } as const;
      await openOutbox(opened).add('semi-structured-transformer', dead);
      await until(async () => (await opened.queue(OUTBOX_QUEUE).getJobCountByTypes('delayed')) === 1);
      const taken: string[] = [];
      bus.consume('success_queue', 'graph-writer', async ({ key }) => void taken.push(String(key)));
      expect(outcomes.map((outcome) => publish.has(payload, outcome))).toEqual([true, false]);
      await publish.add(payload, outcomes[0] as Outcome);
      await until(() => taken.length === 1);
      await until(async () => (await inOutbox()) === 1);
      expect(taken).toEqual(['r1']);

      const letters: string[] = [];
      bus.consume('dead_letter_queue', 'reader', async ({ value }) => void letters.push(String(value)));
      const [kept] = await opened.queue(OUTBOX_QUEUE).getJobs('delayed');
      await kept?.promote();
      await until(async () => (await inOutbox()) === 0);
      expect(letters).toEqual(['a letter']);
    },
    120_000,
  );
}

interface Child {
  /** The rest of the line after the word. */
  said(word: string): readonly string[];
  /** kill -9. */
  kill(): Promise<void>;
  /** Sends SIGTERM. @throws if it exits with a failure */
  end(): Promise<void>;
}

function startChild(args: readonly string[]): Child {
  const child: ChildProcess = spawn(process.execPath, [PROCESS, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => lines.push(line));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    said: (word) => lines.flatMap((line) => (line.split(' ')[0] === word ? [line.slice(word.length + 1)] : [])),
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
    async end() {
      child.kill('SIGTERM');
      const code = await exited;
      if (code !== 0) throw new Error(`the process ended with ${code}`);
    },
  };
}

async function until(done: () => boolean | Promise<boolean>, waitMs = 60_000): Promise<void> {
  for (const deadline = Date.now() + waitMs; !(await done()); await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`not within ${waitMs} ms`);
  }
}
