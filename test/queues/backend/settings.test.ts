/** The settings of one service beside those of others: common until they are its own. */
import { expect, test } from '@jest/globals';
import { ofOneProcess, settingsOfService, watchSettings } from '../../../queues/backend/settings.ts';

/** Two processes of one service, one of another, one of all, on one store. */
function open() {
  const values = new Map<string, string>();
  const store = {
    read: async (keys: readonly string[]) => keys.map((key) => values.get(key)),
    async compareAndSet(key: string, expected: string | undefined, value: string) {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      return true;
    },
  };
  const processes = [1, 2, 3, 4].map(() => watchSettings(store)) as [
    ReturnType<typeof watchSettings>,
    ...ReturnType<typeof watchSettings>[],
  ];
  const [all, a, b, c] = processes as [(typeof processes)[0], (typeof processes)[0], (typeof processes)[0], (typeof processes)[0]];
  return {
    all,
    sql: settingsOfService(a, 'sql-transformer'),
    otherSql: settingsOfService(b, 'sql-transformer'),
    writer: settingsOfService(c, 'graph-writer'),
    close: () => processes.forEach((one) => void one.close()),
  };
}

test('what a service has not set is as for all services; its first change makes it its own', async () => {
  const { all, sql, otherSql, writer, close } = open();
  const read = () => Promise.all([all, sql, otherSql, writer].map((one) => one.get('key')));
  expect(await read()).toEqual([undefined, undefined, undefined, undefined]);
  expect(await all.compareAndSet('key', undefined, 'common')).toBe(true);
  expect(await read()).toEqual(['common', 'common', 'common', 'common']);
  // A change that was made for another value than the present one is refused, as everywhere.
  expect(await sql.compareAndSet('key', undefined, 'own')).toBe(false);
  expect(await sql.compareAndSet('key', 'common', 'own')).toBe(true);
  expect(await read()).toEqual(['common', 'own', 'own', 'common']);
  expect(await all.compareAndSet('key', 'common', 'later')).toBe(true);
  expect(await read()).toEqual(['later', 'own', 'own', 'later']);
  expect(await otherSql.compareAndSet('key', 'later', 'wrong')).toBe(false);
  expect(await otherSql.compareAndSet('key', 'own', 'next')).toBe(true);
  expect(await read()).toEqual(['later', 'next', 'next', 'later']);
  close();
});

test('of processes that make the first change at once, one wins', async () => {
  const { sql, otherSql, close } = open();
  const won = await Promise.all([sql.compareAndSet('key', undefined, 'a'), otherSql.compareAndSet('key', undefined, 'b')]);
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(await sql.get('key')).toBe(won[0] ? 'a' : 'b');
  close();
});

test('watchers get the value that counts, once for each change', async () => {
  const { all, sql, otherSql, close } = open();
  const seen: (string | undefined)[] = [];
  const unwatch = otherSql.watch('key', (value) => void seen.push(value));
  const change = async (settings: typeof all | typeof sql, value: string) => {
    expect(await settings.compareAndSet('key', await settings.get('key'), value)).toBe(true);
    await otherSql.get('key');
  };
  await change(all, 'common');
  await change(sql, 'own');
  await change(all, 'hidden');
  await change(sql, 'next');
  expect(seen).toEqual(['common', 'own', 'next']);
  unwatch();
  await change(sql, 'after');
  expect(seen).toEqual(['common', 'own', 'next']);
  close();
});

test('a process that is alone with its store reads a key once, knows what it has written, and asks again where a write had no answer', async () => {
  const values = new Map([['key', 'before']]);
  const read: string[] = [];
  let isLost = false;
  let held: Promise<unknown> = Promise.resolve();
  const store = ofOneProcess({
    async read(keys) {
      read.push(...keys);
      const found = keys.map((key) => values.get(key));
      await held;
      return found;
    },
    async compareAndSet(key, expected, value) {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      if (isLost) throw new Error('no answer');
      return true;
    },
  });
  expect(await store.read(['key', 'other'])).toEqual(['before', undefined]);
  expect(await store.compareAndSet('key', 'wrong', 'after')).toBe(false);
  expect(await store.compareAndSet('key', 'before', 'after')).toBe(true);
  expect(await store.read(['other', 'key'])).toEqual([undefined, 'after']);
  expect(read).toEqual(['key', 'other']);
  isLost = true;
  await expect(store.compareAndSet('key', 'after', 'later')).rejects.toThrow('no answer');
  expect(await store.read(['key'])).toEqual(['later']);
  isLost = false;
  // A write that ends before a read that began earlier.
  let release = (): void => undefined;
  held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reading = store.read(['new']);
  expect(await store.compareAndSet('new', undefined, 'written')).toBe(true);
  release();
  expect(await reading).toEqual(['written']);
  expect(await store.read(['new'])).toEqual(['written']);
});
