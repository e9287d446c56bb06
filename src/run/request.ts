/** Request and report of a run. Plain data: it is sent to a thread and back. */

import type { FaultData } from '../core/fault.ts';
import type { CsvDialect } from '../core/input/csv-dialect.ts';
import type { InputFormat } from '../core/input/formats.ts';
import type { RunLimits } from '../core/limits.ts';
import type { Reach } from '../core/reach/reach.ts';
import type { Secret } from '../core/secret.ts';
import type { FunctionFiles } from '../custom-functions/files.ts';
import type { DatatypeCheck, ErrorPolicy, FileSource, LogicalTarget, SqlSource } from '../mapping/model/model.ts';
import type { Check, Join, MapInfo, Project, Scan } from '../plan/algebra.ts';
import type { QuadSink, RdfVersion } from '../sinks/sink.ts';
import type { IterationRequest, OpenedScan, ReadOptions } from '../sources/source.ts';
import type { SqlSession } from '../sql/database.ts';
import type { WebAccess } from '../storage/logins.ts';
import type { ByteRange } from '../storage/storage.ts';

/** Binds a source, by its name in the mapping, to a real location. Several bindings of one source are read in order. */
export interface InputBinding {
  /** `rml:source` text, file path, or IRI of the logical source or source; undefined: the source that `pathsMeant` finds. */
  readonly name: string | undefined;
  /** `file:`, `http(s):`, or a path. */
  readonly url: string;
}

/** See `ReadOptions.xmlDefaultNamespace`. */
export const XML_DEFAULT_NAMESPACES = ['none', 'document'] as const;
export type XmlDefaultNamespace = (typeof XML_DEFAULT_NAMESPACES)[number];

/** How inputs are read, as set on the command line. Overrides the mapping. */
export interface InputOptions {
  /** For inputs whose names do not imply the format, or imply the wrong one. */
  readonly format: InputFormat | undefined;
  /** For all CSV files. */
  readonly csv: Pick<CsvDialect, 'delimiter' | 'quoteChar'>;
  /** For all files. */
  readonly encoding: string | undefined;
  /** An absolute path: the base of relative sources. undefined: as the mapping says. */
  readonly sourceRoot: string | undefined;
}

/** The input that means standard input, if there are `InputOptions`. */
export const STANDARD_INPUT = '-';

export type { DatatypeCheck, ErrorPolicy, LogicalTarget };

/** The database of sources that name none in the mapping. Never part of a job: it contains the password. A text is hidden as a `Secret` at once. */
export interface DatabaseAccess {
  /** May contain parameters. */
  readonly jdbcUrl: string;
  readonly user?: string | undefined;
  readonly password?: Secret | string | undefined;
}

/** Limits for the SQL statements of the run; see `SessionOptions`. */
export interface SqlLimits {
  readonly connectSeconds: number;
  /** 0: none. */
  readonly statementSeconds: number;
  /** 0: none. */
  readonly lockSeconds: number;
}

/**
 * A slice of a run: some scans of its plan, one or more of them restricted to a range of keys or bytes. The slices of a run together make
 * every statement of the run. Two slices never make the same statement, unless they read the same file: then their subjects are compared,
 * if statements are to be distinct (`distinct/`). Plain data: it is sent to other workers.
 */
export interface RunSlice {
  /** 0-based. */
  readonly index: number;
  /** Digest of mapping and plan: a worker that computes another one has read another mapping, and must stop. */
  readonly digest: string;
  readonly scans: readonly SliceScan[];
  /** Documents that fill the build sides of its joins, which are read first. Absent: its joins find partners among its own records. */
  readonly sides?: readonly SliceScan[];
  /** Slices with the same number may make the same statements. Absent: no other slice makes one of its statements. */
  readonly group?: number | undefined;
  /** PostgreSQL: name of the snapshot to read, by `DatabaseAddress.name`. */
  readonly snapshots: Readonly<Record<string, string>>;
}

export interface SliceScan {
  /** Index in `plan.scans`. */
  readonly position: number;
  /** undefined: the whole scan. */
  readonly range: KeyRange | ByteSlice | undefined;
}

/** `from` ≤ key < `to`; undefined: unbounded. Key texts as the server writes them. */
export interface KeyRange {
  readonly kind: 'key';
  readonly column: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The records that begin in the bytes [from, to) of a document. Both are the beginning of a record, or the end of one or of the document. */
export interface ByteSlice extends ByteRange {
  readonly kind: 'bytes';
  /** This many bytes at the beginning of the document (a header) are read by every slice. */
  readonly head: number;
  /** One-byte text around the bytes, which makes a whole document of them: brackets of JSON, tags of XML. */
  readonly before?: string;
  readonly behind?: string;
  /**
   * What stands before the slice, where identities of records count it: rows, lines or elements; in XML the elements before the first one of the
   * slice, and before each of those around it, among those with the same parent, from below the root on.
   */
  readonly counts?: readonly number[];
}

export interface RunRequest {
  /** Unique for the run: it keeps its temporary files apart from those of others. */
  readonly runId: string;
  /** When the run was submitted, in milliseconds since 1970: what functions take for the present. undefined: now. */
  readonly startedAt?: number;
  /** Mapping files, as URLs or paths; at least one. */
  readonly mappings: readonly string[];
  /** Texts of mappings in place of `mappings`, with the URLs or paths that they have or are to have. Never part of a job. */
  readonly documents?: readonly { readonly name: string; readonly text: string }[] | undefined;
  readonly inputs: readonly InputBinding[];
  /** Leaves out triples maps whose sources are neither bound by `inputs` nor joined to a bound one. */
  readonly boundOnly?: boolean | undefined;
  /**
   * Leaves out triples maps with errors, and those that refer to them, where else the run is refused. The report does not name them: the
   * caller reads the diagnostics of the mapping (`readMapping`).
   */
  readonly validOnly?: boolean | undefined;
  /** undefined: names and servers tell the formats of inputs, and there is no standard input. */
  readonly inputOptions?: InputOptions | undefined;
  /** The base of relative paths, and rml:CurrentWorkingDirectory. */
  readonly workingDirectory: string;
  /** Base IRI for relative IRIs of mapping and data; undefined: `http://example.com/base/`. */
  readonly base: string | undefined;
  /** undefined: the default of the dialect (strict for current RML and R2RML, skip for legacy RML). */
  readonly onError: ErrorPolicy | undefined;
  /** With `skip` and `quarantine`: the run fails when more records than this are rejected, or lose statements whose objects are left out. */
  readonly maxRejected: number;
  /** undefined: the default of the language (`warn` for legacy RML, `error` for the others). */
  readonly datatypeCheck?: DatatypeCheck | undefined;
  readonly distinct: boolean;
  readonly rdf: RdfVersion;
  /** At most so many threads map: `threads/units.ts` says when there are several. */
  readonly threads: number;
  /** Bytes of all inputs from which threads share a run, and of a slice; undefined: by their size. */
  readonly threadBytes?: number | undefined;
  /** Bytes of a CSV document from which a key is looked for; undefined: those of `execute/text-keys.ts`. */
  readonly keyBytes?: number | undefined;
  /** Memory in bytes for joins and de-duplication before they spill. */
  readonly memoryBudgetBytes: number;
  readonly maxRecordBytes: number;
  readonly xmlDefaultNamespace: XmlDefaultNamespace;
  readonly limits: RunLimits;
  readonly database: DatabaseAccess | undefined;
  readonly sql: SqlLimits;
  /**
   * The dataset whose blank nodes the run makes: their labels are made of this text and of what their rows say, whatever the addresses of mapping
   * and inputs, and wherever a row stands. Such rows are read by one thread, and not in slices. undefined: see `prepare/labels.ts`.
   */
  readonly dataset?: string | undefined;
  /** What mapping and inputs may name; see `OpenOptions`. */
  readonly reach: Reach | undefined;
  /** How sources are read over HTTP. Never part of a job: it contains logins. */
  readonly web: WebAccess;
  /** Reads so many records of each iteration alone, see `execute/preview.ts`. undefined: all. Not with slices. */
  readonly firstRecords?: number | undefined;
  /** Database rows per output file (`QuadSink.rollOver`); undefined: one file. */
  readonly rowsPerPart: number | undefined;
  /** undefined: the whole run. */
  readonly slice: RunSlice | undefined;
  /** Functions beside the built-in ones; undefined: none. */
  readonly functions?: FunctionFiles | undefined;
  /** Directory for spill files; created when first needed, emptied at the end. */
  readonly spillDirectory: string;
}

export const DEFAULT_BASE = 'http://example.com/base/';

/** The tables in which functions look values up have at most this share of the memory for joins and de-duplication, those of all threads together. */
export const TABLE_SHARE = 1 / 4;

/** A record that was rejected because of an invalid term. */
export interface Rejection {
  readonly triplesMap: string;
  readonly fault: FaultData;
}

/**
 * Values of a statement of the mapping that are wrong, without their records being rejected. `ill-typed`: literals that are written although their
 * text is not in the lexical space of their datatype. `left-out`: objects that are left out with their statements. `empty`: texts of a template
 * whose references are all empty texts.
 */
export interface Flaw {
  readonly kind: 'ill-typed' | 'left-out' | 'empty';
  readonly count: number;
  readonly first: FaultData;
}

export interface TriplesMapReport {
  readonly id: string;
  readonly name: string;
  /** `document:line:column`. */
  readonly origin: string;
  readonly records: number;
  readonly quads: number;
  readonly rejected: number;
  /** Why it made no statement, as a message; undefined if it made some, or is to make none. */
  readonly empty: string | undefined;
}

/** A join of the mapping, and its rows without a partner. */
export interface JoinReport {
  /** The same for the documents, threads and slices of a run. */
  readonly id: string;
  /** `document:line:column`. */
  readonly origin: string;
  /** The triples map or view whose rows look for partners, and the one that has them. */
  readonly child: string;
  readonly parent: string;
  /** `city = id`. */
  readonly conditions: string;
  /** Rows of the child, also those without a key. */
  readonly rows: number;
  /** Rows whose key no row of the parent has. */
  readonly withoutPartner: number;
  /** Whether some row has found a partner. */
  readonly found: boolean;
  /** Up to three keys of rows without a partner, and of the parent; as JSON strings. */
  readonly childKeys: readonly string[];
  readonly parentKeys: readonly string[];
}

/** A logical target of the mapping. */
export interface TargetReport {
  /** IRI, or `_:label`. */
  readonly id: string;
  /** As the mapping writes it. */
  readonly path: string;
  /** `document:line:column`. */
  readonly origin: string;
  /** Statements written to it, each once. */
  readonly quads: number;
}

export interface RunReport {
  /** Over all iterators; a record that several triples maps share counts once. */
  readonly records: number;
  /**
   * Statements written, after de-duplication if it is on; one that goes to several targets counts for each. Those of reifiers count here
   * and not for triples maps.
   */
  readonly quads: number;
  readonly rejected: number;
  readonly bytesRead: number;
  /**
   * Of all outputs, targets included: the text of statements that the engine gave to its sinks. Once files are published or committed, their
   * bytes: with what stands around the statements of a format, in another encoding, compressed.
   */
  readonly bytesWritten: number;
  /** Bytes written to spill files. */
  readonly bytesSpilled?: number;
  readonly seconds: number;
  readonly triplesMaps: readonly TriplesMapReport[];
  /**
   * Joins that the engine made and in which some row found no partner; of a slice, all joins. Those that a database made are not among them:
   * if such a join has no pairs, its triples map is `empty`. Absent: there are none.
   */
  readonly joins?: readonly JoinReport[];
  /** Absent: the mapping has no logical targets. */
  readonly targets?: readonly TargetReport[];
  readonly warnings: readonly string[];
  /** Names of the inputs of which `RunRequest.firstRecords` left out records; each once. Absent: there is no such bound. */
  readonly cut?: readonly string[];
  /**
   * For a slice of a document, by its index in `plan.scans`: warnings that apply to the run only if they apply to all slices of the
   * document.
   */
  readonly unmatched?: { readonly scan: number; readonly faults: readonly FaultData[] } | undefined;
  /** For a slice: what was read to fill the build sides of its joins, which is the same for all slices of a group. */
  readonly sides?: Pick<RunReport, 'joins' | 'unmatched'> | undefined;
  /** Values that are ill-typed and written, and objects that are left out with their statements. Absent: there are none. */
  readonly flaws?: readonly Flaw[] | undefined;
  /** The mapping documents of the run and their SHA-256, hexadecimal. */
  readonly mappings: readonly { readonly url: string; readonly sha256: string }[];
}

/** Progress of a run. */
export interface Progress {
  readonly records: number;
  readonly quads: number;
  readonly bytesRead: number;
}

/** A limit of time, after which there is what came in it. */
export interface ScanLimit {
  /** In milliseconds since 1970. */
  readonly until: number;
  /** Called with the input of a scan that was not read as far as was wanted. */
  readonly onTimeout: (input: string) => void;
  /** Called with what comes next and may take long: `connecting to …`. */
  readonly step?: ((doing: string) => void) | undefined;
}

export interface DocumentBytes {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Called before records are mapped: they end within so many bytes of the document, without a byte order mark. */
  readonly read?: (bytes: number) => void;
}

/** What follows rows through the joins of a run. */
export interface RowTrace {
  /**
   * Called with the keys by which the current row looks for partners in a join, or is found as a row of a build side, or which a view promises to be
   * unique; some more than once.
   */
  joinKeys(side: Join | Project | Check, keys: string | readonly string[]): void;
  /** Called with the content that names a record for blank nodes (`distinct/occurrences.ts`), hashed. @param isRepeated whether another record had it */
  named(scan: Scan, content: string, isRepeated: boolean): void;
  /** What tells the records of the current row, as text: rows that wait for a join keep it. */
  origin(): string;
  /** The rows that come next are of the records of such a text. */
  resume(origin: string): void;
  /** Whether triples maps read the current row. It fills build sides in any case. */
  maps(): boolean;
  /** Called with the text of a line that has triples of RDF-star as terms, or seems to have some. */
  quotes(line: string): void;
  /** Whether statements of a subject are wanted, as N-Quads text in one-byte form; others may be made all the same. */
  wants(subject: string): boolean;
}

/** What is read of a topic. */
export interface OpenedTopic {
  readonly source: FileSource;
  readonly iterations: readonly IterationRequest[];
  readonly options: ReadOptions;
  /** Whether accessors may return values with a natural datatype. */
  readonly typed: boolean;
}

/** Callbacks of a run. All are optional. */
export interface RunHooks {
  readonly signal?: AbortSignal;
  /** At most about ten times a second. */
  readonly progress?: (progress: Progress) => void;
  /** What the run's own threads hold together, in bytes, beside the one that calls; at most about four times a second and thread. */
  readonly memory?: (bytes: number) => void;
  /** Called with the URLs or paths of all documents before the first one is opened. */
  readonly located?: (urls: readonly string[]) => void | Promise<void>;
  /** Called for each rejected record under `skip` and `quarantine`. */
  readonly reject?: (rejection: Rejection) => void;
  /** Called for each record of which objects were left out with their statements. */
  readonly loss?: () => void;
  /**
   * Opens the file of a logical target. The engine writes to it; the caller, who opened it, ends it as it ends the sink of the run. Without
   * this, a mapping with logical targets is refused.
   */
  readonly openTarget?: (target: LogicalTarget) => Promise<Pick<QuadSink, 'write' | 'writeBytes' | 'text'>>;
  /**
   * Called with what a triples map makes of each row, without removing duplicates if `RunRequest.distinct` is off: the lines in pieces, which
   * it must consume, the input, and the position of the record in it, from 0. The lines do not reach the sink; those of joins and of gather
   * maps over several records do. Not with threads.
   */
  readonly row?: (map: MapInfo, lines: Iterable<string>, input: string | undefined, record: number | undefined) => void;
  /**
   * Until when the run may be prepared, and scans read: each has its share of the time that is left, and counts with what was read of it then.
   * Not with threads.
   */
  readonly limit?: ScanLimit;
  /** Gives the bytes of a document, by the position of its scan, in place of those at its address; undefined: reads these. Not with threads. */
  readonly document?: (scan: number) => DocumentBytes | undefined;
  /** Opens what a table of the mapping is read from, in place of its database. The run closes it. Not with threads. */
  readonly openSession?: (source: SqlSource) => Promise<SqlSession>;
  /** What is read of a scan, by its position, in place of what was opened for it. Not with threads. */
  readonly scan?: (position: number, opened: OpenedScan) => OpenedScan;
  /** Opens the messages of a topic, in place of the brokers, which no run reads. Not with threads. */
  readonly openTopic?: (scan: OpenedTopic) => Promise<OpenedScan>;
  /** Called with each subject that may have statements, as N-Quads text in one-byte form; some of them more than once. Not with threads. */
  readonly subject?: (token: string) => void;
  /** Not with threads. */
  readonly trace?: RowTrace;
}
