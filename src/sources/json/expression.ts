/** Expressions of a mapping → JSONPath, by the dialect of the mapping. */
import { Fault, type FaultPlace } from '../../core/fault.ts';
import type { Query } from '../../paths/json/model.ts';
import { type Leniency, parseJsonPath, parseReference, parseSteps, type Reference, type WrittenStep } from '../../paths/json/parse.ts';
import { JsonPathError } from '../../paths/json/tokens.ts';
import { reasonOf } from '../../paths/problem.ts';
import type { CommonOptions } from '../source.ts';

const leniencyOf = ({ dialect }: Pick<CommonOptions, 'dialect'>): Leniency => (dialect === 'legacy' ? 'loose' : 'short');

/** @throws Fault mapping/reference — the expression is not valid JSONPath */
export const parseExpression = (text: string, options: CommonOptions, place: FaultPlace): Query =>
  parsed(() => parseJsonPath(text, leniencyOf(options)), text, options, place);

/** A reference of a record, which may lead to an ancestor. @throws Fault mapping/reference — it is not valid */
export const parseRecordReference = (text: string, options: CommonOptions): Reference =>
  parsed(() => parseReference(text, leniencyOf(options)), text, options, {});

/** The steps of an expression that is valid, behind its `$` and each `^`. */
export const stepsOf = (text: string, options: Pick<CommonOptions, 'dialect'>): readonly WrittenStep[] =>
  parseSteps(text.trim().replace(/^\$\^+/, '$'), leniencyOf(options));

/** Levels up to which the references of an iterator lead, at most. Those that are not valid are reported by `parseRecordReference`. */
export function upsOf(references: readonly string[], options: Pick<CommonOptions, 'dialect'>): number {
  let most = 0;
  for (const reference of references) {
    try {
      most = Math.max(most, parseReference(reference, leniencyOf(options)).ups);
    } catch (error) {
      if (!(error instanceof JsonPathError)) throw error;
    }
  }
  return most;
}

/** JSON Lines: whether what is read of the records of an iterator stands in their own line. */
export function staysInLine(iterator: string, references: readonly string[], options: Pick<CommonOptions, 'dialect'>): boolean {
  if (!/^\$\[[*?]/.test(iterator) || iterator.includes('$', 1)) return false;
  const ups = upsOf(references, options);
  return ups === 0 || ups < parseJsonPath(iterator, leniencyOf(options)).segments.length;
}

function parsed<T>(parse: () => T, text: string, { name }: CommonOptions, place: FaultPlace): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    throw new Fault('mapping/reference', `${JSON.stringify(text)} is not a JSONPath: ${reasonOf(error)}`, {
      place: { input: name, expression: text, ...place },
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      cause: error,
    });
  }
}
