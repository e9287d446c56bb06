/** What the API knows of the queue: submit a run, wait for it, look at it, cancel it. `queues/runs.ts` keeps the promise. */
import type { Outcome, RunState, RunView, Service, TransformRequest } from './jobs.ts';

export interface Submitted {
  readonly id: string;
  /** True when an earlier request with the same idempotency key and the same content had made the run. */
  readonly existing: boolean;
}

export interface Runs {
  /**
   * Enqueues a run. With an idempotency key: the same key and request give the same run.
   *
   * @throws Fault request/conflict — same key, another request; service/unavailable — the queue cannot be reached
   */
  submit(request: TransformRequest, options: { readonly idempotencyKey?: string }): Promise<Submitted>;
  /** The outcome, as soon as there is one; undefined when `waitMs` ran out first (0: no limit). */
  outcome(id: string, waitMs: number): Promise<Outcome | undefined>;
  get(id: string): Promise<RunView | undefined>;
  /** Newest first. */
  list(options: { readonly service?: Service; readonly state?: RunState; readonly limit: number }): Promise<readonly RunView[]>;
  /** Cancels a waiting or running run. Returns its view, undefined when there is no such run. */
  cancel(id: string): Promise<RunView | undefined>;
  /** Counts by state of all services, for metrics and readiness. @throws Fault service/unavailable */
  counts(): Promise<Readonly<Record<string, number>>>;
}

/** A small shared map with change notice: configuration that is one for the whole fleet. */
export interface SharedSettings {
  get(key: string): Promise<string | undefined>;
  /** Sets `key` when its present value is `expected` (undefined: absent); false when another was faster. */
  compareAndSet(key: string, expected: string | undefined, value: string): Promise<boolean>;
  /** Calls back within a second of a change by any process. Returns the function that ends it. */
  watch(key: string, changed: (value: string | undefined) => void): () => void;
}
