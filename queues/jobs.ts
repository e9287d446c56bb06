/**
 * The kinds of jobs, their payloads and results: the glossary of the queue.
 *
 * - *run*: one request for work; its id is the announce job's id.
 * - *transform* (job): maps the inputs of a run to its parts; runs in a worker thread.
 * - *slice* (job): a share of a transform job over a large table or file; the transform job makes them, waits for them and publishes what they wrote.
 * - *write* (job): writes the inputs of a run to the target graph database; runs in a worker thread.
 * - *announce* (job): parent of transform or write; computes the outcome of the run, once.
 * - *outbox* (job): the messages of one outcome, until the message queue has them.
 * - *outcome*: what is said of an ended run; HTTP body, message and run view are this one object.
 * - *part*: one output file. *manifest*: the list of a run's parts, written last.
 * - *attempt*: one start of a job; each writes under a name of its own.
 */
import type { FaultData } from '../src/core/fault.ts';
import type { RejectedStatement } from '../src/nquads/statement.ts';
import type { PropertyGraphOptions } from '../src/property-graph/names.ts';
import type { InputBinding, Progress, RunReport, RunRequest, RunSlice } from '../src/run/request.ts';
import type { FinishedPart, GraphHeader, OutputFormat, PartFile } from '../src/sinks/sink.ts';
import type { WriteMode } from '../src/targets/target.ts';
import type { WritePosition, WriteReport, WriteRequest } from '../src/write/request.ts';

export const SERVICES = {
  'semi-structured-transformer': { name: 'Semi-Structured-Transformer' },
  'sql-transformer': { name: 'SQL-Transformer' },
  'graph-writer': { name: 'Graph-Writer' },
} as const;
export type Service = keyof typeof SERVICES;
export type Transformer = Exclude<Service, 'graph-writer'>;

/** What an HTTP request or a message asks of a transformer, checked and with its configuration snapshot. */
export interface TransformRequest {
  readonly service: Transformer;
  readonly inputs: readonly InputBinding[];
  /** URLs or paths of mapping files (a directory is already listed). */
  readonly mappings: readonly string[];
  readonly run: Pick<
    RunRequest,
    | 'boundOnly'
    | 'base'
    | 'onError'
    | 'maxRejected'
    | 'distinct'
    | 'memoryBudgetBytes'
    | 'maxRecordBytes'
    | 'xmlDefaultNamespace'
    | 'limits'
    | 'sql'
    | 'rowsPerPart'
  >;
  /**
   * SQL transformer: rows of a table from which on it is cut into slices; 0: never. The database and its password are no part of a
   * job: the worker that takes it reads them from the configuration.
   */
  readonly sliceRows: number;
  /** Bytes of a file from which on it is cut into slices; 0 or undefined: never. */
  readonly sliceBytes?: number;
  readonly output: {
    readonly directory: string;
    readonly format: OutputFormat;
    /** Undefined: no files of nodes and edges. */
    readonly propertyGraph?: GraphFilesRequest | undefined;
  };
}

/** Nodes and edges as CSV beside the statements. */
export interface GraphFilesRequest extends PropertyGraphOptions {
  readonly header: GraphHeader;
}

/** What an HTTP request or a message asks of the graph writer. The target and its login are no part of a job: the worker that takes it reads them from the configuration. */
export interface WriterRequest {
  readonly service: 'graph-writer';
  readonly inputs: readonly InputBinding[];
  readonly write: Pick<
    WriteRequest,
    'mode' | 'scope' | 'blankNodes' | 'skolemBase' | 'maxRejected' | 'patienceSeconds' | 'memoryBudgetBytes' | 'limits'
  >;
  /** Where the file of rejected statements goes. */
  readonly output: { readonly directory: string };
}

/** What a run is asked to do. */
export type ServiceRequest = TransformRequest | WriterRequest;

/** The message that started a run. */
export interface RunSource {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  /** Base64. Undefined: it had none, or was long. */
  readonly key?: string;
  readonly value?: string;
}

/** What every job of a run carries. */
interface RunMetadata {
  readonly runId: string;
  /** ISO 8601 with zone. */
  readonly submittedAt: string;
  /** Tells requests with the same idempotency key apart: SHA-256 of what was asked. */
  readonly digest?: string;
  /** Unique for each submission: whoever reads back its own ticket made the run. */
  readonly ticket?: string;
  /** Undefined: a request or the schedule started it. */
  readonly source?: RunSource;
  /** Set on a run that is to stop; its worker looks at it. */
  readonly cancelled?: boolean;
}

export interface TransformPayload extends TransformRequest, RunMetadata {}
export interface WritePayload extends WriterRequest, RunMetadata {}
export type RunPayload = TransformPayload | WritePayload;

/** Names of the queues; a run's jobs have the run's id in both. */
export const TRANSFORM_QUEUE = 'transform';
export const WRITE_QUEUE = 'write';
export const ANNOUNCE_QUEUE = 'announce';
/** Jobs `<run id>-<time of submission>-<attempt of the transform job>-<index>`. */
export const SLICE_QUEUE = 'slice';
/** One job for each tick of the schedule. */
export const SCHEDULE_QUEUE = 'schedule';
/** Jobs `<run id>-<kind of message>`. */
export const OUTBOX_QUEUE = 'outbox';

/** Every queue, and what its jobs are, in the order in which people look at them. */
export const QUEUES: Readonly<Record<string, string>> = {
  [ANNOUNCE_QUEUE]: 'Runs. A job waits here until its transform or write job has ended, and then says the outcome of the run.',
  [TRANSFORM_QUEUE]: 'The work of runs: each job maps the inputs of one run.',
  [WRITE_QUEUE]: 'The work of runs of the graph writer: each job writes the inputs of one run.',
  [SLICE_QUEUE]: 'Shares of runs over large inputs, for all workers.',
  [SCHEDULE_QUEUE]: 'Ticks of the schedule of the SQL transformer.',
  [OUTBOX_QUEUE]: 'Messages of ended runs, until the message queue has them.',
};
/** Those whose jobs are runs or shares of runs. */
export const RUN_QUEUES: ReadonlySet<string> = new Set([ANNOUNCE_QUEUE, TRANSFORM_QUEUE, WRITE_QUEUE, SLICE_QUEUE]);

/** Where the work of a service's runs waits. */
export const workQueueOf = (service: Service): string => (service === 'graph-writer' ? WRITE_QUEUE : TRANSFORM_QUEUE);

export interface SlicePayload extends TransformPayload {
  readonly slice: RunSlice;
  /** The start of the transform job that made it; once that has been started again, nobody wants it any more. */
  readonly attempt: number;
}

/** What a slice job hands to the transform job that waits for it. */
export interface SliceResult {
  readonly report: RunReport;
  /** In the output directory, in order. */
  readonly parts: readonly FinishedPart[];
  /** Temporary name of the file of rejected records, where there is one. */
  readonly rejections: string | undefined;
  /** Messages of the first rejected records. */
  readonly rejected: readonly string[];
  /** The subjects of its statements, where other slices could make the same ones. */
  readonly subjects?: SliceSubjects | undefined;
}

/** A file of hashes in the output directory (`SubjectFile`), under its temporary name. */
export interface SliceSubjects {
  /** Only slices with the same number have subjects in common; position in `plan.scans`. */
  readonly scan: number;
  readonly file: string;
}

export interface GraphFiles {
  readonly nodes: PartFile;
  readonly edges: PartFile;
}

/** What a transform job hands to announce. */
export interface TransformResult {
  readonly report: RunReport;
  readonly parts: readonly PartFile[];
  /** URL of the manifest. */
  readonly manifest: string;
  /** URL of the file of rejected records, where there is one. */
  readonly rejections: string | undefined;
  /** Nodes and edges as CSV, where they were asked for. */
  readonly propertyGraph?: GraphFiles | undefined;
  /** How many slices it was cut into; 1: none. */
  readonly slices: number;
  /** Milliseconds, from taken to done. */
  readonly milliseconds: number;
}

/** What a write job hands to announce. */
export interface WriteResult {
  readonly report: WriteReport;
  /** URL of the file of rejected statements, where there is one. */
  readonly rejections: string | undefined;
  /** The first of them. */
  readonly rejected: readonly RejectedStatement[];
  /** Milliseconds, from taken to done. */
  readonly milliseconds: number;
}

/** How far a run has come; for the graph writer also from where another attempt goes on. */
export interface RunProgress extends Progress {
  /** Why nothing goes on for the moment: the target of the graph writer cannot be reached, or has no time. */
  readonly waiting?: string | undefined;
  readonly position?: WritePosition | undefined;
}

/** What every 200 body of `/process` says. @see decisions §2 */
interface ReportBase {
  /** Milliseconds, from taken to done. */
  readonly processingTime: number;
  readonly runId: string;
  readonly records: number;
  readonly quads: number;
  readonly rejectedRecords: number;
  readonly warnings: readonly string[];
}

/** 200 body of a transformer. */
export interface SuccessReport extends ReportBase {
  /** Not of the SQL transformer, which has no input files. */
  readonly input?: readonly string[];
  readonly successfulIterations: number;
  readonly failedIterations: number;
  readonly outputFileLocations: readonly string[];
  /** Nodes, then edges; with PROPERTY_GRAPH_MODE. No part of `outputFileLocations`: who takes those takes statements. */
  readonly propertyGraphFileLocations?: readonly string[];
  readonly mappingFiles: readonly string[];
}

/** 200 body of the graph writer: its processing report. `records` are statements of the input. */
export interface WriterReport extends ReportBase {
  readonly input: readonly string[];
  /** For a person, without passwords. */
  readonly target: string;
  readonly mode: WriteMode;
  readonly quadsWritten: number;
  readonly batches: number;
  /** The first rejected statements; all of them are in the file `rejections`. */
  readonly rejectedStatements: readonly RejectedStatement[];
  /** URL. */
  readonly rejections?: string;
}

/** 400 body of `/process` and dead-letter message, to the letter of the specification. */
export interface FailureMessage {
  readonly name: string;
  /** Local date-time, ISO 8601 with milliseconds, no zone. */
  readonly time: string;
  readonly type: string;
  /** `Record '<input-file-url>' could not be processed due to: <reason>.`, without the URL where the SQL transformer says it. */
  readonly error: string;
  readonly version: string;
  /** URL of the failed input file; not of the SQL transformer. */
  readonly entity?: string;
  /** Not of the graph writer. */
  readonly provenance?: string;
  readonly runId: string;
  readonly code: string;
  readonly detail: FaultData;
}

export type Outcome =
  | { readonly state: 'completed'; readonly report: SuccessReport | WriterReport }
  | { readonly state: 'failed'; readonly failure: FailureMessage }
  | { readonly state: 'cancelled'; readonly failure: FailureMessage };

export type RunState = 'queued' | 'running' | 'retrying' | 'completed' | 'failed' | 'cancelled';

export interface RunView {
  readonly id: string;
  readonly service: Service;
  readonly state: RunState;
  readonly attempts: number;
  readonly submittedAt: string;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  readonly progress: Omit<RunProgress, 'position'> | undefined;
  readonly input: readonly string[];
  readonly outcome: Outcome | undefined;
}
