/**
 * What keeps a group of scans whole, where its records could be divided among threads, or among workers of a fleet.
 *
 * **Claim.** The parts of a group without an obstacle make together the statements of the whole, each once.
 *
 * **Proof.** By induction over the nodes, the rows of the parts are together those of the whole (`Provided.partitioning`), if all requirements are
 * met. A build side is complete in each part before its first row is looked up. Rows that must meet in one state meet by one of three means: a
 * proof that no two parts have them (`Provided.subjectTellsRow`), state that all parts share (the tables of threads), or an exchange between the
 * parts (the subjects of slices of a file, `distinct/subject-file.ts`). What none of them meets is an obstacle.
 */
import type { Node, NodeId, PhysicalPlan, Provided, Required } from './nodes.ts';
import { requires } from './properties.ts';

/** Where the parts are: in threads of one process, or in workers of a fleet, which share nothing. */
export type PartsIn = 'threads' | 'workers';

/** What parts cannot meet. */
export interface Obstacle {
  readonly node: NodeId;
  readonly reason: Reason;
}

export type Reason = 'position' | 'order' | 'all pairs' | 'collection' | 'pairs' | 'repeats' | 'reifier';

/** @returns in the order of the nodes; none: the records of the group can be divided */
export function obstaclesOf({ nodes, provided, groups }: PhysicalPlan, group: number, parts: PartsIn): readonly Obstacle[] {
  const own = groups[group] as readonly NodeId[];
  return own.flatMap((id) => {
    const node = nodes[id] as Node;
    const { readsPosition, ofDatabase } = provided[id] as Provided;
    const inputs = node.inputs.map((input) => provided[input] as Provided);
    // The node that is the first to read it.
    const reads = readsPosition && !inputs.some((input) => input.readsPosition);
    const isExchanged = parts === 'workers' && !ofDatabase;
    const needs = requires(node).flatMap((required, port) => reasonOf(node, required, inputs[port] as Provided, parts, isExchanged) ?? []);
    return [...new Set<Reason>(reads ? ['position', ...needs] : needs)].map((reason) => ({ node: id, reason }));
  });
}

/** Why parts do not meet a requirement of a node; undefined: they do. */
function reasonOf(node: Node, required: Required, input: Provided, parts: PartsIn, isExchanged: boolean): Reason | undefined {
  if (required.complete && node.kind === 'join') {
    // The run reports how many pairs a join without conditions makes as a whole.
    return node.gives === 'objects' && node.operator.on.length === 0 ? 'all pairs' : undefined;
  }
  switch (required.together) {
    case 'all':
    case 'values':
      return 'order';
    case 'head':
      return 'collection';
    case 'pair':
      return 'pairs';
    case 'subject':
      return parts === 'threads' || isExchanged || input.subjectTellsRow ? undefined : 'repeats';
    case 'statement':
      return parts === 'threads' || isExchanged ? undefined : 'repeats';
    case 'reifier':
      return isExchanged || (parts === 'workers' && node.kind === 'reify' && !node.shared) ? undefined : 'reifier';
    default:
      return undefined;
  }
}
