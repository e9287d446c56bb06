/** The statements of RML that a document means, each with the place in the document. */
import { XSD } from '../../core/value.ts';
import type { Described, Statement } from '../model/graph.ts';
import type { Origin, RdfTerm } from '../model/model.ts';
import { USUAL_PREFIXES } from '../vocabulary/namespaces.ts';

/**
 * Namespaces of the statements. YARRRML means legacy RML (`old`) or R2RML (`rr`), which the property that leads to the source decides; all
 * other statements are of today's RML.
 */
const NAMESPACES: Readonly<Record<string, string>> = { ...USUAL_PREFIXES, old: 'http://semweb.mmlab.be/ns/rml#' };

/** `rml:template` → its IRI. */
export function iriOf(name: string): string {
  const colon = name.indexOf(':');
  return (NAMESPACES[name.slice(0, colon)] as string) + name.slice(colon + 1);
}

export const iri = (value: string): RdfTerm => ({ kind: 'iri', value });
export const named = (name: string): RdfTerm => iri(iriOf(name));
export const literal = (value: string): RdfTerm => ({ kind: 'literal', value, datatype: `${XSD}string`, language: undefined });

/** A node that statements are made about. */
export interface Subject {
  readonly term: RdfTerm;
  readonly origin: Origin;
  /** @param property such as `rml:template` */
  set(property: string, object: RdfTerm, origin: Origin): void;
  /** A new blank node that `property` leads to. */
  lead(property: string, origin: Origin): Subject;
}

/** Thrown by a writer that has as many statements as it may. */
export class TooManyStatements extends Error {}

export class Writer {
  readonly statements: Described[] = [];
  readonly #scope: string;
  readonly #most: number;
  #blanks = 0;

  /**
   * @param scope makes labels of blank nodes unique over all documents
   * @param most how many statements it takes
   */
  constructor(scope: string, most: number) {
    this.#scope = scope;
    this.#most = most;
  }

  blank(origin: Origin): Subject {
    return this.subject({ kind: 'blank', value: `${this.#scope}b${this.#blanks++}` }, origin);
  }

  subject(term: RdfTerm, origin: Origin): Subject {
    const set = (property: string, object: RdfTerm, at: Origin): void => {
      if (this.statements.length === this.#most) throw new TooManyStatements();
      const statement: Statement = { property: iriOf(property), object, origin: at, propertyOrigin: at };
      this.statements.push({ subject: term, subjectOrigin: origin, statement });
    };
    const lead = (property: string, at: Origin): Subject => {
      const next = this.blank(at);
      set(property, next.term, at);
      return next;
    };
    return { term, origin, set, lead };
  }
}
