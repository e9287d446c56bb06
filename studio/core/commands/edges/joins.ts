/** Conditions of joins: which fields of the two ends match. */
import type { Expression, Id, StudioDocument } from '../../document.ts';
import { expressionText, sameExpression } from '../../elements/expressions.ts';
import { nameOf } from '../../elements/names.ts';
import { joinOf, recordsOf, withRecords } from '../../elements/records.ts';
import { isRefusal, refuse } from '../../rules/verdict.ts';
import { type Command, changedIn, required, selected } from '../command.ts';
import { newJoin } from '../making.ts';
import { fitsJoin } from '../settle.ts';

const oneEdge = selected('Select an edge first.', ['edge']);

/** Adds a pair of fields that match. */
export const addJoinCondition: Command<{ readonly edge: Id; readonly child: Expression; readonly parent: Expression }> = {
  name: 'add-join-condition',
  label: (_, { child, parent }) => `Match ${expressionText(child)} with ${expressionText(parent)}`,
  keys: 'J',
  role: 'operator',
  enabled: oneEdge,
  perform(document, { edge: id, child, parent }) {
    const edge = required(document, 'edge', id);
    if (isRefusal(edge)) return edge;
    const name = nameOf(document, id);
    if (edge.form !== 'join') return refuse('I4', `${name} needs no join: its ends are in one input.`, [name]);
    const refusal = fitsJoin(document, edge, { child, parent });
    if (refusal !== undefined) return refusal;
    const found = joinOf(document, id);
    const join = found ?? newJoin(document, id);
    if (join.conditions.some((one) => sameExpression(one.child, child) && sameExpression(one.parent, parent))) return document;
    return withRecords(document, [{ ...join, conditions: [...join.conditions, { child, parent }] }]);
  },
  said: saidOfJoin,
  recorded: true,
};

/** Removes the pair of fields at a position of the join. */
export const removeJoinCondition: Command<{ readonly edge: Id; readonly index: number }> = {
  name: 'remove-join-condition',
  label: (document, { edge }) => `Remove a condition of ${nameOf(document, edge)}`,
  role: 'operator',
  enabled: oneEdge,
  perform(document, { edge, index }) {
    const join = joinOf(document, edge);
    if (join?.conditions[index] === undefined) {
      const name = nameOf(document, edge);
      return refuse('I4', `${name} has no condition ${index + 1}.`, [name]);
    }
    return withRecords(document, [{ ...join, conditions: join.conditions.filter((_, i) => i !== index) }]);
  },
  said: saidOfJoin,
  recorded: true,
};

function saidOfJoin(before: StudioDocument, after: StudioDocument): string {
  const changed = [...changedIn(before, after), ...recordsOf(after, 'join')].find((record) => record.kind === 'join');
  if (changed?.kind !== 'join') return 'Nothing changed';
  const pairs = changed.conditions.map(({ child, parent }) => `${expressionText(child)} with ${expressionText(parent)}`);
  const name = nameOf(after, changed.edge);
  return pairs.length === 0 ? `${name} needs a condition` : `${name} matches ${pairs.join(' and ')}`;
}
