/** What a run reports to the author of a mapping. */
import { joinText } from '../../src/run/join/reports.ts';
import { countRepeated, emptyWarnings } from '../../src/run/report.ts';
import type { RunReport } from '../../src/run/request.ts';
import { count, printLine } from '../terminal.ts';
import type { Rejections } from './rejections.ts';

/** Inputs that a message names. */
const SHOWN_INPUTS = 5;

/** Says of which inputs a preview left out records; undefined: of none. */
function cutText({ cut = [] }: RunReport, limit: number | undefined): string | undefined {
  if (limit === undefined || cut.length === 0) return undefined;
  const names = cut.length <= SHOWN_INPUTS ? cut : [...cut.slice(0, SHOWN_INPUTS), `${cut.length - SHOWN_INPUTS} more`];
  return `a preview: only the first ${limit === 1 ? 'record' : `${count(limit)} records`} of ${names.join(', ')}`;
}

/**
 * @param tellsEmpty whether to print why a triples map produced nothing
 * @param limit the bound of a preview
 */
export function printReport(report: RunReport, rejections: Rejections, tellsEmpty: boolean, limit: number | undefined): void {
  for (const warning of report.warnings) printLine(warning);
  // Where no row found a partner, that is a warning.
  const joins = (report.joins ?? []).filter(({ found }) => found).map(joinText);
  if (tellsEmpty) for (const text of countRepeated([...joins, ...emptyWarnings(report.triplesMaps)])) printLine(text);
  const cut = cutText(report, limit);
  if (cut !== undefined) printLine(cut);
  const summary = rejections.summary(report.rejected);
  if (summary !== undefined) printLine(summary);
  if (process.stderr.isTTY) {
    for (const { path, quads } of report.targets ?? []) printLine(`${count(quads)} statements in ${path}`);
    printLine(`${count(report.quads)} statements from ${count(report.records)} records in ${report.seconds.toFixed(2)} s`);
  }
}
