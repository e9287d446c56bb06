/** Sentences of this region. */
export const WORDS = {
  title: 'Run',
  empty: 'The model will be run on all records here, with progress, report and output.',
} as const;
