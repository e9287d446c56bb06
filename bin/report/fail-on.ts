/** What of a run that is done makes it a failure for the caller: `--fail-on`. */
import type { RunReport } from '../../src/run/request.ts';

/** By value of the option: why it applies; undefined: it does not. */
const FAIL_ON: Readonly<Record<string, (report: RunReport) => string | undefined>> = {
  none: () => undefined,
  empty: ({ triplesMaps, joins = [] }) => {
    const maps = triplesMaps.flatMap(({ name, empty }) => (empty === undefined ? [] : [`${name} gave no statement`]));
    const pairs = joins.flatMap(({ child, parent, found }) => (found ? [] : [`no row of ${child} found a partner in ${parent}`]));
    const [first, ...others] = [...maps, ...pairs];
    return first === undefined ? undefined : others.length === 0 ? first : `${first}, and ${others.length} more`;
  },
  rejected: ({ rejected, flaws = [] }) => {
    const leftOut = flaws.reduce((sum, { kind, count }) => sum + (kind === 'left-out' ? count : 0), 0);
    const reasons = [
      ...(rejected === 0 ? [] : [`${rejected} ${rejected === 1 ? 'record was' : 'records were'} rejected`]),
      ...(leftOut === 0 ? [] : [`${leftOut} ${leftOut === 1 ? 'object was' : 'objects were'} left out`]),
    ];
    return reasons.length === 0 ? undefined : reasons.join(', ');
  },
};

export const FAIL_ON_VALUES = Object.keys(FAIL_ON);

/** One text for each value that applies. */
export const reasonsToFail = (report: RunReport, values: readonly string[]): readonly string[] =>
  [...new Set(values)].flatMap((value) => {
    const reason = FAIL_ON[value]?.(report);
    return reason === undefined ? [] : [`--fail-on ${value}: ${reason}`];
  });
