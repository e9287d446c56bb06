/** Signals that end a command. */
import { EXIT } from './exit.ts';

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
