/** Times of what a busy machine may make late. */
import { expect } from '@jest/globals';

/**
 * The least of several measures in milliseconds, the first that is within `limitMs` ending them: what the program promises is shown by
 * one, and the others may have met a busy machine.
 */
export async function fastest(limitMs: number, measure: () => Promise<number>, tries = 5): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries && least > limitMs; i++) least = Math.min(least, await measure());
  return least;
}

/** Milliseconds of the processor's time that `act` takes in this process: how busy the machine is does not count. */
export async function processorMs(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Milliseconds that `act` takes. */
export async function elapsedMs(act: () => unknown): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

/** Milliseconds from a signal, which comes while `run` is under way, to its end by that. */
export async function endBySignal(run: (signal: AbortSignal) => Promise<unknown>): Promise<number> {
  const controller = new AbortController();
  let abortedAt = 0;
  setTimeout(() => {
    abortedAt = performance.now();
    controller.abort();
  }, 600);
  await expect(run(controller.signal)).rejects.toMatchObject({ code: 'run/cancelled' });
  return performance.now() - abortedAt;
}
