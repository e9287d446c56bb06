/** A plan for sources that are several documents each: a scan for each document, one after the other, as if they were one source. */
import type { IterationPlan, Plan, RulePlan, ScanPlan } from './plan.ts';

/**
 * The plan with each scan made as often as it has documents, and for each scan the position that it had. What two documents of a source
 * can both say is looked for as what two rules can both say is: their records are not those of one scan.
 *
 * @param counts of documents, by scan
 */
export function forDocuments(plan: Plan, counts: readonly number[]): { readonly plan: Plan; readonly positions: readonly number[] } {
  if (counts.every((count) => count === 1)) return { plan, positions: [...plan.scans.keys()] };
  const positions = plan.scans.flatMap((_, position) => Array<number>(counts[position] as number).fill(position));
  const scans = positions.map((position, at) => {
    const scan = plan.scans[position] as ScanPlan;
    return counts[position] === 1 ? scan : documentOf(scan, at - positions.indexOf(position));
  });
  const groups = plan.groups.map((group) => positions.flatMap((position, at) => (group.includes(position) ? [at] : [])));
  return { plan: { ...plan, scans, groups }, positions };
}

function documentOf(scan: ScanPlan, document: number): ScanPlan {
  const overlapping = (rule: RulePlan): RulePlan => ({ ...rule, distinct: 'overlapping' });
  const iterations = scan.iterations.map(
    (iteration): IterationPlan => ({
      ...iteration,
      maps: iteration.maps.map((map) => ({ ...map, unique: false, rowBound: false, rules: map.rules.map(overlapping) })),
    }),
  );
  return { ...scan, iterations, document };
}
