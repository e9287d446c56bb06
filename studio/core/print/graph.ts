/** Statements of a mapping while they are made: in today's vocabulary, with nodes in the order in which they are made. */
import type { Graph, GraphNode, Statement } from '../../../src/mapping/model/graph.ts';
import { nodeId } from '../../../src/mapping/model/graph.ts';
import type { Origin, RdfTerm } from '../../../src/mapping/model/model.ts';
import { termOf } from '../../../src/mapping/vocabulary/namespaces.ts';
import type { Class, Individual, Property } from '../../../src/mapping/vocabulary/vocabulary.ts';

const RDF_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const XSD_STRING = 'http://www.w3.org/2001/XMLSchema#string';

/** What is made has no place in a text yet. */
export const MADE: Origin = { document: 'model', line: 1, column: 1 };

export const iri = (value: string): RdfTerm => ({ kind: 'iri', value });

export const literal = (
  value: string,
  { language, datatype = XSD_STRING }: { language?: string | undefined; datatype?: string | undefined } = {},
): RdfTerm => ({
  kind: 'literal',
  value,
  datatype: language === undefined ? datatype : 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString',
  language,
});

export const individual = (name: Individual): RdfTerm => iri(termOf('rml', 'individuals', name) as string);

/** Properties and objects of a node; undefined: there is no such property. */
export type Properties = readonly (readonly [property: Property, object: RdfTerm | undefined])[];

export class GraphWriter {
  readonly #nodes = new Map<string, GraphNode & { readonly statements: Statement[] }>();
  #made = 0;

  get graph(): Graph {
    return this.#nodes;
  }

  blank(properties: Properties, type?: Class): RdfTerm {
    const term: RdfTerm = { kind: 'blank', value: `n${this.#made++}` };
    this.describe(term, properties, type);
    return term;
  }

  /** A blank node with properties of another vocabulary. */
  foreign(type: string, properties: readonly (readonly [property: string, object: RdfTerm])[]): RdfTerm {
    const term = this.blank([]);
    this.#add(term, RDF_TYPE, iri(type));
    for (const [property, object] of properties) this.#add(term, property, object);
    return term;
  }

  describe(term: RdfTerm, properties: Properties, type?: Class): void {
    const id = nodeId(term) as string;
    if (!this.#nodes.has(id)) this.#nodes.set(id, { id, origin: MADE, statements: [] });
    if (type !== undefined) this.#add(term, RDF_TYPE, iri(termOf('rml', 'classes', type) as string));
    for (const [property, object] of properties) {
      const named = termOf('rml', 'properties', property) ?? termOf('r2rml', 'properties', property);
      if (object !== undefined) this.#add(term, named as string, object);
    }
  }

  #add(term: RdfTerm, property: string, object: RdfTerm): void {
    this.#nodes.get(nodeId(term) as string)?.statements.push({ property, object, origin: MADE, propertyOrigin: MADE });
  }
}
