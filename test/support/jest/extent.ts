/**
 * Which cases of a file belong to `npm test`, and which to `npm run test:soak`. A file `a.test.ts` that takes these in place of Jest's `test`
 * has a neighbour `a.soak.test.ts` that only imports it: there the other cases run.
 */
import { describe, expect, test as jestTest } from '@jest/globals';

const isSoak = expect.getState().testPath?.endsWith('.soak.test.ts') === true;

/** No case at all. */
export const none = Object.assign(() => undefined, {
  each: () => () => undefined,
  skip: () => undefined,
  concurrent: () => undefined,
}) as unknown as typeof jestTest;

/** A case of `npm test`. */
export const test: typeof jestTest = isSoak ? none : jestTest;

/** A group whose hooks serve cases of `npm test` alone: Jest allows no hooks where there is no case. */
export const fastDescribe: { (name: string, cases: () => void): void; skip(name: string, cases: () => void): void } = isSoak
  ? Object.assign(() => undefined, { skip: () => undefined })
  : describe;

/** A case that takes long, of the soak tests alone. */
export const soakTest: typeof jestTest = isSoak ? jestTest : none;

/** A case of both, for rows that `share` divides. */
export const sharedTest: typeof jestTest = jestTest;

/** The first `fast` of `all` in `npm test`, the others in the soak tests. */
export const share = <T>(fast: number, all: readonly T[]): readonly T[] => (isSoak ? all.slice(fast) : all.slice(0, fast));
