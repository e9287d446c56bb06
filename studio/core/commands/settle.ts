/**
 * Edges after a change at their ends: they keep to the rules, or the change is refused, and their form follows from the fields that are read.
 * What broke a rule before, since it was read from a text, may go on to do so.
 */
import type { Edge, Id, JoinCondition, StudioDocument } from '../document.ts';
import { fieldsOf } from '../elements/expressions.ts';
import { fieldName } from '../elements/path-text.ts';
import { joinOf, recordOf, recordsOf, withRecords } from '../elements/records.ts';
import { sameLevel } from '../levels.ts';
import { isOneBranch } from '../rules/branches.ts';
import { joinsOneLevel, runsDown } from '../rules/direction.ts';
import { asEntity, type Side, sideOf, sideOfValue } from '../rules/ends.ts';
import { fitsTogether } from '../rules/expression.ts';
import { joinsAll } from '../rules/inputs.ts';
import { checkEdge } from '../rules/link.ts';
import { isRefusal, type Refusal, refuse } from '../rules/verdict.ts';
import { newJoin } from './making.ts';

/** @param after a document whose edges may have other ends, or ends with other values */
export function settled(before: StudioDocument, after: StudioDocument): StudioDocument | Refusal {
  let document = after;
  for (const edge of recordsOf(after, 'edge')) {
    if (!isTouched(before, after, edge)) continue;
    const next = settledEdge(before, document, edge);
    if (isRefusal(next)) return next;
    document = next;
  }
  return document;
}

const isTouched = (before: StudioDocument, after: StudioDocument, edge: Edge): boolean =>
  [edge.id, edge.from, edge.to].some((id) => before.records.get(id) !== after.records.get(id));

function settledEdge(before: StudioDocument, document: StudioDocument, edge: Edge): StudioDocument | Refusal {
  const link = checkEdge(document, edge);
  if (isRefusal(link)) {
    const earlier = recordOf(before, 'edge', edge.id);
    const was = earlier && checkEdge(before, earlier);
    return was !== undefined && isRefusal(was) && was.rule === link.rule ? document : link;
  }
  const { form } = link;
  const join = joinOf(document, edge.id);
  const formed = form === edge.form ? document : withRecords(document, [{ ...edge, form }]);
  if (form !== 'join') return join === undefined ? formed : withRecords(formed, [], new Set([join.id]));
  if (join === undefined) return withRecords(formed, [newJoin(formed, edge.id)]);
  for (const condition of join.conditions) {
    const refusal = fitsJoin(formed, edge, condition);
    if (refusal !== undefined) return refusal;
  }
  return formed;
}

/** Refuses a condition whose sides are no fields of the two ends, at their levels or below. */
export function fitsJoin(document: StudioDocument, edge: Edge, { child, parent }: JoinCondition): Refusal | undefined {
  const [from, to] = [side(document, edge.from), side(document, edge.to)];
  if (from === undefined || to === undefined) return refuse('I1', 'This element is not in the model any more.', []);
  for (const [end, value] of [
    [from, child],
    [to, parent],
  ] as const) {
    const read = fieldsOf(value);
    const key = sideOfValue(document, value, read.map(({ path }) => fieldName(path)).join(', '));
    const foreign = read.find(({ input }) => input !== end.input?.id);
    if (foreign !== undefined) {
      const [name, input] = [fieldName(foreign.path), end.input?.name ?? ''];
      return refuse('X1', `${name} is not in ${input}, where ${end.name} comes from.`, [name, input, end.name]);
    }
    const refusal = fitsTogether(document, value) ?? joinsAll(end, key) ?? runsDown(end, key) ?? isOneBranch(document, end, key);
    if (refusal !== undefined) return refusal;
  }
  return from.input?.id === to.input?.id ? atOneLevel(document, child, parent) : undefined;
}

/** R3: a join within one input compares fields of one level. */
function atOneLevel(document: StudioDocument, child: JoinCondition['child'], parent: JoinCondition['parent']): Refusal | undefined {
  const [a, b] = [child, parent].map((value) =>
    sideOfValue(
      document,
      value,
      fieldsOf(value)
        .map(({ path }) => fieldName(path))
        .join(', '),
    ),
  ) as [Side, Side];
  if (a.levels.length === 0 || b.levels.length === 0 || sameLevel(a.base, b.base)) return undefined;
  return joinsOneLevel(a, b) ?? isOneBranch(document, a, b);
}

function side(document: StudioDocument, id: Id): Side | undefined {
  const found = sideOf(document, new Map(), { kind: 'element', id });
  if (found === undefined || isRefusal(found)) return undefined;
  return found.kind === 'attribute' ? asEntity(found) : found;
}
