/** Sentences of this region. */
export const WORDS = {
  title: 'Canvas',
  empty: 'Entities, attributes and edges will be drawn here. Until then the outline shows them as a tree.',
} as const;
