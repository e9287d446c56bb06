/**
 * The custom functions of the fleet: which version new runs begin with, and the files of each version, by digest, in the shared settings of
 * the queue.
 *
 * A worker copies the files of a version into its data directory when a run needs it for the first time. So each process gets the files that
 * were tried, whatever stands at their URLs by then.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Snapshot } from '../src/config/options/options.ts';
import type { SharedSettings } from '../src/config/store.ts';
import { Fault } from '../src/core/fault.ts';
import { writeSet } from '../src/custom-functions/fetch.ts';
import { type CallLimits, type FunctionSet, filesOf, readSet, SET_FILE } from '../src/custom-functions/files.ts';
import type { DescribedSet } from '../src/custom-functions/open.ts';

export interface FleetFunctions {
  /** The version that new runs begin with; undefined: there are no custom functions. */
  current(): string | undefined;
  /** The present functions, to check mappings with. @throws Fault service/unavailable */
  described(): Promise<DescribedSet | undefined>;
  /**
   * The directory of a version, with a copy of its files.
   *
   * @throws Fault functions/invalid — the fleet has not kept the version; service/unavailable
   */
  directoryOf(version: string): Promise<string>;
  /** Makes a set that stands in `directory` the present one of the fleet; undefined: none. Resolves when that is stored and visible here. */
  switchTo(directory: string | undefined): Promise<void>;
  close(): void;
}

/** The settings: which version is the present one, and below it the earlier ones. */
const KEY = 'custom-functions';
const keyOf = (version: string): string => `${KEY}/${version}`;
/** Versions that the fleet keeps, for runs that began with them and wait. */
export const KEPT_VERSIONS = 10;
const TRIES = 20;

interface State {
  /** null: there are none. */
  readonly current: string | null;
  /** The newest first. */
  readonly kept: readonly string[];
}

interface StoredSet {
  readonly set: FunctionSet;
  /** Base64 by SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

/** @param directory for the copies */
export async function openFleetFunctions(settings: SharedSettings, directory: string): Promise<FleetFunctions> {
  let state = parseState(await settings.get(KEY));
  const unwatch = settings.watch(KEY, (text) => {
    state = parseState(text);
  });
  let described: { readonly version: string; readonly set: Promise<DescribedSet> } | undefined;
  const copying = new Map<string, Promise<string>>();

  const copy = async (version: string): Promise<string> => {
    const place = join(directory, version);
    if (existsSync(join(place, SET_FILE))) return place;
    const text = await settings.get(keyOf(version));
    if (text === undefined || text === '') {
      throw new Fault('functions/invalid', `The fleet has no custom functions of the version ${version} any more`, {
        hint: `It keeps the last ${KEPT_VERSIONS} versions; start the run again`,
      });
    }
    const { set, files } = JSON.parse(text) as StoredSet;
    const contents = new Map(Object.entries(files).map(([sha256, base64]) => [sha256, Buffer.from(base64, 'base64')]));
    await writeSet(set, contents, directory);
    return place;
  };
  const directoryOf = (version: string): Promise<string> => {
    const found = copying.get(version) ?? copy(version).finally(() => copying.delete(version));
    copying.set(version, found);
    return found;
  };

  return {
    current: () => state.current ?? undefined,

    async described() {
      const version = state.current;
      if (version === null) return undefined;
      if (described?.version !== version) {
        const set = directoryOf(version).then(async (place) => {
          const { description } = await readSet(place);
          return { version, url: description.url, text: await readFile(join(place, description.sha256), 'utf8') };
        });
        described = { version, set };
        set.catch(() => {
          described = undefined;
        });
      }
      return described.set;
    },

    directoryOf,

    async switchTo(place) {
      const set = place === undefined ? undefined : await readSet(place);
      if (set !== undefined) await store(settings, set, place as string);
      for (let i = 0; i < TRIES; i++) {
        const before = await settings.get(KEY);
        const { kept } = parseState(before);
        const versions = set === undefined ? kept : [set.version, ...kept.filter((version) => version !== set.version)];
        const next: State = { current: set?.version ?? null, kept: versions.slice(0, KEPT_VERSIONS) };
        if (!(await settings.compareAndSet(KEY, before, JSON.stringify(next)))) continue;
        state = next;
        for (const version of versions.slice(KEPT_VERSIONS)) await forget(settings, version);
        return;
      }
      throw new Fault('service/unavailable', 'The custom functions are being changed from too many places at once', { hint: 'Try again' });
    },

    close: unwatch,
  };
}

async function store(settings: SharedSettings, set: FunctionSet, place: string): Promise<void> {
  const files: Record<string, string> = {};
  for (const { sha256 } of filesOf(set)) files[sha256] = (await readFile(join(place, sha256))).toString('base64');
  const stored: StoredSet = { set, files };
  const text = JSON.stringify(stored);
  const before = await settings.get(keyOf(set.version));
  // Otherwise another process stores the same at the same time, or it was stored before.
  if (before === undefined || before === '') await settings.compareAndSet(keyOf(set.version), before, text);
}

/** Settings cannot be removed: an empty one takes no room. */
async function forget(settings: SharedSettings, version: string): Promise<void> {
  const before = await settings.get(keyOf(version));
  if (before !== undefined && before !== '') await settings.compareAndSet(keyOf(version), before, '');
}

const parseState = (text: string | undefined): State => (text === undefined ? { current: null, kept: [] } : (JSON.parse(text) as State));

/** What a call of a run may need, by the options. */
export const callLimitsOf = ({ CUSTOM_FUNCTION_SECONDS, CUSTOM_FUNCTION_MEMORY_MB }: Snapshot): CallLimits => ({
  seconds: CUSTOM_FUNCTION_SECONDS,
  memoryMb: CUSTOM_FUNCTION_MEMORY_MB,
});
