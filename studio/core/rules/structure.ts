/** R1: inputs mirror nested data, and an edge leads to or from a value in it, not to the list or object around it. */
import type { StudioDocument } from '../document.ts';
import { nameOf } from '../elements/names.ts';
import type { Schema } from '../elements/schema.ts';
import type { Side } from './ends.ts';
import { type End, type Refusal, refuse } from './verdict.ts';

/** Refuses a list or object that is no value. */
export function isValue({ kind, name, ref }: Pick<Side, 'name' | 'ref'> & { readonly kind: string }, schema: Schema): Refusal | undefined {
  if (ref === undefined || (kind !== 'list' && kind !== 'object')) return undefined;
  const rest = kind === 'list' ? 'make an entity of each item' : 'make an entity of it';
  const sentence = `${name} holds ${kind === 'list' ? 'a list' : 'an object'}. Open it and choose one of its fields, or ${rest}.`;
  return refuse('R1', sentence, [name], { command: 'add-entity', argument: { schema, at: ref } });
}

/** Refuses the title of an input as an end. */
export function isNoTitle(document: StudioDocument, end: End): Refusal | undefined {
  if (end.kind !== 'input') return undefined;
  const name = nameOf(document, end.id);
  return refuse('R1', `${name} is an input. Open it and choose one of its fields.`, [name]);
}
