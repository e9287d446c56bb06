/** Computes what a stored node must become, given new statements. Pure. */
import type { NodeElement } from '../../property-graph/elements.ts';
import { BASE_LABEL, GRAPH, KEY } from '../../property-graph/names.ts';
import { combine, valuesOf } from '../../property-graph/values.ts';
import { fromBolt, isSame, toBolt } from './values.ts';

/** As returned by the server. */
export interface StoredNode {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly labels: readonly string[];
  /** Whether relationships of the default graph start at it; queried if statements of another graph are added. */
  readonly linked: boolean;
}

/** The changes: properties by name, null for removed ones; labels to add and to remove. */
export interface NodeChange {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/**
 * The property `graph` of a node that is the subject of statements in these graphs: absent for the default graph alone, otherwise one IRI
 * or a list, in which the default graph is the empty text.
 */
function graphProperty(graphs: readonly string[]): string | readonly string[] | undefined {
  if (graphs.length === 0 || (graphs.length === 1 && graphs[0] === '')) return undefined;
  return graphs.length === 1 ? graphs[0] : [...graphs].sort();
}

/** All properties of a node without statements. */
export function newProperties({ iri, properties, graphs }: NodeElement): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = { [KEY]: iri };
  for (const [name, property] of properties) all[name] = toBolt(property);
  const graph = graphProperty(graphs);
  if (graph !== undefined) all[GRAPH] = graph;
  return all;
}

/** undefined: it has no such property. One may be called `constructor`. */
const valueOf = ({ properties }: StoredNode, name: string): unknown => (Object.hasOwn(properties, name) ? properties[name] : undefined);

/** The graphs that describe a stored node. A node with neither `graph` nor anything else is in no graph. */
export function storedGraphs({ properties, labels, linked }: StoredNode): readonly string[] {
  const graph = properties[GRAPH];
  if (graph !== undefined) return fromBolt(graph).map(String);
  const isBare = !linked && labels.length <= 1 && Object.keys(properties).length <= 1;
  return isBare ? [] : [''];
}

/** Adds statements and removes nothing. */
export const addTo = (stored: StoredNode, node: NodeElement): NodeChange => changeIn(stored, node, emptyNode(node.iri));

export const emptyNode = (iri: string): NodeElement => ({ iri, labels: [], properties: new Map(), graphs: [] });

/**
 * Removes what only `gone` gives, and adds what `node` gives. What neither gives is kept.
 *
 * **Claim.** A node that has what a set of statements gives then has what the set without the removed statements and with the new ones gives.
 * **Proof.** `node` is made of all statements of the new set about a node that loses one, and of the new ones about any other node. A property, a label
 * or a graph that `gone` does not have loses none of the statements that give it, so new values are combined with those that are there, and the result
 * is that of all values at once (`combine`). One that `gone` has becomes what `node` has, which all remaining statements give.
 *
 * @param gone the removed statements about it
 */
export function changeIn(stored: StoredNode, node: NodeElement, gone: NodeElement): NodeChange {
  const changes: Record<string, unknown> = {};
  for (const name of gone.properties.keys()) if (valueOf(stored, name) !== undefined && !node.properties.has(name)) changes[name] = null;
  for (const [name, property] of node.properties) {
    const known = valueOf(stored, name);
    const wanted = known === undefined || gone.properties.has(name) ? property : combine([...fromBolt(known), ...valuesOf(property)]);
    if (known === undefined || !isSame(wanted, known)) changes[name] = toBolt(wanted);
  }
  const graphs = storedGraphs(stored);
  const stays = graphs.filter((graph) => !gone.graphs.includes(graph) || node.graphs.includes(graph));
  const added = node.graphs.filter((graph) => !stays.includes(graph));
  if (stays.length < graphs.length || added.length > 0) setGraph(changes, stored, [...stays, ...added]);
  return {
    properties: changes,
    added: node.labels.filter((label) => !stored.labels.includes(label)),
    removed: gone.labels.filter((label) => stored.labels.includes(label) && !node.labels.includes(label)),
  };
}

function addGraphs(changes: Record<string, unknown>, stored: StoredNode, graphs: readonly string[]): void {
  const known = storedGraphs(stored);
  const all = [...new Set([...known, ...graphs])];
  if (all.length > known.length) setGraph(changes, stored, all);
}

function setGraph(changes: Record<string, unknown>, { properties }: StoredNode, graphs: readonly string[]): void {
  const graph = graphProperty(graphs);
  if (graph !== undefined) changes[GRAPH] = graph;
  else if (properties[GRAPH] !== undefined) changes[GRAPH] = null;
}

/**
 * Replaces the properties with `names`, including language variants, and the labels if `withLabels`; everything else is kept. A property
 * belongs to no graph: its values from other graphs are removed as well.
 */
export function replaceIn(stored: StoredNode, node: NodeElement, names: ReadonlySet<string>, withLabels: boolean): NodeChange {
  const changes: Record<string, unknown> = {};
  for (const name of Object.keys(stored.properties))
    if (isOurs(name) && isNamed(name, names) && !node.properties.has(name)) changes[name] = null;
  setAll(changes, stored, node);
  addGraphs(changes, stored, node.graphs);
  return { properties: changes, ...labelChange(stored, node, withLabels) };
}

/** Keeps only what `node` contains; undefined: the node also has data of other graphs, which cannot be separated. */
export function replaceWhole(stored: StoredNode, node: NodeElement): NodeChange | undefined {
  if (!storedGraphs(stored).every((graph) => node.graphs.includes(graph))) return undefined;
  const changes: Record<string, unknown> = {};
  for (const name of Object.keys(stored.properties)) if (isOurs(name) && !node.properties.has(name)) changes[name] = null;
  setAll(changes, stored, node);
  setGraph(changes, stored, node.graphs);
  return { properties: changes, ...labelChange(stored, node, true) };
}

const isOurs = (name: string): boolean => name !== KEY && name !== GRAPH;

function isNamed(property: string, names: ReadonlySet<string>): boolean {
  if (names.has(property)) return true;
  const at = property.lastIndexOf('@');
  return at > 0 && names.has(property.slice(0, at));
}

function setAll(changes: Record<string, unknown>, stored: StoredNode, node: NodeElement): void {
  for (const [name, property] of node.properties) {
    const known = valueOf(stored, name);
    if (known === undefined || !isSame(property, known)) changes[name] = toBolt(property);
  }
}

function labelChange(stored: StoredNode, node: NodeElement, withLabels: boolean): Pick<NodeChange, 'added' | 'removed'> {
  return {
    added: node.labels.filter((label) => !stored.labels.includes(label)),
    removed: withLabels ? stored.labels.filter((label) => label !== BASE_LABEL && !node.labels.includes(label)) : [],
  };
}
