/** R2: only entities have outgoing edges. An expert may draw them from attributes that are IRIs or blank nodes. */
import type { Id, StudioDocument } from '../document.ts';
import { nameOf } from '../elements/names.ts';
import { inputOf, inputRead, recordOf } from '../elements/records.ts';
import { identifies } from './expression.ts';
import { type Refusal, refuse } from './verdict.ts';

/** @param allowsExpert whether the expert may draw an edge to this end */
export function mayStart(document: StudioDocument, id: Id, allowsExpert: boolean): Refusal | undefined {
  const attribute = recordOf(document, 'attribute', id);
  if (attribute === undefined) return undefined;
  const name = nameOf(document, id);
  if (document.expert && allowsExpert) {
    return attribute.termType === 'literal' ? refuse('R2', 'A literal cannot be the subject of a statement.', [name]) : undefined;
  }
  const input = inputOf(document, inputRead(attribute) ?? '');
  const becomes = input !== undefined && identifies(document, { name, input }, attribute.value) === undefined;
  const instead = becomes ? ({ command: 'add-entity', argument: { attribute: id } } as const) : undefined;
  return refuse('R2', `Only entities have outgoing edges. Make ${name} an entity first.`, [name], instead);
}
