/** Cuts a stream of statements into batches, and learns how large they should be. */

import type { Statement } from '../../nquads/statement.ts';
import type { BatchSizes } from '../../targets/target.ts';

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

export interface Batch {
  readonly statements: readonly Statement[];
  /** In order. */
  readonly checkpoints: readonly Checkpoint[];
}

/** What a statement takes in memory beside its text. */
const STATEMENT_BYTES = 120;

/** About what a statement takes in memory. */
export const bytesOf = ({ subject, predicate, object, graph }: Statement): number =>
  subject.length + predicate.length + object.length + graph.length + STATEMENT_BYTES;

/** How many statements go into a batch. */
export interface BatchSizer {
  readonly size: number;
  /** A batch of so many statements was taken in so many milliseconds. */
  took(statements: number, milliseconds: number): void;
  /** A batch of so many statements was too much for now. */
  busy(statements: number): void;
}

/** Batches after which a size that was too much is tried again, and after which all sizes are looked at anew. */
const FORGET_BUSY = 16;
const FORGET = 64;
const BETTER = 1.05;
/** Batches of a size that are measured before it is judged. */
const SAMPLES = 3;

/** Doubles while the rate gets better by it, halves when the store has no time; what has failed is left alone for a while. */
export function openSizer({ first, least, most }: BatchSizes): BatchSizer {
  const within = (size: number): number => Math.max(least, Math.min(most, Math.floor(size)));
  let size = within(first);
  let before: { readonly size: number; readonly rate: number } | undefined;
  let ceiling = most;
  let batches = 0;
  let settled = false;
  let samples: { statements: number; milliseconds: number; count: number } = { statements: 0, milliseconds: 0, count: 0 };

  const turnTo = (next: number): void => {
    size = within(next);
    samples = { statements: 0, milliseconds: 0, count: 0 };
  };

  function judge(): void {
    const rate = samples.statements / Math.max(samples.milliseconds, 0.001);
    if (before !== undefined && before.size < size && rate < before.rate * BETTER) {
      settled = true;
      turnTo(before.size);
      return;
    }
    before = { size, rate };
    if (size * 2 <= ceiling || (size < ceiling && ceiling === most)) turnTo(size * 2);
    else settled = true;
  }

  return {
    get size() {
      return size;
    },
    took(statements, milliseconds) {
      if (++batches >= (ceiling < most ? FORGET_BUSY : FORGET)) {
        batches = 0;
        ceiling = most;
        settled = false;
        before = undefined;
      }
      // The rest of an input says nothing about the size.
      if (settled || statements < size / 2) return;
      samples.statements += statements;
      samples.milliseconds += milliseconds;
      if (++samples.count >= SAMPLES) judge();
    },
    busy(statements) {
      // Several of the same size may fail together, which is one finding.
      if (statements < size / 2) return;
      ceiling = Math.max(least, size - 1);
      batches = 0;
      settled = false;
      before = undefined;
      turnTo(size / 2);
    },
  };
}

/** Collects statements and gives batches of the wanted size. */
export interface Batcher {
  /** About what the statements take that wait for a batch. */
  readonly bytes: number;
  add(statements: readonly Statement[]): void;
  /** Everything that was added until now is before this place. */
  checkpoint(mark: Omit<Checkpoint, 'count'>): void;
  /** A batch, if there is enough for one. */
  next(): Batch | undefined;
  /** All the rest; undefined: there is neither a statement nor a mark. */
  rest(): Batch | undefined;
}

/**
 * @param whole subjects stand together and are never torn apart; otherwise it is avoided where the size allows
 * @param mostBytes of a batch, beyond which it is cut before it has its size
 */
export function openBatcher(sizer: BatchSizer, whole: boolean, mostBytes: number): Batcher {
  let pending: Statement[] = [];
  let marks: Checkpoint[] = [];
  let bytes = 0;

  function take(count: number): Batch {
    const inside = marks.filter((mark) => mark.count <= count);
    const statements = pending.slice(0, count);
    marks = marks.slice(inside.length).map((mark) => ({ ...mark, count: mark.count - count }));
    pending = pending.slice(count);
    for (const statement of statements) bytes -= bytesOf(statement);
    return { statements, checkpoints: inside };
  }

  return {
    get bytes() {
      return bytes;
    },
    add(statements) {
      for (const statement of statements) {
        pending.push(statement);
        bytes += bytesOf(statement);
      }
    },
    checkpoint: (mark) => void marks.push({ ...mark, count: pending.length }),
    next() {
      const wanted = bytes > mostBytes ? Math.min(sizer.size, Math.max(1, Math.floor((pending.length * mostBytes) / bytes))) : sizer.size;
      if (pending.length <= wanted) return undefined;
      const cut = whole ? wholeCut(pending, wanted) : looseCut(pending, wanted);
      return cut === undefined ? undefined : take(cut);
    },
    rest: () => (pending.length === 0 && marks.length === 0 ? undefined : take(pending.length)),
  };
}

const isBoundary = (statements: readonly Statement[], at: number): boolean => statements[at]?.subject !== statements[at - 1]?.subject;

/** The last boundary between subjects that `wanted` allows, else the first one after it; undefined: it has not come yet. */
function wholeCut(statements: readonly Statement[], wanted: number): number | undefined {
  for (let at = wanted; at > 0; at--) if (isBoundary(statements, at)) return at;
  for (let at = wanted + 1; at < statements.length; at++) if (isBoundary(statements, at)) return at;
  return undefined;
}

/** A boundary in the second half, else just there. */
function looseCut(statements: readonly Statement[], wanted: number): number {
  for (let at = wanted; at > wanted / 2; at--) if (isBoundary(statements, at)) return at;
  return wanted;
}
