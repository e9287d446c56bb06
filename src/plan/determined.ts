/** Where the subject alone says what an object is: every reference of the object stands, readable, in the subject. */
import type { Expression, TriplesMap } from '../mapping/model.ts';
import { type RuleDraft, referencesOf } from './rules.ts';

export function isDetermined(rule: RuleDraft, map: TriplesMap, dialect: 'rml' | 'legacy'): boolean {
  if (rule.object.kind !== 'term') return false;
  const { expression, language, datatype } = rule.object.term;
  if (expression.kind === 'fresh') return false;
  const references = [expression, language, datatype?.expression].flatMap((one) => (one === undefined ? [] : referencesOf(one)));
  if (references.length === 0) return true;
  const inSubject = referencesOf(map.subject.expression);
  if (!references.every((reference) => inSubject.includes(reference) && isSingle(reference, map.source.formulation, dialect))) return false;
  return isReadable(map.subject.expression, map.subject.termType !== 'blank');
}

/** Whether a record can have at most one value there. */
function isSingle(reference: string, formulation: 'csv' | 'json' | 'xml', dialect: 'rml' | 'legacy'): boolean {
  switch (formulation) {
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
