/** Request and report of a write. Plain data: it is sent to a thread and back. */

import { Fault } from '../core/fault.ts';
import type { RdfSyntax } from '../core/input/rdf-syntaxes.ts';
import type { RunLimits } from '../core/limits.ts';
import type { Reach } from '../core/reach/reach.ts';
import { toBytes } from '../core/text.ts';
import { iriProblem } from '../nquads/check.ts';
import type { RejectedStatement } from '../nquads/statement.ts';
import type { S3Access } from '../storage/s3-access.ts';
import type { TargetAddress, UpdateScope, WriteMode } from '../targets/target.ts';

/** What is read without holding a whole document. N-Triples is N-Quads without graphs. */
export const WRITE_SYNTAXES = ['nquads', 'ntriples', 'turtle', 'trig'] as const satisfies readonly RdfSyntax[];
export type WriteSyntax = (typeof WRITE_SYNTAXES)[number];

export interface WriteRequest {
  /** Unique for the run. */
  readonly runId: string;
  /** Files of statements, as URLs or paths, also compressed (`.nq.gz`); directories of parts, see `listParts`. */
  readonly inputs: readonly string[];
  /** The syntaxes that their names and media types may imply; default N-Quads alone, all that the specification lets the service take. */
  readonly syntaxes?: readonly WriteSyntax[];
  /** The syntax of all of them, whatever their names say. */
  readonly syntax?: WriteSyntax | undefined;
  /** The syntax of standard input, which the input `-` is; undefined: `-` is a file. */
  readonly standardInput?: WriteSyntax;
  readonly workingDirectory: string;
  readonly target: TargetAddress;
  readonly mode: WriteMode;
  readonly scope: UpdateScope;
  /**
   * With the scope `graph`: IRIs of graphs for which the inputs stand, whether they have a statement of them or not; `default` is the default
   * graph. Those in the inputs are replaced anyway.
   */
  readonly graphs?: readonly string[] | undefined;
  /** `keep`: as blank nodes, if the target accepts whole files; otherwise they become IRIs (RDF 1.1 §3.5). */
  readonly blankNodes: 'skolem' | 'keep';
  /** The prefix of those IRIs. */
  readonly skolemBase: string;
  /** The write fails when more statements than this are rejected. */
  readonly maxRejected: number;
  /** How long a store that is temporarily unable to write is waited for. */
  readonly patienceSeconds: number;
  readonly memoryBudgetBytes: number;
  readonly limits: RunLimits;
  /** How inputs in object storage are read; see `OpenOptions`. Never part of a job: it contains keys. */
  readonly s3?: S3Access | undefined;
  /** Created when first needed, emptied at the end. */
  readonly spillDirectory: string;
  /** What the inputs may name; see `OpenOptions`. */
  readonly reach: Reach | undefined;
  /** The position that an earlier attempt reached; undefined: start at the beginning. */
  readonly resume: WritePosition | undefined;
}

/** A checkpoint: everything before it is in the store. */
export interface WritePosition {
  /** Index among the files of `WriteRequest.inputs`; with `update`, the inputs together are input 0. */
  readonly input: number;
  /** `insert`: byte offset after the last line, in the decompressed input. `update`: number of completed partitions. */
  readonly done: number;
  /** `insert`: number of lines before the position. */
  readonly line: number;
  /** Changes when the content changes, which invalidates the position. */
  readonly version: string;
  /** Counts of the earlier attempts up to here. */
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

/** The target is temporarily unable to write. */
export interface TransientFailure {
  readonly reason: Fault;
  /** Longer than the short pause that any busy store may need: worth reporting. */
  readonly lasting: boolean;
}

export interface WriteHooks {
  readonly signal: AbortSignal;
  /** At most about ten times a second, and once at the end. */
  readonly progress?: (progress: WriteProgress) => void;
  readonly reject?: (rejected: RejectedStatement) => void;
  /** Called before each wait for the target, and with undefined when it accepts statements again. */
  readonly waiting?: (failure: TransientFailure | undefined) => void;
}

export interface WriteReport {
  /** For a person, without passwords. */
  readonly target: string;
  /** Statements of the inputs. */
  readonly statements: number;
  /** Statements that the store has accepted; with `resume`, including those of earlier attempts. */
  readonly quadsWritten: number;
  readonly rejected: number;
  readonly batches: number;
  readonly bytesRead: number;
  readonly bytesSpilled: number;
  /** How often a batch was sent again because of a transient error. */
  readonly retries: number;
  readonly seconds: number;
  readonly warnings: readonly string[];
}

/** What names the default graph in `WriteRequest.graphs`. */
export const DEFAULT_GRAPH = 'default';

/** @throws Fault request/invalid — a graph that is no IRI, or a write that replaces no graphs */
export function checkGraphs({ graphs = [], mode, scope }: Pick<WriteRequest, 'graphs' | 'mode' | 'scope'>): void {
  for (const graph of graphs) {
    const problem = graph === DEFAULT_GRAPH ? undefined : iriProblem(toBytes(graph));
    if (problem === undefined) continue;
    throw new Fault('request/invalid', `The graph ${JSON.stringify(graph)} is no absolute IRI: ${problem.message}`, {
      hint: `Write it in full, without angle brackets; the default graph is '${DEFAULT_GRAPH}'`,
    });
  }
  if (graphs.length === 0 || (mode === 'update' && scope === 'graph')) return;
  const now = mode === 'update' ? `updates with the scope ${scope}` : `has the mode ${mode}`;
  throw new Fault('request/invalid', `Graphs are named, and the write ${now}: only an update of whole graphs empties one`, {
    hint: 'Use the mode update (WRITE_MODE) with the scope graph (UPDATE_SCOPE), or name no graphs',
  });
}
