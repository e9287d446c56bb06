/** How a dataset finds the changes of a mapping, as text for people. */
import { lower } from '../../plan/physical/lower.ts';
import type { Plan } from '../../plan/plan.ts';
import type { RunRequest } from '../../run/request.ts';
import { reasonAgainst } from './reasons.ts';

/** The way of each group. Documents are those that the mapping names; none is read. */
export function explainChanges(plan: Plan, request: Pick<RunRequest, 'inputOptions'>): string {
  const physical = lower(plan, true);
  const reasons = plan.groups.map((_, group) => reasonAgainst(plan, physical, group, () => undefined, request));
  const isMixed = new Set(reasons.map((reason) => reason === undefined)).size > 1;
  const lines = reasons.map((reason, group) => `  group ${group + 1} by ${reason === undefined ? 'record' : `output: ${reason}`}`);
  const mixed = isMixed ? ['  all by output, since a run finds them in one way'] : [];
  return `${['a dataset finds changes', ...lines, ...mixed, ...tablesOf(plan)].join('\n')}\n`;
}

/** Which rows of each table are read, if a table has `qms:changedSince`. */
function tablesOf({ scans }: Plan): readonly string[] {
  const told = new Map<string, string>();
  for (const { source } of scans)
    if (source.kind === 'sql' && source.content.kind === 'table')
      told.set(source.content.name, source.changes === undefined ? 'all rows' : `rows that have changed, by ${source.changes.column}`);
  const lines = [...told].map(([table, what]) => `  of ${table} it reads ${what}`);
  return [...told.values()].every((what) => what === 'all rows') ? [] : lines;
}
