/**
 * The contract between the engine and sources of records.
 *
 * A *scan* is one pass over one document. Several triples maps, with different iterators, share the pass: each iterator is an *iteration*
 * of the scan, with its own records and accessors. Order of calls: `open` → `accessor` for every reference of every iteration → `batches`
 * once.
 */
import type { CsvDialect } from '../core/input/csv-dialect.ts';
import type { Accessor } from '../core/value.ts';

/** One iterator over a document and the references that the plan will read from its records. */
export interface IterationRequest {
  /** JSONPath or XPath as written in the mapping; undefined if the format has rows or the whole document is the record. */
  readonly iterator: string | undefined;
  /** Every distinct reference for which `accessor` will be called. */
  readonly references: readonly string[];
  /** `document:line:column` of the iterator, for faults. */
  readonly origin: string;
}

/** How the bytes of a document are interpreted. */
export interface ReadOptions {
  /** Name of the input for messages, already redacted. */
  readonly name: string;
  /**
   * `rml`: current vocabulary (JSON values have natural datatypes, a reference to an object or an array is a fault). `legacy`: plain
   * strings; references may omit `$.`; an array stands for its members.
   */
  readonly dialect: 'rml' | 'legacy';
  /** Lexical values that mean null (rml:null), in addition to missing nodes, JSON null and, in CSV, the nulls of `CsvDialect`. */
  readonly nulls: readonly string[];
  /** IANA name from the mapping (`utf-8`, `utf-16`, …); undefined: by byte order mark, then by the format's own declaration, then UTF-8. */
  readonly encoding: string | undefined;
  /** Prefix → namespace IRI for XPath (rml:namespace). */
  readonly namespaces: Readonly<Record<string, string>>;
  /** XPath: the namespace of element names without prefix: none (standard XPath) or the default namespace of the document's root. */
  readonly xmlDefaultNamespace?: 'none' | 'document';
  readonly csv?: CsvDialect;
  /** JSON: the document is a sequence of values (JSON Lines), which are the elements of an implicit array `$`. */
  readonly jsonLines?: boolean;
  /** Maximum size in bytes of a single record, field or text. */
  readonly maxRecordBytes: number;
  /** Maximum nesting depth of JSON and XML; undefined: the fixed limit of the reader. */
  readonly maxDepth?: number;
}

/** A few hundred consecutive records of one iteration, in document order. The array belongs to the caller until the next batch is requested. */
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
   * The accessor of one reference of one iteration.
   *
   * @throws Fault mapping/reference — the expression is not valid, or (CSV) there is no such column; the message suggests similar names
   */
  accessor(iteration: number, reference: string): Accessor;
  /**
   * The natural datatype of every value of this reference, if the source knows it beforehand (SQL columns): the accessor's texts are then
   * in its canonical form. undefined: plain strings, or values with their own datatype.
   */
  datatype?(iteration: number, reference: string): string | undefined;
  /**
   * All records, in batches. Ends early, with the fault `run/cancelled`, within one batch of `signal`.
   *
   * @throws Fault source/malformed, source/encoding, limit/exceeded — with byte offset, line and record if known
   */
  batches(signal: AbortSignal): AsyncIterable<Batch>;
  /**
   * After `batches` has ended: references of an iteration for which no record had a node (a null counts as a node). Reported as a warning,
   * since a member may be optional; under the policy `strict` as a fault.
   */
  unmatched(iteration: number): readonly string[];
  /** After `batches` has ended: warnings about the document, as messages. */
  warnings?(): readonly string[];
  /** After `batches` has ended: a hint for an iteration without records (no reference given), or for a reference without nodes. */
  hint?(iteration: number, reference?: string): string | undefined;
}

/** A format: opens a document's bytes as a scan. The caller closes the bytes. */
export type OpenScan = (bytes: AsyncIterable<Uint8Array>, iterations: readonly IterationRequest[], options: ReadOptions) => Promise<Scan>;
