/** The limits of a run. Each is an option of the service; exceeding one ends the run with a fault that names the option. */
import { Fault, type FaultPlace } from './fault.ts';

/** 0 means no limit. Plain data: it travels in a job. */
export interface RunLimits {
  /** Per input, decompressed. */
  readonly inputBytes: number;
  /** Decompressed bytes per compressed byte. */
  readonly inflationRatio: number;
  /** For all inputs together, as the report counts them. */
  readonly records: number;
  readonly statements: number;
  /** Wall-clock seconds of one attempt, including its slices. */
  readonly seconds: number;
  /** Nesting levels of JSON values or XML elements. Both readers also have a fixed limit, which a larger number does not raise. */
  readonly depth: number;
}

export const NO_LIMITS: RunLimits = { inputBytes: 0, inflationRatio: 0, records: 0, statements: 0, seconds: 0, depth: 0 };

/** Inputs up to this decompressed size may have any compression ratio that gzip can reach. */
export const INFLATION_FLOOR_BYTES = 64 * 2 ** 20;

/** The limit as a number to compare with; 0 becomes infinity. */
export const boundOf = (limit: number): number => (limit === 0 ? Number.POSITIVE_INFINITY : limit);

/** @throws Fault limit/exceeded — too many records or statements in the whole run */
export function checkCounts(limits: RunLimits, counts: { readonly records: number; readonly quads: number }, place?: FaultPlace): void {
  if (counts.records > boundOf(limits.records)) throw recordsFault(limits.records, place);
  if (counts.quads > boundOf(limits.statements)) throw statementsFault(limits.statements, place);
}

export const recordsFault = (limit: number, place: FaultPlace = {}): Fault =>
  new Fault('limit/exceeded', `The run reads more than the ${limit} records that MAX_RECORDS allows`, {
    limit: 'MAX_RECORDS',
    place,
    hint: 'Raise MAX_RECORDS, or split the input',
  });

const statementsFault = (limit: number, place: FaultPlace = {}): Fault =>
  new Fault('limit/exceeded', `The run makes more than the ${limit} statements that MAX_STATEMENTS allows`, {
    limit: 'MAX_STATEMENTS',
    place,
    hint: 'Look for a join without a condition that selects, split the input, or raise MAX_STATEMENTS',
  });

export const secondsFault = (limit: number): Fault =>
  new Fault('limit/exceeded', `The run takes longer than the ${limit} seconds that MAX_RUN_SECONDS allows`, {
    limit: 'MAX_RUN_SECONDS',
    hint: 'Raise MAX_RUN_SECONDS (--max-seconds), or split the input',
  });

export const inputBytesFault = (limit: number, place: FaultPlace): Fault =>
  new Fault('limit/exceeded', `The input has more than the ${limit} bytes that MAX_INPUT_BYTES allows`, {
    limit: 'MAX_INPUT_BYTES',
    place,
    hint: 'Raise MAX_INPUT_BYTES, or split the input',
  });

export const inflationFault = (limit: number, place: FaultPlace): Fault =>
  new Fault('limit/exceeded', `The input unpacks to more than ${limit} times its size, which is what MAX_INFLATION_RATIO allows`, {
    limit: 'MAX_INFLATION_RATIO',
    place,
    hint: 'Raise MAX_INFLATION_RATIO if the input is what it should be, or give it unpacked',
  });

/** @param cap the fixed limit of the reader: when the limit equals it, raising the option does not help */
export const depthFault = (what: string, limit: number, cap: number, place: FaultPlace): Fault =>
  new Fault('limit/exceeded', `${what} nested more than ${limit} levels deep`, {
    limit: 'MAX_DEPTH',
    place,
    ...(limit < cap ? { hint: 'Raise MAX_DEPTH' } : {}),
  });

/** @param doing what took the time: `connecting to …` */
export function timeOverFault(doing: string, waitMs: number, cause?: unknown): Fault {
  return new Fault(
    'limit/exceeded',
    `There was no answer within ${Math.max(1, Math.round(waitMs / 1_000))} s. It took the time: ${doing}`,
    {
      hint: 'Ask again: what has just been started answers sooner the second time. If not, use a part of the data, or another source',
      cause,
    },
  );
}
