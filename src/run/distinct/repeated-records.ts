/** Which records may be left out because an earlier record had the same values. */
import type { Expression, Project } from '../../plan/algebra.ts';
import { expressionsOf, isOfRow, isTerm, type Leaf, leavesOf, leavesOfTerm } from '../../plan/expressions.ts';
import { type IterationPlan, leavesOfMap, type MapPlan, mapsOf, type Plan, type ScanPlan } from '../../plan/plan.ts';
import type { RunHooks, RunRequest } from '../request.ts';

/**
 * Whether a record of the scan may be left out if an earlier one had the same values in all that is read of both.
 *
 * **Claim.** It adds no statement, no subject and no row to a build side, and is rejected by the triples maps that rejected the earlier one.
 *
 * **Why.** Triples maps and build sides read the record alone (no steps, no position, no function with another result for each record, no
 * blank node for each record), so they make the same texts of both. Statements are a set. So are the subjects by key of a build side that does
 * not count equal rows, and what is kept by key for joins that are made at the end. Collections, of which each record adds a member, and checks
 * of views, which count, are excluded. Rejected records are counted: after one, records of its batch are read again, and the reader forgets.
 *
 * If the subjects of all triples maps are keys, nothing comes again, and nothing is looked for.
 */
export function mayLeaveOutRepeats(scan: ScanPlan, plan: Plan, request: RunRequest, hooks: RunHooks): boolean {
  if (!request.distinct || request.firstRecords !== undefined || hooks.row !== undefined) return false;
  const maps = scan.iterations.flatMap(mapsOf);
  return (
    maps.some(({ unique }) => !unique) && maps.every(isOfValues) && scan.iterations.every((iteration) => hasRecordsAlone(iteration, plan))
  );
}

const hasRecordsAlone = ({ pipelines }: IterationPlan, { joins }: Plan): boolean =>
  pipelines.every(
    ({ steps, checks, buildSides }) =>
      steps.length === 0 && checks.length === 0 && buildSides.every((join) => isSetOfValues(joins[join] as Project)),
  );

/** Whether the statements of a record follow from the values that are read of it. */
function isOfValues(map: MapPlan): boolean {
  const { subject, checks, rules, collects } = map;
  const terms = [subject, ...checks, ...rules.flatMap(({ predicate, graph }) => (graph === undefined ? predicate : [predicate, graph]))];
  const objects = rules.flatMap(({ object }) => (object.kind === 'term' ? expressionsOf(object.term) : object.keys));
  return collects.length === 0 && followFromReads(leavesOfMap(map), [...terms.flatMap(expressionsOf), ...objects]);
}

/** The same for a build side; one that counts equal rows is no set. */
function isSetOfValues({ columns, keys, counts }: Project): boolean {
  const values = [...columns, ...keys].map(({ value }) => value);
  const leaves = values.flatMap((value) => (isTerm(value) ? leavesOfTerm(value) : leavesOf(value)));
  const expressions = values.flatMap((value) => (isTerm(value) ? expressionsOf(value) : [value]));
  return !counts && followFromReads(leaves, expressions);
}

const followFromReads = (leaves: readonly Leaf[], expressions: readonly Expression[]): boolean =>
  leaves.every(({ kind }) => kind === 'read') && !expressions.some(isOfRow);
