/**
 * The contract between the engine and sources of records.
 *
 * A *scan* is one pass over one document. Several triples maps, with different iterators, share the pass: each iterator is an *iteration*
 * of the scan, with its own records and accessors. Order of calls: `open` → `accessor` for every reference of every iteration, and `nested` →
 * `batches` once.
 */
import type { CsvDialect } from '../core/input/csv-dialect.ts';
import type { InputFormat, WorkbookFormat } from '../core/input/formats.ts';
import type { Accessor } from '../core/value.ts';

/** One iterator over a document and the references that the plan will read from its records. */
export interface IterationRequest {
  /** JSONPath or XPath as written in the mapping; undefined if the format has rows or the whole document is the record. */
  readonly iterator: string | undefined;
  /** Every distinct reference for which `accessor` will be called. */
  readonly references: readonly string[];
  /** `document:line:column` of the iterator, for faults. */
  readonly origin: string;
  /** Every distinct iterator within the records for which `nested` will be called. */
  readonly nested?: readonly NestedRequest[];
  /** Whether batches need `identityOf`. */
  readonly namesRows?: boolean;
}

/**
 * What the records of an iterator need in memory beside one record after the other, as a sentence without its subject; undefined: nothing. Nothing is
 * read for it.
 *
 * @throws Fault mapping/reference — an expression is wrong
 */
export type NeedsWhole<O> = (iteration: IterationRequest, options: O) => string | undefined;

/** An iterator within a record, or within an item of another such iterator. */
export interface NestedRequest {
  /** JSONPath or XPath as written in the mapping, from the record or item on. */
  readonly iterator: string;
  /** Every distinct reference that the plan will read from the items. */
  readonly references: readonly string[];
  readonly origin: string;
  readonly nested?: readonly NestedRequest[];
}

/** How the bytes of a document are interpreted, by its format. */
export type ReadOptions = OptionsByFormat[InputFormat];

export interface OptionsByFormat {
  readonly csv: CsvOptions;
  readonly tsv: CsvOptions;
  readonly json: JsonOptions;
  readonly jsonl: JsonOptions;
  readonly xml: XmlOptions;
  readonly xlsx: WorkbookOptions;
  readonly xlsb: WorkbookOptions;
  readonly xls: WorkbookOptions;
  readonly ods: WorkbookOptions;
  readonly parquet: ParquetOptions;
}

/** Of every format. */
export interface CommonOptions {
  /** Name of the input for messages, already redacted. */
  readonly name: string;
  /**
   * `rml`: current vocabulary (JSON values have natural datatypes, a reference to an object or an array is a fault). `legacy`: plain
   * strings; references may omit `$.`; an array stands for its members.
   */
  readonly dialect: 'rml' | 'legacy';
  /** Lexical values that mean null (rml:null), in addition to missing nodes, JSON null and, in CSV, the nulls of `CsvDialect`. */
  readonly nulls: readonly string[];
  /** Records are handed over with each piece of the document that has come, and not only when they are many: the first ones are waited for. */
  readonly promptly?: boolean;
  /** Maximum size in bytes of a single record, field or text. */
  readonly maxRecordBytes: number;
}

/** Of text. */
export interface TextOptions extends CommonOptions {
  /**
   * IANA name from the mapping (`utf-8`, `utf-16`, …); undefined: by byte order mark, then by the server, then by the format's own declaration,
   * then UTF-8.
   */
  readonly encoding: string | undefined;
  /** Of an answer of a server. */
  readonly served?: Served;
}

/** Of trees. */
interface NestedOptions {
  /** Maximum nesting depth; undefined: the fixed limit of the reader. */
  readonly maxDepth?: number;
}

/** Of tables with natural datatypes, which are read from their end. */
export interface ColumnOptions extends CommonOptions, NestedOptions {
  readonly csv?: CsvDialect;
  /** Whether accessors may return values with a natural datatype. undefined: texts alone. */
  readonly naturalDatatypes?: boolean;
  /** Where the document is copied to, and its limits. undefined: the system's directory, and none. */
  readonly files?: FileOptions;
}

export interface CsvOptions extends TextOptions {
  readonly format: 'csv' | 'tsv';
  readonly csv?: CsvDialect;
}

/** `jsonl`: a sequence of values, which are the elements of an implicit array `$`. */
export interface JsonOptions extends TextOptions, NestedOptions {
  readonly format: 'json' | 'jsonl';
}

export interface XmlOptions extends TextOptions, NestedOptions {
  readonly format: 'xml';
  /** Prefix → namespace IRI for XPath (rml:namespace). */
  readonly namespaces: Readonly<Record<string, string>>;
  /** The namespace of element names without prefix: none (standard XPath) or the default namespace of the document's root. */
  readonly xmlDefaultNamespace?: 'none' | 'document';
  /** undefined: records that wait stay in memory. */
  readonly spill?: Spill;
}

export interface WorkbookOptions extends ColumnOptions {
  readonly format: WorkbookFormat;
  /** The sheet, range or name to read. undefined: the first sheet that is not hidden. */
  readonly sheet?: string;
  /** Called with the names of the sheets that have cells, in the order of the workbook, before one is chosen. */
  readonly onSheets?: (names: readonly string[]) => void;
}

/** With `csv`, references name columns as in CSV; otherwise they are paths as in JSON. */
export interface ParquetOptions extends ColumnOptions {
  readonly format: 'parquet';
  /** The document at any offset. undefined: it can only be read from its beginning. */
  readonly ranges?: Ranges;
  /** Only the row groups that begin at `from` or behind, and before `to`. */
  readonly slice?: { readonly from: number; readonly to: number };
}

/** What a server says of a document, in `Content-Type`. */
export interface Served {
  /** In lower case, without parameters. */
  readonly mediaType: string | undefined;
  /** As it stands there. */
  readonly charset: string | undefined;
}

/** The bytes of a document at any offset. */
export interface Ranges {
  readonly sizeBytes: number;
  /** Each read is a request to a server: few large ones take less time. */
  readonly isRemote?: boolean;
  /** The bytes [from, to). */
  read(from: number, to: number): Promise<Buffer>;
}

/** Temporary files of a run, for records that cannot be handed over yet. */
export interface Spill {
  /** So many bytes of records may wait in memory. */
  readonly afterBytes: number;
  open(): SpilledText;
}

/** Text of one byte a character, in a temporary file. */
export interface SpilledText {
  add(text: string): Promise<void>;
  /** Everything that was added, in its order and in pieces of any size. */
  read(): AsyncIterable<string>;
  /** Removes everything. */
  clear(): Promise<void>;
}

/** Where copies of documents go, and what limits their content. */
export interface FileOptions {
  /** Created when it is first needed. */
  readonly directory: string;
  /** Memory in bytes for what must be at hand while a document is read. */
  readonly memoryBytes: number;
  /** See `RunLimits`. */
  readonly inflationRatio: number;
  readonly inputBytes: number;
}

/**
 * What distinguishes a record from the others of its iteration, in whatever slices the document is read: numbers that count rows or elements, from the
 * outermost on, or text of letters, digits and `_`.
 */
export type Identity = number | string | readonly number[];

/** A few hundred consecutive records of one iteration, in document order. Array and records are good until the next batch is requested. */
export interface Batch {
  /** Index into the requested iterations. */
  readonly iteration: number;
  readonly records: readonly unknown[];
  /** 0-based position of `records[0]` within its iteration. */
  readonly first: number;
  /** Bytes of the document read so far. */
  readonly bytes: number;
  /** The 1-based line of the document on which a record begins, by its index in `records`; undefined: it is not known, or records have no lines. */
  readonly lineOf?: (index: number) => number | undefined;
  /** Called before a record is mapped, by its index in `records`; perhaps several times. Not with `RunRequest.rowsPerPart`. */
  readonly took?: (index: number) => void;
  /** The identity of a record, by its position in the iteration, where the iteration `namesRows`; undefined: it is that position. */
  readonly identityOf?: (position: number) => Identity;
  /** Of a document in pages: the 1-based page of the records, and the position of its first record. */
  readonly page?: { readonly number: number; readonly first: number };
}

/**
 * The records that an iterator finds within a record, an item of another iterator, or a text: its *items*. Accessors and further iterators
 * are obtained before the first call of `items`.
 *
 * @see https://kg-construct.github.io/rml-lv/spec/docs/#iterablefield
 */
export interface NestedRecords {
  /**
   * The items within `node`, in document order. `node` is a record of the iteration, an item of the enclosing iterator, or a text (see
   * `TextFormat`). None for null and undefined.
   *
   * @throws Fault record/term — a text is not valid, or an XPath fails for this node; limit/exceeded — a text is too large or too deep
   */
  readonly items: (node: unknown) => readonly unknown[];
  /**
   * The accessor of one reference, over items.
   *
   * @throws Fault mapping/reference — the expression is not valid
   */
  accessor(reference: string): Accessor;
  /**
   * An iterator within the items. undefined: the format has no nested records.
   *
   * @throws Fault mapping/reference — the expression is not valid
   */
  nested?(iterator: string): NestedRecords;
  /** After all items have been read: references for which no item had a node; none if there was no item. */
  unmatched(): readonly string[];
}

/** A format of documents that are values of other documents: JSON in a cell, CSV in a member, XML in an element. */
export interface TextFormat {
  /**
   * The records of each text. `items` takes one value: one-byte UTF-8, or a `TypedValue` as written. A text that is null (rml:null) or
   * empty has no items.
   *
   * @param iterator undefined: as for a document without iterator
   * @param expression what gives the texts, for faults
   * @throws Fault mapping/reference — the iterator is not valid
   */
  records(iterator: string | undefined, expression?: string): NestedRecords;
}

/** Opens texts. `options.encoding` is without effect; `name` is that of the input from which the texts come. */
export type OpenTexts<O = ReadOptions> = (options: O) => Promise<TextFormat>;

/** References that none of the first `records` records has. */
export interface Unseen {
  readonly records: number;
  readonly references: readonly string[];
}

export interface Scan {
  /**
   * The accessor of one reference of one iteration.
   *
   * @throws Fault mapping/reference — the expression is not valid, or (CSV) there is no such column; the message suggests similar names
   */
  accessor(iteration: number, reference: string): Accessor;
  /**
   * An iterator within the records of an iteration. undefined: the format has no nested records (rows).
   *
   * @throws Fault mapping/reference — the expression is not valid
   */
  nested?(iteration: number, iterator: string): NestedRecords;
  /**
   * The natural datatype of every value of this reference, if the source knows it beforehand (SQL columns): the accessor's texts are then
   * in its canonical form. null: no value has one, all are plain strings. undefined: plain strings, or values with their own datatype.
   */
  datatype?(iteration: number, reference: string): string | null | undefined;
  /**
   * All records, in batches. Ends early, with the fault `run/cancelled`, within one batch of `signal`.
   *
   * @throws Fault source/malformed, source/encoding, limit/exceeded — with byte offset, line and record if known
   */
  batches(signal: AbortSignal): AsyncIterable<Batch>;
  /**
   * After `batches` has ended: references of an iteration for which no record had a node (a null counts as a node), and such paths that
   * references in XPath give to functions. Reported as a warning, since a member may be optional; under the policy `strict` as a fault.
   */
  unmatched(iteration: number): readonly string[];
  /** Where a reference finds its value in a record, for faults: the cell of a spreadsheet. undefined: the reader does not know. */
  cellOf?(record: unknown, reference: string): string | undefined;
  /**
   * Of a table in a database. Its records are good beyond a batch, and another scan may be given them that has the same `layout`, which says what
   * their cells are. `identity` is that of a record, if its key has one.
   */
  readonly kept?: { readonly layout: string; readonly identity: ((record: unknown) => Identity) | undefined };
  /** Of a table: the names of its columns in the header, in their order, as ordinary text. */
  columns?(): readonly string[];
  /** For a reader that holds more than the bytes it was given; may be called repeatedly. */
  close?(): Promise<void>;
  /** After `batches` has ended: warnings about the document, as messages. */
  warnings?(): readonly string[];
  /** After `batches` has ended: references that no record was asked for, and that the first records do not have. */
  unseen?(iteration: number): Unseen;
  /**
   * After `batches` has ended: a hint for an iteration without records (no reference given), or for a reference without nodes.
   *
   * @param within the iterators that lead from the records to the items of the reference, or of an iterator without items
   */
  hint?(iteration: number, reference?: string, within?: readonly string[]): string | undefined;
}

/** A scan of the plan that was opened: what documents and databases give to the pass over them. */
export interface OpenedScan {
  readonly scan: Scan;
  /** Name of the input for messages, already redacted. */
  readonly name: string;
  /** In place of those of the scan. */
  readonly batches?: () => AsyncIterable<Batch>;
  /** Whether accessors may return values with a natural datatype. */
  readonly typed: boolean;
  /** For a slice of a document: where its records begin. */
  readonly recordsFrom?: number;
  close(): Promise<void>;
}

/** A format: opens a document's bytes as a scan. The caller closes the bytes. */
export type OpenScan<O = ReadOptions> = (
  bytes: AsyncIterable<Uint8Array>,
  iterations: readonly IterationRequest[],
  options: O,
) => Promise<Scan>;

/**
 * Whether a reference of rows is a key: no two rows have the same value, and some may have none. False: it is not, or this cannot be found out
 * with little memory.
 *
 * @throws Fault those of the reader
 */
export type IsKey<O = ReadOptions> = (reference: string, options: O, memoryBytes: number, signal: AbortSignal) => Promise<boolean>;
