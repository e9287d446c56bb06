/** Nodes that are described in vocabularies other than RML's: DCAT, Web of Things, SPARQL service descriptions. */
import { didYouMean } from '../../../core/nearest.ts';
import { type Graph, nodeId, type Statement } from '../../model/graph.ts';
import type { FileSource, WebRequest } from '../../model/model.ts';
import { localName, shorten, USUAL_PREFIXES } from '../../vocabulary/namespaces.ts';
import { type Context, describeTerm, RDF_TYPE } from '../node.ts';

export type Prefix = 'dcat' | 'td' | 'hctl' | 'htv' | 'sd' | 'qw' | 'qms' | 'rmls';

/** Where a document is, and how it is asked for. */
export interface WebAccess {
  readonly url: string;
  readonly compression: FileSource['compression'];
  readonly request: WebRequest | undefined;
  /** As the description declares it, where `request` does not say it. */
  readonly mediaType?: string | undefined;
}

/** An IRI in one of the namespaces: `full('dcat', 'downloadURL')`. */
export const full = (prefix: Prefix, name: string): string => `${USUAL_PREFIXES[prefix]}${name}`;

const statementsOf = (graph: Graph, id: string): readonly Statement[] => graph.get(id)?.statements ?? [];

/** The statements of a node with a property, in document order. */
export const all = (graph: Graph, id: string, property: string): readonly Statement[] =>
  statementsOf(graph, id).filter((statement) => statement.property === property);

/** Whether a node has one of these classes, or a property of these. */
export const isDescribedAs = (graph: Graph, id: string, classes: readonly string[], properties: readonly string[]): boolean =>
  statementsOf(graph, id).some(({ property, object }) =>
    property === RDF_TYPE ? classes.includes(object.value) : properties.includes(property),
  );

/** The only statement with a property; further ones are reported. */
export function one({ graph, report }: Context, id: string, property: string, what: string): Statement | undefined {
  const [first, second] = all(graph, id, property);
  if (first !== undefined && second !== undefined) {
    report.error('too-many', second.origin, `a second ${shorten(property)} on one ${what}, which may have one of them`);
  }
  return first;
}

/** A URL as an IRI or in quotes; undefined, with a diagnostic, for a blank node, an empty text and a URL with a login. */
export function urlOf({ report }: Context, { property, object, origin }: Statement): string | undefined {
  const short = shorten(property);
  const value = object.value.trim();
  if (object.kind === 'blank' || value === '') {
    // The text is not quoted if it may hold a password.
    const found = object.kind === 'blank' ? 'a blank node' : 'an empty text';
    report.error('wrong-value', origin, `${short} takes a URL, found ${found}`, `write ${short} <https://…>`);
    return undefined;
  }
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i.test(value)) {
    const message = `the URL of ${short} holds a login; mappings hold none, since all readers of a mapping would know it`;
    report.error('secret', origin, message, `remove it; ${/^kafka:/i.test(value) ? LOGIN_OF_BROKERS : LOGIN_HINT}`);
    return undefined;
  }
  return value;
}

export const LOGIN_OF_BROKERS = 'KAFKA_USERNAME and KAFKA_PASSWORD give the login of the brokers';
export const LOGIN_HINT = 'the option SOURCE_LOGINS gives the logins of servers';

/** A text in quotes, such as a media type; an IRI is accepted too. */
export function wordOf({ report }: Context, { property, object, origin }: Statement, expected: string): string | undefined {
  if (object.kind !== 'blank') return object.value.trim();
  report.error('wrong-value', origin, `${shorten(property)} takes ${expected}, found a blank node`);
  return undefined;
}

/** The members of an RDF list, or the object itself where it is no list. */
export function membersOf({ graph, visited }: Context, statement: Statement): readonly Statement[] {
  const members: Statement[] = [];
  const seen = new Set<string>();
  const rdf = USUAL_PREFIXES.rdf as string;
  let id = nodeId(statement.object);
  if (id === `${rdf}nil`) return [];
  if (id === undefined || all(graph, id, `${rdf}first`).length === 0) return [statement];
  while (id !== undefined && !seen.has(id)) {
    seen.add(id);
    visited.add(id);
    members.push(...all(graph, id, `${rdf}first`));
    const rest: Statement | undefined = all(graph, id, `${rdf}rest`)[0];
    id = rest === undefined ? undefined : nodeId(rest.object);
  }
  return members;
}

/** The node that a statement leads to; undefined, with a diagnostic, where nothing is said about it. */
export function describedBy({ graph, report, visited }: Context, { property, object, origin }: Statement): string | undefined {
  const id = nodeId(object);
  if (id !== undefined && graph.has(id)) {
    visited.add(id);
    return id;
  }
  report.error('wrong-value', origin, `${shorten(property)} leads to a description, found ${describeTerm(object)}`);
  return undefined;
}

/** Hint for a missing property: a misspelt one, if there is a similar one. */
export function misspelt(graph: Graph, id: string, wanted: readonly string[], otherwise: string): string {
  for (const { property } of statementsOf(graph, id)) {
    const near = property === RDF_TYPE ? undefined : didYouMean(shorten(property), wanted, localName);
    if (near !== undefined) return `${shorten(property)} is written; ${near}`;
  }
  return otherwise;
}
