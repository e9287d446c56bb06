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

/** Those of `npm test`. PostgreSQL, which takes the most processor time, has the soak tests alone. */
const isFast = ({ name }: TestQueue): boolean => name !== 'postgres';

/** That one: a `describe` may not be empty, so a suite with `onOne` alone is fast on this. */
export const ONE_QUEUE: readonly TestQueue[] = [ONE];

/** For a suite with `onEach`, in `npm test`. */
export const FAST_QUEUES: readonly TestQueue[] = QUEUES.filter(isFast);

/** In the soak tests: all that do not have every case in `npm test`. */
export const OTHER_QUEUES: readonly TestQueue[] = QUEUES.filter((queue) => queue !== ONE);

/** Where a suite is run from: `npm test`, or `npm run test:soak`. */
export type Extent = 'fast' | 'soak';

export interface Cases {
  /** In place of `test`, for what has to be shown on each kind of queue: on PostgreSQL in the soak tests. */
  readonly onEach: typeof test;
  /** In place of `test`, for what one kind of queue shows soon enough: fast on one, and on the others in the soak tests. */
  readonly onOne: typeof test;
  /** In place of `test`, for what takes long: in the soak tests alone. On Redis the chaos test kills at any time. */
  readonly onOthers: typeof test;
}

export function casesFor(queue: TestQueue, extent: Extent): Cases {
  const among = (fast: boolean): typeof test => (fast === (extent === 'fast') ? test : none);
  return { onEach: among(isFast(queue)), onOne: among(queue === ONE), onOthers: among(false) };
}
