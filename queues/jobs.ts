/**
 * The kinds of jobs, their payloads and results: the glossary of the queue.
 *
 * - *run*: one request for work, and one job, transform or write, whose id is that of the run.
 * - *transform* (job): maps the inputs of a run to its parts, in a worker thread, and computes the outcome.
 * - *slice* (job): one slice of a transform job over a large table or file; the transform job creates the slices, waits for them and
 *   publishes their output.
 * - *write* (job): writes the inputs of a run to the target graph database, in a worker thread, and computes the outcome.
 * - *end* (of a run): what its last attempt came to, a result or a fault. It is stored before anything is done that must not be followed by
 *   another end: messages, the removal of files.
 * - *cancel* (job): asks a worker to end a run that waits.
 * - *outbox* (job): the messages of one outcome, until the message queue has accepted them.
 * - *outcome*: the result of an ended run; the HTTP body, the message and the run view are this one object.
 * - *part*: one output file. *manifest*: the list of a run's parts, written last.
 * - *attempt*: one start of a job; each writes under its own temporary names.
 */
import type { FaultData } from '../src/core/fault.ts';
import type { CallLimits } from '../src/custom-functions/files.ts';
import type { RejectedStatement } from '../src/nquads/statement.ts';
import type { PropertyGraphOptions } from '../src/property-graph/names.ts';
import type { InputBinding, JoinReport, LogicalTarget, Progress, RunReport, RunRequest, RunSlice } from '../src/run/request.ts';
import type { FinishedPart, GraphHeader, OutputFormat, PartFile, Serialization } from '../src/sinks/sink.ts';
import type { WriteMode } from '../src/targets/target.ts';
import type { WritePosition, WriteReport, WriteRequest } from '../src/write/request.ts';

export const SERVICES = {
  'semi-structured-transformer': { name: 'Semi-Structured-Transformer' },
  'sql-transformer': { name: 'SQL-Transformer' },
  'graph-writer': { name: 'Graph-Writer' },
} as const;
export type Service = keyof typeof SERVICES;
export type Transformer = Exclude<Service, 'graph-writer'>;
export const ALL_SERVICES = Object.keys(SERVICES) as readonly Service[];
/** The services of a process, by its option SERVICE. */
export const servicesOf = (option: Service | 'all'): readonly Service[] => (option === 'all' ? ALL_SERVICES : [option]);

/** The validated request of an HTTP call or a message to a transformer, with its configuration snapshot. */
export interface TransformRequest {
  readonly service: Transformer;
  readonly inputs: readonly InputBinding[];
  /** URLs or paths of mapping files (directories are already listed). */
  readonly mappings: readonly string[];
  readonly run: Pick<
    RunRequest,
    | 'boundOnly'
    | 'base'
    | 'onError'
    | 'datatypeCheck'
    | 'maxRejected'
    | 'distinct'
    | 'rdf'
    | 'memoryBudgetBytes'
    | 'maxRecordBytes'
    | 'xmlDefaultNamespace'
    | 'limits'
    | 'sql'
    | 'reach'
    | 'rowsPerPart'
  >;
  /**
   * SQL transformer: tables with at least this many rows are cut into slices; 0: never. Jobs contain neither the database nor its password:
   * the worker reads them from the configuration.
   */
  readonly sliceRows: number;
  /** Files of at least this many bytes are cut into slices; 0 or undefined: never. */
  readonly sliceBytes?: number;
  /** Whether the inputs are deleted when the run is published. */
  readonly deleteSource?: boolean;
  /** Custom functions that the run may call; undefined: none. Set when the run is submitted. */
  readonly functions?: FunctionsRequest | undefined;
  /** Undefined: no provenance is recorded. */
  readonly provenance?: ProvenanceRequest | undefined;
  /** Undefined: the statements go to files of the output. */
  readonly dataset?: DatasetRequest | undefined;
  readonly output: {
    readonly directory: string;
    readonly format: OutputFormat;
    /** Undefined: no node and edge files. */
    readonly propertyGraph?: GraphFilesRequest | undefined;
  };
}

/** The dataset that the run makes a version of. */
export interface DatasetRequest {
  readonly name: string;
  /** Path or URL of its directory. */
  readonly url: string;
  /** RETAIN_VERSIONS. Absent in the jobs of versions that do not know it. */
  readonly keptVersions?: number;
}

/** Jobs name the functions by their version: their files are in the shared settings of the queue. */
export interface FunctionsRequest {
  readonly version: string;
  readonly limits: CallLimits;
}

export interface ProvenanceRequest {
  /** URL or path. */
  readonly directory: string;
  /** Activities that are left out. */
  readonly without: readonly string[];
}

/** Node and edge files in CSV, written in addition to the statements. */
export interface GraphFilesRequest extends PropertyGraphOptions {
  readonly header: GraphHeader;
}

/**
 * The validated request of an HTTP call or a message to the graph writer. Jobs contain neither the target nor its login: the worker reads
 * them from the configuration.
 */
export interface WriterRequest {
  readonly service: 'graph-writer';
  readonly inputs: readonly InputBinding[];
  /** Whether the inputs are deleted when they are written. */
  readonly deleteSource?: boolean;
  /** The versions of it that the target lacks are written; its directory is the input. Undefined: the inputs are files. */
  readonly dataset?: WrittenDatasetRequest | undefined;
  readonly write: Pick<
    WriteRequest,
    'mode' | 'scope' | 'graphs' | 'blankNodes' | 'skolemBase' | 'maxRejected' | 'patienceSeconds' | 'memoryBudgetBytes' | 'limits' | 'reach'
  >;
  /** Where the file of rejected statements is written. */
  readonly output: { readonly directory: string };
}

export interface WrittenDatasetRequest extends Pick<DatasetRequest, 'name' | 'url'> {
  /** IRI of the graph of statements that the mapping puts in none. Absent: the default graph. */
  readonly graph?: string | undefined;
  /** SHARE_STATEMENTS. Absent: no. */
  readonly shared?: boolean;
  /** Makes the graphs of the target equal to the newest version, whatever is in them. Absent: no. */
  readonly resync?: boolean | undefined;
}

/**
 * The line in which a run waits, one run of a line at a time: those that make versions of a dataset have one, and those that write it to the target
 * another one. undefined: it waits for none.
 */
export function lineOf(run: ServiceRequest): string | undefined {
  // JSON has no undefined: the value is absent or null.
  if (run.dataset == null) return undefined;
  return run.service === 'graph-writer' ? `${run.dataset.url} to the target` : run.dataset.url;
}

/** A run request of any service. */
export type ServiceRequest = TransformRequest | WriterRequest;

/** The message that started a run. */
export interface RunSource {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  /** Base64. Undefined: absent, or too long to carry. */
  readonly key?: string;
  readonly value?: string;
}

/** Fields of every job of a run. */
interface RunMetadata {
  readonly runId: string;
  /** ISO 8601 with zone. */
  readonly submittedAt: string;
  /** SHA-256 of the request: distinguishes requests with the same idempotency key. */
  readonly digest?: string;
  /** Unique for each submission: the caller that reads back its own ticket created the run. */
  readonly ticket?: string;
  /** Undefined: the run was started by an HTTP request or the schedule. */
  readonly source?: RunSource;
  /** Set when the run is cancelled; its worker polls it. */
  readonly cancelled?: boolean;
  /** How often the run was put off because an earlier run of its dataset had not ended. */
  readonly waits?: number;
  /** Set when the run has an end that others may have seen: the worker that takes the job next goes on from there. */
  readonly ended?: StoredEnd;
}

/** What the last attempt of a run came to, as its job keeps it. */
export interface StoredEnd {
  /** Unix time in milliseconds. */
  readonly at: number;
  /** How often what follows an end has failed. */
  readonly failures: number;
  /** Undefined: the run did not complete. */
  readonly result?: TransformResult | WriteResult;
  readonly fault?: FaultData;
}

/** Of a cancel job. */
export interface CancelPayload {
  readonly runId: string;
}

export interface TransformPayload extends TransformRequest, RunMetadata {}
export interface WritePayload extends WriterRequest, RunMetadata {}
export type RunPayload = TransformPayload | WritePayload;

/** Names of the queues of a service. Each service has its own, so that a worker takes only the jobs of its services. */
export interface ServiceQueues {
  /** Transform or write jobs: the runs. */
  readonly work: string;
  /** Waiting runs to end; the id of a job is that of the run. */
  readonly cancel: string;
  /** Job ids: `<run id>-<time of submission>-<attempt of the transform job>-<index>`. The graph writer has none. */
  readonly slice: string | undefined;
  /** Job ids: `<run id>-<kind of message>`. */
  readonly outbox: string;
}

export const SERVICE_QUEUES: Readonly<Record<Service, ServiceQueues>> & { readonly [name in Transformer]: { readonly slice: string } } = {
  'semi-structured-transformer': {
    work: 'transform-semi-structured',
    cancel: 'cancel-semi-structured',
    slice: 'slice-semi-structured',
    outbox: 'outbox-semi-structured',
  },
  'sql-transformer': { work: 'transform-sql', cancel: 'cancel-sql', slice: 'slice-sql', outbox: 'outbox-sql' },
  'graph-writer': { work: 'write', cancel: 'cancel-write', slice: undefined, outbox: 'outbox-writer' },
};
/** One job for each tick of the schedule of the SQL transformer. */
export const SCHEDULE_QUEUE = 'schedule';
/** Of all processes that have a transformer. */
export const PREVIEW_QUEUE = 'preview';

/** A queue, as the dashboard shows it. */
export interface QueueDescription {
  readonly name: string;
  readonly description: string;
  /** Whether its jobs are runs or slices of runs. */
  readonly ofRuns: boolean;
}

/** The queues of the services, in the order of the dashboard. */
export function queuesOf(services: readonly Service[]): readonly QueueDescription[] {
  const previews = services.some((service) => service !== 'graph-writer') ? [PREVIEWS] : [];
  return [...services.flatMap(ownQueuesOf), ...previews];
}

const PREVIEWS: QueueDescription = {
  name: PREVIEW_QUEUE,
  description: 'Questions of the studio about inputs and mappings. A job is removed when it is answered.',
  ofRuns: false,
};

function ownQueuesOf(service: Service): readonly QueueDescription[] {
  const { work, cancel, slice, outbox } = SERVICE_QUEUES[service];
  const { name } = SERVICES[service];
  const verb = service === 'graph-writer' ? 'writes' : 'maps';
  const described = (queue: string, ofRuns: boolean, description: string): QueueDescription => ({ name: queue, ofRuns, description });
  return [
    described(work, true, `Runs of the ${name}: each job ${verb} the inputs of one run.`),
    described(cancel, false, `Waiting runs of the ${name} that were cancelled, until a worker has ended them.`),
    ...(slice === undefined ? [] : [described(slice, true, `Slices of runs of the ${name} over large inputs, for all of its workers.`)]),
    ...(service === 'sql-transformer' ? [described(SCHEDULE_QUEUE, false, `Ticks of the schedule of the ${name}.`)] : []),
    described(outbox, false, `Messages of ended runs of the ${name}, until the message queue has them.`),
  ];
}

export interface SlicePayload extends TransformPayload {
  readonly slice: RunSlice;
  /** The attempt of the transform job that created it. After a later attempt has started, the slice is obsolete. */
  readonly attempt: number;
}

/** The result of a slice job, read by its transform job. */
export interface SliceResult {
  readonly report: RunReport;
  /** In the output directory, in order. */
  readonly parts: readonly FinishedPart[];
  /** Its statements for logical targets, in the order of the plan. Absent: the mapping has none. */
  readonly targets?: readonly SliceTarget[];
  /** Temporary name of the file of rejected records; undefined: none was rejected. */
  readonly rejections: string | undefined;
  /** Messages of the first rejected records. */
  readonly rejected: readonly string[];
  /** When its attempt started and how long it took. Absent in results of earlier versions. */
  readonly time?: Pick<Execution, 'startedAt' | 'milliseconds'>;
  /** The subjects of its statements; only if other slices could produce the same statements. */
  readonly subjects?: SliceSubjects | undefined;
}

/** What a slice has for a logical target: N-Quads, in the output directory. */
export interface SliceTarget {
  readonly target: LogicalTarget;
  /** Final name of the target's file, without path. */
  readonly name: string;
  readonly parts: readonly FinishedPart[];
}

/** A file of hashes in the output directory (`SubjectFile`), under its temporary name. */
export interface SliceSubjects {
  /** See `RunSlice.group`. */
  readonly group: number;
  readonly file: string;
}

/** One slice, as provenance shows it. */
export interface Execution {
  /** Unix time in milliseconds. */
  readonly startedAt: number;
  readonly milliseconds: number;
  readonly records: number;
  readonly quads: number;
  readonly rejected: number;
}

export interface GraphFiles {
  readonly nodes: PartFile;
  readonly edges: PartFile;
}

/** The file of a logical target. */
export interface TargetFile extends PartFile {
  /** IRI of the logical target, or `_:label`. */
  readonly target: string;
  /** The place that the mapping names. */
  readonly path: string;
  readonly format: Serialization;
  readonly quads: number;
}

/** What a run has changed in a dataset. Nothing: both versions are the newest one. */
export interface DatasetChange {
  readonly dataset: string;
  readonly version: number;
  readonly previousVersion: number;
  /** Statements of the output of the run, without those of logical targets. */
  readonly added: number;
  readonly removed: number;
  /** The file of removed statements, if there are any. */
  readonly removedFileLocations: readonly string[];
}

/** What a transform job has done. */
export interface TransformResult {
  /** With a dataset, `quads` is the size of its graph. */
  readonly report: RunReport;
  /** With a dataset, the files of added statements, and so are `targets`. */
  readonly parts: readonly PartFile[];
  /** Files of logical targets, if the mapping has some. */
  readonly targets?: readonly TargetFile[] | undefined;
  readonly dataset?: DatasetChange | undefined;
  /** URL of the manifest; with a dataset, of that of its newest version. */
  readonly manifest: string;
  /** URL of the file of rejected records; undefined: none was rejected. */
  readonly rejections: string | undefined;
  /** Node and edge files in CSV, if requested. */
  readonly propertyGraph?: GraphFiles | undefined;
  /** Number of slices; 1: the run was not sliced. */
  readonly slices: number;
  /** What each slice has done. Absent: the run was not sliced. */
  readonly executions?: readonly Execution[] | undefined;
  /** Milliseconds from start to end of the attempt. */
  readonly milliseconds: number;
  /** Unix time in milliseconds at which the attempt started. Absent in results of earlier versions. */
  readonly startedAt?: number;
}

/** The versions of a dataset that the target had and has. */
export type WrittenVersions = Pick<DatasetChange, 'dataset' | 'version' | 'previousVersion'>;

/** What a write job has done. */
export interface WriteResult {
  readonly report: WriteReport;
  /** Absent: it wrote files. */
  readonly dataset?: WrittenVersions | undefined;
  /** URL of the file of rejected statements; undefined: none was rejected. */
  readonly rejections: string | undefined;
  /** The first rejected statements. */
  readonly rejected: readonly RejectedStatement[];
  /** Milliseconds from start to end of the attempt. */
  readonly milliseconds: number;
  /** Unix time in milliseconds at which the attempt started. Absent in results of earlier versions. */
  readonly startedAt?: number;
}

/** Progress of a run; for the graph writer also the position from which the next attempt resumes. */
export interface RunProgress extends Progress {
  /** Why the run is waiting: the target of the graph writer is unreachable or overloaded. */
  readonly waiting?: string | undefined;
  readonly position?: WritePosition | undefined;
}

/** Fields of every 200 body of `/process`. @see decisions §2 */
interface ReportBase {
  /** Milliseconds from start to end of the attempt. */
  readonly processingTime: number;
  readonly runId: string;
  readonly records: number;
  readonly quads: number;
  readonly rejectedRecords: number;
  readonly warnings: readonly string[];
}

/** 200 body of a transformer. */
export interface SuccessReport extends ReportBase, Partial<DatasetChange> {
  /** Absent for the SQL transformer, which has no input files. */
  readonly input?: readonly string[];
  readonly successfulIterations: number;
  readonly failedIterations: number;
  readonly outputFileLocations: readonly string[];
  /** Files of logical targets, if the mapping has some. Not part of `outputFileLocations`, whose files have the format of the run. */
  readonly targetFileLocations?: readonly string[];
  /** Node file, then edge file; only with PROPERTY_GRAPH_MODE. Not part of `outputFileLocations`, whose readers expect statements. */
  readonly propertyGraphFileLocations?: readonly string[];
  readonly mappingFiles: readonly string[];
  /** Joins in which some row found no partner; absent: there are none. */
  readonly joins?: readonly Omit<JoinReport, 'id' | 'found'>[];
  /** URL of the provenance; absent: none was recorded. */
  readonly provenance?: string;
}

/** 200 body of the graph writer: its processing report. `records` counts statements of the input. */
export interface WriterReport extends ReportBase, Partial<WrittenVersions> {
  readonly input: readonly string[];
  /** Human-readable, without passwords. */
  readonly target: string;
  readonly mode: WriteMode;
  readonly quadsWritten: number;
  readonly batches: number;
  /** The first rejected statements; the file `rejections` has all of them. */
  readonly rejectedStatements: readonly RejectedStatement[];
  /** URL. */
  readonly rejections?: string;
}

/** 400 body of `/process` and dead-letter message, exactly as the specification words it. */
export interface FailureMessage {
  readonly name: string;
  /** Local date-time, ISO 8601 with milliseconds, without zone. */
  readonly time: string;
  readonly type: string;
  /** `Record '<input-file-url>' could not be processed due to: <reason>.`; the SQL transformer's text has no URL. */
  readonly error: string;
  readonly version: string;
  /** URL of the failed input file; absent for the SQL transformer. */
  readonly entity?: string;
  /** Absent for the graph writer. */
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
  /** Absent: the run makes no version of a dataset. */
  readonly dataset?: string;
  readonly submittedAt: string;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  readonly progress: Omit<RunProgress, 'position'> | undefined;
  readonly input: readonly string[];
  readonly outcome: Outcome | undefined;
}
