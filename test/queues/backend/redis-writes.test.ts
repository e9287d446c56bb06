/** Commands to Redis that are given in one turn of the event loop go out together, and each has its own answer. Events of many runs are read together. */
import { type AddressInfo, createServer, connect as dial, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openBackend, type QueueBackend } from '../../../queues/backend/backend.ts';
import { connect } from '../../../queues/backend/redis.ts';
import { quietLogger } from '../../../src/core/telemetry/observe.ts';
import { missingRedis, type Redis as RedisServer } from '../../servers/queues/redis.ts';
import { fastest } from '../../support/fastest.ts';
import { startRedis, uniquePrefix } from '../../support/queues/backends.ts';

(missingRedis === undefined ? describe : describe.skip)('through a proxy that counts what arrives', () => {
  let redis: RedisServer;
  let proxy: Server;
  let client: ReturnType<typeof connect>;
  let url: string;
  let arrived: number[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    proxy = createServer((incoming) => {
      const server = dial(redis.port, '127.0.0.1');
      incoming.on('data', (bytes) => {
        arrived.push(bytes.length);
        server.write(bytes);
      });
      server.pipe(incoming);
      for (const [one, other] of [[incoming, server] as const, [server, incoming] as const]) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    url = `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    client = connect({ kind: 'server', url, secure: false }, { retryStrategy: () => 20 });
    await client.ping();
  });

  afterAll(async () => {
    client.disconnect();
    await new Promise((resolve) => proxy.close(resolve));
    await redis.stop();
  });

  test('a hundred commands arrive in few pieces, in their order', async () => {
    arrived = [];
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.incr('counted')));
    expect(answers).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    expect(arrived.length).toBeLessThanOrEqual(5);
  });

  test('commands of different turns do not wait for each other', async () => {
    arrived = [];
    for (let i = 0; i < 3; i++) expect(await client.echo(String(i))).toBe(String(i));
    expect(arrived.length).toBeGreaterThanOrEqual(3);
  });

  test('a transaction and commands beside it have their own answers', async () => {
    const [many, one] = await Promise.all([client.multi().set('a', '1').get('a').exec(), client.echo('x')]);
    expect(many).toEqual([
      [null, 'OK'],
      [null, '1'],
    ]);
    expect(one).toBe('x');
  });

  test('a connection that breaks is replaced, and its writes are joined as well', async () => {
    const again = new Promise((resolve) => client.once('ready', resolve));
    (client as unknown as { readonly stream: { destroy(): void } }).stream.destroy();
    await again;
    arrived = [];
    await Promise.all(Array.from({ length: 50 }, () => client.ping()));
    expect(arrived.length).toBeLessThanOrEqual(5);
  });

  describe('the events of a queue', () => {
    const prefix = uniquePrefix();
    let backend: QueueBackend;
    let direct: ReturnType<typeof connect>;
    let heard: string[] = [];
    let listener: (id: string) => void = () => undefined;
    const publish = (jobId: string) => direct.xadd(`${prefix}:jobs:events`, '*', 'event', 'waiting', 'jobId', jobId);

    beforeAll(async () => {
      backend = await openBackend({ url, directory: '/nowhere', prefix }, quietLogger());
      direct = connect({ kind: 'server', url: redis.url, secure: false }, {});
      (await backend.queueEvents('jobs')).on('waiting', ({ jobId }) => {
        heard.push(jobId);
        listener(jobId);
      });
    });
    afterAll(async () => {
      await backend.close();
      direct.disconnect();
    });

    const untilHeard = (wanted: string): Promise<void> =>
      new Promise((resolve) => {
        listener = (id) => {
          if (id === wanted) resolve();
        };
      });

    test('of many jobs are read with few questions, all of them and in their order', async () => {
      const last = untilHeard('299');
      heard = [];
      arrived = [];
      const from = performance.now();
      for (let i = 0; i < 300; i++) await publish(String(i));
      await last;
      expect(heard).toEqual(Array.from({ length: 300 }, (_, i) => String(i)));
      // Those of a machine that is busy come one by one.
      expect(arrived.length).toBeLessThan(10 + (performance.now() - from) / 5);
    });

    test('of one job are delivered at once', async () => {
      const wait = async (): Promise<number> => {
        // The answer before may have told of several jobs.
        for (const _time of [1, 2]) {
          const told = untilHeard('alone');
          await publish('alone');
          await told;
        }
        const from = performance.now();
        const told = untilHeard('alone');
        await publish('alone');
        await told;
        return performance.now() - from;
      };
      expect(await fastest(8, wait)).toBeLessThan(8);
    });
  });
});
