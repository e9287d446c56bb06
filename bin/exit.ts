/** Exit codes, and the one that a failure gets. */
import { Fault } from '../src/core/fault.ts';
import { printError, printFault, printLine } from './terminal.ts';

/** `interrupted` and `readerGone` are what a shell reports of a program that SIGINT or SIGPIPE ended. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130, brokenPipe: 141 } as const;

/** Their messages are lines that begin with the place, as editors and terminals know it. */
const LISTS_DIAGNOSTICS: ReadonlySet<string> = new Set(['mapping/syntax', 'mapping/invalid']);

/** Says what a fault says; an error that nobody foresaw shows where it came from. */
export function failed(error: unknown): number {
  const fault = Fault.of(error);
  if (LISTS_DIAGNOSTICS.has(fault.code) && /^\S+:\d+:\d+: /.test(fault.message)) {
    printError(`${fault.title}:`);
    printLine(fault.message);
  } else printFault(fault);
  if (fault.code === 'internal/error' && error instanceof Error && error.stack) printError(error.stack);
  return /^(mapping|request|config)\//.test(fault.code) ? EXIT.usage : EXIT.failed;
}
