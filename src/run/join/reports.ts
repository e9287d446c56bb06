/** The report on each join of a run: its rows that found no partner. */
import type { JoinReport } from '../request.ts';
import { type JoinCount, SHOWN_KEYS } from './counts.ts';

/**
 * The reports of a scan, one for each join. A join of a view may be made for several triples maps, over the same records: the one that has seen
 * the most rows counts.
 */
export function joinReports(joins: readonly JoinCount[]): readonly JoinReport[] {
  const longest = new Map<string, JoinCount>();
  for (const join of joins) if ((longest.get(join.id)?.rows ?? -1) < join.rows) longest.set(join.id, join);
  return [...longest.values()].map((join) => join.report());
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
  const first = (keys: readonly string[]): readonly string[] => [...new Set(keys)].sort().slice(0, SHOWN_KEYS);
  return {
    ...a,
    rows: a.rows + b.rows,
    withoutPartner: a.withoutPartner + b.withoutPartner,
    found: a.found || b.found,
    childKeys: first([...a.childKeys, ...b.childKeys]),
    parentKeys: first([...a.parentKeys, ...b.parentKeys]),
  };
}

/** How many rows of a join found no partner. */
export function joinText({ origin, child, parent, conditions, rows, withoutPartner, found, childKeys, parentKeys }: JoinReport): string {
  const children = childKeys.length === 0 ? '' : `${child} has ${childKeys.join(', ')}, `;
  const parents = `${parent} has ${parentKeys.length === 0 ? 'no keys' : parentKeys.join(', ')}`;
  const hint = found ? '' : '. Check the references of the join condition';
  const result = found
    ? `${withoutPartner} of ${rows} rows of ${child} found no partner in ${parent}`
    : rows === 1
      ? `the only row of ${child} found no partner in ${parent}`
      : `none of the ${rows} rows of ${child} found a partner in ${parent}`;
  return `${origin}: ${result} by ${conditions}: ${children}${parents}${hint}`;
}

/** Joins in which some row found no partner. */
export const incompleteJoins = (joins: readonly JoinReport[]): readonly JoinReport[] =>
  joins.filter(({ withoutPartner }) => withoutPartner > 0);

/** Warnings on joins in which no row found a partner. */
export const joinWarnings = (joins: readonly JoinReport[]): readonly string[] =>
  incompleteJoins(joins).flatMap((join) => (join.found ? [] : [joinText(join)]));
