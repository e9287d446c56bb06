/** What each kind of queue provides to `queues/backend/backend.ts`. */
import type { BackendFactory } from 'bullmq';
import type { FairQueueing } from './fair-queueing.ts';
import type { JobChanges } from './jobs/changes.ts';
import type { DatasetLines } from './jobs/lines.ts';
import type { RecoverStalledJobs } from './jobs/stalled-jobs.ts';
import type { SettingsStore } from './settings.ts';

export type BackendKind = 'redis' | 'postgres' | 'embedded';

/** Producers fail at once while the queue is away; workers and listeners wait until it is back. */
export type ConnectionRole = 'producer' | 'consumer';

export interface Driver {
  readonly kind: BackendKind;
  /** Of the names of all keys; the schema of PostgreSQL. */
  readonly prefix: string;
  /** Human-readable, without passwords. */
  readonly description: string;
  /** Creates BullMQ's own backend; undefined: BullMQ's default, Redis. */
  readonly factory: BackendFactory<never, never> | undefined;
  /** BullMQ's `connection` option. */
  connection(role: ConnectionRole): unknown;
  readonly settings: SettingsStore;
  readonly fairQueueing: FairQueueing;
  readonly jobChanges: JobChanges;
  readonly datasetLines: DatasetLines;
  readonly recoverStalled: RecoverStalledJobs;
  /** Reports errors of connections that none of BullMQ's objects listens to. Without a listener such an error would end the process. */
  onError(listener: (error: Error) => void): void;
  /** Writes. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
