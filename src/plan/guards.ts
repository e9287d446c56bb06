/**
 * Guards: the terms of a triples map, and the join keys of either side, that can reject a record. A join that is pushed down to a database
 * removes terms from the triples map, and its rows lack the other terms of the map. Guards add these terms back, so that a record is
 * rejected in the same way wherever the join is made.
 */
import type { Expression, LogicalSource, TermMap, TriplesMap } from '../mapping/model/model.ts';
import type { CatalogueMetadata } from './catalogue-metadata.ts';
import { expressionKey, referencesOf } from './rules.ts';

export interface Guards {
  /** Terms of a triples map that may be invalid for some record. */
  of(map: TriplesMap): readonly TermMap[];
  /** Those of them that matter when the map is the parent of a join: its keys. */
  asParent(map: TriplesMap): readonly TermMap[];
}

export function findGuards(triplesMaps: readonly TriplesMap[], facts: CatalogueMetadata): Guards {
  const byId = new Map(triplesMaps.map((map) => [map.id, map]));
  const childKeys = new Map<string, TermMap[]>();
  const parentKeys = new Map<string, TermMap[]>();
  const add = (to: Map<string, TermMap[]>, id: string, key: Expression): void => void to.set(id, [...(to.get(id) ?? []), keyTerm(key)]);
  for (const map of triplesMaps) {
    for (const object of map.predicateObjects.flatMap(({ objects }) => objects)) {
      for (const { child, parent } of object.kind === 'referencing' ? object.conditions : []) {
        add(childKeys, map.id, child);
        add(parentKeys, (object as { parent: string }).parent, parent);
      }
    }
  }
  const fallible = (terms: readonly TermMap[], { source }: TriplesMap): readonly TermMap[] => [
    ...new Map(terms.filter((term) => mayFail(term, source, facts)).map((term) => [termKey(term), term])).values(),
  ];
  return {
    of: (map) => fallible([...termsOf(map, byId), ...(childKeys.get(map.id) ?? []), ...(parentKeys.get(map.id) ?? [])], map),
    asParent: (map) => fallible(parentKeys.get(map.id) ?? [], map),
  };
}

/** The first terms without those among the second. */
export function without(terms: readonly TermMap[], others: readonly TermMap[]): readonly TermMap[] {
  const known = new Set(others.map(termKey));
  return terms.filter((term) => !known.has(termKey(term)));
}

const keyTerm = (expression: Expression): TermMap => ({
  kind: 'term',
  origin: expression.origin,
  termType: 'literal',
  expression,
  language: undefined,
  datatype: undefined,
});

const termKey = ({ termType, expression, language, datatype }: TermMap): string =>
  JSON.stringify([termType, expressionKey(expression), language && expressionKey(language), datatype && termKey(datatype)]);

function termsOf({ subject, predicateObjects }: TriplesMap, byId: ReadonlyMap<string, TriplesMap>): readonly TermMap[] {
  const others = predicateObjects.flatMap(({ predicates, objects, graphs }) => {
    const made = objects.flatMap((object) => {
      if (object.kind === 'term') return [object];
      const parent = object.conditions.length === 0 ? byId.get(object.parent) : undefined;
      return parent === undefined ? [] : [parent.subject];
    });
    return [...predicates, ...graphs, ...made];
  });
  return [subject, ...subject.graphs, ...others];
}

/** Whether some value may make this term invalid. Files need no guards, because their joins remove no terms. */
function mayFail({ termType, expression, language, datatype }: TermMap, source: LogicalSource, facts: CatalogueMetadata): boolean {
  if (source.kind !== 'sql') return false;
  if (!referencesOf(expression).every((reference) => facts.isAlwaysValid(source, reference))) return true;
  if (expression.kind === 'reference' && (termType === 'iri' || termType === 'uri')) return true;
  return (language !== undefined && language.kind !== 'constant') || (datatype !== undefined && mayFail(datatype, source, facts));
}
