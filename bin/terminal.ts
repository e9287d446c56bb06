/** Output for people, on standard error, so that standard output contains only data. */
import { describeFault, type Fault } from '../src/core/fault.ts';
import type { Progress } from '../src/run/request.ts';

let quiet = false;

/** Prints one or more lines. A closed standard error is not a failure. */
export function printLine(text: string): void {
  if (quiet) return;
  if (process.stderr.listenerCount('error') === 0) {
    process.stderr.on('error', () => {
      quiet = true;
    });
  }
  process.stderr.write(`${text}\n`);
}

/** Prints to standard output. Its reader may end first, as `head` does. */
export function printData(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
  process.stdout.write(text);
}

/** Prints `quadmill: …`. */
export const printError = (text: string): void => printLine(`quadmill: ${text}`);

export const printFault = (fault: Fault): void => printError(describeFault(fault));

const REWRITE_MS = 200;
const CLEAR_LINE = '\r\u001b[K';

export interface ProgressLine<T> {
  update(progress: T): void;
  /** Removes the line; other output may follow. */
  clear(): void;
}

/** The progress of a run. */
export const progressLine = (): ProgressLine<Progress> =>
  rewrittenLine(({ records, quads, bytesRead }, seconds) => {
    const megabytes = bytesRead / 1e6;
    return `${count(records)} records, ${count(quads)} statements, ${count(Math.round(megabytes))} MB read, ${(megabytes / seconds).toFixed(1)} MB/s`;
  });

/** One line that is updated about five times a second; prints nothing if standard error is not a terminal. */
export function rewrittenLine<T>(textOf: (progress: T, seconds: number) => string): ProgressLine<T> {
  if (!process.stderr.isTTY) return { update: () => undefined, clear: () => undefined };
  const started = performance.now();
  let shown = Number.NEGATIVE_INFINITY;
  return {
    update(progress) {
      const now = performance.now();
      if (now - shown < REWRITE_MS) return;
      shown = now;
      process.stderr.write(`${CLEAR_LINE}${textOf(progress, (now - started) / 1000)}`);
    },
    clear() {
      if (shown > 0) process.stderr.write(CLEAR_LINE);
    },
  };
}

/** 1234567 → `1,234,567`. */
export const count = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
