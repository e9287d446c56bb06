/** Fills the build sides of joins before the rows that look for partners are read. */
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { CollectPlan, Plan, RulePlan } from '../../plan/plan.ts';
import type { MemoryBudget } from '../../spill/budget.ts';
import { Multimap } from '../../spill/multimap.ts';
import { SpillSpace, spillName } from '../../spill/space.ts';
import type { PreparedRun } from '../prepare/open.ts';
import type { RunHooks, RunRequest, SliceScan } from '../request.ts';
import { executeScans, type ScansResult, type Shared } from './scans.ts';

/** Build sides that are complete. The caller removes them. */
export interface FilledSides {
  readonly joins: NonNullable<Shared['joins']>;
  /** What was read for them. */
  readonly result: ScansResult;
  /** Some rows are in files, or were while they waited for a join: the order of the rows depends on the memory. */
  readonly spilled: boolean;
  remove(): Promise<void>;
}

/**
 * @param sides the documents that fill them
 * @param name of the spill files: that of the group or of the slice
 * @param hooks undefined: the reading ends with the thread
 * @throws Fault those of `executeScans`
 */
export async function fillSides(
  request: RunRequest,
  prepared: PreparedRun,
  sides: readonly SliceScan[],
  name: string,
  budget: MemoryBudget,
  seed: number,
  hooks: Pick<RunHooks, 'signal'> = {},
): Promise<FilledSides> {
  const plan = sidesAlone(prepared.plan);
  const space = new SpillSpace(join(request.spillDirectory, spillName(request.runId, `sides-${name}-${threadId}`)));
  const joins = { joinIndexes: plan.joins.map(() => new Multimap(budget, space, seed ^ 0x1b873593)) };
  const remove = async (): Promise<void> => {
    for (const index of joins.joinIndexes) index.clear();
    await space.remove();
  };
  try {
    const result = await executeScans(request, { ...prepared, plan }, sides, NO_STATEMENTS, hooks, { budget, joins });
    await space.flush();
    const spilled = (result.bytesSpilled ?? 0) > 0 || joins.joinIndexes.some((one) => one.spilled);
    return { joins, result, spilled, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const NO_STATEMENTS = {
  write: () => {
    throw new Error('the sides of joins make no statements');
  },
};

/** The plan without its triples maps: its scans fill the sides of joins alone. */
const sidesAlone = (plan: Plan): Plan => ({
  ...plan,
  scans: plan.scans.map((scan) => ({
    ...scan,
    iterations: scan.iterations.flatMap((iteration) => {
      const pipelines = iteration.pipelines
        .filter(({ buildSides }) => buildSides.length > 0)
        .map((pipeline) => ({ ...pipeline, maps: [], checks: [] }));
      return pipelines.length === 0 ? [] : [{ ...iteration, pipelines }];
    }),
  })),
});

/** The plan without the sides of its joins, which are complete: no join waits. */
export const mapsAlone = (plan: Plan): Plan => ({
  ...plan,
  scans: plan.scans.map((scan) => ({
    ...scan,
    iterations: scan.iterations.map((iteration) => ({
      ...iteration,
      pipelines: iteration.pipelines
        .filter(({ steps, maps, checks }) => steps.length === 0 || maps.length + checks.length > 0)
        .map(({ steps, maps, ...pipeline }) => ({
          ...pipeline,
          steps: steps.map(atOnce),
          maps: maps.map((map) => ({ ...map, rules: map.rules.map(probing), collects: map.collects.map(probingMembers) })),
          buildSides: [],
        })),
    })),
  })),
});

const atOnce = <T extends object>(one: T): T => ('deferred' in one ? { ...one, deferred: false } : one);
const probing = (rule: RulePlan): RulePlan => ({ ...rule, object: atOnce(rule.object) });
const probingMembers = (collect: CollectPlan): CollectPlan => ({ ...collect, joins: collect.joins.map(atOnce) });
