/** Tracks which batches are in the store, in any order of completion, and the position up to which everything is. */
import type { WritePosition } from './request.ts';

export interface CheckpointTracker {
  /** Statements in the store, including those of earlier attempts. */
  readonly quadsWritten: number;
  readonly batches: number;
  /** Up to this position everything is in the store or was rejected; undefined: unknown. */
  readonly position: WritePosition | undefined;
  /** Starts a batch of so many statements. Batches start in input order. */
  begin(statements: number, marks: readonly Checkpoint[]): TrackedBatch;
}

export interface TrackedBatch {
  /** Completes the batch: all statements are in the store except those at these positions; it took so many requests. */
  end(refused: readonly number[], batches: number): void;
}

interface Open {
  readonly marks: readonly Checkpoint[];
  readonly size: number;
  /** Ascending; undefined while the batch is in flight. */
  refused: readonly number[] | undefined;
  batches: number;
}

/** @param version of the inputs; undefined: unknown, so that no position is valid */
export function trackCheckpoints(version: string | undefined, resume: WritePosition | undefined): CheckpointTracker {
  const before = { quadsWritten: resume?.quadsWritten ?? 0, rejected: resume?.rejected ?? 0, batches: resume?.batches ?? 0 };
  /** For all completed batches. */
  const all = { quadsWritten: before.quadsWritten, batches: before.batches };
  /** For the batches before the first open one. */
  const low = { ...before };
  let open: Open[] = [];
  let position = resume;

  function advance(): void {
    let done = 0;
    for (; done < open.length; done++) {
      const entry = open[done] as Open;
      if (entry.refused === undefined) break;
      pass(entry, entry.refused);
    }
    if (done > 0) open = open.slice(done);
  }

  function pass({ marks, size, batches }: Open, refused: readonly number[]): void {
    let at = 0;
    let refusals = 0;
    const passUntil = (count: number): void => {
      let until = refusals;
      while (until < refused.length && (refused[until] as number) < count) until++;
      low.quadsWritten += count - at - (until - refusals);
      low.rejected += until - refusals;
      at = count;
      refusals = until;
    };
    low.batches += batches;
    for (const { count, input, done, line, rejected } of marks) {
      passUntil(count);
      low.rejected += rejected;
      if (version !== undefined) position = { input, done, line, version, ...low };
    }
    passUntil(size);
  }

  return {
    get quadsWritten() {
      return all.quadsWritten;
    },
    get batches() {
      return all.batches;
    },
    get position() {
      return position;
    },
    begin(statements, marks) {
      const entry: Open = { marks, size: statements, refused: undefined, batches: 0 };
      open.push(entry);
      return {
        end(refused, batches) {
          entry.refused = [...refused].sort((a, b) => a - b);
          entry.batches = batches;
          all.quadsWritten += statements - refused.length;
          all.batches += batches;
          advance();
        },
      };
    },
  };
}

/** A place in the inputs: everything before it stands in this batch or in earlier ones. */
export interface Checkpoint {
  /** Statements of the batch before the mark. */
  readonly count: number;
  readonly input: number;
  readonly done: number;
  readonly line: number;
  /** What the reader has rejected since the mark before. */
  readonly rejected: number;
}
