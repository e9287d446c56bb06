/** Sentences of this region. */
export const WORDS = {
  title: 'Preview',
  empty: 'The graph of the first records will be shown here, with its Turtle, its records and its problems.',
} as const;
