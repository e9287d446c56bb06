/** Sentences of this region. */
export const WORDS = {
  title: 'Inspector',
  empty: 'The inspector is not built yet. The outline and the inputs have the commands for what is selected.',
} as const;
