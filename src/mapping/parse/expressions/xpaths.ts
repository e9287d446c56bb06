/** The syntax of XPath expressions that are no plain paths. */
import { anyPrefix, findXPathProblem } from '../../../paths/xml/syntax.ts';
import type { Report } from '../../model/diagnostics.ts';
import type { XPathUse } from '../node.ts';
import { reportPath } from './report-path.ts';

export function checkXPaths(report: Report, uses: readonly XPathUse[]): void {
  for (const { expression, origin, namespaces } of uses) {
    const problem = findXPathProblem(expression, anyPrefix(namespaces));
    if (problem !== undefined) reportPath(report, 'an XPath', expression, origin, problem);
  }
}
