/** Groups triples maps by document into scans, orders the scans, and finds independent groups of them. */

import { Links } from '../core/links.ts';
import type { LogicalSource, SqlSource } from '../mapping/model/model.ts';
import { formatOrigin, type Origin } from '../mapping/model/model.ts';
import { expressionsOf, type JoinPlan, type MapDraft, referencesOf } from './rules.ts';

interface IterationDraft {
  readonly iterator: string | undefined;
  readonly origin: string;
  readonly references: Set<string>;
  readonly maps: MapDraft[];
  readonly buildSides: number[];
}

export interface ScanDraft {
  readonly source: LogicalSource;
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: IterationDraft[];
  /** Scans (by key) with the parents of this scan's joins. */
  readonly key: string;
  readonly needs: Set<string>;
}

/** Triples maps over the same document with the same read options share a scan; those with the same iterator share its records. */
export function groupScans(drafts: readonly MapDraft[], joins: readonly JoinPlan[]): ScanDraft[] {
  const scans = new Map<string, ScanDraft>();
  const iterationOf = new Map<string, { scan: ScanDraft; iteration: IterationDraft }>();
  for (const draft of drafts) {
    const { source, dialect: mapDialect } = draft.triplesMap;
    const dialect = mapDialect === 'rml' ? 'rml' : 'legacy';
    const key = sourceKey(source, dialect);
    let scan = scans.get(key);
    if (scan === undefined) {
      scan = { source, dialect, iterations: [], key, needs: new Set() };
      scans.set(key, scan);
    }
    const { iterator, iteratorOrigin } = iteratorOf(source);
    let iteration = scan.iterations.find((known) => known.iterator === iterator);
    if (iteration === undefined) {
      iteration = { iterator, origin: formatOrigin(iteratorOrigin), references: new Set(), maps: [], buildSides: [] };
      scan.iterations.push(iteration);
    }
    iteration.maps.push(draft);
    iterationOf.set(draft.triplesMap.id, { scan, iteration });
    for (const expression of expressionsOf(draft)) for (const reference of referencesOf(expression)) iteration.references.add(reference);
  }
  for (const join of joins) {
    const parent = iterationOf.get(join.parent.id);
    if (parent === undefined) continue;
    parent.iteration.buildSides.push(join.index);
    for (const expression of [join.parent.subject.expression, ...join.keys])
      for (const reference of referencesOf(expression)) parent.iteration.references.add(reference);
  }
  for (const scan of scans.values()) {
    for (const iteration of scan.iterations) {
      for (const draft of iteration.maps) {
        for (const rule of draft.rules) {
          if (rule.object.kind !== 'join') continue;
          const parent = iterationOf.get(joins[rule.object.join]?.parent.id ?? '');
          if (parent !== undefined && parent.scan !== scan) scan.needs.add(parent.scan.key);
        }
      }
    }
  }
  return [...scans.values()];
}

/** Tables and CSV files have no iterator. */
function iteratorOf(source: LogicalSource): { readonly iterator: string | undefined; readonly iteratorOrigin: Origin } {
  if (source.kind === 'sql') return { iterator: undefined, iteratorOrigin: source.content.origin };
  const { formulation, iterator, iteratorOrigin, origin } = source;
  return { iterator: formulation === 'csv' ? undefined : iterator, iteratorOrigin: iteratorOrigin ?? origin };
}

function sourceKey(source: LogicalSource, dialect: string): string {
  if (source.kind === 'sql') return JSON.stringify([sqlKey(source), source.nulls]);
  const { path, root, formulation, nulls, encoding, compression, namespaces, csv } = source;
  return JSON.stringify([path, root, formulation, nulls, encoding, compression, namespaces, csv, dialect, source.origin.document]);
}

/** Equal for sources with the same rows and the same reference syntax. */
export function sqlKey({ connection, content, references }: SqlSource): string {
  const database = connection === undefined ? null : [connection.jdbcUrl, connection.driver, connection.user, connection.password];
  switch (content.kind) {
    case 'table':
      return JSON.stringify([database, references, 'table', content.name]);
    case 'query':
      return JSON.stringify([database, references, 'query', content.sql]);
    case 'join':
      return JSON.stringify(['join', content.reader]);
  }
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
