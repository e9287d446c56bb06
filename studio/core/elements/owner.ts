/** R4: what belongs to one object. */
import type { Entity, FieldRef, StudioDocument } from '../document.ts';
import { levelOf, samePath } from '../levels.ts';
import { isConstant } from './expressions.ts';
import { recordsOf } from './records.ts';

/** The entity of the object that owns a field: the first that was made of it. A constant stands for no object. */
export function ownerOf(document: StudioDocument, { input, path }: FieldRef): Entity | undefined {
  const level = levelOf(path);
  return recordsOf(document, 'entity').find(
    (entity) => entity.input === input && samePath(entity.level, level) && !isConstant(entity.identifier),
  );
}
