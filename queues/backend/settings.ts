/** Shared settings on any store that can read several keys and compare-and-set one. Changes are found by polling. */
import type { SharedSettings } from '../../src/config/store.ts';
import type { Service } from '../jobs.ts';

export interface SettingsStore {
  /** Values in the order of `keys`; undefined: the key does not exist. */
  read(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  compareAndSet(key: string, expected: string | undefined, value: string): Promise<boolean>;
}

/** A store that only this process uses: what it has read or written need not be read again. */
export function ofOneProcess(store: SettingsStore): SettingsStore {
  const known = new Map<string, string | undefined>();
  return {
    async read(keys) {
      const unknown = keys.filter((key) => !known.has(key));
      const values = unknown.length === 0 ? [] : await store.read(unknown);
      unknown.forEach((key, i) => {
        // What was written meanwhile is newer.
        if (!known.has(key)) known.set(key, values[i]);
      });
      return keys.map((key) => known.get(key));
    },
    async compareAndSet(key, expected, value) {
      // Without an answer, the store is asked again.
      const done = await store.compareAndSet(key, expected, value).catch((error) => {
        known.delete(key);
        throw error;
      });
      if (done) known.set(key, value);
      return done;
    },
  };
}

export interface WatchedSettings extends SharedSettings {
  close(): void;
}

/** Well under the second that the contract allows; one small read, however many keys are watched. */
const INTERVAL_MS = 400;

interface WatchedKey {
  value: string | undefined;
  known: boolean;
  /** Number of the read or write that gave `value`. */
  applied: number;
  readonly listeners: Set<(value: string | undefined) => void>;
}

/**
 * Polls all watched keys together. Polling was chosen over the stores' notifications: it works the same for all of them and misses nothing
 * while a connection is down.
 */
export function watchSettings(store: SettingsStore): WatchedSettings {
  const watched = new Map<string, WatchedKey>();
  let timer: NodeJS.Timeout | undefined;
  let polling = false;
  /** Number of the last read or own write, by start time. */
  let started = 0;

  /** A result that arrives after that of a later read or write of the same key is outdated and ignored. */
  const apply = (key: string, value: string | undefined, sequence: number): void => {
    const entry = watched.get(key);
    if (entry === undefined || sequence <= entry.applied) return;
    entry.applied = sequence;
    if (entry.known && entry.value === value) return;
    const first = !entry.known;
    entry.known = true;
    entry.value = value;
    if (!first || value !== undefined) for (const listener of [...entry.listeners]) listener(value);
  };

  const read = async (keys: readonly string[]): Promise<readonly (string | undefined)[]> => {
    const sequence = ++started;
    const values = await store.read(keys);
    keys.forEach((key, i) => {
      apply(key, values[i], sequence);
    });
    return values;
  };

  /** Keys that are asked for in one turn are read together, after all of these calls. */
  let gathered: { readonly keys: Set<string>; readonly values: Promise<ReadonlyMap<string, string | undefined>> } | undefined;
  const readGathered = async (keys: ReadonlySet<string>): Promise<ReadonlyMap<string, string | undefined>> => {
    await undefined;
    gathered = undefined;
    const names = [...keys];
    const values = await read(names);
    return new Map(names.map((key, i) => [key, values[i]]));
  };
  const get = async (key: string): Promise<string | undefined> => {
    if (gathered === undefined) {
      const keys = new Set<string>();
      gathered = { keys, values: readGathered(keys) };
    }
    gathered.keys.add(key);
    return (await gathered.values).get(key);
  };

  const poll = async (): Promise<void> => {
    if (polling || watched.size === 0) return;
    polling = true;
    try {
      await read([...watched.keys()]);
    } catch {
      // The queue is away and its connection reports that; the next interval polls again.
    } finally {
      polling = false;
    }
  };

  return {
    get,

    async compareAndSet(key, expected, value) {
      const done = await store.compareAndSet(key, expected, value);
      if (done) apply(key, value, ++started);
      return done;
    },

    watch(key, changed) {
      const entry = watched.get(key) ?? { value: undefined, known: false, applied: 0, listeners: new Set() };
      watched.set(key, entry);
      entry.listeners.add(changed);
      timer ??= setInterval(() => void poll(), INTERVAL_MS).unref();
      return () => {
        entry.listeners.delete(changed);
        if (entry.listeners.size === 0) watched.delete(key);
        if (watched.size === 0 && timer !== undefined) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },

    close() {
      if (timer !== undefined) clearInterval(timer);
      timer = undefined;
      watched.clear();
    },
  };
}

/**
 * The settings of the processes of one service, beside those of others on the same queue. A key that none of them has set has the value that
 * processes of all services have given it; the first change makes it their own.
 */
export function settingsOfService(settings: SharedSettings, service: Service): SharedSettings {
  const ownKey = (key: string): string => `${key}.${service}`;
  const read = async (key: string) => {
    const [own, common] = await Promise.all([settings.get(ownKey(key)), settings.get(key)]);
    return { own, value: own ?? common };
  };
  return {
    get: async (key) => (await read(key)).value,

    async compareAndSet(key, expected, value) {
      const { own, value: present } = await read(key);
      return present === expected && settings.compareAndSet(ownKey(key), own, value);
    },

    watch(key, changed) {
      let own: string | undefined;
      let common: string | undefined;
      let last: string | undefined;
      const tell = (): void => {
        const value = own ?? common;
        if (value === last) return;
        last = value;
        changed(value);
      };
      const ends = [
        settings.watch(ownKey(key), (value) => {
          own = value;
          tell();
        }),
        settings.watch(key, (value) => {
          common = value;
          tell();
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
