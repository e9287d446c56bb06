/** R5: grouping is switched off for one input, where its objects can be chosen alone. Elements that exist keep their view. */
import type { Id, StudioDocument } from '../document.ts';
import { inputOf } from '../elements/records.ts';
import { isFlat } from '../levels.ts';
import { type Refusal, refuse } from './verdict.ts';

export function mayUngroup(document: StudioDocument, id: Id): Refusal | undefined {
  const input = inputOf(document, id);
  if (input === undefined) return refuse('I1', 'This input is not in the model any more.', []);
  const { name, format } = input;
  if (isFlat(format)) return refuse('R5', `${name} is flat: every row is one object already.`, [name]);
  if (format !== 'parquet') return undefined;
  return refuse('R5', `${name} is read record by record: no path leads to one record alone.`, [name]);
}
