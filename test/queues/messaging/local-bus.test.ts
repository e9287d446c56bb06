/** The local message bus: nothing is lost between the outbox and the consumer in the same process, and nothing accumulates. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { MessageBus, OutgoingMessage } from '../../../queues/messaging/bus.ts';
import { openLocalBus } from '../../../queues/messaging/local-bus.ts';
import { temporaryDirectory } from '../../support/queues/backends.ts';
import { describeQueues, ONE_QUEUE } from '../../support/queues/describe.ts';
import { PEOPLE, peopleMapping } from '../../support/service/inputs.ts';
import { ask, poll, postJson, startService } from '../../support/service/process.ts';
import { localBusSuite } from './local-bus-suite.ts';

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

  test('delivers a rejected message again, before the next one', async () => {
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

  test('gives a message the same partition and offset when it repeats, also in another process', async () => {
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

test('a service without brokers completes runs, keeps no messages of them, and has no connection to switch', async () => {
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
    expect((await ask(`${service.url}/health/ready`)).body.checks).toEqual({ follower: 'off', queue: 'up', workers: 'up' });
    await poll(`${service.url}/metrics`, ({ body }) => /^rml_outbox_messages 0$/m.test(body));
    expect(service.log.filter(({ level }) => level !== 'info').map(({ msg }) => msg)).toEqual(['run failed']);
    expect((await service.stop()).code).toBe(0);
  } finally {
    service.kill('SIGKILL');
    await service.exited;
    await directory.remove();
  }
}, 60_000);

describeQueues(ONE_QUEUE, (queue) => localBusSuite(queue, 'fast'));
