/** Verdicts as tables for a terminal. */
import type { Case } from './manifest.ts';
import type { Verdict } from './run-case.ts';

export interface Result {
  readonly test: Case;
  readonly verdict: Verdict;
}

const COLUMNS = ['suite', 'passed', 'failed', 'skipped', 'contested passed', 'contested failed'];

export function summaryTable(results: readonly Result[]): string {
  const suites = [...new Set(results.map(({ test }) => test.suite))];
  const rows = suites.map((suite) =>
    rowOf(
      suite,
      results.filter(({ test }) => test.suite === suite),
    ),
  );
  return table([COLUMNS, ...rows, rowOf('all', results)]);
}

function rowOf(name: string, results: readonly Result[]): string[] {
  const count = (status: Verdict['status'], contested: boolean): string =>
    String(results.filter(({ test, verdict }) => verdict.status === status && isContested(test) === contested).length);
  const skipped = results.filter(({ verdict }) => verdict.status === 'skipped').length;
  return [name, count('passed', false), count('failed', false), String(skipped), count('passed', true), count('failed', true)];
}

export const isContested = (test: Case): boolean => (test.contested?.length ?? 0) > 0;

/** Most frequent first. */
export function skipReasons(results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { verdict } of results) {
    if (verdict.status === 'skipped') counts.set(verdict.reason, (counts.get(verdict.reason) ?? 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([reason, count]) => `${String(count).padStart(5)}  ${reason}`)
    .join('\n');
}

/** First column to the left, numbers to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '))
    .join('\n');
}
