/** What a run is asked to do and what it says when it has done it. Plain data: it travels to a thread and back. */
import type { CsvDialect } from '../core/csv-dialect.ts';
import type { FaultData } from '../core/fault.ts';
import { NO_LIMITS, type RunLimits } from '../core/limits.ts';
import type { ErrorPolicy } from '../mapping/model/model.ts';
import type { ByteRange, InputFormat } from '../storage/storage.ts';

/** Binds a source of the mapping, by the name that the mapping gives it, to a real location. A source with several is read in their order. */
export interface InputBinding {
  /** `rml:source` text, file path, or IRI of the logical source or source; undefined: the one that `pathsMeant` finds. */
  readonly name: string | undefined;
  /** `file:`, `http(s):`, or a path. */
  readonly url: string;
}

/** See `Reading.xmlDefaultNamespace`. */
export const XML_DEFAULT_NAMESPACES = ['none', 'document'] as const;
export type XmlDefaultNamespace = (typeof XML_DEFAULT_NAMESPACES)[number];

/** How a person at the command line wants inputs read, whatever the mapping says. */
export interface InputOptions {
  /** Of inputs whose names do not tell, or tell it wrongly. */
  readonly format: InputFormat | undefined;
  /** Of all files of CSV. */
  readonly csv: Pick<CsvDialect, 'delimiter' | 'quoteChar'>;
  /** Of all files. */
  readonly encoding: string | undefined;
  /** An absolute path: what relative sources of mappings are relative to. undefined: as the mapping says. */
  readonly sourceRoot: string | undefined;
}

/** The input that is standard input, where there are `ReadingOptions`. */
export const STANDARD_INPUT = '-';

export type { ErrorPolicy };

/** The database of sources whose mapping names none. Never part of a job: it holds the password. */
export interface DatabaseAccess {
  /** Parameters may stand in it. */
  readonly jdbcUrl: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** Limits of the run's statements; see `SessionOptions`. */
export interface SqlLimits {
  readonly connectSeconds: number;
  /** 0: none. */
  readonly statementSeconds: number;
  /** 0: none. */
  readonly lockSeconds: number;
}

/**
 * A share of a run: some scans of its plan, one or more of them between two keys or two bytes. The shares of a run together make each
 * statement of the run. No statement is made by two of them, but for those that read the same file: their subjects are compared, where
 * statements are to be distinct (subjects.ts). Plain data: it travels to other workers.
 */
export interface RunSlice {
  /** 0-based. */
  readonly index: number;
  /** Digest of mapping and plan: who finds another one has read another mapping, and must not go on. */
  readonly digest: string;
  readonly scans: readonly SliceScan[];
  /** PostgreSQL: name of the state to read, by `DatabaseAddress.name`. */
  readonly snapshots: Readonly<Record<string, string>>;
}

export interface SliceScan {
  /** In `plan.scans`. */
  readonly position: number;
  /** undefined: the whole scan. */
  readonly range: KeyRange | ByteSlice | undefined;
}

/** `from` ≤ key < `to`; undefined: no bound. Texts of the key as the server writes them. */
export interface KeyRange {
  readonly kind: 'key';
  readonly column: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** The records that begin in the bytes [from, to) of a document. Both are where a record begins, or the end of the document. */
export interface ByteSlice extends ByteRange {
  readonly kind: 'bytes';
  /** So many bytes at the beginning of the document (a header) are read by every slice. */
  readonly head: number;
}

/** The file whose slices can make the same statement as this one, by its position in `plan.scans`; undefined: there is none. */
export function comparedScan({ distinct, slice }: Pick<RunRequest, 'distinct' | 'slice'>): number | undefined {
  return distinct ? slice?.scans.find(({ range }) => range?.kind === 'bytes')?.position : undefined;
}

export interface RunRequest {
  /** Unique for the run; blank node labels of different runs never meet because of it. */
  readonly runId: string;
  /** Mapping files, as URLs or paths; at least one. */
  readonly mappings: readonly string[];
  readonly inputs: readonly InputBinding[];
  /** Leave out triples maps whose sources are neither bound by `inputs` nor joined to one that is. */
  readonly boundOnly?: boolean | undefined;
  /** undefined: names or servers tell what inputs are, and there is no standard input. */
  readonly inputOptions?: InputOptions | undefined;
  /** What relative paths and rml:CurrentWorkingDirectory mean. */
  readonly workingDirectory: string;
  /** Base IRI for relative IRIs of mapping and data; undefined: `http://example.com/base/`. */
  readonly base: string | undefined;
  /** undefined: by dialect (today's RML and R2RML strict, legacy RML skip). */
  readonly onError: ErrorPolicy | undefined;
  /** With `skip` and `quarantine`: the run fails once more records than this were rejected. */
  readonly maxRejected: number;
  readonly distinct: boolean;
  readonly threads: number;
  /** Bytes that joins and de-duplication may hold in memory before they spill. */
  readonly memoryBudgetBytes: number;
  readonly maxRecordBytes: number;
  readonly xmlDefaultNamespace: XmlDefaultNamespace;
  readonly limits: RunLimits;
  readonly database: DatabaseAccess | undefined;
  readonly sql: SqlLimits;
  /** Rows of a database after which the output goes on in a further file (`QuadSink.cut`); undefined: one file. */
  readonly rowsPerPart: number | undefined;
  /** undefined: the whole run. */
  readonly slice: RunSlice | undefined;
  /** A directory for spill files; created when first needed, emptied at the end. */
  readonly spillDirectory: string;
}

/** Defaults for every field that has one. */
export const RUN_DEFAULTS = {
  base: undefined,
  onError: undefined,
  maxRejected: Number.POSITIVE_INFINITY,
  distinct: true,
  threads: 1,
  memoryBudgetBytes: 160 * 2 ** 20,
  maxRecordBytes: 64 * 2 ** 20,
  xmlDefaultNamespace: 'none',
  limits: NO_LIMITS,
  database: undefined,
  sql: { connectSeconds: 10, statementSeconds: 0, lockSeconds: 60 },
  rowsPerPart: undefined,
  slice: undefined,
} as const;

export const DEFAULT_BASE = 'http://example.com/base/';

/** A record that gave no valid term and was left out. */
export interface Rejection {
  readonly triplesMap: string;
  readonly fault: FaultData;
}

export interface TriplesMapReport {
  readonly id: string;
  readonly name: string;
  /** `document:line:column`. */
  readonly origin: string;
  readonly records: number;
  readonly quads: number;
  readonly rejected: number;
  /** Why it gave no statement, in words; undefined where it gave some. */
  readonly empty: string | undefined;
}

export interface RunReport {
  /** Of all iterators; records that several triples maps share count once. */
  readonly records: number;
  /** Statements written, after de-duplication where that is on. */
  readonly quads: number;
  readonly rejected: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Bytes that did not fit in memory. */
  readonly bytesSpilled?: number;
  readonly seconds: number;
  readonly triplesMaps: readonly TriplesMapReport[];
  readonly warnings: readonly string[];
  /** Of a slice of a document, by its position in `plan.scans`: warnings that hold for the run if they hold for all of its slices. */
  readonly unmatched?: { readonly scan: number; readonly faults: readonly FaultData[] } | undefined;
  /** Mapping documents that took part and their SHA-256, hexadecimal. */
  readonly mappings: readonly { readonly url: string; readonly sha256: string }[];
}

/** How far a run has come. */
export interface Progress {
  readonly records: number;
  readonly quads: number;
  readonly bytesRead: number;
}

/** What a run reports while it goes on; each may be left out. */
export interface RunHooks {
  readonly signal?: AbortSignal;
  /** At most about ten times a second. */
  readonly progress?: (progress: Progress) => void;
  /** Each rejected record under `skip` and `quarantine`. */
  readonly reject?: (rejection: Rejection) => void;
  /** Each subject of which there may be statements, as N-Quads writes it, in one-byte text; some of them more than once. Not with threads. */
  readonly subject?: (token: string) => void;
}
