/** Functional dependencies: what cannot repeat because the statement contains the values that identify its row. */
import type { Emit, MapRules, Scan, Term } from './algebra.ts';
import type { CatalogueMetadata } from './catalogue-metadata.ts';
import { expressionsOf, nameOf, readsOf, readsOfTerm } from './expressions.ts';
import { injectiveReferences } from './injectivity.ts';
import { hasNaturalDatatype, writtenTerm } from './written.ts';

/**
 * Whether the object depends functionally on the subject: the object is made of texts that can be recovered from the subject, each the only
 * value of its reference. A text does not give the datatype: JSON's `1` and `"1"` make one subject and two literals.
 */
export function isFunctionallyDependent({ object }: Emit, { rows, subject }: MapRules, facts: CatalogueMetadata): boolean {
  if (object.kind === 'encoded') return false;
  if (isOfRow(object) || (hasNaturalDatatype(object) && carriesDatatypes(rows))) return false;
  const told = toldBy(subject);
  return namesOf(object).every((name) => told.has(name) && isSingle(name, rows, facts));
}

/**
 * Whether no rule can make a statement twice: every record has its own subject, or (the rows of a join, which are distinct) subject and
 * object together identify the record; and no record repeats a value.
 */
export function isUnique({ rows, subject, emits, checks }: MapRules, facts: CatalogueMetadata): boolean {
  const { source } = rows;
  if (source.kind !== 'sql') return false;
  const names = new Set([subject, ...checks, ...emits.flatMap(termsOf)].flatMap(namesOf));
  const keys = emits.flatMap(({ input }) => (input.kind === 'join' ? input.on.flatMap(({ left }) => readsOf(left).map(nameOf)) : []));
  const references = [...names, ...keys];
  if (!references.every((reference) => isSingle(reference, rows, facts))) return false;
  const told = toldBy(subject);
  if (facts.isKey(source, [...told])) return true;
  if (source.content.kind !== 'join') return false;
  return emits.every(({ object }) => {
    const toldByBoth = new Set([...told, ...toldBy(object)]);
    return references.every((reference) => toldByBoth.has(reference)) && facts.areDistinct(source, [...toldByBoth]);
  });
}

/** Whether the subject identifies the row of its table. */
export const identifiesRow = ({ rows, subject }: MapRules, facts: CatalogueMetadata): boolean =>
  rows.source.kind === 'sql' && facts.identifiesRow(rows.source, [...toldBy(subject)]);

const termsOf = ({ predicate, object, graph }: Emit): readonly Term[] => [predicate, object, ...(graph === undefined ? [] : [graph])];

const namesOf = (term: Term): readonly string[] => readsOfTerm(term).map(nameOf);

const isOfRow = (term: Term): boolean => expressionsOf(term).some(({ kind }) => kind === 'row');

const NOTHING: ReadonlySet<string> = new Set();

const toldBy = (term: Term): ReadonlySet<string> => (term.kind === 'encoded' ? NOTHING : injectiveReferences(writtenTerm(term)));

/**
 * Whether each value of a source carries its own natural datatype, which its text does not give. A database column has one datatype for all
 * values.
 */
const carriesDatatypes = ({ source }: Scan): boolean => source.kind === 'file' && source.formulation === 'json';

/** Whether a record has at most one value for the reference. */
function isSingle(reference: string, { source, dialect }: Scan, facts: CatalogueMetadata): boolean {
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
