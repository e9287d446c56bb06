/** Sentences of what makes a statement. */
export const WORDS = {
  record: (record: number, input: string | undefined): string => `Record ${record + 1}${input === undefined ? '' : ` of ${input}`}`,
  parent: 'joined with',
  noValue: '∅',
} as const;
