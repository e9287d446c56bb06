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

export interface ProgressLine {
  update(progress: Progress): void;
  /** Removes the line; other output may follow. */
  clear(): void;
}

/** One line that is updated about five times a second; prints nothing if standard error is not a terminal. */
export function progressLine(): ProgressLine {
  if (!process.stderr.isTTY) return { update: () => undefined, clear: () => undefined };
  const started = performance.now();
  let shown = Number.NEGATIVE_INFINITY;
  return {
    update({ records, quads, bytesRead }) {
      const now = performance.now();
      if (now - shown < REWRITE_MS) return;
      shown = now;
      const megabytesPerSecond = bytesRead / 1e6 / ((now - started) / 1000);
      process.stderr.write(
        `${CLEAR_LINE}${count(records)} records, ${count(quads)} statements, ${count(Math.round(bytesRead / 1e6))} MB read, ${megabytesPerSecond.toFixed(1)} MB/s`,
      );
    },
    clear() {
      if (shown > 0) process.stderr.write(CLEAR_LINE);
    },
  };
}

/** 1234567 → `1,234,567`. */
export const count = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
