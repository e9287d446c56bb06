/**
 * Latency of this machine: how much longer than requested a sleep takes, and how long running workers and the queue take for the smallest
 * request. Time limits of the checks are extended by it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { withLimit } from '../../../src/core/abort.ts';
import type { FleetProcess } from '../fleet/process.ts';
import type { World } from '../fleet/world.ts';
import type { Span } from './spans.ts';

/** Measuring interval. A delay within one interval is shorter than that. */
export const LOOK_MS = 100;
const ANSWER_LIMIT_MS = 5_000;

export class Latencies {
  readonly #workers: readonly FleetProcess[];
  readonly #queue: { readonly url: string; readonly busy: boolean };
  readonly #client: Redis;
  readonly #seen: { readonly at: number; readonly ms: number }[] = [];
  readonly #asked = new Set<object>();
  readonly #over = new AbortController();

  constructor({ workers, redis }: Pick<World, 'workers' | 'redis'>) {
    this.#workers = workers;
    this.#queue = redis;
    this.#client = new Redis(redis.url, { maxRetriesPerRequest: 0, enableOfflineQueue: false });
    this.#client.on('error', () => undefined);
    void this.#watch();
  }

  /** The longest measured within the span, in milliseconds. */
  longest({ from, to }: Span): number {
    return Math.max(0, ...this.#seen.flatMap(({ at, ms }) => (at >= from && at - ms <= to ? [ms] : [])));
  }

  /**
   * How many times longer than on an idle machine things took within the span, at least 1: what the probes were late on the average, against their
   * interval. A machine with many processes for each core is late each time, not once.
   */
  slowdown({ from, to }: Span): number {
    const late = this.#seen.flatMap(({ at, ms }) => (at >= from && at - ms <= to ? [ms] : []));
    return late.length === 0 ? 1 : 1 + late.reduce((sum, ms) => sum + Math.max(0, ms), 0) / late.length / LOOK_MS;
  }

  close(): void {
    this.#over.abort();
    this.#client.disconnect();
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const before = performance.now();
      await sleep(LOOK_MS);
      this.#note(performance.now() - before - LOOK_MS);
      for (const worker of this.#workers) void this.#ask(worker);
      void this.#askQueue();
    }
  }

  /** Redis syncs to disk before it answers. */
  async #askQueue(): Promise<void> {
    if (this.#queue.busy || this.#asked.has(this.#queue)) return;
    this.#asked.add(this.#queue);
    const before = performance.now();
    const answered = await this.#client.ping().catch(() => undefined);
    this.#asked.delete(this.#queue);
    if (answered !== undefined && !this.#queue.busy) this.#note(performance.now() - before);
  }

  async #ask(worker: FleetProcess): Promise<void> {
    const up = worker.up.at(-1);
    if (!worker.isUp || this.#asked.has(worker)) return;
    this.#asked.add(worker);
    const before = performance.now();
    const asking = async (signal: AbortSignal): Promise<string> => (await fetch(`${worker.url}/health/live`, { signal })).text();
    const answer = await withLimit(ANSWER_LIMIT_MS, asking).catch((error: Error) => error.name);
    this.#asked.delete(worker);
    // Delays caused by a fault do not count, nor do broken connections.
    if (worker.up.at(-1) === up && answer !== 'TypeError') this.#note(performance.now() - before);
  }

  #note(ms: number): void {
    this.#seen.push({ at: Date.now(), ms });
  }
}
