/** One attempt at a run, a slice or a write: what a job hands to a thread, and what the thread gives back. Plain data and secrets. */
import type { GraphFilesRequest, TransformResult, WriteResult, WrittenDatasetRequest } from '../queues/jobs.ts';
import type { RunRequest } from '../src/run/request.ts';
import type { SliceSizes } from '../src/run/slices/slices.ts';
import type { OutputFormat } from '../src/sinks/sink.ts';
import type { S3Access } from '../src/storage/s3-access.ts';
import type { S3Location } from '../src/storage/url.ts';
import type { WriteRequest } from '../src/write/request.ts';

/** A directory of objects. */
export interface ObjectDirectory {
  /** The key is empty or ends with `/`. */
  readonly at: S3Location;
  readonly access: S3Access;
}

/** Where the output of a run appears. */
export interface OutputPlace {
  /** Absolute path. With `objects`, the place of temporary files only. */
  readonly directory: string;
  readonly objects?: ObjectDirectory | undefined;
}

/** The dataset that a run makes a version of. */
export interface DatasetTask {
  readonly name: string;
  /** Path or URL of its directory. */
  readonly url: string;
  /** How many versions stay after the run; 0 or absent: all. */
  readonly keptVersions?: number;
  /** Absolute path: in the dataset, if that is a directory of this machine. Locked while the task is carried out. */
  readonly stateDirectory: string;
}

/** One attempt of a run or of a slice. */
export interface Task {
  /** Undefined: the statements go to `output`. */
  readonly dataset?: DatasetTask | undefined;
  /** Its thread has other small runs to serve meanwhile. It gives the run back if that is not small. */
  readonly shared?: boolean;
  /** With `slice`: files keep their temporary names; the job that waits for the slices publishes them. */
  readonly request: RunRequest;
  readonly slices: SliceSizes;
  readonly output: OutputPlace & {
    /** File name without extension, `Semi-Structured-Transformer-r1f2…`. */
    readonly name: string;
    readonly format: OutputFormat;
    /** Unique among the attempts of the run: `2`; for a slice `2-5-1`: attempt of the run, index, attempt of the slice. */
    readonly attempt: string;
    /** Name of the service, for the manifest. */
    readonly service: string;
    /** Undefined: statements only. */
    readonly propertyGraph?: GraphFilesRequest | undefined;
  };
}

/** One attempt to write the inputs of a run to the target. */
export interface WriteTask {
  /** In place of the inputs of the request. Undefined: these are written. */
  readonly dataset?: WrittenDatasetRequest | undefined;
  readonly request: WriteRequest;
  /** Names the file of rejected statements. */
  readonly output: Pick<Task['output'], 'directory' | 'objects' | 'name' | 'attempt'>;
}

export type RunResult = Omit<TransformResult, 'milliseconds'>;

export type WrittenResult = Omit<WriteResult, 'milliseconds'>;
