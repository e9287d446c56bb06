/** What a write of a dataset is asked for, what it reads, and its report. */
import { Fault } from '../../core/fault.ts';
import { toBytes } from '../../core/text.ts';
import { iriProblem } from '../../nquads/check.ts';
import type { DatasetKey } from '../../targets/target.ts';
import type { WriteReport, WriteRequest } from '../request.ts';

/** A dataset as the writer reads it. Lines are complete N-Quads in one-byte text. */
export interface WrittenDataset {
  readonly description: DatasetKey;
  /** Those that can be read, ascending. Of the first one there is the whole graph. */
  readonly versions: readonly number[];
  /** 0: there is no version. */
  readonly current: number;
  manifest(version: number): Promise<{ readonly previous: number; readonly removed: number }>;
  lines(version: number, kind: 'added' | 'removed' | 'kept' | 'base', target: undefined): AsyncIterable<string>;
  graph(
    version: number,
    target: undefined,
    folding: { readonly directory: string; readonly memoryBudgetBytes: number },
  ): AsyncIterable<string>;
}

export interface ChangedPiece {
  readonly kind: 'added' | 'removed';
  readonly lines: string;
}

/** The difference between two graphs: removed lines first. In bounded memory, with files in the directory. */
export type CompareLines = (
  before: AsyncIterable<string>,
  after: AsyncIterable<string>,
  options: { readonly directory: string; readonly memoryBudgetBytes: number; readonly signal: AbortSignal },
) => AsyncIterable<ChangedPiece>;

/** Its `resume` is in the version that is being written: `input` is its number, and `done` counts its statements. The inputs are ignored. */
export interface DatasetWriteRequest extends WriteRequest {
  readonly dataset: WrittenDataset;
  /** IRI of the graph of statements that the mapping puts in none; undefined: the default graph. */
  readonly graph: string | undefined;
  /** Whether a statement stays in the store while another dataset has it that is written so as well. Absent: it does not. */
  readonly shared?: boolean;
  /** Makes the graphs of the store equal to the newest version, whatever is in them. undefined: the versions that the store lacks are written. */
  readonly resync: CompareLines | undefined;
}

/** `statements` is the number of those that were added and removed. With `resync` it is the number of those that differed. */
export interface DatasetWriteReport extends WriteReport {
  readonly dataset: string;
  /** What the store has now. */
  readonly version: number;
  /** What it had; 0: nothing. */
  readonly previousVersion: number;
}

/** The term of a graph that is given as an IRI; '' for the default graph. @throws Fault request/invalid */
export function graphTerm(graph: string | undefined): string {
  if (graph === undefined) return '';
  const problem = iriProblem(toBytes(graph));
  if (problem !== undefined) {
    throw new Fault('request/invalid', `The graph ${JSON.stringify(graph)} is no absolute IRI: ${problem.message}`, {
      hint: 'Write it in full, without angle brackets',
    });
  }
  return `<${toBytes(graph)}>`;
}
