/**
 * Guards: the terms of a triples map, and the join keys of either side, that can reject a record. A join that is pushed down to a database
 * removes terms from the triples map, and its rows lack the other terms of the map. Guards add these terms back, so that a record is
 * rejected in the same way wherever the join is made.
 */
import { lexicalSpace } from '../../core/input/lexical-form.ts';
import { datatypeCheckOf, leavesObjectsOut, type Policies } from '../../mapping/model/model.ts';
import type { Join, MapInfo, MapRules, Operator, Project, RowTerm } from '../algebra.ts';
import type { CatalogueMetadata } from '../catalogue-metadata.ts';
import {
  collectionTerms,
  expressionsOf,
  holds,
  keyTerm,
  memberJoins,
  nameOf,
  readsOf,
  termKey,
  termsIn,
  unconditional,
} from '../expressions.ts';

export interface Guards {
  /** Terms of a triples map that may be invalid for some record. */
  of(rules: MapRules): readonly RowTerm[];
  /** Those of a parent that matter where it is joined: its keys in all joins. */
  asParent(parent: Project): readonly RowTerm[];
}

export function findGuards(maps: readonly MapRules[], catalogue: CatalogueMetadata, { onError, datatypeCheck }: Policies): Guards {
  const parentKeys = new Map<MapInfo | undefined, RowTerm[]>();
  for (const join of maps.flatMap(ruleJoins)) {
    const { map, keys } = join.right;
    parentKeys.set(map, [...(parentKeys.get(map) ?? []), ...keys.map(({ value }) => keyTerm(value))]);
  }
  const fallible = (map: MapInfo | undefined, terms: readonly RowTerm[], rows: Operator): readonly RowTerm[] => {
    const context = { catalogue, checksDatatypes: map !== undefined && datatypeCheckOf(map, datatypeCheck) === 'error' };
    return [...new Map(terms.filter((term) => mayFail(term, rows, context)).map((term) => [termKey(term), term])).values()];
  };
  return {
    of(rules) {
      const leavesOut = leavesObjectsOut(rules.map.dialect, onError);
      const terms = [
        rules.subject,
        ...rules.emits.flatMap(({ input, predicate, object, graph }) => [
          ...(leavesOut && input.kind !== 'join' ? [] : [predicate, object]),
          ...(graph === undefined ? [] : [graph]),
        ]),
        ...rules.collects.flatMap(({ collection, places }) => [
          ...collectionTerms(collection),
          ...places.flatMap(({ graph }) => (graph === undefined ? [] : [graph])),
        ]),
      ].flatMap((term) => (term.kind === 'encoded' ? [] : term.kind === 'head' ? collectionTerms(term.collection) : [term]));
      const childKeys = ruleJoins(rules).flatMap(({ on }) => on.map(({ left }) => keyTerm(left)));
      return fallible(rules.map, [...terms, ...rules.checks, ...childKeys, ...(parentKeys.get(rules.map) ?? [])], rules.rows);
    },
    asParent: ({ map, input }) => fallible(map, parentKeys.get(map) ?? [], input),
  };
}

/** The first terms without those among the second. */
export function without(terms: readonly RowTerm[], others: readonly RowTerm[]): readonly RowTerm[] {
  const known = new Set(others.map(termKey));
  return terms.filter((term) => !known.has(termKey(term)));
}

/** The joins that find objects of a triples map, or members of its collections. */
export const ruleJoins = ({ emits, collects }: MapRules): readonly Join[] => [
  ...emits.flatMap(({ input }) => (input.kind === 'join' ? [input] : [])),
  ...collects.flatMap(({ collection }) => memberJoins(collection)),
];

/** Whether some value may make this term invalid. Files need no guards, because their joins remove no terms. */
function mayFail(
  term: RowTerm,
  rows: Operator,
  context: { readonly catalogue: CatalogueMetadata; readonly checksDatatypes: boolean },
): boolean {
  if (rows.kind !== 'scan' || rows.source.kind === 'file') return false;
  const { source } = rows;
  switch (term.kind) {
    case 'constant':
      return false;
    case 'quoted':
      return termsIn(term).some((part) => part.kind !== 'encoded' && mayFail(part, rows, context));
    case 'head':
      return collectionTerms(term.collection).some((one) => mayFail(one, rows, context));
    case 'iri':
      if (['read', 'call'].includes(unconditional(term.value).kind) && (term.type === 'iri' || term.type === 'uri')) return true;
      break;
    case 'literal':
      if (term.language !== undefined && term.language.kind !== 'constant') return true;
      if (term.datatype !== undefined && mayFail(term.datatype, rows, context)) return true;
      if (context.checksDatatypes && term.datatype !== undefined && mayBeIllTyped(term.datatype)) return true;
      break;
    case 'blank':
  }
  // A function may refuse its arguments.
  return (
    expressionsOf(term).some((one) => holds(one, 'call')) ||
    !readsOf(term.value).every((read) => context.catalogue.isAlwaysValid(source, nameOf(read)))
  );
}

/** Whether the datatype has a lexical space that lacks some texts; one that depends on the record may. */
const mayBeIllTyped = (datatype: RowTerm): boolean => datatype.kind !== 'constant' || lexicalSpace(datatype.term.value) !== undefined;
