/** Keys of documents: the questions of lowering, and the answers. */
import { type MapPlan, mapsOf, type Plan } from '../plan.ts';
import type { EncodeNode, Node, PhysicalPlan } from './nodes.ts';

/** Whether a column is a key is asked where a `distinct` node would then not be needed. */
export interface KeyQuestion {
  /** Position among `Plan.scans`. */
  readonly scan: number;
  /** One that is a key suffices. */
  readonly references: readonly string[];
}

/** The triples map of which a node compares the subjects. */
export const comparedMap = (node: Node, nodes: readonly Node[]): MapPlan | undefined =>
  node.kind === 'distinct' && node.by === 'subject' ? (nodes[node.inputs[0] as number] as EncodeNode).map : undefined;

/** @param physical the same plan, lowered */
export function keyQuestions({ scans }: Plan, { nodes }: PhysicalPlan): readonly KeyQuestion[] {
  const compared = new Set(nodes.map((node) => comparedMap(node, nodes)));
  return scans.flatMap(({ iterations }, scan) =>
    iterations
      .flatMap(mapsOf)
      .flatMap((map) => (compared.has(map) && map.keyReferences.length > 0 ? [{ scan, references: map.keyReferences }] : [])),
  );
}

/** The triples maps, by `MapPlan.index`, of which a key is known. */
export const uniqueMaps = ({ nodes }: PhysicalPlan): ReadonlySet<number> =>
  new Set(nodes.flatMap((node) => (node.kind === 'encode' && node.proof !== undefined ? [node.map.index] : [])));
