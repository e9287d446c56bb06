/** Shared settings over a store whose answers the test gives, and the configuration on top of them. */

import { type SettingsStore, settingsOfService, type WatchedSettings, watchSettings } from '../../../queues/backend/settings.ts';
import { openConfig } from '../../../src/config/store.ts';
import { Secret } from '../../../src/core/secret.ts';

/** Holds back the answer of each read until the test lets it go; the value is that of the moment of the read. */
function slowStore(): SettingsStore & { readonly values: Map<string, string>; readonly waiting: (() => void)[]; slow: boolean } {
  const values = new Map<string, string>();
  const waiting: (() => void)[] = [];
  const store = {
    values,
    waiting,
    slow: false,
    async read(keys: readonly string[]) {
      const answer = keys.map((key) => values.get(key));
      if (store.slow) await new Promise<void>((resolve) => waiting.push(resolve));
      return answer;
    },
    async compareAndSet(key: string, expected: string | undefined, value: string) {
      if (values.get(key) !== expected) return false;
      values.set(key, value);
      return true;
    },
  };
  return store;
}

/** What is asked for in one turn is one question. */
const nextTurn = (): Promise<void> => new Promise((done) => setImmediate(done));

let settings: WatchedSettings | undefined;
afterEach(() => settings?.close());

/** Settings in whose slow store `key` is old, and the values that its watcher sees. */
function oldKey() {
  const store = slowStore();
  store.values.set('key', 'old');
  const watched = watchSettings(store);
  settings = watched;
  const seen: (string | undefined)[] = [];
  watched.watch('key', (value) => seen.push(value));
  store.slow = true;
  return { store, watched, seen };
}

test('a request for a watched key informs its watchers first', async () => {
  const store = slowStore();
  settings = watchSettings(store);
  const seen: (string | undefined)[] = [];
  settings.watch('key', (value) => seen.push(value));
  store.values.set('key', 'by another process');
  expect(await settings.get('key')).toBe('by another process');
  expect(seen).toEqual(['by another process']);
});

test('what is asked for in one turn is read once, and each gets its own', async () => {
  const store = slowStore();
  const asked: (readonly string[])[] = [];
  const read = store.read.bind(store);
  const watched = watchSettings({
    ...store,
    read(keys) {
      asked.push(keys);
      return read(keys);
    },
  });
  settings = watched;
  store.values.set('a', '1').set('b', '2').set('c.sql-transformer', '3');
  const own = settingsOfService(watched, 'sql-transformer');
  expect(await Promise.all(['a', 'b', 'a', 'missing'].map((key) => watched.get(key)).concat(own.get('c')))).toEqual([
    '1',
    '2',
    '1',
    undefined,
    '3',
  ]);
  expect(asked).toEqual([['a', 'b', 'missing', 'c.sql-transformer', 'c']]);
  // The read of an earlier turn may be older than what is asked for now.
  store.slow = true;
  const early = watched.get('a');
  await nextTurn();
  expect(store.waiting).toHaveLength(1);
  store.values.set('a', 'new');
  const late = watched.get('a');
  await nextTurn();
  expect(store.waiting).toHaveLength(2);
  for (const answer of store.waiting) answer();
  expect(await Promise.all([early, late])).toEqual(['1', 'new']);
});

test('a store that fails fails all earlier requests, and no later ones', async () => {
  const store = slowStore();
  let fails = true;
  settings = watchSettings({
    ...store,
    read: (keys) => (fails ? Promise.reject(new Error('away')) : store.read(keys)),
  });
  store.values.set('a', '1');
  const { get } = settings;
  for (const answer of await Promise.allSettled([get('a'), get('b')])) expect(answer).toMatchObject({ reason: { message: 'away' } });
  fails = false;
  expect(await get('a')).toBe('1');
});

test('an answer from before a change does not undo it', async () => {
  const { store, watched, seen } = oldKey();
  const late = watched.get('key');
  await nextTurn();
  await watched.compareAndSet('key', 'old', 'new');
  store.waiting.shift()?.();
  expect(await late).toBe('old');
  expect(seen).toEqual(['new']);
});

test('of two questions at the same time the later one counts', async () => {
  const { store, watched, seen } = oldKey();
  const early = watched.get('key');
  await nextTurn();
  store.values.set('key', 'new');
  const late = watched.get('key');
  await nextTurn();
  store.waiting.pop()?.();
  await late;
  store.waiting.pop()?.();
  await early;
  expect(seen).toEqual(['new']);
});

test('of a service, the answers about a key come in any order', async () => {
  const store = slowStore();
  settings = watchSettings(store);
  const own = settingsOfService(settings, 'sql-transformer');
  const seen: (string | undefined)[] = [];
  own.watch('key', (value) => seen.push(value));
  const other = settingsOfService(watchSettings(store), 'sql-transformer');
  for (const value of ['first', 'second']) {
    expect(await other.compareAndSet('key', seen.at(-1), value)).toBe(true);
    store.slow = true;
    const asked = [own.get('key')];
    await nextTurn();
    asked.push(own.get('key'));
    await nextTurn();
    store.slow = false;
    expect(store.waiting).toHaveLength(2);
    // The later question is answered first.
    store.waiting.pop()?.();
    await nextTurn();
    store.waiting.pop()?.();
    expect(await Promise.all(asked)).toEqual([value, value]);
    expect(seen.at(-1)).toBe(value);
  }
});

test('a refreshed configuration has what another process has just changed, and without the store what was known last', async () => {
  const store = slowStore();
  settings = watchSettings(store);
  const other = watchSettings(store);
  const [mine, its] = [await openConfig({}, settings), await openConfig({}, other)];
  try {
    await its.update('DB_PASSWORD', 'mended');
    expect(mine.snapshot().DB_PASSWORD).toBeUndefined();
    expect((await mine.refresh()).DB_PASSWORD).toEqual(new Secret('mended'));
    store.read = () => Promise.reject(new Error('away'));
    expect((await mine.refresh()).DB_PASSWORD).toEqual(new Secret('mended'));
  } finally {
    mine.close();
    its.close();
    other.close();
  }
});
