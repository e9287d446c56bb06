/** What is wrong with a JSONPath, and what is valid but certainly not meant. */
import { fromBytes } from '../../core/text.ts';
import type { PathProblem } from '../problem.ts';
import type { Operand, Query, Test } from './model.ts';
import { type Leniency, parseJsonPath } from './parse.ts';
import { translateRegExp } from './regexp.ts';
import { JsonPathError } from './tokens.ts';

/** undefined: the expression is valid. */
export function findJsonPathProblem(expression: string, leniency: Leniency): PathProblem | undefined {
  try {
    parseJsonPath(expression, leniency);
    return undefined;
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return error;
  }
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
