/** The local message bus: nothing is lost between the outbox and the consumer in the same process, and nothing accumulates. */

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openBackend, type QueueBackend } from '../../../queues/backend/backend.ts';
import type { Outcome, TransformPayload } from '../../../queues/jobs.ts';
import { ALWAYS_ON, type MessageBus, type OutgoingMessage } from '../../../queues/messaging/bus.ts';
import { openLocalBus } from '../../../queues/messaging/local-bus.ts';
import { openOutbox } from '../../../queues/messaging/outbox.ts';
import { openConfig } from '../../../src/config/store.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { type Messaging, openMessaging } from '../../../workers/messaging/messaging.ts';
import { built } from '../../support/project-root.ts';
import { QUEUES, type TestQueue, type TestServer, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { tinyRun } from '../../support/queues/requests.ts';
import { failureMessage, fakeRuns, successReport } from '../../support/service/fake.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { ask, poll, postJson, startService } from '../../support/service/process.ts';

const PROCESS = fileURLToPath(built('test/queues/messaging/local-bus-process.js'));
const logger = quietLogger();

const message = (value: string, topic = 'success_queue'): OutgoingMessage => ({ topic, key: 'k', value, headers: {} });

describe('the local bus', () => {
  let bus: MessageBus;
  beforeEach(() => {
    bus = openLocalBus();
  });

  test('resolves for the producer once every group has handled the messages, in order', async () => {
    const taken: string[] = [];
    let release = (): void => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    bus.consume('success_queue', 'one', async ({ value }) => void taken.push(`one ${value}`));
    bus.consume('success_queue', 'two', async ({ value }) => {
      await hold;
      taken.push(`two ${value}`);
    });
    let produced = 0;
    const all = ['1', '2', '3'].map((value) => bus.produce([message(value), message(`${value}.5`)]).then(() => produced++));
    await sleep(50);
    expect([produced, await bus.lag('success_queue', 'one'), await bus.lag('success_queue', 'two')]).toEqual([0, 0, 6]);
    release();
    await Promise.all(all);
    const inOrder = ['1', '1.5', '2', '2.5', '3', '3.5'];
    expect(taken.filter((one) => one.startsWith('one'))).toEqual(inOrder.map((value) => `one ${value}`));
    expect(taken.filter((one) => one.startsWith('two'))).toEqual(inOrder.map((value) => `two ${value}`));
    expect(await bus.lag('success_queue', 'two')).toBe(0);
  });

  test('hands a message that is refused over again, before the next one', async () => {
    const taken: string[] = [];
    let refusals = 2;
    bus.consume('success_queue', 'one', async ({ value }) => {
      taken.push(String(value));
      if (String(value) === '1' && refusals-- > 0) throw new Error('not now');
    });
    await bus.produce([message('1'), message('2')]);
    expect(taken).toEqual(['1', '1', '1', '2']);
  });

  test('refuses messages without a consumer, and rejects undelivered ones at the end', async () => {
    expect(bus.hasConsumer('success_queue')).toBe(false);
    await expect(bus.produce([message('1')])).rejects.toThrow('success_queue');
    let first = true;
    const subscription = bus.consume('success_queue', 'one', async (_, signal) => {
      if (first) return void (first = false);
      await sleep(60_000, undefined, { signal });
    });
    expect([bus.hasConsumer('success_queue'), bus.hasConsumer('dead_letter_queue')]).toEqual([true, false]);
    await expect(bus.produce([message('1'), message('2', 'dead_letter_queue')])).rejects.toThrow('dead_letter_queue');
    expect(first).toBe(true);
    await bus.produce([message('1')]);
    const ends = [bus.produce([message('2')]), bus.produce([message('3')])].map((one) => one.then(() => 'kept').catch(() => 'given back'));
    await subscription.close();
    expect(await Promise.all(ends)).toEqual(['given back', 'given back']);
    expect(bus.hasConsumer('success_queue')).toBe(false);
  });

  test('gives a message a place that is the same when it comes again, in another process too', async () => {
    const places: string[] = [];
    for (const one of [bus, openLocalBus()]) {
      one.consume(
        'success_queue',
        'g',
        async ({ partition, offset, timestamp }) => void places.push(`${partition} ${offset} ${timestamp}`),
      );
      await one.produce([message('1'), message('2')]);
    }
    expect(places.slice(2)).toEqual(places.slice(0, 2));
    expect(new Set(places).size).toBe(2);
    for (const place of places) expect(place).toMatch(/^0 \d{1,19} 0$/);
  });
});

test('the service without brokers completes runs, keeps no messages of them, and has no connection to switch', async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory.path, 'people.csv'), PEOPLE.csv);
  await writeFile(join(directory.path, 'people.ttl'), peopleMapping('csv', 'people.csv'));
  const service = await startService({ cwd: directory.path, env: { SEMI_STRUCTURED_TRANSFORMER_MAPPINGS_DIR_URL: directory.path } });
  try {
    const base = `${service.url}/semi-structured-transformer`;
    const inputs = [join(directory.path, 'people.csv'), join(directory.path, 'missing.csv')];
    const answers = await Promise.all(inputs.map((inputFileURL) => postJson(`${base}/process`, { inputFileURL })));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(await ask(`${base}/restartKafka`)).toMatchObject({ status: 409, body: { hint: expect.stringContaining('KAFKA_BROKERS') } });
    expect((await ask(`${service.url}/health/ready`)).body.checks).toEqual({ queue: 'up', workers: 'up' });
    await poll(`${service.url}/metrics`, ({ body }) => /^rml_outbox_messages 0$/m.test(body));
    expect(service.log.filter(({ level }) => level !== 'info').map(({ msg }) => msg)).toEqual(['run failed']);
    expect((await service.stop()).code).toBe(0);
  } finally {
    service.kill('SIGKILL');
    await service.exited;
    await directory.remove();
  }
}, 60_000);

for (const queue of QUEUES) {
  if (queue.missing === undefined) describe(`without brokers, on ${queue.name}`, () => suite(queue));
  else describe(`without brokers, on ${queue.name}`, () => test.skip(`is not tested: ${queue.missing}`, () => undefined));
}

function suite(queue: TestQueue): void {
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
    (backend as QueueBackend).queue('outbox').getJobCountByTypes('waiting', 'active', 'delayed', 'completed', 'failed');

  beforeAll(async () => {
    server = await queue.start();
  }, 60_000);
  afterAll(() => server.stop(prefix));
  beforeEach(async () => {
    directory = await temporaryDirectory();
    children = [];
  });
  afterEach(async () => {
    for (const child of children) await child.kill();
    await close();
    await directory.remove();
  });

  test('every success message reaches its consumer, also those that were in the outbox when the process was killed', async () => {
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
  }, 200_000);

  test('an outcome without a consumer in the process makes no message, and messages left for brokers are kept and block nothing', async () => {
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
    for (const outcome of outcomes) await bridge.publish(payload, outcome);
    expect(await inOutbox()).toBe(0);

    const dead = { runId: 'r0', kind: 'dead-letter', messages: [message('a letter', 'dead_letter_queue')] } as const;
    await openOutbox(opened).add(dead);
    await until(async () => (await opened.queue('outbox').getJobCountByTypes('delayed')) === 1);
    const taken: string[] = [];
    bus.consume('success_queue', 'graph-writer', async ({ key }) => void taken.push(String(key)));
    for (const outcome of outcomes) await bridge.publish(payload, outcome);
    await until(() => taken.length === 1);
    await until(async () => (await inOutbox()) === 1);
    expect(taken).toEqual(['r1']);

    const letters: string[] = [];
    bus.consume('dead_letter_queue', 'reader', async ({ value }) => void letters.push(String(value)));
    const [kept] = await opened.queue('outbox').getJobs('delayed');
    await kept?.promote();
    await until(async () => (await inOutbox()) === 0);
    expect(letters).toEqual(['a letter']);
  }, 120_000);
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
