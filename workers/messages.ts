/** What a thread and the process that owns it say to each other. Plain data, structured-cloned. */

import type { TransformResult } from '../queues/jobs.ts';
import type { FaultData } from '../src/fault.ts';
import type { Progress, RunHooks, RunReport, RunRequest } from '../src/run/request.ts';
import type { OutputFormat, QuadSink } from '../src/sinks/sink.ts';

/** The engine, as `src/run/run.ts` exports it. */
export interface Engine {
  executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks): Promise<RunReport>;
}

/** One attempt of a run. */
export interface Task {
  readonly request: RunRequest;
  readonly output: {
    /** Absolute path. */
    readonly directory: string;
    /** File name without extension, `Semi-Structured-Transformer-r1f2…`. */
    readonly name: string;
    readonly format: OutputFormat;
    /** Unlike that of any other attempt of the run. */
    readonly attempt: string;
    /** Name of the service, for the manifest. */
    readonly service: string;
  };
}

export type ToThread =
  | { readonly kind: 'run'; readonly task: Task }
  /** The answer to `mapped`: the output may appear under its final name. */
  | { readonly kind: 'commit' }
  | { readonly kind: 'abort'; readonly fault: FaultData };

export type FromThread =
  | { readonly kind: 'progress'; readonly progress: Progress }
  /** Everything is written under its temporary name; waits for `commit` or `abort`. */
  | { readonly kind: 'mapped' }
  | { readonly kind: 'done'; readonly result: Omit<TransformResult, 'milliseconds'> }
  | { readonly kind: 'failed'; readonly fault: FaultData };

export interface ThreadData {
  /** URL of the module that is the engine. */
  readonly engine: string;
}
