/** How often stalled jobs are checked, which bounds their waiting time. Chaos measures the total; this tests the interval. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openBackend, type QueueBackend } from '../../queues/backend/backend.ts';
import { quietLogger } from '../../src/core/telemetry/observe.ts';
import { missingRedis, startRedis } from '../servers/queues/redis.ts';

const INTERVAL_MS = 1_000;
const CHECKS = 6;

(missingRedis === undefined ? describe : describe.skip)(
  `lost jobs${missingRedis === undefined ? '' : ` (not tested: ${missingRedis})`}`,
  () => {
    let redis: Extract<Awaited<ReturnType<typeof startRedis>>, { readonly url: string }>;
    let backend: QueueBackend;
    let client: Redis;

    beforeAll(async () => {
      const started = await startRedis();
      if ('skip' in started) throw new Error(started.skip);
      redis = started;
      client = new Redis(redis.url);
      backend = await openBackend({ url: redis.url, directory: '/nowhere', prefix: 'stalled' }, quietLogger());
    });
    afterAll(async () => {
      await backend?.close();
      client?.disconnect();
      await redis?.stop();
    });

    test('are looked for once in each interval, also when every second check comes a moment early and is skipped', async () => {
      const at: number[] = [];
      const monitor = await client.monitor();
      monitor.on('monitor', (time: string, [command = '', key = '', , , milliseconds]: readonly string[]) => {
        if (command.toLowerCase() !== 'set' || !key.endsWith(':stalled-check')) return;
        at.push(Number(time) * 1_000);
        // Simulates a worker whose clock is slightly fast.
        void client.pexpire(key, Number(milliseconds) + 50);
      });
      const worker = backend.worker('lost', async () => undefined, { stalledInterval: INTERVAL_MS });
      void worker.run();
      for (const deadline = Date.now() + 20_000; at.length < CHECKS && Date.now() < deadline; ) await sleep(50);
      monitor.disconnect();
      const gaps = at.slice(1).map((time, i) => time - (at[i] as number));
      expect(gaps.length).toBeGreaterThanOrEqual(CHECKS - 1);
      // The median: a busy machine delays some of them.
      expect(gaps.sort((a, b) => a - b)[gaps.length >> 1]).toBeLessThan(1.4 * INTERVAL_MS);
    });
  },
);
