/** Writes statements as nodes and relationships within one transaction. */
import { excerpt } from '../../core/fault.ts';
import type { Statement } from '../../nquads/statement.ts';
import { type EdgeElement, type Elements, elementsOf, mergeNodes, type NodeElement, RDF_TYPE } from '../../property-graph/elements.ts';
import { GRAPH, type Names, nodeKey } from '../../property-graph/names.ts';
import { TargetBusy, type UpdateScope } from '../target.ts';
import type { Work } from './connect.ts';
import { CHANGE_NODES, changeLabels, MERGE_NODES, mergeEdges, mergeGraphEdges, REMOVE_EDGES } from './cypher.ts';
import { addTo, type NodeChange, newProperties, replaceIn, replaceWhole, type StoredNode } from './merge.ts';

/** Adds what is missing. */
export async function insertInto(work: Work, statements: readonly Statement[], names: Names): Promise<void> {
  await insertElementsInto(work, elementsOf(statements, names));
}

/** Adds what is missing. */
export async function insertElementsInto(work: Work, { nodes, edges }: Elements): Promise<void> {
  await writeNodes(work, nodes, edges, false, addTo);
  await writeEdges(work, edges);
}

/**
 * Replaces the data in `scope` by the statements.
 *
 * Relationships are replaced only in the graphs of the statements. Properties and labels have no graph, so those of a pair are replaced
 * completely; `subject` removes everything of a node with statements in these graphs only, and of any other node what `property` would
 * remove.
 */
export async function replaceIntoGraph(
  work: Work,
  statements: readonly Statement[],
  scope: Exclude<UpdateScope, 'graph'>,
  names: Names,
): Promise<void> {
  const { nodes, edges } = elementsOf(statements, names);
  const pairs = pairsOf(statements, names);
  await writeNodes(work, nodes, edges, true, (stored, node) => {
    const { predicates, isTyped } = pairs.get(node.iri) as Pairs;
    const whole = scope === 'subject' ? replaceWhole(stored, node) : undefined;
    return whole ?? replaceIn(stored, node, predicates, isTyped);
  });
  await writeEdges(work, edges);
  await writeAll(work, REMOVE_EDGES, { rows: obsolete(pairs, edges, scope) });
}

/** What the statements of a subject contain. */
interface Pairs {
  readonly predicates: Set<string>;
  /** Names of predicates by graph. */
  readonly byGraph: Map<string, Set<string>>;
  isTyped: boolean;
}

function pairsOf(statements: readonly Statement[], names: Names): Map<string, Pairs> {
  const pairs = new Map<string, Pairs>();
  for (const { subject, predicate, graph } of statements) {
    const key = nodeKey(subject);
    let own = pairs.get(key);
    if (own === undefined) pairs.set(key, (own = { predicates: new Set(), byGraph: new Map(), isTyped: false }));
    if (predicate === RDF_TYPE) own.isTyped = true;
    const name = names.predicate(predicate);
    own.predicates.add(name);
    const graphKey = nodeKey(graph);
    const inGraph = own.byGraph.get(graphKey);
    if (inGraph === undefined) own.byGraph.set(graphKey, new Set([name]));
    else inGraph.add(name);
  }
  return pairs;
}

function obsolete(pairs: ReadonlyMap<string, Pairs>, edges: readonly EdgeElement[], scope: UpdateScope): readonly unknown[] {
  const kept = new Map<string, string[]>();
  for (const { from, to, type, graph } of edges) {
    const place = `${from}\n${graph}`;
    const list = kept.get(place);
    if (list === undefined) kept.set(place, [`${type}\n${to}`]);
    else list.push(`${type}\n${to}`);
  }
  const rows: unknown[] = [];
  for (const [iri, { byGraph }] of pairs)
    for (const [graph, types] of byGraph)
      rows.push({
        number: BigInt(rows.length),
        iri,
        graph,
        types: scope === 'subject' ? null : [...types],
        keep: kept.get(`${iri}\n${graph}`) ?? [],
      });
  return rows;
}

type Change = (stored: StoredNode, node: NodeElement) => NodeChange;

/** Locks the nodes of subjects and objects, in the same order in all writers. `all`: also examines nodes that seem unchanged. */
export async function writeNodes(
  work: Work,
  nodes: readonly NodeElement[],
  edges: readonly EdgeElement[],
  all: boolean,
  change: Change,
): Promise<void> {
  const wanted = new Map<string, NodeElement>();
  for (const node of nodes) {
    const known = wanted.get(node.iri);
    wanted.set(node.iri, known === undefined ? node : mergeNodes(known, node));
  }
  const keys = new Set(wanted.keys());
  for (const { to } of edges) keys.add(to);
  const rows = [...keys].sort().map((iri) => {
    const node = wanted.get(iri);
    return node === undefined ? { iri } : { iri, properties: newProperties(node) };
  });
  const { records } = await work.run(MERGE_NODES, { rows, all });

  const added = new Groups();
  const removed = new Groups();
  const changed: unknown[] = [];
  const settled = new Set<string>();
  for (const record of records) {
    const iri = record.get('iri') as string;
    if (record.get('removed') === true) throw new TargetBusy(`A node was removed meanwhile: ${excerpt(iri)}`);
    settled.add(iri);
    const stored = record.toObject() as unknown as StoredNode;
    const { properties, ...labels } = change(stored, wanted.get(iri) as NodeElement);
    if (Object.keys(properties).length > 0) changed.push({ iri, properties });
    added.add(labels.added, iri);
    removed.add(labels.removed, iri);
  }
  for (const [iri, { labels }] of wanted) if (!settled.has(iri)) added.add(labels, iri);
  if (changed.length > 0) await writeAll(work, CHANGE_NODES, { rows: changed });
  for (const { names, keys } of removed.values()) await writeAll(work, changeLabels('REMOVE', names), { keys });
  for (const { names, keys } of added.values()) await writeAll(work, changeLabels('SET', names), { keys });
}

/** Groups keys by a set of names, because a statement contains its labels in its text. */
class Groups {
  readonly #groups = new Map<string, { readonly names: readonly string[]; readonly keys: string[] }>();

  add(names: readonly string[], key: string): void {
    if (names.length === 0) return;
    const sorted = names.length === 1 ? names : [...names].sort();
    const id = sorted.join('\n');
    const known = this.#groups.get(id);
    if (known === undefined) this.#groups.set(id, { names: sorted, keys: [key] });
    else known.keys.push(key);
  }

  values(): Iterable<{ readonly names: readonly string[]; readonly keys: readonly string[] }> {
    return this.#groups.values();
  }
}

export async function writeEdges(work: Work, edges: readonly EdgeElement[]): Promise<void> {
  const isPlain = ({ graph }: EdgeElement): boolean => graph === '';
  for (const [type, rows] of rowsByType(edges.filter(isPlain))) await writeAll(work, mergeEdges(type), { rows });
  for (const [type, rows] of rowsByType(edges.filter((edge) => !isPlain(edge)))) await writeAll(work, mergeGraphEdges(type), { rows });
}

/** Groups edges by their type, because a statement contains it in its text. */
export function rowsByType(edges: readonly EdgeElement[]): ReadonlyMap<string, readonly unknown[]> {
  const groups = new Map<string, unknown[]>();
  for (const { from, to, type, graph } of edges) {
    const row = graph === '' ? { from, to } : { from, to, [GRAPH]: graph };
    const known = groups.get(type);
    if (known === undefined) groups.set(type, [row]);
    else known.push(row);
  }
  return groups;
}

/**
 * Runs a statement that returns as `found` for how many rows of its list it found the nodes. If the server does not find a node that was
 * merged just before, data would be lost silently.
 *
 * @throws TargetBusy
 */
export async function writeAll(work: Work, query: string, parameters: Readonly<Record<string, readonly unknown[]>>): Promise<void> {
  const { records } = await work.run(query, parameters);
  const found = Number(records[0]?.get('found') ?? 0);
  const [given] = Object.values(parameters);
  const wanted = given?.length ?? 0;
  if (found < wanted) throw new TargetBusy(`The server found the nodes of ${found} of ${wanted} changes`);
}
