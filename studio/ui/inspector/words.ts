/** Sentences of this region. */
export const WORDS = {
  title: 'Inspector',
  empty: 'What is selected will be edited here: identifiers, classes, predicates, datatypes and functions.',
} as const;
