/** The contract of an output format, apart from the table that lists the formats. */

/** Converts statements, given as N-Quads tokens, to text of a format. All text is one-byte. */
export interface Conversion {
  /** Returns what can be written now. */
  add(subject: string, predicate: string, object: string, graph: string): string;
  /** Returns the rest. */
  end(): string;
}
