/** What is dragged between regions. */
import type { FieldRef } from '../../../core/document.ts';

/** The type of a drag of fields: JSON of a list of `FieldRef`. */
export const FIELD_TYPE = 'application/x-quadmill-fields';

/** The fields that are dropped; none, where something else is. */
export function droppedFields(data: DataTransfer): readonly FieldRef[] {
  const text = data.getData(FIELD_TYPE);
  return text === '' ? [] : (JSON.parse(text) as readonly FieldRef[]);
}
