/** Learns how many statements a batch should have. */
import type { BatchSizes } from '../targets/target.ts';

/** How many statements go into a batch. */
export interface BatchSizer {
  readonly size: number;
  /** A batch of so many statements was taken in so many milliseconds. */
  took(statements: number, milliseconds: number): void;
  /** A batch of so many statements was too much for now. */
  busy(statements: number): void;
}

/** Batches after which a size that was too much is tried again, and after which all sizes are looked at again. */
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
