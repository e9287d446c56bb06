/** Sentences of this region. */
export const WORDS = {
  title: 'Canvas',
  empty: 'The canvas is not built yet. The outline shows entities, attributes and edges as a tree, and connects them.',
} as const;
