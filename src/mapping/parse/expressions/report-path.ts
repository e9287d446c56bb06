/** The diagnostic of an expression that is not valid. */
import { type PathProblem, reasonOf } from '../../../paths/problem.ts';
import type { Report } from '../../model/diagnostics.ts';
import type { Origin } from '../../model/model.ts';

/** @param language `a JSONPath`, `an XPath` */
export function reportPath(report: Report, language: string, expression: string, origin: Origin, problem: PathProblem): void {
  report.error('malformed-path', origin, `${JSON.stringify(expression)} is not ${language}: ${reasonOf(problem)}`, problem.hint);
}
