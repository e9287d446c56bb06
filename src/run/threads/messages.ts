/** Messages between the thread that writes a run's output and the threads that map. */
import type { FaultData } from '../../core/fault.ts';
import type { Packed } from '../../core/secret.ts';
import type { StatementPattern } from '../../sinks/formats/format.ts';
import type { TextForm } from '../../sinks/sink.ts';
import type { FoundKey } from '../execute/key-finder.ts';
import type { ScansResult } from '../execute/scans.ts';
import type { PreparedData } from '../prepare/open.ts';
import type { Progress, Rejection, RunRequest, SliceScan } from '../request.ts';

export interface ThreadData {
  readonly run: Packed<{ readonly request: RunRequest; readonly prepared: PreparedData }>;
  /** Database snapshots that all threads read. */
  readonly snapshots: Readonly<Record<string, string>>;
  /** Of `SharedBudget`. */
  readonly budget: SharedArrayBuffer;
}

/** What the threads share that execute the scans of a group. */
export interface SharedGroup {
  /** Of the plan. */
  readonly index: number;
  readonly seed: number;
  /** Of `SharedMemory`. */
  readonly memory: SharedArrayBuffer;
  /** The documents that fill the join indexes of the group, for `build`. */
  readonly builds: readonly SliceScan[];
}

/** What is written of the values of a rule. */
export interface UndecidedRule {
  /** Of `RulePlan`. */
  readonly number: number;
  readonly output: number;
  readonly pattern: StatementPattern;
}

/** One-byte texts: lines, and subjects with values of the rules that are there or were sent before. */
export interface UndecidedStatements {
  readonly lines: string;
  readonly subjects: string;
  readonly rules: readonly UndecidedRule[];
}

/** Scans that one thread executes at a time. */
export interface Unit {
  /** 0-based, among all units of the run. */
  readonly index: number;
  readonly scans: readonly SliceScan[];
  /** undefined: whole groups, which no other thread works on. */
  readonly group: SharedGroup | undefined;
}

/** What filling the join indexes of a group has given. */
export interface BuiltSides {
  /** They do not fit in memory, and nothing was kept. */
  readonly spilled: boolean;
  /** What was read for it, in the same order in all threads. */
  readonly sides: ScansResult;
}

export type ToMapper =
  /** What the units behind this write: `StatementSink.forms`. */
  | { readonly kind: 'forms'; readonly forms: readonly (TextForm | undefined)[] }
  /** What `findKeys` has found: units behind this have the plan that is lowered with these keys. */
  | { readonly kind: 'keys'; readonly keys: readonly FoundKey[] }
  /** Fill the join indexes of a group. */
  | { readonly kind: 'build'; readonly group: SharedGroup }
  | { readonly kind: 'unit'; readonly unit: Unit }
  /** All units of a group have been executed. */
  | { readonly kind: 'drop'; readonly group: number }
  /** The text has been written, and the buffer is free; undefined: what was undecided has been stored. */
  | { readonly kind: 'written'; readonly buffer: ArrayBuffer | undefined };

export type ToThread = ToMapper | { readonly kind: 'end' };

export type FromMapper =
  | ({ readonly kind: 'built' } & BuiltSides)
  /** One-byte text of an output: pieces that stand for themselves. */
  | { readonly kind: 'text'; readonly bytes: Uint8Array; readonly output: number }
  /** What no table of the group could decide. */
  | { readonly kind: 'undecided'; readonly group: number; readonly statements: UndecidedStatements }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'rejection'; readonly rejection: Rejection }
  /** Of a record objects were left out. */
  | { readonly kind: 'loss' }
  /** `index`: of the unit. */
  | { readonly kind: 'done'; readonly index: number; readonly result: ScansResult };

export type FromThread =
  | FromMapper
  | { readonly kind: 'ready' }
  /** What the thread holds: its heap, and buffers beside it that no other thread has. */
  | { readonly kind: 'memory'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly fault: FaultData };
