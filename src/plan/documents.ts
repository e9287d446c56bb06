/** Plans for sources with several documents: one scan per document, one after the other, as if they were one source. */
import type { IterationPlan, Plan, RulePlan, ScanPlan } from './plan.ts';

/**
 * The plan with each scan repeated once per document, and the original position of each scan. Rules of repeated scans overlap with
 * themselves, because two documents of one source may make the same statement.
 *
 * @param counts number of documents by scan
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
      pipelines: iteration.pipelines.map((pipeline) => ({
        ...pipeline,
        maps: pipeline.maps.map((map) => ({
          ...map,
          unique: false,
          keyReferences: [],
          identifiesRow: false,
          rules: map.rules.map(overlapping),
        })),
      })),
    }),
  );
  return { ...scan, iterations, document };
}
