/** What a thread and the process that owns it say to each other. Plain data, structured-cloned. */

import type { GraphFilesRequest, RunProgress, SliceResult, TransformResult, WriteResult } from '../../queues/jobs.ts';
import type { FaultData } from '../../src/core/fault.ts';
import type { RunHooks, RunReport, RunRequest, RunSlice } from '../../src/run/request.ts';
import type { SliceSizes } from '../../src/run/slices/slices.ts';
import type { OutputFormat, QuadSink } from '../../src/sinks/sink.ts';
import type { WriteRequest } from '../../src/write/request.ts';

/** The engine, as `src/run/run.ts` exports it. */
export interface Engine {
  executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport>;
  /** Shares of a run over large tables or files; undefined: it is not worth it, or cannot be cut. */
  cutRun?(request: RunRequest, sizes: SliceSizes, signal: AbortSignal): Promise<CutRun | undefined>;
}

export interface CutRun {
  readonly slices: readonly RunSlice[];
  /** Lets go of the state of the data that the slices read: after the last one has ended. */
  release(): Promise<void>;
}

/** One attempt of a run, or of a slice of it. */
export interface Task {
  /** With `slice`: what is written stays under temporary names, and whoever waits for the slices publishes it. */
  readonly request: RunRequest;
  readonly slices: SliceSizes;
  readonly output: {
    /** Absolute path. */
    readonly directory: string;
    /** File name without extension, `Semi-Structured-Transformer-r1f2…`. */
    readonly name: string;
    readonly format: OutputFormat;
    /** Unlike that of any other attempt of the run: `2`; of a slice `2-5-1`: the run's attempt, index, the slice's own start. */
    readonly attempt: string;
    /** Name of the service, for the manifest. */
    readonly service: string;
    /** Undefined: statements only. */
    readonly propertyGraph?: GraphFilesRequest | undefined;
  };
}

/** One attempt to write the inputs of a run to the target. */
export interface WriteTask {
  readonly request: WriteRequest;
  /** Of the file of rejected statements. */
  readonly output: Pick<Task['output'], 'directory' | 'name' | 'attempt'>;
}

/** What a thread is given to do. */
export type ThreadCommand = { readonly kind: 'run'; readonly task: Task } | { readonly kind: 'write'; readonly task: WriteTask };

export type RunResult = Omit<TransformResult, 'milliseconds'>;
export type WrittenResult = Omit<WriteResult, 'milliseconds'>;
export type ThreadResult = RunResult | SliceResult | WrittenResult;

export type ToThread =
  | ThreadCommand
  /** The answer to `mapped`, or with the results of all slices in their order to `cut`: the output may appear under its final name. */
  | { readonly kind: 'commit'; readonly slices: readonly SliceResult[] }
  | { readonly kind: 'abort'; readonly fault: FaultData };

/** Why the target of a write is waited for. @see Trouble */
export interface TargetOutage {
  readonly reason: string;
  readonly lasting: boolean;
}

export type FromThread =
  | { readonly kind: 'progress'; readonly progress: RunProgress }
  /** The target is waited for; undefined: it is not any more. */
  | { readonly kind: 'waiting'; readonly trouble: TargetOutage | undefined }
  /** What the thread holds: its heap, and buffers beside it. */
  | { readonly kind: 'memory'; readonly bytes: number }
  /** The run is cut; waits for `commit` or `abort`, and holds the state of the data until then. */
  | { readonly kind: 'cut'; readonly slices: readonly RunSlice[] }
  /** Everything is written under its temporary name; waits for `commit` or `abort`. */
  | { readonly kind: 'mapped' }
  /** A slice's result for a task with a slice, what was written for an order to write. */
  | { readonly kind: 'done'; readonly result: ThreadResult }
  | { readonly kind: 'failed'; readonly fault: FaultData };

export interface ThreadData {
  /** URL of the module that is the engine. */
  readonly engine: string;
}

/** In the thread: what a task needs while it goes on. */
export interface TaskContext {
  readonly signal: AbortSignal;
  /** Resolves with the answer to `cut` or `mapped`, rejects with the reason of the signal. */
  ask(question: FromThread): Promise<readonly SliceResult[]>;
}
