/**
 * Equal names for different nodes in several documents.
 *
 * Mappings are written independently: `<#TriplesMap1>` is the first triples map of many, and tools restart their numbering in each document
 * (`:s_000`). Two documents that contradict each other about a node, in a property that has one value, were not written together. A node
 * that both describe is then a separate node in each, and references within a document mean its own. Documents that complement each other
 * are one mapping, and what both say in the same words counts once.
 */

import { formsOf } from '../model/forms.ts';
import type { Described, Statement } from '../model/graph.ts';
import { Links } from '../model/links.ts';
import type { Origin, RdfTerm } from '../model/model.ts';
import { lookUp } from '../vocabulary/namespaces.ts';
import type { Property } from '../vocabulary/vocabulary.ts';

type Document = readonly Described[];

/** Returns the statements of each document with namesakes renamed: `…#TriplesMap1~2` is the node of the second mapping that uses the name. */
export function renameNamesakes(documents: readonly Document[]): readonly Document[] {
  const shared = sharedNodes(documents);
  if (shared.size === 0) return documents;

  const together = consistentDocuments(documents, shared);
  /** New names by node, then by group of documents. */
  const names = new Map<string, ReadonlyMap<number, string>>();
  for (const [iri, sharers] of shared) {
    const leaders = new Set([...sharers].map((one) => together.leaderOf(one)));
    if (leaders.size > 1) names.set(iri, new Map([...leaders].map((leader, i) => [leader, `${iri}~${i + 1}`])));
  }
  return documents.map((statements, at) => {
    const renamed = (term: RdfTerm): RdfTerm => {
      const name = term.kind === 'iri' && shared.get(term.value)?.has(at) ? names.get(term.value)?.get(together.leaderOf(at)) : undefined;
      return name === undefined ? term : { kind: 'iri', value: name };
    };
    return statements.map(({ subject, statement, ...rest }) => ({
      ...rest,
      subject: renamed(subject),
      statement: isLink(statement) ? { ...statement, object: renamed(statement.object) } : statement,
    }));
  });
}

/** The IRIs that several documents describe, each with these documents. */
function sharedNodes(documents: readonly Document[]): ReadonlyMap<string, ReadonlySet<number>> {
  const homes = new Map<string, Set<number>>();
  for (const [at, statements] of documents.entries())
    for (const { subject } of statements) if (subject.kind === 'iri') setOf(homes, subject.value).add(at);
  return new Map([...homes].filter(([, at]) => at.size > 1));
}

/** Of a relative path that stands in a document, so that equal texts name different files in others. */
const folderOf = ({ document }: Origin): string => document.slice(0, document.lastIndexOf('/') + 1);

/** A node of which a document says what an earlier one says. */
export interface Repetition {
  readonly node: string;
  readonly property: string;
  readonly origin: Origin;
  readonly first: Origin;
}

/**
 * Leaves out what a document says of a node by a blank node, where an earlier document says the same: `rml:logicalSource [ … ]` twice is one
 * source, as it is in RDF. `repetitions` has the first of each node and document.
 */
export function withoutRepetitions(documents: readonly Document[]): {
  readonly documents: readonly Document[];
  readonly repetitions: readonly Repetition[];
} {
  const shared = sharedNodes(documents);
  if (shared.size === 0) return { documents, repetitions: [] };
  const known = new Map<string, { readonly at: number; readonly origin: Origin }>();
  const repetitions: Repetition[] = [];
  const kept = documents.map((statements, at) => {
    const formOf = formsOf(statements);
    const named = new Set<string>();
    return statements.filter(({ subject, statement: { property, object, origin } }) => {
      if (subject.kind !== 'iri' || object.kind !== 'blank' || !shared.has(subject.value)) return true;
      const key = `${subject.value} ${property} ${folderOf(origin)} ${formOf(object)}`;
      const first = known.get(key);
      if (first === undefined) known.set(key, { at, origin });
      if (first === undefined || first.at === at) return true;
      if (!named.has(subject.value)) repetitions.push({ node: subject.value, property, origin, first: first.origin });
      named.add(subject.value);
      return false;
    });
  });
  return { documents: kept, repetitions };
}

/** Groups of documents that form one mapping: they share a node and do not contradict each other. */
function consistentDocuments(documents: readonly Document[], shared: ReadonlyMap<string, ReadonlySet<number>>): Links<number> {
  const said = documents.map((statements) => assertionsOf(statements, shared));
  const links = new Links<number>();
  const compared = new Set<string>();
  for (const sharers of shared.values()) {
    const all = [...sharers];
    for (const [i, a] of all.entries()) {
      for (const b of all.slice(i + 1)) {
        if (compared.has(`${a} ${b}`)) continue;
        compared.add(`${a} ${b}`);
        if (agree(said[a] as Assertions, said[b] as Assertions)) links.link(a, b);
      }
    }
  }
  return links;
}

/** Whether two documents agree wherever both describe something. */
function agree(a: Assertions, b: Assertions): boolean {
  for (const [what, objects] of a) {
    const others = b.get(what);
    if (others !== undefined && (objects.size !== others.size || [...objects].some((one) => !others.has(one)))) return false;
  }
  return true;
}

/** By node and property: the objects. */
type Assertions = ReadonlyMap<string, ReadonlySet<string>>;

function assertionsOf(statements: Document, shared: ReadonlyMap<string, unknown>): Assertions {
  const said = new Map<string, Set<string>>();
  const formOf = formsOf(statements);
  for (const { subject, statement } of statements) {
    const name = nameOf(statement);
    if (name !== undefined && !SEVERAL.has(name) && shared.has(subject.value))
      setOf(said, `${name} ${subject.value}`).add(
        `${statement.object.kind === 'blank' ? folderOf(statement.origin) : ''}${formOf(statement.object)}`,
      );
  }
  return said;
}

function setOf<K, V>(map: Map<K, Set<V>>, key: K): Set<V> {
  const found = map.get(key) ?? new Set<V>();
  map.set(key, found);
  return found;
}

const nameOf = ({ property }: Statement): Property | undefined => lookUp('properties', property)?.name;

/** Properties that may have several values. For any other property, two documents with different values mean two nodes. */
const SEVERAL: ReadonlySet<Property> = new Set<Property>([
  'predicateObjectMap',
  'predicate',
  'predicateMap',
  'object',
  'objectMap',
  'class',
  'graph',
  'graphMap',
  'joinCondition',
  'null',
  'namespace',
  'logicalTarget',
]);

/** Properties whose objects are terms of the output. */
const VALUES: ReadonlySet<Property> = new Set<Property>([
  'constant',
  'subject',
  'predicate',
  'object',
  'class',
  'graph',
  'datatype',
  'termType',
  'baseIRI',
]);

function isLink(statement: Statement): boolean {
  const name = nameOf(statement);
  return name === undefined || !VALUES.has(name);
}
