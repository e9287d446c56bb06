/** Warnings of Node and of libraries as lines of the log. */
import type { Logger } from './observe.ts';

/** The name of Node's own listener, which prints on standard error. There is none with `--no-warnings`. */
const PRINTS = 'onWarning';

/**
 * Logs each warning of this process instead of printing it, so that the output of a service is JSON alone.
 *
 * @param ignored whether a warning is none that anybody can do something about
 */
export function logWarnings(logger: Logger, ignored: (warning: Error) => boolean): void {
  const printing = process.listeners('warning').filter(({ name }) => name === PRINTS);
  if (printing.length === 0) return;
  for (const each of printing) process.removeListener('warning', each);
  process.on('warning', (warning) => {
    if (!ignored(warning)) logger.warn({ error: warning }, 'process warning');
  });
}
