/** Edges that are there: their ends, direction and predicates. */
import type { Edge, Id, JoinCondition, StudioDocument } from '../../document.ts';
import { nameOf } from '../../elements/names.ts';
import { inputRead, joinOf, recordOf, withRecords } from '../../elements/records.ts';
import { checkEdge } from '../../rules/link.ts';
import { absolute, isRefusal, type Refusal } from '../../rules/verdict.ts';
import { type Command, required, selected } from '../command.ts';
import { partOf } from '../making.ts';
import { fitsJoin, settled } from '../settle.ts';
import { saidOfEdges } from './connect.ts';

const oneEdge = selected('Select an edge first.', ['edge']);

/** Moves one end of an edge, or both, to other elements. */
export const reconnect: Command<{ readonly edge: Id; readonly from?: Id; readonly to?: Id }> = {
  name: 'reconnect',
  label: (document, { edge }) => `Reconnect ${nameOf(document, edge)}`,
  role: 'operator',
  enabled: oneEdge,
  perform(document, { edge: id, from, to }) {
    const edge = required(document, 'edge', id);
    if (isRefusal(edge)) return edge;
    const next = { from: from ?? edge.from, to: to ?? edge.to };
    if (next.from === edge.from && next.to === edge.to) return document;
    return turned(document, edge, next, joinOf(document, id)?.conditions ?? []);
  },
  said: saidOfEdges,
  recorded: true,
};

/** Swaps the ends of an edge, and the sides of its join. */
export const reverse: Command<{ readonly edge: Id }> = {
  name: 'reverse',
  label: (document, { edge }) => `Reverse ${nameOf(document, edge)}`,
  keys: 'R',
  role: 'operator',
  enabled: oneEdge,
  perform(document, { edge: id }) {
    const edge = required(document, 'edge', id);
    if (isRefusal(edge)) return edge;
    if (edge.from === edge.to) return document;
    const conditions = joinOf(document, id)?.conditions ?? [];
    const swapped = conditions.map(({ child, parent }) => ({ child: parent, parent: child }));
    return turned(document, edge, { from: edge.to, to: edge.from }, swapped);
  },
  said: saidOfEdges,
  recorded: true,
};

/** The edge with other ends, with those conditions of its join that fit them. */
function turned(
  document: StudioDocument,
  edge: Edge,
  { from, to }: { readonly from: Id; readonly to: Id },
  conditions: readonly JoinCondition[],
): StudioDocument | Refusal {
  const isByKey = edge.form === 'join' && inputOfElement(document, edge.from) === inputOfElement(document, edge.to);
  const part = from === edge.from ? edge.part : partOf(document, from);
  const next: Edge = { ...edge, from, to, part, form: isByKey ? 'join' : 'same' };
  const join = joinOf(document, edge.id);
  const bare = withRecords(document, [next], new Set(join === undefined ? [] : [join.id]));
  const refusal = checkEdge(bare, next);
  if (isRefusal(refusal)) return refusal;
  const drawn = settled(document, bare);
  const made = isRefusal(drawn) ? undefined : joinOf(drawn, edge.id);
  if (isRefusal(drawn) || made === undefined) return drawn;
  return withRecords(drawn, [{ ...made, conditions: conditions.filter((one) => fitsJoin(drawn, next, one) === undefined) }]);
}

function inputOfElement(document: StudioDocument, id: Id): Id | undefined {
  const record = recordOf(document, 'entity', id) ?? recordOf(document, 'attribute', id);
  return record && inputRead(record);
}

/** Says what an edge means. None: it is incomplete. */
export const setPredicates: Command<{ readonly edge: Id; readonly predicates: readonly string[] }> = {
  name: 'set-predicates',
  label: (document, { edge }) => `Set the predicates of ${nameOf(document, edge)}`,
  role: 'operator',
  enabled: oneEdge,
  perform(document, { edge: id, predicates }) {
    const edge = required(document, 'edge', id);
    if (isRefusal(edge)) return edge;
    const wrong = absolute(predicates);
    if (wrong !== undefined) return wrong;
    return settled(document, withRecords(document, [{ ...edge, predicates: [...new Set(predicates)] }]));
  },
  said: saidOfEdges,
  merges: (last, next) => last.edge === next.edge,
  recorded: true,
};
