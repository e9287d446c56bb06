/** Groups triples maps by document into scans, orders the scans, and finds independent groups of them. */

import { Links } from '../mapping/model/links.ts';
import { formatOrigin } from '../mapping/model/model.ts';
import type { Check, Column, Emit, Join, MapRules, Operator, Project, Scan, Term, Unnest } from './algebra.ts';
import { sourceKey } from './build/operators.ts';
import {
  type Leaf,
  leavesOf,
  leavesOfCheck,
  leavesOfCollect,
  leavesOfColumn,
  leavesOfStep,
  leavesOfTerm,
  memberJoins,
  nameOf,
  rowJoins,
  scanOf,
  stepsOf,
} from './expressions.ts';

/** The rows of one operator over the records of an iteration, and what they feed. */
export interface RowsDraft {
  readonly rows: Operator;
  readonly maps: MapRules[];
  readonly buildSides: Project[];
  readonly checks: Check[];
}

/** An iterator within records, or within the items of another one. */
export interface NestedDraft {
  readonly iterator: string;
  readonly origin: string;
  readonly references: Set<string>;
  readonly nested: NestedDraft[];
}

export interface IterationDraft {
  readonly scan: Scan;
  readonly origin: string;
  /** Reference → where the mapping has it. */
  readonly references: Map<string, Set<string>>;
  readonly nested: NestedDraft[];
  /** See `IterationPlan`. */
  namesRows: boolean;
  /** The records themselves first. */
  readonly pipelines: RowsDraft[];
}

export interface ScanDraft {
  readonly source: Scan['source'];
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: IterationDraft[];
  readonly key: string;
  /** Scans (by key) with the parents of this scan's joins. */
  readonly needs: Set<string>;
}

function placesOf(references: Map<string, Set<string>>, name: string): Set<string> {
  const places = references.get(name) ?? new Set();
  references.set(name, places);
  return places;
}

/** Triples maps over the same document with the same read options share a scan; those with the same iterator share its records. */
export function groupScans(maps: readonly MapRules[], checks: readonly Check[]): ScanDraft[] {
  const scans = new Map<string, ScanDraft>();
  const iterations = new Map<Scan, { readonly scan: ScanDraft; readonly iteration: IterationDraft }>();
  const drafts = new Map<Operator, RowsDraft>();
  const place = (rows: Scan) => {
    const known = iterations.get(rows);
    if (known !== undefined) return known;
    const { source, dialect } = rows;
    const key = sourceKey(source, dialect);
    const scan = scans.get(key) ?? { source, dialect, iterations: [], key, needs: new Set() };
    scans.set(key, scan);
    const iteration: IterationDraft = {
      scan: rows,
      origin: formatOrigin(rows.origin),
      references: new Map<string, Set<string>>(),
      nested: [],
      namesRows: false,
      pipelines: [],
    };
    scan.iterations.push(iteration);
    iterations.set(rows, { scan, iteration });
    return { scan, iteration };
  };
  const draftOf = (rows: Operator): RowsDraft => {
    const known = drafts.get(rows);
    if (known !== undefined) return known;
    const { iteration } = place(scanOf(rows));
    const draft: RowsDraft = { rows, maps: [], buildSides: [], checks: [] };
    drafts.set(rows, draft);
    if (rows.kind === 'scan') iteration.pipelines.unshift(draft);
    else iteration.pipelines.push(draft);
    for (const step of stepsOf(rows)) if (step.kind === 'unnest') addNested(step, iteration);
    read(rows, stepsOf(rows).flatMap(leavesOfStep));
    return draft;
  };
  const nestedOf = new Map<Column, NestedDraft>();
  /** Equal iterators within the same records are one. */
  const addNested = ({ item, items, origin }: Unnest, iteration: IterationDraft): void => {
    if (items.of !== 'records' || items.formulation !== undefined || nestedOf.has(item)) return;
    const { within, iterator = '' } = items;
    const among = nestedOf.get(within)?.nested ?? iteration.nested;
    const known = among.find((other) => other.iterator === iterator);
    const nested = known ?? { iterator, origin: formatOrigin(origin), references: new Set<string>(), nested: [] };
    if (known === undefined) among.push(nested);
    nestedOf.set(item, nested);
  };
  /** Notes what is read of the records of the scan, and of the items within them. */
  const read = (rows: Operator, leaves: readonly Leaf[]): void => {
    const scan = scanOf(rows);
    const { iteration } = place(scan);
    const { references } = iteration;
    for (const leaf of leaves) {
      if (leaf.kind !== 'read') {
        if (leaf.column === scan.identity) iteration.namesRows = true;
        continue;
      }
      if (scan.records.includes(leaf.record)) placesOf(references, nameOf(leaf)).add(formatOrigin(leaf.field ?? leaf.origin));
      else nestedOf.get(leaf.record)?.references.add(leaf.reference);
    }
  };
  for (const rules of maps) {
    draftOf(rules.rows).maps.push(rules);
    read(rules.rows, leavesOfRules(rules));
  }
  for (const check of checks) {
    draftOf(check.rows).checks.push(check);
    read(check.rows, leavesOfCheck(check));
  }
  const projects = projectsOf(maps, checks);
  for (const { input, keys, columns } of projects) {
    draftOf(input);
    read(input, [...columns, ...keys].flatMap(leavesOfColumn));
  }
  for (const project of projects) draftOf(project.input).buildSides.push(project);
  for (const { rows, maps: own } of drafts.values()) {
    const { scan } = place(scanOf(rows));
    for (const { right } of [...rowJoins(rows), ...own.flatMap(objectJoins)]) {
      const parent = place(scanOf(right.input)).scan;
      if (parent !== scan) scan.needs.add(parent.key);
    }
  }
  return [...scans.values()];
}

/** The joins that give the objects of a triples map, or members of its collections. */
const objectJoins = ({ emits, collects }: MapRules): readonly Join[] => [
  ...emits.flatMap(({ input, object }) => (isObjectOf(input, object) ? [input] : [])),
  ...collects.flatMap(({ collection }) => memberJoins(collection)),
];

/** Whether a join gives the object of an emit, and not a row. */
export const isObjectOf = (input: Operator, object: Term): input is Join =>
  input.kind === 'join' && object.kind === 'encoded' && input.columns.includes(object.column);

/** The right sides of joins, also of those within right sides. */
export function projectsOf(maps: readonly MapRules[], checks: readonly Check[]): readonly Project[] {
  const found = new Set<Project>();
  const add = (join: Join): void => {
    if (found.has(join.right)) return;
    found.add(join.right);
    rowJoins(join.right.input).forEach(add);
  };
  for (const rules of maps) [...rowJoins(rules.rows), ...objectJoins(rules)].forEach(add);
  for (const { rows } of checks) rowJoins(rows).forEach(add);
  return [...found];
}

/** Everything that is read from the rows of a triples map. */
function leavesOfRules(rules: MapRules): readonly Leaf[] {
  const { subject, checks, emits, collects } = rules;
  const terms = ({ predicate, object, graph }: Emit): readonly Term[] => [predicate, ...(graph === undefined ? [] : [graph]), object];
  return [
    ...[subject, ...checks].flatMap(leavesOfTerm),
    ...emits.flatMap((emit) => terms(emit).flatMap(leavesOfTerm)),
    ...collects.flatMap(leavesOfCollect),
    ...objectJoins(rules).flatMap(({ on }) => on.flatMap(({ left }) => leavesOf(left))),
  ];
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
