/** Groups triples maps by document into scans, orders the scans, and finds independent groups of them. */

import { Links } from '../core/links.ts';
import type { LogicalSource } from '../mapping/model/model.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Emit, MapRules, Project, Scan, Term } from './algebra.ts';
import { sourceKey } from './build.ts';
import { nameOf, readsOf, readsOfTerm } from './expressions.ts';

interface IterationDraft {
  readonly scan: Scan;
  readonly origin: string;
  readonly references: Set<string>;
  readonly maps: MapRules[];
  readonly buildSides: Project[];
}

export interface ScanDraft {
  readonly source: LogicalSource;
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: IterationDraft[];
  readonly key: string;
  /** Scans (by key) with the parents of this scan's joins. */
  readonly needs: Set<string>;
}

/** Triples maps over the same document with the same read options share a scan; those with the same iterator share its records. */
export function groupScans(maps: readonly MapRules[]): ScanDraft[] {
  const scans = new Map<string, ScanDraft>();
  const iterations = new Map<Scan, { readonly scan: ScanDraft; readonly iteration: IterationDraft }>();
  const place = (rows: Scan) => {
    const known = iterations.get(rows);
    if (known !== undefined) return known;
    const { source, dialect } = rows;
    const key = sourceKey(source, dialect);
    const scan = scans.get(key) ?? { source, dialect, iterations: [], key, needs: new Set() };
    scans.set(key, scan);
    const iteration = { scan: rows, origin: formatOrigin(rows.origin), references: new Set<string>(), maps: [], buildSides: [] };
    scan.iterations.push(iteration);
    iterations.set(rows, { scan, iteration });
    return { scan, iteration };
  };
  for (const rules of maps) {
    const { iteration } = place(rules.rows);
    iteration.maps.push(rules);
    for (const reference of referencesOf(rules)) iteration.references.add(reference);
  }
  for (const project of projectsOf(maps)) {
    const { iteration } = place(project.input);
    iteration.buildSides.push(project);
    for (const read of [...readsOfTerm(project.term.value), ...project.keys.flatMap(({ value }) => readsOf(value))])
      iteration.references.add(nameOf(read));
  }
  for (const rules of maps) {
    const { scan } = place(rules.rows);
    for (const { input } of rules.emits) {
      const parent = input.kind === 'join' ? place(input.right.input).scan : scan;
      if (parent !== scan) scan.needs.add(parent.key);
    }
  }
  return [...scans.values()];
}

/** The right sides of joins, in the order of the triples maps that use them. */
export const projectsOf = (maps: readonly MapRules[]): readonly Project[] => [
  ...new Set(maps.flatMap(({ emits }) => emits.flatMap(({ input }) => (input.kind === 'join' ? [input.right] : [])))),
];

/** Every reference that is read from the rows of a triples map. */
function referencesOf({ subject, checks, emits }: MapRules): readonly string[] {
  const keys = ({ input }: Emit) => (input.kind === 'join' ? input.on.flatMap(({ left }) => readsOf(left)) : []);
  const terms = ({ predicate, object, graph }: Emit): readonly Term[] => [predicate, ...(graph === undefined ? [] : [graph]), object];
  return [
    ...[subject, ...checks].flatMap(readsOfTerm),
    ...emits.flatMap((emit) => [...terms(emit).flatMap(readsOfTerm), ...keys(emit)]),
  ].map(nameOf);
}

/** Parents before children. In a cycle, the scan with the fewest unmet needs goes first, and its joins are deferred. */
export function orderScans(drafts: readonly ScanDraft[]): ScanDraft[] {
  const waiting = [...drafts];
  const done = new Set<string>();
  const ordered: ScanDraft[] = [];
  const open = (scan: ScanDraft): number => [...scan.needs].filter((key) => !done.has(key)).length;
  while (waiting.length > 0) {
    let best = 0;
    let fewest = open(waiting[0] as ScanDraft);
    for (let i = 1; i < waiting.length && fewest > 0; i++) {
      const count = open(waiting[i] as ScanDraft);
      if (count < fewest) [best, fewest] = [i, count];
    }
    const [scan] = waiting.splice(best, 1) as [ScanDraft];
    done.add(scan.key);
    ordered.push(scan);
  }
  return ordered;
}

/** Scans that are linked, directly or through others, form one group. */
export function groupsOf(scans: readonly ScanDraft[], links: readonly (readonly [number, number])[]): number[][] {
  const linked = new Links<number>();
  for (const [a, b] of links) linked.link(a, b);
  const groups = new Map<number, number[]>();
  for (const position of scans.keys()) {
    const leader = linked.leaderOf(position);
    const group = groups.get(leader);
    if (group === undefined) groups.set(leader, [position]);
    else group.push(position);
  }
  return [...groups.values()];
}
