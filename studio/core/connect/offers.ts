/** What a refusal offers in place of an edge that may not be drawn. */
import type { FieldRef, Id, Path, StudioDocument } from '../document.ts';
import { fieldsOf } from '../elements/expressions.ts';
import { ownerOf } from '../elements/owner.ts';
import { fieldName, xPathText } from '../elements/path-text.ts';
import { edgesTo, recordOf } from '../elements/records.ts';
import { sharedSteps } from '../levels.ts';
import type { Side } from '../rules/ends.ts';
import type { CommandCall, Connect, End } from '../rules/verdict.ts';

/** X2: an entity of what a field belongs to, joined to the entity. */
export function joined(from: Side, to: Side): Omit<Connect, 'schema'> | undefined {
  const ref: FieldRef | undefined = to.ref ?? fieldsOf(to.value)[0];
  if (from.id === undefined || ref === undefined) return undefined;
  return { from: { kind: 'element', id: from.id }, to: { kind: 'field', ref }, options: { as: 'entity' } };
}

/** R3: the edge from the entity above. */
export function otherWay(document: StudioDocument, from: Side, to: Side): Omit<Connect, 'schema'> | undefined {
  const upper = to.kind === 'entity' ? to.id : entityOf(document, to);
  const end: End | undefined = from.id !== undefined ? { kind: 'element', id: from.id } : from.ref && { kind: 'field', ref: from.ref };
  return upper === undefined || end === undefined ? undefined : { from: { kind: 'element', id: upper }, to: end };
}

/** The entity that has an attribute, or that is made of the object that owns a field. */
function entityOf(document: StudioDocument, { id, ref }: Side): Id | undefined {
  if (ref !== undefined) return ownerOf(document, ref)?.id;
  return id && edgesTo(document, id).find((edge) => recordOf(document, 'entity', edge.from))?.from;
}

/** R3: for experts in XML, the text where the path upwards is written. */
export function upwards(document: StudioDocument, from: Side, to: Side): CommandCall | undefined {
  if (from.input?.format !== 'xml' || !document.expert) return undefined;
  const path = pathUp(from.base, to.paths[0] ?? []);
  return { command: 'open-text', argument: { of: from.id, path, level: from.base, to: to.id ?? to.ref } };
}

/** `../../@id`: from an element to what stands above it. */
function pathUp(base: Path, path: Path): string {
  const shared = sharedSteps(base, path);
  const ups = base
    .slice(shared)
    .filter((step) => 'name' in step)
    .map(() => '..');
  const down = xPathText(path.slice(shared)).slice(1);
  return [...ups, ...(down === '' ? [] : [down])].join('/') || fieldName(path);
}
