/** Elements of a property graph as lines, so that the graph of a server can be compared with statements. Text is bytes in lines, and characters in elements. */
import { fromBytes, toBytes } from '../../core/text.ts';
import type { Statement } from '../../nquads/statement.ts';
import type { EdgeElement, Elements, NodeElement } from '../../property-graph/elements.ts';
import { BASE_LABEL, GRAPH, KEY } from '../../property-graph/names.ts';
import { type Property, type PropertyValue, textOf, valuesOf } from '../../property-graph/values.ts';
import { type StoredNode, storedGraphs } from './merge.ts';
import { fromBolt } from './values.ts';

type Element =
  | readonly ['label', name: string]
  /** The type and the text of one of so many values; of a list even if it is one. Without values there is one line with the number 0. */
  | readonly ['property', name: string, values: number, isList: boolean, type: string, text: string]
  | readonly ['graph', iri: string]
  | readonly ['edge', type: string, to: string, graph: string]
  /** A node that nothing describes, and that has no relationships. */
  | readonly ['bare'];

/** What no IRI of a statement has in it; a node of others may have it in its key. */
const NOT_IN_IRI = /[\x00-\x20<>"{}|^`\\]/g;

const escaped = (key: string): string =>
  key.replace(NOT_IN_IRI, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

const keyOf = (subject: string): string =>
  fromBytes(subject.slice(1, -1)).replace(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const line = (key: string, element: Element): string => `<${toBytes(escaped(key))}> ${toBytes(JSON.stringify(element))}\n`;

/** Whether the key is that of a blank node. A dataset writes none. */
const isBlank = (key: string): boolean => key.startsWith('_:');

/** Of nodes and edges that statements give. */
export function linesOf({ nodes, edges }: Elements): string {
  let lines = '';
  for (const { iri, labels, properties, graphs } of nodes) {
    for (const label of labels) lines += line(iri, ['label', label]);
    for (const [name, property] of properties) lines += propertyLines(iri, name, valuesOf(property), Array.isArray(property));
    for (const graph of graphs) lines += line(iri, ['graph', graph]);
  }
  for (const { from, to, type, graph } of edges) lines += line(from, ['edge', type, to, graph]);
  return lines;
}

function propertyLines(iri: string, name: string, values: readonly PropertyValue[], isList: boolean): string {
  if (values.length === 0) return line(iri, ['property', name, 0, isList, '', '']);
  const typeOf = (value: PropertyValue): string => (typeof value === 'object' ? value.kind : typeof value);
  return values.map((value) => line(iri, ['property', name, values.length, isList, typeOf(value), textOf(value)])).join('');
}

/**
 * Of a node of the server. '' where none of the graphs describes it.
 *
 * @param graphs keys
 * @param isAlone whether it has no relationships
 */
export function linesOfStored(iri: string, stored: StoredNode, graphs: ReadonlySet<string>, isAlone: boolean): string {
  if (isBlank(iri)) return '';
  const own = storedGraphs(stored);
  if (own.length === 0) return isAlone ? line(iri, ['bare']) : '';
  if (!own.some((graph) => graphs.has(graph))) return '';
  let lines = '';
  for (const label of stored.labels) if (label !== BASE_LABEL) lines += line(iri, ['label', label]);
  for (const [name, value] of Object.entries(stored.properties))
    if (name !== KEY && name !== GRAPH) lines += propertyLines(iri, name, fromBolt(value), Array.isArray(value));
  for (const graph of own) if (graphs.has(graph)) lines += line(iri, ['graph', graph]);
  return lines;
}

/** Of a relationship of the server. '' where it is in none of the graphs. */
export function lineOfStoredEdge({ from, to, type, graph }: EdgeElement, graphs: ReadonlySet<string>): string {
  return isBlank(from) || isBlank(to) || !graphs.has(graph) ? '' : line(from, ['edge', type, to, graph]);
}

/** Elements that stand in lines. The properties have no values. */
export function elementsOfLines(lines: readonly Statement[]): Elements {
  const nodes = new Map<
    string,
    NodeElement & { readonly labels: string[]; readonly properties: Map<string, Property>; readonly graphs: string[] }
  >();
  const edges: EdgeElement[] = [];
  for (const { subject, predicate } of lines) {
    const iri = keyOf(subject);
    const node = nodes.get(iri) ?? { iri, labels: [], properties: new Map<string, Property>(), graphs: [] };
    nodes.set(iri, node);
    const element = JSON.parse(fromBytes(predicate)) as Element;
    switch (element[0]) {
      case 'label':
        node.labels.push(element[1]);
        break;
      case 'property':
        node.properties.set(element[1], []);
        break;
      case 'graph':
        node.graphs.push(element[1]);
        break;
      case 'edge':
        edges.push({ from: iri, type: element[1], to: element[2], graph: element[3] });
        break;
      case 'bare':
        break;
    }
  }
  return { nodes: [...nodes.values()], edges };
}
