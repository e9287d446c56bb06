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
  return `${['a dataset finds changes', ...lines, ...(isMixed ? ['  all by output, since a run finds them in one way'] : [])].join('\n')}\n`;
}
