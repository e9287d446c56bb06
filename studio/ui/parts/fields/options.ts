/** What fields offer while one types. */

export interface Option {
  /** What it puts into the field. */
  readonly value: string;
  readonly detail?: string;
  /** Other names by which it is found. */
  readonly also?: string;
}

const MOST_SHOWN = 12;

/** For a field that has a list only where there is anything to offer. */
export const matchingOf = (options: readonly Option[], wanted: string): readonly Option[] | undefined =>
  options.length === 0 ? undefined : matching(options, wanted);

/** Those that begin with what is wanted, then those that have it. */
export function matching(options: readonly Option[], wanted: string): readonly Option[] {
  const find = wanted.trim().toLowerCase();
  const has = options.filter(({ value, detail, also }) => `${value} ${detail ?? ''} ${also ?? ''}`.toLowerCase().includes(find));
  const begins = ({ value, detail }: Option): boolean =>
    value.toLowerCase().startsWith(find) || detail?.toLowerCase().startsWith(find) === true;
  return [...has.filter(begins), ...has.filter((one) => !begins(one))].slice(0, MOST_SHOWN);
}
