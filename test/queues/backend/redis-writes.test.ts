/** Commands to Redis that are given in one turn of the event loop go out together, and each has its own answer. */
import { type AddressInfo, createServer, connect as dial, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from '../../../queues/backend/redis.ts';
import { missingRedis, type Redis as RedisServer } from '../../servers/queues/redis.ts';
import { startRedis } from '../../support/queues/backends.ts';

(missingRedis === undefined ? describe : describe.skip)('through a proxy that counts what arrives', () => {
  let redis: RedisServer;
  let proxy: Server;
  let client: ReturnType<typeof connect>;
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
    const url = `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
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
});
