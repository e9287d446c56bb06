/** X3: an entity has an edge once. */
import type { Edge, FieldRef, Id, StudioDocument } from '../document.ts';
import { sameExpression } from '../elements/expressions.ts';
import { edgesFrom, recordOf } from '../elements/records.ts';
import type { Side } from './ends.ts';
import { type Refusal, refuse } from './verdict.ts';

/**
 * Refuses an edge with the same ends and the same predicates as another one; without predicates: both are incomplete.
 *
 * @param but an edge that does not count
 */
export function isNew(document: StudioDocument, from: Side, to: Side, predicates: readonly string[] = [], but?: Id): Refusal | undefined {
  if (from.id === undefined) return undefined;
  const wanted = keyOf(predicates);
  const leadsThere = to.id !== undefined ? ({ to: end }: Edge) => end === to.id : ({ to: end }: Edge) => reads(document, end, to.ref);
  const found = edgesFrom(document, from.id).find((edge) => edge.id !== but && keyOf(edge.predicates) === wanted && leadsThere(edge));
  return found && refuse('X3', `${from.name} has this edge already.`, [from.name], { command: 'select', argument: { ids: [found.id] } });
}

const keyOf = (predicates: readonly string[]): string => [...predicates].sort().join(' ');

/** Whether an element is an attribute whose value is this field. */
function reads(document: StudioDocument, id: Id, ref: FieldRef | undefined): boolean {
  const attribute = recordOf(document, 'attribute', id);
  return attribute !== undefined && ref !== undefined && sameExpression(attribute.value, { kind: 'field', ref });
}
