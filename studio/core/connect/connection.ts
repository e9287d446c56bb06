/** What comes of connecting two things: which elements are there, and which are made. */
import type { EdgeForm, Expression, FieldRef, Id, JoinCondition, Path } from '../document.ts';
import type { Side } from '../rules/ends.ts';
import type { Consent } from '../rules/verdict.ts';

/** An entity to be made. Without a key it is a blank node for each object. */
export interface EntityDraft {
  readonly input: Id;
  readonly level: Path;
  readonly key?: FieldRef;
}

/** An element that is there, or one to be made. */
export type Made = { readonly id: Id } | { readonly entity: EntityDraft } | { readonly value: Expression };

/** What `connect` does. */
export type Connection = Consent &
  (
    | { readonly kind: 'element'; readonly element: Made }
    | { readonly kind: 'value'; readonly attribute: Id; readonly value: Expression }
    | {
        readonly kind: 'edge';
        readonly form: EdgeForm;
        readonly subject: Made;
        readonly object: Made;
        readonly condition?: JoinCondition;
        /** The edge that gets the condition, in place of a new one. */
        readonly completes?: Id;
        /** A field that the object gets as attribute. */
        readonly field?: FieldRef;
      }
  );

/** The end of an edge that is an element already, or becomes an entity of its field. */
export const identified = (side: Side): Made => (side.id === undefined ? draftOf(side, side.ref) : { id: side.id });

/** An entity of what a side stands for. */
export const draftOf = ({ input, base }: Side, key?: FieldRef): Made => ({
  entity: { input: input?.id ?? '', level: base, ...(key && { key }) },
});
