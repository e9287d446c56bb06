/** R3: lists and objects beside each other have nothing in common but what is above both. */
import { singular } from '../../../src/infer/names.ts';
import type { Entity, Path, StudioDocument } from '../document.ts';
import { fieldName, nameBehind } from '../elements/path-text.ts';
import { recordsOf } from '../elements/records.ts';
import { onOneBranch, samePath, sharedSteps } from '../levels.ts';
import type { Side } from './ends.ts';
import { type Refusal, refuse } from './verdict.ts';

export function isOneBranch(document: StudioDocument, from: Side, to: Side): Refusal | undefined {
  const aside = to.levels.find((level) => !onOneBranch(from.base, level));
  return aside && sideBySide(document, from, from.base, aside);
}

/** Refuses two levels of the input of `side`, neither of which is above the other. */
export function sideBySide(document: StudioDocument, side: Side, a: Path, b: Path): Refusal {
  const shared = sharedSteps(a, b);
  const left = nameBehind(a, shared) ?? fieldName(a);
  const right = nameBehind(b, shared) ?? fieldName(b);
  const common = commonName(document, side, a.slice(0, shared));
  const sentence = `${left} and ${right} are side by side: nothing says which ${singular(left)} belongs to which ${singular(right)}. Connect both to ${common}.`;
  return refuse('R3', sentence, [left, right, common]);
}

/** What stands above both: an entity, or the list or input that it can be made of. */
function commonName(document: StudioDocument, { input }: Side, level: Path): string {
  const isAbove = (entity: Entity): boolean => entity.input === input?.id && samePath(entity.level, level);
  const entity = recordsOf(document, 'entity').find(isAbove);
  return (
    entity?.name ??
    nameBehind(
      level,
      level.findLastIndex((step) => 'name' in step),
    ) ??
    input?.name ??
    ''
  );
}
