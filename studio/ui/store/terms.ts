/** The terms that fields for classes and predicates complete: those that the document uses, and those of the ontologies that are loaded. */
import { useMemo } from 'react';
import type { StudioDocument } from '../../core/document.ts';
import { recordsOf } from '../../core/elements/records.ts';
import type { Term } from '../../core/suggest/terms.ts';
import { useDocument } from './context.tsx';
import { shortIrisOf } from './iris.ts';
import { loadedTerms, ONTOLOGIES } from './page/ontologies.ts';
import { useStore } from './store.ts';

const known = new WeakMap<StudioDocument['records'], { readonly loaded: readonly Term[]; readonly terms: readonly Term[] }>();

/** Each once: those that are used first, classes before properties. */
export function termsOf(document: StudioDocument): readonly Term[] {
  const loaded = loadedTerms();
  const found = known.get(document.records);
  if (found?.loaded === loaded) return found.terms;
  const terms = joined(usedIn(document), loaded);
  known.set(document.records, { loaded, terms });
  return terms;
}

/** For views: they render again when an ontology is loaded. */
export function useTerms(): readonly Term[] {
  useStore(ONTOLOGIES, ({ loaded }) => loaded);
  return termsOf(useDocument());
}

/** A term as a field offers it. */
export interface TermOption {
  readonly iri: string;
  /** With a prefix of the model, where one fits. */
  readonly value: string;
  readonly detail?: string;
  readonly also?: string;
}

/** Classes, or properties. They are made when they are looked for: ontologies have thousands. */
export function useTermOptions(kind: Term['kind']): () => readonly TermOption[] {
  const document = useDocument();
  const terms = useTerms();
  return useMemo(() => {
    let made: readonly TermOption[] | undefined;
    return () =>
      (made ??= optionsOf(
        document,
        terms.filter((term) => term.kind === kind),
      ));
  }, [document, terms, kind]);
}

function optionsOf(document: StudioDocument, terms: readonly Term[]): readonly TermOption[] {
  const short = shortIrisOf(document);
  return terms.map(({ iri, labels = [] }): TermOption => {
    const [detail, ...others] = labels;
    return { iri, value: short(iri), ...(detail !== undefined && { detail }), ...(others.length > 0 && { also: others.join(' ') }) };
  });
}

function joined(used: readonly Term[], loaded: readonly Term[]): readonly Term[] {
  const byIri = new Map(used.map((term) => [keyOf(term), term] as const));
  const others: Term[] = [];
  for (const term of loaded) {
    // Only the loaded one has labels.
    if (byIri.has(keyOf(term))) byIri.set(keyOf(term), term);
    else others.push(term);
  }
  return [...byIri.values(), ...others];
}

const keyOf = ({ kind, iri }: Term): string => `${kind} ${iri}`;

const usedIn = (document: StudioDocument): readonly Term[] => [
  ...termsOfKind(
    'class',
    recordsOf(document, 'entity').flatMap(({ classes }) => classes),
  ),
  ...termsOfKind(
    'property',
    recordsOf(document, 'edge').flatMap(({ predicates }) => predicates),
  ),
];

const termsOfKind = (kind: Term['kind'], iris: readonly string[]): readonly Term[] => [...new Set(iris)].map((iri) => ({ iri, kind }));
