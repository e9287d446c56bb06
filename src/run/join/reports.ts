/** The report on each join of a run: its rows that found no partner. */
import type { JoinReport } from '../request.ts';
import { type JoinCount, SHOWN_KEYS } from './counts.ts';

/**
 * One row per join; documents of its source are added up. A join of a view may be made for several triples maps, over the same records.
 *
 * @param scans the joins of each scan
 */
export function joinReports(scans: readonly (readonly JoinCount[])[]): readonly JoinReport[] {
  return mergeJoins(
    scans.flatMap((joins) => {
      const longest = new Map<string, JoinCount>();
      for (const join of joins) if ((longest.get(join.id)?.rows ?? -1) < join.rows) longest.set(join.id, join);
      return [...longest.values()].map((join) => join.report());
    }),
  );
}

/** The reports of scans, threads and slices, one for each join. */
export function mergeJoins(all: readonly JoinReport[]): readonly JoinReport[] {
  const merged = new Map<string, JoinReport>();
  for (const join of all) {
    const before = merged.get(join.id);
    merged.set(join.id, before === undefined ? join : addJoins(before, join));
  }
  return [...merged.values()];
}

function addJoins(a: JoinReport, b: JoinReport): JoinReport {
  const some = (one: readonly string[], other: readonly string[]): readonly string[] =>
    [...new Set([...one, ...other])].sort().slice(0, SHOWN_KEYS);
  return {
    ...a,
    rows: a.rows + b.rows,
    withoutPartner: a.withoutPartner + b.withoutPartner,
    found: a.found || b.found,
    childKeys: some(a.childKeys, b.childKeys),
    parentKeys: some(a.parentKeys, b.parentKeys),
  };
}

/** How many rows of a join found no partner. */
export function joinText({ origin, child, parent, conditions, rows, withoutPartner, found, childKeys, parentKeys }: JoinReport): string {
  const keys = (of: string, some: readonly string[]): string => (some.length === 0 ? `${of} has no keys` : `${of} has ${some.join(', ')}`);
  const shown = [childKeys.length === 0 ? [] : [keys(child, childKeys)], [keys(parent, parentKeys)]].flat();
  const hint = found ? '' : '. Check the references of the join condition';
  const result = found
    ? `${withoutPartner} of ${rows} rows of ${child} found no partner in ${parent}`
    : rows === 1
      ? `the only row of ${child} found no partner in ${parent}`
      : `none of the ${rows} rows of ${child} found a partner in ${parent}`;
  return `${origin}: ${result} by ${conditions}: ${shown.join(', ')}${hint}`;
}

/** Joins in which some row found no partner. */
export const incompleteJoins = (joins: readonly JoinReport[]): readonly JoinReport[] =>
  joins.filter(({ withoutPartner }) => withoutPartner > 0);

/** Warnings on joins in which no row found a partner. */
export const joinWarnings = (joins: readonly JoinReport[]): readonly string[] =>
  incompleteJoins(joins).flatMap((join) => (join.found ? [] : [joinText(join)]));
