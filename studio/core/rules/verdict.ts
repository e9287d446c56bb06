/** What the rules say: yes with what comes of it, or no with a sentence for the user. */
import type { EdgeForm, FieldRef, Id, Path } from '../document.ts';
import { notAbsolute } from '../elements/iris.ts';
import type { Schema } from '../elements/schema.ts';

/**
 * R1 to R6: the modelling rules for JSON and XML. X1 to X3: what else an edge needs. I1 to I9: what every document keeps.
 */
export type Rule =
  | 'R1'
  | 'R2'
  | 'R3'
  | 'R4'
  | 'R5'
  | 'R6'
  | 'X1'
  | 'X2'
  | 'X3'
  | 'I1'
  | 'I2'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I6'
  | 'I7'
  | 'I8'
  | 'I9';

export interface Refusal {
  readonly ok: false;
  readonly rule: Rule;
  readonly sentence: string;
  /** The names in the sentence, as the user knows them: they may be shown in italics. */
  readonly names: readonly string[];
  readonly instead?: CommandCall;
}

export interface Consent {
  readonly ok: true;
  readonly makes: 'entity' | 'attribute' | 'edge' | 'join' | 'value';
  readonly form?: EdgeForm;
  readonly note?: string;
}

export type Verdict = Consent | Refusal;

/** One end of a connection that a person draws. */
export type End =
  | { readonly kind: 'field'; readonly ref: FieldRef }
  /** An entity or an attribute. */
  | { readonly kind: 'element'; readonly id: Id }
  | { readonly kind: 'canvas' }
  /** The title of an input. */
  | { readonly kind: 'input'; readonly id: Id };

export interface ConnectOptions {
  /** Of the new edge; none: it is incomplete. */
  readonly predicates?: readonly string[];
  /** What a field becomes. On the canvas an entity if nothing is said; a field of another input that an edge leads to may become an entity too. */
  readonly as?: 'entity' | 'attribute';
  /** Appends a field to the value of an attribute, in place of what it was. */
  readonly append?: boolean;
  /** Joins entities of one input by keys. */
  readonly join?: boolean;
}

export interface Connect {
  readonly schema: Schema;
  readonly from: End;
  readonly to: End;
  readonly options?: ConnectOptions;
}

/** What a new entity is made of: a value field (its identifier), a list or object, or an attribute that it takes the place of. */
export type EntitySource = { readonly schema: Schema; readonly at: FieldRef } | { readonly attribute: Id };

/** A call that a refusal offers. `select`, `open-text` and `write-out` are for the views. */
export type CommandCall =
  | { readonly command: 'connect'; readonly argument: Connect }
  | { readonly command: 'add-entity'; readonly argument: EntitySource }
  | { readonly command: 'select'; readonly argument: { readonly ids: readonly Id[] } }
  /** Writes the text of the mapping in a form that can be changed, and does then what was refused. */
  | { readonly command: 'write-out'; readonly argument: object }
  /** Opens the text at `of` with a path upwards from its level written in. `to`: what it leads to. */
  | {
      readonly command: 'open-text';
      readonly argument: {
        readonly of: Id | undefined;
        readonly path: string;
        readonly level: Path;
        readonly to: FieldRef | Id | undefined;
      };
    };

export const refuse = (rule: Rule, sentence: string, names: readonly string[], instead?: CommandCall): Refusal => ({
  ok: false,
  rule,
  sentence,
  names,
  ...(instead && { instead }),
});

export const isRefusal = (value: object): value is Refusal => 'ok' in value && value.ok === false;

/** Refuses what is no absolute IRI (I8). */
export function absolute(iris: readonly string[]): Refusal | undefined {
  const wrong = notAbsolute(iris);
  return wrong === undefined ? undefined : refuse('I8', `${wrong || 'Nothing'} is not an absolute IRI.`, [wrong]);
}
