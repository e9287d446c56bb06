/**
 * Join push-down: a referencing object map whose two sides are in one database, and comparable there, becomes a triples map over the
 * matching pairs of rows. All other joins are made by the engine.
 *
 * @see https://www.w3.org/TR/r2rml/#foreign-key (joint SQL query)
 */
import type { ErrorPolicy, Expression, Mapping, ReferencingObjectMap, SqlSource, TermMap, TriplesMap } from '../mapping/model/model.ts';
import { policyOf } from '../mapping/model/model.ts';
import type { CatalogueMetadata } from './catalogue-metadata.ts';
import { findGuards, type Guards, without } from './guards.ts';

export function pushDownJoins(mapping: Mapping, facts: CatalogueMetadata, onError: ErrorPolicy | undefined): Mapping {
  const byId = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
  const guards = findGuards(mapping.triplesMaps, facts);
  // Where a rejected record ends the run, no guards are needed.
  const ofPairs = ({ dialect }: TriplesMap): Guards | undefined => (policyOf(dialect, onError) === 'strict' ? undefined : guards);
  const triplesMaps = mapping.triplesMaps.flatMap((map) => splitJoins(map, byId, facts, ofPairs(map)));
  if (triplesMaps.length === mapping.triplesMaps.length) return mapping;
  const parents = new Set(triplesMaps.flatMap(referencesOf));
  const left = findGuards(triplesMaps, facts);
  return {
    triplesMaps: triplesMaps.flatMap((map) => {
      const whole = byId.get(map.id);
      if (whole === undefined) return [map];
      const all = guards.of(whole);
      // A triples map whose only rules were joins is dropped, unless it can reject a record.
      const { predicateObjects, subject } = map;
      const says = predicateObjects.length > 0 || subject.classes.length > 0 || parents.has(map.id) || whole.predicateObjects.length === 0;
      return says || all.length > 0 ? [{ ...map, guards: without(all, left.of(map)) }] : [];
    }),
  };
}

/** The triples map without the joins that are pushed down, and one triples map for each of those. */
function splitJoins(
  map: TriplesMap,
  byId: ReadonlyMap<string, TriplesMap>,
  facts: CatalogueMetadata,
  guards: Guards | undefined,
): readonly TriplesMap[] {
  const { source } = map;
  if (source.kind !== 'sql') return [map];
  const joins: TriplesMap[] = [];
  const predicateObjects = map.predicateObjects.flatMap((predicateObject) => {
    const objects = predicateObject.objects.filter((object) => {
      const parent = object.kind === 'referencing' ? byId.get(object.parent) : undefined;
      if (object.kind !== 'referencing' || parent === undefined) return true;
      const id = `${map.id} join ${joins.length + 1}`;
      const content = joinOf(id, map, source, object, parent, facts);
      if (content === undefined) return true;
      joins.push({
        ...map,
        id,
        name: `${map.name} joined with ${parent.name}`,
        origin: object.origin,
        source: { ...source, ids: [], content },
        subject: { ...onSide(map.subject, 'child'), classes: [], graphs: map.subject.graphs.map((graph) => onSide(graph, 'child')) },
        predicateObjects: [
          {
            origin: predicateObject.origin,
            predicates: predicateObject.predicates.map((predicate) => onSide(predicate, 'child')),
            objects: [onSide(parent.subject, 'parent')],
            graphs: predicateObject.graphs.map((graph) => onSide(graph, 'child')),
          },
        ],
        guards: [
          ...(guards?.of(map).map((term) => onSide(term, 'child')) ?? []),
          ...(guards?.asParent(parent).map((term) => onSide(term, 'parent')) ?? []),
        ],
      });
      return false;
    });
    return objects.length > 0 ? [{ ...predicateObject, objects }] : [];
  });
  return joins.length === 0 ? [map] : [{ ...map, predicateObjects }, ...joins];
}

/** undefined: the engine makes the join. */
function joinOf(
  reader: string,
  map: TriplesMap,
  child: SqlSource,
  { origin, conditions }: ReferencingObjectMap,
  parentMap: TriplesMap,
  facts: CatalogueMetadata,
): Extract<SqlSource['content'], { kind: 'join' }> | undefined {
  const parent = parentMap.source;
  if (conditions.length === 0 || parent.kind !== 'sql' || parentMap.baseIri !== map.baseIri) return undefined;
  // Per-record blank nodes depend on the position of the record, which a pair of rows does not have.
  if ([map, parentMap].some(({ subject }) => subject.expression.kind === 'fresh')) return undefined;
  const pairs: { child: string; parent: string }[] = [];
  for (const condition of conditions) {
    if (condition.child.kind !== 'reference' || condition.parent.kind !== 'reference') return undefined;
    const pair = { child: condition.child.reference, parent: condition.parent.reference };
    if (!facts.canJoin(child, pair.child, parent, pair.parent)) return undefined;
    pairs.push(pair);
  }
  return { kind: 'join', origin, reader, child, parent, conditions: pairs };
}

const referencesOf = (map: TriplesMap): readonly string[] =>
  map.predicateObjects.flatMap(({ objects }) => objects.flatMap((object) => (object.kind === 'referencing' ? [object.parent] : [])));

type Side = 'child' | 'parent';

/** A term map over the pairs of a join: its references name their side. */
function onSide(term: TermMap, side: Side): TermMap {
  const { expression, language, datatype } = term;
  return {
    ...term,
    expression: expressionOnSide(expression, side),
    language: language === undefined ? undefined : expressionOnSide(language, side),
    datatype: datatype === undefined ? undefined : onSide(datatype, side),
  };
}

function expressionOnSide(expression: Expression, side: Side): Expression {
  switch (expression.kind) {
    case 'reference':
      return { ...expression, reference: `${side} ${expression.reference}` };
    case 'template':
      return {
        ...expression,
        parts: expression.parts.map((part) => (part.kind === 'reference' ? { ...part, reference: `${side} ${part.reference}` } : part)),
      };
    default:
      return expression;
  }
}
