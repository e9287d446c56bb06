/** Functional dependencies: what cannot repeat because the statement contains the values that identify its record. */
import type { LogicalSource, TermMap, TriplesMap } from '../mapping/model/model.ts';
import type { CatalogueMetadata } from './catalogue-metadata.ts';
import { injectiveReferences } from './injectivity.ts';
import { baseOf, expressionsOf, type MapDraft, type RuleDraft, referencesOf } from './rules.ts';
import { hasNaturalDatatype, writtenTerm } from './written.ts';

/**
 * Whether the object depends functionally on the subject: the object is made of texts that can be recovered from the subject, each the only
 * value of its reference. A text does not give the datatype: JSON's `1` and `"1"` make one subject and two literals.
 */
export function isFunctionallyDependent({ object }: RuleDraft, map: TriplesMap, runBase: string, facts: CatalogueMetadata): boolean {
  if (object.kind === 'join') return false;
  const term = object.kind === 'term' ? object.term : object.parent.subject;
  if (term.expression.kind === 'fresh' || (hasNaturalDatatype(term) && carriesDatatypes(map.source))) return false;
  const told = toldBy(map.subject, map, runBase);
  const references = [term.expression, term.language, term.datatype?.expression].flatMap((one) =>
    one === undefined ? [] : referencesOf(one),
  );
  return references.every((reference) => told.has(reference) && isSingle(reference, map, facts));
}

/**
 * Whether no rule can make a statement twice: every record has its own subject, or (the rows of a join, which are distinct) subject and
 * object together identify the record; and no record repeats a value.
 */
export function isUnique(draft: MapDraft, runBase: string, facts: CatalogueMetadata): boolean {
  const { triplesMap: map, rules } = draft;
  const { source } = map;
  if (source.kind !== 'sql') return false;
  const references = [...expressionsOf(draft)].flatMap(referencesOf);
  if (!references.every((reference) => isSingle(reference, map, facts))) return false;
  const told = toldBy(map.subject, map, runBase);
  if (facts.isKey(source, [...told])) return true;
  if (source.content.kind !== 'join') return false;
  return rules.every(({ object }) => {
    if (object.kind !== 'term') return false;
    const toldByBoth = new Set([...told, ...toldBy(object.term, map, runBase)]);
    return references.every((reference) => toldByBoth.has(reference)) && facts.areDistinct(source, [...toldByBoth]);
  });
}

/** Whether the subject identifies the row of its table. */
export function identifiesRow({ triplesMap: map }: MapDraft, runBase: string, facts: CatalogueMetadata): boolean {
  return map.source.kind === 'sql' && facts.identifiesRow(map.source, [...toldBy(map.subject, map, runBase)]);
}

const toldBy = (term: TermMap, map: TriplesMap, runBase: string): ReadonlySet<string> =>
  injectiveReferences(writtenTerm(term, baseOf(map, runBase)));

/**
 * Whether each value of a source carries its own natural datatype, which its text does not give. A database column has one datatype for all
 * values.
 */
const carriesDatatypes = (source: LogicalSource): boolean => source.kind === 'file' && source.formulation === 'json';

/** Whether a record has at most one value for the reference. */
function isSingle(reference: string, { source, dialect }: TriplesMap, facts: CatalogueMetadata): boolean {
  if (source.kind === 'sql') return facts.isSingle(source, reference);
  switch (source.formulation) {
    case 'csv':
      return true;
    case 'json':
      return dialect === 'rml' && !/[*?:,]|\.\./.test(reference);
    case 'xml':
      return /^@[\p{L}_][\p{L}\p{N}_.-]*$/u.test(reference);
  }
}
