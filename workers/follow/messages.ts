/** Messages between a worker and the process that follows for it. Plain data; secrets are packed. */
import type { FaultData } from '../../src/core/fault.ts';
import type { Packed } from '../../src/core/secret.ts';
import type { KafkaSecurity } from '../../src/kafka/client.ts';
import type { RejectedMessage } from '../../src/streams/events.ts';
import type { FollowProgress } from '../../src/streams/follow/follower.ts';
import type { DatasetTask, RunResult, Task } from '../task.ts';

export interface FollowTask {
  /** Request and output as those of a run, and its dataset. */
  readonly task: Task & { readonly dataset: DatasetTask };
  readonly topics: {
    /** Of Debezium's, with the changes of tables; undefined: those are in the log of the database. */
    readonly address: string | undefined;
    readonly registry: string | undefined;
    readonly security: KafkaSecurity;
    /** Which brokers get the login, `host:port`, beside those of the address: a mapping may name any. */
    readonly trusted: readonly string[];
  };
  readonly epochSeconds: number;
  readonly epochRecords: number;
}

export type ToFollower =
  | { readonly kind: 'follow'; readonly task: Packed<FollowTask> }
  /** The worker has the lease, and says so again within this time: the process ends itself if it does not. */
  | { readonly kind: 'renewed'; readonly withinMs: number }
  /** Ends it after the epoch. */
  | { readonly kind: 'stop' }
  /** To the question of that number. */
  | { readonly kind: 'answer'; readonly id: number; readonly fault?: FaultData | undefined };

/** What the follower waits for. */
export type FollowerQuestion =
  /** The manifest of a version is to appear: whether it may. */
  | { readonly kind: 'confirm' }
  /** The newest version, at the start and after each that is made, which is new then. `runId`: of its manifest. */
  | { readonly kind: 'version'; readonly runId: string; readonly result: RunResult; readonly isNew: boolean }
  | { readonly kind: 'rejected'; readonly message: RejectedMessage };

export type FromFollower =
  | { readonly kind: 'ask'; readonly id: number; readonly question: FollowerQuestion }
  | { readonly kind: 'progress'; readonly progress: FollowProgress }
  /** The feed is lost, and is asked again. */
  | { readonly kind: 'retry'; readonly fault: FaultData; readonly waitMs: number }
  | { readonly kind: 'warning'; readonly text: string }
  /** The last message. `changed`: the mapping is another one now. */
  | { readonly kind: 'ended'; readonly reason: 'stopped' | 'changed' }
  | { readonly kind: 'failed'; readonly fault: FaultData };
