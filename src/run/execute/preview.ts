/**
 * The first records of each iteration: what a run reads that is to show its author quickly what a mapping does.
 *
 * Triples maps have the first records alone. As parents of joins, and as right sides of the joins of views, more records are read, since the
 * first children would find no partner among the first parents. All promises that the plan rests on (keys, disjoint rules) hold for some of
 * the records as they hold for all.
 */
import type { Check } from '../../plan/algebra.ts';
import type { IterationPlan, PipelinePlan } from '../../plan/plan.ts';
import type { Batch } from '../../sources/source.ts';

/** Records that are read as parents of joins, where a preview has fewer. */
export const PARENT_RECORDS = 10_000;

/** How many records of an iteration are read. @param first see `RunRequest.firstRecords` */
export function recordsRead({ pipelines }: Pick<IterationPlan, 'pipelines'>, first: number): number {
  return pipelines.some((pipeline) => pairsOnly(pipeline)) ? Math.max(first, PARENT_RECORDS) : first;
}

/**
 * Whether records beyond the first ones go through a pipeline, for the joins that it fills. Rows that wait for a join do not know which
 * record they come of, so such a pipeline has the first records alone if triples maps read its rows, too.
 */
export const pairsOnly = ({ buildSides, steps, maps }: PipelinePlan): boolean =>
  buildSides.length > 0 && (maps.length === 0 || !steps.some(({ kind }) => kind === 'join'));

/** Whether some of the records tell what all of them would: a counterpart may stand among those that are not read. */
export const holdsForFirst = ({ kind }: Check): boolean => kind !== 'inclusion';

/** The records of a batch that stand before `end`. */
export function before(end: number, batch: Batch): Batch {
  const { first, records } = batch;
  return first + records.length <= end ? batch : { ...batch, records: records.slice(0, Math.max(0, end - first)) };
}
