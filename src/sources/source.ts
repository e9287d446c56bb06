/**
 * The contract between the engine and what yields records.
 *
 * A *scan* is one pass over one document. Several triples maps, with different iterators, share the pass: each iterator
 * is an *iteration* of the scan, with its own records and its own readers. Order of calls: `open` → `reader` for every
 * reference of every iteration → `batches` once.
 */
import type { CsvDialect } from '../core/csv-dialect.ts';
import type { Accessor } from '../core/value.ts';

/** One iterator over a document and the references that the plan will read from its records. */
export interface IterationRequest {
  /** JSONPath or XPath as the mapping writes it; undefined where the format has rows or the whole document is meant. */
  readonly iterator: string | undefined;
  /** Every distinct reference expression that `reader` will be asked for. */
  readonly references: readonly string[];
  /** `document:line:column` of the iterator, for faults. */
  readonly origin: string;
}

/** How a document is to be read, besides its bytes. */
export interface ReadOptions {
  /** Input as the user named it, for messages: already redacted. */
  readonly name: string;
  /**
   * `rml`: today's vocabulary (JSON values have natural datatypes, a reference to an object or an array is a fault).
   * `legacy`: plain strings; references may leave out `$.`; an array stands for its members.
   */
  readonly dialect: 'rml' | 'legacy';
  /** Lexical values that mean null (rml:null). A missing node, a JSON null and, in CSV, what `CsvDialect` says is null anyway. */
  readonly nulls: readonly string[];
  /** IANA name as the mapping declares it (`utf-8`, `utf-16`, …); undefined: told by byte order mark, then by the format's own declaration, then UTF-8. */
  readonly encoding: string | undefined;
  /** Prefix → namespace IRI for XPath (rml:namespace). */
  readonly namespaces: Readonly<Record<string, string>>;
  /** XPath: what an element's name without prefix means, no namespace (as XPath has it) or the default namespace of the document's root. */
  readonly xmlDefaultNamespace?: 'none' | 'document';
  readonly csv?: CsvDialect;
  /** JSON: the document is a sequence of values (JSON Lines), which are the elements of an array `$` that is not written. */
  readonly jsonLines?: boolean;
  /** A single record, field or text may not exceed this many bytes. */
  readonly maxRecordBytes: number;
  /** JSON and XML may not be nested more deeply; undefined: as deeply as their readers take. */
  readonly maxDepth?: number;
}

/** A few hundred neighbouring records of one iteration, in document order. The array is the engine's until the next batch is asked for. */
export interface Batch {
  /** Index into the requested iterations. */
  readonly iteration: number;
  readonly records: readonly unknown[];
  /** 0-based position of `records[0]` within its iteration. */
  readonly first: number;
  /** Bytes of the document read so far. */
  readonly bytes: number;
}

export interface Scan {
  /**
   * The reader of one reference of one iteration.
   *
   * @throws Fault mapping/reference — the expression is not valid, or (CSV) there is no such column; the message lists near names
   */
  accessor(iteration: number, reference: string): Accessor;
  /**
   * The natural datatype of every value that the reader of this reference gives, where the source knows it beforehand (SQL columns):
   * the reader's texts are in its canonical form. undefined: plain strings, or values that carry their own datatype.
   */
  datatype?(iteration: number, reference: string): string | undefined;
  /**
   * All records, in batches. Ends early, with the fault `run/cancelled`, within one batch of `signal`.
   *
   * @throws Fault source/malformed, source/encoding, limit/exceeded — with byte offset, line and record where known
   */
  batches(signal: AbortSignal): AsyncIterable<Batch>;
  /**
   * After `batches` has ended: references of an iteration that no record had a node for (a null counts as a node).
   * A warning, since a member may be optional; with the policy `strict` a fault.
   */
  unmatched(iteration: number): readonly string[];
  /** After `batches` has ended: what was read but should be known, in words. */
  warnings?(): readonly string[];
  /** After `batches` has ended: words that may help where an iteration had no record (no reference), or a reference had no node. */
  hint?(iteration: number, reference?: string): string | undefined;
}

/** A format: opens a document's bytes as a scan. The bytes are closed by whoever opened them. */
export type OpenScan = (bytes: AsyncIterable<Uint8Array>, iterations: readonly IterationRequest[], options: ReadOptions) => Promise<Scan>;
