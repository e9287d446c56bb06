/**
 * Mapping → plan: which scans are made in which order, which rules each record feeds, how joins meet, and where two rules
 * could make the same statement. Plain data; nothing here reads a source.
 */
import type { Expression, FileSource, Mapping, PredicateObjectMap, ReferencingObjectMap, TermMap, TriplesMap } from '../mapping/model.ts';
import { DEFAULT_GRAPH_IRIS, formatOrigin } from '../mapping/model.ts';
import { isDetermined } from './determined.ts';
import { findPartitions } from './partitions.ts';

export interface Plan {
  /** In the order in which they run: where it can be, a join's parent before its child. */
  readonly scans: readonly ScanPlan[];
  readonly joins: readonly JoinPlan[];
  /** Positions of scans that have nothing to do with those of another group: no join, no statement that both could make. */
  readonly groups: readonly (readonly number[])[];
}

/** One pass over one document. */
export interface ScanPlan {
  readonly source: FileSource;
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: readonly IterationPlan[];
}

/** One iterator of a scan, and all that its records feed. */
export interface IterationPlan {
  readonly iterator: string | undefined;
  /** `document:line:column`. */
  readonly origin: string;
  readonly references: readonly string[];
  readonly maps: readonly MapPlan[];
  /** Joins (by index) whose parent side these records fill. */
  readonly fills: readonly number[];
}

/** A triples map as rules that share its subject. */
export interface MapPlan {
  readonly index: number;
  readonly triplesMap: TriplesMap;
  readonly rules: readonly RulePlan[];
}

/** One statement pattern. */
export interface RulePlan {
  readonly predicate: TermMap;
  readonly object: ObjectPlan;
  /** undefined: the default graph. */
  readonly graph: TermMap | undefined;
  /**
   * Where duplicates are looked for. `subject`: only records with the same subject in this triples map can repeat a statement of
   * this rule. `shared`: other rules may make the same statement, or the predicate or graph is not constant.
   */
  readonly distinct: 'subject' | 'shared';
  /** The subject alone says what the object is: a subject that was seen needs no look at it. */
  readonly determined: boolean;
}

export type ObjectPlan =
  | { readonly kind: 'term'; readonly term: TermMap }
  /** The subject of another triples map for the same record. */
  | { readonly kind: 'parent-subject'; readonly parent: TriplesMap }
  | { readonly kind: 'join'; readonly join: number; readonly keys: readonly Expression[]; readonly deferred: boolean };

/** The parent side of a join: subjects by key. Children with the same parent and parent keys share it. */
export interface JoinPlan {
  readonly index: number;
  readonly parent: TriplesMap;
  readonly keys: readonly Expression[];
}

export function planMapping(mapping: Mapping, runBase: string): Plan {
  const joins: JoinPlan[] = [];
  const joinsByName = new Map<string, JoinPlan>();
  const byId = new Map(mapping.triplesMaps.map((map) => [map.id, map]));

  const joinOf = (parent: TriplesMap, keys: readonly Expression[]): JoinPlan => {
    const name = `${parent.id} ${JSON.stringify(keys.map(expressionKey))}`;
    let join = joinsByName.get(name);
    if (join === undefined) {
      join = { index: joins.length, parent, keys };
      joins.push(join);
      joinsByName.set(name, join);
    }
    return join;
  };

  const drafts = mapping.triplesMaps.map((triplesMap): MapDraft => ({ triplesMap, rules: draftRules(triplesMap, byId, joinOf) }));
  const scans = orderScans(groupScans(drafts, joins));
  const scanOf = new Map<string, number>();
  for (const [position, scan] of scans.entries())
    for (const iteration of scan.iterations) for (const draft of iteration.maps) scanOf.set(draft.triplesMap.id, position);

  const { shared, meetings } = findPartitions(
    scans.flatMap((scan) => scan.iterations.flatMap((iteration) => iteration.maps)),
    joins,
    runBase,
  );
  let index = 0;
  return {
    joins,
    groups: groupsOf(scans, [
      ...meetings.map(([a, b]) => [scanOf.get(a.id), scanOf.get(b.id)] as [number, number]),
      ...scans.flatMap((scan, position) =>
        [...scan.needs].map((key) => [position, scans.findIndex((other) => other.key === key)] as [number, number]),
      ),
    ]),
    scans: scans.map((scan, position) => ({
      source: scan.source,
      dialect: scan.dialect,
      iterations: scan.iterations.map((iteration) => ({
        iterator: iteration.iterator,
        origin: iteration.origin,
        references: [...iteration.references],
        fills: iteration.fills,
        maps: iteration.maps.map((draft) => ({
          index: index++,
          triplesMap: draft.triplesMap,
          rules: draft.rules.map((rule): RulePlan => {
            const { object } = rule;
            const distinct = shared.has(rule) ? 'shared' : 'subject';
            const determined = isDetermined(rule, draft.triplesMap, scan.dialect);
            if (object.kind !== 'join') return { ...rule, object, distinct, determined };
            const parent = joins[object.join]?.parent as TriplesMap;
            return { ...rule, object: { ...object, deferred: (scanOf.get(parent.id) as number) >= position }, distinct, determined };
          }),
        })),
      })),
    })),
  };
}

// ---------------------------------------------------------------- rules

export interface RuleDraft {
  readonly predicate: TermMap;
  readonly object: Exclude<ObjectPlan, { kind: 'join' }> | Omit<Extract<ObjectPlan, { kind: 'join' }>, 'deferred'>;
  readonly graph: TermMap | undefined;
}

export interface MapDraft {
  readonly triplesMap: TriplesMap;
  readonly rules: readonly RuleDraft[];
}

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** A statement goes to every graph of the subject map and of the predicate-object map; to the default graph when there is none. */
function draftRules(
  map: TriplesMap,
  byId: ReadonlyMap<string, TriplesMap>,
  joinOf: (parent: TriplesMap, keys: readonly Expression[]) => JoinPlan,
): RuleDraft[] {
  const rules: RuleDraft[] = [];
  const type = (of: TermMap): TermMap => ({
    ...of,
    language: undefined,
    datatype: undefined,
    termType: 'iri',
    expression: { kind: 'constant', origin: of.origin, term: { kind: 'iri', value: RDF_TYPE } },
  });
  for (const graph of graphsOf(map.subject.graphs)) {
    for (const object of map.subject.classes) rules.push({ predicate: type(object), object: { kind: 'term', term: object }, graph });
  }
  for (const pom of map.predicateObjects) {
    for (const graph of graphsOf([...map.subject.graphs, ...pom.graphs])) {
      for (const predicate of pom.predicates) {
        for (const object of pom.objects) rules.push({ predicate, object: draftObject(object, byId, joinOf), graph });
      }
    }
  }
  return rules;
}

function draftObject(
  object: PredicateObjectMap['objects'][number],
  byId: ReadonlyMap<string, TriplesMap>,
  joinOf: (parent: TriplesMap, keys: readonly Expression[]) => JoinPlan,
): RuleDraft['object'] {
  if (object.kind === 'term') return { kind: 'term', term: object };
  const parent = byId.get(object.parent) as TriplesMap;
  if (object.conditions.length === 0) return { kind: 'parent-subject', parent };
  const conditions = sortedConditions(object);
  const join = joinOf(
    parent,
    conditions.map((condition) => condition.parent),
  );
  return { kind: 'join', join: join.index, keys: conditions.map((condition) => condition.child) };
}

/** The order of conditions means nothing: one order lets equal joins share an index. */
function sortedConditions(object: ReferencingObjectMap) {
  return object.conditions.toSorted((a, b) => (expressionKey(a.parent) < expressionKey(b.parent) ? -1 : 1));
}

/** Distinct graphs; `undefined` is the default graph, also where the mapping names it by its IRI. */
function graphsOf(maps: readonly TermMap[]): (TermMap | undefined)[] {
  if (maps.length === 0) return [undefined];
  const graphs = new Map<string, TermMap | undefined>();
  for (const map of maps) {
    const { expression } = map;
    const isDefault = expression.kind === 'constant' && DEFAULT_GRAPH_IRIS.has(expression.term.value);
    graphs.set(isDefault ? '' : `${map.termType} ${expressionKey(expression)}`, isDefault ? undefined : map);
  }
  return [...graphs.values()];
}

/** Equal for expressions that mean the same. */
export function expressionKey(expression: Expression): string {
  const { origin: _, ...meaning } = expression;
  return JSON.stringify(meaning);
}

// ---------------------------------------------------------------- scans

interface IterationDraft {
  readonly iterator: string | undefined;
  readonly origin: string;
  readonly references: Set<string>;
  readonly maps: MapDraft[];
  readonly fills: number[];
}

interface ScanDraft {
  readonly source: FileSource;
  readonly dialect: 'rml' | 'legacy';
  readonly iterations: IterationDraft[];
  /** Scans (by key) that hold the parents of joins from here. */
  readonly key: string;
  readonly needs: Set<string>;
}

/** Triples maps over the same document, read in the same way, share a scan; those with the same iterator share its records. */
function groupScans(drafts: readonly MapDraft[], joins: readonly JoinPlan[]): ScanDraft[] {
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
    const iterator = source.formulation === 'csv' ? undefined : source.iterator;
    let iteration = scan.iterations.find((known) => known.iterator === iterator);
    if (iteration === undefined) {
      iteration = { iterator, origin: formatOrigin(source.iteratorOrigin ?? source.origin), references: new Set(), maps: [], fills: [] };
      scan.iterations.push(iteration);
    }
    iteration.maps.push(draft);
    iterationOf.set(draft.triplesMap.id, { scan, iteration });
    for (const expression of expressionsOf(draft)) for (const reference of referencesOf(expression)) iteration.references.add(reference);
  }
  for (const join of joins) {
    const parent = iterationOf.get(join.parent.id);
    if (parent === undefined) continue;
    parent.iteration.fills.push(join.index);
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

function sourceKey(source: FileSource, dialect: string): string {
  const { path, root, formulation, nulls, encoding, compression, namespaces } = source;
  return JSON.stringify([path, root, formulation, nulls, encoding, compression, namespaces, dialect, source.origin.document]);
}

/** Parents before children; in a cycle, the scan that waits for fewest others goes first, and its joins are deferred. */
function orderScans(drafts: readonly ScanDraft[]): ScanDraft[] {
  const waiting = [...drafts];
  const done = new Set<string>();
  const ordered: ScanDraft[] = [];
  const open = (scan: ScanDraft): number => [...scan.needs].filter((key) => !done.has(key)).length;
  while (waiting.length > 0) {
    let best = 0;
    for (let i = 1; i < waiting.length; i++) if (open(waiting[i] as ScanDraft) < open(waiting[best] as ScanDraft)) best = i;
    const [scan] = waiting.splice(best, 1) as [ScanDraft];
    done.add(scan.key);
    ordered.push(scan);
  }
  return ordered;
}

/** Scans that are linked, directly or through others, are one group. */
function groupsOf(scans: readonly ScanDraft[], links: readonly (readonly [number, number])[]): number[][] {
  const group = scans.map((_, position) => position);
  const leader = (position: number): number => (group[position] === position ? position : leader(group[position] as number));
  for (const [a, b] of links) group[leader(a)] = leader(b);
  const groups = new Map<number, number[]>();
  for (const position of scans.keys()) groups.set(leader(position), [...(groups.get(leader(position)) ?? []), position]);
  return [...groups.values()];
}

// ---------------------------------------------------------------- references

function* expressionsOf(draft: MapDraft): Generator<Expression> {
  const ofTerm = function* (term: TermMap): Generator<Expression> {
    yield term.expression;
    if (term.language !== undefined) yield term.language;
    if (term.datatype !== undefined) yield term.datatype.expression;
  };
  yield* ofTerm(draft.triplesMap.subject);
  for (const { predicate, object, graph } of draft.rules) {
    yield* ofTerm(predicate);
    if (graph !== undefined) yield* ofTerm(graph);
    if (object.kind === 'term') yield* ofTerm(object.term);
    else if (object.kind === 'parent-subject') yield* ofTerm(object.parent.subject);
    else yield* object.keys;
  }
}

export function referencesOf(expression: Expression): readonly string[] {
  if (expression.kind === 'reference') return [expression.reference];
  if (expression.kind === 'template') return expression.parts.flatMap((part) => (part.kind === 'reference' ? [part.reference] : []));
  return [];
}
