/** Cuts a stream of statements into batches. */
import type { Statement } from '../../nquads/statement.ts';
import type { BatchSizer } from '../batch-size.ts';
import type { Checkpoint } from '../checkpoint.ts';

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
