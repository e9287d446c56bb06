/** Versions of datasets in a property graph: changes of nodes and relationships, and the positions of datasets. */
import type { Statement } from '../../nquads/statement.ts';
import { type EdgeElement, elementsOf } from '../../property-graph/elements.ts';
import type { Names, PropertyGraphOptions } from '../../property-graph/names.ts';
import type { DatasetKey, DatasetPosition, VersionBatch, VersionTarget } from '../target.ts';
import type { BoltConnection, Work } from './connect.ts';
import { positions, removeBare, removeEdges } from './cypher.ts';
import { changeIn, emptyNode } from './merge.ts';
import { rowsByType, writeAll, writeEdges, writeNodes } from './write.ts';

/**
 * @param options what the names depend on
 * @param check throws for refused statements
 * @param isTaken whether `check` does not refuse a statement
 */
export function versionsOver(
  connection: BoltConnection,
  names: Names,
  options: PropertyGraphOptions,
  check: (statements: readonly Statement[]) => void,
  isTaken: (statement: Statement) => boolean,
): VersionTarget {
  const prefixes = Object.entries(options.prefixes).map(([prefix, namespace]) => `${prefix}=${namespace}`);
  const suffix = `, KEEP_LANGUAGE ${options.keepLanguage}, PROPERTY_GRAPH_PREFIXES ${prefixes.sort().join(' ') || 'none'}`;
  return {
    takesKept: true,
    async positions(signal) {
      const { records } = await connection.transaction((work) => work.run(positions.all), signal);
      return records.map((record) => {
        const { version, form, ...others } = record.toObject() as unknown as Stored;
        return { ...others, version: Number(version), form: form.endsWith(suffix) ? form.slice(0, -suffix.length) : form };
      });
    },
    async change(batch, position, { id, name }, signal) {
      check(batch.added);
      // What was refused is not in the store.
      const removed = batch.removed.filter(isTaken);
      await connection.transaction(async (work) => {
        await changeInto(work, { ...batch, removed }, names);
        if (position === undefined) return;
        const { version, complete, form } = position;
        const stored: Stored = { id, name, version: BigInt(version), complete, form: form + suffix };
        await work.run(positions.store, { position: stored });
      }, signal);
    },
  };
}

/** The properties of the node of a dataset. The names of properties depend on options, so they are part of `form`. */
interface Stored extends DatasetKey, Omit<DatasetPosition, 'version'> {
  readonly version: bigint;
}

/**
 * Removes what the removed statements alone give, adds what the added ones give, and removes nodes that nothing describes.
 *
 * **Claim.** A relationship is removed if none of the remaining statements gives it. **Proof.** They have its start as their subject, and `kept` and
 * `added` are all remaining statements about a subject that loses one. For nodes see `changeIn`: a node without a remaining statement is changed to
 * have nothing, and is removed unless a relationship starts or ends there. The end of a removed relationship is removed under the same condition.
 *
 * All nodes are locked first, in the order of all writers. Those that are missing are made, and have nothing in the end.
 */
export async function changeInto(work: Work, { removed, added, kept }: VersionBatch, names: Names): Promise<void> {
  const gone = elementsOf(removed, names);
  const touched = new Map(gone.nodes.map((node) => [node.iri, node]));
  const subjects = new Set(removed.map(({ subject }) => subject));
  const rest = elementsOf([...added, ...kept.filter(({ subject }) => subjects.has(subject))], names);
  const described = new Set(rest.nodes.map(({ iri }) => iri));
  const bare = gone.nodes.filter(({ iri }) => !described.has(iri)).map(({ iri }) => emptyNode(iri));
  const stays = new Set(rest.edges.map(keyOf));
  const goneEdges = gone.edges.filter((edge) => !stays.has(keyOf(edge)));
  const newEdges = removed.length === 0 ? rest.edges : elementsOf(added, names).edges;

  await writeNodes(work, [...rest.nodes, ...bare], [...newEdges, ...goneEdges], true, (known, node) =>
    changeIn(known, node, touched.get(node.iri) ?? emptyNode(node.iri)),
  );
  await writeEdges(work, newEdges);
  for (const [type, rows] of rowsByType(goneEdges)) await writeAll(work, removeEdges(type), { rows });
  const left = new Set([...bare.map(({ iri }) => iri), ...goneEdges.map(({ to }) => to)]);
  const keys = [...left].filter((iri) => !described.has(iri)).sort();
  if (keys.length > 0) await writeAll(work, removeBare, { keys });
}

const keyOf = ({ from, to, type, graph }: EdgeElement): string => `${from}\n${to}\n${type}\n${graph}`;
