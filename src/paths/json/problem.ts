/** What is wrong with a JSONPath, and what is valid but certainly not meant. */
import { fromBytes } from '../../core/text.ts';
import type { PathProblem } from '../problem.ts';
import type { Operand, Query, Test } from './model.ts';
import { hasAncestor, type Leniency, parseJsonPath, parseReference, type Reference } from './parse.ts';
import { translateRegExp } from './regexp.ts';
import { JsonPathError } from './tokens.ts';

/** Of an iterator, or of a reference that cannot lead to a parent. undefined: the expression is valid. */
export const findJsonPathProblem = (expression: string, leniency: Leniency): PathProblem | undefined =>
  problemOf(() => parseJsonPath(expression, leniency));

/** @param iterator of the records */
export function findReferenceProblem(expression: string, leniency: Leniency, iterator: Query): PathProblem | undefined {
  return problemOf(() => {
    const { ups } = parseReference(expression, leniency);
    if (hasAncestor(iterator, ups)) return;
    const levels = iterator.segments.length;
    throw new JsonPathError(
      `The document ends ${levels === 0 ? 'with the record itself' : `${levels} ${levels === 1 ? 'level' : 'levels'} above the record`}`,
      levels + 1,
      'Each ^ leads one level up, as far as the iterator has steps',
    );
  });
}

function problemOf(parse: () => unknown): PathProblem | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return error;
  }
}

/**
 * Whether a reference asks an array for a member: that of `$^.id` for records of `$.items[*]`. `[*]` is taken for the elements of an array, though
 * it also has the members of an object.
 */
export function asksArray(reference: Reference, iterator: Query): boolean {
  const { ups, query } = reference;
  const first = query.segments[0];
  if (ups === 0 || first === undefined || first.descendant || first.selectors.some(({ kind }) => kind !== 'name')) return false;
  const { segments } = iterator;
  if (segments.slice(-ups).some(({ descendant }) => descendant)) return false;
  const step = segments[segments.length - ups];
  return step?.selectors.every(({ kind }) => kind === 'wildcard' || kind === 'index' || kind === 'slice') ?? false;
}

/** The regular expressions of `match()` and `search()` that are no I-Regexp: these tests are never true. Ordinary text. */
export function* invalidRegExps({ segments }: Query): Generator<{ readonly source: string; readonly position: number }> {
  for (const { selectors } of segments) for (const selector of selectors) if (selector.kind === 'filter') yield* inTest(selector.test);
}

function* inTest(test: Test): ReturnType<typeof invalidRegExps> {
  switch (test.kind) {
    case 'or':
    case 'and':
      for (const one of test.tests) yield* inTest(one);
      return;
    case 'not':
      yield* inTest(test.test);
      return;
    case 'exists':
      yield* invalidRegExps(test.query);
      return;
    case 'call':
      yield* inOperand({ kind: 'call', call: test.call });
      return;
    case 'compare':
      yield* inOperand(test.left);
      yield* inOperand(test.right);
  }
}

function* inOperand(operand: Operand): ReturnType<typeof invalidRegExps> {
  if (operand.kind === 'query') yield* invalidRegExps(operand.query);
  if (operand.kind !== 'call') return;
  const { name, operands } = operand.call;
  for (const each of operands) yield* inOperand(each);
  const pattern = operands[1];
  if ((name !== 'match' && name !== 'search') || pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return;
  const source = fromBytes(pattern.value);
  const translated = translateRegExp(source);
  if ('position' in translated) yield { source, position: translated.position };
}
