/** One suite for several queues, in the fast tests and in the soak tests. */
import { describe, test } from '@jest/globals';
import { QUEUES, type TestQueue } from './backends.ts';

/** A `describe` for each of `queues`, and in place of one that is not here a skipped test that says why. */
export function describeQueues(queues: readonly TestQueue[], suite: (queue: TestQueue) => void): void {
  for (const queue of queues) {
    if (queue.missing === undefined) describe(`on ${queue.name}`, () => suite(queue));
    else describe(`on ${queue.name}`, () => test.skip(`is not tested: ${queue.missing}`, () => undefined));
  }
}

/** Stands for all queues where a case does not depend on the kind: the fastest that is here. */
const ONE = QUEUES.find(({ name, missing }) => name === 'redis' && missing === undefined) ?? (QUEUES[0] as TestQueue);

/** That one: a `describe` may not be empty, so a suite with `onOne` alone is fast on this. */
export const ONE_QUEUE: readonly TestQueue[] = [ONE];

/** All but that one: for the same reason such a suite runs in the soak tests on these. */
export const OTHER_QUEUES: readonly TestQueue[] = QUEUES.filter((queue) => queue !== ONE);

/** Where a suite is run from: `npm test`, or `npm run test:soak`. */
export type Extent = 'fast' | 'soak';

export interface Cases {
  /** In place of `test`, for what has to be shown on each kind of queue: fast, on all of them. */
  readonly onEach: typeof test;
  /** In place of `test`, for what depends on the store behind the queue: fast on Redis and PostgreSQL, and on the embedded PostgreSQL in the soak tests. */
  readonly onStore: typeof test;
  /** In place of `test`, for what does not depend on the kind of the queue: fast on one, and on the others in the soak tests. */
  readonly onOne: typeof test;
}

export function casesFor(queue: TestQueue, extent: Extent): Cases {
  const isFast = extent === 'fast';
  return {
    onEach: isFast ? test : none,
    onStore: (queue.name !== 'embedded') === isFast ? test : none,
    onOne: (queue === ONE) === isFast ? test : none,
  };
}

/** No case at all. */
const none = Object.assign(() => undefined, { each: () => () => undefined }) as unknown as typeof test;
