/** R4: what belongs to one object. */
import type { Entity, FieldRef, StudioDocument } from '../document.ts';
import { levelOf, samePath } from '../levels.ts';
import { isConstant } from './expressions.ts';
import { recordsOf } from './records.ts';

/**
 * The entity of the object that owns a field: the first that was made of it. A constant stands for no object. The values of a list of which
 * no entity was made belong to the object that has the list.
 */
export function ownerOf(document: StudioDocument, { input, path }: FieldRef): Entity | undefined {
  const level = levelOf(path);
  const owner = recordsOf(document, 'entity').find(
    (entity) => entity.input === input && samePath(entity.level, level) && !isConstant(entity.identifier),
  );
  const isOfList = level.length > 0 && level.length === path.length;
  return owner ?? (isOfList ? ownerOf(document, { input, path: path.slice(0, -1) }) : undefined);
}
