/** What the API uses of the queue: submit a run, wait for it, view it, cancel it. Implemented in `queues/runs/runs.ts`. */

import type { CronSchedule } from '../cron.ts';
import type { Outcome, RunSource, RunState, RunView, Service, ServiceRequest } from '../jobs.ts';

export interface Submitted {
  readonly id: string;
  /** True if an earlier request with the same idempotency key and the same content created the run. */
  readonly existing: boolean;
}

export interface Runs {
  /**
   * Enqueues a run. The same idempotency key and request always give the same run. `digest` decides which requests are the same; default:
   * those with the same service, inputs, mappings and dataset. `source` is the message that requested the run.
   *
   * Runs of the same `urgency` (0 to 7, 0 first, default 3) are distributed fairly over their `caller`s; runs of one caller stay in order.
   *
   * @throws Fault request/conflict — the key was used for another request, or the dataset is followed; service/unavailable — the queue cannot be reached
   */
  submit(
    request: ServiceRequest,
    options: {
      readonly idempotencyKey?: string;
      readonly digest?: string;
      readonly source?: RunSource;
      readonly caller?: string;
      readonly urgency?: number;
    },
  ): Promise<Submitted>;
  /** Waits for the outcome; undefined after `waitMs` (0: no limit). */
  outcome(id: string, waitMs: number): Promise<Outcome | undefined>;
  get(id: string): Promise<RunView | undefined>;
  /** Newest first. A long list may take longer than one answer of the queue may. @throws Fault service/unavailable */
  list(options: { readonly service?: Service; readonly state?: RunState; readonly limit: number }): Promise<readonly RunView[]>;
  /** Cancels a waiting or running run. Returns its view; undefined: no such run. */
  cancel(id: string): Promise<RunView | undefined>;
  /** Counts of all services by state, for metrics and readiness. @throws Fault service/unavailable */
  counts(): Promise<Readonly<Record<string, number>>>;
}

/** The schedule of the SQL transformer. Implemented in `queues/schedule/schedule.ts`. */
export interface Schedule {
  /** The state known to this process, at most a second old; undefined: off. */
  current(): CronSchedule | undefined;
  /** Sets the schedule of the whole fleet; undefined: off. @throws Fault service/unavailable */
  set(timing: CronSchedule | undefined): Promise<void>;
}

export type { SharedSettings } from '../../src/config/store.ts';
