/** Computes what a stored node must become, given new statements. Pure. */
import type { NodeElement } from '../../property-graph/elements.ts';
import { BASE_LABEL, GRAPH, KEY } from '../../property-graph/names.ts';
import { combine, type Property, type PropertyValue } from '../../property-graph/values.ts';
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

/** The graphs that describe a stored node. A node with neither `graph` nor anything else is in no graph. */
function storedGraphs({ properties, labels, linked }: StoredNode): readonly string[] {
  const graph = properties[GRAPH];
  if (graph !== undefined) return fromBolt(graph).map(String);
  const isBare = !linked && labels.length <= 1 && Object.keys(properties).length <= 1;
  return isBare ? [] : [''];
}

/** Adds statements and removes nothing. */
export function addTo(stored: StoredNode, node: NodeElement): NodeChange {
  const changes: Record<string, unknown> = {};
  for (const [name, property] of node.properties) {
    const known = stored.properties[name];
    const wanted = known === undefined ? property : combine([...fromBolt(known), ...listOf(property)]);
    if (known === undefined || !isSame(wanted, known)) changes[name] = toBolt(wanted);
  }
  addGraphs(changes, stored, node.graphs);
  return { properties: changes, added: node.labels.filter((label) => !stored.labels.includes(label)), removed: [] };
}

const listOf = (property: Property): readonly PropertyValue[] => (Array.isArray(property) ? property : [property as PropertyValue]);

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
 * has no graph of its own: its values from other graphs are removed as well.
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
    const known = stored.properties[name];
    if (known === undefined || !isSame(property, known)) changes[name] = toBolt(property);
  }
}

function labelChange(stored: StoredNode, node: NodeElement, withLabels: boolean): Pick<NodeChange, 'added' | 'removed'> {
  return {
    added: node.labels.filter((label) => !stored.labels.includes(label)),
    removed: withLabels ? stored.labels.filter((label) => label !== BASE_LABEL && !node.labels.includes(label)) : [],
  };
}
