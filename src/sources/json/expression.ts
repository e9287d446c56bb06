/** Expressions of a mapping → JSONPath, by the dialect of the mapping. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import type { Query } from '../../paths/json/model.ts';
import { type Leniency, parseJsonPath } from '../../paths/json/parse.ts';
import { JsonPathError } from '../../paths/json/tokens.ts';
import { reasonOf } from '../../paths/problem.ts';
import type { ReadOptions } from '../source.ts';

/** @throws Fault mapping/reference — the expression is not valid JSONPath */
export function parseExpression(text: string, options: ReadOptions, place: FaultPlace): Query {
  const leniency: Leniency = options.dialect === 'legacy' ? 'loose' : 'short';
  try {
    return parseJsonPath(text, leniency);
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new Fault('mapping/reference', `${JSON.stringify(text)} is not a JSONPath: ${reasonOf(error)}`, {
      place: { input: options.name, expression: text, ...place },
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      cause: error,
    });
  }
}
