/** A statement, and one that was rejected, with where it stands in its input. */
import type { FaultData } from '../core/fault.ts';

/**
 * One statement. Terms are written as canonical N-Quads does, in one-byte text of UTF-8 (`text.ts`): `<iri>`, `"text"`, `"text"@en`,
 * `"text"^^<iri>`, `_:label` where blank nodes are kept. Inside, only `\" \\ \n \r \t \b \f` and, for other control characters, `\u00XX` are
 * escapes. IRIs are absolute and hold nothing that N-Quads or SPARQL forbids, so a term may stand in either as it is.
 */
export interface Statement {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Empty: the default graph. */
  readonly graph: string;
  /** 1-based, in its input; 0 where it has no line of its own. */
  readonly line: number;
}

/** A statement that is not in the store: its text as the input has it, and why. */
export interface RejectedStatement {
  /** Redacted URL of the input. */
  readonly input: string;
  /** 1-based. */
  readonly line: number;
  /** Canonical N-Quads, characters, cut to 16 KiB. */
  readonly statement: string;
  readonly fault: FaultData;
}
