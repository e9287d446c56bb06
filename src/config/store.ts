/**
 * The configuration of a fleet: defaults, overridden by the environment of the process, overridden by changes at run time.
 *
 * Changes are stored in shared settings of the queue, so every process sees them within a second and they survive a restart. A run keeps
 * the snapshot that was taken when it started.
 */
import { Fault } from '../core/fault.ts';
import { DEFAULTS, OPTION_NAMES, type OptionName, type OptionValues, optionRow, type Snapshot } from './options/options.ts';
import { findOption, parseOption } from './parse.ts';

/** A small shared map with change notification: configuration for the whole fleet. */
export interface SharedSettings {
  /** Watchers of `key` in this process are notified before this resolves. */
  get(key: string): Promise<string | undefined>;
  /** Sets `key` if its present value is `expected` (undefined: absent). Returns false if another process changed it first. */
  compareAndSet(key: string, expected: string | undefined, value: string): Promise<boolean>;
  /** Calls back within a second of a change by any process. Returns a function that stops watching. */
  watch(key: string, changed: (value: string | undefined) => void): () => void;
}

export interface ConfigStore {
  /** The present values, frozen: the same object until something changes. */
  snapshot(): Snapshot;
  /** Reads the store before returning the values; if the store does not answer, returns the last known values. */
  refresh(): Promise<Snapshot>;
  /**
   * Changes an option, given by name or path, for the whole fleet. Resolves when the change is stored and visible here.
   *
   * @throws Fault config/unknown, config/invalid — also for an option that is read only at start; service/unavailable
   */
  update(nameOrPath: string, text: string): Promise<{ readonly name: OptionName; readonly snapshot: Snapshot }>;
  /** Calls back after each change by any process. Returns a function that stops watching. */
  onChange(changed: (snapshot: Snapshot) => void): () => void;
  close(): void;
}

const KEY = 'config';
const TRIES = 20;

type Stored = Readonly<Record<string, string>>;

/** Opens the store. `environment` is the result of `readEnvironment`; without `settings`, nothing can be changed at run time. */
export async function openConfig(environment: OptionValues, settings?: SharedSettings): Promise<ConfigStore> {
  const listeners = new Set<(snapshot: Snapshot) => void>();
  const below: Snapshot = { ...DEFAULTS, ...environment };
  let text = await settings?.get(KEY);
  let current = withStored(below, parseStored(text));

  const take = (now: string | undefined): void => {
    if (now === text) return;
    text = now;
    current = withStored(below, parseStored(now));
    for (const listener of listeners) listener(current);
  };
  const unwatch = settings?.watch(KEY, take);

  return {
    snapshot: () => current,

    async refresh() {
      await settings?.get(KEY).catch(() => undefined);
      return current;
    },

    async update(nameOrPath, given) {
      const name = findOption(nameOrPath);
      parseOption(name, given);
      const { live, instead } = optionRow(name);
      if (live !== true) {
        throw new Fault('config/invalid', `The option ${name} is read when the process starts and cannot be changed while it runs`, {
          hint: instead ?? `Set the environment variable ${name} and restart`,
        });
      }
      if (settings === undefined) throw new Fault('service/unavailable', 'This process has no shared settings to keep a change in');
      for (let i = 0; i < TRIES; i++) {
        const before = await settings.get(KEY);
        const after = JSON.stringify({ ...parseStored(before), [name]: given });
        if (before === after || (await settings.compareAndSet(KEY, before, after))) {
          take(after);
          return { name, snapshot: current };
        }
      }
      throw new Fault('service/unavailable', `The option ${name} is being changed from too many places at once`, { hint: 'Try again' });
    },

    onChange(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },

    close() {
      unwatch?.();
      listeners.clear();
    },
  };
}

function parseStored(text: string | undefined): Stored {
  return text === undefined ? {} : (JSON.parse(text) as Stored);
}

/** Stored values from an older or newer version that this version does not accept are ignored: they must not stop the fleet. */
function withStored(below: Snapshot, stored: Stored): Snapshot {
  const values: Record<string, unknown> = { ...below };
  for (const name of OPTION_NAMES) {
    const text = stored[name];
    if (text === undefined || optionRow(name).live !== true) continue;
    try {
      values[name] = parseOption(name, text);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  return Object.freeze(values) as unknown as Snapshot;
}
