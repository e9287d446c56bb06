/** Statements as nodes and relationships of a property graph. */
import type { Statement } from '../nquads/statement.ts';
import { type Names, nodeKey } from './names.ts';
import { combine, literalOf, type Property, type PropertyValue, valuesOf } from './values.ts';

/** The statements of a batch about one subject. All text is characters. */
export interface NodeElement {
  /** Key. */
  readonly iri: string;
  /** Names of its classes, distinct, in the order of the statements. */
  readonly labels: readonly string[];
  readonly properties: ReadonlyMap<string, Property>;
  /** IRIs of the graphs that describe it; `''` is the default graph. */
  readonly graphs: readonly string[];
}

export interface EdgeElement {
  /** Keys of nodes; `to` may be a node that has no statements. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** `''`: the default graph. */
  readonly graph: string;
}

export interface Elements {
  /** One per subject, in the order of the statements. */
  readonly nodes: readonly NodeElement[];
  /** Distinct. */
  readonly edges: readonly EdgeElement[];
}

export const RDF_TYPE = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>';

/**
 * Converts statements to nodes and relationships, in order.
 *
 * A subject is a node. An IRI as object of `rdf:type` is a label, any other IRI or blank node a relationship, once per graph, and a literal
 * a property, whatever its graph. A subject with statements in several batches has an element in each: see `mergeNodes`.
 */
export function elementsOf(statements: readonly Statement[], names: Names): Elements {
  const subjects = new Map<string, Subject>();
  const edges = new Map<string, EdgeElement>();
  const graphs = new Map<string, string>();
  let subject: Subject | undefined;
  let current: string | undefined;
  for (const { subject: term, predicate, object, graph } of statements) {
    if (subject === undefined || term !== current) {
      current = term;
      subject = subjects.get(term) ?? newSubject(subjects, term);
    }
    let graphKey = graphs.get(graph);
    if (graphKey === undefined) graphs.set(graph, (graphKey = nodeKey(graph)));
    subject.graphs.add(graphKey);
    if (object.charCodeAt(0) === 34) addLiteral(subject, names, predicate, object);
    else if (predicate === RDF_TYPE) subject.labels.add(names.label(object));
    else {
      const type = names.predicate(predicate);
      const to = nodeKey(object);
      const key = `${subject.iri}\n${to}\n${type}\n${graphKey}`;
      if (!edges.has(key)) edges.set(key, { from: subject.iri, to, type, graph: graphKey });
    }
  }
  return { nodes: Array.from(subjects.values(), nodeOf), edges: [...edges.values()] };
}

interface Subject {
  readonly iri: string;
  readonly labels: Set<string>;
  readonly values: Map<string, PropertyValue[]>;
  readonly graphs: Set<string>;
}

function newSubject(subjects: Map<string, Subject>, term: string): Subject {
  const subject: Subject = { iri: nodeKey(term), labels: new Set(), values: new Map(), graphs: new Set() };
  subjects.set(term, subject);
  return subject;
}

function addLiteral({ values }: Subject, names: Names, predicate: string, object: string): void {
  const { value, language } = literalOf(object);
  const plain = names.predicate(predicate);
  const name = language !== undefined && names.keepLanguage ? `${plain}@${language}` : plain;
  const known = values.get(name);
  if (known === undefined) values.set(name, [value]);
  else known.push(value);
}

function nodeOf({ iri, labels, values, graphs }: Subject): NodeElement {
  const properties = new Map<string, Property>();
  for (const [name, several] of values) properties.set(name, combine(several));
  return { iri, labels: [...labels], properties, graphs: [...graphs] };
}

/** Merges two elements of the same node. */
export function mergeNodes(a: NodeElement, b: NodeElement): NodeElement {
  const properties = new Map(a.properties);
  for (const [name, property] of b.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? property : combine([...valuesOf(known), ...valuesOf(property)]));
  }
  return { iri: a.iri, properties, labels: union(a.labels, b.labels), graphs: union(a.graphs, b.graphs) };
}

const union = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])];
