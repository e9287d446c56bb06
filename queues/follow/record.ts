/**
 * What a fleet knows of the follower of a dataset: which worker follows, how far it is, and why it fails. One record in the shared settings is the lease
 * (`lease.ts`) and the state that others show.
 */

import type { SharedSettings } from '../../src/config/store.ts';
import { Fault } from '../../src/core/fault.ts';
import { redact } from '../../src/core/redact.ts';
import type { Transformer } from '../jobs.ts';

/** `waiting`: for the target, which lacks versions. `failed`: it restarts after a while. `off`: it has ended on request. */
export const FOLLOWER_PHASES = ['starting', 'following', 'waiting', 'failed', 'off'] as const;
export type FollowerPhase = (typeof FOLLOWER_PHASES)[number];

export interface FollowerState {
  readonly service: Transformer;
  readonly phase: FollowerPhase;
  /** Where the changes come from, without a login; undefined: it has not been opened. */
  readonly feed?: string | undefined;
  readonly position?: Readonly<Record<string, string>> | undefined;
  /** The newest version; undefined: there is none, or it is not known yet. */
  readonly version?: number | undefined;
  /** How far it is behind its feed; undefined: it has not been measured. */
  readonly lag?: FollowerLag | undefined;
  /** Versions that the target lacks; undefined: no target is known. */
  readonly behind?: number | undefined;
  /** Why it failed last. */
  readonly reason?: string | undefined;
}

/** What the feed does not count is missing. */
export interface FollowerLag {
  readonly messages?: number | undefined;
  readonly bytes?: number | undefined;
  readonly seconds: number;
  /** Bytes of its log that the database keeps for the follower. */
  readonly keptBytes?: number | undefined;
}

export interface FollowerRecord extends FollowerState {
  /** Id of the worker that has the lease; undefined: none has it. */
  readonly worker?: string | undefined;
  /** Changes with each renewal of the lease. */
  readonly beat: string;
  /** Of the renewal, by the clock of the worker. ISO 8601. */
  readonly time: string;
}

/** @param url of the dataset */
export const followerKey = (url: string): string => `follower of ${redact(url)}`;
const targetKey = (url: string): string => `target version of ${redact(url)}`;

export const parseRecord = (text: string | undefined): FollowerRecord | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as FollowerRecord);

/** A record that is older is that of a fleet without workers: a follower that fails restarts within a minute. */
const STALE_MS = 180_000;

/**
 * The follower of a dataset. Clocks of machines may differ by a minute or two.
 *
 * @returns undefined: the dataset is not followed
 */
export async function followerOf(settings: Pick<SharedSettings, 'get'>, url: string): Promise<FollowerRecord | undefined> {
  const record = parseRecord(await settings.get(followerKey(url)));
  return record === undefined || record.phase === 'off' || Date.now() - Date.parse(record.time) > STALE_MS ? undefined : record;
}

/** @throws Fault request/conflict — the dataset is followed, so a run can make no version of it */
export async function assertNotFollowed(
  settings: Pick<SharedSettings, 'get'>,
  { name, url }: { readonly name: string; readonly url: string },
): Promise<void> {
  if ((await followerOf(settings, url)) === undefined) return;
  throw new Fault(
    'request/conflict',
    `The dataset ${name} is followed: its versions are made of the changes of its tables, and not by runs`,
    {
      hint: 'Name another dataset, or set FOLLOW=false first',
    },
  );
}

const TRIES = 10;

/** Notes that the target has a version of a dataset. */
export async function noteTargetVersion(settings: SharedSettings, url: string, version: number): Promise<void> {
  const key = targetKey(url);
  for (let i = 0; i < TRIES; i++) {
    const before = await settings.get(key);
    if (before === String(version) || (await settings.compareAndSet(key, before, String(version)))) return;
  }
}

/** The version that the target has; undefined: it has had none. */
export async function targetVersionOf(settings: Pick<SharedSettings, 'get'>, url: string): Promise<number | undefined> {
  const text = await settings.get(targetKey(url));
  return text === undefined ? undefined : Number(text);
}
