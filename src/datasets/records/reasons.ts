/** Why the changes of a group of a plan cannot be found by the records that came and went. */
import type { Check, Column, Execution, Project, QuotedTerm } from '../../plan/algebra.ts';
import { leavesOf, spansRows } from '../../plan/expressions.ts';
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
  for (const position of plan.groups[group] as readonly number[]) {
    const { source, iterations } = plan.scans[position] as ScanPlan;
    // Of a topic a follower keeps the messages.
    if (source.kind === 'file' && source.request?.kind !== 'topic') {
      const url = urlOf(position) ?? source.path;
      if (url === STANDARD_INPUT || source.request !== undefined || !(isLocal(url) || /^(?:https?|s3):/i.test(url)))
        return `${source.path} is no document that can be read again`;
      const { borders } = readerOf(formatBefore(url, source, inputOptions));
      if (iterations.some(({ nested }) => nested.length > 0) && (borders === undefined || source.compression !== 'none' || !isLocal(url)))
        return `items within the records of ${source.path} are read`;
    }
  }
  const nodes = (physical.groups[group] as readonly number[]).map((id) => physical.nodes[id] as Node);
  const isOuter = nodes.some((node) => node.kind === 'join' && node.operator.type === 'left');
  for (const id of physical.groups[group] as readonly number[]) {
    const reason = reasonOfNode(physical.nodes[id] as Node, physical.provided[id] as Provided, isOuter);
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

function reasonOfNode(node: Node, { partitioning, readsPosition, position }: Provided, isOuter: boolean): string | undefined {
  switch (node.kind) {
    case 'join':
      if (node.operator.ordinal !== undefined) return 'the partners of a record are numbered';
      break;
    case 'project':
      if (node.operator.counts) return 'equal partners of a record are counted';
      break;
    case 'number':
      return 'records are numbered';
    case 'check':
      // Without the rows of a left join that have partners, the promise may seem broken.
      if (isOuter) return 'a view with a left join, or of the values of another one, makes a promise';
      break;
    case 'encode':
      // At the end it is not known which record has brought a triple.
      if (node.rules.some(({ object }) => object.kind === 'join' && mayQuote(object.operator.right)))
        return 'joins find quoted triples as objects';
      break;
    case 'gather':
      if (spansRows(node.collect.collection)) return 'records append to collections, in their order';
      if (node.collect.joins.length > 0) return 'joins find members of collections';
      break;
    default:
  }
  if (node.kind === 'check' ? readsCell(node.check, position) : readsPosition) return 'statements have the positions of their records';
  // The time of a run is the same for all of its records, and another one in the next run.
  if (callsChance(node)) return 'a function gives values by chance or of the time';
  return partitioning === 'whole' ? 'a record is mapped with others' : undefined;
}

/** Its message has the position of the record. */
const readsCell = ({ fields }: Check, position: Column | undefined): boolean =>
  fields.flatMap(({ value }) => leavesOf(value)).some((leaf) => leaf.kind === 'cell' && leaf.column === position);

const mayQuote = ({ columns }: Project): boolean => hasPart(columns, (part) => ['quoted', 'encoded'].includes((part as QuotedTerm).kind));

/** Whether a plan makes quoted triples. */
export const quotes = (plan: Pick<Plan, 'scans' | 'joins'>): boolean =>
  hasPart(plan, (part) => (part as Partial<QuotedTerm>).kind === 'quoted');

/** Whether a plan calls a function that gives values by chance or of the time. */
export const callsChance = (plan: Plan | Node): boolean => hasPart(plan, (part) => (part as Partial<Execution>).deterministic === false);

function hasPart(value: unknown, is: (part: object) => boolean, seen = new Set<object>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  return is(value) || Object.values(value).some((part) => hasPart(part, is, seen));
}
