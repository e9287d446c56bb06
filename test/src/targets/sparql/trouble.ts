/** SPARQL targets in trouble: what `faults.test.ts` and `faults.soak.test.ts` have in common. */
import { afterEach, expect } from '@jest/globals';
import type { Fault } from '../../../../src/core/fault.ts';
import type { Statement } from '../../../../src/nquads/statement.ts';
import { sparqlTarget } from '../../../../src/targets/sparql/sparql.ts';
import type { GraphTarget, TargetAddress } from '../../../../src/targets/target.ts';
import { statements } from './stores.ts';

export const never = new AbortController().signal;
export const ONE = statements('<urn:s> <urn:p> "1" <urn:g> .');
/** So many statements like `ONE`, whose subjects begin so. */
export const likeOne = (count: number, prefix: string): Statement[] =>
  Array.from({ length: count }, (_, i) => ({ ...(ONE[0] as Statement), subject: `<urn:${prefix}${i}>` }));
export const named = (missing: string | undefined): string => (missing === undefined ? '' : ` (not tested: ${missing})`);

export interface Targets {
  /** Closed after the test. */
  target(at: TargetAddress): Promise<GraphTarget>;
  /** Every way of writing ends in the same fault. */
  faultOfAll(at: TargetAddress): Promise<Fault>;
}

export function targetsOfTest(): Targets {
  const open: GraphTarget[] = [];
  afterEach(async () => {
    for (const target of open.splice(0)) await target.close();
  });
  async function target(at: TargetAddress): Promise<GraphTarget> {
    const opened = await sparqlTarget(at);
    open.push(opened);
    return opened;
  }
  async function faultOfAll(at: TargetAddress): Promise<Fault> {
    const to = await target(at);
    const faults = [
      await faultOf(to.probe(never)),
      await faultOf(to.insert(ONE, never)),
      await faultOf(to.replace(ONE, 'property', never)),
      await faultOf(to.replaceGraph('<urn:g>', 'key', never)),
    ];
    expect(new Set(faults.map(({ code }) => code)).size).toBe(1);
    return faults[0] as Fault;
  }
  return { target, faultOfAll };
}

export const faultOf = (promise: Promise<unknown>): Promise<Fault> =>
  promise.then(
    () => Promise.reject(new Error('there was no fault')),
    (error: Fault) => error,
  );
