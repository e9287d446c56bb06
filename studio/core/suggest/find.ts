/** Terms by what a person remembers of their names. */
import { localName } from '../elements/names.ts';
import type { Term } from './terms.ts';

const names = new WeakMap<Term, readonly string[]>();

/** The local name and the labels, in lower case. */
function namesOf(term: Term): readonly string[] {
  const found = names.get(term) ?? [localName(term.iri), ...(term.labels ?? [])].map((name) => name.toLowerCase());
  names.set(term, found);
  return found;
}

/** Terms of which each word is in a name: those of which a name begins with the text first. Without words all of them. */
export function findTerms<T extends Term>(terms: readonly T[], text: string): readonly T[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter((word) => word !== '');
  const found = terms.filter((term) => words.every((word) => namesOf(term).some((name) => name.includes(word))));
  const begins = (term: T): boolean => namesOf(term).some((name) => name.startsWith(wanted));
  return [...found.filter(begins), ...found.filter((term) => !begins(term))];
}
