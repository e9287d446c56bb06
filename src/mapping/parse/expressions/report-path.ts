/** The diagnostic of an expression that is not valid. */
import { type PathProblem, reasonOf } from '../../../paths/problem.ts';
import type { Report } from '../../model/diagnostics.ts';
import type { Origin } from '../../model/model.ts';

/** @param language `a JSONPath`, `an XPath` */
export function reportPath(report: Report, language: string, expression: string, origin: Origin, problem: PathProblem): void {
  const hint = endsTooEarly(expression, origin) ? PARENTHESIS : problem.hint;
  report.error('malformed-path', origin, `${JSON.stringify(expression)} is not ${language}: ${reasonOf(problem)}`, hint);
}

const PARENTHESIS = 'the first ) ends a reference: write \\) for one within it';

/** In YARRRML, whether the reference ends within parentheses, brackets or quotes: there may be a `)` in them. */
function endsTooEarly(expression: string, { key }: Origin): boolean {
  const count = (character: string): number => expression.split(character).length - 1;
  return key !== undefined && (count('(') > count(')') || count('[') > count(']') || count("'") % 2 > 0);
}
