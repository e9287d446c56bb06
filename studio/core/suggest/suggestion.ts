/** Suggestions: changes that names and samples speak for, each with its reason. A person accepts or rejects them. */
import type { Expression, Id } from '../document.ts';

export type Change =
  | { readonly kind: 'predicates'; readonly edge: Id; readonly predicates: readonly string[] }
  | { readonly kind: 'datatype'; readonly attribute: Id; readonly datatype: string }
  | { readonly kind: 'language'; readonly attribute: Id; readonly language: string }
  | { readonly kind: 'identifier'; readonly entity: Id; readonly identifier: Expression }
  | { readonly kind: 'class'; readonly entity: Id; readonly class: string }
  | { readonly kind: 'condition'; readonly edge: Id; readonly child: Expression; readonly parent: Expression };

export interface Suggestion {
  /** The same for the same suggestion, whatever the ids of elements are: rejected ones are known by it. */
  readonly key: string;
  /** The element that it is shown at. */
  readonly of: Id;
  readonly change: Change;
  /** Why, in a sentence. */
  readonly reason: string;
}
