/** Sentences of this region. */
export const WORDS = {
  title: 'Mapping text',
  empty: 'The text of the mapping will stand here, beside the canvas.',
} as const;
