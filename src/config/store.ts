/**
 * The configuration of a fleet: defaults, overridden by the environment of the process, overridden by changes at run time.
 *
 * Changes are stored in shared settings of the queue, so every process sees them within a second and they survive a restart. Secrets are
 * sealed there (`secrets.ts`), URLs with a password too. A run keeps the snapshot that was taken when it started.
 */
import { Fault } from '../core/fault.ts';
import { DEFAULTS, OPTION_NAMES, type OptionName, type OptionValues, optionRow, type Snapshot, STARTED } from './options/options.ts';
import { findOption, parseOption, redactedValue } from './parse.ts';
import { isSealed, type SecretBox } from './secrets.ts';

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
   * @param by who changes it, for the history
   * @throws Fault config/unknown, config/invalid — also for an option that is read only at start; service/unavailable
   */
  update(nameOrPath: string, text: string, by?: string): Promise<{ readonly name: OptionName; readonly snapshot: Snapshot }>;
  /** The changes at run time that are in effect, as they are stored: secrets are sealed. */
  stored(): Stored;
  /** The last `HISTORY_LENGTH` changes, oldest first. */
  history(): readonly OptionChange[];
  /** Takes the changes of a backup if nothing was ever changed here. Resolves to whether it did. */
  restore(stored: Stored, by: string): Promise<boolean>;
  /** Calls back after each change by any process. Returns a function that stops watching. */
  onChange(changed: (snapshot: Snapshot) => void): () => void;
  close(): void;
}

/** Texts of options by name; those of secrets are sealed. */
export type Stored = Readonly<Record<string, string>>;

/** A change of an option, as the history shows it. */
export interface OptionChange {
  /** ISO 8601. */
  readonly time: string;
  readonly by: string;
  readonly option: string;
  /** As given; of a secret `******`, or empty if it was removed. */
  readonly value: string;
}

export interface ConfigSecurity {
  /** Absent: secrets are stored as they are given. For tests. */
  readonly secrets?: SecretBox;
  /** Called once for each stored secret that cannot be opened: it counts as not set. */
  readonly unreadable?: (option: OptionName) => void;
  /** Called at the opening if the other processes of the fleet seal secrets under a key that is not here. */
  readonly foreignKey?: () => void;
}

const KEY = 'config';
/** Name of the history among the stored texts; no option can have it. */
const HISTORY = '#history';
export const HISTORY_LENGTH = 100;
/** Holds the identifier of the key under which the fleet seals secrets. */
const FLEET_KEY = 'config-key';
const TRIES = 20;

/** Opens the store. `environment` is the result of `readEnvironment`; without `settings`, nothing can be changed at run time. */
export async function openConfig(
  environment: OptionValues,
  settings?: SharedSettings,
  { secrets, unreadable, foreignKey }: ConfigSecurity = {},
): Promise<ConfigStore> {
  const listeners = new Set<(snapshot: Snapshot) => void>();
  const below: Snapshot = { ...DEFAULTS, ...environment };
  const told = new Set<string>();
  const opened = (name: OptionName, given: string): string | undefined => {
    const plain = isSealed(given) ? secrets?.open(name, given) : given;
    if (plain === undefined && !told.has(given)) unreadable?.(name);
    if (plain === undefined) told.add(given);
    return plain;
  };
  const snapshotOf = (stored: string | undefined): Snapshot => withStored(below, parseStored(stored).values, opened);
  const sealed = (name: string, given: string): string =>
    secrets === undefined || !holdsSecret(name, given) || isSealed(given) ? given : secrets.seal(name, given);

  let text = await settings?.get(KEY);
  let current = snapshotOf(text);

  const take = (now: string | undefined): void => {
    if (now === text) return;
    text = now;
    current = snapshotOf(now);
    for (const listener of listeners) listener(current);
  };
  const unwatch = settings?.watch(KEY, take);

  /** Replaces what is stored, repeatedly if another process does so too. `change` gives undefined if there is nothing to do. */
  const replace = async (what: string, change: (before: Parsed) => Parsed | undefined): Promise<boolean> => {
    if (settings === undefined) throw new Fault('service/unavailable', 'This process has no shared settings to keep a change in');
    for (let i = 0; i < TRIES; i++) {
      const before = await settings.get(KEY);
      const next = change(parseStored(before));
      if (next === undefined) return false;
      const after = JSON.stringify({ ...next.values, [HISTORY]: next.history.slice(-HISTORY_LENGTH) });
      if (await settings.compareAndSet(KEY, before, after)) {
        take(after);
        return true;
      }
    }
    throw new Fault('service/unavailable', `${what} from too many places at once`, { hint: 'Try again' });
  };

  if (!(await joinFleet())) foreignKey?.();
  await sealAll();

  /** Resolves to whether this process has the key of the fleet. The first process sets it, and one that has a newer key, too, replaces it. */
  async function joinFleet(): Promise<boolean> {
    if (secrets === undefined || settings === undefined) return true;
    const [first] = secrets.keyIds as [string];
    for (let i = 0; i < TRIES; i++) {
      const fleet = await settings.get(FLEET_KEY);
      if (fleet === first) return true;
      if (fleet !== undefined && !secrets.keyIds.includes(fleet)) return false;
      if (await settings.compareAndSet(FLEET_KEY, fleet, first)) return true;
    }
    return false;
  }

  /** Seals secrets that are stored in clear text, or sealed under a key other than the first. */
  async function sealAll(): Promise<void> {
    if (secrets === undefined || settings === undefined || !(await joinFleet())) return;
    const renewed = (name: string, given: string): string => {
      if (secrets.isCurrent(given)) return given;
      const plain = isSealed(given) ? secrets.open(name, given) : given;
      return plain === undefined ? given : sealed(name, plain);
    };
    await replace('The configuration is being changed', ({ values, history }) => {
      const next = Object.fromEntries(Object.entries(values).map(([name, given]) => [name, renewed(name, given)]));
      return Object.keys(next).every((name) => next[name] === values[name]) ? undefined : { values: next, history };
    });
  }

  return {
    snapshot: () => current,

    async refresh() {
      await settings?.get(KEY).catch(() => undefined);
      return current;
    },

    async update(nameOrPath, given, by = 'unknown') {
      const name = findOption(nameOrPath);
      parseOption(name, given);
      const { live, start, instead } = optionRow(name);
      if (live !== true) {
        throw new Fault(
          'config/invalid',
          `The option ${name} is read when the process starts and cannot be changed while it runs: ${start}`,
          {
            hint: instead ?? `Set the environment variable ${name} and restart`,
          },
        );
      }
      if (holdsSecret(name, given) && !(await joinFleet())) {
        throw new Fault(
          'config/invalid',
          `The option ${name} ${isSecret(name) ? 'is' : 'holds'} a secret, and this process lacks the key under which the fleet keeps secrets`,
          {
            hint: 'Give all processes the same SECRETS_KEY, or one DATA_DIR, and restart them',
          },
        );
      }
      const change = { time: new Date().toISOString(), by, option: name, value: shown(name, given) };
      await replace(`The option ${name} is being changed`, ({ values, history }) => ({
        values: { ...values, [name]: sealed(name, given) },
        history: [...history, change],
      }));
      return { name, snapshot: current };
    },

    stored: () => parseStored(text).values,

    history: () => parseStored(text).history,

    async restore(stored, by) {
      const time = new Date().toISOString();
      const known = Object.entries(stored).filter(([name]) => (OPTION_NAMES as readonly string[]).includes(name));
      return replace('The configuration is being changed', ({ values, history }) =>
        Object.keys(values).length > 0
          ? undefined
          : {
              values: Object.fromEntries(known.map(([name, given]) => [name, sealed(name, given)])),
              history: [...history, ...known.map(([option, given]) => ({ time, by, option, value: shown(option, given) }))],
            },
      );
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

interface Parsed {
  readonly values: Stored;
  readonly history: readonly OptionChange[];
}

function parseStored(text: string | undefined): Parsed {
  if (text === undefined) return { values: {}, history: [] };
  const { [HISTORY]: history = [], ...values } = JSON.parse(text) as Record<string, unknown>;
  return { values: values as Stored, history: history as readonly OptionChange[] };
}

const isSecret = (name: string): boolean =>
  (OPTION_NAMES as readonly string[]).includes(name) && optionRow(name as OptionName).secret === true;

/** Whether the value is a secret, or a URL with a password. */
const holdsSecret = (name: string, given: string): boolean => given !== '' && (isSecret(name) || redactedValue(name, given) !== given);

const shown = (name: string, given: string): string => (given !== '' && isSecret(name) ? '******' : redactedValue(name, given));

/** Stored values from an older or newer version that this version does not accept are ignored: they must not stop the fleet. */
function withStored(below: Snapshot, stored: Stored, opened: (name: OptionName, text: string) => string | undefined): Snapshot {
  const values: Record<string, unknown> = { ...below };
  for (const name of OPTION_NAMES) {
    const given = stored[name];
    if (given === undefined || optionRow(name).live !== true) continue;
    const text = opened(name, given);
    if (text === undefined) {
      // Not the value of the environment either: the stored one, which cannot be opened, has replaced it.
      values[name] = DEFAULTS[name];
      continue;
    }
    try {
      values[name] = parseOption(name, text);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  Object.defineProperty(values, STARTED, { value: below });
  return Object.freeze(values) as unknown as Snapshot;
}
