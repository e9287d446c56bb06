/** Why the changes of a group of a plan cannot be found by the records that came and went. */
import type { Execution, QuotedTerm } from '../../plan/algebra.ts';
import type { Node, PhysicalPlan, Provided } from '../../plan/physical/nodes.ts';
import type { Plan, ScanPlan } from '../../plan/plan.ts';
import { formatBefore } from '../../run/prepare/documents/inputs.ts';
import { type RunRequest, STANDARD_INPUT } from '../../run/request.ts';
import { readerOf } from '../../sources/formats.ts';
import { isLocal } from '../../storage/url.ts';

/**
 * @param urlOf address of the document of a scan, by its position
 * @returns a clause; undefined: they can
 */
export function reasonAgainst(
  plan: Plan,
  physical: PhysicalPlan,
  group: number,
  urlOf: (scan: number) => string | undefined,
  { inputOptions }: Pick<RunRequest, 'inputOptions'>,
): string | undefined {
  if (plan.targets.length > 0) return 'the mapping has logical targets';
  for (const position of plan.groups[group] as readonly number[]) {
    const { source, iterations } = plan.scans[position] as ScanPlan;
    if (source.kind !== 'file') return 'it reads a database';
    const url = urlOf(position) ?? source.path;
    if (!isLocal(url) || url === STANDARD_INPUT || source.request !== undefined) return `${source.path} is no file of this machine`;
    if (source.compression !== 'none') return `${source.path} is packed`;
    const format = formatBefore(url, source, inputOptions);
    if (readerOf(format).borders === undefined) return `the records of ${format.toUpperCase()} cannot be told apart without its reader`;
    if (iterations.some(({ namesRows }) => namesRows)) return 'blank nodes are named by the place of their record among equal ones';
  }
  for (const id of physical.groups[group] as readonly number[]) {
    const reason = reasonOfNode(physical.nodes[id] as Node, physical.provided[id] as Provided);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** The same for a run: of all groups, since a run finds all changes in one way. */
export function reasonAgainstAll(
  plan: Plan,
  physical: PhysicalPlan,
  urlOf: (scan: number) => string | undefined,
  request: RunRequest,
): string | undefined {
  for (const group of plan.groups.keys()) {
    const reason = reasonAgainst(plan, physical, group, urlOf, request);
    if (reason !== undefined) return reason;
  }
  if (request.limits.records > 0 || request.limits.statements > 0) return 'MAX_RECORDS and MAX_STATEMENTS count all of them';
  return undefined;
}

function reasonOfNode(node: Node, { partitioning, readsPosition, deterministic }: Provided): string | undefined {
  switch (node.kind) {
    case 'join':
    case 'project':
      return 'a join brings records together';
    case 'number':
      return 'records are numbered';
    case 'check':
      return 'a view promises what holds of all records';
    case 'gather':
      return 'it makes collections';
    case 'reify':
      return 'it makes quoted triples';
    default:
  }
  // What describes a removed triple is kept, whatever record makes it.
  if (hasPart(node, (part) => (part as Partial<QuotedTerm>).kind === 'quoted')) return 'it makes quoted triples';
  if (readsPosition) return 'statements have the positions of their records';
  // The time of a run is the same for all of its records, and another one in the next run.
  if (!deterministic || callsChance(node)) return 'a function gives values by chance or of the time';
  return partitioning === 'whole' ? 'a record is mapped with others' : undefined;
}

/** Whether a plan calls a function that gives values by chance or of the time. */
export const callsChance = (plan: Plan | Node): boolean => hasPart(plan, (part) => (part as Partial<Execution>).deterministic === false);

function hasPart(value: unknown, is: (part: object) => boolean, seen = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return is(value) || Object.values(value).some((part) => hasPart(part, is, seen));
}
