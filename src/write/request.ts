/** What a write is asked to do and what it says when it has done it. Plain data: it travels to a thread and back. */
import type { Fault } from '../core/fault.ts';
import type { RunLimits } from '../core/limits.ts';
import type { RejectedStatement } from '../nquads/statement.ts';
import type { TargetAddress, UpdateScope, WriteMode } from '../targets/target.ts';

export interface WriteRequest {
  /** Unique for the run. */
  readonly runId: string;
  /** Files of N-Quads (`.nq`, `.nq.gz`), as URLs or paths. */
  readonly inputs: readonly string[];
  readonly workingDirectory: string;
  readonly target: TargetAddress;
  readonly mode: WriteMode;
  readonly scope: UpdateScope;
  /** `keep`: as blank nodes, where the target takes whole files; otherwise they become IRIs (RDF 1.1 §3.5). */
  readonly blankNodes: 'skolem' | 'keep';
  /** What those IRIs begin with. */
  readonly skolemBase: string;
  /** The write fails once more statements than this were rejected. */
  readonly maxRejected: number;
  /** How long a store that cannot take statements just now is waited for. */
  readonly patienceSeconds: number;
  readonly memoryBudgetBytes: number;
  readonly limits: RunLimits;
  /** Created when first needed, emptied at the end. */
  readonly spillDirectory: string;
  /** Where an earlier attempt had come to; undefined: at the beginning. */
  readonly resume: WritePosition | undefined;
}

/** Up to here everything is in the store. */
export interface WritePosition {
  /** Position in `WriteRequest.inputs`; with `update`, the inputs together are input 0. */
  readonly input: number;
  /** `insert`: byte behind the last line, of the unpacked input. `update`: partitions done. */
  readonly done: number;
  /** `insert`: lines until there. */
  readonly line: number;
  /** Another one when the content has changed, so that the position means nothing. */
  readonly version: string;
  /** What the earlier attempts had counted until here. */
  readonly quadsWritten: number;
  readonly rejected: number;
  readonly batches: number;
}

export interface WriteProgress {
  readonly statements: number;
  readonly quadsWritten: number;
  readonly bytesRead: number;
  readonly position: WritePosition | undefined;
}

/** The target takes nothing just now. */
export interface TransientFailure {
  readonly reason: Fault;
  /** Longer than a moment, which a busy store may need now and then: worth telling somebody. */
  readonly lasting: boolean;
}

export interface WriteHooks {
  readonly signal: AbortSignal;
  /** At most about ten times a second, and once at the end. */
  readonly progress?: (progress: WriteProgress) => void;
  readonly reject?: (rejected: RejectedStatement) => void;
  /** Told before each wait for the target; undefined once it takes statements again. */
  readonly waiting?: (trouble: TransientFailure | undefined) => void;
}

export interface WriteReport {
  /** For a person, without passwords. */
  readonly target: string;
  /** Statements of the inputs. */
  readonly statements: number;
  /** Statements that the store has taken; with `resume`, those of the earlier attempts too. */
  readonly quadsWritten: number;
  readonly rejected: number;
  readonly batches: number;
  readonly bytesRead: number;
  readonly bytesSpilled: number;
  /** How often a batch was sent again because the store had no time. */
  readonly retries: number;
  readonly seconds: number;
  readonly warnings: readonly string[];
}
