/** A queue counts the workers that have reported a moment ago. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from '@jest/globals';
import { registerWorker, watchWorkerRegistry } from '../../../queues/backend/worker-registry.ts';
import { ALL_SERVICES } from '../../../queues/jobs.ts';
import type { SharedSettings } from '../../../src/config/store.ts';
import { share, sharedTest, test } from '../../support/jest/extent.ts';
import { openQueue, QUEUES, temporaryDirectory, uniquePrefix } from '../../support/queues/backends.ts';
import { memorySettings } from '../../support/service/fake.ts';

const PACE = { intervalMs: 50, timeoutMs: 1_500 };

async function until(done: () => boolean | Promise<boolean>, waitMs = 30_000): Promise<void> {
  for (const end = performance.now() + waitMs; !(await done()); await sleep(20)) expect(performance.now()).toBeLessThan(end);
}

test('a worker whose writes lose to those of others does not take a running worker for killed', async () => {
  let text = JSON.stringify({ other: { beat: 1, services: ALL_SERVICES, unreached: [] } });
  let refused = 0;
  const settings: SharedSettings = {
    get: async () => text,
    async compareAndSet(_key, _expected, value) {
      // In reality other workers change the text meanwhile. Here it stays, as if `other` had reported nothing new.
      if (++refused < 10) return false;
      text = value;
      return true;
    },
    watch: () => () => undefined,
  };
  const { deregister: leave } = await registerWorker(settings, ALL_SERVICES);
  expect([refused, Object.keys(JSON.parse(text))]).toEqual([10, ['other', expect.any(String)]]);
  await leave();
  expect(Object.keys(JSON.parse(text))).toEqual(['other']);
});

test('a process is reached by others as long as one of them says that it reaches the service', async () => {
  const settings = memorySettings();
  const registry = await watchWorkerRegistry(settings);
  const sql = await registerWorker(settings, ['sql-transformer']);
  const all = await registerWorker(settings, ALL_SERVICES);
  expect([registry.count(), registry.count(['sql-transformer']), registry.count(['graph-writer'])]).toEqual([2, 2, 1]);
  // It has not said yet what it reaches.
  expect(registry.isReachedByOthers('sql-transformer', sql.id)).toBe(false);
  await sql.tell([]);
  await all.tell([]);
  expect(registry.isReachedByOthers('sql-transformer', sql.id)).toBe(true);
  expect(registry.isReachedByOthers('graph-writer', all.id)).toBe(false);
  await all.tell(['sql-transformer']);
  expect(registry.isReachedByOthers('sql-transformer', sql.id)).toBe(false);
  expect(registry.isReachedByOthers('sql-transformer', all.id)).toBe(true);
  expect(registry.isReachedByOthers('semi-structured-transformer', sql.id)).toBe(true);
  await all.tell([]);
  expect(registry.isReachedByOthers('sql-transformer', sql.id)).toBe(true);
  await all.deregister();
  expect([registry.isReachedByOthers('sql-transformer', sql.id), registry.count()]).toEqual([false, 1]);
  // Told after it left, nothing comes back.
  await all.tell(['sql-transformer']);
  expect(registry.count()).toBe(1);
  await sql.deregister();
  registry.close();
});

describe.each(share(1, QUEUES))('over a queue of kind $name', ({ missing, start }) => {
  const check = missing === undefined ? sharedTest : sharedTest.skip;

  check(
    `workers that come, leave and are killed${missing === undefined ? '' : ` (skipped: ${missing})`}`,
    async () => {
      const directory = await temporaryDirectory();
      const prefix = uniquePrefix();
      const server = await start();
      const backend = await openQueue(server.url, directory.path, prefix);
      // A killed process reports nothing more.
      let killed = false;
      const mortal: SharedSettings = {
        get: (key) => (killed ? new Promise(() => undefined) : backend.settings.get(key)),
        compareAndSet: (key, expected, value) => backend.settings.compareAndSet(key, expected, value),
        watch: () => () => undefined,
      };
      const workers = await watchWorkerRegistry(backend.settings, PACE);
      try {
        expect(workers.count()).toBe(0);
        const many = await Promise.all(Array.from({ length: 5 }, () => registerWorker(backend.settings, ALL_SERVICES, PACE)));
        const dying = await registerWorker(mortal, ALL_SERVICES, PACE);
        await until(() => workers.count() === 6);
        await sleep(PACE.timeoutMs + 500);
        expect(workers.count()).toBe(6);
        await many[0]?.deregister();
        await until(() => workers.count() === 5);
        killed = true;
        await until(() => workers.count() === 4);
        // The remaining workers forget it, and a new worker does not count it.
        await until(async () => {
          const later = await watchWorkerRegistry(backend.settings, PACE);
          const count = later.count();
          later.close();
          return count === 4;
        });
        await Promise.all(many.slice(1).map((one) => one.deregister()));
        await until(() => workers.count() === 0);
        await dying.deregister();
      } finally {
        workers.close();
        await backend.close();
        await server.stop(prefix);
        await directory.remove();
      }
    },
    60_000,
  );
});
