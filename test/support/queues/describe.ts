/** One suite for several queues. */
import { describe, test } from '@jest/globals';
import type { TestQueue } from './backends.ts';

/** A `describe` for each of `queues`, and in place of one that is not here a skipped test that says why. */
export function describeQueues(queues: readonly TestQueue[], suite: (queue: TestQueue) => void): void {
  for (const queue of queues) {
    if (queue.missing === undefined) describe(`on ${queue.name}`, () => suite(queue));
    else describe(`on ${queue.name}`, () => test.skip(`is not tested: ${queue.missing}`, () => undefined));
  }
}
