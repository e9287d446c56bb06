/** Calls that cost less together: the first record that needs a result brings those of the records after it. */
import type { Values } from '../core/value.ts';
import type { FunctionDefinition, Outcome, Result } from './definition.ts';

/** Number of records of the first calls that are made together. Slow functions stay at few, so that little is made in vain. */
const FIRST_AHEAD = 16;
const MOST_AHEAD = 512;
const FAST_MS = 20;
const SLOW_MS = 200;

/** Records that follow each other; the owner puts the next ones in their place. */
export interface RecordBatch {
  readonly records: readonly unknown[];
  /** Position of the first one in its iteration. */
  readonly first: number;
}

type Call = readonly unknown[];

/** The calls of a record threw: thrown again only where their results are needed. */
class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** A record whose calls are to be made: they stand at `from` and after it, in the list of all. */
interface Waiting {
  readonly at: number;
  readonly from: number;
  readonly calls: readonly Call[];
}

/**
 * A closure from a record to values, as `compileCall` has it. Calls of records whose values are not asked for, such as those of a branch that is not
 * taken, are made in vain; what they throw is dropped.
 *
 * @param callsOf the calls of a record, none if an argument has no value
 * @param valuesOf the values of the results of a record's calls
 */
export function callAhead(
  callsOf: (row: unknown, position: number) => readonly Call[],
  callAll: NonNullable<FunctionDefinition['callAll']>,
  valuesOf: (results: readonly (Result | readonly Result[])[]) => Values,
  batch: RecordBatch,
): (row: unknown, position: number) => Values {
  let records: readonly unknown[] | undefined;
  let known: (Values | Failed | undefined)[] = [];
  let most = FIRST_AHEAD;

  const settle = (at: number, outcomes: readonly Outcome[]): void => {
    const failed = outcomes.find((outcome): outcome is { error: Error } => 'error' in outcome);
    known[at] = failed === undefined ? valuesOf(outcomes.map((one) => (one as { result: Result }).result)) : new Failed(failed.error);
  };

  /** The records from `at` on whose calls are to be made, `at` first. */
  const collect = (at: number): { readonly waiting: readonly Waiting[]; readonly calls: readonly Call[] } => {
    const waiting: Waiting[] = [];
    const calls: Call[] = [];
    for (let i = at; i < batch.records.length && i < at + most; i++) {
      if (known[i] !== undefined) continue;
      try {
        const own = callsOf(batch.records[i], batch.first + i);
        if (own.length === 0) known[i] = null;
        else {
          waiting.push({ at: i, from: calls.length, calls: own });
          calls.push(...own);
        }
      } catch (error) {
        known[i] = new Failed(error);
      }
    }
    return { waiting, calls };
  };

  const readAhead = (at: number): void => {
    const { waiting, calls } = collect(at);
    const [first] = waiting;
    if (first === undefined || first.at !== at) return;
    const started = performance.now();
    const outcomes = callAll(calls);
    const milliseconds = performance.now() - started;
    if (milliseconds > SLOW_MS) most = Math.max(1, most >> 2);
    else if (milliseconds < FAST_MS) most = Math.min(MOST_AHEAD, most * 2);
    for (const { at: i, from, calls: own } of waiting) {
      if (from + own.length <= outcomes.length) settle(i, outcomes.slice(from, from + own.length));
    }
    if (known[at] !== undefined) return;
    const own = outcomes.slice(0, first.calls.length);
    while (own.length < first.calls.length) own.push(...callAll(first.calls.slice(own.length)));
    settle(at, own);
  };

  return (row, position) => {
    if (records !== batch.records) {
      records = batch.records;
      known = new Array(records.length);
    }
    const at = position - batch.first;
    if (records[at] !== row) throw new Error('a call is made for a record that is not of the batch');
    if (known[at] === undefined) readAhead(at);
    const found = known[at];
    if (found instanceof Failed) throw found.error;
    return found as Values;
  };
}
