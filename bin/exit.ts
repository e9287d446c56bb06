/** Exit codes, and how faults map to them. */
import { Fault } from '../src/core/fault.ts';
import { printError, printFault, printLine } from './terminal.ts';

/** `incomplete`: done, but `--fail-on` applies. `interrupted` and `brokenPipe` are the codes of a program ended by SIGINT or SIGPIPE. */
export const EXIT = { done: 0, failed: 1, usage: 2, incomplete: 3, interrupted: 130, brokenPipe: 141 } as const;

/** Messages of these faults are lines that begin with the place, as editors and terminals expect. */
const LISTS_DIAGNOSTICS: ReadonlySet<string> = new Set(['mapping/syntax', 'mapping/invalid']);

/** Prints a fault and returns its exit code; an unexpected error is printed with its stack. */
export function failed(error: unknown): number {
  const fault = Fault.of(error);
  if (LISTS_DIAGNOSTICS.has(fault.code) && /^\S+:\d+:\d+: /.test(fault.message)) {
    printError(`${fault.title}:`);
    printLine(fault.message);
  } else printFault(fault);
  if (fault.code === 'internal/error' && error instanceof Error && error.stack) printError(error.stack);
  return /^(mapping|request|config)\//.test(fault.code) ? EXIT.usage : EXIT.failed;
}
