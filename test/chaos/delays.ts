/**
 * How late things happen on this machine, just now: how much longer than asked a sleep takes here, and how long workers that are up take to
 * answer the least of all requests. Bounds on time are given that much more.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { withLimit } from '../../src/abort.ts';
import type { Member } from './member.ts';
import type { Span } from './spans.ts';

/** Between two looks. A delay that begins and ends between them is shorter than that. */
export const LOOK_MS = 100;
const ANSWER_LIMIT_MS = 5_000;

export class Delays {
  readonly #workers: readonly Member[];
  readonly #seen: { readonly at: number; readonly ms: number }[] = [];
  readonly #asked = new Set<Member>();
  readonly #over = new AbortController();

  constructor(workers: readonly Member[]) {
    this.#workers = workers;
    void this.#watch();
  }

  /** The longest that was seen within the span, in milliseconds. */
  longest({ from, to }: Span): number {
    return Math.max(0, ...this.#seen.flatMap(({ at, ms }) => (at >= from && at - ms <= to ? [ms] : [])));
  }

  close(): void {
    this.#over.abort();
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const before = performance.now();
      await sleep(LOOK_MS);
      this.#note(performance.now() - before - LOOK_MS);
      for (const worker of this.#workers) void this.#ask(worker);
    }
  }

  async #ask(worker: Member): Promise<void> {
    const up = worker.up.at(-1);
    if (!worker.isUp || this.#asked.has(worker)) return;
    this.#asked.add(worker);
    const before = performance.now();
    const asking = async (signal: AbortSignal): Promise<string> => (await fetch(`${worker.url}/health/live`, { signal })).text();
    const answer = await withLimit(ANSWER_LIMIT_MS, asking).catch((error: Error) => error.name);
    this.#asked.delete(worker);
    // What a fault did to it meanwhile is no delay of the machine, and a connection that breaks is none either.
    if (worker.up.at(-1) === up && answer !== 'TypeError') this.#note(performance.now() - before);
  }

  #note(ms: number): void {
    this.#seen.push({ at: Date.now(), ms });
  }
}
