/** Functional dependencies: what cannot repeat because the statement contains the values that identify its row. */
import { FORMULATIONS } from '../core/input/formats.ts';
import { messagePartOf } from '../core/input/message-reference.ts';
import { variableOf } from '../core/input/sparql-variable.ts';
import { hasSeparators, hasTypedValues, namesTypedColumns } from '../mapping/model/model.ts';
import type { Check, Emit, Expression, Join, MapRules, Operator, Term } from './algebra.ts';
import type { CatalogueMetadata } from './catalogue-metadata.ts';
import {
  expressionsOf,
  holds,
  isInCell,
  isTerm,
  type Leaf,
  leafKey,
  leavesOf,
  leavesOfTerm,
  nameOf,
  readsOfTerm,
  scanOf,
  termsIn,
  termsOfEmit,
} from './expressions.ts';
import { injectiveReferences } from './injectivity.ts';
import { hasNaturalDatatype, writtenTerm } from './written.ts';

/**
 * Whether the object depends functionally on the subject: the object is made of texts that can be recovered from the subject, each the only
 * value of its reference. A text does not give the datatype: JSON's `1` and `"1"` make one subject and two literals.
 */
export function isFunctionallyDependent({ object }: Emit, { rows, subject }: MapRules, catalogue: CatalogueMetadata): boolean {
  // What a join brings is not of the row alone, and one of several triples is not the only one.
  if (isInCell(object) || !isOne(object)) return false;
  if (variesInRow(object) || hasVaryingDatatype(object, rows)) return false;
  const determined = determinedBy(subject);
  return leavesOfTerm(object).every((leaf) => determined.has(leafKey(leaf)) && isSingle(leaf, rows, catalogue));
}

/** The side of a join whose term determines the key of its rows. */
export type KeyedBy = 'child' | 'parent' | undefined;

/**
 * The side of a join, if there is one, whose term (the subject of the child, or that of the parent) determines the key of its rows.
 *
 * **Claim.** Then each pair of terms has one key at most. So a rule that is disjoint from all others and pairs the distinct terms of each
 * key makes each of its statements once.
 *
 * **Proof.** The key is made of texts that can be recovered from the term (`determinedBy`), each the only value of its reference, joined by
 * templates alone: no function, condition or position of the row. Keys and subjects are both made of the values as the source writes them,
 * so rows with an equal term have equal keys, and the term is in one group of its side. Two pairs of one group differ in child or parent,
 * and with constant predicate and graph the statement gives both back.
 */
export function keyedBy({ on, right }: Join, { rows, subject }: MapRules, catalogue: CatalogueMetadata): KeyedBy {
  const lefts = on.map(({ left }) => left);
  if (determinesKeys(subject, lefts, rows, catalogue)) return 'child';
  const [parent] = right.columns;
  const keys = right.keys.map(({ value }) => value);
  return parent !== undefined && isTerm(parent.value) && determinesKeys(parent.value, keys, right.input, catalogue) ? 'parent' : undefined;
}

function determinesKeys(term: Term, keys: readonly Expression[], rows: Operator, catalogue: CatalogueMetadata): boolean {
  const determined = determinedBy(term);
  const isWritten = (key: Expression): boolean => !(holds(key, 'call') || holds(key, 'conditional') || holds(key, 'row'));
  return keys.every(
    (key) => isWritten(key) && leavesOf(key).every((leaf) => determined.has(leafKey(leaf)) && isSingle(leaf, rows, catalogue)),
  );
}

/**
 * Whether no rule can make a statement twice: every record has its own subject, or (the rows of a join, which are distinct) subject and
 * object together identify the record; and no record repeats a value.
 */
export function isUnique({ rows, subject, emits, checks }: MapRules, catalogue: CatalogueMetadata): boolean {
  if (rows.kind !== 'scan' || rows.source.kind === 'file') return false;
  const { source } = rows;
  const terms = [subject, ...checks, ...emits.flatMap(termsOfEmit)];
  if (terms.flatMap(expressionsOf).some((one) => holds(one, 'call'))) return false;
  const keys = emits.flatMap(({ input }) => (input.kind === 'join' ? input.on.flatMap(({ left }) => leavesOf(left)) : []));
  const leaves = [...terms.flatMap(leavesOfTerm), ...keys];
  if (!leaves.every((leaf) => isSingle(leaf, rows, catalogue))) return false;
  const namesIn = (determined: ReadonlySet<string>): string[] => [
    ...new Set(leaves.flatMap((leaf) => (leaf.kind === 'read' && determined.has(leafKey(leaf)) ? [nameOf(leaf)] : []))),
  ];
  const determined = determinedBy(subject);
  if (catalogue.isKey(source, namesIn(determined))) return true;
  if (source.kind !== 'sql-pairs') return false;
  return emits.every(({ object }) => {
    const determinedByBoth = new Set([...determined, ...determinedBy(object)]);
    return leaves.every((leaf) => determinedByBoth.has(leafKey(leaf))) && catalogue.areDistinct(source, namesIn(determinedByBoth));
  });
}

/**
 * Whether no rule can make a statement twice, because a view promises a key and the promise is checked.
 *
 * **Claim.** If every pair of rows of the triples map differs in the texts of the key, no two rows have the same subject.
 *
 * **Proof.** The check and the triples map read the same rows: `rows` is the same operator, so no field beside the key multiplies those of
 * the triples map, and the records of the scan are numbered, never merged. A row with a null in the key has no subject, since the subject
 * reads every field of the key and a template with a null gives no text. For two others with the same subject, each field of the key can be
 * recovered from the subject (`determinedBy`), so their keys are equal texts. The check compares values, but of one CSV column equal texts are
 * equal values (JSON, workbooks and Parquet have `1` and `"1"`, two values with one text, so their keys are not used). So the check
 * finds the pair and ends the run before its output is committed, whatever was written. Within a row, each reference has one value, and no
 * function gives several: a rule makes each of its statements once.
 */
export function isDeclaredUnique(rules: MapRules, promised: readonly Check[], catalogue: CatalogueMetadata): boolean {
  const { rows } = rules;
  if (rows.kind !== 'scan' || rows.source.kind !== 'file' || rows.source.formulation !== 'csv') return false;
  if (namesTypedColumns(rows.source)) return false;
  const determined = determinedByRow(rules, catalogue);
  return promised.some(
    (check) =>
      check.kind === 'unique' &&
      check.rows === rows &&
      check.fields.every(({ value }) => value.kind === 'read' && determined.has(leafKey(value))),
  );
}

/**
 * The references of a document's rows of which each, if no two rows have the same text there, means that no rule can make a statement twice.
 *
 * **Claim.** If no two rows have the same text for one of them, no two rows have the same subject. A row may have no value there.
 *
 * **Proof.** The subject reads the reference, so a row without a value there has no subject: a template with a null gives no text. The text can
 * be recovered from the subject (`determinedBy`), so two rows with the same subject had the same text. Within a row: as for `isDeclaredUnique`.
 */
export function keyReferences(rules: MapRules, catalogue: CatalogueMetadata): readonly string[] {
  if (!mayTellRow(rules.subject, rules.rows)) return [];
  const determined = determinedByRow(rules, catalogue);
  return [...new Set(readsOfTerm(rules.subject).flatMap((read) => (determined.has(leafKey(read)) ? [read.reference] : [])))];
}

/**
 * Whether a term may have another text in each row of a document: it is read of the row, and belongs to it in no other way.
 *
 * **Claim.** If no two rows have the same text for the subject (or for the object of an emit), no rule (or not this one) can make a statement twice, as
 * far as the rule is disjoint from others and made of the row alone (`isOfRowAlone`).
 *
 * **Proof.** Two rows differ in subject (or object), and predicate and graph are constant, so they make different statements. Within a row: as for
 * `isDeclaredUnique`. A row without a text there makes no statement.
 */
export const mayTellRow = (term: Term, rows: Operator): boolean =>
  rows.kind === 'scan' &&
  rows.source.kind === 'file' &&
  // The records of CSV are its rows, whatever the iterator; those of an iterator are not the rows of a table.
  (rows.iterator === undefined || rows.source.formulation === 'csv') &&
  readsOfTerm(term).length > 0 &&
  !expressionsOf(term).some((one) => holds(one, 'call') || holds(one, 'row'));

/** The reads of the row that its subject determines, if the rules make each of their statements once where each row has its own subject. */
const determinedByRow = (rules: MapRules, catalogue: CatalogueMetadata): ReadonlySet<string> =>
  isOfRowAlone(rules, rules.emits, catalogue) ? determinedBy(rules.subject) : NOTHING;

/** Whether each reference of a row has one value, no function gives several, and these statements are made of the row alone. */
export function isOfRowAlone({ rows, subject, collects, checks }: MapRules, emits: readonly Emit[], catalogue: CatalogueMetadata): boolean {
  if (rows.kind !== 'scan' || isInCell(subject)) return false;
  const terms = [subject, ...checks, ...emits.flatMap(termsOfEmit)];
  if (collects.length > 0 || emits.some(({ input }) => input !== rows) || !terms.every(isOne)) return false;
  if (terms.flatMap(expressionsOf).some((one) => holds(one, 'call'))) return false;
  return terms.flatMap(leavesOfTerm).every((leaf) => isSingle(leaf, rows, catalogue));
}

/** Whether the subject identifies the row of its table. */
export function identifiesRow({ rows, subject }: MapRules, catalogue: CatalogueMetadata): boolean {
  if (rows.kind !== 'scan' || rows.source.kind === 'file') return false;
  const determined = determinedBy(subject);
  return catalogue.identifiesRow(
    rows.source,
    readsOfTerm(subject).flatMap((read) => (determined.has(leafKey(read)) ? [nameOf(read)] : [])),
  );
}

/** Whether a term of equal values may differ between rows, or have several texts: functions may be random, and may give lists. */
const variesInRow = (term: Term): boolean => expressionsOf(term).some((one) => holds(one, 'row') || holds(one, 'call'));

const NOTHING: ReadonlySet<string> = new Set();

const determinedBy = (term: Term): ReadonlySet<string> => (isInCell(term) ? NOTHING : injectiveReferences(writtenTerm(term)));

/** Whether a term has one text at most where each of its references has one value. */
const isOne = (term: Term): boolean => term.kind !== 'quoted' || (term.triples.length === 1 && termsIn(term).every(isOne));

/** Whether a literal is the term, or part of it, and brings a datatype that its text does not give. */
const hasVaryingDatatype = (term: Term, rows: Operator): boolean =>
  term.kind === 'quoted'
    ? termsIn(term).some((part) => hasVaryingDatatype(part, rows))
    : hasNaturalDatatype(term) && carriesDatatypes(term, rows);

/**
 * Whether each value of the literal carries its own natural datatype, which its text does not give. A database column has one datatype for
 * all values.
 */
const carriesDatatypes = (literal: Term, rows: Operator): boolean =>
  leavesOfTerm(literal).some(({ kind }) => kind === 'cell') ||
  rows.kind !== 'scan' ||
  (rows.source.kind === 'file' && hasTypedValues(rows.source));

/** Whether a row has at most one value for what is read. */
export function isSingle(leaf: Leaf, rows: Operator, catalogue: CatalogueMetadata): boolean {
  if (leaf.kind === 'cell') return true;
  const { source, dialect } = scanOf(rows);
  if (source.kind !== 'file') return catalogue.isSingle(source, nameOf(leaf));
  const { reference } = leaf;
  if (source.request?.kind === 'select' && variableOf(reference) !== undefined) return true;
  const part = source.request?.kind === 'topic' ? messagePartOf(reference) : undefined;
  if (part !== undefined) return part.part !== 'header';
  return FORMULATIONS[source.formulation].isSingle(reference, dialect === 'legacy') && !hasSeparators(source);
}
