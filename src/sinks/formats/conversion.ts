/** The contract of an output format, apart from the table that lists the formats. */

/**
 * Writes statements, given as checked N-Quads tokens, as text of a format. All text is one-byte.
 *
 * What is returned up to the end of a `close` stands for itself: text that another conversion of the same options made may stand before and
 * behind it.
 */
export interface Conversion {
  /** Returns what can be written now. */
  add(subject: string, predicate: string, object: string, graph: string): string;
  /** The same as `add`, for statements that have all but the subject and the object's value in common. Absent: `add` takes them. */
  pattern?(predicate: string, object: ObjectPattern, graph: string): WriteStatement;
  /** Returns the rest. */
  close(): string;
}

/** Returns what can be written now. @param value the text of the object that `ObjectPattern` leaves open */
export type WriteStatement = (subject: string, value: string) => string;

/** What objects have in common. */
export type ObjectPattern =
  /** The lexical form as N-Quads text, between two texts. `datatype` is a token, and empty if there is none. */
  | { readonly kind: 'literal'; readonly before: string; readonly after: string; readonly datatype: string; readonly language: string }
  /** An IRI without escapes, or a blank node, between two texts. */
  | { readonly kind: 'resource'; readonly before: string; readonly after: string }
  /** Any term. `tokenOf` checks it. */
  | { readonly kind: 'any'; readonly tokenOf: (value: string) => string };

/** What stands around the text of a document. */
export interface Frame {
  readonly head: string;
  /** What a `Conversion` begins each of its objects with, which is left out behind `head`. */
  readonly separator: string;
  readonly tail: string;
  /** A document without statements. */
  readonly empty: string;
}
