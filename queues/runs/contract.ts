/** What the API knows of the queue: submit a run, wait for it, look at it, cancel it. `queues/runs/runs.ts` keeps the promise. */

import type { Outcome, RunSource, RunState, RunView, Service, ServiceRequest } from '../jobs.ts';
import type { CronSchedule } from '../schedule/cron.ts';

export interface Submitted {
  readonly id: string;
  /** True when an earlier request with the same idempotency key and the same content had made the run. */
  readonly existing: boolean;
}

export interface Runs {
  /**
   * Enqueues a run. With an idempotency key: the same key and request give the same run. `digest` says which requests
   * are the same; left out, those with the same service, inputs and mappings. `source` is the message that asks for it.
   *
   * Runs of the same `urgency` (0 to 7, 0 first; left out: 3) are taken by turns from each `caller`, those of one caller in order.
   *
   * @throws Fault request/conflict — same key, another request; service/unavailable — the queue cannot be reached
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
  /** The outcome, as soon as there is one; undefined when `waitMs` ran out first (0: no limit). */
  outcome(id: string, waitMs: number): Promise<Outcome | undefined>;
  get(id: string): Promise<RunView | undefined>;
  /** Newest first. However long it takes, the queue answers in time or it is not there. @throws Fault service/unavailable */
  list(options: { readonly service?: Service; readonly state?: RunState; readonly limit: number }): Promise<readonly RunView[]>;
  /** Cancels a waiting or running run. Returns its view, undefined when there is no such run. */
  cancel(id: string): Promise<RunView | undefined>;
  /** Counts by state of all services, for metrics and readiness. @throws Fault service/unavailable */
  counts(): Promise<Readonly<Record<string, number>>>;
}

/** The schedule of the SQL transformer; `queues/schedule/schedule.ts` keeps the promise. */
export interface Schedule {
  /** As this process knows it, at most a second old; undefined: off. */
  current(): CronSchedule | undefined;
  /** Sets it for the whole fleet; undefined: off. @throws Fault service/unavailable */
  set(timing: CronSchedule | undefined): Promise<void>;
}

export type { SharedSettings } from '../../src/config/store.ts';
