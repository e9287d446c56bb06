/** A triples map as rules: one statement pattern for each combination of graph, predicate and object. */
import type { Expression, PredicateObjectMap, ReferencingObjectMap, TermMap, TriplesMap } from '../mapping/model/model.ts';
import { DEFAULT_GRAPH_IRIS } from '../mapping/model/model.ts';

export type ObjectPlan =
  | { readonly kind: 'term'; readonly term: TermMap }
  /** The subject of another triples map for the same record. */
  | { readonly kind: 'parent-subject'; readonly parent: TriplesMap }
  | { readonly kind: 'join'; readonly join: number; readonly keys: readonly Expression[]; readonly deferred: boolean };

/** The build side of a join: subjects of the parent by key. Children with the same parent and parent keys share it. */
export interface JoinPlan {
  readonly index: number;
  readonly parent: TriplesMap;
  readonly keys: readonly Expression[];
}

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

/**
 * The rules of a triples map: classes first, then predicate object maps in the order of the mapping. Within each they are ordered by graph,
 * then predicate, then object. A statement goes to every graph of the subject map and of its predicate object map, each once, or to the
 * default graph if there is none. A referencing object map without conditions takes the parent's subject from the same record,
 * or with `all` from every record of the parent.
 *
 * Throws nothing: the mapping has been checked.
 *
 * @param byId every triples map of the mapping; parents of referencing object maps must be in it
 * @param joinOf returns the join with this parent and these parent keys, which stand in a canonical order, so that equal joins are one
 */
export function draftRules(
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
  if (object.conditions.length === 0 && object.all !== true) return { kind: 'parent-subject', parent };
  const conditions = sortedConditions(object);
  const join = joinOf(
    parent,
    conditions.map((condition) => condition.parent),
  );
  return { kind: 'join', join: join.index, keys: conditions.map((condition) => condition.child) };
}

/** Conditions are unordered; a canonical order lets equal joins share an index. */
function sortedConditions(object: ReferencingObjectMap) {
  return object.conditions.toSorted((a, b) => (expressionKey(a.parent) < expressionKey(b.parent) ? -1 : 1));
}

/** Distinct graphs. `undefined` is the default graph, also if the mapping names it by its IRI. */
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

/** Equal for equivalent expressions. */
export function expressionKey(expression: Expression): string {
  const { origin: _, ...meaning } = expression;
  return JSON.stringify(meaning);
}

/** Every expression that is evaluated on the records of the triples map. */
export function* expressionsOf(draft: MapDraft): Generator<Expression> {
  const ofTerm = function* (term: TermMap): Generator<Expression> {
    yield term.expression;
    if (term.language !== undefined) yield term.language;
    if (term.datatype !== undefined) yield term.datatype.expression;
  };
  yield* ofTerm(draft.triplesMap.subject);
  for (const guard of draft.triplesMap.guards ?? []) yield* ofTerm(guard);
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

/** The base for relative IRIs of a triples map. */
export const baseOf = (map: TriplesMap, runBase: string): string => map.baseIri ?? runBase;
