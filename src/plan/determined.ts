/** What cannot repeat, because the values that tell records apart can be read off the statement. */
import type { Expression, LogicalSource, TriplesMap } from '../mapping/model.ts';
import type { SourceFacts } from './facts.ts';
import { expressionsOf, type MapDraft, type RuleDraft, referencesOf } from './rules.ts';

/** Whether the subject alone says what an object is: every reference of the object stands, readable, in the subject. */
export function isDetermined(rule: RuleDraft, map: TriplesMap, dialect: 'rml' | 'legacy', facts: SourceFacts): boolean {
  if (rule.object.kind !== 'term') return false;
  const { expression, language, datatype } = rule.object.term;
  if (expression.kind === 'fresh') return false;
  const references = [expression, language, datatype?.expression].flatMap((one) => (one === undefined ? [] : referencesOf(one)));
  if (references.length === 0) return true;
  const inSubject = referencesOf(map.subject.expression);
  if (!references.every((reference) => inSubject.includes(reference) && isSingle(reference, map.source, dialect, facts))) return false;
  return isReadable(map.subject.expression, map.subject.termType !== 'blank');
}

/**
 * Whether no rule can make a statement twice: each record has a subject of its own, or (the rows of a join, which are distinct)
 * subject and object together tell the records apart; and no record repeats a value.
 */
export function isUnique({ triplesMap, rules }: MapDraft, dialect: 'rml' | 'legacy', facts: SourceFacts): boolean {
  const { source, subject } = triplesMap;
  if (source.kind !== 'sql' || !isReadable(subject.expression, subject.termType !== 'blank')) return false;
  const references = rules.flatMap((rule) => [...expressionsOf({ triplesMap, rules: [rule] })]).flatMap(referencesOf);
  if (!references.every((reference) => isSingle(reference, source, dialect, facts))) return false;
  if (facts.isKey(source, referencesOf(subject.expression))) return true;
  if (source.content.kind !== 'join') return false;
  return rules.every(({ object }) => {
    if (object.kind !== 'term' || !isReadable(object.term.expression, object.term.termType !== 'blank')) return false;
    const told = new Set([...referencesOf(subject.expression), ...referencesOf(object.term.expression)]);
    return references.every((reference) => told.has(reference)) && facts.areDistinct(source, [...told]);
  });
}

/** Whether the subject tells the row of a table that it is of. */
export function isRowBound({ triplesMap: { source, subject } }: MapDraft, facts: SourceFacts): boolean {
  if (source.kind !== 'sql' || !isReadable(subject.expression, subject.termType !== 'blank')) return false;
  return facts.tellsRow(source, referencesOf(subject.expression));
}

/** Whether a record can have at most one value there. */
function isSingle(reference: string, source: LogicalSource, dialect: 'rml' | 'legacy', facts: SourceFacts): boolean {
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

/** Whether the values can be read off the subject: between two of them stands a character that encoding would not let through. */
function isReadable(expression: Expression, encoded: boolean): boolean {
  if (expression.kind !== 'template') return false;
  const { parts } = expression;
  if (referencesOf(expression).length === 1) return true;
  const first = parts.findIndex((part) => part.kind === 'reference');
  const last = parts.findLastIndex((part) => part.kind === 'reference');
  if (!encoded) return false;
  for (let i = first; i < last; i++) {
    const part = parts[i];
    const next = parts[i + 1];
    if (part?.kind === 'reference' && (next?.kind !== 'text' || !/[!-,/:-@[-^`{-}]/.test(next.text))) return false;
  }
  return true;
}
