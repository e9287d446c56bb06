/** Messages between a thread and the process that owns it. Plain data, structured-cloned; secrets are packed. */

import type { RunProgress, SliceResult } from '../../queues/jobs.ts';
import type { FaultData } from '../../src/core/fault.ts';
import type { Packed } from '../../src/core/secret.ts';
import type { PreparedRun } from '../../src/run/prepare/open.ts';
import type { RunHooks, RunReport, RunRequest, RunSlice } from '../../src/run/request.ts';
import type { SliceSizes } from '../../src/run/slices/slices.ts';
import type { QuadSink } from '../../src/sinks/sink.ts';
import type { RunResult, Task, WriteTask, WrittenResult } from '../task.ts';

/** The engine, as exported by `src/run/run.ts`. */
export interface Engine {
  executeRun(request: RunRequest, sink: QuadSink, hooks: RunHooks, prepared?: PreparedRun): Promise<RunReport>;
  /** Cuts a run over large tables or files into slices; undefined: not worth it, or not possible. */
  sliceRun?(
    request: RunRequest,
    sizes: SliceSizes,
    signal: AbortSignal,
    whole: (prepared: PreparedRun) => void,
  ): Promise<CutRun | undefined>;
}

export interface CutRun {
  readonly slices: readonly RunSlice[];
  /** Releases the state of the data that the slices read; call after the last slice has ended. */
  release(): Promise<void>;
}

/** A command to a thread. */
export type ThreadCommand = { readonly kind: 'run'; readonly task: Task } | { readonly kind: 'write'; readonly task: WriteTask };

export type ThreadResult = RunResult | SliceResult | WrittenResult;

/** `id`: of the task, among all of its thread. */
export type ToThread = { readonly id: number } & ToTask;
export type FromThread = { readonly id: number } & FromTask;

export type ToTask =
  | { readonly kind: 'task'; readonly command: Packed<ThreadCommand> }
  /** The answer to `mapped`, or with the results of all slices in their order to `cut`: the output may appear under its final name. */
  | { readonly kind: 'commit'; readonly slices: readonly SliceResult[] }
  | { readonly kind: 'abort'; readonly fault: FaultData };

/** Why the target of a write is being waited for. */
export interface TargetOutage {
  readonly reason: string;
  readonly lasting: boolean;
}

export type FromTask =
  | { readonly kind: 'progress'; readonly progress: RunProgress }
  /** The target is waited for; undefined: it is not any more. */
  | { readonly kind: 'waiting'; readonly outage: TargetOutage | undefined }
  /** What the thread holds: its heap, buffers beside it, and what the run's own threads hold. Of a thread with several runs the part of one. */
  | { readonly kind: 'memory'; readonly bytes: number }
  /** The run is cut; waits for `commit` or `abort`, and holds the state of the data until then. */
  | { readonly kind: 'cut'; readonly slices: readonly RunSlice[] }
  /** Everything is written under its temporary name; waits for `commit` or `abort`. */
  | { readonly kind: 'mapped' }
  /** A slice's result for a task with a slice, what was written for an order to write. */
  | { readonly kind: 'done'; readonly result: ThreadResult }
  | { readonly kind: 'failed'; readonly fault: FaultData }
  /** The run is not small: it needs a separate thread. Nothing is left of the attempt. */
  | { readonly kind: 'large' };

export interface ThreadData {
  /** URL of the engine's module. */
  readonly engine: string;
}

/** In the thread: context of a running task. */
export interface TaskContext {
  readonly signal: AbortSignal;
  /** Keeps the latest progress for the next report. */
  progress(now: RunProgress): void;
  /** As that of `RunHooks`. */
  memory(bytes: number): void;
  /** Resolves to the answer to `cut` or `mapped`; rejects with the reason of the signal. */
  ask(question: FromTask): Promise<readonly SliceResult[]>;
}
