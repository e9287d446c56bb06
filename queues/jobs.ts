/**
 * The kinds of jobs, their payloads and results: the glossary of the queue.
 *
 * - *run*: one request for work; its id is the announce job's id.
 * - *transform* (job): maps the inputs of a run to its parts; runs in a worker thread.
 * - *slice* (job): a share of a transform job over a large table or file; the transform job makes them, waits for them and publishes what they wrote.
 * - *announce* (job): parent of transform; computes the outcome of the run, once.
 * - *outbox* (job): the messages of one outcome, until the message queue has them.
 * - *outcome*: what is said of an ended run; HTTP body, message and run view are this one object.
 * - *part*: one output file. *manifest*: the list of a run's parts, written last.
 * - *attempt*: one start of a job; each writes under a name of its own.
 */
import type { FaultData } from '../src/fault.ts';
import type { InputBinding, Progress, RunReport, RunRequest, RunSlice } from '../src/run/request.ts';
import type { FinishedPart, OutputFormat, PartFile } from '../src/sinks/sink.ts';

export const SERVICES = {
  'semi-structured-transformer': { name: 'Semi-Structured-Transformer' },
  'sql-transformer': { name: 'SQL-Transformer' },
  'graph-writer': { name: 'Graph-Writer' },
} as const;
export type Service = keyof typeof SERVICES;

/** What an HTTP request (later a message) asks for, checked and with its configuration snapshot. */
export interface TransformRequest {
  readonly service: Service;
  readonly inputs: readonly InputBinding[];
  /** URLs or paths of mapping files (a directory is already listed). */
  readonly mappings: readonly string[];
  readonly run: Pick<
    RunRequest,
    'base' | 'onError' | 'maxRejected' | 'distinct' | 'memoryBudgetBytes' | 'maxRecordBytes' | 'limits' | 'sql' | 'rowsPerPart'
  >;
  /**
   * SQL transformer: rows of a table from which on it is cut into slices; 0: never. The database and its password are no part of a
   * job: the worker that takes it reads them from the configuration.
   */
  readonly sliceRows: number;
  /** Bytes of a file from which on it is cut into slices; 0 or undefined: never. */
  readonly sliceBytes?: number;
  readonly output: { readonly directory: string; readonly format: OutputFormat };
}

/** The message that started a run. */
export interface RunSource {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  /** Base64. Undefined: it had none, or was long. */
  readonly key?: string;
  readonly value?: string;
}

export interface TransformPayload extends TransformRequest {
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

/** Names of the queues; a run's jobs have the run's id in both. */
export const TRANSFORM_QUEUE = 'transform';
export const ANNOUNCE_QUEUE = 'announce';
/** Jobs `<run id>-<time of submission>-<attempt of the transform job>-<index>`. */
export const SLICE_QUEUE = 'slice';
/** One job for each tick of the schedule. */
export const SCHEDULE_QUEUE = 'schedule';
/** Jobs `<run id>-<kind of message>`. */
export const OUTBOX_QUEUE = 'outbox';

/** Every queue, and what its jobs are, in the order in which people look at them. */
export const QUEUES: Readonly<Record<string, string>> = {
  [ANNOUNCE_QUEUE]: 'Runs. A job waits here until its transform job has ended, and then says the outcome of the run.',
  [TRANSFORM_QUEUE]: 'The work of runs: each job maps the inputs of one run.',
  [SLICE_QUEUE]: 'Shares of runs over large inputs, for all workers.',
  [SCHEDULE_QUEUE]: 'Ticks of the schedule of the SQL transformer.',
  [OUTBOX_QUEUE]: 'Messages of ended runs, until the message queue has them.',
};
/** Those whose jobs are runs or shares of runs. */
export const RUN_QUEUES: ReadonlySet<string> = new Set([ANNOUNCE_QUEUE, TRANSFORM_QUEUE, SLICE_QUEUE]);

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

/** What a transform job hands to announce. */
export interface TransformResult {
  readonly report: RunReport;
  readonly parts: readonly PartFile[];
  /** URL of the manifest. */
  readonly manifest: string;
  /** URL of the file of rejected records, where there is one. */
  readonly rejections: string | undefined;
  /** How many slices it was cut into; 1: none. */
  readonly slices: number;
  /** Milliseconds, from taken to done. */
  readonly milliseconds: number;
}

/** 200 body of `/process`. @see decisions §2 */
export interface SuccessReport {
  /** Not of the SQL transformer, which has no input files. */
  readonly input?: readonly string[];
  readonly successfulIterations: number;
  readonly failedIterations: number;
  readonly outputFileLocations: readonly string[];
  readonly mappingFiles: readonly string[];
  /** Milliseconds, from taken to done. */
  readonly processingTime: number;
  readonly runId: string;
  readonly records: number;
  readonly quads: number;
  readonly rejectedRecords: number;
  readonly warnings: readonly string[];
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
  readonly provenance: string;
  readonly runId: string;
  readonly code: string;
  readonly detail: FaultData;
}

export type Outcome =
  | { readonly state: 'completed'; readonly report: SuccessReport }
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
  readonly progress: Progress | undefined;
  readonly input: readonly string[];
  readonly outcome: Outcome | undefined;
}
