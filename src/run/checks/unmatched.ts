/** Finds references that match nothing in the records of a scan. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import type { ScanPlan } from '../../plan/plan.ts';
import type { Scan } from '../../sources/source.ts';

/** What was read of an iteration. */
export interface IterationRead {
  readonly programs: readonly { readonly records: number; hint: string | undefined }[];
  /** Of the pipelines: where the mapping has references within records that matched nothing. */
  readonly unmatched: readonly Pick<FaultPlace, 'expression' | 'mapping'>[];
}

/**
 * References without a node in any record of a scan, as faults: each may be an optional member or a typing error. Triples maps without a record
 * get a hint instead.
 *
 * @param first only so many records were read; undefined: all
 */
export function unmatchedReferences(
  plan: ScanPlan,
  scan: Scan,
  iterations: readonly IterationRead[],
  input: string,
  first: number | undefined,
): { readonly hasRecords: boolean; readonly faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const none = first === undefined ? 'No record' : `None of the first ${first} records`;
  let hasRecords = false;
  for (const [index, iteration] of plan.iterations.entries()) {
    const { programs, unmatched } = iterations[index] as IterationRead;
    if ((programs[0]?.records ?? 0) === 0) {
      for (const program of programs) program.hint = scan.hint?.(index);
      continue;
    }
    hasRecords = true;
    for (const reference of scan.unmatched(index)) {
      const fault = new Fault('mapping/reference', `${none} has anything at ${reference}`, {
        place: { input, expression: reference, mapping: iteration.origin },
        hint: scan.hint?.(index, reference) ?? 'Check the spelling of the reference and the iterator',
      });
      faults.push(fault);
    }
    const places = new Map(unmatched.map((one) => [`${one.mapping} ${one.expression}`, one]));
    for (const { expression, mapping } of places.values()) {
      const place = { input, expression, mapping };
      const hint = 'Check the spelling of the reference, and the iterators of the fields around it';
      faults.push(new Fault('mapping/reference', `${none} has anything at ${expression}`, { place, hint }));
    }
  }
  return { hasRecords, faults };
}
