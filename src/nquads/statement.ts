/** A statement, and a rejected statement with its place in the input. */
import type { FaultData } from '../core/fault.ts';

/**
 * One statement. Terms are canonical N-Quads in one-byte UTF-8 text (`core/text.ts`): `<iri>`, `"text"`, `"text"@en`, `"text"^^<iri>`, and
 * `_:label` if blank nodes are kept, and `<< s p o >>` or `<<( s p o )>>` if triples are taken as terms. The only escapes are `\" \\ \n \r \t \b \f` and `\u00XX` for other control characters. IRIs are
 * absolute and contain nothing that N-Quads or SPARQL forbids, so a term can be copied to either unchanged.
 */
export interface Statement {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Empty: the default graph. */
  readonly graph: string;
  /** 1-based line in its input; 0 if it has no line. */
  readonly line: number;
}

/** A statement that was not written to the store: its text in the input, and the reason. */
export interface RejectedStatement {
  /** Redacted URL of the input. */
  readonly input: string;
  /** 1-based. */
  readonly line: number;
  /** Canonical N-Quads as characters, cut to 16 KiB. */
  readonly statement: string;
  readonly fault: FaultData;
}
