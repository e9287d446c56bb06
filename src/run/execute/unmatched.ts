/** Finds references that match nothing in the records of a scan. */
import { Fault } from '../../core/fault.ts';
import type { IterationPlan, ScanPlan } from '../../plan/plan.ts';
import type { Scan } from '../../sources/source.ts';
import { reads, type Unmatched } from '../nodes/unnest.ts';

/** What was read of an iteration. */
export interface IterationRead {
  readonly programs: readonly { readonly records: number; hint: string | undefined }[];
  /** Of the pipelines. */
  readonly unmatched: readonly Unmatched[];
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
  const none = first === undefined ? 'No record has' : noneOf(first);
  let hasRecords = false;
  for (const [index, iteration] of plan.iterations.entries()) {
    const { programs, unmatched } = iterations[index] as IterationRead;
    if ((programs[0]?.records ?? 0) === 0) {
      for (const program of programs) program.hint = scan.hint?.(index);
      continue;
    }
    hasRecords = true;
    const missing = scan.unmatched(index);
    for (const reference of missing) faults.push(faultOf(none, reference, iteration, input, scan.hint?.(index, reference)));
    // Where a value is missing, the values beside it are not asked for.
    const unseen = missing.length === 0 ? undefined : scan.unseen?.(index);
    for (const reference of unseen?.references ?? [])
      faults.push(faultOf(noneOf(unseen?.records ?? 0), reference, iteration, input, scan.hint?.(index, reference)));
    const places = new Map(unmatched.map((one) => [`${one.mapping} ${one.expression}`, one]));
    for (const { expression, mapping, within } of places.values()) {
      const place = { input, expression, mapping };
      const found = within === undefined ? undefined : scan.hint?.(index, expression, within);
      const hint = found ?? 'Check the spelling of the reference, and the iterators of the fields around it';
      faults.push(new Fault('mapping/reference', `${none} anything at ${expression}`, { place, hint }));
    }
  }
  return { hasRecords, faults };
}

const noneOf = (records: number): string => (records === 1 ? 'The first record does not have' : `None of the first ${records} records has`);

function faultOf(none: string, reference: string, { places, origin }: IterationPlan, input: string, hint: string | undefined): Fault {
  const [mapping = origin, ...others] = [...places].flatMap(([written, at]) => (reads(written, reference) ? at : []));
  const also = others.length === 0 ? '' : `, which ${others.length + 1} places of the mapping read`;
  return new Fault('mapping/reference', `${none} anything at ${reference}${also}`, {
    place: { input, expression: reference, mapping },
    hint: hint ?? 'Check the spelling of the reference and the iterator',
  });
}
