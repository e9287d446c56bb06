/** What the fields of one value have in common: their input, their view, their object, and lists within each other (I5 and I7). */
import type { Expression, StudioDocument } from '../document.ts';
import { fieldsOf } from '../elements/expressions.ts';
import { fieldName } from '../elements/path-text.ts';
import { iterationOf, levelOf, onOneBranch, sameLevel, samePath } from '../levels.ts';
import { sameInput } from './attribute.ts';
import { sideBySide } from './branches.ts';
import { type Side, sideOfValue } from './ends.ts';
import { inOneObject } from './hierarchy.ts';
import { sameGrouping } from './mixing.ts';
import { type Refusal, refuse } from './verdict.ts';

/** Refuses a value whose fields cannot be read together. */
export function fitsTogether(document: StudioDocument, value: Expression): Refusal | undefined {
  const sides: readonly Side[] = fieldsOf(value).map((ref) => sideOfValue(document, { kind: 'field', ref }, fieldName(ref.path)));
  for (const [i, a] of sides.entries()) {
    for (const b of sides.slice(i + 1)) {
      const refusal = sameGrouping(a, b) ?? sameInput(a, b) ?? inOneObject(a, b) ?? nestedLists(document, a, b);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

/** Refuses an identifier that reads another input, or levels beside each other (I2). */
export function identifies(document: StudioDocument, entity: Pick<Side, 'name' | 'input'>, identifier: Expression): Refusal | undefined {
  const side = sideOfValue(document, identifier, entity.name);
  const { input } = entity;
  const foreign = fieldsOf(identifier).find((ref) => ref.input !== input?.id);
  if (foreign !== undefined && input !== undefined) {
    const name = fieldName(foreign.path);
    return refuse('I2', `${name} is not in ${input.name}, where ${entity.name} comes from.`, [name, input.name, entity.name]);
  }
  for (const [i, a] of side.levels.entries()) {
    const aside = side.levels.slice(i + 1).find((b) => !onOneBranch(a, b) || (sameLevel(a, b) && !samePath(a, b)));
    if (aside === undefined) continue;
    if (!onOneBranch(a, aside)) return sideBySide(document, side, a, aside);
    const left = fieldName(a);
    return refuse('I2', `${entity.name} cannot be identified by fields of two items of ${left}.`, [entity.name, left]);
  }
  return fitsTogether(document, identifier);
}

function nestedLists(document: StudioDocument, a: Side, b: Side): Refusal | undefined {
  const [left, right] = [a, b].map(({ paths }) => iterationOf(levelOf(paths[0] ?? [])));
  if (left === undefined || right === undefined || onOneBranch(left, right)) return undefined;
  return sideBySide(document, a, left, right);
}
