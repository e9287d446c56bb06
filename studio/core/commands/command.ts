/** Commands: all that a person can do to a document. Menus, keys and the palette are read from these objects. */
import type { Element, FieldRef, Id, StudioDocument } from '../document.ts';
import { recordOf } from '../elements/records.ts';
import { type Refusal, refuse } from '../rules/verdict.ts';

/** The least role that may use a command. */
export type Role = 'viewer' | 'operator' | 'admin';

/** What is selected on the canvas, in the outline and in the trees of inputs. */
export interface Selection {
  readonly elements: readonly Id[];
  readonly fields: readonly FieldRef[];
}

/** A command with the argument `A`. */
export interface Command<A> {
  readonly name: string;
  /** What menus and the history call it. */
  label(document: StudioDocument, argument: A): string;
  readonly keys?: string;
  readonly role: Role;
  /** Whether it can be used with this selection. */
  enabled(document: StudioDocument, selection: Selection): true | Refusal;
  /** The document after it; the same document, if nothing changes. */
  perform(document: StudioDocument, argument: A): StudioDocument | Refusal;
  /** What it has done, for screen readers. */
  said(before: StudioDocument, after: StudioDocument): string;
  /** Whether it goes on with what the last one did, and both are undone as one. */
  merges?(last: A, next: A): boolean;
  /** Whether it can be undone. */
  readonly recorded: boolean;
}

export const always = (): true => true;

/** Enabled for a selection of elements of these kinds, or of fields where they are allowed. */
export const selected =
  (sentence: string, kinds: readonly Element['kind'][], allowsFields = false) =>
  ({ records }: StudioDocument, { elements, fields }: Selection): true | Refusal => {
    const fits = elements.every((id) => kinds.some((kind) => kind === records.get(id)?.kind));
    const isEmpty = elements.length === 0 && (fields.length === 0 || !allowsFields);
    return fits && !isEmpty ? true : refuse('I1', sentence, []);
  };

/** The record of a kind, or the refusal that it is not there. */
export function required<K extends Element['kind']>(document: StudioDocument, kind: K, id: Id): Extract<Element, { kind: K }> | Refusal {
  return recordOf(document, kind, id) ?? refuse('I1', 'This element is not in the model any more.', []);
}

/** Records that only `after` has, and those that it has in another state. */
export const addedIn = (before: StudioDocument, after: StudioDocument): readonly Element[] =>
  [...after.records.values()].filter(({ id }) => !before.records.has(id));
export const removedIn = (before: StudioDocument, after: StudioDocument): readonly Element[] => addedIn(after, before);
export const changedIn = (before: StudioDocument, after: StudioDocument): readonly Element[] =>
  [...after.records.values()].filter((record) => before.records.has(record.id) && before.records.get(record.id) !== record);
