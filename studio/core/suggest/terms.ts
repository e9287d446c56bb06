/** Predicates and classes, from names. */
import { classNameOf, localNameOf, withoutKey, wordsOf } from '../../../src/infer/names.ts';
import type { Edge, StudioDocument } from '../document.ts';
import { expressionText, fieldsOf, isConstant } from '../elements/expressions.ts';
import { localName, nameOf } from '../elements/names.ts';
import { fieldName, spokenName } from '../elements/path-text.ts';
import { recordOf, recordsOf } from '../elements/records.ts';
import type { Suggestion } from './suggestion.ts';

/** A term of a vocabulary that is loaded. */
export interface Term {
  readonly iri: string;
  /** In several languages; the first one is shown. */
  readonly labels?: readonly string[];
  readonly kind: 'class' | 'property';
}

/** Predicates for edges without one: a term of a loaded vocabulary of the same name, or a new one. */
export function* predicates(document: StudioDocument, terms: readonly Term[], base: string): Iterable<Omit<Suggestion, 'key'>> {
  const known = new Terms(terms, 'property');
  for (const edge of recordsOf(document, 'edge')) {
    if (edge.predicates.length > 0) continue;
    const name = predicateName(document, edge);
    const local = localNameOf(name);
    if (local === '') continue;
    const term = known.of(name);
    yield {
      of: edge.id,
      change: { kind: 'predicates', edge: edge.id, predicates: [term?.iri ?? `${base}${local}`] },
      reason: term === undefined ? `It is named after ${name}.` : `${localName(term.iri)} has the name of ${name}.`,
    };
  }
}

/** The field of an attribute or of the key of a join; else the entity that an edge leads to. */
function predicateName(document: StudioDocument, edge: Edge): string {
  const attribute = recordOf(document, 'attribute', edge.to);
  if (attribute !== undefined) {
    const field = fieldsOf(attribute.value)[0];
    return field === undefined || isConstant(attribute.value)
      ? localName(expressionText(attribute.value))
      : spokenName(fieldName(field.path));
  }
  const child = recordsOf(document, 'join').find((join) => join.edge === edge.id)?.conditions[0]?.child;
  const key = child === undefined ? undefined : fieldsOf(child)[0];
  const named = key === undefined ? '' : withoutKey(spokenName(fieldName(key.path)));
  return named || lowerFirst(nameOf(document, edge.to));
}

const lowerFirst = (name: string): string => name.replace(/^./u, (first) => first.toLowerCase());

/** Classes for entities without one. */
export function* classes(document: StudioDocument, terms: readonly Term[], base: string): Iterable<Omit<Suggestion, 'key'>> {
  const known = new Terms(terms, 'class');
  for (const { id, name, classes: given } of recordsOf(document, 'entity')) {
    const local = localNameOf(classNameOf(wordsOf(name)));
    if (given.length > 0 || local === '') continue;
    const term = known.of(name);
    yield {
      of: id,
      change: { kind: 'class', entity: id, class: term?.iri ?? `${base}${local}` },
      reason: term === undefined ? `It is named after ${name}.` : `${localName(term.iri)} has the name of ${name}.`,
    };
  }
}

/** Terms by the words of their labels and local names; the first one counts. */
class Terms {
  readonly #byWords = new Map<string, Term>();

  constructor(terms: readonly Term[], kind: Term['kind']) {
    for (const term of terms) {
      if (term.kind !== kind) continue;
      for (const words of wordsOfTerm(term)) if (!this.#byWords.has(words)) this.#byWords.set(words, term);
    }
  }

  of(name: string): Term | undefined {
    return this.#byWords.get(wordsOf(name).join(' '));
  }
}

/** Ontologies have thousands of terms, and suggestions are made after each change. */
const known = new WeakMap<Term, readonly string[]>();

function wordsOfTerm(term: Term): readonly string[] {
  const found = known.get(term);
  if (found !== undefined) return found;
  const words = [localName(term.iri), ...(term.labels ?? [])].map((name) => wordsOf(name).join(' ')).filter((text) => text !== '');
  known.set(term, words);
  return words;
}
