/** The nodes of the physical plan that carry rows, as operators: each gives what it makes of a row to the operators behind it. */
import type { Ending } from '../compile/deferred-objects.ts';
import type { Made } from '../compile/program.ts';

/** What waits is made by `end`, once all rows have come and the build sides that it reads are complete. */
export interface Operator extends Partial<Ending> {
  /**
   * @param position of the record or row, which programs, build sides and checks read
   * @returns undefined: all is made; or what makes the rest while it is consumed, before the next row
   * @throws Fault record/term
   */
  push(row: unknown, position: number): Made;
}

/** One array for all rows of a pipeline: the record, its position and identity, and a slot for every column. Each operator sets its own. */
export type Row = unknown[];

export const RECORD = 0;
export const POSITION = 1;
export const IDENTITY = 2;

/** An operator in the middle of a pipeline. */
export abstract class Step implements Operator {
  /** What its rows go to. */
  next!: Operator;

  abstract push(row: Row, position: number): Made;
}

/** Pushes so many rows: one after the other, and those behind one of which the rest is still to be made while this is consumed. */
export function pushEach(count: number, push: (i: number) => Made): Made {
  for (let i = 0; i < count; i++) {
    const made = push(i);
    if (made !== undefined) return pushRest(made, count, push, i + 1);
  }
  return undefined;
}

function* pushRest(made: Iterable<''>, count: number, push: (i: number) => Made, from: number): Generator<''> {
  yield* made;
  for (let i = from; i < count; i++) yield* push(i) ?? NOTHING;
}

export const NOTHING: Iterable<''> = [];

/** @param reject takes a fault that is thrown while `made` is consumed, or throws it */
export function* guarded(made: Iterable<''>, reject: (error: unknown) => void): Generator<''> {
  try {
    yield* made;
  } catch (error) {
    reject(error);
  }
}
