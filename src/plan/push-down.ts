/**
 * Joins of one database are the database's: a referencing object map whose sides can be compared there becomes a triples map over
 * the pairs of rows that meet. What is left joins in the engine.
 *
 * @see https://www.w3.org/TR/r2rml/#foreign-key (joint SQL query)
 */
import type { Expression, Mapping, ReferencingObjectMap, SqlSource, TermMap, TriplesMap } from '../mapping/model.ts';
import type { SourceFacts } from './facts.ts';

export function pushDownJoins(mapping: Mapping, facts: SourceFacts): Mapping {
  const byId = new Map(mapping.triplesMaps.map((map) => [map.id, map]));
  const triplesMaps = mapping.triplesMaps.flatMap((map) => splitJoins(map, byId, facts));
  if (triplesMaps.length === mapping.triplesMaps.length) return mapping;
  const parents = new Set(triplesMaps.flatMap(referencesOf));
  // A triples map that said nothing but its joins has nothing left to say.
  const says = ({ id, subject, predicateObjects }: TriplesMap): boolean =>
    predicateObjects.length > 0 || subject.classes.length > 0 || parents.has(id) || byId.get(id)?.predicateObjects.length === 0;
  return { triplesMaps: triplesMaps.filter(says) };
}

/** The triples map without the joins that go to the database, and one triples map for each of those. */
function splitJoins(map: TriplesMap, byId: ReadonlyMap<string, TriplesMap>, facts: SourceFacts): readonly TriplesMap[] {
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
      });
      return false;
    });
    return objects.length > 0 ? [{ ...predicateObject, objects }] : [];
  });
  return joins.length === 0 ? [map] : [{ ...map, predicateObjects }, ...joins];
}

/** undefined: the engine has to do it. */
function joinOf(
  reader: string,
  map: TriplesMap,
  child: SqlSource,
  { origin, conditions }: ReferencingObjectMap,
  parentMap: TriplesMap,
  facts: SourceFacts,
): Extract<SqlSource['content'], { kind: 'join' }> | undefined {
  const parent = parentMap.source;
  if (conditions.length === 0 || parent.kind !== 'sql' || parentMap.baseIri !== map.baseIri) return undefined;
  // Blank nodes of records have their record's position, which a pair of rows does not know.
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

/** A term map over the pairs of a join: its references are those of a side. */
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
