/** Signals that end a command. */
import { ReaderGone } from '../src/sinks/descriptor.ts';
import { UsageError } from './command-line.ts';
import { EXIT, failed } from './exit.ts';
import { printError } from './terminal.ts';

/** The first signal aborts; a second one exits at once. */
export function interruptible(): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  return { signal: controller.signal, end: () => void process.off('SIGINT', interrupt).off('SIGTERM', interrupt) };
}

/**
 * Runs `work` until SIGINT or SIGTERM, and prints how it failed; resolves to the exit code.
 *
 * @param left what an interruption leaves, for its message
 * @throws UsageError
 */
export async function withInterruption(left: string, work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const interruption = interruptible();
  try {
    return await work(interruption.signal);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof ReaderGone) return EXIT.brokenPipe;
    if (!interruption.signal.aborted) return failed(error);
    printError(`interrupted; ${left}`);
    return EXIT.interrupted;
  } finally {
    interruption.end();
  }
}
