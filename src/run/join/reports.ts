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
  const hint = found ? '' : `. ${nearlyEqual(childKeys, parentKeys) ?? 'Check the references of the join condition'}`;
  const result = found
    ? `${withoutPartner} of ${rows} rows of ${child} found no partner in ${parent}`
    : rows === 1
      ? `the only row of ${child} found no partner in ${parent}`
      : `none of the ${rows} rows of ${child} found a partner in ${parent}`;
  return `${origin}: ${result} by ${conditions}: ${children}${parents}${hint}`;
}

/** What two keys may differ in, what removes it, and a function that does so in a mapping. */
const VARIANTS: readonly { readonly what: string; readonly remove: (text: string) => string; readonly byFunction: string }[] = [
  { what: 'white space around them', remove: (text) => text.trim(), byFunction: 'grel:string_trim' },
  { what: 'upper and lower case', remove: (text) => text.toLowerCase(), byFunction: 'grel:toUpperCase' },
  { what: 'leading zeros', remove: (text) => text.replace(/^0+(?=\d+$)/, ''), byFunction: 'grel:string_toNumber' },
];

/** What to do where a key of each side, among those that are shown, are the same but for a variant; undefined: no two are. */
function nearlyEqual(childKeys: readonly string[], parentKeys: readonly string[]): string | undefined {
  for (const child of childKeys) {
    for (const parent of parentKeys) {
      const differences = differencesOf(partsOf(child), partsOf(parent));
      if (differences.length === 0) continue;
      const what = differences.map((one) => one.what).join(' and in ');
      const functions = differences.map((one) => one.byFunction).join(' and ');
      return `${child} and ${parent} differ only in ${what}: make the keys alike by a function of the join condition (${functions})`;
    }
  }
  return undefined;
}

/** All in which two keys differ; none: they differ in something else too, or are equal as far as they are shown. */
function differencesOf(a: readonly string[] | undefined, b: readonly string[] | undefined): typeof VARIANTS {
  if (a === undefined || b === undefined) return [];
  const areEqualBut = (variants: typeof VARIANTS): boolean => {
    const plain = (parts: readonly string[]): string =>
      JSON.stringify(parts.map((part) => variants.reduce((text, { remove }) => remove(text), part)));
    return plain(a) === plain(b);
  };
  return areEqualBut(VARIANTS) ? VARIANTS.filter((variant) => !areEqualBut(VARIANTS.filter((one) => one !== variant))) : [];
}

/** The texts of a key as a report shows it; undefined: one is cut. */
function partsOf(key: string): readonly string[] | undefined {
  const parts = [...key.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => JSON.parse(text) as string);
  return parts.some((text) => CUT.test(text)) ? undefined : parts;
}

/** The end of a text that `excerpt` has cut. */
const CUT = /… \(\d+ characters\)$/;

/** Joins in which some row found no partner. */
export const incompleteJoins = (joins: readonly JoinReport[]): readonly JoinReport[] =>
  joins.filter(({ withoutPartner }) => withoutPartner > 0);

/** Warnings on joins in which no row found a partner. */
export const joinWarnings = (joins: readonly JoinReport[]): readonly string[] =>
  incompleteJoins(joins).flatMap((join) => (join.found ? [] : [joinText(join)]));
