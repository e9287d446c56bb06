/**
 * Ontologies: read by the service, and kept in the browser (IndexedDB) with their terms. They belong to no model: the
 * terms of a loaded one serve every model, and a draft, which goes when its model is saved, would take them along.
 */
import { ProblemError } from '../../client/http.ts';
import type { StudioTerm } from '../../client/types.ts';
import { answered, openStore } from './database.ts';
import type { ModelOrigin } from './drafts.ts';
import { openService } from './service.ts';
import { upload } from './upload.ts';

export interface Ontology {
  /** One for each place that an ontology is read from. */
  readonly id: string;
  readonly name: string;
  readonly terms: readonly StudioTerm[];
  /** Prefix → namespace. Absent: it was loaded before they were kept. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** What was left out, in sentences. */
  readonly cut: readonly string[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

export interface Ontologies {
  /** In the order in which they were added. */
  list(): Promise<readonly Ontology[]>;
  put(ontology: Ontology): Promise<void>;
  remove(id: string): Promise<void>;
}

const VERSION = 1;

/** @throws DOMException — the browser keeps nothing for this page */
export async function openOntologies(): Promise<Ontologies> {
  const store = await openStore('quadmill-ontologies', VERSION, 'ontologies');
  return {
    async list() {
      const all = (await answered(store('readonly').getAll())) as readonly Ontology[];
      return [...all].sort((a, b) => a.at - b.at);
    },
    async put(ontology) {
      await answered(store('readwrite').put(ontology));
    },
    async remove(id) {
      await answered(store('readwrite').delete(id));
    },
  };
}

/** An address or path. @param mappings the transformer in whose mapping directory a relative path is @throws ProblemError */
export async function readOntology(location: string, mappings: ModelOrigin['service'], signal: AbortSignal): Promise<Ontology> {
  const { terms, prefixes, cut } = await openService().studio.ontology({ location, mappings }, { signal });
  return { id: location, name: nameOf(location), terms, prefixes, cut, at: Date.now() };
}

/** A file of this computer. @throws ProblemError, TypeError and DOMException of `upload` */
export async function uploadOntology(file: File, signal: AbortSignal): Promise<Ontology> {
  const { url } = await uploaded(file, signal);
  const { terms, prefixes, cut } = await openService().studio.ontology({ location: url }, { signal });
  // A later version of the file takes the place of this one.
  return { id: `file ${file.name}`, name: file.name, terms, prefixes, cut, at: Date.now() };
}

/** Another version of a file that was uploaded before gets another name: models may read the earlier one. */
async function uploaded(file: File, signal: AbortSignal): ReturnType<typeof upload> {
  const ignored = (): void => undefined;
  try {
    return await upload(file, file.name, ignored, signal);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.status !== 409) throw error;
    return upload(file, file.name.replace(/(?=\.)|$/, `-${file.lastModified}`), ignored, signal);
  }
}

/** The last segment: of `http://xmlns.com/foaf/0.1/` the whole address. */
function nameOf(location: string): string {
  const [, last = ''] = /([^/\\]*)$/.exec(location.replace(/[?#].*$/, '')) ?? [];
  return last === '' ? location : last;
}
