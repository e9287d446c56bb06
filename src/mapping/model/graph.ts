/** The graph of a mapping's documents: nodes and statements, each with the place where it stands. */
import type { Origin, RdfTerm } from './model.ts';

export interface Statement {
  readonly property: string;
  readonly object: RdfTerm;
  /** Position of the object, or of the property if the object has no token (an empty list). */
  readonly origin: Origin;
  readonly propertyOrigin: Origin;
}

export interface GraphNode {
  /** IRI, or `_:label` that is unique over all documents of the graph and stable across readings. */
  readonly id: string;
  /** Where the node is first described. */
  readonly origin: Origin;
  /** In document order, without repetitions. */
  readonly statements: readonly Statement[];
}

/** Every subject by id, in document order. */
export type Graph = ReadonlyMap<string, GraphNode>;

/** The key under which a term is a subject. */
export const nodeId = (term: RdfTerm): string | undefined =>
  term.kind === 'literal' ? undefined : term.kind === 'blank' ? `_:${term.value}` : term.value;

/** A statement with its subject. */
export interface Described {
  readonly subject: RdfTerm;
  readonly subjectOrigin: Origin;
  readonly statement: Statement;
}
