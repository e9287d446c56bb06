/** The ontologies that are loaded in this browser, for all models. */
import type { StudioTerm } from '../../../../client/types.ts';
import type { ModelOrigin } from '../../../client/drafts.ts';
import { type Ontologies, type Ontology, openOntologies, readOntology, uploadOntology } from '../../../client/ontologies.ts';
import { type Trouble, troubleOf } from '../../../client/service.ts';
import type { Term } from '../../../core/suggest/terms.ts';
import { makeStore, type Store } from '../store.ts';

/** One that is read, or could not be. */
export interface Coming {
  readonly number: number;
  readonly name: string;
  /** undefined: it is being read. */
  readonly trouble?: Trouble;
}

export interface OntologyState {
  readonly loaded: readonly Ontology[];
  readonly coming: readonly Coming[];
  /** False: the browser keeps nothing, and a reload of the page loses them. */
  readonly isKept: boolean;
}

/** With what its ontology says about it. */
export interface LoadedTerm extends Term {
  readonly said: StudioTerm;
}

const store = makeStore<OntologyState>({ loaded: [], coming: [], isKept: true });
export const ONTOLOGIES: Store<OntologyState> = store;

const patch = (changes: Partial<OntologyState>): void => store.set({ ...store.get(), ...changes });

/** undefined: not asked for yet. */
let kept: Promise<Ontologies | undefined> | undefined;
const running = new Map<number, AbortController>();
let number = 0;

/** Those of earlier visits. Once for each page. */
export async function restoreOntologies(): Promise<void> {
  if (kept !== undefined) return;
  kept = openOntologies().catch(() => undefined);
  await keep(async (ontologies) => {
    const before = await ontologies.list();
    const here = store.get().loaded;
    patch({ loaded: [...before.filter(({ id }) => here.every((one) => one.id !== id)), ...here] });
  });
}

/** A private window, or a full disk: that is shown, and the terms are there until the page is closed. */
async function keep(act: (ontologies: Ontologies) => Promise<void>): Promise<void> {
  const ontologies = await kept;
  try {
    if (ontologies === undefined) patch({ isKept: false });
    else await act(ontologies);
  } catch {
    patch({ isKept: false });
  }
}

/**
 * Loads a file of this computer, or what an address or path names. One that was loaded from there before is replaced.
 *
 * @param mappings the transformer in whose mapping directory a relative path is
 * @returns what was loaded; undefined: it was stopped, or `coming` says why not
 */
export async function addOntology(from: File | string, mappings: ModelOrigin['service']): Promise<Ontology | undefined> {
  const coming: Coming = { number: ++number, name: typeof from === 'string' ? from : from.name };
  const controller = new AbortController();
  running.set(coming.number, controller);
  patch({ coming: [...store.get().coming, coming] });
  try {
    const { signal } = controller;
    const ontology = await (typeof from === 'string' ? readOntology(from, mappings, signal) : uploadOntology(from, signal));
    if (signal.aborted) return undefined;
    const others = store.get().loaded.filter(({ id }) => id !== ontology.id);
    patch({ loaded: [...others, ontology] });
    endComing(coming.number);
    void keep((ontologies) => ontologies.put(ontology));
    return ontology;
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble === undefined) endComing(coming.number);
    else patch({ coming: store.get().coming.map((one) => (one.number === coming.number ? { ...one, trouble } : one)) });
    return undefined;
  } finally {
    running.delete(coming.number);
  }
}

/** Stops it, or closes its trouble. */
export function endComing(which: number): void {
  running.get(which)?.abort();
  patch({ coming: store.get().coming.filter((one) => one.number !== which) });
}

export function removeOntology(id: string): void {
  patch({ loaded: store.get().loaded.filter((one) => one.id !== id) });
  void keep((ontologies) => ontologies.remove(id));
}

/** Prefixes of all of them, each with its namespace and the name of the ontology: of several for one name the first. */
export const loadedPrefixes = (): readonly (readonly [name: string, iri: string, ontology: string])[] =>
  store
    .get()
    .loaded.flatMap(({ name: ontology, prefixes = {} }) => Object.entries(prefixes).map(([name, iri]) => [name, iri, ontology] as const));

const made = new WeakMap<Ontology, readonly LoadedTerm[]>();
const joined = new WeakMap<readonly Ontology[], readonly LoadedTerm[]>();

/** The terms of all of them, each once: of the first that has it. */
export function loadedTerms(ontologies: readonly Ontology[] = store.get().loaded): readonly LoadedTerm[] {
  const before = joined.get(ontologies);
  if (before !== undefined) return before;
  const byIri = new Map<string, LoadedTerm>();
  for (const ontology of ontologies) for (const term of termsIn(ontology)) if (!byIri.has(term.iri)) byIri.set(term.iri, term);
  const terms = [...byIri.values()];
  joined.set(ontologies, terms);
  return terms;
}

/** The same objects each time: what is known of a term is found by it. */
function termsIn(ontology: Ontology): readonly LoadedTerm[] {
  const terms = made.get(ontology) ?? ontology.terms.map(loadedTerm);
  made.set(ontology, terms);
  return terms;
}

const loadedTerm = (said: StudioTerm): LoadedTerm => ({
  iri: said.iri,
  kind: said.kind === 'class' ? 'class' : 'property',
  labels: [...said.labels].sort((a, b) => rankOf(a.language) - rankOf(b.language)).map(({ text }) => text),
  said,
});

/** Languages of the browser first, then English and texts without a language. */
function rankOf(language: string | undefined): number {
  const wanted = [...navigator.languages.map(primary), 'en'];
  const rank = wanted.indexOf(language === undefined ? 'en' : primary(language));
  return rank < 0 ? wanted.length : rank;
}

const primary = (language: string): string => language.toLowerCase().replace(/-.*$/, '');
