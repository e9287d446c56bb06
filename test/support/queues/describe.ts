/** One suite for several queues, in the fast tests and in the soak tests. */
import { describe, test } from '@jest/globals';
import { none } from '../jest/extent.ts';
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

/** The queue of `npm test`. */
export const ONE_QUEUE: readonly TestQueue[] = [ONE];

/** In the soak tests: all that do not have every case in `npm test`. */
export const OTHER_QUEUES: readonly TestQueue[] = QUEUES.filter((queue) => queue !== ONE);

/** Where a suite is run from: `npm test`, or `npm run test:soak`. */
export type Extent = 'fast' | 'soak';

export interface Cases {
  /** In place of `test`: on one kind of queue in `npm test`, and on the others in the soak tests. */
  readonly onOne: typeof test;
  /** In place of `test`, for what takes long: in the soak tests alone. On Redis the chaos test kills at any time. */
  readonly onOthers: typeof test;
}

export function casesFor(queue: TestQueue, extent: Extent): Cases {
  const among = (fast: boolean): typeof test => (fast === (extent === 'fast') ? test : none);
  return { onOne: among(queue === ONE), onOthers: among(false) };
}
