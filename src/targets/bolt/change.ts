/** Changes of nodes and relationships by statements that are removed and added. */
import { type EdgeElement, elementsOf, type NodeElement } from '../../property-graph/elements.ts';
import { type Names, nodeKey } from '../../property-graph/names.ts';
import type { VersionBatch } from '../target.ts';
import type { Work } from './connect.ts';
import { removeBare, removeEdges } from './cypher.ts';
import { elementsOfLines } from './element-lines.ts';
import { changeIn, emptyNode, type StoredNode, storedGraphs } from './merge.ts';
import { rowsByType, writeAll, writeEdges, writeNodes } from './write.ts';

/**
 * Removes what the removed statements alone give, adds what the added ones give, and removes nodes that nothing describes.
 *
 * **Claim.** A relationship is removed if none of the remaining statements gives it. **Proof.** They have its start as their subject, and `kept` and
 * `added` are all remaining statements about a subject that loses one. For nodes see `changeIn`: a node without a remaining statement is changed to
 * have nothing, and is removed unless a relationship starts or ends there. The end of a removed relationship is removed under the same condition.
 *
 * **Claim.** With `within`, subjects of the batch then have in these graphs what the kept statements give, and lose nothing else. **Proof.** `removed` is what
 * they have there and the statements do not give. A property that is not among it has only values that the statements give, and the missing ones are added.
 * Labels and properties have no graph: those of a node that another graph describes as well may be of that graph, so none is removed.
 *
 * All nodes are locked first, in the order of all writers. Those that are missing are made, and have nothing in the end.
 */
export async function changeInto(work: Work, { removed, added, kept, within }: VersionBatch, names: Names): Promise<void> {
  const gone = within === undefined ? elementsOf(removed, names) : elementsOfLines(removed);
  const touched = new Map(gone.nodes.map((node) => [node.iri, node]));
  const subjects = new Set(removed.map(({ subject }) => subject));
  const rest = elementsOf(within === undefined ? [...added, ...kept.filter(({ subject }) => subjects.has(subject))] : kept, names);
  const described = new Set(rest.nodes.map(({ iri }) => iri));
  const bare = gone.nodes.filter(({ iri }) => !described.has(iri)).map(({ iri }) => emptyNode(iri));
  const stays = new Set(rest.edges.map(keyOf));
  const goneEdges = gone.edges.filter((edge) => !stays.has(keyOf(edge)));
  const newEdges = removed.length === 0 || within !== undefined ? rest.edges : elementsOf(added, names).edges;
  const isWithin = within === undefined ? () => true : describedBy(within);

  await writeNodes(work, [...rest.nodes, ...bare], [...newEdges, ...goneEdges], true, (known, node) => {
    const lost = touched.get(node.iri) ?? emptyNode(node.iri);
    return changeIn(known, node, isWithin(known) ? lost : graphsOf(lost));
  });
  await writeEdges(work, newEdges);
  for (const [type, rows] of rowsByType(goneEdges)) await writeAll(work, removeEdges(type), { rows });
  const left = new Set([...bare.map(({ iri }) => iri), ...goneEdges.map(({ to }) => to)]);
  const keys = [...left].filter((iri) => !described.has(iri)).sort();
  if (keys.length > 0) await writeAll(work, removeBare, { keys });
}

/** Whether no other graph describes a node. */
function describedBy(graphs: ReadonlySet<string>): (known: StoredNode) => boolean {
  const keys = new Set(Array.from(graphs, nodeKey));
  return (known) => storedGraphs(known).every((graph) => keys.has(graph));
}

const graphsOf = ({ iri, graphs }: NodeElement): NodeElement => ({ ...emptyNode(iri), graphs });

const keyOf = ({ from, to, type, graph }: EdgeElement): string => `${from}\n${to}\n${type}\n${graph}`;
