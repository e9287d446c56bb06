/** Statements on their way to the store: cut into batches, which are sent in the background, several at a time. */

import type { Statement } from '../../nquads/statement.ts';
import type { Checkpoint } from '../checkpoint.ts';
import type { WriteRun } from '../run.ts';
import { type Batch, openBatcher } from './batches.ts';
import type { Delivery } from './bisect.ts';

export interface Batches {
  /** About what the statements take that wait for a batch. */
  readonly bytes: number;
  /** Resolves when what makes a batch is under way, and the event loop had its turn. @throws Fault whatever has ended the run */
  add(statements: readonly Statement[]): Promise<void>;
  /** Everything that was added until now is before this place. */
  mark(place: Omit<Checkpoint, 'count'>): void;
  /** The same for the rest. @throws Fault whatever has ended the run */
  end(): Promise<void>;
}

/** @param whole see `openCutter` */
export function openBatches(run: WriteRun, delivery: Delivery, whole: boolean): Batches {
  const cutter = openBatcher(run.sizer, whole, run.batchBytes);
  /** In the checkpoints a batch has its place at once. */
  const start = async ({ statements, checkpoints: marks }: Batch): Promise<void> => {
    const entry = run.checkpoints.begin(statements.length, marks);
    if (statements.length === 0) return entry.end([], 0);
    await run.start(async () => entry.end(await delivery.deliver(statements), 1));
  };
  return {
    get bytes() {
      return cutter.bytes;
    },
    async add(statements) {
      cutter.add(statements);
      for (let batch = cutter.next(); batch !== undefined; batch = cutter.next()) await start(batch);
      await run.yieldToEventLoop();
    },
    mark: (place) => cutter.checkpoint(place),
    async end() {
      const rest = cutter.rest();
      if (rest !== undefined) await start(rest);
    },
  };
}
